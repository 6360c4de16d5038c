//! `shaders`: what kernels become.

use super::args::{ShadersCommand, ShowArgs, TextArg};
use super::error::CliError;
use super::names::suggest;
use super::output;
use crate::kernels::{self, Entry};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::wgsl::{self, Dialect};
use tilewright_codegen::{compile, text};
use tilewright_dsl::schedule::Schedule;

/// Runs the command.
pub fn run(args: &ShadersCommand) -> Result<(), CliError> {
    match args {
        ShadersCommand::List => list(),
        ShadersCommand::Show(args) => show(args),
    }
}

fn list() -> Result<(), CliError> {
    let mut out = String::new();
    for entry in kernels::all() {
        let extents = entry.kernel.extents.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        out += &format!("{} [{extents}]\n", entry.kernel.name);
        for schedule in schedules(&entry) {
            out += &format!("  {}\n", schedule.name);
        }
    }
    output::out(&out)
}

/// The empty schedule, and those written for the kernel.
fn schedules(entry: &Entry) -> Vec<Schedule> {
    let empty = Schedule::empty(&entry.kernel.name);
    std::iter::once(empty).chain(entry.schedules.iter().cloned()).collect()
}

fn show(args: &ShowArgs) -> Result<(), CliError> {
    let all = kernels::all();
    let names: Vec<&str> = all.iter().map(|e| e.kernel.name.as_str()).collect();
    let entry = all.iter().find(|e| e.kernel.name == args.kernel).ok_or_else(|| {
        CliError::usage(format!("there is no kernel `{}`", args.kernel), suggest(&args.kernel, &names))
    })?;
    let schedules = schedules(entry);
    let names: Vec<&str> = schedules.iter().map(|s| s.name.as_str()).collect();
    let schedule = schedules.iter().find(|s| s.name == args.schedule).ok_or_else(|| {
        let message = format!("kernel `{}` has no schedule `{}`", args.kernel, args.schedule);
        CliError::usage(message, suggest(&args.schedule, &names))
    })?;

    let program = compile(&entry.kernel, schedule, &shape(args, entry)?, &Target::webgpu_subgroups())?;
    let texts: Vec<String> = program
        .shaders
        .iter()
        .map(|shader| match args.target {
            TextArg::Wgsl => shader.wgsl.clone(),
            TextArg::WgslWeb => wgsl::print(&shader.loops, Dialect::Web),
            TextArg::Loops => text::dump(&shader.loops),
        })
        .collect();
    output::out(&texts.join("\n"))
}

/// The entry's own shape with the extents of `--shape` in their places.
fn shape(args: &ShowArgs, entry: &Entry) -> Result<Shape, CliError> {
    let names: Vec<&str> = entry.kernel.extents.iter().map(String::as_str).collect();
    let mut shape = entry.shape.clone();
    for (asked, n) in &args.shape.0 {
        let name = names.iter().find(|name| name.eq_ignore_ascii_case(asked)).ok_or_else(|| {
            let message = format!("--shape names `{asked}`, which is no extent of kernel `{}`", entry.kernel.name);
            CliError::usage(message, suggest(asked, &names))
        })?;
        shape = shape.fixed(name, *n);
    }
    Ok(shape)
}
