//! The kernels that the compiler makes of several texts store what the texts store one after the other.
//!
//! Where a factor left a sum they round otherwise; inlined and laid beside each other they are equal bit for bit.

#[path = "../../codegen/tests/parts/mod.rs"]
mod parts;

use parts::{Apart, REORDERED, same};
use tilewright_codegen::fuse::FuseError;
use tilewright_dsl::eval::Value;
use tilewright_dsl::ir::Kernel;
use tilewright_models::kernels::bias::bias;
use tilewright_models::kernels::gated::gated;
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
