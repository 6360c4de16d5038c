//! Damage to the loop IR of real kernels is found: by `verify`, by the interpreter's checks, or in the result.

use crate::cases::{Case, family};
use crate::gates::{self, Tensors};
use crate::mutate::{OF_SCALES, mutants};
use std::collections::{BTreeMap, BTreeSet};
use tilewright_codegen::interp::Stats;
use tilewright_codegen::program::Program;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_codegen::verify::verify;
use tilewright_codegen::{compile, text};
use tilewright_dsl::eval::Data;
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

/// Extents and scalars by name.
type Sizes = &'static [(&'static str, u32)];

/// A schedule of a real kernel, made small by the lines of `change`, a shape at which every guard matters, and what is
/// different in further runs of the same program.
struct Subject {
    kernel: &'static str,
    schedule: &'static str,
    change: &'static str,
    shape: Sizes,
    runs: &'static [Sizes],
}

const SUBJECTS: &[Subject] = &[
    Subject {
        kernel: "linear",
        schedule: "coalesced",
        change: "workgroup 16; r: grid, lanes(2), unroll(2); k: serial, lanes(8), vector(4);",
        shape: &[("T", 2), ("R", 7), ("K", 73)],
        runs: &[],
    },
    Subject {
        kernel: "linear",
        schedule: "subgroup",
        change: "workgroup 16; r: grid, lanes(2), unroll(2); k: serial, lanes(8), vector(4);",
        shape: &[("T", 2), ("R", 7), ("K", 73)],
        runs: &[],
    },
    Subject {
        kernel: "linear",
        schedule: "tiled",
        change: "workgroup 16; t: grid, lanes(4), unroll(2); r: grid, lanes(4), unroll(2); k: serial as ko, serial(4);",
        shape: &[("T", 10), ("R", 13), ("K", 10)],
        runs: &[&[("T", 8)], &[("T", 3)]],
    },
    Subject {
        kernel: "linear",
        schedule: "matrix",
        change: "workgroup 8; t: grid, lanes(1), unroll(2), matrix(8); r: grid, lanes(2), unroll(1), matrix(8);
            k: serial as ko, serial(1), matrix(8); stage w at ko: workgroup f16; stage x at ko: workgroup f16;",
        shape: &[("T", 38), ("R", 13), ("K", 20)],
        runs: &[&[("T", 40)], &[("T", 3)]],
    },
    Subject {
        kernel: "linear",
        schedule: "row",
        change: "r: grid, unroll(2); k: serial, lanes(4), vector(8); store w: int8(channel);",
        shape: &[("T", 2), ("R", 7), ("K", 72)],
        runs: &[],
    },
    Subject {
        kernel: "linear",
        schedule: "coalesced",
        change: "workgroup 64; r: grid, lanes(8), unroll(2); k: serial, lanes(8), vector(8); store w: nf4(64);",
        shape: &[("T", 2), ("R", 19), ("K", 200)],
        runs: &[],
    },
    Subject {
        kernel: "rmsnorm",
        schedule: "row",
        change: "j: serial, lanes(8), vector(4); i: serial, lanes(8), vector(4);",
        shape: &[("T", 2), ("D", 37), ("eps", 0x3f00_0000)],
        runs: &[],
    },
    Subject {
        kernel: "softmax",
        schedule: "row",
        change: "i: serial, lanes(8); j: serial, lanes(8); c: serial, lanes(8);",
        shape: &[("R", 21), ("C", 21)],
        runs: &[],
    },
    Subject {
        kernel: "attention",
        schedule: "columns",
        change: "j: serial as jo, serial(8); softmax.c: lanes(16); c: lanes(16); d: serial, vector(4);",
        shape: &[("T", 2), ("H", 6), ("G", 2), ("D", 5), ("P", 17), ("pos", 15)],
        runs: &[&[("pos", 7)], &[("T", 1), ("pos", 8)], &[("T", 1), ("pos", 0)]],
    },
    Subject {
        kernel: "argmax",
        schedule: "tree",
        change: "v: serial, lanes(8);",
        shape: &[("T", 40), ("V", 21)],
        runs: &[&[("limit", 3)], &[("T", 41)]],
    },
    Subject {
        kernel: "topk_rank",
        schedule: "ranks",
        change: "workgroup 16; m: grid, lanes(4); j: serial, unroll(2), lanes(4);",
        shape: &[("T", 2), ("M", 46)],
        runs: &[&[("T", 3)]],
    },
    Subject {
        kernel: "topk_first",
        schedule: "places",
        change: "workgroup 4; k: grid; m: serial, unroll(2), lanes(4);",
        shape: &[("T", 2), ("M", 21), ("K", 12)],
        runs: &[&[("T", 3)]],
    },
];

/// What stands where no element is: a result must not depend on it.
const PADDING: f32 = 1e4;

/// Damage that changes no result: kernel, kind and place, reason.
const HARMLESS: &[(&str, &str, &str)] = &[
    ("linear", "loosen a guard #3", "the last step of a tree, where rows are codes"),
    ("linear", "another operator #15", "every lane's copy of the table of levels is as good"),
    ("linear", "loosen a guard #5", "the last step of a tree: what other lanes add then is read by nobody"),
    ("linear", "swap operands #4", "a stored row is clamped, and stored only where a guard finds it inside already"),
    ("linear", "swap operands #5", "the same for the second row"),
    ("linear", "one step more #0", "a tile of k behind the last one: its elements are zeros"),
    ("attention", "one step more #0", "a tile of positions behind the last one: loads are clamped, merges are masked"),
    ("attention", "another identity #1", "the identity's weight is multiplied by e^(LOWEST - m), which is 0"),
    ("attention", "another identity #2", "the same for its value"),
    ("attention", "another identity #3", "softmax does not change when all scores grow by the same number"),
    ("topk_first", "one step more #0", "a place behind the row is no place: what is found there counts as nothing"),
    ("topk_first", "drop a guard #0", "the same"),
    ("topk_first", "loosen a guard #0", "the same"),
    ("argmax", "loosen a guard #2", "the last step of a tree: what other lanes add then is read by nobody"),
    ("argmax", "drop a statement #12", "the last step of a tree: the largest value itself is not asked for"),
    ("argmax", "swap the arms of a select #8", "the same: the largest value itself is not asked for"),
];

fn target(schedule: &str) -> Target {
    match schedule {
        "matrix" => Target { subgroups: Some(Subgroups { min: 4, max: 4 }), fragments: vec![8], ..Target::webgpu() },
        _ => Target { subgroups: Some(Subgroups { min: 1, max: 128 }), ..Target::webgpu() },
    }
}

/// The runs of a subject and its shape.
fn cases(subject: &Subject) -> (Vec<Case>, Shape) {
    let family = family(subject.kernel);
    let scalars: BTreeMap<String, u32> = family.scalars.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let mut shape = Shape::new();
    for (name, n) in subject.shape.iter().filter(|(name, _)| !scalars.contains_key(*name)) {
        let run_time = family.run_time.contains(name);
        shape = if run_time { shape.param(name, n + 2) } else { shape.fixed(name, *n) };
    }
    let run = |sizes: &Sizes| {
        let mut case = Case { extents: BTreeMap::new(), scalars: scalars.clone() };
        for (name, n) in subject.shape.iter().chain(*sizes) {
            let scalar = scalars.contains_key(*name);
            if scalar { &mut case.scalars } else { &mut case.extents }.insert(name.to_string(), *n);
        }
        case
    };
    let all: &[Sizes] = &[&[]];
    (all.iter().chain(subject.runs).map(run).collect(), shape)
}

/// How a program is found out, if it is.
fn caught(kernel: &Kernel, program: &Program, want: &Expected) -> Option<&'static str> {
    if program.shaders.iter().any(|s| !verify(&s.loops, &target(&program.schedule)).is_empty()) {
        return Some("verify");
    }
    for (size, stats) in &want.stats {
        let Ok((tensors, seen)) = gates::watch(kernel, program, &want.case, &want.inputs, *size, PADDING) else {
            return Some("interp");
        };
        let counts = |all: &[Stats]| all.iter().map(|s| s.written.clone()).collect::<Vec<_>>();
        if counts(&seen) != counts(stats) || gates::difference(&want.tensors, &tensors) > 2e-5 {
            return Some("result");
        }
    }
    None
}

fn applied(s: &Subject) -> (Kernel, Schedule) {
    let entry = kernels::named(s.kernel).expect("the kernel is in the list");
    let schedule = entry.schedules.into_iter().find(|e| e.name == s.schedule).expect("the schedule is in the list");
    let text = format!("schedule {} for {} {{ {} }}", s.schedule, s.kernel, s.change);
    (entry.kernel, schedule.derived(text.parse().expect("the text is well formed")))
}

/// Inputs at which a wrong maximum is seen: softmax is the same for any number in its place that is near enough.
fn inputs(kernel: &Kernel, case: &Case, seed: u32) -> Tensors {
    let mut inputs = gates::inputs(kernel, case, seed);
    if let ("softmax", Some(Data::F32(x))) = (kernel.name.as_str(), inputs.get_mut("x")) {
        let columns = case.extents["C"] as usize;
        for (r, row) in x.chunks_mut(columns).enumerate() {
            row[r * 5 % columns] += 300.0;
        }
        x[..columns].iter_mut().for_each(|x| *x -= 600.0);
    }
    // A permutation, as ranks are one.
    if let ("topk_first", Some(Data::F32(ranks))) = (kernel.name.as_str(), inputs.get_mut("rank")) {
        let columns = case.extents["M"] as usize;
        ranks.iter_mut().enumerate().for_each(|(i, rank)| *rank = (i % columns * 5 % columns) as f32);
    }
    // Every second run has scores far below zero.
    for (tensor, by) in [("q", 4000.0), ("k", -1.0)] {
        if let ("attention", 1, Some(Data::F32(x))) = (kernel.name.as_str(), seed % 2, inputs.get_mut(tensor)) {
            x.iter_mut().for_each(|x| *x = x.abs() * by);
        }
    }
    inputs
}

fn expected(
    kernel: &Kernel,
    schedule: &Schedule,
    program: &Program,
    case: Case,
    seed: u32,
    widths: &[u32],
) -> Expected {
    let inputs = inputs(kernel, &case, seed);
    let tensors = gates::reference(kernel, &case, &gates::meant(kernel, schedule, &case, &inputs));
    let watch = |size: &u32| match gates::watch(kernel, program, &case, &inputs, *size, PADDING) {
        Ok((_, stats)) => (*size, stats),
        Err(error) => panic!("{}: {error}", program.kernel),
    };
    let stats = widths.iter().map(watch).collect();
    Expected { case, inputs, tensors, stats }
}

#[test]
fn damage_to_real_kernels_is_found() {
    let mut missed = Vec::new();
    let mut harmless = BTreeSet::new();
    let (mut ways, mut of_scales): (BTreeMap<&str, u32>, u32) = (BTreeMap::new(), 0);
    for subject in SUBJECTS {
        let (kernel, schedule) = applied(subject);
        let (cases, shape) = cases(subject);
        let program = compile(&kernel, &schedule, &shape, &target(subject.schedule)).unwrap_or_else(|e| panic!("{e}"));
        let subgroups = schedule.folds.iter().any(|f| f.1 == Fold::Subgroup);
        let widths: &[u32] = if subgroups { &[4, 1, 16] } else { &[4] };
        let expect = |(seed, case): (usize, Case)| expected(&kernel, &schedule, &program, case, seed as u32, widths);
        let runs: Vec<Expected> = cases.into_iter().enumerate().map(expect).collect();
        let find = |program: &Program| runs.iter().find_map(|run| caught(&kernel, program, run));
        assert_eq!(find(&program), None, "{} by {} is right as it is", kernel.name, schedule.name);
        for (name, damaged) in mutants(&program.shaders[0].loops) {
            of_scales += u32::from(name.starts_with(OF_SCALES));
            let mut mutant = program.clone();
            mutant.shaders[0].loops = damaged;
            match find(&mutant) {
                Some(way) => *ways.entry(way).or_default() += 1,
                None => {
                    let known = HARMLESS.iter().position(|h| (h.0, h.1) == (subject.kernel, name.as_str()));
                    if let Some(known) = known {
                        harmless.insert(known);
                        continue;
                    }
                    let changed = changed(&program.shaders[0].loops, &mutant.shaders[0].loops);
                    missed.push(format!("{} by {}: {name}\n{changed}", kernel.name, schedule.name));
                }
            }
        }
    }
    println!("found by: {ways:?}");
    assert!(missed.is_empty(), "{} mutants are not found:\n{}", missed.len(), missed.join("\n"));
    let stale: Vec<_> = (0..HARMLESS.len()).filter(|i| !harmless.contains(i)).map(|i| HARMLESS[i]).collect();
    assert!(stale.is_empty(), "these are found and need no excuse: {stale:?}");
    assert!(of_scales >= 4, "only {of_scales} scales");
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
