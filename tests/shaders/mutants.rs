//! Damage to the loop IR of real kernels is found: by `verify`, by the interpreter's checks, or in the result.

use crate::cases::{Case, family};
use crate::gates::{self, Tensors};
use crate::mutate::mutants;
use std::collections::BTreeMap;
use tilewright_codegen::interp::Stats;
use tilewright_codegen::program::Program;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_codegen::verify::verify;
use tilewright_codegen::{compile, text};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{Fold, Schedule};
use tilewright_models::kernels;

/// What is right at one shape.
struct Expected {
    case: Case,
    inputs: Tensors,
    tensors: Tensors,
    stats: Vec<(u32, Vec<Stats>)>,
}

/// Kernel, schedule, and a small shape at which every guard matters.
const SUBJECTS: &[(&str, &str, &[(&str, u32)])] = &[
    ("linear", "coalesced", &[("T", 2), ("R", 11), ("K", 300)]),
    ("linear", "subgroup", &[("T", 2), ("R", 11), ("K", 300)]),
    ("linear", "tiled", &[("T", 66), ("R", 70), ("K", 20)]),
    ("rmsnorm", "row", &[("T", 2), ("D", 261)]),
    ("softmax", "row", &[("R", 2), ("C", 70)]),
    ("attention", "columns", &[("T", 2), ("H", 6), ("G", 2), ("D", 12), ("P", 150), ("pos", 66)]),
    ("argmax", "tree", &[("T", 2), ("V", 300)]),
];

/// Damage that changes nothing, each with its reason.
const HARMLESS: &[(&str, &str, &str)] = &[];

fn target() -> Target {
    Target { subgroups: Some(Subgroups { min: 1, max: 128 }), ..Target::webgpu() }
}

fn case(kernel: &str, sizes: &[(&str, u32)]) -> (Case, Shape) {
    let family = family(kernel);
    let mut extents = BTreeMap::new();
    let mut scalars: BTreeMap<String, u32> = family.scalars.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let mut shape = Shape::new();
    for (name, n) in sizes {
        if scalars.contains_key(*name) {
            scalars.insert(name.to_string(), *n);
        } else {
            extents.insert(name.to_string(), *n);
            let run_time = family.run_time.contains(name);
            shape = if run_time { shape.param(name, n + 2) } else { shape.fixed(name, *n) };
        }
    }
    (Case { extents, scalars }, shape)
}

/// How a program is found out, if it is.
fn caught(kernel: &Kernel, program: &Program, want: &Expected) -> Option<&'static str> {
    if program.shaders.iter().any(|s| !verify(&s.loops, &target()).is_empty()) {
        return Some("verify");
    }
    for (size, stats) in &want.stats {
        let Ok((tensors, seen)) = gates::watch(kernel, program, &want.case, &want.inputs, *size) else {
            return Some("interp");
        };
        let counts = |all: &[Stats]| all.iter().map(|s| s.written.clone()).collect::<Vec<_>>();
        if counts(&seen) != counts(stats) || gates::difference(&want.tensors, &tensors) > 2e-5 {
            return Some("result");
        }
    }
    None
}

fn subject(kernel: &str, schedule: &str) -> (Kernel, Schedule) {
    let entry = kernels::named(kernel).expect("the kernel is in the list");
    let schedule = entry.schedules.into_iter().find(|s| s.name == schedule).expect("the schedule is in the list");
    (entry.kernel, schedule)
}

#[test]
fn damage_to_real_kernels_is_found() {
    let mut missed = Vec::new();
    let mut ways: BTreeMap<&str, u32> = BTreeMap::new();
    for (kernel, schedule, sizes) in SUBJECTS {
        let (kernel, schedule) = subject(kernel, schedule);
        let (case, shape) = case(&kernel.name, sizes);
        let program = compile(&kernel, &schedule, &shape, &target()).unwrap_or_else(|e| panic!("{e}"));
        let inputs = gates::inputs(&kernel, &case, 7);
        let tensors = gates::reference(&kernel, &case, &inputs);
        let subgroups = schedule.folds.iter().any(|f| f.1 == Fold::Subgroup);
        let widths: &[u32] = if subgroups { &[8, 1, 64] } else { &[8] };
        let run = |size: &u32| {
            let watched = gates::watch(&kernel, &program, &case, &inputs, *size);
            (*size, watched.unwrap_or_else(|e| panic!("{}: {e}", schedule.name)).1)
        };
        let stats = widths.iter().map(run).collect();
        let want = Expected { case, inputs, tensors, stats };
        assert_eq!(caught(&kernel, &program, &want), None, "{} by {} is right as it is", kernel.name, schedule.name);
        for (name, damaged) in mutants(&program.shaders[0].loops) {
            let mut mutant = program.clone();
            mutant.shaders[0].loops = damaged;
            match caught(&kernel, &mutant, &want) {
                Some(way) => *ways.entry(way).or_default() += 1,
                None if HARMLESS.iter().any(|h| (h.0, h.1) == (schedule.name.as_str(), name.as_str())) => {}
                None => {
                    let changed = changed(&program.shaders[0].loops, &mutant.shaders[0].loops);
                    missed.push(format!("{} by {}: {name}\n{changed}", kernel.name, schedule.name));
                }
            }
        }
    }
    println!("found by: {ways:?}");
    assert!(missed.is_empty(), "{} mutants are not found:\n{}", missed.len(), missed.join("\n"));
    assert!(ways.len() == 3 && ways.values().all(|n| *n > 10), "{ways:?}");
}

/// The lines that differ.
fn changed(one: &tilewright_codegen::loops::LoopIr, other: &tilewright_codegen::loops::LoopIr) -> String {
    let (one, other) = (text::dump(one), text::dump(other));
    let lines = |a: &str, b: &str, sign: &str| {
        let known: Vec<&str> = b.lines().collect();
        a.lines().filter(|l| !known.contains(l)).map(|l| format!("  {sign} {l}\n")).collect::<String>()
    };
    lines(&one, &other, "-") + &lines(&other, &one, "+")
}
