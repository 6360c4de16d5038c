//! Which axes are alive together, and at which lanes each of them lies.
//!
//! A nest is a set of axes that live together: those around a store, or those around and inside a reduction. Lanes count in
//! the schedule's order, the last axis fastest; nests that are part of a larger one lie as in the larger one.

use super::matrix::width;
use super::{Branch, Nest, TileOf, has_matrix};
use crate::deps::{any, constant, is_loaded, operands};
use crate::error::ScheduleError;
use std::collections::HashSet;
use tilewright_dsl::ir::{AxisId, AxisKind, Binary, Expr, ExprId, Role, Stmt};
use tilewright_dsl::schedule::{Fold, LevelKind, Place};

/// More copies than this are not even made: how much text they are is judged afterwards.
const MOST_COPIES: u32 = 1024;

/// Sets `grid`, `workgroup` and every axis' stride, and checks what depends on them.
pub fn place(nest: &mut Nest, errors: &mut Vec<ScheduleError>) {
    let mut nests: Vec<Vec<AxisId>> = Vec::new();
    let mut stores: Vec<Vec<AxisId>> = Vec::new();
    walk(nest, &nest.kernel.body, &mut Vec::new(), &mut nests, &mut stores);
    let all_axes = nests.clone();
    for chain in &mut nests {
        // An axis without lanes does not move the others, but for one with fragments, of which a subgroup holds each.
        chain.retain(|a| nest.plan(*a).lanes > 1 || has_matrix(nest.plan(*a)));
        chain.sort_by_key(|a| listed(nest, *a));
    }
    let all = nests.clone();
    nests.retain(|n| !all.iter().any(|m| m.len() > n.len() && n.iter().all(|a| m.contains(a))));
    copies(nest, &all_axes, errors);
    grid(nest, &stores, errors);
    powers(nest, &nests, errors);
    strides(nest, &nests, errors);
    folds(nest, errors);
    arrays(nest, errors);
}

/// The position of an axis in the schedule's order; axes without a line follow in the kernel's order.
fn listed(nest: &Nest, axis: AxisId) -> usize {
    let name = &nest.kernel.axis(axis).name;
    nest.schedule.axes.iter().position(|l| l.axis == *name).unwrap_or(nest.schedule.axes.len() + axis.0 as usize)
}

fn walk(
    nest: &Nest,
    body: &[Stmt],
    chain: &mut Vec<AxisId>,
    nests: &mut Vec<Vec<AxisId>>,
    stores: &mut Vec<Vec<AxisId>>,
) {
    for stmt in body {
        match stmt {
            Stmt::For(axis, inner) => {
                chain.push(*axis);
                walk(nest, inner, chain, nests, stores);
                chain.pop();
            }
            Stmt::Store(_, indices, value) => {
                nests.push(chain.clone());
                stores.push(chain.clone());
                let mut seen = HashSet::new();
                for id in indices.iter().chain([value]) {
                    visit(nest, *id, chain, nests, &mut seen);
                }
            }
        }
    }
}

fn visit(
    nest: &Nest,
    id: ExprId,
    chain: &[AxisId],
    nests: &mut Vec<Vec<AxisId>>,
    seen: &mut HashSet<(ExprId, Vec<AxisId>)>,
) {
    if !seen.insert((id, chain.to_vec())) {
        return;
    }
    let cooperative = nest.tiles.iter().any(|t| t.what == TileOf::Value(id) && t.place == Place::Workgroup);
    // The values of a cooperative tile are spread over the invocations one by one: its loops are serial inside each.
    let chain = if cooperative { &[][..] } else { chain };
    let Expr::Reduce(reduce) = nest.kernel.expr(id) else {
        for operand in operands(nest.kernel, nest.kernel.expr(id)) {
            visit(nest, operand, chain, nests, seen);
        }
        return;
    };
    let deps = nest.deps.free(id);
    let moved = nest.tiles.iter().find(|t| t.what == TileOf::Value(id)).map(|t| t.axis);
    let depth = chain.iter().rposition(|a| deps.has(*a) || moved == Some(*a)).map_or(0, |i| i + 1);
    let mut inner = chain[..depth].to_vec();
    inner.push(reduce.axis);
    inner.extend(reduce.array);
    nests.push(inner.clone());
    for body in &reduce.body {
        visit(nest, *body, &inner, nests, seen);
    }
}

/// Copies of the axes that live together multiply, and each is text in the shader.
fn copies(nest: &Nest, nests: &[Vec<AxisId>], errors: &mut Vec<ScheduleError>) {
    let (asked, axes) = most_copies(nest, nests);
    if asked > MOST_COPIES {
        errors.push(ScheduleError::TooManyCopies { asked, allowed: MOST_COPIES, axes });
    }
}

/// The most copies of one statement, saturated, and the axes that have them.
pub fn most_copies(nest: &Nest, nests: &[Vec<AxisId>]) -> (u32, Vec<String>) {
    let number = |a: &AxisId| {
        let sizes = nest.plan(*a).levels.iter().filter(|l| matches!(l.kind, LevelKind::Unroll | LevelKind::Vector));
        sizes.filter_map(|l| l.size).fold(1u32, u32::saturating_mul)
    };
    let product = |n: &&Vec<AxisId>| n.iter().map(number).fold(1u32, u32::saturating_mul);
    let Some(most) = nests.iter().max_by_key(product) else { return (1, Vec::new()) };
    let axes = most.iter().filter(|a| number(a) > 1).map(|a| nest.kernel.axis(*a).name.clone());
    (product(&most), axes.collect())
}

/// The axes that live together: around each store, and around and inside each reduction; outermost first.
pub fn chains(nest: &Nest) -> Vec<Vec<AxisId>> {
    let mut nests = Vec::new();
    walk(nest, &nest.kernel.body, &mut Vec::new(), &mut nests, &mut Vec::new());
    nests
}

/// Grid axes must enclose every store: a workgroup belongs to one value of each. Where they do not, but each of the
/// statements beside each other has grid axes of its own, these become branches of one grid.
fn grid(nest: &mut Nest, stores: &[Vec<AxisId>], errors: &mut Vec<ScheduleError>) {
    let mut axes: Vec<AxisId> =
        (0..nest.axes.len() as u32).map(AxisId).filter(|a| nest.plan(*a).level(LevelKind::Grid).is_some()).collect();
    axes.sort_by_key(|a| listed(nest, *a));
    let body = nest.kernel.body.clone();
    let around_all = |axis: &AxisId| stores.iter().all(|s| s.contains(axis));
    let in_place = nest.kernel.tensors.iter().any(|t| t.role == Role::InOut);
    let bodies = if axes.iter().all(around_all) || in_place { vec![body] } else { beside(&body) };
    let mut branches = Vec::new();
    for body in bodies {
        let mut chains = Vec::new();
        walk(nest, &body, &mut Vec::new(), &mut Vec::new(), &mut chains);
        let grid: Vec<AxisId> = axes.iter().copied().filter(|a| chains.iter().any(|c| c.contains(a))).collect();
        branches.push((Branch { grid, body }, chains));
    }
    for axis in &axes {
        let name = || nest.kernel.axis(*axis).name.clone();
        let refuse = |why| ScheduleError::LevelNotPossible {
            axis: name(),
            kind: LevelKind::Grid,
            why,
            instead: "make it `serial` or `lanes(n)`",
        };
        if nest.kernel.axis(*axis).kind != AxisKind::Map {
            // Refused with the levels already.
            continue;
        }
        let encloses = |(branch, chains): &(Branch, Vec<Vec<AxisId>>)| {
            !branch.grid.contains(axis) || chains.iter().all(|c| c.contains(axis))
        };
        if !branches.iter().all(encloses) {
            errors.push(refuse("it does not enclose every store, so other workgroups would store again"));
        }
        let decl = nest.kernel.axis(*axis);
        if [decl.lo, decl.hi].iter().any(|e| nest.deps.free(*e) != Default::default() || is_loaded(nest.kernel, *e)) {
            errors.push(refuse("its bounds change with another axis or are loaded"));
        } else if [decl.lo, decl.hi].iter().any(|e| !counted(nest, *e)) {
            errors.push(refuse(
                "how many workgroups that makes is no sum, product, minimum or part of extents and scalars",
            ));
        }
    }
    nest.branches = branches.into_iter().map(|(branch, _)| branch).collect();
}

/// Whether the host can count up to a bound, before the run.
fn counted(nest: &Nest, bound: ExprId) -> bool {
    let number = |e: ExprId| constant(nest.kernel, nest.shape, e);
    number(bound).is_some()
        || !any(nest.kernel, bound, |e| match nest.kernel.expr(e) {
            Expr::U32(_) | Expr::Extent(_) | Expr::Scalar(_) => false,
            Expr::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Min, ..) => false,
            Expr::Binary(Binary::Div, _, by) => number(*by).is_none_or(|n| n == 0),
            _ => number(e).is_none(),
        })
}

/// The statements that lie beside each other, each with the axes around all of them.
fn beside(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    match body {
        [Stmt::For(axis, inner)] => beside(inner).into_iter().map(|b| vec![Stmt::For(*axis, b)]).collect(),
        _ => body.iter().map(|stmt| vec![stmt.clone()]).collect(),
    }
}

fn strides(nest: &mut Nest, nests: &[Vec<AxisId>], errors: &mut Vec<ScheduleError>) {
    // What is refused already may have had lanes: what depends on their number is not judged.
    let unsure = errors.iter().any(|e| {
        matches!(
            e,
            ScheduleError::UnknownAxis { .. }
                | ScheduleError::AxisTwice { .. }
                | ScheduleError::BadSize { .. }
                | ScheduleError::NotPowerOfTwo { .. }
        )
    });
    let names =
        |n: &[AxisId], nest: &Nest| -> Vec<String> { n.iter().map(|a| nest.kernel.axis(*a).name.clone()).collect() };
    let product =
        |n: &[AxisId], nest: &Nest| n.iter().fold(width(nest, n), |p, a| p.saturating_mul(nest.plan(*a).lanes));
    nest.width = nests.iter().map(|n| width(nest, n)).max().unwrap_or(1);
    let mut largest = (1u32, Vec::new());
    let mut found: Vec<Option<u32>> = vec![None; nest.axes.len()];
    for n in nests {
        let total = product(n, nest);
        if total > largest.0 {
            largest = (total, names(n, nest));
        }
        let mut stride = width(nest, n);
        for axis in n.iter().rev().filter(|a| nest.plan(**a).lanes > 1) {
            match found[axis.0 as usize] {
                Some(other) if other != stride => errors.push(ScheduleError::LaneMismatch {
                    axis: nest.kernel.axis(*axis).name.clone(),
                    one: other,
                    other: stride,
                }),
                _ => found[axis.0 as usize] = Some(stride),
            }
            stride = stride.saturating_mul(nest.plan(*axis).lanes);
        }
    }
    for (plan, stride) in nest.axes.iter_mut().zip(found) {
        plan.stride = stride.unwrap_or(1);
    }
    nest.workgroup = largest.0;
    if let Some(asked) = nest.schedule.workgroup
        && asked != largest.0
        && !unsure
    {
        let filled = nest.tiles.iter().any(|t| t.place == Place::Workgroup);
        // A nest smaller than the workgroup may still fill tiles with all of it.
        if asked % largest.0.max(1) != 0 || asked == 0 || !filled {
            errors.push(ScheduleError::WorkgroupMismatch { asked, product: largest.0, nest: largest.1.clone() });
        } else {
            nest.workgroup = asked;
        }
    }
    for n in nests {
        let total = product(n, nest);
        if !unsure && !nest.workgroup.is_multiple_of(total) {
            errors.push(ScheduleError::NestDoesNotDivide {
                nest: names(n, nest),
                product: total,
                workgroup: nest.workgroup,
            });
        }
    }
    // Lanes that are right by themselves may be too many whatever the others become.
    let certain = |n: &Vec<AxisId>| -> Vec<AxisId> {
        let name = |a: &AxisId| &nest.kernel.axis(*a).name;
        let doubtful = |a: &AxisId| {
            errors.iter().any(|e| match e {
                ScheduleError::AxisTwice { axis }
                | ScheduleError::BadSize { axis }
                | ScheduleError::NotPowerOfTwo { axis, .. } => axis == name(a),
                _ => false,
            })
        };
        n.iter().copied().filter(|a| !doubtful(a)).collect()
    };
    let found = if unsure {
        let largest = nests.iter().map(certain).max_by_key(|n| product(n, nest)).unwrap_or_default();
        (product(&largest, nest), names(&largest, nest))
    } else {
        (nest.workgroup, largest.1)
    };
    if found.0 > nest.target.max_invocations {
        errors.push(ScheduleError::WorkgroupTooLarge {
            asked: found.0,
            allowed: nest.target.max_invocations,
            nest: found.1,
            target: nest.target.name.clone(),
        });
    }
}

/// Trees and subgroups halve.
fn powers(nest: &Nest, nests: &[Vec<AxisId>], errors: &mut Vec<ScheduleError>) {
    for (i, plan) in nest.axes.iter().enumerate() {
        let (id, axis) = (AxisId(i as u32), nest.kernel.axis(AxisId(i as u32)));
        let fold = nest.schedule.fold(&axis.name);
        if axis.kind != AxisKind::Reduce || fold == Fold::Serial || plan.lanes.is_power_of_two() {
            continue;
        }
        let others = nests.iter().filter(|n| n.contains(&id)).map(|n| {
            let others = n.iter().filter(|a| **a != id);
            others.fold(1u32, |p, a| p.saturating_mul(nest.plan(*a).lanes))
        });
        let most = nest.target.max_invocations / others.max().unwrap_or(1);
        let (axis, lanes) = (axis.name.clone(), plan.lanes);
        errors.push(ScheduleError::NotPowerOfTwo { axis, lanes, fold, most });
    }
}

fn folds(nest: &Nest, errors: &mut Vec<ScheduleError>) {
    for (i, plan) in nest.axes.iter().enumerate() {
        let axis = nest.kernel.axis(AxisId(i as u32));
        if axis.kind != AxisKind::Reduce {
            continue;
        }
        let fold = nest.schedule.fold(&axis.name);
        if fold == Fold::Subgroup && nest.target.subgroups.is_none() {
            errors.push(ScheduleError::NoSubgroups { axis: axis.name.clone(), target: nest.target.name.clone() });
        }
        let most = nest.target.subgroups.map_or(u32::MAX, |sizes| sizes.max);
        let shared = plan.stride.is_power_of_two() && plan.stride < most;
        if fold == Fold::Subgroup && plan.lanes > 1 && !shared {
            errors.push(ScheduleError::SubgroupStride { axis: axis.name.clone(), stride: plan.stride, most });
        }
    }
}

/// An element of an array field is read where it lives: by an axis with the same levels, unless all of the array lies in
/// one invocation as a private array.
fn arrays(nest: &Nest, errors: &mut Vec<ScheduleError>) {
    for expr in &nest.kernel.exprs {
        let Expr::Element(reduce, _, index) = expr else { continue };
        let Expr::Reduce(reduce) = nest.kernel.expr(*reduce) else { continue };
        let Some(array) = reduce.array else { continue };
        let plan = nest.plan(array);
        let private = plan.levels.iter().all(|l| l.kind == LevelKind::Serial);
        let same = match nest.kernel.expr(*index) {
            Expr::Axis(a) => {
                let reader = nest.plan(*a);
                reader.stride == plan.stride && reader.same_levels(plan)
            }
            _ => false,
        };
        // An array on `grid` is refused with its levels.
        let refused = plan.level(LevelKind::Grid).is_some();
        if !private && !same && !refused {
            let levels = nest.schedule.levels(&nest.kernel.axis(array).name).unwrap_or(&[]);
            let words: Vec<String> = levels.iter().map(ToString::to_string).collect();
            errors.push(ScheduleError::ArrayLevels {
                axis: match nest.kernel.expr(*index) {
                    Expr::Axis(a) => nest.kernel.axis(*a).name.clone(),
                    _ => "(a computed index)".into(),
                },
                array: nest.kernel.axis(array).name.clone(),
                levels: words.join(", "),
            });
        }
    }
}
