//! Candidates around a schedule: what one or two small moves make of it.
//!
//! A move doubles or halves a level's number, adds or drops a level, exchanges two neighbours, changes how a reduction's lanes
//! meet, or drops a tile of workgroup memory. The rule: axes with equal levels move together (`q.i`, `k.i` and `v.i` of `qkv`; a
//! monoid's array and what reads it), the list is finite and in a fixed order, and no storage changes. Whether a candidate is
//! legal is the compiler's to say: it is compiled and refused like any schedule.

use std::collections::HashSet;

use tilewright_dsl::ir::{AxisKind, Kernel};
use tilewright_dsl::schedule::{Fold, Level, LevelKind, Origin, Schedule};

/// What bounds the candidates of a kernel.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Most invocations of a workgroup.
    pub invocations: u32,
    /// Whether subgroup operations are there.
    pub subgroups: bool,
    /// Axes of one value, which nothing is gained from.
    pub single: Vec<String>,
}

/// Most copies in registers that are tried.
const UNROLL: u32 = 16;
/// Widest load that is tried, in elements: 128 bits of the narrowest ones.
const VECTOR: u32 = 16;
const VECTOR_OF_CODES: u32 = 32;

/// Every schedule that is one or two moves from `base`, nearest first, each once and without `base` itself.
pub fn around(kernel: &Kernel, base: &Schedule, bounds: &Bounds) -> Vec<Schedule> {
    let mut seen: HashSet<Schedule> = HashSet::from([plain(base)]);
    let first: Vec<Schedule> = moves(kernel, base, bounds).into_iter().filter(|s| seen.insert(s.clone())).collect();
    let mut all = first.clone();
    for one in &first {
        all.extend(moves(kernel, one, bounds).into_iter().filter(|s| seen.insert(s.clone())));
    }
    all
}

/// The schedule without what does not change the text that comes of it.
pub fn plain(schedule: &Schedule) -> Schedule {
    Schedule { name: "candidate".into(), origin: Origin::default(), workgroup: None, ..schedule.clone() }
}

/// Invocations of a workgroup, as far as the listed axes say: the product of the lanes of each group of equal nests is not known here,
/// so this is what the widest axis has.
fn widest(schedule: &Schedule) -> u32 {
    let lanes = |levels: &[Level]| {
        let sizes = levels.iter().filter(|l| l.kind == LevelKind::Lanes).filter_map(|l| l.size);
        sizes.fold(1u32, u32::saturating_mul)
    };
    schedule.axes.iter().map(|a| lanes(&a.levels)).max().unwrap_or(1)
}

fn moves(kernel: &Kernel, base: &Schedule, bounds: &Bounds) -> Vec<Schedule> {
    let base = plain(base);
    let codes = base.stores.iter().any(|(_, storage)| storage.quantised());
    let widest_load = if codes { VECTOR_OF_CODES } else { VECTOR };
    let mut all = Vec::new();
    for group in groups(&base) {
        let levels = &base.axes[group[0]].levels;
        let alone = bounds.single.contains(&base.axes[group[0]].axis);
        if !alone {
            for changed in level_moves(levels, widest_load) {
                let mut next = base.clone();
                for axis in &group {
                    next.axes[*axis].levels.clone_from(&changed);
                }
                all.push(next);
            }
        }
    }
    all.extend(fold_moves(kernel, &base, bounds));
    for i in 0..base.stages.len() {
        let mut next = base.clone();
        next.stages.remove(i);
        all.push(next);
    }
    all.retain(|s| widest(s) <= bounds.invocations);
    all
}

/// Indices of axes with equal levels.
fn groups(schedule: &Schedule) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, axis) in schedule.axes.iter().enumerate() {
        // A grid alone is no choice that axes have in common.
        let grid = axis.levels.iter().all(|l| l.kind == LevelKind::Grid);
        let same = |g: &&mut Vec<usize>| !grid && schedule.axes[g[0]].levels == axis.levels;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    groups
}

/// What one move makes of an axis' levels.
fn level_moves(levels: &[Level], widest_load: u32) -> Vec<Vec<Level>> {
    let mut all = Vec::new();
    let mut put = |levels: Vec<Level>| all.push(levels);
    for (i, level) in levels.iter().enumerate() {
        let Some(n) = level.size else { continue };
        let with = |size: u32| {
            let mut next = levels.to_vec();
            next[i].size = Some(size);
            next
        };
        let most = match level.kind {
            LevelKind::Vector => widest_load,
            LevelKind::Unroll => UNROLL,
            _ => u32::MAX / 2,
        };
        if n * 2 <= most {
            put(with(n * 2));
        }
        if n > 2 && n.is_multiple_of(2) {
            put(with(n / 2));
        } else if n == 2 && level.name.is_none() && levels.len() > 1 {
            let mut next = levels.to_vec();
            next.remove(i);
            put(next);
        }
    }
    for (i, pair) in levels.windows(2).enumerate() {
        let inner = |l: &Level| matches!(l.kind, LevelKind::Lanes | LevelKind::Unroll);
        if pair.iter().all(inner) && pair[0].kind != pair[1].kind {
            let mut next = levels.to_vec();
            next.swap(i, i + 1);
            put(next);
        }
    }
    let has = |kind: LevelKind| levels.iter().any(|l| l.kind == kind);
    let new = |kind: LevelKind, n: u32| Level { kind, size: Some(n), name: None };
    let before_vector = levels.iter().position(|l| l.kind == LevelKind::Vector).unwrap_or(levels.len());
    if !has(LevelKind::Lanes) {
        let at = levels.iter().position(|l| l.kind == LevelKind::Unroll).unwrap_or(before_vector);
        let mut next = levels.to_vec();
        next.insert(at, new(LevelKind::Lanes, 2));
        put(next);
    }
    if !has(LevelKind::Unroll) {
        let mut next = levels.to_vec();
        next.insert(before_vector, new(LevelKind::Unroll, 2));
        put(next);
    }
    if !has(LevelKind::Vector) {
        let mut next = levels.to_vec();
        next.push(new(LevelKind::Vector, 4));
        put(next);
    }
    all
}

/// Other ways for lanes to meet; reductions that meet alike change together, and each alone.
fn fold_moves(kernel: &Kernel, base: &Schedule, bounds: &Bounds) -> Vec<Schedule> {
    let reduction = |axis: &str| {
        let known = kernel.axes.iter().find(|a| a.name == axis);
        known.is_some_and(|a| a.kind == AxisKind::Reduce)
    };
    let lanes = |levels: &[Level]| levels.iter().any(|l| l.kind == LevelKind::Lanes);
    let folded: Vec<&String> =
        base.axes.iter().filter(|a| reduction(&a.axis) && lanes(&a.levels)).map(|a| &a.axis).collect();
    let kinds = [Fold::Tree, Fold::Serial, Fold::Subgroup];
    let kinds = kinds.into_iter().filter(|k| *k != Fold::Subgroup || bounds.subgroups);
    let mut all = Vec::new();
    for kind in kinds {
        let set = |axes: &[&String]| {
            let mut next = base.clone();
            next.folds.retain(|(axis, _)| !axes.contains(&axis));
            if kind != Fold::default() {
                next.folds.extend(axes.iter().map(|axis| ((*axis).clone(), kind)));
            }
            next.folds.sort();
            next
        };
        let sets = std::iter::once(folded.as_slice()).chain(folded.iter().map(std::slice::from_ref));
        all.extend(sets.filter(|axes| axes.iter().any(|a| base.fold(a) != kind)).map(set));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{attention, linear_residual, qkv};

    fn bounds() -> Bounds {
        Bounds { invocations: 1024, subgroups: true, single: vec!["t".into()] }
    }

    fn lines(base: &Schedule, kernel: &Kernel) -> Vec<String> {
        around(kernel, base, &bounds()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_move_and_two() {
        let kernel = linear_residual::linear_residual().unwrap();
        let all = lines(&linear_residual::rows(), &kernel);
        for text in ["linear.k: serial, lanes(128), vector(8);", "i: grid, lanes(2);", "fold linear.k: subgroup;"] {
            assert!(all.iter().any(|s| s.contains(text)), "no {text:?}");
        }
        let both = |s: &&String| s.contains("i: grid, lanes(2)") && s.contains("lanes(128)");
        assert_eq!(all.iter().filter(both).count(), 1, "two moves, in either order one schedule");
        assert!(all.len() < 400, "{}", all.len());
        assert!(all.iter().all(|s| s.contains("t: grid;")), "an axis of one value stays");
    }

    #[test]
    fn equal_axes_move_together() {
        let kernel = qkv::qkv().unwrap();
        for schedule in around(&kernel, &qkv::rows(), &bounds()) {
            assert_eq!(schedule.levels("q.i"), schedule.levels("v.i"), "{schedule}");
        }
        let kernel = attention::attention();
        for schedule in around(&kernel, &attention::grouped(), &bounds()) {
            assert_eq!(schedule.levels("softmax.c"), schedule.levels("c"), "{schedule}");
        }
    }

    #[test]
    fn no_candidate_is_the_schedule_itself() {
        let kernel = linear_residual::linear_residual().unwrap();
        let base = linear_residual::wide();
        assert!(!around(&kernel, &base, &bounds()).contains(&plain(&base)));
    }
}
