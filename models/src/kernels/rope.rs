//! Rotary position embedding. Su et al. 2021 (arXiv:2104.09864); the pairs are element p and p + D/2, as in transformers.

use tilewright_dsl::{kernel, schedule};

/// Rotates each pair of a head by its position's angles, from tables of cosines and sines (`F` = D/2 columns).
#[kernel]
pub fn rope(x: InOut<T, H, D>, cos: Tensor<P, F>, sin: Tensor<P, F>, pos: u32) {
    assert!(D == 2 * F);
    for t in 0..T {
        for h in 0..H {
            for p in 0..F {
                let c = cos[pos + t][p];
                let s = sin[pos + t][p];
                let one = x[t][h][p];
                let two = x[t][h][p + F];
                x[t][h][p] = one * c - two * s;
                x[t][h][p + F] = two * c + one * s;
            }
        }
    }
}

schedule! {
    /// One invocation a pair.
    pub naive for rope {
        t: grid;
        h: grid;
        p: grid, lanes(32);
    }
}
