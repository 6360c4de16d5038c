//! The matrix product of every projection. Batch 1, small batches and prefill are schedules of one text.

use tilewright_dsl::{kernel, schedule};

/// y = x·Wᵀ: one weight row an output.
#[kernel]
pub fn linear(w: Tensor<R, K>, x: Tensor<T, K>, y: Out<T, R>) {
    for t in 0..T {
        for r in 0..R {
            y[t][r] = sum(0..K, |k| w[r][k] * x[t][k]);
        }
    }
}

schedule! {
    /// One invocation an output.
    pub naive for linear {
        t: grid;
        r: grid, lanes(64);
    }
}

schedule! {
    /// One workgroup a weight row; its partial sums meet in workgroup memory. Eight f16 are one 128-bit load.
    pub row for linear {
        t: grid;
        r: grid;
        k: serial, lanes(64), vector(8);
    }
}

schedule! {
    /// One workgroup a weight row, folded by subgroup operations.
    pub row_subgroup for linear from row {
        fold k: subgroup;
    }
}

schedule! {
    /// Eight rows a workgroup, 32 lanes a row: x is read once for four rows.
    pub coalesced for linear {
        workgroup 64;
        t: grid;
        r: grid, lanes(2), unroll(4);
        k: serial, lanes(32), vector(8);
    }
}

schedule! {
    /// The same lanes, folded by subgroup operations.
    pub subgroup for linear from coalesced {
        fold k: subgroup;
    }
}

schedule! {
    /// Prefill: 64 × 64 outputs a workgroup, 16 of k at a time through workgroup memory.
    pub tiled for linear {
        workgroup 256;
        t: grid, unroll(4), lanes(16);
        r: grid, unroll(4), lanes(16);
        k: serial as ko, serial(16);
        stage w at ko: workgroup;
        stage x at ko: workgroup;
    }
}

schedule! {
    /// Prefill where workgroups are wide: 128 × 128 outputs, 64 an invocation, the next tiles being loaded meanwhile.
    pub tiled_wide for linear from tiled {
        t: grid, unroll(8), lanes(16);
        r: grid, unroll(8), lanes(16);
        stage w at ko: workgroup ahead;
        stage x at ko: workgroup ahead;
    }
}

schedule! {
    /// Prefill of short prompts: 16 × 64 outputs a workgroup.
    pub tiled_short for linear {
        workgroup 128;
        t: grid, unroll(2), lanes(8);
        r: grid, unroll(4), lanes(16);
        k: serial as ko, serial(16);
        stage w at ko: workgroup;
        stage x at ko: workgroup;
    }
}

schedule! {
    /// Prefill by cooperative matrices: 128 × 128 outputs a workgroup, 2 × 4 fragments a subgroup.
    pub matrix for linear {
        workgroup 256;
        t: grid, lanes(4), unroll(2), matrix(16);
        r: grid, lanes(2), unroll(4), matrix(16);
        k: serial as ko, serial(2), matrix(16);
        stage w at ko: workgroup f16 ahead;
        stage x at ko: workgroup f16 ahead;
    }
}

schedule! {
    /// Prefill by cooperative matrices where outputs are few: 64 × 64 outputs a workgroup, 2 × 2 fragments a subgroup.
    pub matrix_small for linear from matrix {
        workgroup 128;
        t: grid, lanes(2), unroll(2), matrix(16);
        r: grid, lanes(2), unroll(2), matrix(16);
        k: serial as ko, serial(4), matrix(16);
    }
}
