//! What a program costs before it runs: text for the driver to compile, and rounds of loops for devices that end them.
//!
//! The limits are held against the loop IR as it will be printed; the axes to blame, and lines that would do, are read off
//! the nest and tried.

use crate::apply::{AxisPlan, Nest, apply, chains, most_copies};
use crate::error::ScheduleError;
use crate::iterations::iterations;
use crate::lower::{Lowered, lower};
use crate::program::{Count, Program};
use crate::shape::{Extent, Shape};
use crate::simplify::simplify;
use crate::target::Target;
use crate::usage::operations;
use std::collections::BTreeMap;
use tilewright_dsl::ir::{AxisId, AxisKind, Binary, Expr, ExprId, Kernel};
use tilewright_dsl::schedule::{Level, LevelKind, Schedule};

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
    Some(too_long(nest, asked, allowed, &BTreeMap::new(), Vec::new()))
}

/// An error where the device would end the loops of a program's step with these parameters. A step whose rounds do not fit
/// 32 bits, or need a parameter that is not given, is too long.
pub fn too_many_iterations_of_step(
    (kernel, schedule, shape, target): (&Kernel, &Schedule, &Shape, &Target),
    program: &Program,
    params: &BTreeMap<String, u32>,
) -> Option<ScheduleError> {
    let allowed = target.max_iterations?;
    let all = program.shaders.iter().filter_map(|s| s.iterations.as_ref());
    let all = all.map(|rounds| (rounds.eval(params).unwrap_or(u32::MAX), rounds));
    let (asked, rounds) = all.max_by_key(|(asked, _)| *asked).filter(|(asked, _)| *asked > allowed)?;
    let nest = apply(kernel, schedule, shape, target).ok()?;
    let known = rounds.params();
    let step = params.iter().filter(|(name, _)| known.contains(name.as_str()));
    let step = step.map(|(name, n)| format!("{name} = {n}")).collect();
    Some(too_long(&nest, asked, allowed, params, step))
}

fn too_long(nest: &Nest, asked: u32, allowed: u32, params: &BTreeMap<String, u32>, step: Vec<String>) -> ScheduleError {
    let mut rounds = Rounds::new(nest, params);
    let loops = rounds.longest();
    let lines = rounds.reduce_to(allowed);
    let instead = if applies(nest, &lines, allowed, params) { lines } else { Vec::new() };
    ScheduleError::TooManyIterations { asked, allowed, target: nest.target.name.clone(), step, loops, instead }
}

/// Whether the schedule with these lines applies, and goes round its loops as often as is allowed.
fn applies(nest: &Nest, lines: &[String], allowed: u32, params: &BTreeMap<String, u32>) -> bool {
    let text = format!("schedule changed for {} {{ {} }}", nest.kernel.name, lines.join(" "));
    let Ok(change) = text.parse() else { return false };
    let schedule = nest.schedule.derived(change);
    let Ok(changed) = apply(nest.kernel, &schedule, nest.shape, nest.target) else { return false };
    let Ok(mut lowered) = lower(&changed) else { return false };
    lowered.iter_mut().all(|Lowered { loops, dispatch }| {
        simplify(loops);
        let rounds = iterations(loops, dispatch).and_then(|rounds| rounds.eval(params));
        rounds.is_none_or(|rounds| rounds <= allowed)
    })
}

/// How often an invocation goes round the loops of each axis, and what could be changed about it.
struct Rounds<'n> {
    nest: &'n Nest<'n>,
    chains: Vec<Vec<AxisId>>,
    of: Vec<u32>,
    /// Lanes of each axis, those of the changed lines included.
    lanes: Vec<u32>,
}

impl<'n> Rounds<'n> {
    /// Loops whose length only a step tells are as long as these parameters make them; without, they do not count.
    fn new(nest: &'n Nest<'n>, params: &BTreeMap<String, u32>) -> Self {
        let serial = |(i, plan): (usize, &AxisPlan)| {
            let open = || Some(most(nest, params, nest.kernel.axes[i].hi)?.div_ceil(plan.sized().max(1)).max(1));
            let loops = plan.levels.iter().filter(|l| l.kind == LevelKind::Serial);
            loops.filter_map(|l| l.size.or_else(open)).fold(1u32, u32::saturating_mul)
        };
        let lanes = nest.axes.iter().map(|plan| plan.lanes).collect();
        let mut chains = chains(nest);
        chains.sort();
        chains.dedup();
        Rounds { nest, chains, of: nest.axes.iter().enumerate().map(serial).collect(), lanes }
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
            let Some((rounds, lanes, axis, line)) = changed.min_by_key(|(rounds, _, a, _)| {
                let map = self.nest.kernel.axis(*a).kind == AxisKind::Map;
                (map, u64::from(*rounds) * 1024 / u64::from(self.of[a.0 as usize]))
            }) else {
                return Vec::new();
            };
            (self.of[axis.0 as usize], self.lanes[axis.0 as usize]) = (rounds, lanes);
            lines.push((axis, line));
        }
        lines.sort();
        lines.into_iter().map(|l| l.1).collect()
    }

    /// The rounds and lanes of an axis by a line that shares its work, if there is one.
    fn changed(&self, id: AxisId) -> Option<(u32, u32, AxisId, String)> {
        let (axis, rounds) = (self.nest.kernel.axis(id), self.of[id.0 as usize]);
        let open = [Level { kind: LevelKind::Serial, size: None, name: None }];
        let mut levels = self.nest.schedule.levels(&axis.name).unwrap_or(&open).to_vec();
        let has = |kind| levels.iter().any(|l: &Level| l.kind == kind);
        if rounds == 1 || has(LevelKind::Lanes) || has(LevelKind::Grid) {
            return None;
        }
        let (after, lanes) = match axis.kind {
            AxisKind::Map => {
                let stores = self.chains.iter().all(|c| c.contains(&id) || c.is_empty());
                let first = levels.first_mut().filter(|l| stores && l.kind == LevelKind::Serial && l.size.is_none())?;
                first.kind = LevelKind::Grid;
                let rest = levels.iter().filter(|l| l.kind == LevelKind::Serial).filter_map(|l| l.size);
                (rest.fold(1u32, u32::saturating_mul), 1)
            }
            AxisKind::Reduce => {
                let lanes = |c: &Vec<AxisId>| c.iter().fold(1u32, |p, a| p.saturating_mul(self.lanes[a.0 as usize]));
                let taken = self.chains.iter().filter(|c| c.contains(&id)).map(lanes).max().unwrap_or(1);
                let most = (self.nest.target.max_invocations / taken).min(32);
                let n = 1 << most.checked_ilog2()?;
                let at = levels.iter().rposition(|l| l.kind == LevelKind::Serial)?;
                levels[at].size = levels[at].size.map(|size| size.div_ceil(n));
                levels.insert(at + 1, Level { kind: LevelKind::Lanes, size: Some(n), name: None });
                (rounds.div_ceil(n), n)
            }
            AxisKind::Array => return None,
        };
        let words: Vec<String> = levels.iter().map(ToString::to_string).collect();
        (after < rounds).then(|| (after, lanes, id, format!("{}: {};", axis.name, words.join(", "))))
    }
}

/// The largest value of a bound of a loop under a step's parameters, where these tell it.
fn most(nest: &Nest, params: &BTreeMap<String, u32>, id: ExprId) -> Option<u32> {
    let of = |id: &ExprId| most(nest, params, *id);
    match nest.kernel.expr(id) {
        Expr::U32(n) => Some(*n),
        Expr::Extent(e) => {
            let name = &nest.kernel.extents[e.0 as usize];
            match nest.shape.get(name)? {
                Extent::Fixed(n) => Some(n),
                Extent::Param { .. } => params.get(name).copied(),
            }
        }
        Expr::Scalar(s) => params.get(&nest.kernel.scalars[s.0 as usize].name).copied(),
        Expr::Axis(a) => Some(of(&nest.kernel.axis(*a).hi)?.saturating_sub(1)),
        Expr::Binary(Binary::Add, a, b) => of(a)?.checked_add(of(b)?),
        Expr::Binary(Binary::Mul, a, b) => of(a)?.checked_mul(of(b)?),
        // What is subtracted may be as little as nothing.
        Expr::Binary(Binary::Sub, a, _) => of(a),
        Expr::Binary(Binary::Min, a, b) => of(a).into_iter().chain(of(b)).min(),
        _ => None,
    }
}
