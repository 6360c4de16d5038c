//! What a compilation gives: shaders, their bindings, and dispatch sizes as expressions of the run-time parameters.
//!
//! The runtime needs nothing else: it never sees a kernel, an axis or a schedule. Bindings are dense from 0 in the order
//! read-only, read-write, uniform (group 0), which HLSL's registers need as well.

use crate::loops::LoopIr;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use tilewright_dsl::schedule::Storage;

/// A u32 that is known when the run-time parameters are.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Count {
    /// A number.
    Const(u32),
    /// A parameter by name.
    Param(String),
    /// Sum.
    Add(Box<Count>, Box<Count>),
    /// Product.
    Mul(Box<Count>, Box<Count>),
    /// Quotient, rounded up.
    DivCeil(Box<Count>, u32),
    /// Quotient, rounded down.
    Div(Box<Count>, u32),
    /// Difference, at least 0.
    Sub(Box<Count>, Box<Count>),
    /// The smaller.
    Min(Box<Count>, Box<Count>),
}

impl Count {
    /// a + b, folded where both are numbers or one is 0.
    pub fn sum(a: Count, b: Count) -> Count {
        match (a, b) {
            (Count::Const(a), Count::Const(b)) => Count::Const(a.saturating_add(b)),
            (Count::Const(0), n) | (n, Count::Const(0)) => n,
            (a, b) => Count::Add(Box::new(a), Box::new(b)),
        }
    }

    /// a · b, folded where both are numbers or one is 1.
    pub fn product(a: Count, b: Count) -> Count {
        match (a, b) {
            (Count::Const(a), Count::Const(b)) => Count::Const(a.saturating_mul(b)),
            (Count::Const(1), n) | (n, Count::Const(1)) => n,
            (a, b) => Count::Mul(Box::new(a), Box::new(b)),
        }
    }

    /// The parameters that it names.
    pub fn params(&self) -> BTreeSet<&str> {
        match self {
            Count::Const(_) => BTreeSet::new(),
            Count::Param(name) => BTreeSet::from([name.as_str()]),
            Count::DivCeil(a, _) | Count::Div(a, _) => a.params(),
            Count::Add(a, b) | Count::Mul(a, b) | Count::Sub(a, b) | Count::Min(a, b) => &a.params() | &b.params(),
        }
    }

    /// The value under these parameters; `None` if one is missing or it does not fit a u32.
    pub fn eval(&self, params: &BTreeMap<String, u32>) -> Option<u32> {
        Some(match self {
            Count::Const(n) => *n,
            Count::Param(p) => *params.get(p)?,
            Count::Add(a, b) => a.eval(params)?.checked_add(b.eval(params)?)?,
            Count::Mul(a, b) => a.eval(params)?.checked_mul(b.eval(params)?)?,
            Count::DivCeil(a, n) => a.eval(params)?.div_ceil(*n),
            Count::Div(a, n) => a.eval(params)? / n,
            Count::Sub(a, b) => a.eval(params)?.saturating_sub(b.eval(params)?),
            Count::Min(a, b) => a.eval(params)?.min(b.eval(params)?),
        })
    }
}

/// Arithmetic on numbers that are never negative: `/` rounds down, `ceil(a / n)` up, `a - b` is at least 0.
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |count: &Count, least: u8| {
            if precedence(count) < least { format!("({count})") } else { count.to_string() }
        };
        match self {
            Count::Const(n) => write!(f, "{n}"),
            Count::Param(name) => f.write_str(name),
            Count::Add(a, b) => write!(f, "{} + {}", inner(a, 1), inner(b, 2)),
            Count::Sub(a, b) => write!(f, "{} - {}", inner(a, 1), inner(b, 2)),
            Count::Mul(a, b) => write!(f, "{} * {}", inner(a, 2), inner(b, 3)),
            Count::Div(a, n) => write!(f, "{} / {n}", inner(a, 2)),
            Count::DivCeil(a, n) => write!(f, "ceil({} / {n})", inner(a, 2)),
            Count::Min(a, b) => write!(f, "min({a}, {b})"),
        }
    }
}

/// 1 for sums, 2 for products, 3 for what needs no parentheses.
fn precedence(count: &Count) -> u8 {
    match count {
        Count::Add(..) | Count::Sub(..) => 1,
        Count::Mul(..) | Count::Div(..) => 2,
        Count::Const(_) | Count::Param(_) | Count::DivCeil(..) | Count::Min(..) => 3,
    }
}

/// How a tensor parameter must lie in its buffer or buffers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorLayout {
    /// The parameter's name.
    pub name: String,
    /// Whether the program writes it.
    pub written: bool,
    /// u32 tensors; else f32 in `storage`.
    pub integer: bool,
    /// Extents (capacities of run-time ones), outermost first.
    pub dims: Vec<u32>,
    /// Format of an element.
    pub storage: Storage,
    /// Elements from one innermost row to the next: the innermost extent, padded with zeros to 16 bytes,
    /// and the room of the row's scales.
    pub stride: u32,
    /// Rows of dimension 0 in each buffer where one binding cannot hold the tensor; one entry otherwise.
    pub parts: Vec<u32>,
}

impl TensorLayout {
    /// Bytes that one row of dimension 0 takes (of the whole tensor, if it has one dimension).
    pub fn row_bytes(&self) -> u64 {
        let middle: u64 = self.dims.iter().skip(1).rev().skip(1).map(|d| u64::from(*d)).product();
        u64::from(self.stride / self.storage.per_word()) * 4 * middle
    }
    /// Bytes of part `i`.
    pub fn part_bytes(&self, i: usize) -> u64 {
        if self.dims.len() == 1 { self.row_bytes() } else { self.row_bytes() * u64::from(self.parts[i]) }
    }
}

/// One shader with its dispatch.
#[derive(Clone, PartialEq, Debug)]
pub struct Shader {
    /// The loop IR, from which every text is printed.
    pub loops: LoopIr,
    /// The text for wgpu (naga's dialect).
    pub wgsl: String,
    /// Workgroups along x and y.
    pub dispatch: [Count; 2],
    /// Whether it uses subgroup operations.
    pub subgroups: bool,
    /// Most rounds of all loops of one invocation; `None` where loaded values decide.
    pub iterations: Option<Count>,
}

/// A compiled kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The kernel's name.
    pub kernel: String,
    /// The schedule's name.
    pub schedule: String,
    /// Its tensors, in the order of the kernel's parameters.
    pub tensors: Vec<TensorLayout>,
    /// Shaders, to be dispatched in this order.
    pub shaders: Vec<Shader>,
    /// Extents that are parameters, with the largest value of each: the layouts have room for no more.
    pub capacities: BTreeMap<String, u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_the_parentheses_that_they_need() {
        let n = |n: u32| Box::new(Count::Const(n));
        let t = || Box::new(Count::Param("T".into()));
        let sum = || Box::new(Count::Add(t(), n(1)));
        for (count, text) in [
            (Count::Mul(sum(), n(2)), "(T + 1) * 2"),
            (Count::Add(Box::new(Count::Mul(t(), n(2))), n(1)), "T * 2 + 1"),
            (Count::Sub(t(), sum()), "T - (T + 1)"),
            (Count::Sub(sum(), t()), "T + 1 - T"),
            (Count::Mul(n(2), Box::new(Count::Div(t(), 3))), "2 * (T / 3)"),
            (Count::Div(Box::new(Count::Mul(t(), n(2))), 3), "T * 2 / 3"),
            (Count::DivCeil(sum(), 4), "ceil((T + 1) / 4)"),
            (Count::Min(sum(), n(9)), "min(T + 1, 9)"),
        ] {
            assert_eq!(count.to_string(), text);
        }
    }
}
