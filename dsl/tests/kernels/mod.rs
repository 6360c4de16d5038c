//! The kernels that several tests use, those of code generation included.

use tilewright_dsl::{kernel, monoid};

/// y = x·Wᵀ.
#[kernel]
pub fn linear(w: Tensor<R, K>, x: Tensor<T, K>, y: Out<T, R>) {
    for t in 0..T {
        for r in 0..R {
            y[t][r] = sum(0..K, |k| w[r][k] * x[t][k]);
        }
    }
}

/// x over its root mean square, times w.
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

/// Row softmax.
#[kernel]
pub fn softmax(x: Tensor<R, C>, y: Out<R, C>) {
    for r in 0..R {
        let m = max(0..C, |i| x[r][i]);
        let s = sum(0..C, |j| exp(x[r][j] - m));
        for c in 0..C {
            y[r][c] = exp(x[r][c] - m) / s;
        }
    }
}

/// Online softmax: the largest score, the sum of weights, and the weighted sum of values.
#[monoid]
impl Softmax<C> {
    const IDENTITY: Self = Self { max: LOWEST, weight: 0.0, value: |c| 0.0 };
    fn merge(a: Self, b: Self) -> Self {
        let m = max(a.max, b.max);
        let wa = exp(a.max - m);
        let wb = exp(b.max - m);
        Self { max: m, weight: a.weight * wa + b.weight * wb, value: |c| a.value[c] * wa + b.value[c] * wb }
    }
}

/// Causal attention with grouped heads.
#[kernel]
pub fn attention(q: Tensor<T, H, D>, k: Tensor<S, G, D>, v: Tensor<S, G, D>, y: Out<T, H, D>, pos: u32, scale: f32) {
    for t in 0..T {
        for h in 0..H {
            let g = h / (H / G);
            let s = fold(0..pos + t + 1, |j| {
                let score = sum(0..D, |i| q[t][h][i] * k[j][g][i]) * scale;
                Softmax::<D> { max: score, weight: 1.0, value: |c| v[j][g][c] }
            });
            for d in 0..D {
                y[t][h][d] = s.value[d] / s.weight;
            }
        }
    }
}

/// Rotates the pairs (p, p + D/2) in place.
#[kernel]
pub fn rope(x: InOut<T, H, D>, cos: Tensor<S, P>, sin: Tensor<S, P>, pos: u32) {
    for t in 0..T {
        for h in 0..H {
            for p in 0..D / 2 {
                let half = D / 2;
                let a = x[t][h][p];
                let b = x[t][h][p + half];
                let c = cos[pos + t][p];
                let s = sin[pos + t][p];
                x[t][h][p] = a * c - b * s;
                x[t][h][p + D / 2] = b * c + a * s;
            }
        }
    }
}

/// Rows of a table.
#[kernel]
pub fn embedding(ids: Tensor<u32, T>, table: Tensor<V, D>, y: Out<T, D>) {
    for t in 0..T {
        for d in 0..D {
            y[t][d] = table[ids[t]][d];
        }
    }
}

/// The most likely token.
#[kernel]
pub fn greedy(logits: Tensor<T, V>, token: Out<u32, T>) {
    for t in 0..T {
        token[t] = argmax(0..V, |v| logits[t][v]);
    }
}

/// Rows written behind the old ones.
#[kernel]
pub fn append(x: Tensor<T, D>, cache: Out<S, D>, pos: u32) {
    for t in 0..T {
        for d in 0..D {
            cache[pos + t][d] = x[t][d];
        }
    }
}
