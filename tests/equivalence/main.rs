//! Every kernel by every schedule at every awkward shape: eval = interp = WGSL on the adapter.
//!
//! Values may differ by the rounding of sums in another order: relative to the larger of 1 and the value, at most 2e-5 where
//! sums have under 1,000 terms of at most 1. Integers are equal. On every adapter the two ways to run loop IR are also held
//! against each other. A schedule that a target cannot express is counted with its reason, never skipped in silence.

mod cases;
mod gates;

use std::collections::BTreeMap;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_codegen::{CompileError, compile};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{Fold, Schedule, Storage};
use tilewright_models::kernels::{self, Entry};
use tilewright_runtime::{AdapterChoice, Device, GraphFault, RuntimeError};

const TOLERANCE: f32 = 2e-5;

/// Counts of one kernel by one schedule.
#[derive(Default)]
struct Row {
    cases: u32,
    interpreted: u32,
    on_adapter: u32,
    refused: BTreeMap<String, u32>,
}

fn shape(kernel: &Kernel, case: &cases::Case) -> Shape {
    let family = cases::family(&kernel.name);
    case.extents.iter().fold(Shape::new(), |shape, (name, n)| {
        if family.run_time.contains(&name.as_str()) { shape.param(name, n + 2) } else { shape.fixed(name, *n) }
    })
}

/// The schedule itself, and with its first read-only tensor of real numbers in each packed storage.
fn stored(kernel: &Kernel, schedule: &Schedule) -> Vec<Schedule> {
    let mut all = vec![schedule.clone()];
    if ["linear", "embedding"].contains(&kernel.name.as_str()) {
        for storage in [Storage::F16, Storage::Bf16] {
            let mut packed = schedule.clone();
            packed.stores.push(("w".into(), storage));
            all.push(packed);
        }
    }
    all
}

/// What a refusal is about, without its numbers.
fn reason(error: &CompileError) -> String {
    match error {
        CompileError::Schedule { errors, .. } => errors[0].to_string(),
        CompileError::Bug(bug) => panic!("{bug}"),
    }
}

fn check(entry: &Entry, device: &Device, table: &mut Vec<(String, Row)>) {
    let kernel = &entry.kernel;
    let empty = Schedule::empty(&kernel.name);
    for schedule in [&empty].into_iter().chain(&entry.schedules) {
        let mut row = Row::default();
        let subgroups = schedule.folds.iter().any(|f| f.1 == Fold::Subgroup);
        for schedule in stored(kernel, schedule) {
            for (seed, case) in cases::cases(kernel, &schedule).iter().enumerate() {
                let inputs = gates::inputs(kernel, case, seed as u32);
                let want = gates::reference(kernel, case, &inputs);
                let say = |gate: &str| format!("{} by {} at {case:?}, {gate}", kernel.name, schedule.name);
                row.cases += 1;
                let sizes: &[u32] = if subgroups { &[1, 4, 8, 16, 32, 64, 128] } else { &[8] };
                let any = Target { subgroups: Some(Subgroups { min: 1, max: 128 }), ..Target::webgpu() };
                match compile(kernel, &schedule, &shape(kernel, case), &any) {
                    Err(error) => {
                        *row.refused.entry(reason(&error)).or_default() += 1;
                        continue;
                    }
                    Ok(program) => {
                        for size in sizes {
                            let got = gates::interpret(kernel, &program, case, &inputs, *size)
                                .unwrap_or_else(|e| panic!("{}: {e}", say("interp")));
                            let d = gates::difference(&want, &got);
                            assert!(d <= TOLERANCE, "{}: off by {d} at subgroup size {size}", say("interp"));
                            row.interpreted += 1;
                        }
                    }
                }
                match compile(kernel, &schedule, &shape(kernel, case), device.target()) {
                    Err(error) => *row.refused.entry(reason(&error)).or_default() += 1,
                    Ok(program) => {
                        let got = match gates::adapter(device, kernel, &program, case, &inputs) {
                            Ok(got) => got,
                            Err(RuntimeError::Graph { fault: GraphFault::TooManyIterations { .. }, .. }) => {
                                *row.refused.entry("too many rounds of loops".into()).or_default() += 1;
                                continue;
                            }
                            Err(error) => panic!("{}: {error}", say("adapter")),
                        };
                        let d = gates::difference(&want, &got);
                        assert!(d <= TOLERANCE, "{}: off by {d}", say(&device.adapter().name));
                        row.on_adapter += 1;
                    }
                }
            }
        }
        // One odd extent may be beyond a schedule; all of them is a schedule that is never tested.
        assert!(row.interpreted > 0, "{} by {} ran nowhere: {:?}", kernel.name, schedule.name, row.refused);
        table.push((format!("{} {}", kernel.name, schedule.name), row));
    }
}

#[test]
fn every_schedule_means_what_its_kernel_means() {
    let device = Device::open(&AdapterChoice::Best, None).expect("an adapter: a software driver will do");
    let mut table = Vec::new();
    for entry in kernels::all() {
        check(&entry, &device, &mut table);
    }
    println!("{:<36} {:>6} {:>7} {:>8}  not expressible", "kernel schedule", "cases", "interp", "adapter");
    for (name, row) in &table {
        let why: Vec<String> = row.refused.iter().map(|(why, n)| format!("{n} × {why}")).collect();
        println!("{name:<36} {:>6} {:>7} {:>8}  {}", row.cases, row.interpreted, row.on_adapter, why.join("; "));
    }
}

#[test]
fn the_important_kernels_have_four_schedules() {
    let all = kernels::all();
    assert!(all.iter().any(|e| e.kernel.name == "norm_linear"), "the two kernels no longer fuse");
    for name in ["linear", "rmsnorm", "attention", "argmax"] {
        let entry = all.iter().find(|e| e.kernel.name == name).expect(name);
        assert!(entry.schedules.len() >= 4, "{name} has {} schedules", entry.schedules.len());
    }
}
