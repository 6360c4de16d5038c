//! Programs that must not become a shader: each is refused by a typed error that names what is wrong, and none gets as far
//! as `verify`, naga or a driver.
#![allow(missing_docs, reason = "a test")]

mod refused;

use refused::{careless, grouped, linear, rmsnorm, small, softmax, wrong};
use tilewright_codegen::error::{ScheduleError as E, ShapeError as S};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, compile};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{Level, LevelKind, Schedule, parse_file};

/// The only error of a kernel by these directives.
fn refusal(kernel: &Kernel, directives: &str, shape: &Shape) -> E {
    let text = format!("schedule wrong for {} {{ {directives} }}", kernel.name);
    only(kernel, &parse_file("wrong.txt", &text).expect("the text is well formed")[0], shape)
}

fn only(kernel: &Kernel, schedule: &Schedule, shape: &Shape) -> E {
    match compile(kernel, schedule, shape, &Target::webgpu_subgroups()) {
        Err(CompileError::Schedule { mut errors, .. }) if errors.len() == 1 => errors.remove(0),
        Err(error) => panic!("{}: not one typed error:\n{error}", kernel.name),
        Ok(program) => panic!("{} became a shader:\n{}", kernel.name, program.shaders[0].wgsl),
    }
}

/// Each program, and whether an error is the right one.
macro_rules! table {
    ($($kernel:expr, $directives:literal, $shape:expr => $pattern:pat $(if $guard:expr)?),* $(,)?) => {
        [$((|| {
            let kernel: Kernel = $kernel;
            let error = refusal(&kernel, $directives, &$shape);
            let right = matches!(&error, $pattern $(if $guard)?);
            assert!(right, "{} by `{}`: expected {}, found {error:?}", kernel.name, $directives, stringify!($pattern $(if $guard)?));
        }) as fn()),*]
    };
}

#[test]
fn wrong_kernels_are_refused() {
    let programs = table! {
        wrong::next(), "i: grid, lanes(64);", small() =>
            E::Shape(S::OutOfBounds { tensor, index, found: 48, size: 48, .. }) if tensor == "x" && index == "i + 1",
        wrong::previous(), "i: serial, vector(4);", small() =>
            E::Shape(S::OutOfBounds { tensor, index, found: -1, .. }) if tensor == "x" && index == "i - 1",
        wrong::shifted(), "", small() => E::Shape(S::OutOfBounds { tensor, found: 48, .. }) if tensor == "y",
        wrong::other_extent(), "", small() => E::Shape(S::OutOfBounds { tensor, found: 63, size: 48, .. }) if tensor == "y",
        wrong::long_suffix(), "", small() => E::Shape(S::OutOfBounds { index, found: 48, .. }) if index == "n + j",
        wrong::far(), "", small() => E::Shape(S::OutOfBounds { found: 4_294_967_040, .. }),
        wrong::all_to_one(), "i: lanes(16), serial;", small() =>
            E::Shape(S::WrittenTwice { tensor, index, .. }) if tensor == "y" && index[..] == [0],
        wrong::halved(), "i: grid;", small() =>
            E::Shape(S::WrittenTwice { one, other, .. }) if one == "i = 0" && other == "i = 1",
        wrong::ring(), "i: grid;", small() => E::Shape(S::WrittenTwice { one, other, .. }) if one == "i = 0" && other == "i = 40",
        wrong::overlapping(), "h: lanes(4);", small() =>
            E::Shape(S::WrittenTwice { one, other, .. }) if one == "h = 0, d = 8" && other == "h = 1, d = 0",
        wrong::again(), "", small() => E::Shape(S::WrittenTwice { one, other, .. }) if one == "i = 0" && other == "j = 0",
        wrong::mirrored(), "i: lanes(16), serial;", small() => E::Shape(S::WrittenTwice { tensor, .. }) if tensor == "x",
        wrong::infinite(), "", small() => E::Shape(S::NotFinite { value, .. }) if value == "1.0 / 0.0",
        wrong::mean_of_others(), "", small().fixed("N", 1) =>
            E::Shape(S::NotFinite { value, extents, .. }) if value == "1.0 / (N as f32 - 1.0)" && extents[..] == ["N = 1"],
        wrong::root(), "", small() => E::Shape(S::NotFinite { value, .. }) if value == "sqrt(0.0 - 1.0)",
        wrong::power(), "", small() => E::Shape(S::NotFinite { value, .. }) if value == "exp(1000.0)",
        wrong::no_number(), "", small() => E::Shape(S::NotFinite { found, .. }) if found == "NaN",
        wrong::infinite_identity(), "", small() => E::Shape(S::NotFinite { value, .. }) if value.contains("Least"),
        wrong::far_shift(), "", small() => E::Shape(S::ShiftTooFar { by: 32, value, .. }) if value == "i << 32",
        wrong::rest_of_nothing(), "", small() => E::Shape(S::ZeroDivisor { divisor, .. }) if divisor == "N - 48",
        careless(), "", small().fixed("H", 1) => E::Shape(S::ZeroDivisor { divisor, .. }) if divisor == "H / G",
        careless(), "", small().fixed("H", 5).fixed("G", 3) =>
            E::Shape(S::OutOfBounds { tensor, index, found: 4, size: 3, .. }) if tensor == "k" && index == "h / (H / G)",
        grouped(), "", small().fixed("H", 5).fixed("G", 3) => E::Shape(S::Assertion { extents, .. }) if extents[..] == ["H = 5", "G = 3"],
        wrong::many_axes(), "", small() => E::Shape(S::TooManyAxes { asked: 65, allowed: 64 }),
    };
    programs.iter().for_each(|program| program());
}

#[test]
fn wrong_schedules_are_refused() {
    let programs = table! {
        linear(), "k: grid;", small() => E::LevelNotPossible { axis, kind: LevelKind::Grid, .. } if axis == "k",
        linear(), "k: serial, vector(3);", small() => E::LevelNotPossible { axis, kind: LevelKind::Vector, .. } if axis == "k",
        linear(), "r: grid, vector(4), lanes(2);", small() => E::LevelOrder { axis, .. } if axis == "r",
        linear(), "k: serial, serial, lanes(2);", small() => E::TwoOpenLevels { axis } if axis == "k",
        linear(), "k: serial(2), lanes(4);", small() => E::NotCovered { axis, covered: 8, extent: Some(896), of: None } if axis == "k",
        linear(), "t: lanes(4), serial;", small() => E::OpenNotOutermost { axis } if axis == "t",
        linear(), "t: grid, lanes(2); tail t: exact;", small() => E::ExactAtRunTime { axis, .. } if axis == "t",
        linear(), "r: grid, lanes(60); tail r: exact;", small() => E::DoesNotDivide { axis, extent: 896, .. } if axis == "r",
        linear(), "k: serial, lanes(24);", small() => E::NotPowerOfTwo { axis, lanes: 24, most: 256, .. } if axis == "k",
        linear(), "k: serial, lanes(32); r: grid, lanes(3); fold k: subgroup;", small() =>
            E::SubgroupStride { axis, stride: 3, .. } if axis == "k",
        linear(), "r: grid, lanes(32); t: grid, lanes(32);", small() => E::WorkgroupTooLarge { asked: 1024, nest, .. } if nest[..] == ["r", "t"],
        linear(), "workgroup 32; r: grid, lanes(64);", small() => E::WorkgroupMismatch { asked: 32, product: 64, .. },
        linear(), "r: grid, unroll(64); t: grid, unroll(32);", small() =>
            E::TooManyCopies { asked: 2048, axes, .. } if axes[..] == ["t", "r"],
        linear(), "r: grid, lanes(64), unroll(64); k: serial, unroll(16);", small() =>
            E::TooManyOperations { copies: 1024, axes, allowed: 4096, .. } if axes[..] == ["r", "k"],
        linear(), "k: serial, lanes(32), serial(4) as inner; stage x at inner: workgroup;", small() =>
            E::NoTile { what, at, .. } if what == "x" && at == "inner",
        linear(), "k: serial as r, serial(16); stage w at r: workgroup;", small() => E::LevelTwice { level, .. } if level == "r",
        linear(), "store y: bf16;", small() => E::StorageNotPossible { tensor, .. } if tensor == "y",
        linear(), "fold r: serial;", small() => E::FoldNotReduction { axis, .. } if axis == "r",
        rmsnorm(), "t: grid; i: serial, lanes(32); j: serial, lanes(24); fold j: serial;", small() =>
            E::NestDoesNotDivide { product: 24, workgroup: 32, .. },
        softmax(), "q: serial;", small() => E::UnknownAxis { axis, .. } if axis == "q",
    };
    programs.iter().for_each(|program| program());
}

#[test]
fn schedules_that_no_text_could_spell_are_refused() {
    let kernel = linear();
    let with = |levels: Vec<Level>| {
        let mut schedule = Schedule::empty("linear");
        schedule.axes.push(tilewright_dsl::schedule::AxisLevels { axis: "k".into(), levels });
        only(&kernel, &schedule, &small())
    };
    let level = |kind, size| Level { kind, size, name: None };
    assert!(matches!(with(vec![]), E::LevelOrder { axis, kind: None, .. } if axis == "k"));
    let zero = with(vec![level(LevelKind::Serial, None), level(LevelKind::Lanes, Some(0))]);
    assert!(matches!(&zero, E::BadSize { axis } if axis == "k"), "{zero:?}");
    let open = with(vec![level(LevelKind::Lanes, None)]);
    assert!(matches!(&open, E::LevelNotPossible { axis, kind: LevelKind::Lanes, .. } if axis == "k"), "{open:?}");
}

#[test]
fn right_programs_are_not_refused() {
    for (kernel, directives) in [
        (wrong::clamped(), "i: grid, lanes(16), unroll(2);"),
        (wrong::mean_of_others(), ""),
        (grouped(), "h: grid;"),
        (careless(), "h: grid;"),
    ] {
        let text = format!("schedule right for {} {{ {directives} }}", kernel.name);
        let schedule: Schedule = text.parse().expect("the text is well formed");
        let done = compile(&kernel, &schedule, &small(), &Target::webgpu());
        assert!(done.is_ok(), "{}", done.err().map(|e| e.to_string()).unwrap_or_default());
    }
}
