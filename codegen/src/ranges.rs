//! Bounds of u32 expressions: the least and the greatest value that one can have in any invocation.
//!
//! Used by `simplify` to drop what cannot matter and by `verify` to look at loops under each subgroup size. An expression that
//! may wrap around has the whole range, so that the bounds are always true; they are not always tight.

use crate::loops::{Access, Builtin, Expr, LoopIr, Var};
use crate::types::{U32, type_of};
use std::collections::HashMap;
use tilewright_dsl::ir::Binary;

/// Least and greatest value, both possible as far as is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub lo: u32,
    pub hi: u32,
}

impl Range {
    /// Any u32.
    pub(crate) const ALL: Range = Range { lo: 0, hi: u32::MAX };

    pub(crate) fn new(lo: u32, hi: u32) -> Range {
        if lo <= hi { Range { lo, hi } } else { Range::ALL }
    }

    fn exact(x: u32) -> Range {
        Range { lo: x, hi: x }
    }

    fn wide(lo: u64, hi: u64) -> Range {
        match (u32::try_from(lo), u32::try_from(hi)) {
            (Ok(lo), Ok(hi)) => Range::new(lo, hi),
            _ => Range::ALL,
        }
    }
}

/// What is known about locals and built-in values.
#[derive(Clone, Debug)]
pub(crate) struct Ranges<'a> {
    ir: &'a LoopIr,
    vars: HashMap<Var, Range>,
    workgroup: u32,
    subgroup_size: Range,
}

impl<'a> Ranges<'a> {
    /// Nothing is known of the subgroup size but that it is one.
    pub(crate) fn new(ir: &'a LoopIr) -> Self {
        Ranges { ir, vars: HashMap::new(), workgroup: ir.workgroup.max(1), subgroup_size: Range::new(1, 128) }
    }

    /// Under one subgroup size.
    pub(crate) fn with_subgroup_size(ir: &'a LoopIr, size: u32) -> Self {
        Ranges { subgroup_size: Range::exact(size), ..Ranges::new(ir) }
    }

    /// Sets what a local can be.
    pub(crate) fn set(&mut self, v: Var, range: Range) {
        self.vars.insert(v, range);
    }

    /// What is known of a local.
    pub(crate) fn get(&self, v: Var) -> Range {
        self.vars.get(&v).copied().unwrap_or(Range::ALL)
    }

    /// Whether the shader never writes a buffer.
    pub(crate) fn reads_only(&self, buffer: usize) -> bool {
        self.ir.buffers.get(buffer).is_some_and(|b| b.access == Access::Read)
    }

    /// What is known of a value or counter; `None` of a register, which changes.
    pub(crate) fn known(&self, v: Var) -> Option<Range> {
        self.vars.get(&v).copied()
    }

    /// The values of a loop's counter inside the loop.
    pub(crate) fn counter(&self, start: &Expr, end: &Expr) -> Range {
        Range::new(self.of(start).lo, self.of(end).hi.saturating_sub(1))
    }

    /// The range of an expression; [`Range::ALL`] of one that is no u32.
    pub(crate) fn of(&self, e: &Expr) -> Range {
        match e {
            Expr::U32(x) => Range::exact(*x),
            Expr::Var(v) => self.get(*v),
            Expr::Builtin(Builtin::LocalIndex) => Range::new(0, self.workgroup - 1),
            Expr::Builtin(Builtin::SubgroupSize) => self.subgroup_size,
            Expr::Builtin(Builtin::SubgroupInvocation) => Range::new(0, self.subgroup_size.hi - 1),
            Expr::Select(_, yes, no) => {
                let (a, b) = (self.of(yes), self.of(no));
                Range::new(a.lo.min(b.lo), a.hi.max(b.hi))
            }
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            _ => Range::ALL,
        }
    }

    fn binary(&self, op: Binary, x: &Expr, y: &Expr) -> Range {
        let (a, b) = (self.of(x), self.of(y));
        let wide = |f: fn(u64, u64) -> u64| Range::wide(f(a.lo.into(), b.lo.into()), f(a.hi.into(), b.hi.into()));
        match op {
            Binary::Add => wide(|x, y| x + y),
            Binary::Mul => wide(|x, y| x * y),
            Binary::Sub if a.lo >= b.hi => Range::new(a.lo - b.hi, a.hi - b.lo),
            Binary::Div if b.lo > 0 => Range::new(a.lo / b.hi, a.hi / b.lo),
            Binary::Rem if b.lo > 0 => {
                if a.hi < b.lo {
                    a
                } else {
                    Range::new(0, a.hi.min(b.hi - 1))
                }
            }
            Binary::Min => Range::new(a.lo.min(b.lo), a.hi.min(b.hi)),
            Binary::Max => Range::new(a.lo.max(b.lo), a.hi.max(b.hi)),
            Binary::And => Range::new(0, a.hi.min(b.hi)),
            Binary::Shr if b.lo == b.hi && b.hi < 32 => Range::new(a.lo >> b.lo, a.hi >> b.lo),
            Binary::Shl if b.lo == b.hi && b.hi < 32 => Range::wide(u64::from(a.lo) << b.lo, u64::from(a.hi) << b.lo),
            _ => Range::ALL,
        }
    }

    /// Whether an expression is a u32.
    pub(crate) fn integer(&self, e: &Expr) -> bool {
        type_of(self.ir, e) == Ok(U32)
    }

    /// Whether a condition is known.
    pub(crate) fn decide(&self, cond: &Expr) -> Option<bool> {
        let Expr::Binary(op, x, y) = cond else {
            return if let Expr::Bool(known) = cond { Some(*known) } else { None };
        };
        if matches!(op, Binary::And | Binary::Or) {
            return match (op, self.decide(x), self.decide(y)) {
                (Binary::And, Some(false), _) | (Binary::And, _, Some(false)) => Some(false),
                (Binary::Or, Some(true), _) | (Binary::Or, _, Some(true)) => Some(true),
                (_, Some(a), Some(b)) if a == b => Some(a),
                _ => None,
            };
        }
        if !self.integer(x) {
            return None;
        }
        let (a, b) = (self.of(x), self.of(y));
        let less = |a: Range, b: Range| (a.hi < b.lo).then_some(true).or((a.lo >= b.hi).then_some(false));
        let equal = || match (a.lo == a.hi && a == b, a.hi < b.lo || b.hi < a.lo) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        match op {
            Binary::Lt => less(a, b),
            Binary::Gt => less(b, a),
            Binary::Ge => less(a, b).map(|x| !x),
            Binary::Le => less(b, a).map(|x| !x),
            Binary::Eq => equal(),
            Binary::Ne => equal().map(|x| !x),
            _ => None,
        }
    }

    /// `e / n` and `e % n` as sums and products, where neither wraps and no division is needed.
    pub(crate) fn split(&self, e: &Expr, n: u32) -> Option<(Expr, Expr)> {
        if n == 0 || self.greatest(e)? > u64::from(u32::MAX) {
            return None;
        }
        let (quotient, rest) = self.parts(e, n)?;
        (self.of(&rest).hi < n).then_some((quotient, rest))
    }

    fn parts(&self, e: &Expr, n: u32) -> Option<(Expr, Expr)> {
        match e {
            Expr::U32(x) => Some((Expr::U32(x / n), Expr::U32(x % n))),
            _ if self.of(e).hi < n => Some((Expr::U32(0), e.clone())),
            Expr::Binary(Binary::Mul, a, b) => match (&**a, &**b) {
                (x, Expr::U32(c)) | (Expr::U32(c), x) if c % n == 0 => Some((product(x, c / n), Expr::U32(0))),
                _ => None,
            },
            Expr::Binary(Binary::Add, a, b) => {
                let ((qa, ra), (qb, rb)) = (self.parts(a, n)?, self.parts(b, n)?);
                Some((sum(qa, qb), sum(ra, rb)))
            }
            _ => None,
        }
    }

    /// The greatest value if nothing wrapped; `None` where a difference could.
    fn greatest(&self, e: &Expr) -> Option<u64> {
        match e {
            Expr::Binary(Binary::Add, a, b) => self.greatest(a)?.checked_add(self.greatest(b)?),
            Expr::Binary(Binary::Mul, a, b) => self.greatest(a)?.checked_mul(self.greatest(b)?),
            _ => Some(self.of(e).hi.into()),
        }
    }
}

fn product(x: &Expr, c: u32) -> Expr {
    if c == 1 { x.clone() } else { Expr::Binary(Binary::Mul, Box::new(x.clone()), Box::new(Expr::U32(c))) }
}

fn sum(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (x, Expr::U32(0)) | (Expr::U32(0), x) => x,
        (a, b) => Expr::Binary(Binary::Add, Box::new(a), Box::new(b)),
    }
}
