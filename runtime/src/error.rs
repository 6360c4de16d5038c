//! Everything that can go wrong between the host and a device, as one enum.
//!
//! Each message says what was asked, what is there, and what to do. No variant wraps a wgpu type, so that nobody above this
//! crate depends on wgpu.

use crate::adapter::AdapterSummary;
use crate::bytes::Size;
use crate::dxc::DxcError;
use tilewright_dsl::ir::Type;
use tilewright_dsl::storage::LengthError;

/// An error of the device or of what it was asked to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RuntimeError {
    /// The machine has no adapter at all.
    #[error(
        "no GPU adapter found\n  = help: install a driver; for a software one: `apt-get install mesa-vulkan-drivers libvulkan1` (Debian, \
         Ubuntu), `dnf install mesa-vulkan-drivers` (Fedora), `pacman -S vulkan-swrast` (Arch); or use `--backend interp`"
    )]
    NoAdapter,
    /// The adapter that was asked for is not among those that exist.
    #[error("no adapter matches `{asked}`; there {}:\n{}", if found.len() == 1 { "is" } else { "are" }, list(found))]
    AdapterNotFound {
        /// The number or part of a name.
        asked: String,
        /// What there is.
        found: Vec<AdapterSummary>,
    },
    /// The driver refused to open the adapter.
    #[error("adapter `{adapter}` cannot be opened: {reason}")]
    AdapterRefused {
        /// The adapter's name.
        adapter: String,
        /// The driver's words.
        reason: String,
    },
    /// A target override that cannot be read.
    #[error("target `{text}`: {reason}\n  = help: a JSON file, `webgpu`, or `key=value,...` with keys {}", crate::target::KEYS.join(", "))]
    TargetSyntax {
        /// The text or the file's name.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A target override that asks for more than the adapter has.
    #[error(
        "target asks for {key} = {asked}, and the adapter allows {allowed}\n  = help: an override may only play a smaller device"
    )]
    TargetTooLarge {
        /// The limit.
        key: &'static str,
        /// The override's value.
        asked: String,
        /// The adapter's.
        allowed: String,
    },
    /// A buffer over a limit of the device.
    #[error("buffer `{name}` needs {}, and {limit} is {} on this device", Size(*needed), Size(*allowed))]
    BufferTooLarge {
        /// The buffer.
        name: String,
        /// Its size.
        needed: u64,
        /// The limit's name in [`Target`](tilewright_codegen::target::Target).
        limit: &'static str,
        /// The limit.
        allowed: u64,
    },
    /// The device has no room.
    #[error("out of device memory at `{name}`: it needs {}, {} of {} planned are allocated{}\n  = help: a smaller model, a shorter context, or a storage of fewer bits",
        Size(*needed), Size(*allocated), Size(*planned), available.map_or(String::new(), |a| format!(", {} are available", Size(a))))]
    OutOfMemory {
        /// The buffer that did not fit.
        name: String,
        /// Its bytes.
        needed: u64,
        /// Bytes allocated before it.
        allocated: u64,
        /// Bytes of the whole plan.
        planned: u64,
        /// Bytes that the system says are free, where it says so.
        available: Option<u64>,
    },
    /// Bytes outside a buffer, or not in whole words.
    #[error("buffer `{name}` of {size} bytes: {bytes} bytes at {offset} are outside it or not whole 32-bit words")]
    OutOfRange {
        /// The buffer.
        name: String,
        /// Its size.
        size: u64,
        /// First byte asked for.
        offset: u64,
        /// Bytes asked for.
        bytes: u64,
    },
    /// More steps at once than there is room for parameters.
    #[error("{found} steps at once; at most {allowed} are handed over together")]
    TooManySteps {
        /// Steps asked for.
        found: usize,
        /// The most.
        allowed: usize,
    },
    /// An op of a graph that does not fit its program or its buffers.
    #[error("op `{op}`: {fault}")]
    Graph {
        /// The op's label.
        op: String,
        /// What is wrong.
        fault: GraphFault,
    },
    /// The device refused a shader of ours.
    #[error("shader `{kernel}` with schedule `{schedule}` was refused by the device: {reason}")]
    Shader {
        /// The kernel.
        kernel: String,
        /// The schedule.
        schedule: String,
        /// The driver's words.
        reason: String,
    },
    /// An adapter of a kind that takes no HLSL.
    #[error("adapter `{adapter}` takes no HLSL\n  = help: expected one of Vulkan or Direct3D 12, or shaders in WGSL")]
    NoHlsl {
        /// The adapter.
        adapter: AdapterSummary,
    },
    /// DXC is missing, broken, or refused a shader of ours.
    #[error(transparent)]
    Dxc(#[from] DxcError),
    /// The device is gone: a reset, a watchdog, or an unplugged card.
    #[error("device lost ({reason}); last submitted: {}\n  = help: a submit may have run too long; split it (`max_dispatches`) or use a smaller chunk",
        if last.is_empty() { "nothing" } else { last })]
    DeviceLost {
        /// Label of the last submit.
        last: String,
        /// The driver's words.
        reason: String,
    },
    /// An error that the device reported on its own.
    #[error("device error after `{last}`: {reason}")]
    Device {
        /// Label of the last submit.
        last: String,
        /// The driver's words.
        reason: String,
    },
    /// Profiling without timestamps.
    #[error("adapter `{adapter}` has no timestamp queries, which a profile needs")]
    NoTimestamps {
        /// The adapter.
        adapter: String,
    },
}

/// What is wrong with an op.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphFault {
    /// Another number of bindings than the program has tensors.
    #[error("program `{kernel}` has {expected} tensors, and {found} are bound")]
    Bindings {
        /// The kernel.
        kernel: String,
        /// Tensors of the program.
        expected: usize,
        /// Tensors bound.
        found: usize,
    },
    /// Another number of buffers than the tensor has parts.
    #[error("tensor `{tensor}` lies in {expected} buffers, and {found} are bound")]
    Parts {
        /// The tensor.
        tensor: String,
        /// Parts of its layout.
        expected: usize,
        /// Buffers bound.
        found: usize,
    },
    /// More rounds of loops than the device runs: it would end them early and give wrong results.
    #[error(
        "an invocation of kernel `{kernel}` with schedule `{schedule}` would go round its loops {} times, and this device ends loops without a word after {allowed}; \
         choose a schedule with more lanes, a shorter context, or another adapter",
        found.map_or("more than 4,294,967,295".into(), |n| n.to_string())
    )]
    TooManyIterations {
        /// The kernel.
        kernel: String,
        /// Its schedule.
        schedule: String,
        /// Rounds; `None` if it does not fit a u32.
        found: Option<u32>,
        /// Most rounds.
        allowed: u32,
    },
    /// A buffer id that the graph does not have.
    #[error("tensor `{tensor}` is bound to buffer {id}, and the graph has {count}")]
    NoBuffer {
        /// The tensor.
        tensor: String,
        /// The id.
        id: usize,
        /// Buffers of the graph.
        count: usize,
    },
    /// A buffer smaller than the part it holds.
    #[error("tensor `{tensor}` needs {needed} bytes, and buffer `{buffer}` has {found}")]
    BufferTooSmall {
        /// The tensor.
        tensor: String,
        /// The buffer.
        buffer: String,
        /// Bytes of the part.
        needed: u64,
        /// Bytes of the buffer.
        found: u64,
    },
    /// One dispatch writes a buffer that it binds twice (WebGPU tracks usage by whole buffers).
    #[error("buffer `{buffer}` is written and bound twice in one dispatch")]
    Aliased {
        /// The buffer.
        buffer: String,
    },
    /// A scalar of the shader without a source.
    #[error("no value is given for the program's parameter `{name}`")]
    NoScalar {
        /// The parameter.
        name: String,
    },
    /// A run-time parameter that a step did not give.
    #[error("the step gives no value for `{name}`")]
    NoParameter {
        /// The parameter.
        name: String,
    },
    /// A run-time extent larger than the program was compiled for: its shaders would reach beyond their buffers.
    #[error(
        "`{name}` is {found}, and the program has room for {capacity}\n  = help: compile it for a larger capacity of `{name}`"
    )]
    OverCapacity {
        /// The extent.
        name: String,
        /// What is given.
        found: u32,
        /// The largest value.
        capacity: u32,
    },
    /// Words read or written that cannot be computed from the op's scalars.
    #[error("its traffic {count} names a parameter that it does not give, or does not fit 32 bits")]
    NoTraffic {
        /// The expression.
        count: String,
    },
    /// A dispatch size that does not fit the device.
    #[error("{} workgroups along dimension {dimension}, and the device allows {allowed}",
        found.map_or("over 4,294,967,295".to_string(), |n| n.to_string()))]
    TooManyWorkgroups {
        /// 0 or 1.
        dimension: usize,
        /// Asked for; `None` where it does not even fit a u32.
        found: Option<u32>,
        /// Allowed.
        allowed: u32,
    },
    /// A shader that was compiled for a larger device.
    #[error(
        "the shader needs {found} of {limit}, and the device allows {allowed}\n  = help: compile it for this device's target"
    )]
    OverLimit {
        /// The limit's name in [`Target`](tilewright_codegen::target::Target).
        limit: &'static str,
        /// What the shader needs.
        found: u64,
        /// Allowed.
        allowed: u64,
    },
    /// A shader with subgroup operations on a device without them.
    #[error(
        "the shader uses subgroup operations, which this device does not have\n  = help: compile it for this device's target"
    )]
    NoSubgroups,
    /// A shader that names a tensor or part which its program does not have.
    #[error("the shader names part {part} of `{tensor}`, which its program does not have")]
    NoTensor {
        /// The tensor.
        tensor: String,
        /// The part.
        part: u32,
    },
    /// A tensor of the program that was not given.
    #[error("no values are given for tensor `{tensor}`")]
    NoData {
        /// The tensor.
        tensor: String,
    },
    /// A tensor or scalar of another type than the program's.
    #[error("`{name}` is given as {found}, and the program takes {expected}")]
    OtherType {
        /// The tensor or scalar.
        name: String,
        /// The program's type.
        expected: Type,
        /// The given type.
        found: Type,
    },
    /// A tensor of another length than the product of its extents.
    #[error("tensor `{tensor}`: {error}")]
    Length {
        /// The tensor.
        tensor: String,
        /// Its extents, and what was given.
        error: LengthError,
    },
    /// Finite values that the storage cannot hold.
    #[error(
        "tensor `{tensor}`: {count} of its values are too large for 16 bits\n  = help: `store {tensor}: f32;` or `bf16` in the schedule"
    )]
    Overflow {
        /// The tensor.
        tensor: String,
        /// How many.
        count: usize,
    },
}

fn list(found: &[AdapterSummary]) -> String {
    found.iter().enumerate().map(|(i, a)| format!("  {i}: {a}")).collect::<Vec<_>>().join("\n")
}
