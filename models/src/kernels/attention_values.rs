//! The second of attention's two passes: the values, weighted by softmax.
//! Vaswani et al. 2017 (arXiv:1706.03762); grouped heads: Ainslie et al. 2023 (arXiv:2305.13245).

use tilewright_dsl::{kernel, schedule};

/// y = softmax(q·kᵀ)·v over all positions up to the query's own, with the first pass' largest score and sum.
#[kernel]
pub fn attention_values(
    q: Tensor<T, H, D>,
    k: Tensor<P, G, D>,
    v: Tensor<P, G, D>,
    top: Tensor<T, H>,
    total: Tensor<T, H>,
    y: Out<T, H, D>,
    pos: u32,
    scale: f32,
) {
    assert!(H % G == 0);
    for t in 0..T {
        for h in 0..H {
            let g = h / (H / G);
            for c in 0..D {
                let mixed = sum(0..pos + t + 1, |j| {
                    let score = sum(0..D, |d| q[t][h][d] * scale * k[j][g][d]);
                    exp(score - top[t][h]) * v[j][g][c]
                });
                y[t][h][c] = mixed / total[t][h];
            }
        }
    }
}

schedule! {
    /// One invocation an output; each computes all scores of its head.
    pub naive for attention_values {
        t: grid;
        h: grid;
        c: grid, lanes(32);
    }
}

schedule! {
    /// One workgroup a query head: scores of 64 positions are computed together, then each invocation adds up its column.
    pub columns for attention_values {
        t: grid;
        h: grid;
        c: serial, lanes(64);
        j: serial as jo, serial(64);
        d: serial, vector(4);
        compute score at jo: workgroup;
    }
}
