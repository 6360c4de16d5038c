//! RMSNorm, a projection and its bias in one: made by the compiler from the three texts.

use super::{bias::bias, linear::linear, rmsnorm::rmsnorm};
use tilewright_codegen::fuse::{FuseError, factor, fuse, merge};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// y = rmsnorm(x)·Wᵀ + b, as scale · Σ w·x·n + b: the norm's scale leaves the sum, so that Σx² shares its loop.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn norm_linear_bias() -> Result<Kernel, FuseError> {
    let biased = fuse("norm_linear_bias", &bias(), "x", "linear", &linear())?;
    let normed = fuse("norm_linear_bias", &biased, "linear.x", "norm", &rmsnorm())?;
    merge(&factor(&normed, "linear.k")?, &["linear.k", "norm.j"], "k")
}

schedule! {
    /// Two rows a workgroup, 32 lanes a row.
    pub rows for "norm_linear_bias" {
        t: grid;
        r: grid, lanes(2);
        k: serial, lanes(32), vector(8);
    }
}

schedule! {
    /// The same, folded by subgroup operations.
    pub subgroup for "norm_linear_bias" from rows {
        fold k: subgroup;
    }
}

schedule! {
    /// Eight rows a workgroup, folded by subgroup operations.
    pub eight for "norm_linear_bias" from subgroup {
        r: grid, lanes(8);
    }
}
