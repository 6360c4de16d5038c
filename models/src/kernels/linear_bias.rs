//! A projection with its bias: made by the compiler from the two texts.

use super::{bias::bias, linear::linear};
use tilewright_codegen::fuse::{FuseError, fuse};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// y = x·Wᵀ + b.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn linear_bias() -> Result<Kernel, FuseError> {
    let kernel = fuse("linear_bias", &bias(), "x", "linear", &linear())?;
    Ok(Kernel { doc: "y = x·Wᵀ + b.".into(), ..kernel })
}

schedule! {
    /// One invocation an output.
    pub naive for "linear_bias" {
        t: grid;
        r: grid, lanes(64);
    }
}

schedule! {
    /// Prefill: 64 × 64 outputs a workgroup, 16 of k at a time through workgroup memory.
    pub tiled for "linear_bias" {
        workgroup 256;
        t: grid, unroll(4), lanes(16);
        r: grid, unroll(4), lanes(16);
        linear.k: serial as ko, serial(16);
        stage linear.w at ko: workgroup;
        stage linear.x at ko: workgroup;
    }
}

schedule! {
    /// Prefill by cooperative matrices: 64 × 64 outputs a workgroup, 2 × 2 fragments a subgroup.
    pub matrix for "linear_bias" {
        workgroup 128;
        t: grid, lanes(2), unroll(2), matrix(16);
        r: grid, lanes(2), unroll(2), matrix(16);
        linear.k: serial as ko, serial(4), matrix(16);
        stage linear.w at ko: workgroup f16 ahead;
        stage linear.x at ko: workgroup f16 ahead;
    }
}
