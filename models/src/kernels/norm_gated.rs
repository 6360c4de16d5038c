//! RMSNorm and the first half of the gated MLP in one: made by the compiler from the five texts.

use super::{linear::linear, mul::mul, rmsnorm::rmsnorm, silu::silu};
use tilewright_codegen::fuse::{FuseError, fuse, share};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// y = silu(n·Gᵀ) · n·Uᵀ with n = rmsnorm(x).
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn norm_gated() -> Result<Kernel, FuseError> {
    let gated = fuse("norm_gated", &mul(), "a", "silu", &silu())?;
    let gated = fuse("norm_gated", &gated, "silu.x", "gate", &linear())?;
    let gated = fuse("norm_gated", &gated, "b", "up", &linear())?;
    let gated = share(&gated, &["gate.x", "up.x"], "x")?;
    fuse("norm_gated", &gated, "x", "norm", &rmsnorm())
}

schedule! {
    /// Two rows of both matrices a workgroup, 32 lanes a row; all of its invocations share Σx².
    pub rows for "norm_gated" {
        workgroup 64;
        t: grid;
        i: grid, lanes(2);
        gate.k: serial, lanes(32), vector(8);
        up.k: serial, lanes(32), vector(8);
        norm.j: serial, lanes(64), vector(4);
    }
}

schedule! {
    /// The same, folded by subgroup operations.
    pub subgroup for "norm_gated" from rows {
        fold gate.k: subgroup;
        fold up.k: subgroup;
        fold norm.j: subgroup;
    }
}

schedule! {
    /// Eight rows a workgroup, folded by subgroup operations.
    pub eight for "norm_gated" {
        workgroup 256;
        t: grid;
        i: grid, lanes(8);
        gate.k: serial, lanes(32), vector(8);
        up.k: serial, lanes(32), vector(8);
        norm.j: serial, lanes(256), vector(4);
        fold gate.k: subgroup;
        fold up.k: subgroup;
        fold norm.j: subgroup;
    }
}
