//! What can be wrong with a schedule, a shape or a target: typed values that name the axis, what was asked and what is allowed.
//!
//! [`ScheduleError`] is the author's or the device's limit. That our own output is refused is [`crate::validate::Bug`], never this.

use thiserror::Error;
use tilewright_dsl::schedule::LevelKind;

/// Why a schedule does not apply.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ScheduleError {
    /// The schedule is for another kernel.
    #[error("the schedule is for kernel `{asked}`, not for `{kernel}`")]
    WrongKernel {
        /// The schedule's kernel.
        asked: String,
        /// The kernel at hand.
        kernel: String,
    },
    /// No extent of that name in the shape.
    #[error("the shape gives no extent `{extent}`")]
    MissingExtent {
        /// Its name.
        extent: String,
    },
    /// An extent, level or lane count of 0, or a product that overflows.
    #[error("`{what}` must be at least 1 and its product must fit 32 bits")]
    BadSize {
        /// Axis or extent.
        what: String,
    },
    /// An axis that the kernel does not have.
    #[error("the kernel has no axis `{axis}`; it has {known}")]
    UnknownAxis {
        /// Asked.
        axis: String,
        /// The axes there are.
        known: String,
    },
    /// A tensor that the kernel does not have.
    #[error("the kernel has no tensor `{tensor}`; it has {known}")]
    UnknownTensor {
        /// Asked.
        tensor: String,
        /// The tensors there are.
        known: String,
    },
    /// A value that the kernel does not name.
    #[error("the kernel names no value `{value}`; it names {known}")]
    UnknownValue {
        /// Asked.
        value: String,
        /// The lets there are.
        known: String,
    },
    /// `at LEVEL` names no level.
    #[error("no level is named `{level}`; name one with `serial as {level}`, or use an axis")]
    UnknownLevel {
        /// Asked.
        level: String,
    },
    /// The axis is listed twice.
    #[error("axis `{axis}` has two lines")]
    AxisTwice {
        /// The axis.
        axis: String,
    },
    /// More than one open level.
    #[error("axis `{axis}` has two open levels: only one can take what is left")]
    TwoOpenLevels {
        /// The axis.
        axis: String,
    },
    /// The levels do not reach the extent.
    #[error("the levels of axis `{axis}` cover {covered} of {extent} values, and none is open")]
    NotCovered {
        /// The axis.
        axis: String,
        /// Product.
        covered: u32,
        /// Extent (or capacity).
        extent: u32,
    },
    /// `tail: exact`, and there is a tail.
    #[error("{product} does not divide axis `{axis}` of {extent}")]
    DoesNotDivide {
        /// The axis.
        axis: String,
        /// Product of the sized levels.
        product: u32,
        /// Extent.
        extent: u32,
    },
    /// `tail: exact` on an extent that is known at run time only.
    #[error("axis `{axis}` has a run-time extent: nothing can assert that {product} divides it")]
    ExactAtRunTime {
        /// The axis.
        axis: String,
        /// Product of the sized levels.
        product: u32,
    },
    /// Levels outside an open one need a number.
    #[error("axis `{axis}` has a run-time extent: its open level must be the outermost")]
    OpenNotOutermost {
        /// The axis.
        axis: String,
    },
    /// A level of a kind that this axis cannot have.
    #[error("`{kind:?}` is not possible on axis `{axis}`: {why}", kind = kind)]
    LevelNotPossible {
        /// The axis.
        axis: String,
        /// The level's kind.
        kind: LevelKind,
        /// Why.
        why: String,
    },
    /// Levels in an order that has no meaning.
    #[error("axis `{axis}`: {why}")]
    LevelOrder {
        /// The axis.
        axis: String,
        /// Why.
        why: String,
    },
    /// Too many invocations.
    #[error("{asked} invocations a workgroup; the device allows {allowed}")]
    WorkgroupTooLarge {
        /// Asked.
        asked: u32,
        /// Allowed.
        allowed: u32,
    },
    /// `workgroup n` is not the largest nest's product.
    #[error("`workgroup {asked}`, but the largest nest ({nest}) has {product} lanes")]
    WorkgroupMismatch {
        /// Asked.
        asked: u32,
        /// The largest nest's product.
        product: u32,
        /// Its axes.
        nest: String,
    },
    /// A smaller nest does not fit evenly.
    #[error("the nest of {nest} has {product} lanes, which do not divide the workgroup of {workgroup}")]
    NestDoesNotDivide {
        /// Its axes.
        nest: String,
        /// Its product.
        product: u32,
        /// The workgroup.
        workgroup: u32,
    },
    /// One axis would lie on different lanes in two nests.
    #[error(
        "axis `{axis}` lies at lane stride {one} in one nest and {other} in another; list it after the axes that differ, or give them equal lanes"
    )]
    LaneMismatch {
        /// The axis.
        axis: String,
        /// A stride.
        one: u32,
        /// Another.
        other: u32,
    },
    /// Tree and subgroup folds halve.
    #[error(
        "axis `{axis}`: {lanes} lanes are not a power of two, which a {fold} fold needs; `fold {axis}: serial` takes any"
    )]
    NotPowerOfTwo {
        /// The axis.
        axis: String,
        /// Lanes.
        lanes: u32,
        /// tree or subgroup.
        fold: &'static str,
    },
    /// The device has no subgroup operations.
    #[error("`fold {axis}: subgroup`, but device `{target}` has no subgroup operations")]
    NoSubgroups {
        /// The axis.
        axis: String,
        /// The device.
        target: String,
    },
    /// A subgroup fold needs neighbours.
    #[error("`fold {axis}: subgroup` needs lanes next to each other; axis `{axis}` has stride {stride}: list it last")]
    SubgroupStride {
        /// The axis.
        axis: String,
        /// Lane stride.
        stride: u32,
    },
    /// `fold` on an axis that is no reduction.
    #[error("`fold {axis}`: the axis is not a reduction")]
    FoldNotReduction {
        /// The axis.
        axis: String,
    },
    /// A vector on an axis that is last in no tensor.
    #[error("`vector` on axis `{axis}`, which is the last index of no tensor: neighbours would not lie together")]
    VectorNotLast {
        /// The axis.
        axis: String,
    },
    /// Consumer and array field lie differently.
    #[error("axis `{axis}` reads elements of `{array}`; both need the same levels: {levels}")]
    ArrayLevels {
        /// The reading axis.
        axis: String,
        /// The array axis.
        array: String,
        /// The array axis' levels.
        levels: String,
    },
    /// A stage or compute that cannot be a tile.
    #[error("`{what}` cannot be held at `{at}`: {why}")]
    NoTile {
        /// Tensor or value.
        what: String,
        /// The level.
        at: String,
        /// Why.
        why: String,
    },
    /// Half-word storage that this tensor cannot have.
    #[error("`store {tensor}: {storage}` is not possible: {why}")]
    StorageNotPossible {
        /// The tensor.
        tensor: String,
        /// Asked.
        storage: String,
        /// Why.
        why: String,
    },
    /// Barriers would be inside a loop or branch that invocations leave at different times.
    #[error(
        "axis `{axis}` needs all invocations together (fold or tile), but its loop count differs between lanes of `{other}`"
    )]
    Divergent {
        /// The cooperative axis.
        axis: String,
        /// The axis on lanes.
        other: String,
    },
    /// Workgroup memory.
    #[error("{asked} bytes of workgroup memory ({parts}); the device allows {allowed}")]
    WorkgroupMemory {
        /// Asked.
        asked: u32,
        /// Allowed.
        allowed: u32,
        /// What takes how much.
        parts: String,
    },
    /// Too many storage buffers.
    #[error("{asked} storage buffers in one shader; the device allows {allowed}")]
    TooManyBuffers {
        /// Asked.
        asked: u32,
        /// Allowed.
        allowed: u32,
    },
    /// A tensor that is larger than a binding and cannot be split.
    #[error("tensor `{tensor}` takes {asked} bytes, more than a binding's {allowed}, and cannot be split: {why}")]
    BindingTooLarge {
        /// The tensor.
        tensor: String,
        /// Bytes.
        asked: u64,
        /// Allowed.
        allowed: u64,
        /// Why.
        why: String,
    },
    /// More workgroups than two dimensions hold.
    #[error("{asked} workgroups; two dimensions of the device hold {allowed}")]
    TooManyWorkgroups {
        /// Asked.
        asked: u64,
        /// Allowed.
        allowed: u64,
    },
    /// More rounds of loops than the device runs.
    #[error(
        "an invocation goes round its loops {asked} times; device `{target}` ends loops without a word after {allowed}"
    )]
    TooManyIterations {
        /// Rounds.
        asked: u32,
        /// What the device runs.
        allowed: u32,
        /// The device.
        target: String,
    },
}
