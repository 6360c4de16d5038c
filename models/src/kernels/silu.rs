//! The sigmoid linear unit. Elfwing et al. 2017 (arXiv:1702.03118).

use tilewright_dsl::{kernel, schedule};

/// y = x · sigmoid(x); the exponential is of a number that is not positive, so it never overflows.
#[kernel]
pub fn silu(x: Tensor<T, D>, y: Out<T, D>) {
    for t in 0..T {
        for i in 0..D {
            let v = x[t][i];
            let e = exp(-abs(v));
            let s = (if v < 0.0 { e } else { 1.0 }) / (1.0 + e);
            y[t][i] = v * s;
        }
    }
}

schedule! {
    /// One invocation an output.
    pub naive for silu {
        t: grid;
        i: grid, lanes(64);
    }
}
