//! What a program costs before it runs: text for the driver to compile, and rounds of loops for devices that end them.
//!
//! The limits are held against the loop IR as it will be printed; the axes to blame, and lines that would do, are read off
//! the nest. Whether such a line applies is for `apply` to say.

use crate::apply::{Nest, chains, most_copies};
use crate::error::ScheduleError;
use crate::lower::Lowered;
use crate::program::Count;
use crate::usage::operations;
use std::collections::BTreeMap;
use tilewright_dsl::ir::{AxisId, AxisKind};
use tilewright_dsl::schedule::{Level, LevelKind};

/// The operations of a shader that drivers are asked to compile: their time grows faster than the text. Mesa's llvmpipe
/// takes 1.5 s for 2,000 operations, 5 s for 4,000 and up to 30 s for 8,000; the kernels of Qwen2.5 have 50 to 800.
const MOST_OPERATIONS: u32 = 4096;

/// How often as many a kernel may have that takes several shaders.
const MOST_SHADERS: u32 = 4;

/// An error where the text is too long.
pub fn too_many_operations(nest: &Nest, lowered: &[Lowered]) -> Option<ScheduleError> {
    let counts: Vec<u32> = lowered.iter().map(|l| operations(&l.loops)).collect();
    let all = counts.iter().fold(0u32, |a, n| a.saturating_add(*n));
    let most = counts.iter().copied().max().unwrap_or(0);
    let (asked, allowed, shaders) = match (most > MOST_OPERATIONS, all > MOST_OPERATIONS * MOST_SHADERS) {
        (false, false) => return None,
        (true, _) => (most, MOST_OPERATIONS, 1),
        (false, true) => (all, MOST_OPERATIONS * MOST_SHADERS, counts.len() as u32),
    };
    let (copies, axes) = most_copies(nest, &chains(nest));
    Some(ScheduleError::TooManyOperations { asked, allowed, shaders, copies, axes })
}

/// An error where the device would end the loops; rounds that only the run-time parameters tell are held against it when
/// they are known.
pub fn too_many_iterations(nest: &Nest, iterations: &[Option<Count>]) -> Option<ScheduleError> {
    let allowed = nest.target.max_iterations?;
    let known = iterations.iter().filter_map(|rounds| rounds.as_ref()?.eval(&BTreeMap::new()));
    let asked = known.max().filter(|asked| *asked > allowed)?;
    let mut rounds = Rounds::new(nest);
    let loops = rounds.longest();
    let instead = rounds.reduce_to(allowed);
    Some(ScheduleError::TooManyIterations { asked, allowed, target: nest.target.name.clone(), loops, instead })
}

/// How often an invocation goes round the loops of each axis, and what could be changed about it.
struct Rounds<'n> {
    nest: &'n Nest<'n>,
    chains: Vec<Vec<AxisId>>,
    of: Vec<u32>,
}

impl<'n> Rounds<'n> {
    fn new(nest: &'n Nest<'n>) -> Self {
        let serial = |plan: &crate::apply::AxisPlan| {
            let sizes = plan.levels.iter().filter(|l| l.kind == LevelKind::Serial).filter_map(|l| l.size);
            sizes.fold(1u32, u32::saturating_mul)
        };
        let mut chains = chains(nest);
        chains.sort();
        chains.dedup();
        Rounds { nest, chains, of: nest.axes.iter().map(serial).collect() }
    }

    /// Rounds of all loops of a chain together.
    fn together(&self, chain: &[AxisId]) -> u32 {
        let inside = |sum: u32, a: &AxisId| match self.of[a.0 as usize] {
            1 => sum,
            n => n.saturating_mul(sum.saturating_add(1)),
        };
        chain.iter().rev().fold(0, inside)
    }

    /// The axes with loops that matter: those with at least a sixteenth of the longest one's rounds.
    fn longest(&self) -> Vec<(String, u32)> {
        let most = self.of.iter().copied().max().unwrap_or(1).max(2);
        let named = self.nest.kernel.axes.iter().zip(&self.of).filter(|(_, n)| **n > 1 && **n >= most / 16);
        named.map(|(axis, n)| (axis.name.clone(), *n)).collect()
    }

    /// Lines that take the rounds down: lanes for the longest reductions, then `grid` for the axes around every store.
    fn reduce_to(&mut self, allowed: u32) -> Vec<String> {
        let mut lines: Vec<(AxisId, String)> = Vec::new();
        // Loops that stand side by side add up; what they share is counted twice, to be safe.
        while self.chains.iter().fold(0u32, |sum, c| sum.saturating_add(self.together(c))) > allowed {
            let axes = (0..self.nest.axes.len() as u32).map(AxisId).filter(|a| !lines.iter().any(|l| l.0 == *a));
            let changed = axes.filter_map(|a| self.changed(a));
            let Some((rounds, axis, line)) = changed.min_by_key(|(rounds, a, _)| {
                let map = self.nest.kernel.axis(*a).kind == AxisKind::Map;
                (map, u64::from(*rounds) * 1024 / u64::from(self.of[a.0 as usize]))
            }) else {
                return Vec::new();
            };
            self.of[axis.0 as usize] = rounds;
            lines.push((axis, line));
        }
        lines.sort();
        lines.into_iter().map(|l| l.1).collect()
    }

    /// The rounds of an axis by a line that shares its work, if there is one.
    fn changed(&self, id: AxisId) -> Option<(u32, AxisId, String)> {
        let (axis, rounds) = (self.nest.kernel.axis(id), self.of[id.0 as usize]);
        let open = [Level { kind: LevelKind::Serial, size: None, name: None }];
        let mut levels = self.nest.schedule.levels(&axis.name).unwrap_or(&open).to_vec();
        let has = |kind| levels.iter().any(|l: &Level| l.kind == kind);
        if rounds == 1 || has(LevelKind::Lanes) || has(LevelKind::Grid) {
            return None;
        }
        let after = match axis.kind {
            AxisKind::Map => {
                let stores = self.chains.iter().all(|c| c.contains(&id) || c.is_empty());
                let first = levels.first_mut().filter(|l| stores && l.kind == LevelKind::Serial && l.size.is_none())?;
                first.kind = LevelKind::Grid;
                1
            }
            AxisKind::Reduce => {
                let lanes = |c: &Vec<AxisId>| c.iter().fold(1u32, |p, a| p.saturating_mul(self.nest.plan(*a).lanes));
                let taken = self.chains.iter().filter(|c| c.contains(&id)).map(lanes).max().unwrap_or(1);
                let most = (self.nest.target.max_invocations / taken).min(32);
                let n = 1 << most.checked_ilog2()?;
                let at = levels.iter().rposition(|l| l.kind == LevelKind::Serial)?;
                levels[at].size = levels[at].size.map(|size| size.div_ceil(n));
                levels.insert(at + 1, Level { kind: LevelKind::Lanes, size: Some(n), name: None });
                rounds.div_ceil(n)
            }
            AxisKind::Array => return None,
        };
        let words: Vec<String> = levels.iter().map(ToString::to_string).collect();
        (after < rounds).then(|| (after, id, format!("{}: {};", axis.name, words.join(", "))))
    }
}
