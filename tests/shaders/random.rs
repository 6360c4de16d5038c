//! Schedules drawn at random: each compiles or is refused with a reason, and what compiles means what the kernel means.

use crate::cases::{Case, family};
use crate::gates;
use proptest::prelude::*;
use proptest::strategy::Union;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_codegen::{CompileError, compile};
use tilewright_dsl::ir::{Axis, AxisId, AxisKind, Expr, Kernel, Role, Type};
use tilewright_dsl::schedule::{AxisLevels, Compute, Fold, Level, LevelKind, Place, Schedule, Stage, Storage};
use tilewright_models::kernels;

/// Some levels of an axis, in an order that has a meaning; sizes are mostly powers of two. The serial one is named.
fn levels(kernel: &Kernel, axis: usize) -> BoxedStrategy<Vec<Level>> {
    let Axis { name, kind, .. } = &kernel.axes[axis];
    let name = level_name(name);
    let last = |e: &Expr| matches!(e, Expr::Load(_, i) if i.last().map(|i| kernel.expr(*i)) == Some(&Expr::Axis(AxisId(axis as u32))));
    let neighbours = kernel.exprs.iter().any(last);
    let power = prop::sample::select(vec![1u32, 2, 4, 8]);
    let odd = prop::sample::select(vec![3u32, 5, 6]);
    let size = Union::new_weighted(vec![(5, power.boxed()), (1, odd.boxed())]);
    let sized = |of: LevelKind| prop::option::weighted(0.4, size.clone()).prop_map(move |n| n.map(|n| (of, Some(n))));
    let open = match kind {
        AxisKind::Map => vec![(LevelKind::Serial, None), (LevelKind::Grid, None)],
        _ => vec![(LevelKind::Serial, None)],
    };
    let copies = prop::option::weighted(0.4, prop::sample::select(vec![1u32, 2, 4]));
    let unroll = copies.clone().prop_map(|n| n.map(|n| (LevelKind::Unroll, Some(n))));
    let vector = prop::option::weighted(if neighbours { 0.4 } else { 0.03 }, prop::sample::select(vec![2u32, 4, 8]));
    let vector = vector.prop_map(|n| n.map(|n| (LevelKind::Vector, Some(n))));
    let all = (
        prop::option::weighted(0.9, prop::sample::select(open)),
        sized(LevelKind::Serial),
        sized(LevelKind::Lanes),
        unroll,
        vector,
    );
    all.prop_map(move |all| {
        let chosen = [all.0, all.1, all.2, all.3, all.4].into_iter().flatten();
        let mut levels: Vec<Level> = chosen.map(|(kind, size)| Level { kind, size, name: None }).collect();
        if let Some(first) = levels.iter_mut().find(|l| l.kind == LevelKind::Serial) {
            first.name = Some(name.clone());
        }
        levels
    })
    .boxed()
}

fn level_name(axis: &str) -> String {
    format!("{}_loop", axis.replace('.', "_"))
}

/// A schedule: each axis with levels or without a line, in any order; folds, tiles and a storage of `w`.
fn schedules(kernel: &Kernel) -> impl Strategy<Value = Schedule> + use<> {
    let lines: Vec<_> = kernel
        .axes
        .iter()
        .enumerate()
        .map(|(i, a)| {
            levels(kernel, i).prop_map({
                let axis = a.name.clone();
                move |levels| AxisLevels { axis: axis.clone(), levels }
            })
        })
        .collect();
    let at: Vec<String> = kernel.axes.iter().flat_map(|a| [level_name(&a.name), a.name.clone()]).collect();
    let at = prop::sample::select(at);
    let fold = prop::sample::select(Fold::ALL.to_vec());
    let reductions = kernel.axes.iter().filter(|a| a.kind == AxisKind::Reduce).map(|a| a.name.clone());
    let folds: Vec<_> = reductions.map(|axis| fold.clone().prop_map(move |f| (axis.clone(), f))).collect();
    let read = kernel.tensors.iter().filter(|t| t.role == Role::In && t.elem == Type::F32).map(|t| t.name.clone());
    let stage = |tensor: String| {
        prop::option::weighted(0.15, at.clone()).prop_map(move |at| {
            at.map(|at| Stage {
                tensor: tensor.clone(),
                at,
                place: Place::Workgroup,
                storage: Storage::F32,
                ahead: false,
            })
        })
    };
    let stages: Vec<_> = read.map(stage).collect();
    let place = prop::sample::select(Place::ALL.to_vec());
    let compute = |value: String| {
        prop::option::weighted(0.2, (at.clone(), place.clone()))
            .prop_map(move |some| some.map(|(at, place)| Compute { value: value.clone(), at, place }))
    };
    let computes: Vec<_> = kernel.lets.iter().map(|l| compute(l.name.clone())).collect();
    let stored = kernel.tensor_named("w").is_some();
    let storage = prop::sample::select(Storage::ALL.to_vec()).prop_map(move |s| stored.then(|| ("w".to_string(), s)));
    let name = kernel.name.clone();
    let lines = lines.prop_map(|l| l.into_iter().filter(|l| !l.levels.is_empty()).collect::<Vec<_>>()).prop_shuffle();
    let arrays: Vec<String> =
        kernel.axes.iter().filter(|a| a.kind == AxisKind::Array).map(|a| a.name.clone()).collect();
    (lines, folds, stages, computes, storage).prop_map(move |(axes, folds, stages, computes, storage)| Schedule {
        name: "drawn".into(),
        kernel: name.clone(),
        axes: arrays.iter().fold(axes, alike),
        folds,
        stages: stages.into_iter().flatten().collect(),
        computes: computes.into_iter().flatten().collect(),
        stores: storage.into_iter().collect(),
        ..Schedule::default()
    })
}

/// Lists the axis that reads an array field, `c` of `softmax.c`, next to it and with the same levels.
fn alike(mut axes: Vec<AxisLevels>, array: &String) -> Vec<AxisLevels> {
    let reader = array.rsplit('.').next().unwrap_or_default();
    axes.retain(|a| a.axis != reader);
    if let Some(at) = axes.iter().position(|a| a.axis == *array) {
        let mut line = axes.remove(at);
        axes.push(line.clone());
        line.axis = reader.into();
        line.levels.iter_mut().for_each(|l| l.name = None);
        axes.push(line);
    }
    axes
}

/// What became of the schedules.
#[derive(Default, Debug)]
struct Seen {
    compiled: u32,
    with_lanes: u32,
    with_tiles: u32,
    refused: BTreeSet<String>,
}

/// Compiles and runs one schedule.
fn check(kernel: &Kernel, schedule: &Schedule, case: &Case, seed: u32, seen: &mut Seen) -> Result<(), TestCaseError> {
    let target = Target { subgroups: Some(Subgroups { min: 1, max: 128 }), ..Target::webgpu() };
    let shape = case.extents.iter().fold(Shape::new(), |shape, (name, n)| {
        if family(&kernel.name).run_time.contains(&name.as_str()) {
            shape.param(name, n + 1)
        } else {
            shape.fixed(name, *n)
        }
    });
    let program = match compile(kernel, schedule, &shape, &target) {
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
    let want = gates::reference(kernel, case, &gates::meant(kernel, schedule, case, &inputs));
    let sizes: &[u32] = if program.shaders[0].subgroups { &[1, 4, 32] } else { &[4] };
    for size in sizes {
        let (got, _) = gates::watch(kernel, &program, case, &inputs, *size, 1e4)
            .map_err(|e| TestCaseError::fail(format!("{e}\nat {case:?}")))?;
        let off = gates::difference(&want, &got);
        // Sums of under 50 terms of at most 1, added in any order.
        let text = &program.shaders[0].wgsl;
        prop_assert!(off <= 2e-5, "off by {off} at subgroup size {size}, {case:?}:\n{text}");
    }
    Ok(())
}

/// Draws `cases` schedules of a kernel and sizes up to `most`; the same in every run, so that a failure is found again.
fn draw(kernel: &str, cases: u32, most: &[(&str, u32)]) -> Seen {
    let kernel = kernels::named(kernel).expect("the kernel is in the list").kernel;
    let family = family(&kernel.name);
    let sizes: Vec<_> = most.iter().map(|(_, n)| 1..=*n).collect();
    let seen = RefCell::new(Seen::default());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let done = runner.run(&(schedules(&kernel), sizes, any::<u32>()), |(schedule, sizes, seed)| {
        let named = |list: &[(&str, u32)]| list.iter().map(|(n, v)| (n.to_string(), *v)).collect::<BTreeMap<_, _>>();
        let mut case = Case { extents: named(family.base), scalars: named(family.scalars) };
        for ((name, _), n) in most.iter().zip(sizes) {
            let scalar = case.scalars.contains_key(*name);
            if scalar { &mut case.scalars } else { &mut case.extents }.insert(name.to_string(), n);
        }
        (family.settle)(&mut case.extents);
        check(&kernel, &schedule, &case, seed, &mut seen.borrow_mut())
    });
    done.unwrap_or_else(|e| panic!("{e}"));
    let seen = seen.into_inner();
    println!("{}: {seen:?}", kernel.name);
    assert!(seen.compiled * 20 > cases && seen.with_lanes * 40 > cases && seen.refused.len() > 3, "{seen:?}");
    seen
}

#[test]
fn any_schedule_of_linear_is_right_or_refused() {
    let seen = draw("linear", 600, &[("T", 6), ("R", 19), ("K", 49)]);
    assert!(seen.with_tiles > 5, "{seen:?}");
}

#[test]
fn any_schedule_of_rmsnorm_is_right_or_refused() {
    draw("rmsnorm", 400, &[("T", 6), ("D", 49)]);
}

#[test]
fn any_schedule_of_softmax_is_right_or_refused() {
    draw("softmax", 400, &[("R", 6), ("C", 49)]);
}

#[test]
fn any_schedule_of_a_fused_kernel_is_right_or_refused() {
    draw("norm_linear", 400, &[("T", 4), ("R", 9), ("K", 30)]);
}

#[test]
fn any_schedule_of_argmax_is_right_or_refused() {
    draw("argmax", 300, &[("T", 6), ("V", 49), ("limit", 60)]);
}

#[test]
fn any_schedule_of_attention_is_right_or_refused() {
    draw("attention", 400, &[("T", 3), ("G", 2), ("D", 9), ("pos", 20)]);
}
