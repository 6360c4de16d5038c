//! Softmax of rows, in two passes: the plain form that attention's single pass is held against.

use tilewright_dsl::{kernel, schedule};

/// y = exp(x - max x) / Σ exp(x - max x), row by row.
#[kernel]
pub fn softmax(x: Tensor<R, C>, y: Out<R, C>) {
    for r in 0..R {
        let m = max(0..C, |i| x[r][i]);
        let s = sum(0..C, |j| exp(x[r][j] - m));
        for c in 0..C {
            y[r][c] = exp(x[r][c] - m) / s;
        }
    }
}

schedule! {
    /// One invocation a row.
    pub naive for softmax {
        r: grid, lanes(64);
    }
}

schedule! {
    /// One workgroup a row; the maximum and the sum meet in workgroup memory.
    pub row for softmax {
        r: grid;
        i: serial, lanes(64);
        j: serial, lanes(64);
        c: serial, lanes(64);
    }
}

schedule! {
    /// The same, four neighbours a load.
    pub wide for softmax from row {
        i: serial, lanes(64), vector(4);
        j: serial, lanes(64), vector(4);
        c: serial, lanes(64), vector(4);
    }
}

schedule! {
    /// The same, folded by subgroup operations.
    pub subgroup for softmax from row {
        fold i: subgroup;
        fold j: subgroup;
    }
}
