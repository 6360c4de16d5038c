//! Makes loop IR shorter without changing a bit of any result.
//!
//! Constants are folded, conditions and bounds that the invocations' ranges decide are dropped, loops of no or one step are
//! unrolled, what is loaded twice in a scope is named once, neighbours under one condition are joined, and what nobody reads is
//! removed. f32 arithmetic is never reordered, and of constants only `+ - * /`, `min`, `max`
//! and the like are computed here, rounded by IEEE 754 (no `exp`, no `fma`). One rewrite adds text: an argument of `tanh` is clamped to ±10, where f32 has
//! reached ±1, because drivers may return NaN beyond (gpuweb/gpuweb#4458); of a NaN it may make a number, as `min` and `max` may.

mod fold;

use crate::loops::{Expr, LoopIr, Stmt, Var};
use crate::ranges::{Range, Ranges};
use std::collections::{HashMap, HashSet};
use std::mem;
use tilewright_dsl::ir::{Binary, Unary};

/// Simplifies a shader until nothing changes.
pub fn simplify(ir: &mut LoopIr) {
    unshare(ir);
    // Each round leaves less to do; the limit only guards against a rewrite that would undo another.
    for _ in 0..16 {
        let before = ir.body.clone();
        let frame = LoopIr { body: vec![], ..ir.clone() };
        let mut pass = Pass::new(&frame);
        ir.body = pass.block(mem::take(&mut ir.body));
        sweep(ir);
        if ir.body == before {
            return;
        }
    }
}

struct Pass<'a> {
    ranges: Ranges<'a>,
    /// Lets that are constants or other names.
    known: HashMap<Var, Expr>,
    /// Loads that have a name here, by their text.
    made: HashMap<String, Var>,
    /// Their texts in the order in which they came.
    order: Vec<String>,
    /// What conditions around this place say: the first is less than the second.
    less: Vec<(Expr, Expr)>,
}

impl<'a> Pass<'a> {
    fn new(frame: &'a LoopIr) -> Self {
        let (made, order) = (HashMap::new(), Vec::new());
        Pass { ranges: Ranges::new(frame), known: HashMap::new(), made, order, less: Vec::new() }
    }

    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let before = self.order.len();
        let mut out: Vec<Stmt> = Vec::new();
        for stmt in body {
            self.stmt(stmt, &mut out);
        }
        for text in self.order.drain(before..) {
            self.made.remove(&text);
        }
        out.dedup_by(|b, a| *a == Stmt::Barrier && *b == Stmt::Barrier);
        self.together(out)
    }

    /// Neighbours under one condition become one.
    fn together(&self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut out: Vec<Stmt> = Vec::with_capacity(body.len());
        for stmt in body {
            match (out.last_mut(), stmt) {
                (Some(Stmt::If(one, then, or)), Stmt::If(other, more, otherwise))
                    if *one == other && or.is_empty() && otherwise.is_empty() && self.stays(one) =>
                {
                    then.extend(more);
                }
                (_, stmt) => out.push(stmt),
            }
        }
        out
    }

    /// Whether an expression has the same value wherever it stands in the scope of its locals.
    fn stays(&self, e: &Expr) -> bool {
        match e {
            Expr::Var(v) => self.ranges.known(*v).is_some(),
            Expr::Load { buffer, index, .. } => self.ranges.reads_only(*buffer) && self.stays(index),
            Expr::Shared(..) | Expr::Element(..) | Expr::ShuffleXor(..) => false,
            _ => e.operands().into_iter().all(|x| self.stays(x)),
        }
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        for e in stmt.expressions_mut() {
            self.expr(e);
        }
        match stmt {
            Stmt::Let(v, e) => {
                self.ranges.set(v, self.ranges.of(&e));
                let name = matches!(e, Expr::Var(old) if self.ranges.known(old).is_some());
                if name || matches!(e, Expr::U32(_) | Expr::F32(_) | Expr::Bool(_)) {
                    self.known.insert(v, e.clone());
                } else if loads(&e) && self.stays(&e) {
                    let text = format!("{e:?}");
                    if let Some(old) = self.made.get(&text) {
                        self.known.insert(v, Expr::Var(*old));
                    } else {
                        self.order.push(text.clone());
                        self.made.insert(text, v);
                    }
                }
                out.push(Stmt::Let(v, e));
            }
            Stmt::If(cond, then, or) => match self.ranges.decide(&cond) {
                Some(true) => out.extend(self.block(then)),
                Some(false) => out.extend(self.block(or)),
                None => {
                    let (less, before) = (self.less.len(), self.narrow(&cond));
                    let then = self.block(then);
                    self.less.truncate(less);
                    before.into_iter().rev().for_each(|(v, range)| self.ranges.set(v, range));
                    let or = self.block(or);
                    match (then.is_empty(), or.is_empty()) {
                        (true, true) => {}
                        (true, false) => {
                            let mut not = Expr::Unary(Unary::Not, Box::new(cond));
                            self.expr(&mut not);
                            out.push(Stmt::If(not, or, vec![]));
                        }
                        _ => out.push(Stmt::If(cond, then, or)),
                    }
                }
            },
            Stmt::For { var, start, end, step, body } => self.repeat(var, [start, end, step], body, out),
            other => out.push(other),
        }
    }

    fn repeat(&mut self, var: Var, [start, end, step]: [Expr; 3], body: Vec<Stmt>, out: &mut Vec<Stmt>) {
        let (first, last, by) = (self.ranges.of(&start), self.ranges.of(&end), self.ranges.of(&step));
        if first.lo >= last.hi {
            return;
        }
        if first.hi < last.lo && first.lo.checked_add(by.lo).is_some_and(|next| next >= last.hi) {
            self.stmt(Stmt::Let(var, start), out);
            out.extend(self.block(body));
            return;
        }
        self.ranges.set(var, self.ranges.counter(&start, &end));
        let body = self.block(body);
        if !body.is_empty() {
            out.push(Stmt::For { var, start, end, step, body });
        }
    }

    /// Notes what a condition says of locals that never change; what was known of them before is given back.
    fn narrow(&mut self, cond: &Expr) -> Vec<(Var, Range)> {
        let Expr::Binary(op, a, b) = cond else { return vec![] };
        match (op, &**a) {
            (Binary::And, _) => {
                let mut before = self.narrow(a);
                before.extend(self.narrow(b));
                before
            }
            (Binary::Lt, first) => {
                if self.stays(a) && self.stays(b) {
                    self.less.push((first.clone(), (**b).clone()));
                }
                let Expr::Var(v) = first else { return vec![] };
                let Some(known) = self.ranges.known(*v) else { return vec![] };
                let end = self.ranges.of(b).hi;
                if end == 0 || end > known.hi || end <= known.lo {
                    return vec![];
                }
                self.ranges.set(*v, Range::new(known.lo, end - 1));
                vec![(*v, known)]
            }
            _ => vec![],
        }
    }

    /// Rewrites an expression, operands first.
    fn expr(&self, e: &mut Expr) {
        for x in e.operands_mut() {
            self.expr(x);
        }
        while let Some(better) = self.rewrite(e) {
            *e = better;
        }
    }

    fn rewrite(&self, e: &Expr) -> Option<Expr> {
        match e {
            Expr::Var(v) => self.known.get(v).cloned(),
            Expr::Unary(op, a) => fold::unary(*op, a),
            Expr::Select(c, yes, no) => match self.ranges.decide(c) {
                Some(true) => Some((**yes).clone()),
                Some(false) => Some((**no).clone()),
                None => (yes == no).then(|| (**yes).clone()),
            },
            Expr::FromBits(a) => match **a {
                Expr::U32(bits) if f32::from_bits(bits).is_finite() => Some(Expr::F32(f32::from_bits(bits))),
                _ => None,
            },
            Expr::Binary(op, a, b) => fold::binary(*op, a, b)
                .or_else(|| self.ranged(*op, a, b))
                .or_else(|| self.told(*op, a, b))
                .or_else(|| {
                    let known = self.ranges.decide(e)?;
                    (*e != Expr::Bool(known)).then_some(Expr::Bool(known))
                }),
            _ => None,
        }
    }

    /// What the conditions around this place say of `a < b` and of `min(a, b - 1)`.
    fn told(&self, op: Binary, a: &Expr, b: &Expr) -> Option<Expr> {
        let less = |end: &Expr| self.less.iter().any(|(x, y)| x == a && y == end);
        match (op, b) {
            (Binary::Lt, end) if less(end) => Some(Expr::Bool(true)),
            (Binary::Min, Expr::Binary(Binary::Sub, end, one)) if **one == Expr::U32(1) && less(end) => Some(a.clone()),
            _ => None,
        }
    }

    /// Rewrites that the operands' ranges allow.
    fn ranged(&self, op: Binary, a: &Expr, b: &Expr) -> Option<Expr> {
        let (x, y) = (self.ranges.of(a), self.ranges.of(b));
        match (op, b) {
            (Binary::Div, Expr::U32(n)) => self.ranges.split(a, *n).map(|s| s.0),
            (Binary::Rem, Expr::U32(n)) => self.ranges.split(a, *n).map(|s| s.1).filter(|rest| rest != a || x.hi < *n),
            // Sums of u32 are associative: they lean to the left, which needs no parentheses.
            (Binary::Add, Expr::Binary(Binary::Add, p, q)) if self.ranges.integer(b) => {
                let left = Expr::Binary(op, Box::new(a.clone()), p.clone());
                Some(Expr::Binary(op, Box::new(left), q.clone()))
            }
            (Binary::Min, _) if self.integers(x, y) && x.hi <= y.lo => Some(a.clone()),
            (Binary::Min, _) if self.integers(x, y) && y.hi <= x.lo => Some(b.clone()),
            (Binary::Max, _) if self.integers(x, y) && x.lo >= y.hi => Some(a.clone()),
            (Binary::Max, _) if self.integers(x, y) && y.lo >= x.hi => Some(b.clone()),
            _ => None,
        }
    }

    /// Bounds say nothing of f32, whose range is always the whole one.
    fn integers(&self, x: Range, y: Range) -> bool {
        x != Range::ALL || y != Range::ALL
    }
}

/// Whether an expression reads a buffer.
fn loads(e: &Expr) -> bool {
    matches!(e, Expr::Load { .. }) || e.operands().into_iter().any(loads)
}

/// Gives every declaration a local of its own, so that a body can be moved into the block around it.
fn unshare(ir: &mut LoopIr) {
    fn block(ir: &mut LoopIr, body: &mut [Stmt], seen: &mut HashSet<Var>, renamed: &HashMap<Var, Var>) {
        let mut renamed = renamed.clone();
        for stmt in body {
            for e in stmt.expressions_mut() {
                rename(e, &renamed);
            }
            let fresh = |ir: &mut LoopIr, v: &mut Var, renamed: &mut HashMap<Var, Var>, seen: &mut HashSet<Var>| {
                let old = *v;
                if !seen.insert(old)
                    && let Some(decl) = ir.vars.get(old.0 as usize).cloned()
                {
                    *v = Var(ir.vars.len() as u32);
                    ir.vars.push(decl);
                    seen.insert(*v);
                }
                renamed.insert(old, *v);
            };
            match stmt {
                Stmt::Let(v, _)
                | Stmt::Declare(v, _)
                | Stmt::DeclareArray(v)
                | Stmt::DeclareFragment(v)
                | Stmt::LoadFragment(v, _) => fresh(ir, v, &mut renamed, seen),
                Stmt::Assign(v, _) | Stmt::SetElement(v, ..) | Stmt::StoreFragment(v, _) => {
                    *v = renamed.get(v).copied().unwrap_or(*v);
                }
                Stmt::MultiplyAdd(sum, a, b) => {
                    for v in [sum, a, b] {
                        *v = renamed.get(v).copied().unwrap_or(*v);
                    }
                }
                Stmt::For { var, body, .. } => {
                    let mut inner = renamed.clone();
                    fresh(ir, var, &mut inner, seen);
                    block(ir, body, seen, &inner);
                }
                Stmt::If(_, then, or) => {
                    block(ir, then, seen, &renamed);
                    block(ir, or, seen, &renamed);
                }
                _ => {}
            }
        }
    }
    fn rename(e: &mut Expr, renamed: &HashMap<Var, Var>) {
        if let Expr::Var(v) | Expr::Element(v, _) = e {
            *v = renamed.get(v).copied().unwrap_or(*v);
        }
        e.operands_mut().into_iter().for_each(|x| rename(x, renamed));
    }
    let mut body = mem::take(&mut ir.body);
    block(ir, &mut body, &mut HashSet::new(), &HashMap::new());
    ir.body = body;
}

/// Removes values that nobody reads, registers that are only written, and barriers that nobody passes after.
fn sweep(ir: &mut LoopIr) {
    loop {
        let mut read = HashSet::new();
        reads(&ir.body, &mut read);
        let mut removed = false;
        strip(&mut ir.body, &|v: &Var| !read.contains(v), &mut removed);
        if !removed {
            break;
        }
    }
    while ir.body.last() == Some(&Stmt::Barrier) {
        ir.body.pop();
    }
}

fn reads(body: &[Stmt], read: &mut HashSet<Var>) {
    fn expr(e: &Expr, read: &mut HashSet<Var>) {
        if let Expr::Var(v) | Expr::Element(v, _) = e {
            read.insert(*v);
        }
        e.operands().into_iter().for_each(|x| expr(x, read));
    }
    for stmt in body {
        match stmt {
            Stmt::MultiplyAdd(_, a, b) => read.extend([*a, *b]),
            Stmt::StoreFragment(v, _) => read.extend([*v]),
            _ => {}
        }
        stmt.expressions().into_iter().for_each(|e| expr(e, read));
        stmt.blocks().into_iter().for_each(|b| reads(b, read));
    }
}

fn strip(body: &mut Vec<Stmt>, unread: &impl Fn(&Var) -> bool, removed: &mut bool) {
    body.retain_mut(|stmt| {
        stmt.blocks_mut().into_iter().for_each(|b| strip(b, unread, removed));
        let keep = match stmt {
            Stmt::Let(v, _) | Stmt::Declare(v, _) | Stmt::Assign(v, _) => !unread(v),
            Stmt::DeclareArray(v) | Stmt::SetElement(v, ..) => !unread(v),
            Stmt::DeclareFragment(v) | Stmt::LoadFragment(v, _) | Stmt::MultiplyAdd(v, ..) => !unread(v),
            Stmt::For { body, .. } => !body.is_empty(),
            Stmt::If(_, then, or) => !(then.is_empty() && or.is_empty()),
            _ => true,
        };
        *removed |= !keep;
        keep
    });
}
