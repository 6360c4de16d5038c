//! Products of cooperative matrices: the interpreter gives what the reference gives on inputs that are rounded to f16, at every
//! ragged edge, and what cannot be multiplied is a typed error.
#![allow(missing_docs, reason = "a test")]

use half::f16;
use std::collections::BTreeMap;
use tilewright_codegen::error::ScheduleError as E;
use tilewright_codegen::fuse::merge;
use tilewright_codegen::program::Program;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_codegen::{CompileError, compile, hlsl, interp};
use tilewright_dsl::eval::{Data, eval};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::kernel;
use tilewright_dsl::schedule::{LevelKind, Schedule, Storage};
use tilewright_dsl::storage::encode;

#[kernel]
fn linear(w: Tensor<R, K>, x: Tensor<T, K>, y: Out<T, R>) {
    for t in 0..T {
        for r in 0..R {
            y[t][r] = sum(0..K, |k| w[r][k] * x[t][k]);
        }
    }
}

/// Two products, and arithmetic on the sums.
#[kernel]
fn gated(g: Tensor<R, K>, u: Tensor<R, K>, x: Tensor<T, K>, z: Tensor<T, K>, b: Tensor<R>, h: InOut<T, R>) {
    for t in 0..T {
        for r in 0..R {
            let gate = sum(0..K, |k| g[r][k] * x[t][k]);
            let up = sum(0..K, |j| u[r][j] * z[t][j]);
            h[t][r] = h[t][r] + gate / (1.0 + exp(0.0 - gate)) * (up + b[r]);
        }
    }
}

/// Two sums over equal ranges with one factor in common.
#[kernel]
fn halves(g: Tensor<R, K>, u: Tensor<R, K>, x: Tensor<T, K>, y: Out<T, R>) {
    for t in 0..T {
        for r in 0..R {
            let gate = sum(0..K, |k| g[r][k] * x[t][k]);
            let up = sum(0..K, |j| u[r][j] * x[t][j]);
            y[t][r] = abs(gate) * up;
        }
    }
}

const LINEAR: &str = "schedule own for linear {
    t: grid, lanes(2), unroll(2), matrix(8);
    r: grid, lanes(2), unroll(1), matrix(8);
    k: serial as ko, serial(2), matrix(8);
    stage w at ko: workgroup f16;
    stage x at ko: workgroup f16;
    AGAIN
}";

/// Sums of products of numbers below 1, added up in another order.
const TOLERANCE: f32 = 2e-5;

fn target(size: u32) -> Target {
    let subgroups = Some(Subgroups { min: size, max: size });
    Target { subgroups, fragments: vec![8, 16], ..Target::matrix() }
}

fn random(name: &str, n: usize) -> Vec<f32> {
    let mut state = name.bytes().fold(0x9e37_79b9u32, |s, b| (s ^ u32::from(b)).wrapping_mul(0x0100_0193)) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..n).map(|_| (next() >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}

fn round(values: &[f32]) -> Vec<f32> {
    values.iter().map(|x| f16::from_f32(*x).to_f32()).collect()
}

/// Runs a program on the interpreter; `h` and what is not stored stay as they are.
fn run(
    program: &Program,
    extents: &BTreeMap<String, u32>,
    inputs: &BTreeMap<String, Vec<f32>>,
    output: &str,
) -> Vec<f32> {
    let shader = &program.shaders[0];
    let layout = |name: &str| program.tensors.iter().find(|t| t.name == name).expect("a layout");
    let words = |name: &str| {
        let layout = layout(name);
        let inner = *layout.dims.last().expect("a dimension");
        let rows: u32 = layout.dims[..layout.dims.len() - 1].iter().product();
        let mut values = inputs[name].clone();
        values.resize((rows * inner) as usize, f32::NAN);
        encode(layout.storage, rows as usize, inner, &values).expect("the lengths agree").words
    };
    let mut buffers: Vec<Vec<u32>> = shader.loops.buffers.iter().map(|b| words(&b.tensor)).collect();
    let params: Vec<u32> = shader.loops.params.iter().map(|p| extents[&p.name]).collect();
    let dispatch = shader.dispatch.clone().map(|count| count.eval(extents).expect("a size"));
    let size = shader.loops.subgroups.expect("subgroups").min;
    interp::run(&shader.loops, dispatch, &params, &mut buffers, size)
        .unwrap_or_else(|e| panic!("{e}\n{}", shader.wgsl));
    let at = shader.loops.buffers.iter().position(|b| b.tensor == output).expect("it is bound");
    let (inner, stride) = (*layout(output).dims.last().expect("a dimension"), layout(output).stride);
    let rows = extents["T"];
    (0..rows * inner).map(|i| f32::from_bits(buffers[at][(i / inner * stride + i % inner) as usize])).collect()
}

/// The interpreter's result, and the reference's on inputs as they are and on factors rounded to f16.
fn both(kernel: &Kernel, text: &str, target: &Target, [t, r, k]: [u32; 3], output: &str) -> [Vec<f32>; 3] {
    let schedule: Schedule = text.parse().expect("a schedule");
    let shape = Shape::new().param("T", t + 3).fixed("R", r).fixed("K", k);
    let program = compile(kernel, &schedule, &shape, target).unwrap_or_else(|e| panic!("{e}"));
    let extents: BTreeMap<String, u32> = [("T", t), ("R", r), ("K", k)].map(|(n, v)| (n.to_string(), v)).into();
    let of = |dims: &[tilewright_dsl::ir::ExtentId]| {
        dims.iter().map(|d| extents[&kernel.extents[d.0 as usize]] as usize).product::<usize>()
    };
    let inputs: BTreeMap<String, Vec<f32>> =
        kernel.tensors.iter().map(|t| (t.name.clone(), random(&t.name, of(&t.dims)))).collect();
    let reference = |narrow: bool| {
        let data = |(name, values): (&String, &Vec<f32>)| {
            let factor = schedule.stages.iter().any(|s| s.tensor == *name && s.storage == Storage::F16);
            (name.clone(), Data::F32(if factor && narrow { round(values) } else { values.clone() }))
        };
        let mut tensors: BTreeMap<String, Data> = inputs.iter().map(data).collect();
        eval(kernel, &extents, &BTreeMap::new(), &mut tensors).expect("the reference runs");
        match tensors.remove(output) {
            Some(Data::F32(values)) => values,
            other => panic!("{other:?}"),
        }
    };
    [run(&program, &extents, &inputs, output), reference(false), reference(true)]
}

fn apart(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let far = |(x, y): (&f32, &f32)| {
        let d = (x - y).abs() / x.abs().max(y.abs()).max(1.0);
        if d.is_nan() { f32::INFINITY } else { d }
    };
    a.iter().zip(b).map(far).fold(0.0, f32::max)
}

#[test]
fn fragments_give_what_rounded_inputs_give() {
    // Tiles are 32 × 16 outputs and 16 of k: whole ones, ragged ones, and less than a fragment.
    let shapes = [[32, 16, 16], [33, 17, 19], [31, 40, 40], [1, 1, 1], [64, 32, 7], [5, 48, 64]];
    for size in [4, 32] {
        for shape in shapes {
            for more in ["", "store w: f16;", "store w: bf16;"] {
                let text = LINEAR.replace("AGAIN", more);
                let [got, exact, rounded] = both(&linear(), &text, &target(size), shape, "y");
                // bf16 rounds more than f16: what is stored is what is multiplied.
                if more != "store w: bf16;" {
                    assert!(apart(&got, &rounded) <= TOLERANCE, "{shape:?}: off by {}", apart(&got, &rounded));
                }
                assert!(apart(&got, &exact) <= 0.05, "{shape:?}: off by {}", apart(&got, &exact));
                let far = shape[2] > 7;
                assert!(!far || apart(&got, &exact) > TOLERANCE, "nothing was rounded");
            }
        }
    }
}

#[test]
fn tiles_that_are_loaded_ahead_are_the_same_tiles() {
    for shape in [[32, 32, 64], [33, 17, 50], [7, 9, 16]] {
        let plain = "schedule own for linear {
            t: grid, lanes(2), unroll(2), matrix(8);
            r: grid, lanes(2), unroll(2), matrix(8);
            k: serial as ko, serial(2), matrix(8);
            stage w at ko: workgroup f16;
            stage x at ko: workgroup f16;
            store w: f16;
        }";
        let ahead = plain
            .replace("f16;\n            stage x", "f16 ahead;\n            stage x")
            .replace("x at ko: workgroup f16;", "x at ko: workgroup f16 ahead;");
        assert_eq!(ahead.matches("ahead").count(), 2);
        let [one, _, rounded] = both(&linear(), plain, &target(8), shape, "y");
        let [other, ..] = both(&linear(), &ahead, &target(8), shape, "y");
        assert_eq!(one, other, "{shape:?}");
        assert!(apart(&one, &rounded) <= TOLERANCE, "{shape:?}");
    }
}

#[test]
fn subgroups_along_the_reduction_add_their_parts() {
    for (levels, lanes) in [("lanes(2), serial(2)", 2), ("serial(1), lanes(4)", 4)] {
        for (order, size) in [("t, r, k", 8), ("k, t, r", 4)] {
            let lines: BTreeMap<&str, String> = [
                ("t", "t: grid, lanes(2), unroll(2), matrix(8);".to_string()),
                ("r", "r: grid, lanes(1), unroll(2), matrix(8);".to_string()),
                ("k", format!("k: serial as ko, {levels}, matrix(8);")),
            ]
            .into();
            let axes: String = order.split(", ").map(|axis| lines[axis].clone()).collect();
            let text = format!(
                "schedule own for linear {{ workgroup {}; {axes}
                stage w at ko: workgroup f16; stage x at ko: workgroup f16; }}",
                2 * lanes * size
            );
            for shape in [[32, 16, 64], [33, 17, 70], [3, 5, 9]] {
                let [got, exact, rounded] = both(&linear(), &text, &target(size), shape, "y");
                assert!(apart(&got, &rounded) <= TOLERANCE, "{text} {shape:?}: off by {}", apart(&got, &rounded));
                assert!(apart(&got, &exact) > TOLERANCE, "nothing was rounded");
            }
        }
    }
}

#[test]
fn elementwise_arithmetic_follows_on_the_sums() {
    let text = "schedule own for gated {
        t: grid, lanes(2), unroll(1), matrix(16);
        r: grid, lanes(1), unroll(2), matrix(16);
        k: serial as ko, matrix(16);
        j: serial as jo, matrix(16);
        stage g at ko: workgroup f16;
        stage u at jo: workgroup f16;
        stage x at ko: workgroup f16;
        stage z at jo: workgroup f16 ahead;
        store z: f16;
    }";
    for shape in [[32, 32, 32], [35, 41, 16], [3, 5, 18]] {
        let [got, exact, rounded] = both(&gated(), text, &target(8), shape, "h");
        assert!(apart(&got, &rounded) <= TOLERANCE, "{shape:?}: off by {}", apart(&got, &rounded));
        assert!(apart(&got, &exact) > TOLERANCE, "nothing was rounded");
    }
}

#[test]
fn narrowed_tiles_of_other_schedules_are_rounded_too() {
    let text = "schedule own for linear {
        t: grid, lanes(4), unroll(2);
        r: grid, lanes(8), unroll(2);
        k: serial as ko, serial(8);
        stage w at ko: workgroup;
        stage x at ko: workgroup f16;
    }";
    for shape in [[16, 16, 16], [17, 15, 19]] {
        let [got, exact, rounded] = both(&linear(), text, &target(8), shape, "y");
        assert!(apart(&got, &rounded) <= TOLERANCE, "{shape:?}: off by {}", apart(&got, &rounded));
        assert!(apart(&got, &exact) > TOLERANCE, "nothing was rounded");
    }
}

#[test]
fn merged_sums_share_a_factor() {
    let two = merge(&halves(), &["k", "j"], "n").expect("they have one range");
    let text = "schedule own for halves {
        t: grid, lanes(2), unroll(1), matrix(16);
        r: grid, lanes(2), unroll(2), matrix(16);
        n: serial as no, serial(2), matrix(16);
        stage g at no: workgroup f16;
        stage u at no: workgroup f16;
        stage x at no: workgroup f16 ahead;
    }";
    for shape in [[32, 64, 64], [35, 41, 21]] {
        let [got, exact, rounded] = both(&two, text, &target(8), shape, "y");
        assert!(apart(&got, &rounded) <= TOLERANCE, "{shape:?}: off by {}", apart(&got, &rounded));
        assert!(apart(&got, &exact) > TOLERANCE, "nothing was rounded");
    }
    let schedule: Schedule = text.parse().expect("a schedule");
    let shape = Shape::new().param("T", 40).fixed("R", 64).fixed("K", 64);
    let program = compile(&two, &schedule, &shape, &target(8)).unwrap_or_else(|e| panic!("{e}"));
    let wgsl = &program.shaders[0].wgsl;
    assert_eq!(wgsl.matches("coopLoadT<").count(), 1, "x is loaded once for both sums:\n{wgsl}");
    assert_eq!(wgsl.matches("coopMultiplyAdd(").count(), 4);
}

fn errors(text: &str, target: &Target) -> Vec<E> {
    let schedule: Schedule = text.parse().expect("a schedule");
    let shape = Shape::new().param("T", 40).fixed("R", 33).fixed("K", 32);
    match compile(&linear(), &schedule, &shape, target) {
        Err(CompileError::Schedule { errors, .. }) => errors,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_multiplied_says_why() {
    let own = LINEAR.replace("AGAIN", "");
    let one = |text: &str, target: &Target| match &errors(text, target)[..] {
        [error] => error.clone(),
        several => panic!("{several:?}"),
    };
    let at = |text: &str, axis: &str, words: &str| match one(text, &target(32)) {
        E::LevelNotPossible { axis: found, kind: LevelKind::Matrix, why, .. } => {
            assert_eq!((found.as_str(), why.contains(words)), (axis, true), "{why}");
        }
        other => panic!("{other:?}"),
    };
    let none = Target { fragments: vec![], ..target(32) };
    assert!(matches!(one(&own, &none), E::NoFragments { asked: 8, .. }));
    let other = Target { fragments: vec![16], ..target(32) };
    assert!(matches!(one(&own, &other), E::NoFragments { asked: 8, allowed, .. } if allowed == [16]));
    let varies = Target { subgroups: Some(Subgroups { min: 8, max: 32 }), ..target(32) };
    assert!(matches!(one(&own, &varies), E::SubgroupsDiffer { min: 8, max: 32, .. }));
    at(&own.replace("stage w at ko: workgroup f16;", ""), "k", "a factor is not narrowed");
    at(&own.replace("stage w at ko: workgroup f16;", "stage w at ko: workgroup;"), "k", "a factor is not narrowed");
    at(&own.replace("unroll(1), matrix(8)", "matrix(16)"), "k", "sides differ");
    at(&own.replace("unroll(1), matrix(8)", "unroll(8)"), "k", "exactly one axis");
    at(&own.replace("serial(2), matrix(8)", "serial(16)"), "t", "no `matrix` level");
    at(&own.replace("serial(2), matrix(8)", "unroll(2), matrix(8)"), "k", "a subgroup adds up fragments");
    at(&own.replace("matrix(8);\n    k", "matrix(4);\n    k"), "r", "sides of 8 or 16");
    let ahead = own.replace("w at ko: workgroup f16", "w at ko: workgroup f16 ahead");
    assert!(matches!(one(&ahead, &target(32)), E::NoTile { what, .. } if what == "w"));
}

#[test]
fn hlsl_says_that_it_has_no_words_for_it() {
    let schedule: Schedule = LINEAR.replace("AGAIN", "").parse().expect("a schedule");
    let shape = Shape::new().param("T", 40).fixed("R", 33).fixed("K", 32);
    let program = compile(&linear(), &schedule, &shape, &target(32)).unwrap_or_else(|e| panic!("{e}"));
    let loops = &program.shaders[0].loops;
    assert!(hlsl::inexpressible(loops).is_some_and(|why| why.contains("cooperative matrices")));
    assert!(hlsl::print(loops).contains("#error"));
    assert!(program.shaders[0].subgroups);
    let wgsl = &program.shaders[0].wgsl;
    assert!(wgsl.contains("enable wgpu_cooperative_matrix;\n"), "{wgsl}");
}
