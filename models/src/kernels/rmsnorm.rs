//! Root mean square normalisation. Zhang and Sennrich 2019 (arXiv:1910.07467).

use tilewright_dsl::{kernel, schedule};

/// y = x / rms(x) · w, a row at a time.
#[kernel]
pub fn rmsnorm(x: Tensor<T, D>, w: Tensor<D>, y: Out<T, D>, eps: f32) {
    for t in 0..T {
        let s = sum(0..D, |j| x[t][j] * x[t][j]);
        let scale = rsqrt(s / D as f32 + eps);
        for i in 0..D {
            y[t][i] = x[t][i] * scale * w[i];
        }
    }
}

schedule! {
    /// One invocation an output; each adds up the whole row.
    pub naive for rmsnorm {
        t: grid;
        i: grid, lanes(64);
    }
}

schedule! {
    /// One workgroup a row: 64 invocations share the sum.
    pub row for rmsnorm {
        t: grid;
        j: serial, lanes(64), vector(4);
        i: serial, lanes(64), vector(4);
    }
}

schedule! {
    /// One workgroup of 256 a row, for wide rows.
    pub wide for rmsnorm {
        t: grid;
        j: serial, lanes(256);
        i: serial, lanes(256);
    }
}

schedule! {
    /// One workgroup a row, folded by subgroup operations.
    pub subgroup for rmsnorm from row {
        fold j: subgroup;
    }
}
