//! What a compilation gives: shaders, their bindings, and dispatch sizes as expressions of the run-time parameters.
//!
//! The runtime needs nothing else: it never sees a kernel, an axis or a schedule. Bindings are dense from 0 in the order
//! read-only, read-write, uniform (group 0), which HLSL's registers need as well.

use crate::loops::LoopIr;
use std::collections::BTreeMap;
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
    /// Elements from one innermost row to the next: the innermost extent, padded with zeros to 16 bytes.
    pub stride: u32,
    /// Rows of dimension 0 in each buffer where one binding cannot hold the tensor; one entry otherwise.
    pub parts: Vec<u32>,
}

impl TensorLayout {
    /// Bytes that one row of dimension 0 takes (of the whole tensor, if it has one dimension).
    pub fn row_bytes(&self) -> u64 {
        let per_word = if self.storage == Storage::F32 { 1 } else { 2 };
        let middle: u64 = self.dims.iter().skip(1).rev().skip(1).map(|d| u64::from(*d)).product();
        u64::from(self.stride) / per_word * 4 * middle
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
}
