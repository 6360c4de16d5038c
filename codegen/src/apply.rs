//! Applies a schedule to a kernel: levels, lanes and tiles become a [`Nest`] of plain numbers, or every error at once.
//!
//! What does not apply is an error; nothing is repaired here. No statement is made yet: that is `lower`'s work, which relies on
//! everything that this pass has checked.

mod extents;
mod indices;
mod lanes;
mod levels;
mod linear;
mod matrix;
mod tensors;
mod words;

pub use lanes::{chains, most_copies};
pub use matrix::{Factor, Product, adds, has_matrix};
pub use tensors::guard_index as tensors_guard;
pub use words::last_axis;

use crate::deps::{self, AxisSet, Deps};
use crate::error::{ScheduleError, ShapeError};
use crate::program::TensorLayout;
use crate::shape::Shape;
use crate::target::Target;
use tilewright_dsl::ir::{AxisId, AxisKind, ExprId, Kernel, Role, Stmt, TensorId, Type};
use tilewright_dsl::schedule::{Fold, LevelKind, Place, Schedule};

/// One level of an axis, resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LevelPlan {
    /// What kind.
    pub kind: LevelKind,
    /// How many values; `None` where only the run-time parameters tell.
    pub size: Option<u32>,
    /// By how much one step moves along the axis.
    pub weight: u32,
    /// Whether it takes what is left.
    pub open: bool,
    /// `serial as NAME`.
    pub name: Option<String>,
}

/// One axis, resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AxisPlan {
    /// Its levels, outermost first.
    pub levels: Vec<LevelPlan>,
    /// The number of its values, where it is fixed.
    pub extent: Option<u32>,
    /// Whether the levels cover exactly the extent, so that nothing is masked.
    pub exact: bool,
    /// Invocations along it.
    pub lanes: u32,
    /// Distance of neighbours along it, in invocations (1 where it has no lanes).
    pub stride: u32,
}

impl AxisPlan {
    /// Its level of a kind that an axis has at most once.
    pub fn level(&self, kind: LevelKind) -> Option<&LevelPlan> {
        self.levels.iter().find(|l| l.kind == kind)
    }
    /// Static copies: offsets along the axis of its unroll and vector levels, in ascending order of registers.
    pub fn copies(&self) -> Vec<u32> {
        let mut offsets = vec![0];
        for level in self.levels.iter().filter(|l| matches!(l.kind, LevelKind::Unroll | LevelKind::Vector)) {
            let n = level.size.unwrap_or(1);
            offsets = offsets.iter().flat_map(|o| (0..n).map(move |i| o + i * level.weight)).collect();
        }
        offsets
    }
    /// The product of all levels but the open one.
    pub fn sized(&self) -> u32 {
        self.levels.iter().filter(|l| !l.open).filter_map(|l| l.size).product()
    }
    /// How many values a level has where the axis has `extent` of them: an outermost open level follows it.
    pub fn count(&self, level: usize, extent: Option<u32>) -> Option<u32> {
        let plan = &self.levels[level];
        match extent {
            Some(n) if plan.open && level == 0 => Some(n.div_ceil(self.sized())),
            _ => plan.size,
        }
    }
    /// Whether the levels cover exactly `extent` values.
    pub fn covers(&self, extent: Option<u32>) -> bool {
        let Some(n) = extent else { return self.exact };
        (0..self.levels.len()).map(|i| self.count(i, extent)).try_fold(1u32, |p, c| p.checked_mul(c?)) == Some(n)
    }
    /// Whether another axis is walked in the same steps, whatever its levels are called.
    pub fn same_levels(&self, other: &AxisPlan) -> bool {
        let step = |l: &LevelPlan| (l.kind, l.size, l.weight);
        self.levels.iter().map(step).eq(other.levels.iter().map(step))
    }
    /// Neighbours in one load.
    pub fn vector(&self) -> u32 {
        self.level(LevelKind::Vector).and_then(|l| l.size).unwrap_or(1)
    }
}

/// `stage` and `compute ... : workgroup`, resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TilePlan {
    /// What is held.
    pub what: TileOf,
    /// The axis that the level belongs to.
    pub axis: AxisId,
    /// The index of the level among the axis' levels.
    pub level: usize,
    /// Where it lives.
    pub place: Place,
    /// Whether its values are narrowed to f16.
    pub narrow: bool,
    /// Whether the next step's values are loaded while this step's are used.
    pub ahead: bool,
}

/// What a tile holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TileOf {
    /// Elements of a tensor.
    Tensor(TensorId),
    /// Values of a `let`.
    Value(ExprId),
}

/// The rows of a tensor that one shader sees, where a binding cannot hold all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The tensor.
    pub tensor: TensorId,
    /// Its number.
    pub index: u32,
    /// First row of dimension 0.
    pub start: u32,
    /// Rows.
    pub rows: u32,
    /// The axis that walks over the rows; without one, stores are guarded by the loaded index.
    pub axis: Option<AxisId>,
}

/// A part of the body that workgroups of its own run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branch {
    /// Axes with a grid level, outermost first.
    pub grid: Vec<AxisId>,
    /// Its statements, with the axes around them.
    pub body: Vec<Stmt>,
}

/// A schedule applied to a kernel.
pub struct Nest<'a> {
    /// The algorithm.
    pub kernel: &'a Kernel,
    /// The schedule.
    pub schedule: &'a Schedule,
    /// Extents.
    pub shape: &'a Shape,
    /// The device.
    pub target: &'a Target,
    /// Facts about the kernel.
    pub deps: Deps,
    /// One plan an axis.
    pub axes: Vec<AxisPlan>,
    /// What workgroups do: one branch, or several that lie beside each other in one grid.
    pub branches: Vec<Branch>,
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Invocations that lanes beneath `matrix` levels count: a subgroup's.
    pub width: u32,
    /// Sums that are multiplied as fragments.
    pub products: Vec<Product>,
    /// Tiles.
    pub tiles: Vec<TilePlan>,
    /// Layout of each tensor.
    pub tensors: Vec<TensorLayout>,
    /// One entry a shader; `None` where no tensor is split.
    pub parts: Vec<Option<Part>>,
}

impl Nest<'_> {
    /// The plan of an axis.
    pub fn plan(&self, axis: AxisId) -> &AxisPlan {
        &self.axes[axis.0 as usize]
    }
    /// The most values that an axis can have, where that is known before a run.
    pub fn most(&self, axis: AxisId) -> Option<u32> {
        deps::capacity(self.kernel, self.shape, self.kernel.axis(axis).hi)
    }
    /// The layout of a tensor.
    pub fn layout(&self, tensor: TensorId) -> &TensorLayout {
        &self.tensors[tensor.0 as usize]
    }
    /// What a tile holds and at which level, as the schedule calls them.
    pub fn tile_names(&self, tile: &TilePlan) -> (String, String) {
        (levels::tile_name(self.kernel, tile), levels::level_name(self.kernel, &self.axes, tile))
    }
    /// How the lanes of a reduction meet.
    pub fn fold(&self, axis: AxisId) -> Fold {
        self.schedule.fold(&self.kernel.axis(axis).name)
    }
}

/// Applies `schedule`, or gives all that is wrong with it.
///
/// # Errors
/// All that is wrong.
pub fn apply<'a>(
    kernel: &'a Kernel,
    schedule: &'a Schedule,
    shape: &'a Shape,
    target: &'a Target,
) -> Result<Nest<'a>, Vec<ScheduleError>> {
    match try_apply(kernel, schedule, shape, target) {
        (Some(nest), errors) if errors.is_empty() => Ok(nest),
        (_, errors) => Err(errors),
    }
}

/// Applies `schedule`: all that is wrong with it, and a nest where what is wrong does not change which loops are meant, so that
/// lowering can find what else is wrong.
pub fn try_apply<'a>(
    kernel: &'a Kernel,
    schedule: &'a Schedule,
    shape: &'a Shape,
    target: &'a Target,
) -> (Option<Nest<'a>>, Vec<ScheduleError>) {
    let mut errors = Vec::new();
    if schedule.kernel != kernel.name {
        errors.push(ScheduleError::WrongKernel { asked: schedule.kernel.clone(), kernel: kernel.name.clone() });
        return (None, errors);
    }
    if kernel.axes.len() > AxisSet::MOST {
        let error = ShapeError::TooManyAxes { asked: kernel.axes.len(), allowed: AxisSet::MOST };
        errors.push(error.into());
        return (None, errors);
    }
    let mut unsound = Vec::new();
    extents::check(kernel, shape, &mut unsound);
    let deps = Deps::new(kernel);
    if unsound.is_empty() {
        indices::check(kernel, shape, &deps, &mut unsound);
    }
    let sound = unsound.is_empty();
    errors.extend(unsound.into_iter().map(ScheduleError::Shape));
    names(kernel, schedule, &mut errors);
    if !sound {
        return (None, errors);
    }
    let axes = levels::resolve(kernel, schedule, shape, &mut errors);
    let tiles = levels::tiles(kernel, schedule, &axes, &mut errors);
    let (tensors, parts) = tensors::layouts(kernel, schedule, shape, target, &axes, &mut errors);
    let mut nest = Nest {
        kernel,
        schedule,
        shape,
        target,
        deps,
        axes,
        branches: vec![],
        workgroup: 1,
        width: 1,
        products: vec![],
        tiles,
        tensors,
        parts,
    };
    matrix::find(&mut nest, &mut errors);
    lanes::place(&mut nest, &mut errors);
    let mut told: Vec<ScheduleError> = Vec::new();
    errors.retain(|error| {
        let new = !told.contains(error);
        told.extend(new.then(|| error.clone()));
        new
    });
    let sound = errors.iter().all(ScheduleError::keeps_the_loops);
    (sound.then_some(nest), errors)
}

/// Every name that the schedule uses must exist.
fn names(kernel: &Kernel, schedule: &Schedule, errors: &mut Vec<ScheduleError>) {
    let axes: Vec<String> = kernel.axes.iter().map(|a| a.name.clone()).collect();
    let tensors: Vec<String> = kernel.tensors.iter().map(|t| t.name.clone()).collect();
    let read = kernel.tensors.iter().filter(|t| t.role == Role::In && t.elem == Type::F32);
    let usable: Vec<String> = read.map(|t| t.name.clone()).collect();
    let lets: Vec<String> = kernel.lets.iter().map(|l| l.name.clone()).collect();
    for (i, line) in schedule.axes.iter().enumerate() {
        if schedule.axes[..i].iter().any(|l| l.axis == line.axis) {
            errors.push(ScheduleError::AxisTwice { axis: line.axis.clone() });
        }
    }
    level_names(kernel, schedule, errors);
    let lines = schedule.axes.iter().map(|l| &l.axis);
    for axis in
        unknown(lines.chain(schedule.folds.iter().map(|f| &f.0)).chain(schedule.tails.iter().map(|t| &t.0)), &axes)
    {
        errors.push(ScheduleError::UnknownAxis { axis, known: axes.clone() });
    }
    for (axis, _) in &schedule.folds {
        if kernel.axis_named(axis).is_some_and(|id| kernel.axis(id).kind != AxisKind::Reduce) {
            let reductions = kernel.axes.iter().filter(|a| a.kind == AxisKind::Reduce).map(|a| a.name.clone());
            errors.push(ScheduleError::FoldNotReduction { axis: axis.clone(), known: reductions.collect() });
        }
    }
    let staged = schedule.stages.iter().map(|s| &s.tensor);
    for tensor in unknown(staged.chain(schedule.stores.iter().map(|s| &s.0)), &tensors) {
        errors.push(ScheduleError::UnknownTensor { tensor, known: tensors.clone(), usable: usable.clone() });
    }
    for value in unknown(schedule.computes.iter().map(|c| &c.value), &lets) {
        errors.push(ScheduleError::UnknownValue { value, known: lets.clone() });
    }
}

/// `at LEVEL` must mean one level.
fn level_names(kernel: &Kernel, schedule: &Schedule, errors: &mut Vec<ScheduleError>) {
    let lines = schedule.axes.iter();
    let named = lines.flat_map(|line| line.levels.iter().filter_map(|l| Some((l.name.as_ref()?, &line.axis))));
    let named: Vec<(&String, &String)> = named.collect();
    for (i, (level, axis)) in named.iter().enumerate() {
        if named[..i].iter().any(|n| n.0 == *level) {
            continue;
        }
        let mut places = vec![format!("a level of `{axis}`")];
        places.extend(named[i + 1..].iter().filter(|n| n.0 == *level).map(|n| format!("a level of `{}`", n.1)));
        if level != axis && kernel.axis_named(level).is_some() {
            places.push("an axis".into());
        }
        if places.len() > 1 {
            errors.push(ScheduleError::LevelTwice { level: (*level).clone(), places });
        }
    }
}

/// The names that are not known, each once.
fn unknown<'n>(names: impl Iterator<Item = &'n String>, known: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if !known.contains(name) && !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}
