//! RMSNorm inlined into the projection that reads it: made by the compiler from the two texts, not written by hand.

use super::{linear::linear, rmsnorm::rmsnorm};
use tilewright_codegen::fuse::{FuseError, fuse};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// y = rmsnorm(x)·Wᵀ. Σx² is computed once a workgroup, before the rows are begun.
///
/// # Errors
/// None, as long as the two texts stay what they are.
pub fn norm_linear() -> Result<Kernel, FuseError> {
    let kernel = fuse("norm_linear", &linear(), "x", "norm", &rmsnorm())?;
    Ok(Kernel { doc: "y = rmsnorm(x)·Wᵀ.".into(), ..kernel })
}

schedule! {
    /// Eight rows a workgroup; all of its invocations share Σx².
    pub coalesced for "norm_linear" {
        workgroup 64;
        t: grid;
        r: grid, lanes(2), unroll(4);
        k: serial, lanes(32), vector(8);
        norm.j: serial, lanes(64), vector(4);
    }
}

schedule! {
    /// The same, both sums folded by subgroup operations.
    pub subgroup for "norm_linear" from coalesced {
        fold k: subgroup;
        fold norm.j: subgroup;
    }
}

schedule! {
    /// One workgroup a row.
    pub row for "norm_linear" {
        t: grid;
        r: grid;
        k: serial, lanes(64), vector(4);
        norm.j: serial, lanes(64), vector(4);
    }
}

schedule! {
    /// The same, both sums folded by subgroup operations.
    pub row_subgroup for "norm_linear" from row {
        fold k: subgroup;
        fold norm.j: subgroup;
    }
}
