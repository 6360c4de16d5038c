//! Whether one invocation owns each 32-bit word that it writes, where a written tensor's elements are half a word.
//!
//! The rule: the two elements of a word must be neighbouring copies of one axis, so that whoever makes the one makes the other,
//! and no word is read to be written. What is proved here are the levels; that elements are written once is proved of the
//! indices. Absent: how a word is put together, which is `lower`'s work.

use super::AxisPlan;
use crate::deps::{self, Deps};
use crate::error::ScheduleError;
use crate::shape::Shape;
use tilewright_dsl::ir::{AxisId, Binary, Expr, ExprId, Kernel, Stmt, TensorId};
use tilewright_dsl::schedule::{Level, LevelKind, Schedule, Storage};

/// Elements of a word.
const HALVES: u32 = 2;

/// What keeps a written tensor from being stored in halves, store by store.
pub fn check(
    kernel: &Kernel,
    schedule: &Schedule,
    shape: &Shape,
    tensor: TensorId,
    storage: Storage,
    axes: &[AxisPlan],
) -> Vec<ScheduleError> {
    let deps = Deps::new(kernel);
    let mut stores = Vec::new();
    find(&kernel.body, tensor, &mut stores);
    let name = &kernel.tensor(tensor).name;
    let refuse = |why| ScheduleError::StorageNotPossible { tensor: name.clone(), storage, why };
    let mut errors = Vec::new();
    for indices in stores {
        let Some((axis, rest)) = last_axis(kernel, indices) else {
            errors.push(refuse("its last index is not one axis, with or without a number added"));
            continue;
        };
        let even = |id: ExprId| deps::constant(kernel, shape, id).is_some_and(|n| n.is_multiple_of(HALVES));
        let decl = kernel.axis(axis);
        if indices.iter().rev().skip(1).any(|i| deps.free(*i).has(axis)) {
            errors.push(refuse("the axis of its last index moves another index too"));
        } else if !even(decl.lo) || rest.is_some_and(|r| !even(r)) {
            errors.push(refuse("its elements are not written from an even column on"));
        } else if axes[axis.0 as usize].extent.is_none_or(|n| !n.is_multiple_of(HALVES)) {
            errors.push(refuse("an odd number of columns is written, or one that only a run tells"));
        } else if !whole(&axes[axis.0 as usize]) {
            let (axis, own) = (decl.name.clone(), schedule.levels(&decl.name).unwrap_or_default());
            let tensor = name.clone();
            errors.push(ScheduleError::HalfWord { tensor, storage, instead: instead(&axis, own), axis });
        }
    }
    errors
}

/// The axis that a store's last index moves with, and what is added to it.
pub fn last_axis(kernel: &Kernel, indices: &[ExprId]) -> Option<(AxisId, Option<ExprId>)> {
    match kernel.expr(*indices.last()?) {
        Expr::Axis(axis) => Some((*axis, None)),
        Expr::Binary(Binary::Add, a, b) => match (kernel.expr(*a), kernel.expr(*b)) {
            (Expr::Axis(axis), _) => Some((*axis, Some(*b))),
            (_, Expr::Axis(axis)) => Some((*axis, Some(*a))),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the innermost level makes neighbours as copies of one invocation.
fn whole(plan: &AxisPlan) -> bool {
    plan.levels.last().is_some_and(|l| {
        let copies = matches!(l.kind, LevelKind::Unroll | LevelKind::Vector);
        copies && l.weight == 1 && l.size.is_some_and(|n| n.is_multiple_of(HALVES))
    })
}

/// The axis' levels with pairs at their end.
fn instead(axis: &str, own: &[Level]) -> String {
    let kept = own.iter().filter(|l| !matches!(l.kind, LevelKind::Unroll | LevelKind::Vector | LevelKind::Matrix));
    let mut words: Vec<String> = kept.map(ToString::to_string).collect();
    if words.is_empty() {
        words.push("serial".into());
    }
    format!("{axis}: {}, unroll({HALVES})", words.join(", "))
}

fn find<'k>(body: &'k [Stmt], tensor: TensorId, found: &mut Vec<&'k [ExprId]>) {
    for stmt in body {
        match stmt {
            Stmt::For(_, inner) => find(inner, tensor, found),
            Stmt::Store(t, indices, _) if *t == tensor => found.push(indices),
            Stmt::Store(..) => {}
        }
    }
}
