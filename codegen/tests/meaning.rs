//! Legal kernels and shapes at their edges mean to the interpreter what they mean.
#![allow(missing_docs, reason = "a test")]

mod alike;

use alike::{Case, program, same};
use std::time::{Duration, Instant};
use tilewright_codegen::CompileError;
use tilewright_codegen::shape::Shape;
use tilewright_dsl::build::{Builder, MonoidBuilder};
use tilewright_dsl::eval::Data;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::{kernel, monoid};

#[monoid]
impl Counts<C> {
    const IDENTITY: Self = Self { of: |c| 0u32 };
    fn merge(a: Self, b: Self) -> Self {
        Self { of: |c| a.of[c] + b.of[c] }
    }
}

#[kernel]
fn histogram(n: Tensor<u32, K>, y: Out<u32, C>) {
    let counts = fold(0..K, |k| Counts::<C> { of: |c| if n[k] == c { 1u32 } else { 0u32 } });
    for d in 0..C {
        y[d] = counts.of[d];
    }
}

#[test]
fn an_array_has_room_for_all_that_a_run_can_ask() {
    let n = Data::U32(vec![0, 1, 1, 2, 4, 4, 4, 0, 5]);
    let schedules = [
        "",
        "k: serial, lanes(4);",
        "k: serial, lanes(4); fold k: subgroup;",
        "counts.c: serial, unroll(4); d: serial, unroll(4);",
        "counts.c: serial, lanes(2), unroll(2); d: serial, lanes(2), unroll(2);",
    ];
    for lines in schedules {
        for capacity in [1, 4, 6, 13] {
            let shape = Shape::new().param("C", capacity).fixed("K", 9);
            let program = program(&histogram(), lines, &shape).unwrap_or_else(|e| panic!("{lines}: {e}"));
            for c in 1..=capacity {
                same(
                    &histogram(),
                    &program,
                    &Case { extents: &[("C", c), ("K", 9)], scalars: &[], tensors: vec![("n", n.clone())] },
                );
            }
        }
    }
}

/// `values` after each other, each made of the one before in three places.
fn chained(levels: usize) -> Kernel {
    let b = Builder::new("chained");
    let (x, y) = (b.input::<f32, 1>("x", ["N"]), b.output::<f32, 1>("y", ["N"]));
    let (n, z) = (b.input::<u32, 1>("n", ["N"]), b.output::<u32, 1>("z", ["N"]));
    b.each("i", 0, b.extent("N"), |i| {
        let (mut f, mut v, mut w) = (x.at([i]), n.at([i]), i);
        for level in 0..levels {
            f = f * f.min(0.5) + (f - 1.0).abs();
            v = (v + b.u32(level as u32)) ^ (v * 3 % 7 + b.u32(level as u32));
            w = (w + b.extent("N")) ^ (w * 3 % 7 + w);
        }
        y.set([i], f);
        z.set([i], v + n.at([w % b.extent("N")]));
    });
    b.finish().expect("it is well formed")
}

/// A reduction over shared values whose merge shares as well.
fn merged(levels: usize) -> Kernel {
    let m = MonoidBuilder::new("Deep", Some("C"));
    let (s, a) = (m.field::<u32>("s", 0u32), m.array::<u32>("a", 0u32));
    let (mut scalar, mut element) = (s.a + s.b, a.a + a.b);
    for _ in 0..levels {
        scalar = (scalar + 1) ^ (scalar * 3 % 7);
        element = (element + scalar) ^ (element * 3 % 7);
    }
    let merge = vec![scalar.id(), element.id()];
    let deep = m.finish(merge).expect("a monoid");
    let b = Builder::new("merged");
    let (n, y) = (b.input::<u32, 2>("n", ["R", "K"]), b.output::<u32, 2>("y", ["R", "C"]));
    b.each("r", 0, b.extent("R"), |r| {
        let folded = b.fold(&deep, "k", 0, b.extent("K"), Some(b.extent("C")), |k, c| {
            let (mut v, c) = (n.at([r, k]), c.expect("an array"));
            for _ in 0..levels {
                v = (v + r) ^ (v * 3 % 7);
            }
            vec![v.id(), (v + c).id()]
        });
        b.each("d", 0, b.extent("C"), |d| {
            let mut v = folded.field::<u32>(0);
            for _ in 0..levels {
                v = (v + d) ^ (v * 3 % 7);
            }
            y.set([r, d], v + folded.elements::<u32>(1).at(d));
        });
    });
    b.finish().expect("it is well formed")
}

#[test]
fn values_that_are_shared_are_looked_at_once() {
    let begun = Instant::now();
    let kernel = chained(200);
    let n = Data::U32((0..7).map(|i| i * 5 + 1).collect());
    for (lines, fixed) in [("", true), ("i: serial, lanes(4);", true), ("i: grid, lanes(4);", false)] {
        let shape = if fixed { Shape::new().fixed("N", 7) } else { Shape::new().param("N", 9) };
        let program = program(&kernel, lines, &shape).unwrap_or_else(|e| panic!("{e}"));

        same(&kernel, &program, &Case { extents: &[("N", 7)], scalars: &[], tensors: vec![("n", n.clone())] });
    }
    let kernel = merged(60);
    let n = Data::U32((0..15).map(|i| i * 7 % 11).collect());
    for lines in ["", "r: grid; k: serial;"] {
        let shape = Shape::new().fixed("R", 3).fixed("K", 5).fixed("C", 4);
        let program = program(&kernel, lines, &shape).unwrap_or_else(|e| panic!("{e}"));
        same(
            &kernel,
            &program,
            &Case { extents: &[("R", 3), ("K", 5), ("C", 4)], scalars: &[], tensors: vec![("n", n.clone())] },
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn a_message_about_shared_values_is_short() {
    let b = Builder::new("deep");
    let (x, y) = (b.input::<f32, 1>("x", ["N"]), b.output::<f32, 1>("y", ["N"]));
    b.each("i", 0, b.extent("N"), |i| {
        let mut at = i;
        (0..100).for_each(|_| at = at + at.min(1) + 1);
        y.set([i], x.at([at]));
    });
    let kernel = b.finish().expect("it is well formed");
    let error = program(&kernel, "", &Shape::new().fixed("N", 7)).expect_err("it reaches beyond x");
    let CompileError::Schedule { .. } = &error else { panic!("{error}") };
    assert!(error.to_string().len() < 4000, "{error}");
}

#[kernel]
fn divided(a: Tensor<u32, N>, b: Tensor<u32, N>, q: Out<u32, N>, r: Out<u32, N>, by: u32) {
    for i in 0..N {
        q[i] = a[i] / b[i] + a[i] / by + a[i] % (i + 1);
        r[i] = a[i] % b[i] + a[i] % by;
    }
}

#[test]
fn a_division_by_zero_has_its_value() {
    for lines in ["", "i: grid, lanes(4);"] {
        let program = program(&divided(), lines, &Shape::new().fixed("N", 6)).unwrap_or_else(|e| panic!("{e}"));
        let text = &program.shaders[0].wgsl;
        assert_eq!(text.matches("max(").count(), 4, "what cannot be 0 is divided by as it is\n{text}");
        for by in [0, 3] {
            let (a, b) = (Data::U32(vec![7, 0, 9, u32::MAX, 5, 1]), Data::U32(vec![0, 0, 4, 0, 7, 1]));
            same(
                &divided(),
                &program,
                &Case { extents: &[("N", 6)], scalars: &[("by", by)], tensors: vec![("a", a), ("b", b)] },
            );
        }
    }
}

#[kernel]
fn gathered(t: Tensor<V, W>, ids: Tensor<u32, N>, y: Out<N>) {
    for n in 0..N {
        y[n] = t[ids[n]][ids[n] + 1u32];
    }
}

#[kernel]
fn counted(n: Tensor<u32, K>, ids: Tensor<u32, N>, y: Out<u32, N>, z: Out<u32, C>) {
    let counts = fold(0..K, |k| Counts::<C> { of: |c| if n[k] == c { 1u32 } else { 0u32 } });
    for i in 0..N {
        y[i] = counts.of[ids[i]];
    }
    for d in 0..C {
        z[d] = d;
    }
}

#[test]
fn a_loaded_index_ends_where_the_run_ends() {
    let table = |rows: u32, row: u32| Data::F32((0..rows * row).map(|i| i as f32 + 1.0).collect());
    let ids = Data::U32(vec![1, 4, 0, u32::MAX - 1]);
    for shape in [Shape::new().param("V", 6).param("W", 7), Shape::new().param("V", 3).fixed("W", 5)] {
        let shape = shape.param("N", 6);
        let program = program(&gathered(), "n: serial, lanes(2);", &shape).unwrap_or_else(|e| panic!("{e}"));
        for v in [1, 2, 3] {
            let tensors = vec![("t", table(v, 5)), ("ids", ids.clone())];
            same(&gathered(), &program, &Case { extents: &[("V", v), ("W", 5), ("N", 4)], scalars: &[], tensors });
        }
    }
    let n = Data::U32(vec![0, 1, 1, 2, 5, 2, 2]);
    for shape in [Shape::new().fixed("C", 3), Shape::new().param("C", 6)] {
        let shape = shape.fixed("N", 4).fixed("K", 7);
        let program = program(&counted(), "", &shape).unwrap_or_else(|e| panic!("{e}"));
        let tensors = vec![("n", n.clone()), ("ids", ids.clone())];
        same(&counted(), &program, &Case { extents: &[("C", 3), ("N", 4), ("K", 7)], scalars: &[], tensors });
    }
}

#[kernel]
fn stencil(x: Tensor<H, W>, y: Out<H, W>) {
    for i in 0..H {
        for j in 0..W {
            let below = if i + 1 < H { x[min(i + 1, H - 1)][j] } else { 0.0 };
            y[i][j] = x[i][j] + below + x[max(i, 1) - 1][W - 1 - j];
        }
    }
}

#[kernel]
fn last(x: Tensor<H>, y: Out<W>) {
    for j in 0..W {
        y[j] = x[H - 1];
    }
}

#[test]
fn an_axis_that_runs_tells_that_its_extent_is_not_zero() {
    let shape = Shape::new().param("H", 20).fixed("W", 5);
    let ran = program(&stencil(), "i: grid; j: lanes(4), unroll(2);", &shape).unwrap_or_else(|e| panic!("{e}"));
    for h in [1, 2, 20] {
        let x = Data::F32((0..h * 5).map(|i| (i * i) as f32).collect());
        same(&stencil(), &ran, &Case { extents: &[("H", h), ("W", 5)], scalars: &[], tensors: vec![("x", x)] });
    }
    // Nothing here says that there is a row.
    assert!(program(&last(), "", &shape).is_err());
}

#[kernel]
fn truncated(x: Tensor<N>, y: Out<u32, N>) {
    for i in 0..N {
        y[i] = x[i] as u32 + (1e20 as u32) % 7;
    }
}

#[test]
fn a_cast_ends_at_the_largest_float_below_a_word() {
    let program = program(&truncated(), "", &Shape::new().fixed("N", 6)).unwrap_or_else(|e| panic!("{e}"));
    let x = Data::F32(vec![5e9, -1.0, 3.7, 4_294_967_040.0, -0.0, 16_777_217.0]);
    same(&truncated(), &program, &Case { extents: &[("N", 6)], scalars: &[], tensors: vec![("x", x.clone())] });
    let mut tensors =
        std::collections::BTreeMap::from([("x".to_string(), x), ("y".to_string(), Data::U32(vec![0; 6]))]);
    let extents = std::collections::BTreeMap::from([("N".to_string(), 6)]);
    tilewright_dsl::eval::eval(&truncated(), &extents, &Default::default(), &mut tensors).expect("it has a meaning");
    let rest = 4_294_967_040u32 % 7;
    let want = [4_294_967_040, 0, 3, 4_294_967_040, 0, 16_777_216].map(|n: u32| n.wrapping_add(rest));
    assert_eq!(tensors["y"], Data::U32(want.to_vec()));
}

#[kernel]
fn halved(x: Tensor<N>, m: Tensor<M>, y: Out<N>) {
    for i in 0..N / max(M, 2) {
        y[i] = x[i] + m[0];
    }
}

#[test]
fn a_grid_is_what_the_host_can_count() {
    let shape = Shape::new().param("N", 9).param("M", 5);
    let error = program(&halved(), "i: grid;", &shape).expect_err("no host counts so far").to_string();
    assert!(error.contains("`grid` is not possible on axis `i`: how many workgroups"), "{error}");
    let x = Data::F32((0..9).map(|i| i as f32).collect());
    let m = Data::F32(vec![2.0; 3]);
    let tensors = || vec![("x", x.clone()), ("m", m.clone())];
    let serial = program(&halved(), "i: serial, lanes(4);", &shape).unwrap_or_else(|e| panic!("{e}"));
    same(&halved(), &serial, &Case { extents: &[("N", 9), ("M", 3)], scalars: &[], tensors: tensors() });
    let fixed = Shape::new().fixed("N", 9).fixed("M", 3);
    let grid = program(&halved(), "i: grid;", &fixed).unwrap_or_else(|e| panic!("{e}"));
    same(&halved(), &grid, &Case { extents: &[("N", 9), ("M", 3)], scalars: &[], tensors: tensors() });
}
