//! What can be wrong with a schedule, a shape or a target: typed values that name the axis, what was asked and what is allowed.
//!
//! [`ScheduleError`] is the author's or the device's limit. That our own output is refused is [`crate::validate::Bug`], never this.

mod help;
mod labels;
mod shape;

pub use shape::ShapeError;

use thiserror::Error;
use tilewright_dsl::diagnostic::render;
use tilewright_dsl::schedule::{Fold, LevelKind, Schedule, Storage};

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
    /// The kernel has no right program at these extents, whatever the schedule says.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A level of size 0, or levels whose product overflows.
    #[error("the levels of axis `{axis}` must be at least 1 and their product must fit 32 bits")]
    BadSize {
        /// The axis.
        axis: String,
    },
    /// An axis that the kernel does not have.
    #[error("the kernel has no axis `{axis}`; it has {}", list(known))]
    UnknownAxis {
        /// Asked.
        axis: String,
        /// The axes there are.
        known: Vec<String>,
    },
    /// A tensor that the kernel does not have.
    #[error("the kernel has no tensor `{tensor}`; it has {}", list(known))]
    UnknownTensor {
        /// Asked.
        tensor: String,
        /// The tensors there are.
        known: Vec<String>,
        /// Those that `stage` and `store` lines are for: f32 tensors that are read alone.
        usable: Vec<String>,
    },
    /// A value that the kernel does not name.
    #[error("the kernel names no value `{value}`; it names {}", list(known))]
    UnknownValue {
        /// Asked.
        value: String,
        /// The lets there are.
        known: Vec<String>,
    },
    /// `at LEVEL` names no level.
    #[error("no level is named `{level}`")]
    UnknownLevel {
        /// Asked.
        level: String,
        /// The levels with a name, and the axes.
        known: Vec<String>,
    },
    /// The axis is listed twice.
    #[error("axis `{axis}` has two lines")]
    AxisTwice {
        /// The axis.
        axis: String,
    },
    /// Two levels of one name, or a level with another axis' name.
    #[error("`{level}` names two things: {}", places.join(" and "))]
    LevelTwice {
        /// The name.
        level: String,
        /// What has it.
        places: Vec<String>,
    },
    /// More than one open level.
    #[error("axis `{axis}` has two open levels: only one can take what is left")]
    TwoOpenLevels {
        /// The axis.
        axis: String,
    },
    /// The levels do not reach the extent.
    #[error("the levels of axis `{axis}` cover {covered} of {}, and none is open", values(extent, of))]
    NotCovered {
        /// The axis.
        axis: String,
        /// Product.
        covered: u32,
        /// Extent or capacity; `None` where no number bounds it.
        extent: Option<u32>,
        /// What tells the extent, where that is known at run time only.
        of: Option<String>,
    },
    /// `tail: exact`, and there is a tail.
    #[error("{} does not divide axis `{axis}` of {extent}", product(sizes))]
    DoesNotDivide {
        /// The axis.
        axis: String,
        /// The sized levels.
        sizes: Vec<u32>,
        /// Extent.
        extent: u32,
    },
    /// `tail: exact` on an extent that is known at run time only.
    #[error("axis `{axis}` has a run-time extent: nothing can assert that {} divides it", product(sizes))]
    ExactAtRunTime {
        /// The axis.
        axis: String,
        /// The sized levels.
        sizes: Vec<u32>,
    },
    /// Levels outside an open one need a number.
    #[error("axis `{axis}` has a run-time extent: its open level must be the outermost")]
    OpenNotOutermost {
        /// The axis.
        axis: String,
    },
    /// A level of a kind that this axis cannot have.
    #[error("`{kind}` is not possible on axis `{axis}`: {why}")]
    LevelNotPossible {
        /// The axis.
        axis: String,
        /// The level's kind.
        kind: LevelKind,
        /// Why.
        why: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// Levels in an order that has no meaning.
    #[error("axis `{axis}`: {why}")]
    LevelOrder {
        /// The axis.
        axis: String,
        /// The kind that is in the wrong place; `None` where there are no levels.
        kind: Option<LevelKind>,
        /// Why.
        why: &'static str,
    },
    /// Too many invocations.
    #[error("{asked} invocations a workgroup; device `{target}` allows {allowed}")]
    WorkgroupTooLarge {
        /// Asked; saturated.
        asked: u32,
        /// Allowed.
        allowed: u32,
        /// The axes whose lanes they are.
        nest: Vec<String>,
        /// The device.
        target: String,
    },
    /// Unrolled copies of axes that live together.
    #[error("{asked} copies of one statement in registers; {allowed} are allowed")]
    TooManyCopies {
        /// Asked; saturated.
        asked: u32,
        /// Allowed.
        allowed: u32,
        /// The axes with copies.
        axes: Vec<String>,
    },
    /// A text that drivers take minutes to compile.
    #[error(
        "{asked} operations in {}; {allowed} are allowed, for drivers to compile them in seconds",
        if *shaders == 1 { "the shader".into() } else { format!("{shaders} shaders") }
    )]
    TooManyOperations {
        /// Statements and operators of all shaders; saturated.
        asked: u32,
        /// Allowed.
        allowed: u32,
        /// How many shaders the kernel takes.
        shaders: u32,
        /// Unrolled copies of one statement.
        copies: u32,
        /// The axes with these copies.
        axes: Vec<String>,
    },
    /// `workgroup n` is not the largest nest's product.
    #[error("`workgroup {asked}`, but the largest nest ({}) has {product} lanes", list(nest))]
    WorkgroupMismatch {
        /// Asked.
        asked: u32,
        /// The largest nest's product.
        product: u32,
        /// Its axes.
        nest: Vec<String>,
    },
    /// A smaller nest does not fit evenly.
    #[error("the nest of {} has {product} lanes, which do not divide the workgroup of {workgroup}", list(nest))]
    NestDoesNotDivide {
        /// Its axes.
        nest: Vec<String>,
        /// Its product.
        product: u32,
        /// The workgroup.
        workgroup: u32,
    },
    /// One axis would lie on different lanes in two nests.
    #[error("axis `{axis}` lies at lane stride {one} in one nest and {other} in another")]
    LaneMismatch {
        /// The axis.
        axis: String,
        /// A stride.
        one: u32,
        /// Another.
        other: u32,
    },
    /// Tree and subgroup folds halve.
    #[error("axis `{axis}`: {lanes} lanes are not a power of two, which a {fold} fold needs")]
    NotPowerOfTwo {
        /// The axis.
        axis: String,
        /// Lanes.
        lanes: u32,
        /// Tree or subgroup.
        fold: Fold,
        /// Most lanes of the axis that the device allows beside the other axes' lanes.
        most: u32,
    },
    /// The device has no subgroup operations.
    #[error("`fold {axis}: subgroup`, but device `{target}` has no subgroup operations")]
    NoSubgroups {
        /// The axis.
        axis: String,
        /// The device.
        target: String,
    },
    /// A subgroup fold needs lanes that share a subgroup.
    #[error(
        "`fold {axis}: subgroup` needs lanes a power of two apart, and less than the {most} invocations of the largest \
         subgroup; those of axis `{axis}` are {stride} apart"
    )]
    SubgroupStride {
        /// The axis.
        axis: String,
        /// Lane stride.
        stride: u32,
        /// Invocations of the device's largest subgroup.
        most: u32,
    },
    /// The device multiplies no such fragments.
    #[error(
        "`matrix({asked})` on axis `{axis}`, but device `{target}` has {}",
        if allowed.is_empty() { "no cooperative matrices".into() } else { format!("fragments of {} alone", product(allowed)) }
    )]
    NoFragments {
        /// The axis.
        axis: String,
        /// Elements a side.
        asked: u32,
        /// The sides that the device has.
        allowed: Vec<u32>,
        /// The device.
        target: String,
    },
    /// A fragment belongs to a subgroup, so its size must be known.
    #[error("`matrix` needs subgroups of one size; those of device `{target}` have {min} to {max} invocations")]
    SubgroupsDiffer {
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
        /// The device.
        target: String,
    },
    /// `fold` on an axis that is no reduction.
    #[error("`fold {axis}`: the axis is not a reduction")]
    FoldNotReduction {
        /// The axis.
        axis: String,
        /// The reductions there are.
        known: Vec<String>,
    },
    /// A vector on an axis that is last in no tensor.
    #[error("`vector` on axis `{axis}`, which is the last index of no tensor: neighbours would not lie together")]
    VectorNotLast {
        /// The axis.
        axis: String,
        /// The axes that are the last index of some tensor.
        last: Vec<String>,
    },
    /// Consumer and array field lie differently.
    #[error("axis `{axis}` reads elements of `{array}`, and they have different levels")]
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
        why: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// Half-word storage that this tensor cannot have.
    #[error("`store {tensor}: {storage}` is not possible: {why}")]
    StorageNotPossible {
        /// The tensor.
        tensor: String,
        /// Asked.
        storage: Storage,
        /// Why.
        why: &'static str,
    },
    /// An invocation would write half of a word that it does not own.
    #[error(
        "`store {tensor}: {storage}` needs both halves of a word in one invocation, and `{axis}` deals out single columns"
    )]
    HalfWord {
        /// The tensor.
        tensor: String,
        /// Asked.
        storage: Storage,
        /// The axis of its columns.
        axis: String,
        /// Its line as it could be.
        instead: String,
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
    #[error("{asked} bytes of workgroup memory; device `{target}` allows {allowed}")]
    WorkgroupMemory {
        /// Asked.
        asked: u32,
        /// Allowed.
        allowed: u32,
        /// What takes how much.
        parts: Vec<(String, u32)>,
        /// The device.
        target: String,
    },
    /// Too many storage buffers.
    #[error("{asked} storage buffers in one shader; device `{target}` allows {allowed}")]
    TooManyBuffers {
        /// Asked.
        asked: u32,
        /// Allowed.
        allowed: u32,
        /// The device.
        target: String,
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
        why: &'static str,
        /// Whether 16 bits an element are possible and would do.
        halved: bool,
    },
    /// More workgroups than two dimensions hold.
    #[error("{asked} workgroups; two dimensions of device `{target}` hold {allowed}")]
    TooManyWorkgroups {
        /// Asked.
        asked: u64,
        /// Allowed.
        allowed: u64,
        /// The device.
        target: String,
    },
    /// More rounds of loops than the device runs.
    #[error(
        "an invocation goes round its loops {}{asked} times{}; device `{target}` ends loops without a word after {allowed}",
        if *asked == u32::MAX { "at least " } else { "" },
        if step.is_empty() { String::new() } else { format!(" in a step with {}", step.join(", ")) }
    )]
    TooManyIterations {
        /// Rounds; saturated.
        asked: u32,
        /// What the device runs.
        allowed: u32,
        /// The device.
        target: String,
        /// The parameters that make them so many, as `T = 5`; none where the shape alone tells.
        step: Vec<String>,
        /// The axes with the longest loops, and their rounds.
        loops: Vec<(String, u32)>,
        /// Lines that take them down to what is allowed; none where no such lines are known.
        instead: Vec<String>,
    },
}

impl ScheduleError {
    /// Whether the schedule without the line in question means the same loops.
    pub(crate) fn keeps_the_loops(&self) -> bool {
        matches!(
            self,
            Self::UnknownTensor { .. }
                | Self::UnknownValue { .. }
                | Self::UnknownLevel { .. }
                | Self::DoesNotDivide { .. }
                | Self::ExactAtRunTime { .. }
                | Self::FoldNotReduction { .. }
                | Self::NoSubgroups { .. }
                | Self::NoTile { .. }
                | Self::StorageNotPossible { .. }
                | Self::HalfWord { .. }
                | Self::TooManyBuffers { .. }
                | Self::BindingTooLarge { .. }
                | Self::WorkgroupMismatch { .. }
        )
    }
    /// The whole message: what is wrong, where the schedule stands, labels under its canonical text, and what to do instead.
    pub fn render(&self, schedule: &Schedule) -> String {
        if let Self::Shape(error) = self {
            let title = format!("{error} (kernel `{}`)", schedule.kernel);
            return render(&title, &Schedule::default(), &[], &self.help(schedule));
        }
        let title = format!("{self} (kernel `{}`, schedule `{}`)", schedule.kernel, schedule.name);
        render(&title, schedule, &self.labels(schedule), &self.help(schedule))
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn values(extent: &Option<u32>, of: &Option<String>) -> String {
    match (extent, of) {
        (Some(n), None) => format!("{n} values"),
        (Some(n), Some(of)) => format!("up to {n} values of `{of}`"),
        (None, _) => "an unbounded number of values".into(),
    }
}

fn product(sizes: &[u32]) -> String {
    let words: Vec<String> = sizes.iter().map(u32::to_string).collect();
    if words.is_empty() { "1".into() } else { words.join(" × ") }
}
