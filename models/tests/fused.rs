//! The kernels that the compiler makes of several texts store what the texts store one after the other.
//!
//! Where a factor left a sum they round otherwise; inlined and laid beside each other they are equal bit for bit.

#[path = "../../codegen/tests/parts/mod.rs"]
mod parts;

use parts::{Apart, REORDERED, World, same};
use tilewright_codegen::fuse::{FuseError, fuse};
use tilewright_dsl::eval::Value;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::kernel;
use tilewright_models::kernels::argmax::argmax;
use tilewright_models::kernels::attention::attention;
use tilewright_models::kernels::attention_mix::attention_mix;
use tilewright_models::kernels::attention_parts::{attention_merged, attention_parts};
use tilewright_models::kernels::attention_scores::attention_scores;
use tilewright_models::kernels::attention_stats::attention_stats;
use tilewright_models::kernels::attention_values::attention_values;
use tilewright_models::kernels::bias::bias;
use tilewright_models::kernels::gated::gated;
use tilewright_models::kernels::head_parts::{argmax_merged, head_parts};
use tilewright_models::kernels::kv_append::kv_append;
use tilewright_models::kernels::linear::linear;
use tilewright_models::kernels::linear_bias::linear_bias;
use tilewright_models::kernels::linear_residual::linear_residual;
use tilewright_models::kernels::mul::mul;
use tilewright_models::kernels::norm_gated::norm_gated;
use tilewright_models::kernels::norm_linear::norm_linear;
use tilewright_models::kernels::qkv::qkv;
use tilewright_models::kernels::residual::residual;
use tilewright_models::kernels::rmsnorm::rmsnorm;
use tilewright_models::kernels::rope::rope;
use tilewright_models::kernels::rope_append::rope_append;
use tilewright_models::kernels::silu::silu;
use tilewright_models::kernels::softmax::softmax;

const EPS: (&str, Value) = ("eps", Value::F32(1e-6));

/// Positions, columns that are made, columns that are read.
const SIZES: [[u32; 3]; 5] = [[1, 1, 1], [3, 21, 40], [1, 7, 13], [2, 64, 5], [5, 2, 131]];

/// Positions, query heads, key-value heads, columns of a head, columns that are read.
const HEADS: [[u32; 5]; 4] = [[1, 1, 1, 2, 3], [3, 7, 1, 8, 40], [2, 6, 2, 6, 13], [4, 4, 4, 2, 31]];

fn made(fused: Result<Kernel, FuseError>) -> Kernel {
    fused.unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn norm_linear_is_a_norm_and_a_projection() {
    let whole = made(norm_linear());
    let names = [("norm.x", "x"), ("norm.w", "scale"), ("norm.eps", "eps")];
    let (norm, projection) = (rmsnorm(), linear());
    let parts: [parts::Step; 2] =
        [(&norm, &[("D", "K"), ("w", "scale"), ("y", "n")]), (&projection, &[("x", "n"), ("y", "y")])];
    for [t, r, k] in SIZES {
        same(&[("T", t), ("R", r), ("K", k)], &[EPS], (&whole, &names), &parts, &["y"], Apart::Nothing);
    }
}

#[test]
fn norm_gated_is_the_first_half_of_the_mlp() {
    let whole = made(norm_gated());
    let names = [("norm.x", "x"), ("norm.w", "scale"), ("norm.eps", "eps"), ("D", "R")];
    let (norm, projection, activation, product) = (rmsnorm(), linear(), silu(), mul());
    let parts: [parts::Step; 5] = [
        (&norm, &[("D", "K"), ("w", "scale"), ("y", "n")]),
        (&projection, &[("w", "gate.w"), ("x", "n"), ("y", "gate")]),
        (&projection, &[("w", "up.w"), ("x", "n"), ("y", "up")]),
        (&activation, &[("D", "R"), ("x", "gate"), ("y", "active")]),
        (&product, &[("D", "R"), ("a", "active"), ("b", "up")]),
    ];
    for [t, r, k] in SIZES {
        same(&[("T", t), ("R", r), ("K", k)], &[EPS], (&whole, &names), &parts, &["y"], REORDERED);
    }
}

#[test]
fn gated_is_it_without_the_norm() {
    let whole = made(gated());
    let (projection, activation, product) = (linear(), silu(), mul());
    let parts: [parts::Step; 4] = [
        (&projection, &[("w", "gate.w"), ("y", "gate")]),
        (&projection, &[("w", "up.w"), ("y", "up")]),
        (&activation, &[("D", "R"), ("x", "gate"), ("y", "active")]),
        (&product, &[("D", "R"), ("a", "active"), ("b", "up")]),
    ];
    for [t, r, k] in SIZES {
        same(&[("T", t), ("R", r), ("K", k)], &[], (&whole, &[("D", "R")]), &parts, &["y"], Apart::Nothing);
    }
}

#[test]
fn linear_bias_is_a_projection_and_a_sum() {
    let whole = made(linear_bias());
    let names = [("linear.w", "w"), ("linear.x", "x"), ("linear.K", "K")];
    let (projection, sum) = (linear(), bias());
    let parts: [parts::Step; 2] = [(&projection, &[("y", "made")]), (&sum, &[("x", "made")])];
    for [t, r, k] in SIZES {
        same(&[("T", t), ("R", r), ("K", k)], &[], (&whole, &names), &parts, &["y"], Apart::Nothing);
    }
}

#[test]
fn linear_residual_is_a_projection_and_a_sum() {
    let whole = made(linear_residual());
    let names = [("linear.w", "w"), ("linear.x", "x"), ("D", "R"), ("linear.K", "K")];
    let (projection, sum) = (linear(), residual());
    let parts: [parts::Step; 2] = [(&projection, &[("y", "made")]), (&sum, &[("D", "R"), ("x", "made")])];
    for [t, r, k] in SIZES {
        same(&[("T", t), ("R", r), ("K", k)], &[], (&whole, &names), &parts, &["h"], Apart::Nothing);
    }
}

type Named<T> = Vec<(&'static str, T)>;

/// Extents and scalars of a row of heads: those of queries, of keys, of values; the caches hold other positions too.
fn heads([t, q, g, d, k]: [u32; 5]) -> (Named<u32>, Named<Value>) {
    let s = q + 2 * g;
    let extents = [("T", t), ("S", s), ("D", d), ("R", s * d), ("K", k), ("P", 16)];
    let outputs = [("q.C", 12), ("q.H", q), ("k.C", 16), ("k.H", g), ("v.G", g)];
    let u = Value::U32;
    let from =
        [("pos", u(5)), ("q.from", u(0)), ("q.at", u(2)), ("k.from", u(q)), ("k.at", u(5)), ("v.from", u(q + g))];
    (extents.into_iter().chain(outputs).collect(), from.into_iter().chain([EPS]).collect())
}

/// What happens to a row of heads, each by its own text.
const QUERIES: &[(&str, &str)] = &[("C", "q.C"), ("H", "q.H"), ("y", "q.y"), ("from", "q.from"), ("at", "q.at")];
const KEYS: &[(&str, &str)] = &[("C", "k.C"), ("H", "k.H"), ("y", "k.y"), ("from", "k.from"), ("at", "k.at")];
const VALUES: &[(&str, &str)] = &[("G", "v.G"), ("cache", "v.cache"), ("from", "v.from")];

#[test]
fn rope_append_is_two_rotations_and_a_copy() {
    let whole = made(rope_append());
    let (rotation, copy) = (rope(), kv_append());
    let parts: [parts::Step; 3] = [(&rotation, QUERIES), (&rotation, KEYS), (&copy, VALUES)];
    for size in HEADS {
        let (extents, scalars) = heads(size);
        same(&extents, &scalars, (&whole, &[]), &parts, &["q.y", "k.y", "v.cache"], Apart::Nothing);
    }
}

#[test]
fn qkv_is_all_that_happens_before_attention() {
    let whole = made(qkv());
    let names =
        [("in.norm.x", "h"), ("in.norm.w", "scale"), ("in.norm.eps", "eps"), ("in.linear.w", "w"), ("in.b", "b")];
    let (norm, projection, offset, rotation, copy) = (rmsnorm(), linear(), bias(), rope(), kv_append());
    // The projection's row is read as heads.
    let parts: [parts::Step; 6] = [
        (&norm, &[("x", "h"), ("D", "K"), ("w", "scale"), ("y", "n")]),
        (&projection, &[("x", "n"), ("y", "bare")]),
        (&offset, &[("x", "bare"), ("y", "x")]),
        (&rotation, QUERIES),
        (&rotation, KEYS),
        (&copy, VALUES),
    ];
    for size in HEADS {
        let (extents, scalars) = heads(size);
        same(&extents, &scalars, (&whole, &names), &parts, &["q.y", "k.y", "v.cache"], REORDERED);
    }
}

#[test]
fn attention_in_parts_is_attention() {
    let (parts, merged) = (made(attention_parts()), made(attention_merged()));
    let steps: [parts::Step; 2] = [(&parts, &[]), (&merged, &[])];
    // The last query of the last row ends in, at the end of, and right behind a part.
    for (t, pos) in [(1u32, 0u32), (1, 200), (1, 255), (1, 256), (2, 254), (3, 511), (1, 600)] {
        let count = (pos + t).div_ceil(256);
        let extents = [("T", t), ("H", 4), ("G", 2), ("D", 6), ("P", 640), ("j.Parts", count)];
        let scalars = [("pos", Value::U32(pos)), ("scale", Value::F32(0.25))];
        same(&extents, &scalars, (&attention(), &[]), &steps, &["y"], REORDERED);
    }
}

/// Rows of a table are those of the softmax between its makers.
#[test]
fn attention_by_a_table_and_in_two_passes_is_attention() {
    let (scores, normal, mix) = (attention_scores(), softmax(), attention_mix());
    let (stats, values) = (attention_stats(), attention_values());
    let table: [parts::Step; 3] = [(&scores, &[]), (&normal, &[("x", "scores"), ("y", "weights")]), (&mix, &[])];
    let passes: [parts::Step; 2] = [(&stats, &[]), (&values, &[])];
    for (t, pos) in [(1u32, 0u32), (1, 200), (3, 30), (64, 0)] {
        let extents = [("T", t), ("H", 4), ("G", 2), ("D", 6), ("P", 210), ("R", 4 * t), ("C", pos + t)];
        let scalars = [("pos", Value::U32(pos)), ("scale", Value::F32(0.25))];
        for steps in [&table[..], &passes] {
            same(&extents, &scalars, (&attention(), &[]), steps, &["y"], REORDERED);
        }
    }
}

/// Ids as numbers that can be compared.
#[kernel]
fn number(i: Tensor<u32, T>, y: Out<T>) {
    for t in 0..T {
        y[t] = i[t] as f32;
    }
}

#[test]
fn head_parts_keep_the_largest_logit_of_every_64() {
    let (some, merged) = (made(head_parts()), made(argmax_merged()));
    let number = number();
    let index = made(fuse("index", &number, "i", "p", &merged));
    let names = [("head.w", "w"), ("head.norm.x", "x"), ("head.norm.w", "scale"), ("head.norm.eps", "eps")];
    let (norm, projection) = (rmsnorm(), linear());
    let largest = made(fuse("largest", &number, "i", "p", &argmax()));
    for (v, limit) in [(1u32, 5u32), (64, 64), (65, 1000), (200, 130), (200, 200)] {
        let extents = [("T", 2), ("V", v), ("K", 9), ("v.Parts", v.div_ceil(64))];
        let scalars = [EPS, ("limit", Value::U32(limit))];
        let world = World::new(7, &extents, &scalars);
        let in_parts = world.clone().run(&[
            (&some, &names),
            (&index, &[("p.v.max", "v.max"), ("p.v.index", "v.index"), ("p.v.Parts", "v.Parts")]),
        ]);
        let in_turn = world.run(&[
            (&norm, &[("D", "K"), ("w", "scale"), ("y", "n")]),
            (&projection, &[("R", "V"), ("x", "n"), ("y", "logits")]),
            (&largest, &[("p.x", "logits"), ("p.V", "V"), ("p.limit", "limit")]),
        ]);
        assert_eq!(in_parts.floats("y"), in_turn.floats("y"), "{v} ids up to {limit}");
    }
}
