//! `shaders`: what kernels become.
//!
//! From a kernel's name, a schedule's and a shape it makes the text that a driver, a browser or a reviewer reads. The rule: the target is
//! the least WebGPU device with subgroups of any size, so that what is shown depends on no machine. Absent: an adapter.

use tilewright_codegen::shape::{Extent, Shape};
use tilewright_codegen::target::Target;
use tilewright_codegen::wgsl::{self, Dialect};
use tilewright_codegen::{compile, text};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::Schedule;

use super::args::{ShadersCommand, ShapeArg, ShowArgs, TextArg};
use super::error::CliError;
use super::names::suggest;
use super::{model, output};
use crate::config::Config;
use crate::kernels;
use crate::synth::preset;

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
        let Kernel { name, extents, doc, .. } = &entry.kernel;
        out += &format!("{name} [{}]  {}\n", extents.join(", "), doc.trim().lines().next().unwrap_or_default());
        for schedule in with_empty(&entry.kernel, entry.schedules) {
            out += &format!("  {}\n", schedule.name);
        }
    }
    output::out(&out)
}

/// The empty schedule, which every kernel has, and the others.
fn with_empty(kernel: &Kernel, schedules: Vec<Schedule>) -> Vec<Schedule> {
    let empty = Schedule::empty(&kernel.name);
    std::iter::once(empty).chain(schedules).collect()
}

fn show(args: &ShowArgs) -> Result<(), CliError> {
    let all = kernels::all();
    let names: Vec<String> = all.iter().map(|e| e.kernel.name.clone()).collect();
    let entry = all.into_iter().find(|e| e.kernel.name == args.kernel).ok_or_else(|| {
        CliError::usage(format!("there is no kernel `{}`", args.kernel), suggest(&args.kernel, &names))
    })?;
    let kernel = entry.kernel;
    let mut schedules = with_empty(&kernel, entry.schedules);
    // A file's schedule goes before one of the same name.
    schedules
        .splice(0..0, model::schedules(args.schedules.as_deref())?.into_iter().filter(|s| s.kernel == kernel.name));
    let names: Vec<String> = schedules.iter().map(|s| s.name.clone()).collect();
    let schedule = schedules.iter().find(|s| s.name == args.schedule).ok_or_else(|| {
        let message = format!("kernel `{}` has no schedule `{}`", kernel.name, args.schedule);
        CliError::usage(message, suggest(&args.schedule, &names))
    })?;

    let shape = shape(&args.shape, &kernel, &preset("qwen2.5-0.5b")?)?;
    let program = compile(&kernel, schedule, &shape, &Target::webgpu_subgroups())?;
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

/// Positions of the cache in a default shape.
const POSITIONS: u32 = 4096;

/// The kernel's extents in a decode step of `config`, with those of `--shape` in their places.
fn shape(asked: &ShapeArg, kernel: &Kernel, config: &Config) -> Result<Shape, CliError> {
    let heads = kernel.extents.iter().any(|e| e == "H" || e == "G");
    let mut shape = Shape::new();
    for name in &kernel.extents {
        let n = match name.as_str() {
            "T" => 1,
            "V" => config.vocab_size as u32,
            "H" => config.num_attention_heads as u32,
            "G" => config.num_key_value_heads as u32,
            "P" => POSITIONS,
            "F" => config.head_dim as u32 / 2,
            "D" if heads => config.head_dim as u32,
            _ => config.hidden_size as u32,
        };
        shape = shape.fixed(name, n);
    }
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
