//! RMSNorm, a projection and its bias in one: made by the compiler from the three texts.

use super::{bias::bias, linear::linear, rmsnorm::rmsnorm};
use tilewright_codegen::fuse::{FuseError, fuse};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// y = rmsnorm(x)·Wᵀ + b. Σx² is computed once a workgroup.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn norm_linear_bias() -> Result<Kernel, FuseError> {
    let biased = fuse("norm_linear_bias", &bias(), "x", "linear", &linear())?;
    fuse("norm_linear_bias", &biased, "linear.x", "norm", &rmsnorm())
}

schedule! {
    /// Two rows a workgroup, 32 lanes a row; all of its invocations share Σx².
    pub rows for "norm_linear_bias" {
        workgroup 64;
        t: grid;
        r: grid, lanes(2);
        linear.k: serial, lanes(32), vector(8);
        norm.j: serial, lanes(64), vector(4);
    }
}

schedule! {
    /// The same, folded by subgroup operations.
    pub subgroup for "norm_linear_bias" from rows {
        fold linear.k: subgroup;
        fold norm.j: subgroup;
    }
}

schedule! {
    /// Eight rows a workgroup, folded by subgroup operations.
    pub eight for "norm_linear_bias" {
        workgroup 256;
        t: grid;
        r: grid, lanes(8);
        linear.k: serial, lanes(32), vector(8);
        norm.j: serial, lanes(256), vector(4);
        fold linear.k: subgroup;
        fold norm.j: subgroup;
    }
}
