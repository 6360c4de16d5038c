//! Schedules: where and when each element is computed, as data.
//!
//! A [`Schedule`] is a value with equality, hash and a canonical text ([`std::fmt::Display`]) that
//! [`std::str::FromStr`] reads back to an equal value. It names axes, tensors and values of a kernel by their names; whether
//! they exist and fit is checked when it is applied, and then all errors come at once. It never repairs itself. Nothing
//! here knows a target or a shader language.

mod origin;
mod parse;
mod print;
mod token;

pub use origin::{Origin, Position};
pub use parse::{Mistake, SyntaxError, SyntaxErrors, parse_file};
pub use print::{Printed, Spot};

/// How a value is stored in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Storage {
    /// One 32-bit word an element (the default; the only one for u32 tensors).
    #[default]
    F32,
    /// IEEE half precision, two elements a word, the lower index in the low half.
    F16,
    /// The upper half of an f32, two elements a word, the lower index in the low half.
    Bf16,
    /// Codes from -127 to 127, four a word, and one f32 scale a row (an output channel of a matrix).
    Int8,
    /// One of sixteen levels, eight a word, and one f32 scale a block of 64 of a row.
    Nf4,
}

/// What kind of level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum LevelKind {
    /// One workgroup a value.
    Grid,
    /// A loop in each invocation.
    Serial,
    /// Invocations of the workgroup.
    Lanes,
    /// Copies in registers.
    Unroll,
    /// Neighbours in one load.
    Vector,
    /// A fragment of a cooperative matrix: so many values along one of its sides, held by a subgroup together.
    Matrix,
}

/// One level of an axis.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Level {
    /// What kind.
    pub kind: LevelKind,
    /// How many values; `None` is open: it takes what is left.
    pub size: Option<u32>,
    /// `serial as NAME`.
    pub name: Option<String>,
}

/// The levels of one axis, outermost first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AxisLevels {
    /// The axis.
    pub axis: String,
    /// Its levels.
    pub levels: Vec<Level>,
}

/// How partial results of a reduction's lanes meet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Fold {
    /// One invocation adds the partial results in order, from workgroup memory.
    Serial,
    /// A binary tree in workgroup memory.
    #[default]
    Tree,
    /// Shuffles inside a subgroup, then workgroup memory over the subgroups.
    Subgroup,
}

/// Where a staged or computed value lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Place {
    /// Workgroup memory, filled by all invocations together.
    Workgroup,
    /// Registers of each invocation.
    Registers,
}

/// `stage TENSOR at LEVEL: PLACE`, `.. f16`, `.. f16 ahead`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Stage {
    /// The tensor whose elements are brought near.
    pub tensor: String,
    /// The level (a name given with `as`, or an axis: its outermost loop) at whose every step the tile is filled anew.
    pub at: String,
    /// Where the tile lives.
    pub place: Place,
    /// How its elements lie there: as they are, or narrowed to f16.
    pub storage: Storage,
    /// Whether the next step's elements are loaded while this step's are used.
    pub ahead: bool,
}

/// `compute NAME at LEVEL` or `compute NAME at LEVEL: workgroup`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Compute {
    /// A `let` of the kernel.
    pub value: String,
    /// The level at whose every step it is computed, instead of the outermost possible place.
    pub at: String,
    /// Registers, or a tile of all its values inside the level, spread over the invocations.
    pub place: Place,
}

/// What happens where the levels' product does not divide the extent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Tail {
    /// The surplus is masked.
    #[default]
    Guard,
    /// The author asserts that there is none.
    Exact,
}

/// A schedule for one kernel. The empty one is one invocation with all axes serial.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedule {
    /// Its name.
    pub name: String,
    /// The kernel that it is for.
    pub kernel: String,
    /// Invocations a workgroup; without it, the largest nest's product.
    pub workgroup: Option<u32>,
    /// Levels, in the listed order (lanes count in it, the last axis fastest).
    pub axes: Vec<AxisLevels>,
    /// `fold AXIS: ...`.
    pub folds: Vec<(String, Fold)>,
    /// `stage ...`.
    pub stages: Vec<Stage>,
    /// `compute ...`.
    pub computes: Vec<Compute>,
    /// `store TENSOR: ...`.
    pub stores: Vec<(String, Storage)>,
    /// `tail AXIS: ...`.
    pub tails: Vec<(String, Tail)>,
    /// Where it stands.
    pub origin: Origin,
}

impl Schedule {
    /// The empty schedule: one invocation, all axes serial. Legal for every kernel, correct and slow.
    pub fn empty(kernel: &str) -> Self {
        Schedule { name: "empty".into(), kernel: kernel.into(), ..Schedule::default() }
    }
    /// `from`: this schedule with the other's name, origin and directives. A directive about something that this
    /// schedule already has a directive about takes its place; others come after.
    pub fn derived(&self, change: Schedule) -> Self {
        let mut new = self.clone();
        new.origin = Origin::derived(self, &change);
        (new.name, new.kernel) = (change.name, change.kernel);
        new.workgroup = change.workgroup.or(new.workgroup);
        replace(&mut new.axes, change.axes, |a, b| a.axis == b.axis);
        replace(&mut new.folds, change.folds, |a, b| a.0 == b.0);
        replace(&mut new.stages, change.stages, |a, b| (&a.tensor, a.place) == (&b.tensor, b.place));
        replace(&mut new.computes, change.computes, |a, b| a.value == b.value);
        replace(&mut new.stores, change.stores, |a, b| a.0 == b.0);
        replace(&mut new.tails, change.tails, |a, b| a.0 == b.0);
        new
    }
    /// The levels of an axis; `None` where the schedule does not list it (one open serial level).
    pub fn levels(&self, axis: &str) -> Option<&[Level]> {
        self.axes.iter().find(|a| a.axis == axis).map(|a| a.levels.as_slice())
    }
    /// How the lanes of a reduction meet.
    pub fn fold(&self, axis: &str) -> Fold {
        self.folds.iter().find(|f| f.0 == axis).map(|f| f.1).unwrap_or_default()
    }
    /// Whether it rounds elements to f16 on their way.
    pub fn narrows(&self) -> bool {
        self.stages.iter().any(|s| s.storage != Storage::F32)
    }
    /// How a tensor is stored.
    pub fn storage(&self, tensor: &str) -> Storage {
        self.stores.iter().find(|s| s.0 == tensor).map(|s| s.1).unwrap_or_default()
    }
    /// What happens to an axis' surplus.
    pub fn tail(&self, axis: &str) -> Tail {
        self.tails.iter().find(|t| t.0 == axis).map(|t| t.1).unwrap_or_default()
    }
}

fn replace<D>(list: &mut Vec<D>, changes: Vec<D>, same: impl Fn(&D, &D) -> bool) {
    for change in changes {
        match list.iter_mut().find(|d| same(d, &change)) {
            Some(old) => *old = change,
            None => list.push(change),
        }
    }
}
