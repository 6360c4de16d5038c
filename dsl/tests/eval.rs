//! The reference evaluator against plain Rust, and the laws of the monoids.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tilewright_dsl::build::{argmax, max, sum};
use tilewright_dsl::eval::{Data, EvalError, Value, eval, identity, merge};
use tilewright_dsl::ir::*;
use tilewright_dsl::kernel;

mod kernels;
use kernels::*;

/// Runs a kernel and gives the tensor of that name back.
fn run(
    kernel: &Kernel,
    extents: &[(&str, u32)],
    scalars: &[(&str, Value)],
    tensors: &[(&str, Data)],
    result: &str,
) -> Result<Data, EvalError> {
    let extents = extents.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let scalars = scalars.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let mut tensors: BTreeMap<_, _> = tensors.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
    eval(kernel, &extents, &scalars, &mut tensors)?;
    Ok(tensors.remove(result).expect("the tensor was given"))
}

fn floats(data: Result<Data, EvalError>) -> Vec<f32> {
    match data.expect("the kernel has a meaning") {
        Data::F32(data) => data,
        Data::U32(_) => panic!("u32"),
    }
}

/// Numbers without a pattern, in -1..1.
fn noise(seed: u32, n: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2654435761).wrapping_add(1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / 2f32.powi(31) - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn close(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((f64::from(*a) - b).abs() <= 1e-5 * b.abs().max(1.0), "element {i}: {a}, expected {b}");
    }
}

fn zeros(n: u32) -> Data {
    Data::F32(vec![0.0; n as usize])
}

/// A function of indices, over the row-major order of two dimensions.
fn table(rows: u32, columns: u32, f: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..rows as usize).flat_map(|r| (0..columns as usize).map(move |c| (r, c))).map(|(r, c)| f(r, c)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn linear_is_the_product(t in 1u32..4, r in 1u32..8, k in 1u32..40, seed: u32) {
        let (w, x) = (noise(seed, r * k), noise(seed ^ 1, t * k));
        let inputs = [("w", Data::F32(w.clone())), ("x", Data::F32(x.clone())), ("y", zeros(t * r))];
        let y = floats(run(&linear(), &[("T", t), ("R", r), ("K", k)], &[], &inputs, "y"));
        let k = k as usize;
        let dot = |t: usize, r: usize| (0..k).map(|i| f64::from(w[r * k + i]) * f64::from(x[t * k + i])).sum();
        close(&y, &table(t, r, dot));
    }

    #[test]
    fn rmsnorm_is_the_formula(t in 1u32..4, d in 1u32..40, seed: u32) {
        let (x, w) = (noise(seed, t * d), noise(seed ^ 1, d));
        let inputs = [("x", Data::F32(x.clone())), ("w", Data::F32(w.clone())), ("y", zeros(t * d))];
        let y = floats(run(&rmsnorm(), &[("T", t), ("D", d)], &[("eps", Value::F32(1e-6))], &inputs, "y"));
        let n = d as usize;
        let square = |t: usize| (0..n).map(|i| f64::from(x[t * n + i]).powi(2)).sum::<f64>();
        close(&y, &table(t, d, |t, d| f64::from(x[t * n + d]) * f64::from(w[d]) / (square(t) / n as f64 + 1e-6).sqrt()));
    }

    #[test]
    fn softmax_is_the_formula(r in 1u32..4, c in 1u32..40, seed: u32) {
        let x: Vec<f32> = noise(seed, r * c).iter().map(|v| v * 20.0).collect();
        let y = floats(run(&softmax(), &[("R", r), ("C", c)], &[], &[("x", Data::F32(x.clone())), ("y", zeros(r * c))], "y"));
        let n = c as usize;
        let total = |r: usize| (0..n).map(|i| f64::from(x[r * n + i]).exp()).sum::<f64>();
        close(&y, &table(r, c, |r, c| f64::from(x[r * n + c]).exp() / total(r)));
    }

    #[test]
    fn attention_is_two_passes(t in 1u32..4, g in 1u32..3, group in 1u32..3, d in 1u32..9, pos in 0u32..5, seed: u32) {
        let (h, s) = (g * group, pos + t + 2);
        let (q, k, v) = (noise(seed, t * h * d), noise(seed ^ 1, s * g * d), noise(seed ^ 2, s * g * d));
        let data = |v: &Vec<f32>| Data::F32(v.clone());
        let extents = [("T", t), ("H", h), ("G", g), ("D", d), ("S", s)];
        let scalars = [("pos", Value::U32(pos)), ("scale", Value::F32(0.7))];
        let inputs = [("q", data(&q)), ("k", data(&k)), ("v", data(&v)), ("y", zeros(t * h * d))];
        let y = floats(run(&attention(), &extents, &scalars, &inputs, "y"));
        let (d, g, heads) = (d as usize, g as usize, h as usize);
        let expected = table(t * h, d as u32, |row, c| {
            let (t, h) = (row / heads, row % heads);
            let kv = h / (heads / g);
            let score = |j: usize| -> f64 {
                (0..d).map(|i| f64::from(q[row * d + i]) * f64::from(k[(j * g + kv) * d + i])).sum::<f64>() * 0.7
            };
            let visible = || 0..pos as usize + t + 1;
            let total: f64 = visible().map(|j| score(j).exp()).sum();
            visible().map(|j| score(j).exp() / total * f64::from(v[(j * g + kv) * d + c])).sum()
        });
        close(&y, &expected);
    }

    #[test]
    fn rope_turns_pairs_in_place(t in 1u32..4, h in 1u32..3, p in 1u32..5, pos in 0u32..4, seed: u32) {
        let (s, d) = (pos + t, 2 * p);
        let (x, angle) = (noise(seed, t * h * d), noise(seed ^ 1, s * p));
        let part = |f: fn(f32) -> f32| Data::F32(angle.iter().map(|a| f(*a)).collect());
        let inputs = [("x", Data::F32(x.clone())), ("cos", part(f32::cos)), ("sin", part(f32::sin))];
        let extents = [("T", t), ("H", h), ("D", d), ("S", s), ("P", p)];
        let y = floats(run(&rope(), &extents, &[("pos", Value::U32(pos))], &inputs, "x"));
        let (half, heads) = (p as usize, h as usize);
        close(&y, &table(t * h, d, |row, i| {
            let a = f64::from(angle[(pos as usize + row / heads) * half + i % half]);
            let (low, high) = (f64::from(x[row * 2 * half + i % half]), f64::from(x[row * 2 * half + half + i % half]));
            if i < half { low * a.cos() - high * a.sin() } else { high * a.cos() + low * a.sin() }
        }));
    }

    #[test]
    fn argmax_is_the_first_largest(values in proptest::collection::vec(-3i8..3, 1..20)) {
        let values: Vec<f32> = values.iter().map(|v| f32::from(*v)).collect();
        let mut best = 0;
        for (i, v) in values.iter().enumerate() {
            if *v > values[best] {
                best = i;
            }
        }
        prop_assert_eq!(token(&values), best as u32);
    }

    #[test]
    fn argmax_finds_what_is_not_finite(mut values in proptest::collection::vec(any::<f32>(), 1..20), at: prop::sample::Index, which in 0..3usize) {
        let at = at.index(values.len());
        values[at] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][which];
        prop_assert_eq!(token(&values), u32::MAX);
    }
}

fn token(logits: &[f32]) -> u32 {
    let n = logits.len() as u32;
    let inputs = [("logits", Data::F32(logits.to_vec())), ("token", Data::U32(vec![0]))];
    match run(&greedy(), &[("T", 1), ("V", n)], &[], &inputs, "token") {
        Ok(Data::U32(token)) => token[0],
        other => panic!("{other:?}"),
    }
}

#[test]
fn loaded_indices_are_clamped() {
    let ids = Data::U32(vec![1, 7, u32::MAX]);
    let rows = Data::F32((0..6).map(|i| i as f32).collect());
    let inputs = [("ids", ids), ("table", rows), ("y", zeros(6))];
    let y = floats(run(&embedding(), &[("T", 3), ("V", 3), ("D", 2)], &[], &inputs, "y"));
    assert_eq!(y, [2.0, 3.0, 4.0, 5.0, 4.0, 5.0]);
}

#[test]
fn an_out_keeps_the_rest() {
    let inputs = [("x", Data::F32(vec![1.0, 2.0])), ("cache", Data::F32(vec![7.0; 6]))];
    let extents = [("T", 1), ("S", 3), ("D", 2)];
    let cache = floats(run(&append(), &extents, &[("pos", Value::U32(1))], &inputs, "cache"));
    assert_eq!(cache, [7.0, 7.0, 1.0, 2.0, 7.0, 7.0]);
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let inputs = [("x", Data::F32(vec![1.0, 2.0])), ("cache", Data::F32(vec![7.0; 6]))];
    let extents = [("T", 1), ("S", 3), ("D", 2)];
    let pos = [("pos", Value::U32(3))];
    let short = [("x", zeros(3)), inputs[1].clone()];
    let kind = [("x", Data::U32(vec![0, 0])), inputs[1].clone()];
    let errors = [
        run(&append(), &extents[1..], &pos, &inputs, "x"),
        run(&append(), &extents, &[], &inputs, "x"),
        run(&append(), &extents, &[("pos", Value::F32(3.0))], &inputs, "x"),
        run(&append(), &extents, &pos, &inputs[1..], "x"),
        run(&append(), &extents, &pos, &short, "x"),
        run(&append(), &extents, &pos, &kind, "x"),
        run(&append(), &extents, &pos, &inputs, "x"),
    ];
    let text: Vec<_> = errors.into_iter().map(|e| e.expect_err("a mistake").to_string()).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    kernel `append` needs extent `T`, which is not given
    kernel `append` needs scalar `pos`, which is not given
    `pos` is given as f32; kernel `append` declares u32
    kernel `append` needs tensor `x`, which is not given
    tensor `x` has 3 elements; its extents [1, 2] make 2
    `x` is given as u32; kernel `append` declares f32
    store index 3 in dimension 0 of tensor `cache`, whose extent is 3
    ");
}

/// One of each operator, with WGSL's integer corner cases.
#[kernel]
fn corners(a: Tensor<u32, N>, b: Tensor<u32, N>, y: Out<u32, N, M>) {
    for i in 0..N {
        let p = a[i];
        let q = b[i];
        y[i][0] = p / q;
        y[i][1] = p % q;
        y[i][2] = p << q;
        y[i][3] = p - q;
        y[i][4] = if p < q && !(p == 0) { p as f32 as u32 } else { min(p, q) ^ 1 };
        y[i][5] = (0.0 - p as f32) as u32;
    }
}

#[test]
fn integer_corner_cases_are_wgsls() {
    let inputs = [("a", Data::U32(vec![7, 3])), ("b", Data::U32(vec![0, 33])), ("y", Data::U32(vec![9; 12]))];
    let y = run(&corners(), &[("N", 2), ("M", 6)], &[], &inputs, "y");
    assert_eq!(y, Ok(Data::U32(vec![7, 0, 7, 7, 1, 0, 0, 3, 6, u32::MAX - 29, 3, 0])));
}

#[test]
fn empty_reductions_are_the_identity() {
    #[kernel]
    fn empty(x: Tensor<N>, y: Out<M>, z: Out<u32, M>) {
        for i in 0..M {
            y[i] = sum(1..1, |j| x[j]) + max(2..1, |k| x[k]);
            z[i] = argmax(0..0, |v| x[v]);
        }
    }
    let inputs = [("x", zeros(1)), ("y", zeros(1)), ("z", Data::U32(vec![0]))];
    assert_eq!(floats(run(&empty(), &[("N", 1), ("M", 1)], &[], &inputs, "y")), [LOWEST]);
    assert_eq!(run(&empty(), &[("N", 1), ("M", 1)], &[], &inputs, "z"), Ok(Data::U32(vec![u32::MAX - 1])));
}

#[test]
fn a_reduction_runs_once_a_value() {
    // Quadratic work would be 10^10 steps.
    let n = 100_000;
    let inputs = [("x", Data::F32(vec![1.0; n as usize])), ("w", Data::F32(vec![1.0; n as usize])), ("y", zeros(n))];
    let y = floats(run(&rmsnorm(), &[("T", 1), ("D", n)], &[("eps", Value::F32(0.0))], &inputs, "y"));
    assert!(y.iter().all(|v| *v == 1.0));
}

/// The values of a monoid that `argmax` can meet: singletons of any float, and the identity.
fn best() -> impl Strategy<Value = Vec<Value>> {
    let value = prop_oneof![(-2i8..2).prop_map(f32::from), any::<f32>(), Just(f32::MAX), Just(LOWEST), Just(-0.0)];
    (value, 0u32..5, any::<bool>()).prop_map(|(v, i, identity)| {
        let (v, i) = if v.is_finite() { (v, i) } else { (f32::MAX, u32::MAX) };
        if identity { vec![Value::F32(LOWEST), Value::U32(u32::MAX - 1)] } else { vec![Value::F32(v), Value::U32(i)] }
    })
}

fn online() -> impl Strategy<Value = Vec<Value>> {
    (-30f32..30.0, 0.1f32..4.0, -5f32..5.0).prop_map(|(m, w, v)| vec![Value::F32(m), Value::F32(w), Value::F32(v)])
}

fn both(m: &Monoid, a: &[Value], b: &[Value]) -> Vec<Value> {
    merge(m, a, b).expect("the monoid is well formed")
}

fn near(a: &[Value], b: &[Value]) {
    for (a, b) in a.iter().zip(b) {
        let (Value::F32(a), Value::F32(b)) = (a, b) else { panic!("{a:?} {b:?}") };
        assert!((a - b).abs() <= 1e-4 * a.abs().max(b.abs()).max(1.0), "{a} {b}");
    }
}

proptest! {
    #[test]
    fn argmax_is_a_monoid_exactly(a in best(), b in best(), c in best()) {
        let m = argmax();
        let one = identity(&m).expect("the monoid is well formed");
        prop_assert_eq!(both(&m, &both(&m, &a, &b), &c), both(&m, &a, &both(&m, &b, &c)));
        prop_assert_eq!(both(&m, &one, &a), a.clone());
        prop_assert_eq!(both(&m, &a, &one), a);
    }

    #[test]
    fn softmax_is_a_monoid_up_to_rounding(a in online(), b in online(), c in online()) {
        let m = Softmax::monoid();
        let one = identity(&m).expect("the monoid is well formed");
        near(&both(&m, &both(&m, &a, &b), &c), &both(&m, &a, &both(&m, &b, &c)));
        prop_assert_eq!(both(&m, &one, &a), a.clone());
        prop_assert_eq!(both(&m, &a, &one), a);
        prop_assert_eq!(both(&m, &one, &one), one);
    }

    #[test]
    fn sum_and_max_are_monoids(a in -1e6f32..1e6, b in -1e6f32..1e6, c in -1e6f32..1e6) {
        let [a, b, c] = [a, b, c].map(|v| vec![Value::F32(v)]);
        for m in [sum(), max()] {
            let one = identity(&m).expect("the monoid is well formed");
            // Rounding is relative to the largest partial sum here.
            let (Value::F32(l), Value::F32(r)) = (both(&m, &both(&m, &a, &b), &c)[0], both(&m, &a, &both(&m, &b, &c))[0])
                else { panic!("f32") };
            prop_assert!((l - r).abs() <= 3e6 * f32::EPSILON * 2.0, "{} {}", l, r);
            prop_assert_eq!(both(&m, &one, &a), a.clone());
            prop_assert_eq!(both(&m, &a, &one), a.clone());
        }
    }
}

/// Pairs of one half and the other.
#[kernel]
fn halves(x: Tensor<D>, y: Out<F>) {
    assert!(D == 2 * F);
    for p in 0..F {
        y[p] = x[p] + x[p + F];
    }
}

#[test]
fn an_assertion_that_does_not_hold_is_an_error() {
    let kernel = halves();
    let with = |d: u32, f: u32| {
        let (x, y) = (Data::F32(noise(7, d)), zeros(f));
        run(&kernel, &[("D", d), ("F", f)], &[], &[("x", x), ("y", y)], "y")
    };
    assert_eq!(floats(with(8, 4)).len(), 4);
    for (d, f) in [(7, 3), (8, 16), (9, 4)] {
        let error = with(d, f).expect_err("the halves do not meet");
        assert!(matches!(error, EvalError::Assertion { .. }));
        assert_eq!(error.to_string(), format!("kernel `halves`: `D` must be `2 * F`, and D = {d}, F = {f}"));
    }
}

#[test]
fn extents_are_spelled_as_written() {
    use tilewright_dsl::build::Builder;
    let b = Builder::new("k");
    let y = b.output::<f32, 3>("y", ["A", "B", "C"]);
    y.set([b.u32(0), b.u32(0), b.u32(0)], b.f32(0.0));
    let (a, c, e) = (b.extent("A"), b.extent("B"), b.extent("C"));
    b.assert(((a + c) * e - (a - (c - e))).eq(a / (c * e)));
    b.assert((a % c).eq(0));
    b.assert(a.max(c).lt(e));
    let kernel = b.finish().expect("it is well formed");
    let spelled: Vec<_> = kernel.asserts.iter().map(|id| kernel.demand(*id)).collect();
    assert_eq!(
        spelled,
        [
            "`(A + B) * C - (A - (B - C))` must be `A / (B * C)`",
            "`A` must be a multiple of `B`",
            "`max(A, B) < C` must hold"
        ]
    );
}
