//! Rows of a table by index.

use tilewright_dsl::{kernel, schedule};

/// y = rows of a table: one id a row.
#[kernel]
pub fn embedding(ids: Tensor<u32, T>, w: Tensor<V, D>, y: Out<T, D>) {
    for t in 0..T {
        for i in 0..D {
            y[t][i] = w[ids[t]][i];
        }
    }
}

schedule! {
    /// One invocation an output.
    pub naive for embedding {
        t: grid;
        i: grid, lanes(64);
    }
}
