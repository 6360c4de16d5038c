//! The elementwise product of the gated MLP. Shazeer 2020 (arXiv:2002.05202).

use tilewright_dsl::{kernel, schedule};

/// x *= y.
#[kernel]
pub fn mul(x: InOut<T, D>, y: Tensor<T, D>) {
    for t in 0..T {
        for i in 0..D {
            x[t][i] = x[t][i] * y[t][i];
        }
    }
}

schedule! {
    /// One invocation an output.
    pub naive for mul {
        t: grid;
        i: grid, lanes(64);
    }
}
