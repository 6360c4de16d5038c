//! `shaders`: what kernels become.
//!
//! From a kernel's name, a schedule's and a shape it makes the text that a driver, a browser or a reviewer reads. The rule: the target is
//! the least WebGPU device with subgroups of any size, or a wide one where a schedule needs it, so that what is shown depends on no
//! machine. Absent: an adapter.

use std::path::Path;

use tilewright_codegen::shape::{Extent, Shape};
use tilewright_codegen::target::Target;
use tilewright_codegen::wgsl::{self, Dialect};
use tilewright_codegen::{compile, hlsl, text};
use tilewright_dsl::ir::{Axis, AxisKind, Expr, ExprId, Kernel};
use tilewright_dsl::schedule::Schedule;

use super::args::{ShadersCommand, ShapeArg, ShowArgs, TextArg};
use super::error::CliError;
use super::names::suggest;
use super::{export, model, output};
use crate::kernels::{self, Entry};
use crate::review;

/// Runs the command.
pub fn run(args: &ShadersCommand) -> Result<(), CliError> {
    match args {
        ShadersCommand::List { kernel: None } => list(),
        ShadersCommand::List { kernel: Some(name) } => list_one(name),
        ShadersCommand::Show(args) => show(args),
        ShadersCommand::Export(args) => export::run(args),
    }
}

fn list() -> Result<(), CliError> {
    let mut out = String::new();
    for Entry { kernel, schedules, .. } in kernels::all() {
        let axes = kernel.axes.iter().map(|a| axis(&kernel, a)).collect();
        let named = kernel.lets.iter().map(|l| l.name.clone()).collect();
        let tensors = kernel.tensors.iter().map(|t| t.name.clone()).collect();
        let schedules = with_empty(&kernel, schedules).into_iter().map(|s| s.name).collect();
        out += &format!("{}  {}\n", kernel.name, sentence(&kernel.doc));
        let extents = kernel.extents.clone();
        let lines: [(&str, Vec<String>); 5] =
            [("axes", axes), ("lets", named), ("tensors", tensors), ("schedules", schedules), ("extents", extents)];
        for (what, names) in lines.into_iter().filter(|(_, names)| !names.is_empty()) {
            out += &format!("  {what} {}\n", names.join(", "));
        }
    }
    output::out(&out)
}

/// The first sentence of a comment, however many lines it has.
fn sentence(doc: &str) -> String {
    let words = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.find(". ") {
        Some(end) => words[..=end].to_string(),
        None => words,
    }
}

/// An axis's name, and what a schedule has to know of it.
fn axis(kernel: &Kernel, axis: &Axis) -> String {
    let kind = match axis.kind {
        AxisKind::Map => None,
        AxisKind::Reduce => Some("reduction"),
        AxisKind::Array => Some("array of a monoid"),
    };
    let bounds = [axis.lo, axis.hi].into_iter().any(|bound| at_run_time(kernel, bound));
    let marks: Vec<&str> = kind.into_iter().chain(bounds.then_some("run-time length")).collect();
    if marks.is_empty() { axis.name.clone() } else { format!("{} ({})", axis.name, marks.join(", ")) }
}

/// Whether a bound of an axis is known at run time only, in the graphs of a model: it depends on a scalar, on `T` or on another axis.
fn at_run_time(kernel: &Kernel, bound: ExprId) -> bool {
    match kernel.expr(bound) {
        Expr::Scalar(_) | Expr::Axis(_) => true,
        Expr::Extent(extent) => kernel.extents.get(extent.0 as usize).is_some_and(|name| name == "T"),
        Expr::Unary(_, x) => at_run_time(kernel, *x),
        Expr::Binary(_, x, y) => at_run_time(kernel, *x) || at_run_time(kernel, *y),
        Expr::Select(c, x, y) => [c, x, y].into_iter().any(|e| at_run_time(kernel, *e)),
        _ => false,
    }
}

/// The schedules of one kernel as text that reads back.
fn list_one(name: &str) -> Result<(), CliError> {
    let texts: Vec<String> = entry(name)?.schedules.iter().map(|s| format!("{}\n", s.to_string().trim_end())).collect();
    output::out(&texts.join("\n"))
}

/// The kernel of that name.
pub fn entry(name: &str) -> Result<Entry, CliError> {
    kernels::named(name).ok_or_else(|| {
        let names: Vec<String> = kernels::all().into_iter().map(|e| e.kernel.name).collect();
        CliError::usage(format!("there is no kernel `{name}`"), suggest(name, &names))
    })
}

/// The schedule that is asked for: by its name, else the only one of a file, else `empty`.
pub fn chosen(entry: &Entry, file: Option<&Path>, name: Option<&str>) -> Result<Schedule, CliError> {
    match (name, file) {
        (Some(name), file) => schedule(entry, file, name),
        (None, Some(file)) => only(entry, file),
        (None, None) => Ok(Schedule::empty(&entry.kernel.name)),
    }
}

/// The schedule of that name: one of a file, else one of the kernel's, `empty` included.
pub fn schedule(entry: &Entry, file: Option<&Path>, name: &str) -> Result<Schedule, CliError> {
    let kernel = &entry.kernel.name;
    let mut schedules = with_empty(&entry.kernel, entry.schedules.clone());
    let given = model::schedules(file)?;
    if let (Some(path), Some(other)) = (file, given.iter().find(|s| s.name == name && s.kernel != *kernel))
        && !given.iter().any(|s| s.name == name && s.kernel == *kernel)
    {
        let message = format!(
            "schedule `{name}` of --schedules {} is for kernel `{}`, not for `{kernel}`",
            path.display(),
            other.kernel
        );
        return Err(CliError::usage(message, format!("name kernel `{}`, or another schedule", other.kernel)));
    }
    // A file's schedule goes before one of the same name.
    schedules.splice(0..0, given.into_iter().filter(|s| s.kernel == *kernel));
    let names: Vec<String> = schedules.iter().map(|s| s.name.clone()).collect();
    schedules.into_iter().find(|s| s.name == name).ok_or_else(|| {
        let message = format!("kernel `{kernel}` has no schedule `{name}`");
        CliError::usage(message, suggest(name, &names))
    })
}

/// The schedule for the kernel in a file that has one.
fn only(entry: &Entry, file: &Path) -> Result<Schedule, CliError> {
    let kernel = &entry.kernel.name;
    let given = model::schedules(Some(file))?;
    let path = file.display();
    let named = |schedules: &[&Schedule], text: fn(&Schedule) -> String| {
        schedules.iter().map(|s| text(s)).collect::<Vec<_>>().join(", ")
    };
    let (own, others): (Vec<&Schedule>, Vec<&Schedule>) = given.iter().partition(|s| s.kernel == *kernel);
    match own[..] {
        [one] => Ok(one.clone()),
        [] => Err(CliError::usage(
            format!(
                "--schedules {path} has no schedule for kernel `{kernel}`; found {}",
                named(&others, |s| format!("`{}` for `{}`", s.name, s.kernel))
            ),
            format!("leave --schedules out, or write one `for {kernel}`"),
        )),
        _ => Err(CliError::usage(
            format!("--schedules {path} has {} schedules for kernel `{kernel}`; expected to be told which", own.len()),
            format!("add --schedule with one of {}", named(&own, |s| s.name.clone())),
        )),
    }
}

/// The empty schedule, which every kernel has, and the others.
fn with_empty(kernel: &Kernel, schedules: Vec<Schedule>) -> Vec<Schedule> {
    let empty = Schedule::empty(&kernel.name);
    std::iter::once(empty).chain(schedules).collect()
}

fn show(args: &ShowArgs) -> Result<(), CliError> {
    let entry = entry(&args.kernel)?;
    let schedule = chosen(&entry, args.schedules.as_deref(), args.schedule.as_deref())?;
    let shape = shape(&args.shape, &entry)?;
    let program = compile(&entry.kernel, &schedule, &shape, &target(&entry.kernel, &schedule, &shape))?;
    let inexpressible = program.shaders.iter().find_map(|shader| hlsl::inexpressible(&shader.loops));
    if let Some(why) = inexpressible.filter(|_| args.target == TextArg::Hlsl) {
        let (kernel, schedule) = (entry.kernel.name, schedule.name);
        return Err(CliError::Inexpressible { kernel, schedule, why });
    }
    let texts: Vec<String> = program
        .shaders
        .iter()
        .map(|shader| match args.target {
            TextArg::Wgsl => shader.wgsl.clone(),
            TextArg::WgslWeb => wgsl::print(&shader.loops, Dialect::Web),
            TextArg::Hlsl => hlsl::print(&shader.loops),
            TextArg::Loops => text::dump(&shader.loops),
        })
        .collect();
    output::out(&texts.join("\n"))
}

/// What it is compiled for; where that is not the least device, a note on stderr says why.
pub fn target(kernel: &Kernel, schedule: &Schedule, shape: &Shape) -> Target {
    let (target, why) = review::choice(kernel, schedule, shape);
    why.iter().for_each(|why| output::note(why));
    target
}

/// The kernel's typical extents, with those of `--shape` in their places.
pub fn shape(asked: &ShapeArg, entry: &Entry) -> Result<Shape, CliError> {
    let (kernel, mut shape) = (&entry.kernel, entry.shape.clone());
    for (asked, extent) in &asked.0 {
        let name = kernel.extents.iter().find(|name| name.eq_ignore_ascii_case(asked)).ok_or_else(|| {
            let message = format!("--shape names `{asked}`, which is no extent of kernel `{}`", kernel.name);
            CliError::usage(message, suggest(asked, &kernel.extents))
        })?;
        shape = match extent {
            Extent::Fixed(n) => shape.fixed(name, *n),
            Extent::Param { capacity } => shape.param(name, *capacity),
        };
    }
    Ok(shape)
}
