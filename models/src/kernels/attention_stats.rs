//! The first of attention's two passes: what softmax needs to know of a row of scores.
//! Vaswani et al. 2017 (arXiv:1706.03762); grouped heads: Ainslie et al. 2023 (arXiv:2305.13245).

use tilewright_dsl::{kernel, schedule};

/// The largest score of each query head, and the sum of e^(score − largest), over all positions up to its own.
#[kernel]
pub fn attention_stats(q: Tensor<T, H, D>, k: Tensor<P, G, D>, top: Out<T, H>, total: Out<T, H>, pos: u32, scale: f32) {
    assert!(H % G == 0);
    for t in 0..T {
        for h in 0..H {
            let g = h / (H / G);
            let m = max(0..pos + t + 1, |i| sum(0..D, |c| q[t][h][c] * scale * k[i][g][c]));
            let n = sum(0..pos + t + 1, |j| {
                let score = sum(0..D, |d| q[t][h][d] * scale * k[j][g][d]);
                exp(score - m)
            });
            top[t][h] = m;
            total[t][h] = n;
        }
    }
}

schedule! {
    /// One invocation a query head.
    pub naive for attention_stats {
        t: grid;
        h: grid, lanes(4);
    }
}

schedule! {
    /// One workgroup a query head: 64 invocations share the positions.
    pub positions for attention_stats {
        t: grid;
        h: grid;
        i: serial, lanes(64);
        j: serial, lanes(64);
        c: serial, vector(4);
        d: serial, vector(4);
    }
}

schedule! {
    /// The same, folded by subgroup operations.
    pub subgroup for attention_stats from positions {
        fold i: subgroup;
        fold j: subgroup;
    }
}
