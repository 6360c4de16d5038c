//! How often one invocation goes round its loops, as an expression of the run-time parameters: an upper bound.
//!
//! Some software adapters end an invocation's loops after a fixed number of rounds without a word (Mesa's llvmpipe: 65,535 over
//! all loops together), which would give wrong results. So the bound is part of a program, and both the compiler and the
//! runtime hold it against the target.

use crate::loops::{Builtin, Expr, LoopIr, Stmt, Var};
use crate::program::Count;
use crate::ranges::Ranges;
use crate::usage::uses_subgroups;
use std::collections::{HashMap, HashSet};
use tilewright_dsl::ir::Binary;

/// An upper bound of the rounds of all loops of one invocation, whichever subgroup size the device takes; `None` where a bound
/// depends on loaded values.
pub fn iterations(loops: &LoopIr, dispatch: &[Count; 2]) -> Option<Count> {
    let at = |size| Bounds::new(loops, dispatch, size).block(&loops.body);
    let each: Option<Vec<Count>> = subgroup_sizes(loops).into_iter().map(at).collect();
    let most = each?.into_iter().map(Some).reduce(|a, b| larger(&a?, &b?));
    most.flatten().or_else(|| at(None))
}

/// The subgroup sizes that a shader is looked at under: those that it may meet, or none where it does not ask.
pub(crate) fn subgroup_sizes(loops: &LoopIr) -> Vec<Option<u32>> {
    match loops.subgroups.filter(|_| uses_subgroups(loops)) {
        Some(sizes) => (0..32).map(|bit| 1 << bit).filter(|n| (sizes.min..=sizes.max).contains(n)).map(Some).collect(),
        None => vec![None],
    }
}

/// A count that is at least both, where they differ in their numbers alone.
pub(crate) fn larger(a: &Count, b: &Count) -> Option<Count> {
    let both = |a: &Count, b: &Count, c: &Count, d: &Count| Some((Box::new(larger(a, c)?), Box::new(larger(b, d)?)));
    match (a, b) {
        (a, b) if a == b => Some(a.clone()),
        (Count::Const(a), Count::Const(b)) => Some(Count::Const(*a.max(b))),
        (Count::Add(a, b), Count::Add(c, d)) => both(a, b, c, d).map(|(a, b)| Count::Add(a, b)),
        (Count::Mul(a, b), Count::Mul(c, d)) => both(a, b, c, d).map(|(a, b)| Count::Mul(a, b)),
        (Count::Min(a, b), Count::Min(c, d)) => both(a, b, c, d).map(|(a, b)| Count::Min(a, b)),
        _ => None,
    }
}

/// Upper bounds of u32 locals, as a walk through a body learns them.
pub(crate) struct Bounds<'a> {
    loops: &'a LoopIr,
    dispatch: &'a [Count; 2],
    /// The largest value of each u32 local.
    most: HashMap<Var, Option<Count>>,
    /// What is known of them as numbers alone.
    ranges: Ranges<'a>,
    /// Those that are the same for a whole workgroup.
    uniform: HashSet<Var>,
}

impl<'a> Bounds<'a> {
    /// Nothing is known yet but the subgroup size, if it is given.
    pub(crate) fn new(loops: &'a LoopIr, dispatch: &'a [Count; 2], size: Option<u32>) -> Self {
        let ranges = size.map_or_else(|| Ranges::new(loops), |size| Ranges::with_subgroup_size(loops, size));
        Bounds { loops, dispatch, most: HashMap::new(), ranges, uniform: HashSet::new() }
    }

    /// Notes what a local can be at most.
    pub(crate) fn learn(&mut self, var: Var, value: &Expr) {
        let most = self.most(value);
        self.most.insert(var, most);
        self.ranges.set(var, self.ranges.of(value));
        if self.uniform(value) {
            self.uniform.insert(var);
        }
    }

    /// Most rounds of a loop, and notes what its counter can be.
    pub(crate) fn enter(&mut self, var: Var, start: &Expr, end: &Expr, step: &Expr) -> Option<Count> {
        self.ranges.set(var, self.ranges.counter(start, end));
        let end = self.most(end);
        self.most.insert(var, end.clone().map(|n| sub(n, 1)));
        let length = match start {
            Expr::U32(n) if *n > 0 => sub(end?, *n),
            _ => end?,
        };
        Some(match self.ranges.of(step).lo {
            0 => length,
            n => div_ceil(length, n),
        })
    }

    /// Whether a condition is known.
    pub(crate) fn decide(&self, cond: &Expr) -> Option<bool> {
        self.ranges.decide(cond)
    }

    fn block(&mut self, body: &[Stmt]) -> Option<Count> {
        let mut total = Count::Const(0);
        for stmt in body {
            match stmt {
                Stmt::Let(var, value) => self.learn(*var, value),
                Stmt::For { var, start, end, step, body } => {
                    let trips = self.enter(*var, start, end, step)?;
                    let inner = self.block(body)?;
                    total = add(total, Count::product(trips, add(inner, Count::Const(1))));
                }
                Stmt::If(cond, then, or) => {
                    let rounds = match self.decide(cond) {
                        Some(true) => self.block(then)?,
                        Some(false) => self.block(or)?,
                        None => {
                            let (then, or) = (self.block(then)?, self.block(or)?);
                            // Invocations that part run both, one after the other, where they share a counter of instructions.
                            let one = larger(&then, &or).filter(|_| self.uniform(cond));
                            one.unwrap_or_else(|| add(then, or))
                        }
                    };
                    total = add(total, rounds);
                }
                _ => {}
            }
        }
        Some(total)
    }

    /// Whether an expression is sure to be the same for a whole workgroup.
    fn uniform(&self, e: &Expr) -> bool {
        match e {
            Expr::U32(_) | Expr::Param(_) | Expr::Builtin(Builtin::WorkgroupX | Builtin::WorkgroupY) => true,
            Expr::Var(v) => self.uniform.contains(v),
            Expr::Binary(_, a, b) => self.uniform(a) && self.uniform(b),
            _ => false,
        }
    }

    fn most(&self, e: &Expr) -> Option<Count> {
        Some(match e {
            Expr::U32(n) => Count::Const(*n),
            Expr::Param(i) => Count::Param(self.loops.params.get(*i)?.name.clone()),
            Expr::Var(v) => self.most.get(v)?.clone()?,
            // Where there is an invocation, there is a workgroup.
            Expr::Builtin(Builtin::WorkgroupX) => sub(self.dispatch[0].clone(), 1),
            Expr::Builtin(Builtin::WorkgroupY) => sub(self.dispatch[1].clone(), 1),
            Expr::Builtin(_) => Count::Const(self.ranges.of(e).hi),
            Expr::Binary(Binary::Add, a, b) => add(self.most(a)?, self.most(b)?),
            Expr::Binary(Binary::Mul, a, b) => Count::product(self.most(a)?, self.most(b)?),
            Expr::Binary(Binary::Sub, a, b) => match **b {
                Expr::U32(n) => sub(self.most(a)?, n),
                _ => self.most(a)?,
            },
            Expr::Binary(Binary::Div, a, b) => div(self.most(a)?, self.ranges.of(b).lo.max(1)),
            Expr::Binary(Binary::Rem, a, b) => min(self.most(a), self.most(b).map(|n| sub(n, 1)))?,
            Expr::Binary(Binary::Min, a, b) => min(self.most(a), self.most(b))?,
            _ => return None,
        })
    }
}

/// The smaller of what is known.
fn min(a: Option<Count>, b: Option<Count>) -> Option<Count> {
    match (a, b) {
        (Some(Count::Const(a)), Some(Count::Const(b))) => Some(Count::Const(a.min(b))),
        (Some(a), Some(b)) => Some(Count::Min(Box::new(a), Box::new(b))),
        (a, b) => a.or(b),
    }
}

/// A difference is one of values that are no smaller than what is taken away, so that what is added back cancels.
fn add(a: Count, b: Count) -> Count {
    match (a, b) {
        (Count::Const(a), Count::Const(b)) => Count::Const(a.saturating_add(b)),
        (Count::Const(0), n) | (n, Count::Const(0)) => n,
        (Count::Sub(a, m), Count::Const(n)) => match *m {
            Count::Const(m) if n >= m => add(*a, Count::Const(n - m)),
            Count::Const(m) => sub(*a, m - n),
            m => Count::Add(Box::new(Count::Sub(a, Box::new(m))), Box::new(Count::Const(n))),
        },
        (Count::Add(a, b), Count::Const(n)) => match *b {
            Count::Const(_) => add(*a, add(*b, Count::Const(n))),
            Count::Sub(b, m) if matches!(*m, Count::Const(m) if n >= m) => {
                add(Count::Add(a, b), sub(Count::Const(n), constant(&m)))
            }
            b => Count::Add(Box::new(Count::Add(a, Box::new(b))), Box::new(Count::Const(n))),
        },
        (a, b) => Count::Add(Box::new(a), Box::new(b)),
    }
}

fn constant(n: &Count) -> u32 {
    if let Count::Const(n) = n { *n } else { 0 }
}

fn sub(a: Count, n: u32) -> Count {
    match a {
        Count::Const(a) => Count::Const(a.saturating_sub(n)),
        a if n == 0 => a,
        Count::Add(a, b) if matches!(*b, Count::Const(c) if c >= n) => add(*a, sub(*b, n)),
        a => Count::Sub(Box::new(a), Box::new(Count::Const(n))),
    }
}

fn div(a: Count, n: u32) -> Count {
    match a {
        Count::Const(a) => Count::Const(a / n),
        a if n == 1 => a,
        Count::Mul(a, b) if matches!(*b, Count::Const(c) if c % n == 0) => Count::product(*a, div(*b, n)),
        // (a * c * n - m) / n = a * c - ceil(m / n)
        Count::Sub(a, m) => match (*a, *m) {
            (Count::Mul(a, b), Count::Const(m)) if matches!(*b, Count::Const(c) if c % n == 0) => {
                sub(Count::product(*a, div(*b, n)), m.div_ceil(n))
            }
            (a, m) => Count::Div(Box::new(Count::Sub(Box::new(a), Box::new(m))), n),
        },
        Count::Add(a, b) if *b == Count::Const(n - 1) => div_ceil(*a, n),
        a => Count::Div(Box::new(a), n),
    }
}

fn div_ceil(a: Count, n: u32) -> Count {
    match a {
        Count::Const(a) => Count::Const(a.div_ceil(n)),
        a if n == 1 => a,
        a => Count::DivCeil(Box::new(a), n),
    }
}
