//! The bias of a projection.

use tilewright_dsl::{kernel, schedule};

/// y = x + b, the same for every row.
#[kernel]
pub fn bias(x: Tensor<T, R>, b: Tensor<R>, y: Out<T, R>) {
    for t in 0..T {
        for r in 0..R {
            y[t][r] = x[t][r] + b[r];
        }
    }
}

schedule! {
    /// One invocation an output.
    pub naive for bias {
        t: grid;
        r: grid, lanes(64);
    }
}
