//! The key-value cache grows by the new positions.

use tilewright_dsl::{kernel, schedule};

/// cache[pos ..] = x: a row a position.
#[kernel]
pub fn kv_append(x: Tensor<T, G, D>, cache: Out<P, G, D>, pos: u32) {
    for t in 0..T {
        for g in 0..G {
            for d in 0..D {
                cache[pos + t][g][d] = x[t][g][d];
            }
        }
    }
}

schedule! {
    /// One invocation an element.
    pub naive for kv_append {
        t: grid;
        g: grid;
        d: grid, lanes(32);
    }
}
