//! The bias of a projection.

use tilewright_dsl::{kernel, schedule};

/// y += b, the same for every row.
#[kernel]
pub fn bias(y: InOut<T, R>, b: Tensor<R>) {
    for t in 0..T {
        for r in 0..R {
            y[t][r] = y[t][r] + b[r];
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
