//! The way from an algorithm to a shader, step by step, as text.
//!
//! From a kernel, a schedule and a shape it makes chapters: algorithm, schedule, nest, loop IR after each pass, what each directive
//! does, what others would do, and the shader. The rule: nothing is claimed that was not compiled; what a directive does is the
//! difference that leaving it out makes. Absent: measured times.

mod directives;

use std::fmt::Write;

use tilewright_codegen::apply::{AxisPlan, LevelPlan, Nest, apply};
use tilewright_codegen::figures::Cost;
use tilewright_codegen::program::Program;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, compile, compile_with};
use tilewright_dsl::ir::{Axis, AxisKind, Kernel};
use tilewright_dsl::schedule::{LevelKind, Schedule};

use super::compare::{Figure, figures, lines};
use super::{Language, algorithm, reason};

/// Explains how a schedule makes a shader, with the text in one language at the end.
///
/// # Errors
/// All errors of the schedule.
pub fn explain(
    kernel: &Kernel,
    schedule: &Schedule,
    shape: &Shape,
    target: &Target,
    language: Language,
) -> Result<String, CompileError> {
    let mut passes: Vec<(String, String)> = Vec::new();
    let program =
        compile_with(kernel, schedule, shape, target, &mut |pass, text| passes.push((pass.into(), text.into())))?;
    let mut out = format!("{} by {} at {shape}, for {}\n", kernel.name, schedule.name, target.name);
    chapter(&mut out, "Algorithm", &algorithm::text(kernel));
    chapter(&mut out, "Schedule", &schedule.to_string());
    if let Ok(nest) = apply(kernel, schedule, shape, target) {
        chapter(&mut out, "Nest: the schedule as numbers", &numbers(&nest, &program));
    }
    // Passes of several shaders may take turns; those of one pass come in the order of shaders.
    let after = |pass: &'static str| passes.iter().filter(move |(name, _)| name == pass).map(|(_, text)| text.as_str());
    for (i, (lowered, simplified)) in after("lower").zip(after("simplify")).enumerate() {
        let part = if program.shaders.len() == 1 { String::new() } else { format!(" of shader {i}") };
        chapter(&mut out, &format!("Loop IR{part} after `lower`"), &body(lowered));
        let against = format!("Loop IR{part} after `simplify`, against `lower`");
        chapter(&mut out, &against, &changes(&body(lowered), &body(simplified)));
    }
    let verified = "verify: barriers are uniform, types and limits hold\nvalidate: naga accepts the text\n";
    chapter(&mut out, "Checks", verified);
    let subject = Trial { kernel, schedule, shape, target, rows: rows(&program), loops: loops(&program) };
    chapter(&mut out, "What each directive does", &directives::own(&subject));
    chapter(&mut out, "What other directives would do", &directives::others(&subject));
    let texts: Vec<String> = program.shaders.iter().map(|s| language.print(s)).collect();
    chapter(&mut out, &format!("Shader in {}", language.extension().to_uppercase()), &texts.join("\n"));
    Ok(out)
}

/// What is compiled again with other directives.
struct Trial<'a> {
    kernel: &'a Kernel,
    schedule: &'a Schedule,
    shape: &'a Shape,
    target: &'a Target,
    /// Figures of the program as it is.
    rows: Vec<(String, String)>,
    /// Its loop IR, without heads.
    loops: Vec<String>,
}

/// What another schedule makes of a program.
struct Outcome {
    /// Figures that are others.
    figures: Vec<Figure>,
    /// Whether the shaders are others.
    shaders: bool,
}

impl Trial<'_> {
    /// What another schedule changes, or the first line of why it is refused.
    fn attempt(&self, schedule: &Schedule) -> Result<Outcome, String> {
        let program = compile(self.kernel, schedule, self.shape, self.target).map_err(|error| reason(&error))?;
        Ok(Outcome {
            figures: figures(&self.rows, &rows(&program)).into_iter().filter(|f| f.old != f.new).collect(),
            shaders: loops(&program) != self.loops,
        })
    }
}

/// The loop IR of every shader, without heads: what all languages are printed from.
fn loops(program: &Program) -> Vec<String> {
    program.shaders.iter().map(|shader| body(&Language::Loops.print(shader))).collect()
}

fn chapter(out: &mut String, title: &str, body: &str) {
    let _ = write!(out, "\n{title}\n{}\n", "-".repeat(title.len()));
    out.push_str(body);
}

/// The figures of a program's first shader, and how many shaders there are where there are several.
fn rows(program: &Program) -> Vec<(String, String)> {
    let Some(shader) = program.shaders.first() else { return Vec::new() };
    let several = (program.shaders.len() > 1).then(|| ("shaders".to_string(), program.shaders.len().to_string()));
    let [x, y] = &shader.dispatch;
    let size = [("workgroups".to_string(), format!("{x} x {y}").replace(" x 1", ""))];
    let invocations = ("invocations a workgroup".to_string(), shader.loops.workgroup.to_string());
    let head = several.into_iter().chain(size).chain([invocations]);
    head.chain(Cost::of(&shader.loops, &shader.dispatch).rows()).collect()
}

/// A dump without its head.
fn body(dump: &str) -> String {
    dump.lines().skip_while(|l| l.starts_with("# ")).map(|l| format!("{l}\n")).collect()
}

/// The new text with the old lines that it does not have any more.
fn changes(old: &str, new: &str) -> String {
    lines(old, new).iter().map(|l| format!("{}{}", l.sign, l.text).trim_end().to_string() + "\n").collect()
}

fn numbers(nest: &Nest, program: &Program) -> String {
    let mut out = String::new();
    for (axis, plan) in nest.kernel.axes.iter().zip(&nest.axes) {
        out += &axis_text(axis, plan);
    }
    let _ = writeln!(out, "workgroup: {} invocations", nest.workgroup);
    for tile in &nest.tiles {
        let (what, at) = nest.tile_names(tile);
        let narrow = if tile.narrow { ", narrowed to f16" } else { "" };
        let _ = writeln!(out, "tile: {what} in workgroup memory{narrow}, anew at every step of {at}");
    }
    for (tensor, layout) in nest.kernel.tensors.iter().zip(&nest.tensors) {
        let dims: Vec<String> = layout.dims.iter().map(ToString::to_string).collect();
        let ty = if layout.integer { "u32".to_string() } else { layout.storage.to_string() };
        let _ = write!(out, "{}: [{}] of {ty}, rows {} apart", tensor.name, dims.join(", "), layout.stride);
        let parts = if layout.parts.len() > 1 { format!(", in {} buffers", layout.parts.len()) } else { String::new() };
        let _ = writeln!(out, "{parts}");
    }
    for shader in &program.shaders {
        let [x, y] = &shader.dispatch;
        let _ = writeln!(out, "dispatch: {x} x {y} workgroups");
    }
    out
}

fn axis_text(axis: &Axis, plan: &AxisPlan) -> String {
    let kind = match axis.kind {
        AxisKind::Map => "outputs",
        AxisKind::Reduce => "a reduction",
        AxisKind::Array => "elements of an array",
    };
    let extent = plan.extent.map_or("a run-time number of".into(), |n| n.to_string());
    let plural = if plan.extent == Some(1) { "" } else { "s" };
    let mut out = format!("{}: {extent} value{plural} ({kind})\n", axis.name);
    for (i, level) in plan.levels.iter().enumerate() {
        let size = match plan.count(i, plan.extent) {
            Some(n) => meaning(level.kind, n),
            None => format!("as many {} as are left", meaning(level.kind, 2).trim_start_matches("2 ")),
        };
        let _ = writeln!(out, "    {size}{}", step(level));
    }
    // The values of levels further inside belong to one invocation.
    if let Some(level) = plan.levels.iter().rfind(|level| level.kind == LevelKind::Lanes).filter(|_| plan.lanes > 1) {
        let who = match level.weight {
            1 => "neighbours along it".to_string(),
            n => format!("values that are {n} apart along it"),
        };
        let _ = writeln!(out, "    {who} are {} invocation{} apart", plan.stride, s(plan.stride));
    }
    if !plan.exact {
        out += "    the last step reaches beyond the end and is masked\n";
    }
    out
}

fn meaning(kind: LevelKind, n: u32) -> String {
    let (one, many, rest) = match kind {
        LevelKind::Grid => ("workgroup", "workgroups", ""),
        LevelKind::Serial => ("round", "rounds", " of a loop"),
        LevelKind::Lanes => ("invocation", "invocations", ""),
        LevelKind::Unroll => ("copy", "copies", " in registers"),
        LevelKind::Vector => ("neighbour", "neighbours", " of one load"),
        LevelKind::Matrix => ("element", "elements", " of a fragment's side"),
    };
    format!("{n} {}{rest}", if n == 1 { one } else { many })
}

fn step(level: &LevelPlan) -> String {
    let name = level.name.as_ref().map(|name| format!(", called {name}")).unwrap_or_default();
    format!(", {} value{} apart{name}", level.weight, s(level.weight))
}

fn s(n: u32) -> &'static str {
    if n == 1 { "" } else { "s" }
}
