//! What a block adds to the residual stream.

use tilewright_dsl::{kernel, schedule};

/// h += x.
#[kernel]
pub fn residual(h: InOut<T, D>, x: Tensor<T, D>) {
    for t in 0..T {
        for i in 0..D {
            h[t][i] = h[t][i] + x[t][i];
        }
    }
}

schedule! {
    /// One invocation an output.
    pub naive for residual {
        t: grid;
        i: grid, lanes(64);
    }
}
