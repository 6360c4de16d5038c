//! Levels of each axis as numbers, and the levels at which tiles are held.

use super::{AxisPlan, LevelPlan, TileOf, TilePlan};
use crate::deps;
use crate::error::ScheduleError;
use crate::shape::Shape;
use tilewright_dsl::ir::{AxisId, AxisKind, Expr, Kernel};
use tilewright_dsl::schedule::{Level, LevelKind, Place, Schedule, Tail};

/// One plan an axis; where an axis has an error, a plan that lets the others be checked.
pub fn resolve(kernel: &Kernel, schedule: &Schedule, shape: &Shape, errors: &mut Vec<ScheduleError>) -> Vec<AxisPlan> {
    (0..kernel.axes.len() as u32)
        .map(|i| axis(kernel, schedule, shape, AxisId(i), errors).unwrap_or_else(open_serial))
        .collect()
}

fn open_serial() -> AxisPlan {
    let level = LevelPlan { kind: LevelKind::Serial, size: None, weight: 1, open: true, name: None };
    AxisPlan { levels: vec![level], extent: None, exact: true, lanes: 1, stride: 1 }
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
    if levels.iter().filter(|l| l.size.is_none()).count() > 1 {
        errors.push(ScheduleError::TwoOpenLevels { axis: name.clone() });
        return None;
    }
    let sized =
        levels.iter().filter_map(|l| l.size).try_fold(1u32, |a, n| if n == 0 { None } else { a.checked_mul(n) });
    let Some(product) = sized else {
        errors.push(ScheduleError::BadSize { what: name });
        return None;
    };
    let open = levels.iter().position(|l| l.size.is_none());
    let count = match (open, fixed) {
        (Some(_), Some(n)) => Some(n.div_ceil(product).max(1)),
        (Some(at), None) if levels[..at].iter().any(|l| l.size != Some(1)) => {
            errors.push(ScheduleError::OpenNotOutermost { axis: name.clone() });
            None
        }
        (Some(_), None) => None,
        (None, _) => {
            let capacity = fixed.or_else(|| deps::capacity(kernel, shape, decl.hi));
            match capacity {
                Some(n) if n <= product => {}
                _ => errors.push(ScheduleError::NotCovered {
                    axis: name.clone(),
                    covered: product,
                    extent: capacity.unwrap_or(u32::MAX),
                }),
            }
            None
        }
    };
    let total = count.map_or(Some(product), |n| n.checked_mul(product));
    let Some(total) = total else {
        errors.push(ScheduleError::BadSize { what: name });
        return None;
    };
    let exact = fixed == Some(total) || (fixed.is_none() && product == 1 && open.is_some());
    if schedule.tail(&name) == Tail::Exact && !exact {
        errors.push(match fixed {
            Some(n) => ScheduleError::DoesNotDivide { axis: name.clone(), product, extent: n },
            None => ScheduleError::ExactAtRunTime { axis: name.clone(), product },
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
    let lanes = plans.iter().filter(|l| l.kind == LevelKind::Lanes).filter_map(|l| l.size).product();
    (errors.len() == before).then_some(AxisPlan { levels: plans, extent: fixed, exact, lanes, stride: 1 })
}

/// Kinds that an axis can have, in an order that has a meaning.
fn order(kernel: &Kernel, id: AxisId, name: &str, levels: &[Level], errors: &mut Vec<ScheduleError>) {
    let kind = kernel.axis(id).kind;
    let mut wrong = |kind: LevelKind, why: &str| {
        errors.push(ScheduleError::LevelNotPossible { axis: name.into(), kind, why: why.into() });
    };
    for level in levels {
        match level.kind {
            LevelKind::Grid if kind == AxisKind::Reduce => wrong(level.kind, "a reduction stays in one workgroup"),
            LevelKind::Grid if kind == AxisKind::Array => wrong(level.kind, "an array field belongs to its reduction"),
            LevelKind::Vector if !matches!(level.size, Some(1 | 2 | 4 | 8 | 16)) => {
                wrong(level.kind, "a load takes 2, 4, 8 or 16 neighbours");
            }
            LevelKind::Lanes | LevelKind::Unroll if level.size.is_none() => wrong(level.kind, "it needs a size"),
            _ => {}
        }
    }
    let mut bad = |why: &str| errors.push(ScheduleError::LevelOrder { axis: name.into(), why: why.into() });
    if levels.is_empty() {
        bad("at least one level is needed");
    }
    for (single, words) in [
        (LevelKind::Grid, "more than one `grid` level"),
        (LevelKind::Lanes, "more than one `lanes` level"),
        (LevelKind::Vector, "more than one `vector` level"),
    ] {
        if levels.iter().filter(|l| l.kind == single).count() > 1 {
            bad(words);
        }
    }
    if levels.iter().skip(1).any(|l| l.kind == LevelKind::Grid) {
        bad("`grid` must be the outermost level");
    }
    if levels.iter().rev().skip(1).any(|l| l.kind == LevelKind::Vector) {
        bad("`vector` must be the innermost level");
    }
    if levels.iter().any(|l| l.kind == LevelKind::Vector) && !last_somewhere(kernel, id) {
        errors.push(ScheduleError::VectorNotLast { axis: name.into() });
    }
}

/// Whether an axis is the last index of some load or store.
fn last_somewhere(kernel: &Kernel, id: AxisId) -> bool {
    let walks = |index: Option<&tilewright_dsl::ir::ExprId>| index.is_some_and(|i| mentions(kernel, *i, id));
    kernel.exprs.iter().any(|e| matches!(e, Expr::Load(_, indices) if walks(indices.last())))
        || stores(&kernel.body).iter().any(|indices| walks(indices.last()))
}

fn mentions(kernel: &Kernel, index: tilewright_dsl::ir::ExprId, id: AxisId) -> bool {
    match kernel.expr(index) {
        Expr::Axis(a) => *a == id,
        e => deps::operands(kernel, e).into_iter().any(|o| mentions(kernel, o, id)),
    }
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
        errors.push(ScheduleError::UnknownLevel { level: at.into() });
        None
    };
    let mut tiles = Vec::new();
    for stage in &schedule.stages {
        let (Some(tensor), Some((axis, level))) = (kernel.tensor_named(&stage.tensor), find(&stage.at, errors)) else {
            continue;
        };
        tiles.push(TilePlan { what: TileOf::Tensor(tensor), axis, level, place: stage.place });
    }
    for compute in &schedule.computes {
        let value = kernel.lets.iter().find(|l| l.name == compute.value).map(|l| l.value);
        let (Some(value), Some((axis, level))) = (value, find(&compute.at, errors)) else { continue };
        tiles.push(TilePlan { what: TileOf::Value(value), axis, level, place: compute.place });
    }
    for tile in &tiles {
        if matches!(tile.what, TileOf::Tensor(_)) && tile.place == Place::Registers {
            errors.push(ScheduleError::NoTile {
                what: tile_name(kernel, tile),
                at: kernel.axis(tile.axis).name.clone(),
                why: "what copies of an invocation load twice is kept in registers as it is; stage it in `workgroup`"
                    .into(),
            });
        }
        let suffix = axes[tile.axis.0 as usize].levels[..=tile.level]
            .iter()
            .all(|l| matches!(l.kind, LevelKind::Grid | LevelKind::Serial));
        if tile.place == Place::Workgroup && !suffix {
            errors.push(ScheduleError::NoTile {
                what: tile_name(kernel, tile),
                at: kernel.axis(tile.axis).name.clone(),
                why: "its level lies inside lanes or copies, so the invocations would not share one tile".into(),
            });
        }
    }
    tiles
}

/// The name by which the schedule calls what a tile holds.
pub fn tile_name(kernel: &Kernel, tile: &TilePlan) -> String {
    match tile.what {
        TileOf::Tensor(t) => kernel.tensor(t).name.clone(),
        TileOf::Value(v) => kernel.lets.iter().find(|l| l.value == v).map(|l| l.name.clone()).unwrap_or_default(),
    }
}
