//! A projection that adds to the residual stream: made by the compiler from the two texts.

use super::{linear::linear, residual::residual};
use tilewright_codegen::fuse::{FuseError, fuse};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// h += x·Wᵀ.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn linear_residual() -> Result<Kernel, FuseError> {
    let kernel = fuse("linear_residual", &residual(), "x", "linear", &linear())?;
    Ok(Kernel { doc: "h += x·Wᵀ.".into(), ..kernel })
}

schedule! {
    /// One output a workgroup.
    pub rows for "linear_residual" {
        t: grid;
        i: grid;
        linear.k: serial, lanes(64), vector(8);
    }
}

schedule! {
    /// The same, folded by subgroup operations.
    pub subgroup for "linear_residual" from rows {
        fold linear.k: subgroup;
    }
}

schedule! {
    /// Two outputs a workgroup, 128 lanes each, folded by subgroup operations.
    pub wide for "linear_residual" {
        t: grid;
        i: grid, lanes(2);
        linear.k: serial, lanes(128), vector(8);
        fold linear.k: subgroup;
    }
}

schedule! {
    /// Prefill: 64 × 64 outputs a workgroup, 16 of k at a time through workgroup memory.
    pub tiled for "linear_residual" {
        workgroup 256;
        t: grid, unroll(4), lanes(16);
        i: grid, unroll(4), lanes(16);
        linear.k: serial as ko, serial(16);
        stage linear.w at ko: workgroup;
        stage linear.x at ko: workgroup;
    }
}

schedule! {
    /// Prefill by cooperative matrices: 64 × 64 outputs a workgroup, and two subgroups for each 2 × 2 fragments, because outputs
    /// are few and sums long.
    pub matrix for "linear_residual" {
        workgroup 256;
        t: grid, lanes(2), unroll(2), matrix(16);
        i: grid, lanes(2), unroll(2), matrix(16);
        linear.k: serial as ko, lanes(2), serial(2), matrix(16);
        stage linear.w at ko: workgroup f16 ahead;
        stage linear.x at ko: workgroup f16 ahead;
    }
}
