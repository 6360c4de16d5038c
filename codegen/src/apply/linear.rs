//! Index expressions as sums of axes, and the least and greatest value that one can have.
//!
//! An axis' bounds may use axes around it, so the greatest value of `n + j` with `j` in `0..N - n` is found by putting the last
//! `j` in its place first: `N - 1`. Where an axis ends at the smaller of two, each is put in its place, so that `n * 8 + j` with
//! `j` in `0..min(8, N - n * 8)` is less than N. What only a run tells (a scalar, a loaded value) has no bound. Arithmetic is that of whole
//! numbers: a difference under 0 is seen as such, though a shader would wrap it around.

use crate::deps::{AxisSet, Deps, fixed};
use crate::shape::{Extent, Shape};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use tilewright_dsl::eval::Value;
use tilewright_dsl::ir::{AxisId, Binary, Expr, ExprId, ExtentId, Kernel, Type, Unary};

/// A sum: a constant, multiples of axes, and multiples of expressions that are no sums themselves.
#[derive(Clone, Default, Debug)]
pub struct Linear {
    /// What is added to the rest.
    pub constant: i64,
    /// Factors of axes.
    pub axes: BTreeMap<AxisId, i64>,
    /// Factors of other expressions.
    pub others: BTreeMap<ExprId, i64>,
}

impl Linear {
    fn plus(mut self, other: &Linear, times: i64) -> Option<Linear> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (axis, n) in &other.axes {
            let factor = self.axes.entry(*axis).or_default();
            *factor = factor.checked_add(n.checked_mul(times)?)?;
        }
        for (id, n) in &other.others {
            let factor = self.others.entry(*id).or_default();
            *factor = factor.checked_add(n.checked_mul(times)?)?;
        }
        self.axes.retain(|_, n| *n != 0);
        self.others.retain(|_, n| *n != 0);
        Some(self)
    }

    fn number(&self) -> Option<i64> {
        (self.axes.is_empty() && self.others.is_empty()).then_some(self.constant)
    }
}

/// Least and greatest value, where they are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The least.
    pub lo: Option<i64>,
    /// The greatest.
    pub hi: Option<i64>,
}

/// Any u32.
const ANY: Span = Span { lo: Some(0), hi: None };

/// Looks at the index expressions of a kernel at a shape.
pub struct Sums<'k> {
    kernel: &'k Kernel,
    shape: &'k Shape,
    deps: &'k Deps,
    sums: RefCell<HashMap<ExprId, Option<Linear>>>,
    spans: RefCell<HashMap<ExprId, Span>>,
    /// Extents that are at least 1 wherever the expression at hand has a value.
    positive: RefCell<Vec<ExtentId>>,
}

impl<'k> Sums<'k> {
    /// Of this kernel at this shape.
    pub fn new(kernel: &'k Kernel, shape: &'k Shape, deps: &'k Deps) -> Self {
        Sums { kernel, shape, deps, sums: RefCell::default(), spans: RefCell::default(), positive: RefCell::default() }
    }

    /// An expression as a sum; `None` where its numbers do not fit.
    pub fn of(&self, id: ExprId) -> Option<Linear> {
        if let Some(known) = self.sums.borrow().get(&id) {
            return known.clone();
        }
        let sum = self.sum(id);
        self.sums.borrow_mut().insert(id, sum.clone());
        sum
    }

    fn sum(&self, id: ExprId) -> Option<Linear> {
        let single = || Some(Linear { others: BTreeMap::from([(id, 1)]), ..Linear::default() });
        match self.kernel.expr(id) {
            Expr::U32(n) => Some(Linear { constant: i64::from(*n), ..Linear::default() }),
            Expr::Axis(a) => Some(Linear { axes: BTreeMap::from([(*a, 1)]), ..Linear::default() }),
            Expr::Extent(e) => match self.shape.get(&self.kernel.extents[e.0 as usize]) {
                Some(Extent::Fixed(n)) => Some(Linear { constant: i64::from(n), ..Linear::default() }),
                _ => single(),
            },
            Expr::Unary(Unary::ToU32, a) if self.kernel.type_of(*a) == Type::U32 => self.of(*a),
            Expr::Binary(Binary::Add, a, b) => self.of(*a)?.plus(&self.of(*b)?, 1),
            Expr::Binary(Binary::Sub, a, b) => self.of(*a)?.plus(&self.of(*b)?, -1),
            Expr::Binary(Binary::Mul, a, b) => {
                let (a, b) = (self.of(*a)?, self.of(*b)?);
                match (a.number(), b.number()) {
                    (_, Some(n)) => Linear::default().plus(&a, n),
                    (Some(n), _) => Linear::default().plus(&b, n),
                    _ => single(),
                }
            }
            _ => single(),
        }
    }

    /// The values that an expression can have. It has none where an axis in it has none, so that the extents of its axes are
    /// at least 1.
    pub fn span(&self, id: ExprId) -> Span {
        let free = self.deps.free(id);
        let axes = (0..self.kernel.axes.len() as u32).map(AxisId).filter(|a| free.has(*a));
        let positive = axes.filter_map(|a| {
            let decl = self.kernel.axis(a);
            match (self.kernel.expr(decl.lo), self.kernel.expr(decl.hi)) {
                (Expr::U32(0), Expr::Extent(e)) => Some(*e),
                _ => None,
            }
        });
        self.positive.replace(positive.collect());
        self.spans.borrow_mut().clear();
        let span = self.inner(id);
        self.positive.borrow_mut().clear();
        self.spans.borrow_mut().clear();
        span
    }

    fn inner(&self, id: ExprId) -> Span {
        if let Some(known) = self.spans.borrow().get(&id) {
            return *known;
        }
        let span = match self.of(id) {
            Some(sum) => Span { lo: self.extreme(sum.clone(), -1), hi: self.extreme(sum, 1) },
            None => ANY,
        };
        self.spans.borrow_mut().insert(id, span);
        span
    }

    /// How many values an axis has at most; `None` where only a run tells.
    pub fn count(&self, axis: AxisId) -> Option<i64> {
        let decl = self.kernel.axis(axis);
        self.extreme(self.of(decl.hi)?.plus(&self.of(decl.lo)?, -1)?, 1)
    }

    /// The greatest value (`sign` 1) or the least (-1).
    fn extreme(&self, mut sum: Linear, sign: i64) -> Option<i64> {
        while !sum.axes.is_empty() {
            // Inner axes first: their bounds may use outer ones, and those may cancel.
            let (axis, factor) = sum.axes.iter().map(|(a, n)| (*a, *n)).find(|(a, _)| {
                let around = |b: &AxisId| {
                    let decl = self.kernel.axis(*b);
                    self.deps.free(decl.lo).has(*a) || self.deps.free(decl.hi).has(*a)
                };
                !sum.axes.keys().any(around)
            })?;
            let decl = self.kernel.axis(axis);
            let (end, last) = if factor * sign > 0 { (decl.hi, 1) } else { (decl.lo, 0) };
            sum.axes.remove(&axis);
            let at = |end: ExprId| {
                let mut bound = self.of(end)?;
                bound.constant -= last;
                sum.clone().plus(&bound, factor)
            };
            // The end of a part: what is added to its first value is less than both the chunk and what is left.
            if let (Expr::Binary(Binary::Min, a, b), 1) = (self.kernel.expr(end), last) {
                let [a, b] = [a, b].map(|end| self.extreme(at(*end)?, sign));
                return a.zip(b).map(|(a, b)| if sign > 0 { a.min(b) } else { a.max(b) });
            }
            sum = at(end)?;
        }
        let mut total = sum.constant;
        for (id, factor) in sum.others {
            let span = self.other(id);
            let bound = if factor * sign > 0 { span.hi } else { span.lo };
            total = total.checked_add(bound?.checked_mul(factor)?)?;
        }
        Some(total)
    }

    /// The values of an expression that is no sum.
    fn other(&self, id: ExprId) -> Span {
        if let Some(Value::U32(n)) = fixed(self.kernel, self.shape, id) {
            return Span { lo: Some(i64::from(n)), hi: Some(i64::from(n)) };
        }
        // What may be under 0 wraps around: anything may come of it.
        let natural = |id: ExprId| Some(self.inner(id)).filter(|s| s.lo.is_some_and(|lo| lo >= 0)).unwrap_or(ANY);
        let least = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).min();
        let both = |a: Option<i64>, b: Option<i64>, f: fn(i64, i64) -> i64| Some(f(a?, b?));
        match self.kernel.expr(id) {
            Expr::Extent(e) => match self.shape.get(&self.kernel.extents[e.0 as usize]) {
                Some(Extent::Param { capacity }) => {
                    let lo = i64::from(self.positive.borrow().contains(e));
                    Span { lo: Some(lo), hi: Some(i64::from(capacity)) }
                }
                _ => ANY,
            },
            Expr::Select(_, a, b) => {
                let (a, b) = (natural(*a), natural(*b));
                Span { lo: both(a.lo, b.lo, i64::min), hi: both(a.hi, b.hi, i64::max) }
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (natural(*a), natural(*b));
                let exact = b.lo.filter(|n| Some(*n) == b.hi);
                match op {
                    Binary::Div => match (b.lo, b.hi) {
                        (Some(lo), hi) if lo > 0 => {
                            Span { lo: both(a.lo, hi, |x, y| x / y).or(Some(0)), hi: a.hi.map(|x| x / lo) }
                        }
                        _ => ANY,
                    },
                    Binary::Rem if b.lo.is_some_and(|lo| lo > 0) => match (a.hi, b.lo) {
                        (Some(x), Some(n)) if x < n => a,
                        _ => Span { lo: Some(0), hi: least(a.hi, b.hi.map(|n| n - 1)) },
                    },
                    Binary::Min => Span { lo: both(a.lo, b.lo, i64::min), hi: least(a.hi, b.hi) },
                    Binary::Max => Span { lo: a.lo.max(b.lo), hi: both(a.hi, b.hi, i64::max) },
                    Binary::And => Span { lo: Some(0), hi: least(a.hi, b.hi) },
                    Binary::Mul => Span { lo: Some(0), hi: a.hi.zip(b.hi).and_then(|(x, y)| x.checked_mul(y)) },
                    Binary::Shr => match exact {
                        Some(n @ 0..32) => Span { lo: a.lo.map(|x| x >> n), hi: a.hi.map(|x| x >> n) },
                        _ => Span { lo: Some(0), hi: a.hi },
                    },
                    Binary::Shl => match exact {
                        Some(n @ 0..31) => {
                            Span { lo: a.lo.map(|x| x << n), hi: a.hi.and_then(|x| x.checked_mul(1 << n)) }
                        }
                        _ => ANY,
                    },
                    _ => ANY,
                }
            }
            _ => ANY,
        }
    }

    /// Whether different values of these axes give different indices: each index is a number whose digits are axes that no
    /// index before has told.
    pub fn tells(&self, indices: &[ExprId], axes: &[AxisId]) -> bool {
        let mut open: Vec<AxisId> = axes.iter().copied().filter(|a| self.count(*a).is_none_or(|n| n > 1)).collect();
        let sums: Vec<Linear> = indices.iter().filter_map(|id| self.of(*id)).collect();
        loop {
            let before = open.len();
            for sum in &sums {
                let all = open.iter().fold(AxisSet::default(), |s, a| s.union(AxisSet::of(*a)));
                let hidden = sum.others.keys().any(|id| self.deps.free(*id).minus(all) != self.deps.free(*id));
                let mut digits: Vec<(i64, AxisId)> =
                    sum.axes.iter().filter(|(a, _)| open.contains(a)).map(|(a, n)| (n.abs(), *a)).collect();
                digits.sort_unstable();
                let mut below = Some(0i64);
                let apart = !hidden
                    && digits.iter().all(|(factor, axis)| {
                        let fits = below.is_some_and(|b| *factor > b);
                        below =
                            below.zip(self.count(*axis)).and_then(|(b, n)| b.checked_add(factor.checked_mul(n - 1)?));
                        fits
                    });
                if apart {
                    open.retain(|a| !digits.iter().any(|d| d.1 == *a));
                }
            }
            if open.is_empty() || open.len() == before {
                return open.is_empty();
            }
        }
    }
}
