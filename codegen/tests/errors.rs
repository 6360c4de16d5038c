//! Every mistake in a schedule is provoked from a kernel and a text, comes alone, and is rendered as the snapshot says.
#![allow(missing_docs, reason = "a test")]

mod refused;

use refused::{Case, cases, fusions, softmax};
use std::collections::BTreeSet;
use std::path::Path;
use tilewright_codegen::error::{ScheduleError, ShapeError};
use tilewright_codegen::fuse::{FuseError, fuse};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, check_step, compile};
use tilewright_dsl::kernel;
use tilewright_dsl::schedule::{AxisLevels, Level, LevelKind, Schedule, parse_file};

/// The names of an enum's variants; a new variant does not compile before it stands here, and then needs a case.
macro_rules! variants {
    ($all:ident, $name:ident, $ty:ident: $($variant:ident),* $(,)?) => {
        const $all: &[&str] = &[$(stringify!($variant)),*];
        fn $name(error: &$ty) -> &'static str {
            match error {
                $($ty::$variant { .. } => stringify!($variant)),*
            }
        }
    };
}

variants! { SCHEDULE_ERRORS, schedule_error, ScheduleError:
    Shape, WrongKernel, LevelTwice, BadSize, UnknownAxis, UnknownTensor, UnknownValue, UnknownLevel, AxisTwice,
    TwoOpenLevels, NotCovered, DoesNotDivide, ExactAtRunTime, OpenNotOutermost, LevelNotPossible, LevelOrder,
    WorkgroupTooLarge, TooManyCopies, WorkgroupMismatch, NestDoesNotDivide, LaneMismatch, NotPowerOfTwo, NoSubgroups,
    SubgroupStride, NoFragments, SubgroupsDiffer, FoldNotReduction, VectorNotLast, ArrayLevels, NoTile, StorageNotPossible, HalfWord, Divergent, WorkgroupMemory,
    TooManyBuffers, BindingTooLarge, TooManyWorkgroups, TooManyOperations, TooManyIterations,
}
variants! { SHAPE_ERRORS, shape_error, ShapeError:
    MissingExtent, EmptyExtent, Assertion, AssertionAtRunTime, TooManyAxes, OutOfBounds, WrittenTwice, ZeroDivisor, NotFinite, ShiftTooFar,
}
variants! { FUSE_ERRORS, fuse_error, FuseError: NoInput, NotOneStore, Rank, RunsAgain, NotMerged, NotBeside, NotSplit, NoTable }

/// The variant's name; of a shape's error, its own.
fn variant(error: &ScheduleError) -> &'static str {
    match error {
        ScheduleError::Shape(error) => shape_error(error),
        error => schedule_error(error),
    }
}

fn refusal(case: &Case) -> (Vec<ScheduleError>, String) {
    match compile(&case.kernel, &case.schedule, &case.shape, &case.target) {
        Err(error @ CompileError::Schedule { .. }) => {
            let text = error.to_string();
            let CompileError::Schedule { errors, .. } = error else { unreachable!() };
            (errors, text)
        }
        Err(bug) => panic!("{bug}"),
        Ok(_) => panic!("the schedule applies:\n{}", case.schedule),
    }
}

/// Compares with `snapshots/errors/NAME.snap` of the project.
fn matches_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/errors");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Every message by the name of its snapshot, with the name of its variant.
fn messages() -> Vec<(String, &'static str, String)> {
    let mut all = Vec::new();
    for case in cases() {
        let (errors, text) = refusal(&case);
        let names: Vec<&str> = errors.iter().map(variant).collect();
        assert_eq!(names.len(), 1, "one mistake is one error, not {names:?}:\n{text}");
        assert!(text.contains("= help: "), "{} says what to do:\n{text}", names[0]);
        let dash = if case.detail.is_empty() { "" } else { "-" };
        all.push((format!("{}{dash}{}", names[0], case.detail), names[0], text));
    }
    for (detail, error) in fusions() {
        let dash = if detail.is_empty() { "" } else { "-" };
        all.push((format!("Fuse{}{dash}{detail}", fuse_error(&error)), fuse_error(&error), error.to_string()));
    }
    all
}

#[test]
fn every_mistake_comes_alone_and_says_what_to_do() {
    let messages = messages();
    let mut names = BTreeSet::from(["several"]);
    for (name, _, text) in &messages {
        assert!(names.insert(name), "two cases are called {name}");
        matches_snapshot(name, text);
    }
    let seen: BTreeSet<&str> = messages.iter().map(|m| m.1).collect();
    let all = SCHEDULE_ERRORS.iter().chain(SHAPE_ERRORS).chain(FUSE_ERRORS).copied();
    assert_eq!(seen, all.filter(|name| *name != "Shape").collect(), "each variant has a case");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/errors");
    for entry in std::fs::read_dir(folder).expect("the snapshots can be read").flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let known = file.strip_suffix(".snap").is_some_and(|n| names.contains(n));
        assert!(known, "snapshots/errors/{file} belongs to no test: delete it");
    }
}

#[test]
fn all_mistakes_of_a_schedule_come_at_once() {
    let text = "schedule broken for softmax {
        workgroup 64;
        r: grid;
        i: serial, lanes(48);
        j: lanes(4), vector(4);
        cc: serial;
        fold r: tree;
        stage y at q: workgroup;
        store x: f16;
        store z: bf16;
        tail c: exact;
    }";
    let case = Case::new(softmax(), text, Shape::new().param("R", 4).fixed("C", 100));
    let (errors, text) = refusal(&case);
    let names: Vec<&str> = errors.iter().map(variant).collect();
    assert_eq!(
        names,
        ["UnknownAxis", "FoldNotReduction", "UnknownTensor", "NotCovered", "UnknownLevel", "NotPowerOfTwo"],
        "{text}"
    );
    matches_snapshot("several", &text);
}

#[test]
fn mistakes_of_names_and_of_loops_come_at_once() {
    let text = "schedule broken for linear {
        workgroup 128;
        t: grid, lanes(16), unroll(4);
        r: grid, lanes(16), unroll(4);
        k: serial as ko, serial(64);
        stage w at ko: workgroup;
        stage x at ko: workgroup;
        stage v at ko: workgroup;
        stage y at ko: workgroup;
        fold t: tree;
        store y: bf16;
        tail r: exact;
    }";
    let shape = Shape::new().fixed("T", 64).fixed("R", 130).fixed("K", 896);
    let (errors, text) = refusal(&Case::new(refused::linear(), text, shape));
    let names: Vec<&str> = errors.iter().map(variant).collect();
    let expected = [
        "FoldNotReduction",
        "UnknownTensor",
        "DoesNotDivide",
        "StorageNotPossible",
        "WorkgroupMismatch",
        "NoTile",
        "WorkgroupMemory",
    ];
    assert_eq!(names, expected, "{text}");
}

#[test]
fn lines_that_share_the_work_are_right() {
    let target = Target { max_iterations: Some(65_535), ..Target::webgpu() };
    let wide = refused::small().fixed("T", 1).fixed("R", 4864).fixed("K", 896).fixed("D", 60_000).fixed("C", 60_000);
    for (kernel, given, expected) in [
        (refused::linear(), "", "r: grid; k: serial, lanes(32);"),
        (
            refused::linear(),
            "r: grid, lanes(64); k: serial(100000), vector(4);",
            "k: serial(25000), lanes(4), vector(4);",
        ),
        (refused::softmax(), "r: grid;", "i: serial, lanes(32); j: serial, lanes(32);"),
        (refused::rmsnorm(), "", "j: serial, lanes(32);"),
    ] {
        let long = given.contains("100000");
        let shape = match kernel.name.as_str() {
            "softmax" => wide.clone().fixed("R", 64),
            _ if long => wide.clone().fixed("R", 64).fixed("K", 400_000),
            _ => wide.clone(),
        };
        let text = format!("schedule slow for {} {{ {given} }}", kernel.name);
        let (errors, text) =
            refusal(&Case { target: target.clone(), ..Case::new(kernel.clone(), &text, shape.clone()) });
        let [ScheduleError::TooManyIterations { instead, .. }] = &errors[..] else { panic!("{text}") };
        assert_eq!(instead.join(" "), expected, "{text}");
        let old = given.split_inclusive(';').map(str::trim);
        let kept = old.filter(|line| !instead.iter().any(|new| new.split(':').next() == line.split(':').next()));
        let lines: Vec<&str> = kept.chain(instead.iter().map(String::as_str)).collect();
        let text = format!("schedule fast for {} {{ {} }}", kernel.name, lines.join(" "));
        let schedule: Schedule = text.parse().expect("the lines are well formed");
        compile(&kernel, &schedule, &shape, &target).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn a_long_step_is_refused_with_lines_that_share_the_work() {
    let target = Target { max_iterations: Some(65_535), ..Target::webgpu() };
    let shape = refused::small().param("R", 896).fixed("K", 64);
    let kernel = refused::linear();
    let judge = |levels: &str, t| {
        let schedule =
            Case::new(kernel.clone(), &format!("schedule slow for linear {{ {levels} }}"), shape.clone()).schedule;
        let program = compile(&kernel, &schedule, &shape, &target).unwrap_or_else(|e| panic!("{e}"));
        let params = [("T".to_string(), t), ("R".to_string(), 896)].into();
        check_step(&kernel, &schedule, &shape, &target, &program, &params)
    };
    judge("", 1).unwrap_or_else(|e| panic!("{e}"));
    let error = judge("", 2).expect_err("896 rows of 64, twice");
    let text = error.to_string();
    for part in [
        "116482 times in a step with R = 896, T = 2; device `webgpu`",
        "(kernel `linear`, schedule `slow`)",
        "--> example.schedules:1:10",
        "`r` (a loop of 896 rounds) and `k` (a loop of 64 rounds)",
    ] {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
    for (levels, t) in [("", 64), ("t: serial, serial(8);", 64), ("r: serial, serial(2); k: serial;", 3)] {
        let error = judge(levels, t).expect_err(levels);
        let CompileError::Schedule { errors, .. } = &error else { panic!("{error}") };
        let [ScheduleError::TooManyIterations { instead, .. }] = &errors[..] else { panic!("{error}") };
        assert!(!instead.is_empty(), "{error}");
        let old = levels.split_inclusive(';').map(str::trim);
        let kept = old.filter(|line| !instead.iter().any(|new| new.split(':').next() == line.split(':').next()));
        let lines: Vec<&str> = kept.chain(instead.iter().map(String::as_str)).collect();
        judge(&lines.join(" "), t).unwrap_or_else(|e| panic!("{lines:?}: {e}"));
    }
}

#[test]
fn too_many_lanes_are_told_beside_other_mistakes() {
    let names = |levels: &str| {
        let case = Case::new(refused::linear(), &format!("schedule odd for linear {{ {levels} }}"), refused::small());
        let (errors, _) = refusal(&case);
        errors.iter().map(variant).collect::<Vec<_>>()
    };
    assert_eq!(names("q: serial; r: grid, lanes(3000);"), ["UnknownAxis", "WorkgroupTooLarge"]);
    assert_eq!(names("r: grid, lanes(3000); k: serial, lanes(48);"), ["NotPowerOfTwo", "WorkgroupTooLarge"]);
    // Fewer lanes of the other axis may be what mends both.
    assert_eq!(names("r: grid, lanes(8); k: serial, lanes(48);"), ["NotPowerOfTwo"]);
}

#[test]
fn no_mistake_is_told_twice() {
    let open = Level { kind: LevelKind::Lanes, size: None, name: None };
    let axes = vec![AxisLevels { axis: "r".into(), levels: vec![open; 2] }];
    let schedule = Schedule { axes, ..Schedule::empty("linear") };
    let (errors, text) =
        refusal(&Case { schedule, ..Case::new(refused::linear(), "schedule a for linear { }", refused::small()) });
    let names: Vec<&str> = errors.iter().map(variant).collect();
    assert_eq!(names, ["LevelNotPossible", "LevelOrder", "TwoOpenLevels"], "{text}");
}

#[test]
fn mistakes_of_tiles_come_at_once_too() {
    let text = "schedule broken for linear {
        t: grid, lanes(16), unroll(4);
        r: grid, lanes(16), unroll(8);
        k: serial as ko, serial(64);
        stage w at ko: workgroup;
        stage x at t: workgroup;
    }";
    let shape = Shape::new().fixed("T", 64).fixed("R", 128).param("K", 896);
    let (errors, text) = refusal(&Case::new(refused::linear(), text, shape));
    let names: Vec<&str> = errors.iter().map(variant).collect();
    assert_eq!(names, ["NoTile", "WorkgroupMemory"], "{text}");
}

#[test]
fn the_empty_schedule_applies_to_every_kernel() {
    for case in refused::of_schedules() {
        let target = Target::webgpu();
        let shape = refused::whole_shape(&case.kernel);
        let done = compile(&case.kernel, &Schedule::empty(&case.kernel.name), &shape, &target);
        assert!(done.is_ok(), "{}", done.err().map(|e| e.to_string()).unwrap_or_default());
    }
}

#[test]
fn a_message_names_file_line_and_column() {
    let text = "\n\nschedule base for linear {\n    r: grid;\n    k: serial, lanes(48);\n}\n
schedule odd for linear from base {\n    store w: f16;\n    tail r: exact;\n}\n";
    let schedules = parse_file("mine.schedules", text).expect("the text is well formed");
    let case = Case::new(refused::linear(), "schedule odd for linear { }", refused::small());
    let [first, second] = [0, 1].map(|i| refusal(&Case { schedule: schedules[i].clone(), ..case.clone() }).1);
    let place = "  --> mine.schedules:5:16\n 5 |  k: serial, lanes(48)\n   |             ^^^^^^^^^\n";
    assert!(first.contains(place), "{first}");
    assert!(second.contains(place), "a line taken over from the base shows the base's place: {second}");
}

/// Twice each element of rows in fours.
#[kernel]
fn doubled(x: Tensor<N, C>, y: Out<N, C>) {
    assert!(C % 4 == 0);
    for n in 0..N {
        for c in 0..C {
            y[n][c] = x[n][c] * 2.0;
        }
    }
}

#[test]
fn what_a_producer_asserts_holds_of_the_fused_kernel() {
    let kernel = fuse("doubled_linear", &refused::linear(), "x", "twice", &doubled()).expect("they can be fused");
    let with =
        |k| compile(&kernel, &Schedule::empty("doubled_linear"), &refused::small().fixed("K", k), &Target::webgpu());
    assert!(with(32).is_ok());
    let Err(CompileError::Schedule { errors, .. }) = with(30) else { panic!("30 is not in fours") };
    assert_eq!(errors[0].to_string(), "`K` must be a multiple of `4`, and the shape has K = 30");
}
