//! The manifest's fields, as JSON has them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a folder's manifest says first, so that it is known whose folder it is.
pub const FORMAT: &str = "tilewright shaders, version 1";

/// How dispatch sizes are to be read.
pub const EXPRESSIONS: &str = "numbers, the operation's scalars by name, a + b, a - b (at least 0), a * b, a / n (rounded down), \
                               ceil(a / n), min(a, b), parentheses; never negative";

/// Rules that hold for the whole folder.
pub const RULES: [&str; 7] = [
    "every binding is in bind group 0 (register space 0 in HLSL)",
    "f32 and u32 are a little-endian 32-bit word each; f16 and bf16 lie two in a word, the lower index in its lower half",
    "row_stride counts elements; those from the innermost extent on are zero",
    "a tensor has the rows of its sources one after the other, in the order in which they are named; a vector is rows of one element",
    "weights and inputs are filled by the host, converted to the element that their layout names and rounded to nearest, ties to even",
    "buffers of every other role begin as zeros",
    "invocations are numbered along x; where a shader uses subgroups, each subgroup holds consecutive ones and its size is a power of \
     two in the range that `device` names",
];

/// What shaders ask of the device and of its compiler.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Device {
    /// The target's name.
    pub target: String,
    /// Most invocations of a workgroup.
    pub invocations: u32,
    /// Most bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Most bytes of a binding.
    pub binding_bytes: u64,
    /// Most storage buffers of a shader.
    pub storage_buffers: u32,
    /// The least and the largest size of a subgroup, for shaders that use them.
    pub subgroup_sizes: Option<[u32; 2]>,
    /// HLSL: the profile, DXC's `-T`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// HLSL: DXC's other flags; what they leave open changes results or rejects texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// The model's tokens.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tokens {
    /// How many ids there are.
    pub vocab: u32,
    /// Ids that end a text.
    pub end: Vec<u32>,
}

/// What the rotary table is made from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rotary {
    /// The model's `rope_theta`.
    pub theta: f64,
    /// The model's `rope_scaling`, if it has one.
    pub scaling: Option<serde_json::Value>,
    /// Radians a position, a number for each pair of elements; the scaling is in them.
    pub frequencies: Vec<f32>,
    /// What multiplies cosines and sines.
    pub factor: f32,
    /// How the table is made of them.
    pub formula: String,
}

/// `manifest.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// The model's name.
    pub model: String,
    /// The tier.
    pub tier: usize,
    /// `wgsl`, `wgsl-web` or `hlsl`.
    pub language: String,
    /// What shaders ask of the device and of its compiler.
    pub device: Device,
    /// [`RULES`].
    pub rules: Vec<String>,
    /// How dispatch sizes are to be read.
    pub expressions: String,
    /// The model's tokens.
    pub tokens: Tokens,
    /// What the rotary table is made from.
    pub rotary: Rotary,
    /// Where the weights are.
    pub checkpoint: String,
    /// Positions of the cache.
    pub context: u32,
    /// Numbers that change from step to step.
    pub parameters: Vec<Input>,
    /// Buffers that the host fills, besides weights.
    pub inputs: Vec<Input>,
    /// Buffers that the host reads.
    pub outputs: Vec<Output>,
    /// All buffers; each is bound whole. State keeps its content from step to step.
    pub buffers: Vec<Buffer>,
    /// Where the model's tensors lie.
    pub weights: Vec<Tensor>,
    /// Compiled kernels.
    pub kernels: Vec<Kernel>,
    /// What is run, and when.
    pub steps: Vec<Step>,
}

/// A parameter or a buffer that the host sets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it is.
    pub meaning: String,
}

/// A buffer that the host reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Output {
    /// Index into the buffers.
    pub buffer: usize,
    /// Its name.
    pub name: String,
    /// Bytes that count.
    pub bytes: u64,
    /// What it is.
    pub meaning: String,
}

/// A buffer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// `weight`, `state`, `activation`, `input`, `output` or `scratch`.
    pub role: String,
}

/// How elements lie in a buffer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Layout {
    /// Extents, outermost first.
    pub dims: Vec<u32>,
    /// `f32` or `u32`: a word each; `f16` or `bf16`: two a word, the lower index in the low half.
    pub element: String,
    /// Elements from one innermost row to the next; what is beyond the innermost extent is zero.
    pub row_stride: u32,
}

/// A tensor of the model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The checkpoint's tensors whose rows it has, one after the other.
    pub sources: Vec<String>,
    /// How it lies.
    #[serde(flatten)]
    pub layout: Layout,
    /// Its buffers: rows of the outermost extent, one part after another.
    pub parts: Vec<Part>,
}

/// Rows of a tensor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Index into the buffers.
    pub buffer: usize,
    /// How many rows of the outermost extent.
    pub rows: u32,
}

/// A compiled kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// The algorithm's name.
    pub kernel: String,
    /// The schedule's text.
    pub schedule: String,
    /// Its extents.
    pub shape: String,
    /// Its tensors by name.
    pub tensors: BTreeMap<String, Layout>,
    /// Its shaders, dispatched in this order.
    pub shaders: Vec<Text>,
}

/// A shader.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Text {
    /// Its file.
    pub file: String,
    /// The entry point.
    pub entry: String,
    /// Invocations a workgroup, all along x.
    pub workgroup: u32,
    /// Bytes of workgroup memory; it need not be zeroed.
    pub workgroup_bytes: u64,
    /// Whether it needs subgroup operations.
    pub subgroups: bool,
    /// Workgroups.
    pub dispatch: Dispatch,
    /// What is bound, all in group (or space) 0; the text need not use all of it, so a host states this layout itself.
    pub bindings: Vec<Binding>,
}

/// Numbers of workgroups, as expressions of the operation's scalars.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Dispatch {
    /// Along x.
    pub x: String,
    /// Along y.
    pub y: String,
}

/// A binding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Binding {
    /// Its number.
    pub binding: u32,
    /// `read-only storage`, `read-write storage` or `uniform`.
    pub kind: String,
    /// HLSL's register.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register: Option<String>,
    /// The kernel's tensor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensor: Option<String>,
    /// Which of the tensor's buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
    /// The words of a uniform block, whose size is rounded up to 16 bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
}

/// A word of a uniform block.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Field {
    /// The scalar's name.
    pub name: String,
    /// `u32` or `f32`.
    pub element: String,
    /// In bytes.
    pub offset: u32,
}

/// What is run, and when.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// What it does.
    pub meaning: String,
    /// Kernels applied to buffers; each sees what those before it wrote.
    pub operations: Vec<Operation>,
}

/// A kernel applied to buffers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Operation {
    /// What it is in the model.
    pub label: String,
    /// Index into the kernels.
    pub kernel: usize,
    /// The kernel's tensors by name: a buffer for each part, by index.
    pub buffers: BTreeMap<String, Vec<usize>>,
    /// The kernel's scalars and run-time extents by name.
    pub scalars: BTreeMap<String, Scalar>,
}

/// Where a scalar gets its value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scalar {
    /// The step's parameter of this name.
    Parameter(String),
    /// A number.
    U32(u32),
    /// The bits of a real number.
    F32Bits(u32),
}
