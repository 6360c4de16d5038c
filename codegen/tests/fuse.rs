//! The laws of putting kernels together: what comes out means what its parts mean one after the other.
//!
//! Inlining, laying beside each other, sharing inputs and merging loops keep every operation and its order, so their results are
//! equal bit for bit; taking a factor out of a sum rounds otherwise.
#![allow(missing_docs, reason = "a test")]

mod parts;

use parts::{Apart, REORDERED, same};
use tilewright_codegen::fuse::{FuseError, beside, factor, fuse, merge, share};
use tilewright_dsl::eval::Value;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::kernel;

#[kernel]
fn product(w: Tensor<R, K>, x: Tensor<T, K>, y: Out<T, R>) {
    for t in 0..T {
        for r in 0..R {
            y[t][r] = sum(0..K, |k| w[r][k] * x[t][k]);
        }
    }
}

#[kernel]
fn scaled(x: Tensor<T, N>, y: Out<T, N>, by: f32) {
    for t in 0..T {
        for i in 0..N {
            y[t][i] = by * x[t][i];
        }
    }
}

/// Each element over its row's largest, so that the producer has a `let` and a reduction.
#[kernel]
fn relative(x: Tensor<T, N>, y: Out<T, N>) {
    for t in 0..T {
        let top = max(0..N, |j| abs(x[t][j])) + 1.0;
        for i in 0..N {
            y[t][i] = x[t][i] / top;
        }
    }
}

/// Neighbours of two heads: a row is read as H heads of D columns, at several indices.
#[kernel]
fn heads(x: Tensor<T, H, D>, y: Out<T, H, D>, from: u32) {
    for t in 0..T {
        for h in 0..H - 1 {
            for d in 0..D {
                y[t][h][d] = x[t][h][d] - x[t][from + h][d];
            }
        }
    }
}

#[kernel]
fn negated(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = -x[i];
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
fn differences(a: Tensor<T, N>, b: Tensor<T, N>, y: Out<T, N>) {
    for t in 0..T {
        for i in 0..N {
            y[t][i] = a[t][i] - b[t][i] * b[t][i];
        }
    }
}

/// A sum with factors that leave it, on both sides of what stays and nested.
#[kernel]
fn weighted(u: Tensor<T>, v: Tensor<R>, w: Tensor<R, K>, x: Tensor<T, K>, y: Out<T, R>) {
    for t in 0..T {
        for r in 0..R {
            y[t][r] = sum(0..K, |k| u[t] * (w[r][k] * v[r]) * (x[t][k] * 0.5)) + u[t];
        }
    }
}

/// Two sums over one range, one used twice.
#[kernel]
fn spread(x: Tensor<T, K>, y: Out<T>) {
    for t in 0..T {
        let mean = sum(0..K, |i| x[t][i]) / K as f32;
        let square = sum(0..K, |j| x[t][j] * x[t][j]) / K as f32;
        y[t] = square - mean * mean + mean;
    }
}

const SIZES: [[u32; 3]; 5] = [[1, 1, 1], [2, 3, 5], [1, 7, 13], [3, 1, 8], [5, 16, 33]];

fn named(result: Result<Kernel, FuseError>) -> Kernel {
    result.unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn an_inlined_producer_means_both_in_a_row() {
    let (one, two) = (scaled(), relative());
    let whole = named(fuse("whole", &product(), "x", "p", &one));
    let deep = named(fuse("deep", &whole, "p.x", "q", &two));
    for [t, r, k] in SIZES {
        let (extents, scalars) = ([("T", t), ("R", r), ("K", k)], [("by", Value::F32(0.3))]);
        let first = (&one, &[("N", "K"), ("y", "made")][..]);
        let last = (&product(), &[("x", "made")][..]);
        same(&extents, &scalars, (&whole, &[("p.x", "x"), ("p.by", "by")]), &[first, last], &["y"], Apart::Nothing);
        let zeroth = (&two, &[("N", "K"), ("y", "small")][..]);
        let first = (&one, &[("N", "K"), ("x", "small"), ("y", "made")][..]);
        let names = [("p.q.x", "x"), ("q.x", "x"), ("p.by", "by")];
        same(&extents, &scalars, (&deep, &names), &[zeroth, first, last], &["y"], Apart::Nothing);
    }
}

#[test]
fn a_producer_of_fewer_dimensions_makes_rows() {
    // The input's last dimensions are one row of the producer's output, whose length is their product.
    // The row is read at two indices, which makes two sums; they share a loop.
    let whole = named(fuse("whole", &heads(), "x", "p", &product()));
    let whole = named(merge(&whole, &["p.k"], "k"));
    let scalar = named(fuse("scalar", &heads(), "x", "p", &negated()));
    for [t, h, d] in [[1, 2, 1], [2, 3, 5], [3, 2, 8], [1, 7, 3]] {
        let extents = [("T", t), ("H", h), ("D", d), ("R", h * d), ("K", 9), ("N", t * h * d)];
        let scalars = [("from", Value::U32(1))];
        let first = (&product(), &[("y", "row")][..]);
        // Where a row was written, its heads are read.
        let last = (&heads(), &[("x", "row"), ("y", "out")][..]);
        same(
            &extents,
            &scalars,
            (&whole, &[("p.w", "w"), ("p.x", "x"), ("y", "out")]),
            &[first, last],
            &["out"],
            Apart::Nothing,
        );
        let first = (&negated(), &[("y", "row")][..]);
        same(&extents, &scalars, (&scalar, &[("p.x", "x"), ("y", "out")]), &[first, last], &["out"], Apart::Nothing);
    }
}

#[test]
fn what_is_changed_in_place_takes_a_producer() {
    let whole = named(fuse("whole", &added(), "x", "p", &product()));
    for [t, r, k] in SIZES {
        let extents = [("T", t), ("N", r), ("R", r), ("K", k)];
        let first = (&product(), &[("y", "made")][..]);
        let last = (&added(), &[("x", "made")][..]);
        same(&extents, &[], (&whole, &[("p.w", "w"), ("p.x", "x")]), &[first, last], &["h"], Apart::Nothing);
    }
}

#[test]
fn kernels_beside_each_other_store_what_each_stores() {
    let parts = [("a", &scaled()), ("b", &relative()), ("c", &scaled())];
    let whole = named(beside("whole", &parts, &["t", "T", "x", "N"]));
    let apart = named(beside("apart", &parts, &["t", "T"]));
    for [t, n, m] in SIZES {
        let extents = [("T", t), ("N", n), ("M", m), ("L", n + m)];
        let scalars = [("a.by", Value::F32(0.7)), ("c.by", Value::F32(-3.0))];
        let a = (&scaled(), &[("by", "a.by"), ("y", "a.y")][..]);
        let b = (&relative(), &[("y", "b.y")][..]);
        let c = (&scaled(), &[("by", "c.by"), ("y", "c.y")][..]);
        same(&extents, &scalars, (&whole, &[]), &[a, b, c], &["a.y", "b.y", "c.y"], Apart::Nothing);
        let a = (&scaled(), &[("by", "a.by"), ("x", "a.x"), ("y", "a.y")][..]);
        let b = (&relative(), &[("N", "M"), ("x", "b.x"), ("y", "b.y")][..]);
        let c = (&scaled(), &[("N", "L"), ("by", "c.by"), ("x", "c.x"), ("y", "c.y")][..]);
        let names = [("a.N", "N"), ("b.N", "M"), ("c.N", "L")];
        same(&extents, &scalars, (&apart, &names), &[a, b, c], &["a.y", "b.y", "c.y"], Apart::Nothing);
    }
}

#[test]
fn a_shared_input_is_both() {
    let whole = named(share(&differences(), &["a", "b"], "both"));
    assert_eq!(whole.tensors.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["both", "y"]);
    // Two inputs of extents with names of their own become one, and so do the extents.
    let two = named(fuse("two", &differences(), "a", "p", &product()));
    let two = named(fuse("two", &two, "b", "q", &product()));
    let two = named(share(&two, &["p.x", "q.x"], "x"));
    for [t, n, k] in SIZES {
        let extents = [("T", t), ("N", n), ("R", n), ("K", k)];
        same(
            &extents,
            &[],
            (&whole, &[]),
            &[(&differences(), &[("a", "both"), ("b", "both")])],
            &["y"],
            Apart::Nothing,
        );
        let names = [("q.K", "K"), ("p.K", "K")];
        let one = (&product(), &[("w", "p.w"), ("y", "one")][..]);
        let other = (&product(), &[("w", "q.w"), ("y", "other")][..]);
        let last = (&differences(), &[("a", "one"), ("b", "other")][..]);
        same(&extents, &[], (&two, &names), &[one, other, last], &["y"], Apart::Nothing);
    }
}

#[test]
fn a_factor_that_leaves_a_sum_changes_its_rounding_alone() {
    let whole = named(factor(&weighted(), "k"));
    assert_ne!(whole, weighted(), "nothing left the sum");
    for [t, r, k] in SIZES {
        same(&[("T", t), ("R", r), ("K", k)], &[], (&whole, &[]), &[(&weighted(), &[])], &["y"], REORDERED);
    }
    assert_eq!(named(factor(&product(), "k")), product(), "both factors of a product change with k");
}

#[test]
fn sums_of_one_loop_are_the_sums_of_each() {
    let whole = named(merge(&spread(), &["i", "j"], "k"));
    assert_eq!(whole.axes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(), ["t", "k"]);
    for [t, _, k] in SIZES {
        same(&[("T", t), ("K", k)], &[], (&whole, &[]), &[(&spread(), &[])], &["y"], Apart::Nothing);
    }
}

#[test]
fn what_cannot_be_put_together_says_why() {
    let error = |result: Result<Kernel, FuseError>| result.expect_err("it is not possible").to_string();
    let rank = error(fuse("f", &negated(), "x", "p", &product()));
    assert_eq!(rank, "kernel `product` makes 2 dimensions, and `x` of `negated` has 1: it cannot have fewer");
    let again = error(fuse("f", &product(), "x", "p", &product()));
    assert_eq!(
        again,
        "the reduction over `p.k` would run again for every `k`: store its result in a kernel of its own"
    );
    let input = error(fuse("f", &product(), "z", "p", &scaled()));
    assert!(input.contains("no input `z`") && input.ends_with("w, x"), "{input}");
    let place = error(fuse("f", &product(), "x", "p", &added()));
    assert!(place.contains("`added` cannot be inlined: it changes a tensor in place"), "{place}");
    let outer = error(beside("f", &[("a", &scaled()), ("b", &negated())], &["t", "T"]));
    assert!(outer.contains("outermost axis `i` is not shared"), "{outer}");
    let out = error(beside("f", &[("a", &scaled()), ("b", &relative())], &["t", "T", "N", "y"]));
    assert!(out.contains("the shared tensor `y` is written"), "{out}");
    let max = error(merge(&relative(), &["j"], "k"));
    assert!(max.contains("`j` is not the axis of a sum"), "{max}");
    let rank = error(share(&weighted(), &["u", "w"], "x"));
    assert!(rank.contains("`u` and `w` have other ranks or types"), "{rank}");
}
