//! Attention's values, mixed by a table of weights: the last of three steps.
//! Vaswani et al. 2017 (arXiv:1706.03762); grouped heads: Ainslie et al. 2023 (arXiv:2305.13245).

use tilewright_dsl::{kernel, schedule};

/// y = the values of all positions up to the query's own, by a row of weights a position and head.
#[kernel]
pub fn attention_mix(weights: Tensor<R, C>, v: Tensor<P, G, D>, y: Out<T, H, D>, pos: u32) {
    assert!(H % G == 0);
    for t in 0..T {
        for h in 0..H {
            let g = h / (H / G);
            for c in 0..D {
                y[t][h][c] = sum(0..pos + t + 1, |j| weights[t * H + h][j] * v[j][g][c]);
            }
        }
    }
}

schedule! {
    /// One invocation an output.
    pub naive for attention_mix {
        t: grid;
        h: grid;
        c: grid, lanes(32);
    }
}

schedule! {
    /// One workgroup for 16 columns of a head: 16 invocations a column share its positions, and meet in a tree.
    pub shared for attention_mix {
        t: grid;
        h: grid;
        j: serial, lanes(16);
        c: grid, lanes(16);
    }
}
