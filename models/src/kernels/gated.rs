//! The first half of the gated MLP over rows that are normed already, in one: made by the compiler from the four texts.

use super::{linear::linear, mul::mul, silu::silu};
use tilewright_codegen::fuse::{FuseError, fuse, merge, share};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// y = silu(x·Gᵀ) · x·Uᵀ. Both sums share one loop and one tile of x.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn gated() -> Result<Kernel, FuseError> {
    let gated = fuse("gated", &mul(), "a", "silu", &silu())?;
    let gated = fuse("gated", &gated, "silu.x", "gate", &linear())?;
    let gated = fuse("gated", &gated, "b", "up", &linear())?;
    let gated = share(&gated, &["gate.x", "up.x"], "x")?;
    let kernel = merge(&gated, &["gate.k", "up.k"], "k")?;
    Ok(Kernel { doc: "y = silu(x·Gᵀ) · x·Uᵀ.".into(), ..kernel })
}

schedule! {
    /// One invocation an output.
    pub naive for "gated" {
        t: grid;
        i: grid, lanes(64);
    }
}

schedule! {
    /// Prefill: 64 × 64 outputs a workgroup, 16 of k at a time through workgroup memory.
    pub tiled for "gated" {
        workgroup 256;
        t: grid, unroll(4), lanes(16);
        i: grid, unroll(4), lanes(16);
        k: serial as ko, serial(16);
        stage gate.w at ko: workgroup;
        stage up.w at ko: workgroup;
        stage x at ko: workgroup;
    }
}

schedule! {
    /// Prefill by cooperative matrices: 128 × 64 outputs a workgroup, 2 × 2 fragments of both sums a subgroup.
    pub matrix for "gated" {
        workgroup 256;
        t: grid, lanes(4), unroll(2), matrix(16);
        i: grid, lanes(2), unroll(2), matrix(16);
        k: serial as ko, serial(2), matrix(16);
        stage gate.w at ko: workgroup f16 ahead;
        stage up.w at ko: workgroup f16 ahead;
        stage x at ko: workgroup f16 ahead;
    }
}

schedule! {
    /// The same where workgroup memory is less: 64 × 64 outputs.
    pub matrix_small for "gated" from matrix {
        workgroup 128;
        t: grid, lanes(2), unroll(2), matrix(16);
    }
}
