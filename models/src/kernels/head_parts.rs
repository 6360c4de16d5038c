//! The greedy token without logits: every 64 rows of the head keep their largest alone, and the largest of these is found
//! behind them. Made by the compiler from the texts of the norm, the projection and argmax.

use super::{argmax::argmax, norm_linear::norm_linear};
use tilewright_codegen::fuse::{FuseError, fuse, split};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// Rows of the head that keep one logit.
pub const CHUNK: u32 = 64;

/// The largest of every 64 of the first `limit` values of rmsnorm(x)·Wᵀ, and its index.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn head_parts() -> Result<Kernel, FuseError> {
    let [parts, _] = split(["head_parts", "argmax_merged"], &argmax(), "v", CHUNK)?;
    let kernel = fuse("head_parts", &parts, "x", "head", &norm_linear()?)?;
    let doc = "The largest of every 64 of the first `limit` values of rmsnorm(x)·Wᵀ, and its index.";
    Ok(Kernel { doc: doc.into(), ..kernel })
}

/// y = the index of the largest of the parts' largest values, as `argmax` has it.
///
/// # Errors
/// None, as long as the text stays what it is.
pub fn argmax_merged() -> Result<Kernel, FuseError> {
    let [_, kernel] = split(["head_parts", "argmax_merged"], &argmax(), "v", CHUNK)?;
    Ok(Kernel {
        doc: "y = the index of the largest of the parts' largest values, as `argmax` has it.".into(),
        ..kernel
    })
}

schedule! {
    /// A workgroup of 64 a part: eight rows at a time, 32 lanes a row; all of its invocations share Σx².
    pub coalesced for "head_parts" {
        workgroup 64;
        t: grid;
        v.part: grid;
        v: serial, unroll(4), lanes(2);
        head.k: serial, lanes(32), vector(8);
        head.norm.j: serial, lanes(64), vector(4);
    }
}

schedule! {
    /// The same, both sums folded by subgroup operations.
    pub subgroup for "head_parts" from coalesced {
        fold head.k: subgroup;
        fold head.norm.j: subgroup;
    }
}

schedule! {
    /// A workgroup of 256 a part: 16 rows at a time.
    pub wide for "head_parts" {
        workgroup 256;
        t: grid;
        v.part: grid;
        v: serial, unroll(2), lanes(8);
        head.k: serial, lanes(32), vector(8);
        head.norm.j: serial, lanes(256), vector(4);
        fold head.k: subgroup;
        fold head.norm.j: subgroup;
    }
}

schedule! {
    /// One workgroup a row.
    pub merged for "argmax_merged" {
        t: grid;
        v.part: serial, lanes(256);
    }
}

schedule! {
    /// One workgroup of 1,024 a row.
    pub merged_wide for "argmax_merged" {
        t: grid;
        v.part: serial, lanes(1024);
    }
}
