//! The key-value cache grows by the new positions.

use tilewright_dsl::{kernel, schedule};

/// cache[pos ..] = G heads of x from head `from`: a row a position.
#[kernel]
pub fn kv_append(x: Tensor<T, S, D>, cache: Out<P, G, D>, pos: u32, from: u32) {
    for t in 0..T {
        for g in 0..G {
            for d in 0..D {
                cache[pos + t][g][d] = x[t][from + g][d];
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

schedule! {
    /// Two neighbours an invocation, which are one word where the cache is f16.
    pub pairs for kv_append {
        t: grid;
        g: grid;
        d: grid, lanes(32), vector(2);
    }
}
