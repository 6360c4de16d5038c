//! The laws of splitting a reduction: its parts and what is made of them mean what the kernel means, for every monoid, chunk and
//! length, with more parts than are needed, and wherever the second step is inlined.
#![allow(missing_docs, reason = "a test")]

mod parts;

use parts::{Apart, REORDERED, same};
use tilewright_codegen::compile;
use tilewright_codegen::fuse::{FuseError, fuse, split};
use tilewright_codegen::interp::run;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_dsl::check;
use tilewright_dsl::eval::Value;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::{kernel, monoid, schedule};

#[kernel]
fn product(w: Tensor<R, K>, x: Tensor<T, K>, y: Out<T, R>) {
    for t in 0..T {
        for r in 0..R {
            y[t][r] = sum(0..K, |k| w[r][k] * x[t][k]);
        }
    }
}

#[kernel]
fn largest(x: Tensor<T, N>, y: Out<T>, from: u32) {
    for t in 0..T {
        y[t] = max(from..N, |j| abs(x[t][j])) * 2.0;
    }
}

#[kernel]
fn place(x: Tensor<T, N>, y: Out<u32, T>, limit: u32) {
    for t in 0..T {
        y[t] = argmax(0..min(limit, N), |j| x[t][j]);
    }
}

/// The place of the largest as a number that can be compared with others.
#[kernel]
fn number(i: Tensor<u32, T>, y: Out<T>) {
    for t in 0..T {
        y[t] = i[t] as f32 * 0.5 + t as f32;
    }
}

#[monoid]
impl Mean<C> {
    const IDENTITY: Self = Self { score: 0.0, total: |c| 0.0 };
    fn merge(a: Self, b: Self) -> Self {
        Self { score: a.score + b.score, total: |c| a.total[c] + b.total[c] }
    }
}

/// Rows up to each row's own: ends that change with a row, an inner sum, an array field, and what follows.
#[kernel]
fn means(x: Tensor<P, D>, w: Tensor<D>, y: Out<T, D>, pos: u32) {
    for t in 0..T {
        let s = fold(0..pos + t + 1, |j| {
            let score = sum(0..D, |d| x[j][d] * w[d]);
            Mean::<D> { score: score, total: |c| x[j][c] * 0.5 }
        });
        for c in 0..D {
            y[t][c] = s.total[c] / (abs(s.score) + 1.0) + w[c];
        }
    }
}

#[kernel]
fn added(h: InOut<T, N>, x: Tensor<T, N>) {
    for t in 0..T {
        for i in 0..N {
            h[t][i] = h[t][i] + x[t][i];
        }
    }
}

#[kernel]
fn relative(x: Tensor<T, N>, y: Out<T>) {
    for t in 0..T {
        let top = max(0..N, |i| x[t][i]);
        y[t] = sum(0..N, |j| exp(x[t][j] - top));
    }
}

#[kernel]
fn own(h: InOut<N>, y: Out<N>) {
    for i in 0..N {
        h[i] = h[i] + sum(0..4, |k| h[i] * (k as f32));
        y[i] = h[i];
    }
}

#[kernel]
fn nested(x: Tensor<T, N, M>, y: Out<T>) {
    for t in 0..T {
        y[t] = sum(0..N, |i| max(0..M, |j| x[t][i][j]));
    }
}

#[kernel]
fn inner(x: Tensor<T, N>, y: Out<T, N>) {
    for t in 0..T {
        for i in 0..N - 1 {
            y[t][i] = sum(0..N, |j| x[t][j] * x[t][i]);
        }
    }
}

#[kernel]
fn deep(x: Tensor<A, B, C, D>, y: Out<A, B, C, D>, limit: u32) {
    for a in 0..A {
        for b in 0..B {
            for c in 0..C {
                for d in 0..D {
                    y[a][b][c][d] = sum(0..limit, |j| x[a][b][c][d] * (j as f32));
                }
            }
        }
    }
}

fn halves(kernel: &Kernel, axis: &str, chunk: u32) -> [Kernel; 2] {
    let both = split(["partial", "finish"], kernel, axis, chunk).unwrap_or_else(|e| panic!("{e}"));
    for half in &both {
        assert_eq!(check::kernel(half), [], "{} of {} is no kernel", half.name, kernel.name);
    }
    both
}

const LENGTHS: [u32; 6] = [1, 2, 7, 8, 9, 40];
const CHUNKS: [u32; 4] = [1, 3, 8, 64];

#[test]
fn parts_of_a_sum_are_the_sum() {
    for chunk in CHUNKS {
        let [partial, finish] = halves(&product(), "k", chunk);
        assert_eq!(partial.tensors.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["w", "x", "k.sum"]);
        assert_eq!(finish.tensors.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["y", "k.sum"]);
        for k in LENGTHS {
            // Of several rows, each has its own parts; further parts are empty.
            for more in [0, 2] {
                let extents = [("T", 3), ("R", 5), ("K", k), ("k.Parts", k.div_ceil(chunk) + more)];
                let parts: [parts::Step; 2] = [(&partial, &[]), (&finish, &[("y", "z")])];
                let whole = product();
                same(&extents, &[], (&whole, &[("y", "z")]), &parts, &["z"], REORDERED);
            }
        }
    }
}

#[test]
fn parts_of_a_maximum_and_of_its_place_are_equal() {
    for chunk in CHUNKS {
        let [partial, finish] = halves(&largest(), "j", chunk);
        let [some, place_of] = halves(&place(), "j", chunk);
        for n in LENGTHS {
            for from in [0, n / 2] {
                let extents = [("T", 4), ("N", n), ("j.Parts", (n - from).div_ceil(chunk))];
                let scalars = [("from", Value::U32(from))];
                let parts: [parts::Step; 2] = [(&partial, &[]), (&finish, &[])];
                same(&extents, &scalars, (&largest(), &[]), &parts, &["y"], Apart::Nothing);
            }
            for limit in [1, n, 1000] {
                let extents = [("T", 4), ("N", n), ("j.Parts", n.div_ceil(chunk))];
                let scalars = [("limit", Value::U32(limit))];
                let whole = fuse("whole", &number(), "i", "p", &place()).expect("it can be inlined");
                let last = fuse("last", &number(), "i", "p", &place_of).expect("it can be inlined");
                let parts: [parts::Step; 2] = [
                    (&some, &[]),
                    (&last, &[("p.j.max", "j.max"), ("p.j.index", "j.index"), ("p.j.Parts", "j.Parts")]),
                ];
                let names = [("p.x", "x"), ("p.limit", "limit"), ("p.N", "N")];
                same(&extents, &scalars, (&whole, &names), &parts, &["y"], Apart::Nothing);
            }
        }
    }
}

#[test]
fn parts_with_arrays_and_ends_that_differ_are_what_follows_from_all() {
    for chunk in CHUNKS {
        let [partial, finish] = halves(&means(), "j", chunk);
        for (pos, t) in [(0u32, 1u32), (5, 1), (7, 3), (15, 2), (38, 2)] {
            let last = pos + t;
            let extents = [("T", t), ("P", 40), ("D", 5), ("j.Parts", last.div_ceil(chunk))];
            let scalars = [("pos", Value::U32(pos))];
            let parts: [parts::Step; 2] = [(&partial, &[]), (&finish, &[])];
            same(&extents, &scalars, (&means(), &[]), &parts, &["y"], REORDERED);
        }
    }
}

#[test]
fn the_second_step_is_inlined_like_any_kernel() {
    let [partial, finish] = halves(&product(), "k", 8);
    let last = fuse("last", &added(), "x", "p", &finish).expect("it can be inlined");
    let whole = fuse("whole", &added(), "x", "p", &product()).expect("it can be inlined");
    for k in LENGTHS {
        let extents = [("T", 2), ("N", 6), ("R", 6), ("K", k), ("k.Parts", k.div_ceil(8))];
        let first = (&partial, &[][..]);
        let last = (&last, &[("p.k.sum", "k.sum"), ("p.k.Parts", "k.Parts")][..]);
        same(&extents, &[], (&whole, &[("p.w", "w"), ("p.x", "x")]), &[first, last], &["h"], REORDERED);
    }
}

#[test]
fn a_producer_runs_once_for_each_element_of_a_part() {
    // Each row's product is wanted once, by one step of the reduction that it runs in.
    let [partial, _] = halves(&place(), "j", 8);
    let fused = fuse("fused", &partial, "x", "p", &product()).expect("nothing runs again");
    assert_eq!(check::kernel(&fused), []);
    let whole = fuse("whole", &place(), "x", "p", &product()).expect("nothing runs again");
    assert_eq!(check::kernel(&whole), []);
    // A sum over all of another sum's results is wanted for every row again.
    let again = fuse("again", &product(), "x", "p", &product());
    assert!(matches!(again, Err(FuseError::RunsAgain { .. })), "{again:?}");
    for n in LENGTHS {
        let extents = [("T", 2), ("N", n), ("R", n), ("K", 9), ("j.Parts", n.div_ceil(8))];
        let scalars = [("limit", Value::U32(1000))];
        let first = (&product(), &[("y", "made")][..]);
        let then = (&partial, &[("x", "made")][..]);
        let names = [("p.w", "w"), ("p.x", "x"), ("p.K", "K")];
        same(&extents, &scalars, (&fused, &names), &[first, then], &["j.max"], Apart::Nothing);
    }
}

schedule! {
    /// A workgroup a part: four positions at a time, columns and inner sums by eight invocations.
    lanes for "partial" {
        t: grid;
        j.part: grid;
        j: serial, lanes(4);
        mean.c: lanes(8);
        c: lanes(8);
        d: lanes(8);
        fold d: subgroup;
    }
}

schedule! {
    /// Two positions at once.
    pairs for "partial" from lanes {
        j: serial, unroll(2), lanes(4);
    }
}

/// The parts' kernel means on every subgroup size what it means without a schedule, and parts that are not dispatched are not
/// touched.
#[test]
fn a_run_has_as_many_parts_as_it_needs() {
    let [partial, _] = halves(&means(), "j", 8);
    let target = Target { subgroups: Some(Subgroups { min: 1, max: 128 }), ..Target::wide() };
    let shape = Shape::new().fixed("T", 1).fixed("P", 30).fixed("D", 5).param("j.Parts", 4);
    for schedule in [lanes(), pairs()] {
        let program = compile(&partial, &schedule, &shape, &target).unwrap_or_else(|e| panic!("{e}"));
        let [shader] = &program.shaders[..] else { panic!("one shader") };
        for (pos, count) in [(0u32, 1u32), (7, 1), (8, 2), (20, 3), (29, 4)] {
            let given = [("pos", pos), ("j.Parts", count)].map(|(n, v)| (n.to_string(), v)).into();
            let size = [0, 1].map(|i| shader.dispatch[i].eval(&given).expect("a number"));
            assert_eq!(size, [count, 1], "workgroups follow the parts");
            let params: Vec<u32> = shader.loops.params.iter().map(|p| given[&p.name]).collect();
            let (stride, rows) = (8, 30);
            let x = |i: usize, c: usize| ((i * 7 + c * 3) % 11) as f32 / 4.0 - 1.0;
            let w = |c: usize| c as f32 / 2.0 - 1.0;
            for subgroup in [1, 4, 8, 16, 32, 64, 128] {
                let mut buffers: Vec<Vec<u32>> = Vec::new();
                for buffer in &shader.loops.buffers {
                    let at = |i: usize| (i / stride, i % stride);
                    buffers.push(match buffer.tensor.as_str() {
                        "x" => (0..rows * stride).map(|i| x(at(i).0, at(i).1).to_bits()).collect(),
                        "w" => (0..stride).map(|c| w(c).to_bits()).collect(),
                        "j.score" => vec![0x7fc0_0000; 4],
                        _ => vec![0x7fc0_0000; 4 * stride],
                    });
                }
                run(&shader.loops, size, &params, &mut buffers, subgroup).unwrap_or_else(|e| panic!("{e}"));
                let written = |name: &str| {
                    let at = shader.loops.buffers.iter().position(|b| b.tensor == name).expect("a buffer");
                    buffers[at].iter().map(|w| f32::from_bits(*w)).collect::<Vec<f32>>()
                };
                let (scores, totals) = (written("j.score"), written("j.total"));
                for part in 0..4usize {
                    if part as u32 >= count {
                        assert!(scores[part].is_nan() && totals[part * stride].is_nan(), "a part beyond the end");
                        continue;
                    }
                    let all = part * 8..(part * 8 + 8).min(pos as usize + 1);
                    let near = |got: f32, want: f32| {
                        assert!((got - want).abs() < 1e-4, "{} at {pos}: {got}, not {want}", schedule.name);
                    };
                    near(scores[part], all.clone().map(|j| (0..5).map(|d| x(j, d) * w(d)).sum::<f32>()).sum());
                    for c in 0..5 {
                        near(totals[part * stride + c], all.clone().map(|j| x(j, c) * 0.5).sum());
                    }
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_split_says_why() {
    let error = |kernel: Kernel, axis: &str, chunk: u32| {
        split(["a", "b"], &kernel, axis, chunk).expect_err("it is not possible").to_string()
    };
    let zero = error(product(), "k", 0);
    assert_eq!(zero, "the reduction over `k` of kernel `product` cannot be split: a part of 0 values holds nothing");
    let none = error(product(), "r", 8);
    assert!(none.contains("no reduction has that axis; those of reductions are k"), "{none}");
    let again = error(relative(), "j", 8);
    assert!(again.contains("the reduction over `i` would run again for every part"), "{again}");
    assert!(split(["a", "b"], &relative(), "i", 8).is_ok(), "the first of two leaves the second to what follows");
    let place = error(own(), "k", 2);
    assert!(place.contains("it reads `h`, which the kernel changes"), "{place}");
    let deep_in = error(nested(), "j", 8);
    assert!(deep_in.contains("it runs at every step of `i`"), "{deep_in}");
    assert!(split(["a", "b"], &nested(), "i", 8).is_ok(), "what runs inside goes with each part");
    let part = error(inner(), "j", 8);
    assert!(part.contains("`i`, which does not run from 0 to an extent"), "{part}");
    let rank = error(deep(), "j", 8);
    assert!(rank.contains("a tensor of 5 dimensions, and there are 4 at most"), "{rank}");
}
