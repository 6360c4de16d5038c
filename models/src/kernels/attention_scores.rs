//! Attention's scores as a table, the first of three steps: what online softmax never writes.
//! Vaswani et al. 2017 (arXiv:1706.03762); grouped heads: Ainslie et al. 2023 (arXiv:2305.13245).

use tilewright_dsl::{kernel, schedule};

/// Every query head's score for each of the first C positions, a row a position and head; those behind its own are the least
/// number, which softmax makes 0.
#[kernel]
pub fn attention_scores(q: Tensor<T, H, D>, k: Tensor<P, G, D>, scores: Out<R, C>, pos: u32, scale: f32) {
    assert!(H % G == 0);
    for t in 0..T {
        for h in 0..H {
            let g = h / (H / G);
            for j in 0..C {
                let score = sum(0..D, |d| q[t][h][d] * scale * k[j][g][d]);
                scores[t * H + h][j] = if j <= pos + t { score } else { LOWEST };
            }
        }
    }
}

schedule! {
    /// One invocation a score.
    pub naive for attention_scores {
        t: grid;
        h: grid;
        j: grid, lanes(64);
    }
}

schedule! {
    /// The same, four columns a load.
    pub vectors for attention_scores from naive {
        d: serial, vector(4);
    }
}
