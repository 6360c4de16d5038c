//! The elementwise product of the gated MLP. Shazeer 2020 (arXiv:2002.05202).

use tilewright_dsl::{kernel, schedule};

/// y = a · b, element by element.
#[kernel]
pub fn mul(a: Tensor<T, D>, b: Tensor<T, D>, y: Out<T, D>) {
    for t in 0..T {
        for i in 0..D {
            y[t][i] = a[t][i] * b[t][i];
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
