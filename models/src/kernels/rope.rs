//! Rotary position embedding. Su et al. 2021 (arXiv:2104.09864); the pairs are element p and p + D/2, as in transformers.

use tilewright_dsl::{kernel, schedule};

/// Rotates each pair of H heads by its position's angle; a row of `angles` holds the D/2 cosines of a position and then its
/// sines. The heads begin at head `from` of x, and row t of them becomes row `at + t` of y: that of an activation, or of the
/// cache of keys.
#[kernel]
pub fn rope(x: Tensor<T, S, D>, angles: Tensor<P, D>, y: Out<C, H, D>, pos: u32, from: u32, at: u32) {
    assert!(D % 2 == 0);
    for t in 0..T {
        for h in 0..H {
            for p in 0..D / 2 {
                let c = angles[pos + t][p];
                let s = angles[pos + t][p + D / 2];
                let one = x[t][from + h][p];
                let two = x[t][from + h][p + D / 2];
                y[at + t][h][p] = one * c - two * s;
                y[at + t][h][p + D / 2] = two * c + one * s;
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
