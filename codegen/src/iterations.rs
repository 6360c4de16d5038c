//! How often one invocation goes round its loops, as an expression of the run-time parameters: an upper bound.
//!
//! Some software adapters end an invocation's loops after a fixed number of rounds without a word (Mesa's llvmpipe: 65,535 over
//! all loops together), which would give wrong results. So the bound is part of a program, and both the compiler and the
//! runtime hold it against the target.

use crate::loops::{Builtin, Expr, LoopIr, Stmt, Var};
use crate::program::Count;
use std::collections::HashMap;
use tilewright_dsl::ir::Binary;

/// An upper bound of the rounds of all loops of one invocation; `None` where a bound depends on loaded values.
pub fn iterations(loops: &LoopIr, dispatch: &[Count; 2]) -> Option<Count> {
    Bounds::new(loops, dispatch).block(&loops.body)
}

/// Upper bounds of u32 locals, as a walk through a body learns them.
pub(crate) struct Bounds<'a> {
    loops: &'a LoopIr,
    dispatch: &'a [Count; 2],
    /// The largest value of each u32 local.
    most: HashMap<Var, Option<Count>>,
}

impl<'a> Bounds<'a> {
    /// Nothing is known yet.
    pub(crate) fn new(loops: &'a LoopIr, dispatch: &'a [Count; 2]) -> Self {
        Bounds { loops, dispatch, most: HashMap::new() }
    }

    /// Notes what a local can be at most.
    pub(crate) fn learn(&mut self, var: Var, value: &Expr) {
        let most = self.most(value);
        self.most.insert(var, most);
    }

    /// Most rounds of a loop, and notes what its counter can be.
    pub(crate) fn enter(&mut self, var: Var, start: &Expr, end: &Expr, step: &Expr) -> Option<Count> {
        let end = self.most(end);
        self.most.insert(var, end.clone());
        let length = match start {
            Expr::U32(n) if *n > 0 => sub(end?, *n),
            _ => end?,
        };
        Some(match step {
            Expr::U32(n) if *n > 0 => div_ceil(length, *n),
            _ => length,
        })
    }

    fn block(&mut self, body: &[Stmt]) -> Option<Count> {
        let mut total = Count::Const(0);
        for stmt in body {
            match stmt {
                Stmt::Let(var, value) => self.learn(*var, value),
                Stmt::For { var, start, end, step, body } => {
                    let trips = self.enter(*var, start, end, step)?;
                    let inner = self.block(body)?;
                    total = add(total, mul(trips, add(inner, Count::Const(1))));
                }
                Stmt::If(_, then, or) => {
                    let (then, or) = (self.block(then)?, self.block(or)?);
                    total = add(total, add(then, or));
                }
                _ => {}
            }
        }
        Some(total)
    }

    fn most(&self, e: &Expr) -> Option<Count> {
        Some(match e {
            Expr::U32(n) => Count::Const(*n),
            Expr::Param(i) => Count::Param(self.loops.params.get(*i)?.name.clone()),
            Expr::Var(v) => self.most.get(v)?.clone()?,
            Expr::Builtin(Builtin::WorkgroupX) => self.dispatch[0].clone(),
            Expr::Builtin(Builtin::WorkgroupY) => self.dispatch[1].clone(),
            Expr::Builtin(_) => Count::Const(self.loops.workgroup),
            Expr::Binary(Binary::Add, a, b) => add(self.most(a)?, self.most(b)?),
            Expr::Binary(Binary::Mul, a, b) => mul(self.most(a)?, self.most(b)?),
            Expr::Binary(Binary::Sub, a, b) => match **b {
                Expr::U32(n) => sub(self.most(a)?, n),
                _ => self.most(a)?,
            },
            Expr::Binary(Binary::Div, a, b) => match **b {
                Expr::U32(n) if n > 0 => div(self.most(a)?, n),
                _ => self.most(a)?,
            },
            Expr::Binary(Binary::Rem, a, b) => match (self.most(a), self.most(b)) {
                (Some(a), Some(b)) => Count::Min(Box::new(a), Box::new(b)),
                (Some(n), None) | (None, Some(n)) => n,
                (None, None) => return None,
            },
            Expr::Binary(Binary::Min, a, b) => match (self.most(a), self.most(b)) {
                (Some(a), Some(b)) => Count::Min(Box::new(a), Box::new(b)),
                (Some(n), None) | (None, Some(n)) => n,
                (None, None) => return None,
            },
            _ => return None,
        })
    }
}

fn add(a: Count, b: Count) -> Count {
    match (a, b) {
        (Count::Const(a), Count::Const(b)) => Count::Const(a.saturating_add(b)),
        (Count::Const(0), n) | (n, Count::Const(0)) => n,
        (Count::Add(a, b), Count::Const(n)) if matches!(*b, Count::Const(_)) => add(*a, add(*b, Count::Const(n))),
        (a, b) => Count::Add(Box::new(a), Box::new(b)),
    }
}

fn mul(a: Count, b: Count) -> Count {
    match (a, b) {
        (Count::Const(a), Count::Const(b)) => Count::Const(a.saturating_mul(b)),
        (Count::Const(1), n) | (n, Count::Const(1)) => n,
        (a, b) => Count::Mul(Box::new(a), Box::new(b)),
    }
}

fn sub(a: Count, n: u32) -> Count {
    match a {
        Count::Const(a) => Count::Const(a.saturating_sub(n)),
        a => Count::Sub(Box::new(a), Box::new(Count::Const(n))),
    }
}

fn div(a: Count, n: u32) -> Count {
    match a {
        Count::Const(a) => Count::Const(a / n),
        Count::Mul(a, b) if matches!(*b, Count::Const(c) if c % n == 0) => mul(*a, div(*b, n)),
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
