//! All that happens to the residual stream before attention, in one: RMSNorm, the stacked projection with its bias, rotary
//! embedding, and the cache. Made by the compiler from the texts.

use super::{bias::bias, kv_append::kv_append, linear::linear, rmsnorm::rmsnorm, rope::rope};
use tilewright_codegen::fuse::{FuseError, beside, factor, fuse, merge};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// q = rope(n·Wqᵀ + bq); a row of keys = rope(n·Wkᵀ + bk), a row of values = n·Wvᵀ + bv, with n = rmsnorm(x).
///
/// The norm's scale leaves the sums, so that Σx² shares their loop; both elements of a pair are made by the same invocations.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn qkv() -> Result<Kernel, FuseError> {
    let biased = fuse("projection", &bias(), "x", "linear", &linear())?;
    let normed = fuse("projection", &biased, "linear.x", "norm", &rmsnorm())?;
    let heads = |text: &Kernel| {
        let inlined = fuse(&text.name, text, "x", "in", &normed)?;
        merge(&factor(&inlined, "in.linear.k")?, &["in.linear.k", "in.norm.j"], "i")
    };
    let (rotated, appended) = (heads(&rope())?, heads(&kv_append())?);
    let weights = ["in.b", "in.linear.w", "in.norm.x", "in.norm.w", "in.norm.eps", "angles"];
    let shared = [&weights[..], &["t", "pos", "T", "R", "K", "D", "P"]].concat();
    let kernel = beside("qkv", &[("q", &rotated), ("k", &rotated), ("v", &appended)], &shared)?;
    let doc =
        "q = rope(n·Wqᵀ + bq); a row of keys = rope(n·Wkᵀ + bk), a row of values = n·Wvᵀ + bv, with n = rmsnorm(x).";
    Ok(Kernel { doc: doc.into(), ..kernel })
}

schedule! {
    /// Four pairs or four columns a workgroup, 32 lanes each.
    pub rows for "qkv" {
        t: grid;
        q.h: grid;
        q.p: grid, lanes(4);
        k.h: grid;
        k.p: grid, lanes(4);
        v.g: grid;
        v.d: grid, lanes(4);
        q.i: serial, lanes(32), vector(8);
        k.i: serial, lanes(32), vector(8);
        v.i: serial, lanes(32), vector(8);
    }
}

schedule! {
    /// The same, folded by subgroup operations.
    pub subgroup for "qkv" from rows {
        fold q.i: subgroup;
        fold k.i: subgroup;
        fold v.i: subgroup;
    }
}

schedule! {
    /// As `rows`, two neighbours of the cache an invocation, which are one word where it is f16.
    pub rows_pairs for "qkv" from rows {
        k.p: grid, lanes(4), unroll(2);
        v.d: grid, lanes(4), unroll(2);
    }
}

schedule! {
    /// The same, folded by subgroup operations.
    pub subgroup_pairs for "qkv" from rows_pairs {
        fold q.i: subgroup;
        fold k.i: subgroup;
        fold v.i: subgroup;
    }
}
