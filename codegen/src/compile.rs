//! The pass list, on one screen.

use crate::apply::{Nest, try_apply};
use crate::cost;
use crate::error::ScheduleError;
use crate::figures::Cost;
use crate::iterations::iterations;
use crate::loops::LoopIr;
use crate::lower::{Lowered, lower};
use crate::program::{Count, Program, Shader};
use crate::shape::{Extent, Shape};
use crate::simplify::simplify;
use crate::target::Target;
use crate::validate::{Bug, validate};
use crate::verify::verify;
use crate::wgsl::{Dialect, print};
use crate::{text, usage};
use std::collections::BTreeMap;
use thiserror::Error;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::Schedule;

/// Why a kernel did not become a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CompileError {
    /// The author's or the device's limit: all that is wrong with the schedule.
    #[error("{}", all(schedule, errors))]
    Schedule {
        /// The schedule.
        schedule: Box<Schedule>,
        /// What is wrong, at least one thing.
        errors: Vec<ScheduleError>,
    },
    /// The compiler's own mistake.
    #[error(transparent)]
    Bug(#[from] Box<Bug>),
}

/// One message after another.
fn all(schedule: &Schedule, errors: &[ScheduleError]) -> String {
    let messages: Vec<String> = errors.iter().map(|e| e.render(schedule)).collect();
    messages.join("\n").trim_end().into()
}

/// Compiles a kernel by a schedule for a shape and a target.
///
/// # Errors
/// All errors of the schedule at once, or a bug of the compiler.
pub fn compile(kernel: &Kernel, schedule: &Schedule, shape: &Shape, target: &Target) -> Result<Program, CompileError> {
    compile_with(kernel, schedule, shape, target, &mut |_, _| {})
}

/// [`compile`], showing the text after each pass: its name and the IR or shader.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(
    kernel: &Kernel,
    schedule: &Schedule,
    shape: &Shape,
    target: &Target,
    after: &mut dyn FnMut(&str, &str),
) -> Result<Program, CompileError> {
    let refuse = |errors| CompileError::Schedule { schedule: Box::new(schedule.clone()), errors };
    let bug = |pass, message, text| {
        let schedule = schedule.to_string();
        CompileError::Bug(Box::new(Bug { pass, kernel: kernel.name.clone(), schedule, message, text }))
    };
    let (nest, mut errors) = try_apply(kernel, schedule, shape, target);
    let Some(nest) = nest else { return Err(refuse(errors)) };
    let mut lowered = lower(&nest).unwrap_or_else(|found| {
        errors.extend(found);
        Vec::new()
    });
    for (i, Lowered { loops, .. }) in lowered.iter_mut().enumerate() {
        loops.head = head(kernel, schedule, shape, target);
        loops.head.extend(part(&nest, i));
        after("lower", &text::dump(loops));
        simplify(loops);
        after("simplify", &text::dump(loops));
    }
    let iterations: Vec<Option<Count>> = lowered.iter().map(|l| iterations(&l.loops, &l.dispatch)).collect();
    errors.extend(cost::too_many_operations(&nest, &lowered));
    errors.extend(cost::too_many_iterations(&nest, &iterations));
    if !errors.is_empty() {
        return Err(refuse(errors));
    }
    let mut shaders = Vec::new();
    for (Lowered { mut loops, dispatch }, iterations) in lowered.into_iter().zip(iterations) {
        let broken: Vec<String> = verify(&loops, target).iter().map(ToString::to_string).collect();
        if !broken.is_empty() {
            return Err(bug("verify", broken.join("\n"), text::dump(&loops)));
        }
        let cost = Cost::of(&loops, &dispatch);
        loops.head.push(size(&loops, &dispatch));
        loops.head.extend(cost.lines());
        let wgsl = print(&loops, Dialect::Native);
        after("print", &wgsl);
        validate(&wgsl, target).map_err(|message| bug("validate", message, wgsl.clone()))?;
        let subgroups = usage::uses_subgroups(&loops);
        shaders.push(Shader { loops, wgsl, dispatch, subgroups, iterations });
    }
    let (name, schedule) = (kernel.name.clone(), schedule.name.clone());
    let capacities = capacities(kernel, shape);
    Ok(Program { kernel: name, schedule, tensors: nest.tensors.clone(), shaders, capacities })
}

/// The extents of a kernel that are known at run time only, and how large they can be.
fn capacities(kernel: &Kernel, shape: &Shape) -> BTreeMap<String, u32> {
    let capacity = |name: &String| match shape.get(name) {
        Some(Extent::Param { capacity }) => Some((name.clone(), capacity)),
        _ => None,
    };
    kernel.extents.iter().filter_map(capacity).collect()
}

/// Whether the device runs all rounds of the loops of a step with these parameters; `program` is what [`compile`] made of the rest.
///
/// # Errors
/// [`ScheduleError::TooManyIterations`].
pub fn check_step(
    kernel: &Kernel,
    schedule: &Schedule,
    shape: &Shape,
    target: &Target,
    program: &Program,
    params: &BTreeMap<String, u32>,
) -> Result<(), CompileError> {
    match cost::too_many_iterations_of_step((kernel, schedule, shape, target), program, params) {
        Some(error) => Err(CompileError::Schedule { schedule: Box::new(schedule.clone()), errors: vec![error] }),
        None => Ok(()),
    }
}

/// The lines that every shader begins with: kernel, shape, target, and the schedule's text.
fn head(kernel: &Kernel, schedule: &Schedule, shape: &Shape, target: &Target) -> Vec<String> {
    let (kernel, target) = (&kernel.name, &target.name);
    let mut lines = vec![format!("kernel {kernel}, shape {shape}, schedule {}, target {target}", schedule.name)];
    lines.extend(schedule.to_string().lines().map(String::from));
    lines
}

/// How large the dispatch is.
fn size(loops: &LoopIr, [x, y]: &[Count; 2]) -> String {
    let groups = if *y == Count::Const(1) { x.to_string() } else { format!("({x}) x ({y})") };
    let some = |n: bool, what: &str| format!("{what}{}", if n { "" } else { "s" });
    let workgroups = some(*x == Count::Const(1) && *y == Count::Const(1), "workgroup");
    format!("dispatch {groups} {workgroups} of {} {}", loops.workgroup, some(loops.workgroup == 1, "invocation"))
}

/// Which rows of a tensor a shader sees, where a program has one for each binding's worth.
fn part(nest: &Nest, i: usize) -> Option<String> {
    let part = nest.parts.get(i).copied().flatten()?;
    let tensor = &nest.kernel.tensor(part.tensor).name;
    let (first, last) = (grouped(part.start), grouped(part.start + part.rows.saturating_sub(1)));
    Some(format!("part {} of {}: rows {first} to {last} of {tensor}", i + 1, nest.parts.len()))
}

/// A number with its thousands apart.
fn grouped(n: u32) -> String {
    let digits = n.to_string();
    let comma = |i: usize| i > 0 && (digits.len() - i).is_multiple_of(3);
    digits.char_indices().flat_map(|(i, d)| comma(i).then_some(',').into_iter().chain([d])).collect()
}
