//! RMSNorm and the first half of the gated MLP in one: made by the compiler from the five texts.

use super::{linear::linear, mul::mul, rmsnorm::rmsnorm, silu::silu};
use tilewright_codegen::fuse::{FuseError, factor, fuse, merge, share};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// y = silu(n·Gᵀ) · n·Uᵀ with n = rmsnorm(x). The norm's scale leaves both sums, and all three share one loop.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn norm_gated() -> Result<Kernel, FuseError> {
    let gated = fuse("norm_gated", &mul(), "a", "silu", &silu())?;
    let gated = fuse("norm_gated", &gated, "silu.x", "gate", &linear())?;
    let gated = fuse("norm_gated", &gated, "b", "up", &linear())?;
    let gated = share(&gated, &["gate.x", "up.x"], "x")?;
    let gated = fuse("norm_gated", &gated, "x", "norm", &rmsnorm())?;
    let kernel = merge(&factor(&factor(&gated, "gate.k")?, "up.k")?, &["gate.k", "up.k", "norm.j"], "k")?;
    Ok(Kernel { doc: "y = silu(n·Gᵀ) · n·Uᵀ with n = rmsnorm(x).".into(), ..kernel })
}

schedule! {
    /// Two rows of both matrices a workgroup, 32 lanes a row.
    pub rows for "norm_gated" {
        t: grid;
        i: grid, lanes(2);
        k: serial, lanes(32), vector(8);
    }
}

schedule! {
    /// The same, folded by subgroup operations.
    pub subgroup for "norm_gated" from rows {
        fold k: subgroup;
    }
}

schedule! {
    /// Eight rows of both matrices a workgroup, folded by subgroup operations.
    pub eight for "norm_gated" from subgroup {
        i: grid, lanes(8);
    }
}
