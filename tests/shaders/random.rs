//! Schedules drawn at random: each compiles or is refused with a reason, and what compiles means what the kernel means.

use crate::cases::Case;
use crate::gates;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_codegen::{CompileError, compile};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{AxisLevels, Compute, Fold, Level, LevelKind, Place, Schedule, Stage, Storage};
use tilewright_models::kernels::{linear, rmsnorm};

/// How many levels are chosen from: mostly orders that have a meaning, with sizes that are mostly powers of two.
fn levels(map: bool, name: &'static str) -> impl Strategy<Value = Vec<Level>> {
    let size =
        || prop_oneof![4 => prop::sample::select(vec![1u32, 2, 4, 8, 16]), 1 => prop::sample::select(vec![3u32, 5, 6])];
    let sized = |kind| (any::<bool>(), size()).prop_map(move |(some, n)| some.then_some((kind, Some(n))));
    let outer = prop_oneof![
        3 => Just(Some((LevelKind::Serial, None))),
        2 => Just(map.then_some((LevelKind::Grid, None))),
        1 => Just(None),
    ];
    let copies = prop_oneof![3 => Just(None), 2 => prop::sample::select(vec![1u32, 2, 4]).prop_map(Some)];
    let unroll = copies.clone().prop_map(|n| n.map(|n| (LevelKind::Unroll, Some(n))));
    let vector = copies.prop_map(|n| n.map(|n| (LevelKind::Vector, Some(n))));
    (outer, sized(LevelKind::Serial), sized(LevelKind::Lanes), unroll, vector).prop_map(move |all| {
        let all = [all.0, all.1, all.2, all.3, all.4];
        let mut levels: Vec<Level> =
            all.into_iter().flatten().map(|(kind, size)| Level { kind, size, name: None }).collect();
        if let Some(first) = levels.iter_mut().find(|l| l.kind == LevelKind::Serial) {
            first.name = Some(name.into());
        }
        levels
    })
}

fn fold() -> impl Strategy<Value = Fold> {
    prop::sample::select(vec![Fold::Tree, Fold::Serial, Fold::Subgroup])
}

/// A schedule of `linear`: levels of each axis in some order, a fold, tiles, a storage.
fn schedules() -> impl Strategy<Value = Schedule> {
    let axes = (levels(true, "to"), levels(true, "ro"), levels(false, "ko"));
    let order = Just(vec!["t", "r", "k"]).prop_shuffle();
    let stage = || prop_oneof![2 => Just(None), 1 => prop::sample::select(vec!["ko", "t", "r", "k"]).prop_map(Some)];
    let storage = prop::sample::select(vec![Storage::F32, Storage::F16, Storage::Bf16]);
    (axes, order, fold(), stage(), stage(), storage).prop_map(|((t, r, k), order, fold, w, x, storage)| {
        let mut schedule = Schedule { name: "drawn".into(), kernel: "linear".into(), ..Schedule::default() };
        for axis in order {
            let levels = match axis {
                "t" => t.clone(),
                "r" => r.clone(),
                _ => k.clone(),
            };
            if !levels.is_empty() {
                schedule.axes.push(AxisLevels { axis: axis.into(), levels });
            }
        }
        schedule.folds.push(("k".into(), fold));
        for (tensor, at) in [("w", w), ("x", x)] {
            schedule.stages.extend(at.map(|at| Stage {
                tensor: tensor.into(),
                at: at.into(),
                place: Place::Workgroup,
            }));
        }
        schedule.stores.push(("w".into(), storage));
        schedule
    })
}

/// A schedule of `rmsnorm`.
fn norm_schedules() -> impl Strategy<Value = Schedule> {
    let axes = (levels(true, "to"), levels(false, "jo"), levels(true, "io"));
    let order = Just(vec!["t", "j", "i"]).prop_shuffle();
    let compute = prop::sample::select(vec![None, None, Some("t"), Some("i")]);
    let place = prop::sample::select(vec![Place::Registers, Place::Workgroup]);
    (axes, order, fold(), compute, place).prop_map(|((t, j, i), order, fold, at, place)| {
        let mut schedule = Schedule { name: "drawn".into(), kernel: "rmsnorm".into(), ..Schedule::default() };
        for axis in order {
            let levels = match axis {
                "t" => t.clone(),
                "j" => j.clone(),
                _ => i.clone(),
            };
            if !levels.is_empty() {
                schedule.axes.push(AxisLevels { axis: axis.into(), levels });
            }
        }
        schedule.folds.push(("j".into(), fold));
        schedule.computes.extend(at.map(|at| Compute { value: "scale".into(), at: at.into(), place }));
        schedule
    })
}

fn shape(case: &Case) -> Shape {
    case.extents.iter().fold(Shape::new(), |shape, (name, n)| match name.as_str() {
        "T" => shape.param(name, n + 1),
        _ => shape.fixed(name, *n),
    })
}

/// What became of the schedules.
#[derive(Default)]
struct Seen {
    compiled: u32,
    with_lanes: u32,
    with_tiles: u32,
    refused: BTreeSet<String>,
}

/// Compiles and runs one schedule.
fn check(kernel: &Kernel, schedule: &Schedule, case: &Case, seed: u32, seen: &mut Seen) -> Result<(), TestCaseError> {
    let target = Target { subgroups: Some(Subgroups { min: 1, max: 128 }), ..Target::webgpu() };
    let program = match compile(kernel, schedule, &shape(case), &target) {
        Ok(program) => program,
        Err(CompileError::Schedule { errors, .. }) => {
            prop_assert!(!errors.is_empty(), "a refusal has a reason");
            let name = |e| format!("{e:?}").split(' ').next().unwrap_or_default().to_string();
            seen.refused.extend(errors.into_iter().map(name));
            return Ok(());
        }
        Err(bug) => return Err(TestCaseError::fail(format!("{bug}"))),
    };
    seen.compiled += 1;
    seen.with_lanes += u32::from(program.shaders[0].loops.workgroup > 1);
    seen.with_tiles += u32::from(!schedule.stages.is_empty() || !schedule.computes.is_empty());
    let inputs = gates::inputs(kernel, case, seed);
    let want = gates::reference(kernel, case, &inputs);
    let sizes: &[u32] = if program.shaders[0].subgroups { &[1, 4, 32] } else { &[4] };
    for size in sizes {
        let (got, _) = gates::watch(kernel, &program, case, &inputs, *size, 1e4)
            .map_err(|e| TestCaseError::fail(format!("{e}\n{schedule}")))?;
        let off = gates::difference(&want, &got);
        // Sums of under 50 terms of at most 1, added in any order.
        prop_assert!(off <= 2e-5, "off by {off} at subgroup size {size}:\n{schedule}\n{}", program.shaders[0].wgsl);
    }
    Ok(())
}

/// The same draws in every run, so that a failure is found again.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn extents(sizes: &[(&str, u32)]) -> BTreeMap<String, u32> {
    sizes.iter().map(|(n, v)| (n.to_string(), *v)).collect()
}

#[test]
fn any_schedule_of_linear_is_right_or_refused() {
    let kernel = linear::linear();
    let seen = RefCell::new(Seen::default());
    let sizes = (1u32..7, 1u32..20, 1u32..50);
    let done = runner(600).run(&(schedules(), sizes, any::<u32>()), |(schedule, (t, r, k), seed)| {
        let case = Case { extents: extents(&[("T", t), ("R", r), ("K", k)]), scalars: BTreeMap::new() };
        check(&kernel, &schedule, &case, seed, &mut seen.borrow_mut())
    });
    done.unwrap_or_else(|e| panic!("{e}"));
    let seen = seen.into_inner();
    println!(
        "compiled {} ({} with lanes, {} with tiles), refused: {:?}",
        seen.compiled, seen.with_lanes, seen.with_tiles, seen.refused
    );
    assert!(seen.compiled > 150 && seen.with_lanes > 100 && seen.with_tiles > 20 && seen.refused.len() > 5);
}

#[test]
fn any_schedule_of_rmsnorm_is_right_or_refused() {
    let kernel = rmsnorm::rmsnorm();
    let seen = RefCell::new(Seen::default());
    let done = runner(400).run(&(norm_schedules(), (1u32..7, 1u32..50), any::<u32>()), |(schedule, (t, d), seed)| {
        let scalars = extents(&[("eps", 0x3586_37bd)]);
        let case = Case { extents: extents(&[("T", t), ("D", d)]), scalars };
        check(&kernel, &schedule, &case, seed, &mut seen.borrow_mut())
    });
    done.unwrap_or_else(|e| panic!("{e}"));
    let seen = seen.into_inner();
    println!("compiled {} ({} with lanes), refused: {:?}", seen.compiled, seen.with_lanes, seen.refused);
    assert!(seen.compiled > 50 && seen.with_lanes > 30 && seen.refused.len() > 3);
}
