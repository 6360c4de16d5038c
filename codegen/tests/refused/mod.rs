//! Kernels with schedules that do not apply to them: at least one for each reason.
#![allow(dead_code, reason = "each test uses its part")]

#[path = "../../../dsl/tests/kernels/mod.rs"]
mod kernels;
pub mod wrong;

pub use kernels::{Softmax, embedding, linear, rmsnorm, softmax};

use tilewright_codegen::fuse::{FuseError, beside, fuse, merge, share, split, through};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::kernel;
use tilewright_dsl::schedule::{Schedule, parse_file};

#[kernel]
pub fn attention(q: Tensor<T, D>, k: Tensor<P, D>, v: Tensor<P, D>, y: Out<T, D>, pos: u32) {
    for t in 0..T {
        let s = fold(0..pos + t + 1, |j| {
            let score = sum(0..D, |d| q[t][d] * k[j][d]);
            Softmax::<D> { max: score, weight: 1.0, value: |c| v[j][c] }
        });
        for c in 0..D {
            y[t][c] = s.value[c] / s.weight;
        }
    }
}

/// Sums of what comes after each element: the later, the fewer.
#[kernel]
fn suffix(x: Tensor<N, D>, y: Out<N>) {
    for n in 0..N {
        y[n] = sum(0..N - n, |j| exp(sum(0..D, |d| x[n + j][d])));
    }
}

/// Two loops that store.
#[kernel]
fn two_loops(x: Tensor<N>, y: Out<N>, z: Out<N>) {
    for a in 0..N {
        y[a] = x[a];
    }
    for b in 0..N {
        z[b] = x[b] * 2.0;
    }
}

/// Two stores in one loop, beside another.
#[kernel]
fn two_in_one(x: Tensor<N>, y: Out<N>, z: Out<N>, w: Out<N>) {
    for a in 0..N {
        y[a] = x[a];
        z[a] = x[a] * 2.0;
    }
    for b in 0..N {
        w[b] = x[b] * 3.0;
    }
}

/// Two loops, one of which changes a tensor in place.
#[kernel]
fn in_place(x: InOut<N>, y: Tensor<N>, z: Out<N>) {
    for a in 0..N {
        x[a] = x[a] + y[a];
    }
    for b in 0..N {
        z[b] = y[b] * 2.0;
    }
}

/// Two sums over different ranges.
#[kernel]
fn two_ranges(x: Tensor<N>, z: Tensor<M>, y: Out<T>) {
    for t in 0..T {
        y[t] = sum(0..N, |a| x[a]) * sum(0..M, |b| z[b]);
    }
}

/// A sum that needs another.
#[kernel]
fn variance(x: Tensor<T, N>, y: Out<T>) {
    for t in 0..T {
        let mean = sum(0..N, |a| x[t][a]) / N as f32;
        y[t] = sum(0..N, |b| (x[t][b] - mean) * (x[t][b] - mean));
    }
}

/// Neighbours by a computed index.
#[kernel]
fn reversed(x: Tensor<T, N>, y: Out<T, N>) {
    for t in 0..T {
        for n in 0..N {
            y[t][n] = sum(0..N, |i| x[t][N - 1 - i] * x[t][i]);
        }
    }
}

#[kernel]
fn bias(y: InOut<T, R>, b: Tensor<R>) {
    for t in 0..T {
        for r in 0..R {
            y[t][r] = y[t][r] + b[r];
        }
    }
}

/// Heads in groups that share their keys.
#[kernel]
pub fn grouped(x: Tensor<H>, k: Tensor<G>, y: Out<H>) {
    assert!(H % G == 0);
    for h in 0..H {
        y[h] = x[h] * k[h / (H / G)];
    }
}

/// The same, without a word about the extents.
#[kernel]
pub fn careless(x: Tensor<H>, k: Tensor<G>, y: Out<H>) {
    for h in 0..H {
        y[h] = x[h] * k[h / (H / G)];
    }
}

/// A kernel, and a schedule that does not apply to it.
#[derive(Clone)]
pub struct Case {
    /// What sets this case apart from others with the same error; empty for one of them.
    pub detail: &'static str,
    pub kernel: Kernel,
    pub schedule: Schedule,
    pub shape: Shape,
    pub target: Target,
}

impl Case {
    pub fn new(kernel: Kernel, text: &str, shape: Shape) -> Self {
        let schedule = parse_file("example.schedules", text).expect("the text is well formed").remove(0);
        Case { detail: "", kernel, schedule, shape, target: Target::webgpu_subgroups() }
    }
    fn on(mut self, change: impl FnOnce(&mut Target)) -> Self {
        change(&mut self.target);
        self
    }
    fn detail(mut self, detail: &'static str) -> Self {
        self.detail = detail;
        self
    }
}

/// A shape that every kernel here has.
pub fn small() -> Shape {
    Shape::new()
        .param("T", 64)
        .fixed("R", 896)
        .fixed("K", 896)
        .fixed("D", 64)
        .fixed("C", 64)
        .param("P", 512)
        .fixed("N", 48)
        .fixed("H", 12)
        .fixed("G", 4)
        .fixed("V", 100)
}

/// The same, for the extents of one kernel.
pub fn whole_shape(_: &Kernel) -> Shape {
    small()
}

fn on_linear(levels: &str) -> Case {
    Case::new(linear(), &format!("schedule wide for linear {{ {levels} }}"), small())
}

fn on_rmsnorm(levels: &str) -> Case {
    Case::new(rmsnorm(), &format!("schedule rows for rmsnorm {{ {levels} }}"), small())
}

fn on_attention(levels: &str) -> Case {
    Case::new(attention(), &format!("schedule heads for attention {{ {levels} }}"), small())
}

/// One case at least for each variant of `ScheduleError`.
pub fn cases() -> Vec<Case> {
    let mut all = of_schedules();
    all.extend(extents());
    all
}

/// Those of kernels that are right.
pub fn of_schedules() -> Vec<Case> {
    let mut all = names();
    all.extend(sizes());
    all.extend(lanes());
    all.extend(tiles());
    all.extend(limits());
    all
}

fn names() -> Vec<Case> {
    let mut twice = on_linear("k: serial, lanes(32);");
    twice.schedule.axes.push(on_linear("k: serial, vector(4);").schedule.axes.remove(0));
    let derived = "schedule base for linear { k: serial as ko, serial(16); stage w at ko: workgroup; }
        schedule wide for linear from base { t: serial as ko, serial(4); }";
    let mut twice_named = on_linear("");
    twice_named.schedule = parse_file("example.schedules", derived).expect("the text is well formed").remove(1);
    vec![
        Case { schedule: on_rmsnorm("t: grid;").schedule, ..on_linear("") },
        Case { shape: Shape::new().fixed("T", 1).fixed("R", 64), ..on_linear("t: grid;") },
        Case { shape: small().fixed("K", 0), ..on_linear("t: grid;") },
        on_linear("t: grid; kk: serial, lanes(32); fold kk: subgroup; tail kk: exact;"),
        on_rmsnorm("q: grid;").detail("far"),
        on_linear("ko: serial; stage w at k: workgroup;").detail("level"),
        on_linear("k: serial as ko, serial(16); stage ww at ko: workgroup; store ww: f16;"),
        on_linear("k: serial as ko, serial(16); stage zz at ko: workgroup;").detail("far"),
        on_rmsnorm("t: grid; compute scales at i;"),
        on_linear("k: serial; compute score at k;").detail("none"),
        on_linear("k: serial as ko, serial(16); stage w at k0: workgroup; stage x at k0: workgroup;"),
        on_linear("k: serial, serial(16); stage w at inner: workgroup;").detail("far"),
        twice,
        twice_named,
        on_linear("k: serial as r, serial(16); stage w at r: workgroup;").detail("axis"),
    ]
}

fn extents() -> Vec<Case> {
    let heads = |kernel: Kernel, h, g| {
        let text = format!("schedule heads for {} {{ h: grid; }}", kernel.name);
        Case::new(kernel, &text, small().fixed("H", h).fixed("G", g))
    };
    let mut run_time = heads(grouped(), 12, 4);
    run_time.shape = run_time.shape.param("H", 12);
    let wrong = |kernel: Kernel| {
        let text = format!("schedule plain for {} {{ }}", kernel.name);
        Case::new(kernel, &text, small())
    };
    vec![
        wrong(wrong::many_axes()),
        wrong(wrong::next()),
        wrong(wrong::previous()).detail("under"),
        wrong(wrong::all_to_one()),
        wrong(wrong::infinite()),
        wrong(wrong::far_shift()),
        heads(grouped(), 1, 4),
        heads(grouped(), 5, 3).detail("rest"),
        run_time,
        heads(careless(), 1, 4),
    ]
}

fn sizes() -> Vec<Case> {
    vec![
        on_linear("k: serial(65536), lanes(65536);"),
        on_linear("k: serial as ko, serial, vector(4);"),
        on_linear("k: lanes(32), vector(4);"),
        on_linear("r: grid(12), lanes(64);").detail("grid"),
        on_attention("j: serial(4), lanes(64);").detail("run-time"),
        on_linear("t: lanes(4);").detail("capacity"),
        on_linear("t: grid; r: grid; k: serial, lanes(64), vector(4); tail k: exact;"),
        on_rmsnorm("i: serial(3), lanes(32); tail i: exact;").detail("closed"),
        on_attention("t: grid; j: serial, lanes(8); tail j: exact;"),
        on_attention("t: grid; j: lanes(8), serial;"),
        on_linear("t: grid; k: grid, serial(256);"),
        on_linear("t: grid; k: serial, vector(3);").detail("vector"),
        Case::new(in_place(), "schedule both for in_place { a: grid; }", small()).detail("store"),
        on_attention("softmax.c: grid;").detail("array"),
        on_linear("t: grid; r: lanes(64), grid;"),
        on_linear("t: grid; k: serial, vector(4), lanes(32);").detail("vector"),
        on_linear("t: grid; k: serial, lanes(8), lanes(4);").detail("twice"),
        on_linear("t: grid, vector(4); k: serial, vector(4);"),
    ]
}

fn lanes() -> Vec<Case> {
    vec![
        on_linear("t: grid, lanes(16); r: grid, lanes(32);"),
        on_linear("r: grid, unroll(64); k: serial, unroll(8), vector(4);"),
        on_linear("workgroup 128; r: grid, lanes(2), unroll(4); k: serial, lanes(32), vector(8);"),
        on_rmsnorm("t: grid; j: serial, lanes(64); i: serial, lanes(96);"),
        on_rmsnorm("t: grid, lanes(2); j: serial, lanes(32); i: serial, lanes(64);"),
        Case::new(
            two_in_one(),
            "schedule odd for two_in_one { a: serial, lanes(48); b: serial, lanes(100); }",
            small(),
        )
        .detail("once"),
        on_linear("r: grid; k: serial, lanes(48);"),
        on_linear("workgroup 64; r: grid, lanes(2); k: serial, lanes(33);").detail("workgroup"),
        on_linear("r: grid, lanes(2); k: serial, lanes(300);").detail("large"),
        on_linear("r: grid, lanes(64), unroll(64); k: serial, unroll(16);"),
        on_linear("r: grid; k: serial, lanes(32); fold k: subgroup;").on(|t| *t = Target::webgpu()),
        on_linear("k: serial, lanes(32); r: grid, lanes(3); fold k: subgroup;"),
        on_linear("r: grid; fold r: tree;"),
        Case::new(bias(), "schedule plain for bias { fold r: tree; }", small()).detail("none"),
        on_attention("t: grid; softmax.c: lanes(16), unroll(4); c: lanes(64);"),
    ]
}

fn tiles() -> Vec<Case> {
    vec![
        on_linear("k: serial as ko, serial(16); stage x at ko: registers;"),
        on_linear("k: serial, lanes(32), serial(4) as inner; stage x at inner: workgroup;").detail("lanes"),
        on_linear("t: grid; stage w at t: workgroup;").detail("axis"),
        on_linear("t: grid; stage w at t: workgroup ahead;").detail("ahead"),
        Case::new(
            reversed(),
            "schedule all for reversed { i: serial as io, serial(8); stage x at io: workgroup; }",
            small(),
        )
        .detail("patterns"),
        on_rmsnorm("t: grid; j: serial, lanes(64); i: serial, lanes(64); compute s at t: workgroup;").detail("fold"),
        on_attention("t: grid; j: serial; stage k at t: workgroup;").detail("run-time"),
        on_attention("t: grid; stage v at softmax.c: workgroup;").detail("array"),
        on_attention("t: grid; j: serial; compute score at t: workgroup;").detail("inside"),
        Case::new(
            embedding(),
            "schedule rows for embedding { t: serial, serial(8); stage ids at t: workgroup; }",
            small(),
        )
        .detail("integers"),
        Case::new(
            suffix(),
            "schedule held for suffix { j: serial as jo, serial(8); stage x at jo: workgroup; }",
            small(),
        )
        .detail("computed"),
        on_rmsnorm("t: grid; compute scale at j;").detail("itself"),
        on_linear("k: serial as ko, serial(16); stage y at ko: workgroup;").detail("written"),
        on_rmsnorm("i: serial as io, serial(16); stage w at j: workgroup;").detail("elsewhere"),
        on_linear("store y: bf16;"),
        on_linear("r: grid, lanes(64); store y: f16;"),
        Case::new(embedding(), "schedule rows for embedding { t: grid; store ids: bf16; }", small()).detail("ids"),
        Case::new(suffix(), "schedule shared for suffix { n: grid, lanes(4); d: serial, lanes(8); }", small()),
    ]
}

fn limits() -> Vec<Case> {
    let fragments = "t: grid, matrix(8); r: grid, matrix(8); k: serial as ko, matrix(8);
        stage w at ko: workgroup f16; stage x at ko: workgroup f16;";
    let sizes = |min, max| Some(Subgroups { min, max });
    let matrices = |t: &mut Target| (t.fragments, t.subgroups) = (vec![8], sizes(32, 32));
    let tiled = "t: grid, lanes(16), unroll(4); r: grid, lanes(16), unroll(4); k: serial as ko, serial(64);
        stage w at ko: workgroup; stage x at ko: workgroup;";
    vec![
        on_linear(tiled).detail("tiles"),
        on_attention("t: grid, lanes(4); j: serial, lanes(64); softmax.c: unroll(64); c: unroll(64);").detail("fold"),
        on_linear("t: grid;").on(|t| t.max_storage_buffers = 2),
        Case { shape: small().param("T", 8192).fixed("K", 8192), ..on_linear("t: grid;") },
        Case { shape: small().param("T", 100_000).fixed("K", 64), ..on_linear("t: grid;") }.detail("output"),
        on_linear("t: grid; r: grid;").on(|t| t.max_workgroups = 16),
        Case { shape: small().fixed("K", 70_000), ..on_linear("t: grid; r: grid; k: serial;") }
            .on(|t| t.max_iterations = Some(65_535)),
        Case { shape: small().fixed("T", 1), ..on_linear("") }.on(|t| t.max_iterations = Some(65_535)).detail("empty"),
        on_linear(fragments),
        on_linear(fragments).on(|t| t.fragments = vec![16]).detail("size"),
        on_linear(fragments).on(|t| (t.fragments, t.subgroups) = (vec![8], sizes(4, 128))),
        on_linear("t: grid, matrix(8); r: grid, matrix(8); k: serial as ko, matrix(8); stage w at ko: workgroup f16;")
            .on(matrices)
            .detail("matrix"),
    ]
}

/// Pairs of kernels that cannot become one.
pub fn fusions() -> Vec<(&'static str, FuseError)> {
    let refused = |consumer: Kernel, tensor, producer: Kernel| {
        fuse("fused", &consumer, tensor, "inner", &producer).expect_err("the kernels cannot be fused")
    };
    vec![
        ("", refused(linear(), "z", rmsnorm())),
        ("", refused(linear(), "x", two_loops())),
        ("in-place", refused(linear(), "x", bias())),
        ("", refused(rmsnorm(), "w", linear())),
        ("", refused(linear(), "x", linear())),
        ("axis", merge(&linear(), &["r"], "k").expect_err("`r` is no sum's axis")),
        ("range", merge(&two_ranges(), &["a", "b"], "k").expect_err("the ranges differ")),
        ("needs", merge(&variance(), &["a", "b"], "k").expect_err("one sum needs the other")),
        ("outermost", beside("both", &[("a", &linear()), ("b", &linear())], &["x"]).expect_err("t is not shared")),
        (
            "written",
            beside("both", &[("a", &linear()), ("b", &linear())], &["t", "T", "R", "y"]).expect_err("y is shared"),
        ),
        ("input", share(&linear(), &["x", "z"], "x").expect_err("there is no z")),
        ("axis", split(["parts", "rest"], &linear(), "r", 8).expect_err("`r` is no reduction's axis")),
        ("chunk", split(["parts", "rest"], &linear(), "k", 0).expect_err("a part must hold something")),
        ("tensor", through(&linear(), &["z"], "table", 16).expect_err("there is no z")),
        ("needs", split(["parts", "rest"], &variance(), "b", 8).expect_err("one sum needs the other")),
    ]
}
