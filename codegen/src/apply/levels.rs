//! Levels of each axis as numbers, and the levels at which tiles are held.

use super::{AxisPlan, LevelPlan, TileOf, TilePlan};
use crate::deps;
use crate::error::ScheduleError;
use crate::shape::Shape;
use tilewright_dsl::ir::{AxisId, AxisKind, Expr, Kernel};
use tilewright_dsl::schedule::{Level, LevelKind, Place, Schedule, Storage, Tail};

/// One plan an axis; where an axis has an error, a plan that lets the others be checked.
pub fn resolve(kernel: &Kernel, schedule: &Schedule, shape: &Shape, errors: &mut Vec<ScheduleError>) -> Vec<AxisPlan> {
    (0..kernel.axes.len() as u32)
        .map(|i| {
            let levels = schedule.levels(&kernel.axis(AxisId(i)).name).unwrap_or_default();
            axis(kernel, schedule, shape, AxisId(i), errors).unwrap_or_else(|| stand_in(levels))
        })
        .collect()
}

/// The plan of an axis whose levels are wrong: the names and lanes that its author meant, so that one mistake stays one error.
fn stand_in(levels: &[Level]) -> AxisPlan {
    let plan = |l: &Level| {
        let size = l.size.filter(|n| *n > 0);
        LevelPlan { kind: l.kind, size, weight: 1, open: size.is_none(), name: l.name.clone() }
    };
    let sizes = levels.iter().filter(|l| l.kind == LevelKind::Lanes).filter_map(|l| l.size);
    let lanes = sizes.fold(1u32, |p, n| p.saturating_mul(n)).max(1);
    AxisPlan { levels: levels.iter().map(plan).collect(), extent: None, exact: true, lanes, stride: 1 }
}

/// The number of values of an axis, where it is fixed.
fn extent(kernel: &Kernel, shape: &Shape, id: AxisId) -> Option<u32> {
    let axis = kernel.axis(id);
    let lo = deps::constant(kernel, shape, axis.lo)?;
    let hi = deps::constant(kernel, shape, axis.hi)?;
    Some(hi.saturating_sub(lo))
}

fn axis(
    kernel: &Kernel,
    schedule: &Schedule,
    shape: &Shape,
    id: AxisId,
    errors: &mut Vec<ScheduleError>,
) -> Option<AxisPlan> {
    let decl = kernel.axis(id);
    let name = decl.name.clone();
    let fixed = extent(kernel, shape, id);
    let before = errors.len();
    let serial = [Level { kind: LevelKind::Serial, size: None, name: None }];
    let levels = schedule.levels(&name).unwrap_or(&serial);
    order(kernel, id, &name, levels, errors);
    if levels.is_empty() {
        return None;
    }
    if levels.iter().filter(|l| l.size.is_none()).count() > 1 {
        errors.push(ScheduleError::TwoOpenLevels { axis: name.clone() });
        return None;
    }
    let sized =
        levels.iter().filter_map(|l| l.size).try_fold(1u32, |a, n| if n == 0 { None } else { a.checked_mul(n) });
    let Some(product) = sized else {
        errors.push(ScheduleError::BadSize { axis: name });
        return None;
    };
    let open = levels.iter().position(|l| l.size.is_none());
    let count = match (open, fixed) {
        (Some(_), Some(n)) => Some(n.div_ceil(product).max(1)),
        (Some(at), None) if levels[..at].iter().any(|l| l.size != Some(1)) => {
            errors.push(ScheduleError::OpenNotOutermost { axis: name.clone() });
            None
        }
        // The elements of an array need room for as many as there can be.
        (Some(_), None) if decl.kind == AxisKind::Array && deps::capacity(kernel, shape, decl.hi).is_none() => {
            let of = Some(kernel.spell(decl.hi));
            errors.push(ScheduleError::NotCovered { axis: name.clone(), covered: product, extent: None, of });
            None
        }
        (Some(_), None) => None,
        (None, _) => {
            let capacity = fixed.or_else(|| deps::capacity(kernel, shape, decl.hi));
            match capacity {
                Some(n) if n <= product => {}
                _ => {
                    let of = fixed.is_none().then(|| kernel.spell(decl.hi));
                    errors.push(ScheduleError::NotCovered {
                        axis: name.clone(),
                        covered: product,
                        extent: capacity,
                        of,
                    });
                }
            }
            None
        }
    };
    let total = count.map_or(Some(product), |n| n.checked_mul(product));
    let Some(total) = total else {
        errors.push(ScheduleError::BadSize { axis: name });
        return None;
    };
    let exact = fixed == Some(total) || (fixed.is_none() && product == 1 && open.is_some());
    // What a `tail` line asserts changes no level.
    let sound = errors.len() == before;
    if schedule.tail(&name) == Tail::Exact && !exact {
        let sizes = levels.iter().filter_map(|l| l.size).collect();
        errors.push(match fixed {
            Some(n) => ScheduleError::DoesNotDivide { axis: name.clone(), sizes, extent: n },
            None => ScheduleError::ExactAtRunTime { axis: name.clone(), sizes },
        });
    }
    let mut weight = 1u32;
    let mut plans: Vec<LevelPlan> = levels
        .iter()
        .rev()
        .map(|l| {
            let size = l.size.or(count);
            let plan = LevelPlan { kind: l.kind, size, weight, open: l.size.is_none(), name: l.name.clone() };
            weight = weight.saturating_mul(size.unwrap_or(1));
            plan
        })
        .collect();
    plans.reverse();
    let lanes =
        plans.iter().filter(|l| l.kind == LevelKind::Lanes).filter_map(|l| l.size).fold(1u32, u32::saturating_mul);
    sound.then_some(AxisPlan { levels: plans, extent: fixed, exact, lanes, stride: 1 })
}

/// Kinds that an axis can have, in an order that has a meaning.
fn order(kernel: &Kernel, id: AxisId, name: &str, levels: &[Level], errors: &mut Vec<ScheduleError>) {
    let kind = kernel.axis(id).kind;
    let mut wrong = |kind: LevelKind, why, instead| {
        errors.push(ScheduleError::LevelNotPossible { axis: name.into(), kind, why, instead });
    };
    for level in levels {
        match level.kind {
            LevelKind::Grid if kind == AxisKind::Reduce => {
                let instead = "make it `serial` or `lanes(n)`; or make two kernels of it by `fuse::split`, whose parts may be `grid`";
                wrong(level.kind, "a reduction stays in one workgroup", instead);
            }
            LevelKind::Grid if kind == AxisKind::Array => {
                wrong(level.kind, "an array field belongs to its reduction", "make it `serial` or `lanes(n)`");
            }
            LevelKind::Vector if !matches!(level.size, Some(1 | 2 | 4 | 8 | 16 | 32)) => {
                wrong(
                    level.kind,
                    "a load takes 2, 4, 8, 16 or 32 neighbours",
                    "write `vector(4)`, which is 128 bits of f32",
                );
            }
            LevelKind::Matrix if !matches!(level.size, Some(8 | 16)) => {
                wrong(level.kind, "a fragment has sides of 8 or 16", "write `matrix(16)` or `matrix(8)`");
            }
            LevelKind::Matrix if kind == AxisKind::Array => {
                wrong(level.kind, "an array field is no matrix", "make it `serial` or `lanes(n)`");
            }
            LevelKind::Lanes | LevelKind::Unroll if level.size.is_none() => {
                wrong(level.kind, "it needs a size", "give it one; `grid` or `serial` can take what is left");
            }
            _ => {}
        }
    }
    let mut bad = |kind, why| errors.push(ScheduleError::LevelOrder { axis: name.into(), kind, why });
    if levels.is_empty() {
        bad(None, "at least one level is needed");
    }
    for (single, why) in [
        (LevelKind::Grid, "it has more than one `grid` level"),
        (LevelKind::Lanes, "it has more than one `lanes` level"),
        (LevelKind::Vector, "it has more than one `vector` level"),
        (LevelKind::Matrix, "it has more than one `matrix` level"),
    ] {
        if levels.iter().filter(|l| l.kind == single).count() > 1 {
            bad(Some(single), why);
        }
    }
    if levels.first().is_some_and(|l| l.kind != LevelKind::Grid) && levels.iter().any(|l| l.kind == LevelKind::Grid) {
        bad(Some(LevelKind::Grid), "`grid` must be the outermost level");
    }
    if levels.last().is_some_and(|l| l.kind != LevelKind::Vector) && levels.iter().any(|l| l.kind == LevelKind::Vector)
    {
        bad(Some(LevelKind::Vector), "`vector` must be the innermost level");
    }
    if levels.last().is_some_and(|l| l.kind != LevelKind::Matrix) && levels.iter().any(|l| l.kind == LevelKind::Matrix)
    {
        bad(Some(LevelKind::Matrix), "`matrix` must be the innermost level");
    }
    if levels.iter().any(|l| l.kind == LevelKind::Vector) && !last_somewhere(kernel, id) {
        let last = (0..kernel.axes.len() as u32).map(AxisId).filter(|a| last_somewhere(kernel, *a));
        let last = last.map(|a| kernel.axis(a).name.clone()).collect();
        errors.push(ScheduleError::VectorNotLast { axis: name.into(), last });
    }
}

/// Whether an axis is the last index of some load or store.
fn last_somewhere(kernel: &Kernel, id: AxisId) -> bool {
    let walks = |index: Option<&tilewright_dsl::ir::ExprId>| index.is_some_and(|i| mentions(kernel, *i, id));
    kernel.exprs.iter().any(|e| matches!(e, Expr::Load(_, indices) if walks(indices.last())))
        || stores(&kernel.body).iter().any(|indices| walks(indices.last()))
}

fn mentions(kernel: &Kernel, index: tilewright_dsl::ir::ExprId, id: AxisId) -> bool {
    deps::any(kernel, index, |e| matches!(kernel.expr(e), Expr::Axis(a) if *a == id))
}

fn stores(body: &[tilewright_dsl::ir::Stmt]) -> Vec<&[tilewright_dsl::ir::ExprId]> {
    body.iter()
        .flat_map(|s| match s {
            tilewright_dsl::ir::Stmt::For(_, inner) => stores(inner),
            tilewright_dsl::ir::Stmt::Store(_, indices, _) => vec![indices.as_slice()],
        })
        .collect()
}

/// `stage` and `compute` lines with their level found.
pub fn tiles(
    kernel: &Kernel,
    schedule: &Schedule,
    axes: &[AxisPlan],
    errors: &mut Vec<ScheduleError>,
) -> Vec<TilePlan> {
    let find = |at: &str, errors: &mut Vec<ScheduleError>| {
        for (i, plan) in axes.iter().enumerate() {
            if let Some(level) = plan.levels.iter().position(|l| l.name.as_deref() == Some(at)) {
                return Some((AxisId(i as u32), level));
            }
        }
        if let Some(id) = kernel.axis_named(at) {
            let serial = axes[id.0 as usize].levels.iter().position(|l| l.kind == LevelKind::Serial);
            return Some((id, serial.unwrap_or(0)));
        }
        let named = axes.iter().flat_map(|a| &a.levels).filter_map(|l| l.name.clone());
        let error = ScheduleError::UnknownLevel {
            level: at.into(),
            known: named.chain(kernel.axes.iter().map(|a| a.name.clone())).collect(),
        };
        if !errors.contains(&error) {
            errors.push(error);
        }
        None
    };
    let mut tiles = Vec::new();
    for stage in &schedule.stages {
        let (Some(tensor), Some((axis, level))) = (kernel.tensor_named(&stage.tensor), find(&stage.at, errors)) else {
            continue;
        };
        let narrow = stage.storage == Storage::F16;
        tiles.push(TilePlan {
            what: TileOf::Tensor(tensor),
            axis,
            level,
            place: stage.place,
            narrow,
            ahead: stage.ahead,
        });
    }
    for compute in &schedule.computes {
        let value = kernel.lets.iter().find(|l| l.name == compute.value).map(|l| l.value);
        let (Some(value), Some((axis, level))) = (value, find(&compute.at, errors)) else { continue };
        let place = compute.place;
        tiles.push(TilePlan { what: TileOf::Value(value), axis, level, place, narrow: false, ahead: false });
    }
    tiles.retain(|tile| {
        let Some((why, instead)) = no_tile(kernel, axes, tile) else { return true };
        let (what, at) = (tile_name(kernel, tile), level_name(kernel, axes, tile));
        errors.push(ScheduleError::NoTile { what, at, why, instead });
        false
    });
    tiles
}

/// Why something cannot be held at its level, and what to do instead.
fn no_tile(kernel: &Kernel, axes: &[AxisPlan], tile: &TilePlan) -> Option<(&'static str, &'static str)> {
    if let TileOf::Value(value) = tile.what
        && reduces(kernel, value, tile.axis)
    {
        return Some(("the level lies inside it", "name a level around its use"));
    }
    let loops = axes[tile.axis.0 as usize].levels.get(tile.level).is_some_and(|l| l.kind == LevelKind::Serial);
    if tile.ahead && !loops {
        return Some(("`ahead` is for the steps of a loop", "name a `serial` level, or drop `ahead`"));
    }
    if tile.place == Place::Registers {
        let why = "what copies of an invocation load twice is kept in registers as it is";
        return matches!(tile.what, TileOf::Tensor(_)).then_some((why, "drop the line, or stage it in `workgroup`"));
    }
    if kernel.axis(tile.axis).kind == AxisKind::Array {
        let why = "the elements of an array field are walked in every merge, not by all invocations together";
        return Some((why, "name a level of the reduction"));
    }
    let around = &axes[tile.axis.0 as usize].levels[..=tile.level];
    let shared = around.iter().all(|l| matches!(l.kind, LevelKind::Grid | LevelKind::Serial));
    let why = "its level lies inside lanes or copies, so the invocations would not share one tile";
    (!shared).then_some((why, "name a `serial` level that stands before the axis' lanes and copies"))
}

/// Whether a value is made by a reduction along an axis.
fn reduces(kernel: &Kernel, value: tilewright_dsl::ir::ExprId, axis: AxisId) -> bool {
    let along = |e| matches!(kernel.expr(e), Expr::Reduce(r) if r.axis == axis || r.array == Some(axis));
    deps::any(kernel, value, along)
}

/// The name by which the schedule calls the level of a tile.
pub fn level_name(kernel: &Kernel, axes: &[AxisPlan], tile: &TilePlan) -> String {
    let named = axes[tile.axis.0 as usize].levels[tile.level].name.clone();
    named.unwrap_or_else(|| kernel.axis(tile.axis).name.clone())
}

/// The name by which the schedule calls what a tile holds.
pub fn tile_name(kernel: &Kernel, tile: &TilePlan) -> String {
    match tile.what {
        TileOf::Tensor(t) => kernel.tensor(t).name.clone(),
        TileOf::Value(v) => kernel.lets.iter().find(|l| l.value == v).map(|l| l.name.clone()).unwrap_or_default(),
    }
}
