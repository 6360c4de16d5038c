//! Greedy sampling: the index of the largest logit.

use tilewright_dsl::{kernel, schedule};

/// y = the index of the largest of the first `limit` values of a row, the lowest among equals; u32::MAX where one of them is
/// not finite.
#[kernel]
pub fn argmax(x: Tensor<T, V>, y: Out<u32, T>, limit: u32) {
    for t in 0..T {
        y[t] = argmax(0..min(limit, V), |v| x[t][v]);
    }
}

schedule! {
    /// One invocation a row.
    pub naive for argmax {
        t: grid;
    }
}

schedule! {
    /// One workgroup a row.
    pub tree for argmax {
        t: grid;
        v: serial, lanes(256);
    }
}

schedule! {
    /// One workgroup a row, four loads of four neighbours under way at once.
    pub vectors for argmax {
        t: grid;
        v: serial, lanes(256), unroll(4), vector(4);
    }
}

schedule! {
    /// One workgroup a row, folded by subgroup operations.
    pub subgroup for argmax from tree {
        fold v: subgroup;
    }
}

schedule! {
    /// One workgroup of 1,024 a row, two loads of four neighbours under way at once.
    pub wide for argmax {
        t: grid;
        v: serial, lanes(1024), unroll(2), vector(4);
    }
}
