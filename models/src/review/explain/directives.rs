//! A schedule's directives one by one: what leaving one out changes, and what others would change, or why they are refused.

use std::fmt::Write;

use tilewright_dsl::ir::{AxisKind, Role, Type};
use tilewright_dsl::schedule::{LevelKind, Schedule, Storage};

use super::{Outcome, Trial};
use crate::review::compare::Figure;

/// Every directive of the schedule, with what changes without it.
pub fn own(trial: &Trial) -> String {
    let mut out = String::new();
    for (line, without) in left_out(trial.schedule) {
        let _ = writeln!(out, "{line}");
        match trial.attempt(&without) {
            Ok(outcome) if outcome.figures.is_empty() => {
                let _ = writeln!(out, "    without it {}", unchanged(&outcome));
            }
            Ok(outcome) => {
                out += "    without it\n";
                out += &rows(&outcome.figures);
            }
            Err(reason) => {
                let _ = writeln!(out, "    cannot be left out: {reason}");
            }
        }
    }
    if out.is_empty() {
        out += "there are none: one invocation does everything in serial loops\n";
    }
    out
}

/// Directives that the schedule does not have: those that are refused with the reason, and what the others change.
pub fn others(trial: &Trial) -> String {
    let (mut refused, mut possible) = (String::new(), String::new());
    for line in candidates(trial) {
        let text = format!("schedule {} for {} {{ {line} }}", trial.schedule.name, trial.schedule.kernel);
        let Ok(change) = text.parse::<Schedule>() else { continue };
        let mut tried = trial.schedule.derived(change);
        if tried == *trial.schedule {
            continue;
        }
        if !line.starts_with("workgroup") {
            tried.workgroup = None;
        }
        match trial.attempt(&tried) {
            Err(reason) => {
                let _ = writeln!(refused, "{line}\n    {reason}");
            }
            Ok(outcome) if outcome.figures.is_empty() => {
                let _ = writeln!(possible, "{line}\n    {}", unchanged(&outcome));
            }
            Ok(outcome) => {
                let _ = write!(possible, "{line}\n{}", rows(&outcome.figures));
            }
        }
    }
    format!("refused:\n{refused}\npossible:\n{possible}")
}

/// What is to be said where no figure is another.
fn unchanged(outcome: &Outcome) -> &'static str {
    match outcome.shaders {
        true => "no cost line changes; the shader does",
        false => "nothing changes at this shape",
    }
}

fn rows(changed: &[Figure]) -> String {
    let shown = |value: &str| if value.is_empty() { "none".to_string() } else { value.to_string() };
    changed.iter().map(|f| format!("    {}: {} -> {}\n", f.name, shown(&f.old), shown(&f.new))).collect()
}

/// Each directive as a line, and the schedule without it.
fn left_out(schedule: &Schedule) -> Vec<(String, Schedule)> {
    let text = schedule.to_string();
    let lines = text.lines().map(str::trim).filter(|l| l.ends_with(';'));
    let mut without: Vec<Schedule> = Vec::new();
    let mut add = |change: &dyn Fn(&mut Schedule)| {
        let mut other = schedule.clone();
        change(&mut other);
        without.push(other);
    };
    if schedule.workgroup.is_some() {
        add(&|s| s.workgroup = None);
    }
    for i in 0..schedule.axes.len() {
        // Its lanes go as well, so that the stated size of the workgroup is no longer right.
        add(&|s| {
            s.axes.remove(i);
            s.workgroup = None;
        });
    }
    for i in 0..schedule.folds.len() {
        add(&|s| drop(s.folds.remove(i)));
    }
    for i in 0..schedule.stages.len() {
        add(&|s| drop(s.stages.remove(i)));
    }
    for i in 0..schedule.computes.len() {
        add(&|s| drop(s.computes.remove(i)));
    }
    for i in 0..schedule.stores.len() {
        add(&|s| drop(s.stores.remove(i)));
    }
    for i in 0..schedule.tails.len() {
        add(&|s| drop(s.tails.remove(i)));
    }
    lines.map(String::from).zip(without).collect()
}

/// Lines that someone may think of.
fn candidates(trial: &Trial) -> Vec<String> {
    let (kernel, schedule) = (trial.kernel, trial.schedule);
    let mut lines = Vec::new();
    for axis in &kernel.axes {
        let name = &axis.name;
        let lanes: u32 = levels_of(schedule, name, LevelKind::Lanes);
        match axis.kind {
            AxisKind::Map => {
                lines.push(format!("{name}: grid;"));
                lines.push(format!("{name}: grid, lanes({});", if lanes == 64 { 128 } else { 64 }));
                lines.push(format!("{name}: grid, vector(4);"));
                lines.push(format!("fold {name}: tree;"));
            }
            AxisKind::Reduce => {
                lines.push(format!("{name}: grid;"));
                lines.push(format!("{name}: serial, lanes(48);"));
                lines.push(format!("{name}: serial, lanes(64), vector(4);"));
                lines.push(format!("{name}: serial, lanes({});", trial.target.max_invocations.saturating_mul(2)));
                for fold in ["serial", "subgroup"] {
                    lines.push(format!("fold {name}: {fold};"));
                }
            }
            AxisKind::Array => lines.push(format!("{name}: lanes(64);")),
        }
        lines.push(format!("tail {name}: exact;"));
    }
    for tensor in &kernel.tensors {
        let name = &tensor.name;
        if tensor.elem == Type::F32 {
            lines.push(format!("store {name}: {};", Storage::F16));
        }
        if tensor.role == Role::In
            && let Some(loops) = kernel.axes.iter().find(|a| a.kind == AxisKind::Reduce)
        {
            lines.push(format!("stage {name} at {}: workgroup;", level(schedule, &loops.name)));
        }
    }
    for value in &kernel.lets {
        if let Some(loops) = kernel.axes.iter().find(|a| a.kind == AxisKind::Reduce) {
            lines.push(format!("compute {} at {}: workgroup;", value.name, level(schedule, &loops.name)));
        }
    }
    let known = schedule.to_string();
    lines.retain(|line| !known.lines().any(|own| own.trim() == line));
    lines
}

/// The name of an axis' outermost serial level, or the axis.
fn level(schedule: &Schedule, axis: &str) -> String {
    let named = schedule.levels(axis).and_then(|levels| levels.iter().find_map(|l| l.name.clone()));
    named.unwrap_or_else(|| axis.to_string())
}

fn levels_of(schedule: &Schedule, axis: &str, kind: LevelKind) -> u32 {
    let levels = schedule.levels(axis).unwrap_or_default();
    levels.iter().filter(|l| l.kind == kind).filter_map(|l| l.size).product()
}
