//! A token drawn from the best logits: temperature, top-k, top-p, and Gumbel noise from the hash of the host's sampler.
//!
//! The rule: every candidate's score is a function of its own pair, the row's seed and sums over the candidates, so that a token
//! is that of the host wherever its lead is larger than what `exp` and `log` of a device may be off. The noise -ln(-ln(u)) is
//! made from 1 - u, which is exact, by a series where u is near 1: a device's logarithm has an absolute error there, and it is
//! there that a draw is decided.
//! Gumbel-max: Maddison et al. 2014 (arXiv:1411.0030); the hash is that of `sampler::noise`.

use super::topk::Least;
use tilewright_dsl::{kernel, schedule};

/// y = a token of the K best pairs of a row, which are sorted: of the first `keep` and what ties with the last of them, those
/// that hold `top_p` of their probability, drawn at `temperature`; u32::MAX where a logit is not finite.
#[kernel]
pub fn draw(
    value: Tensor<T, K>,
    token: Tensor<u32, T, K>,
    index: Tensor<u32, T, N>,
    y: Out<u32, T>,
    keep: u32,
    temperature: f32,
    top_p: f32,
    seed: u32,
    limit: u32,
) {
    for t in 0..T {
        let finite = fold(0..N, |n| {
            let whole = if index[t][n] == u32::MAX { 0 } else { 1 };
            Least { index: whole }
        });
        let top = value[t][0];
        let last = value[t][min(max(keep, 1), K) - 1];
        let logit = |c| max((value[t][c] - top) / temperature, LOWEST);
        let share = |c| if value[t][c] >= last && token[t][c] < limit { exp(logit[c]) } else { 0.0 };
        let total = sum(0..K, |i| share[i]);
        let mixed = |x| {
            let a = (x ^ x >> 16) * 2_146_121_005;
            let b = (a ^ a >> 15) * 2_221_713_035;
            b ^ b >> 16
        };
        let chosen = argmax(0..K, |c| {
            let tail = sum(c..K, |j| share[j]);
            let drawn = mixed[mixed[token[t][c]] + seed] >> 9;
            let u = (drawn as f32 + 0.5) * 0.000_000_119_209_29;
            let w = ((8_388_607 - drawn) as f32 + 0.5) * 0.000_000_119_209_29;
            let s = w / (2.0 - w);
            let q = s * s;
            let series = 2.0 * s * (1.0 + q * (0.33333334 + q * (0.2 + q * 0.14285715)));
            let spread = if w < 0.125 { series } else { -log(u) };
            let kept = share[c] > 0.0 && (c == 0 || top_p >= 1.0 || tail > (1.0 - top_p) * total);
            if kept { logit[c] - log(spread) } else { LOWEST }
        });
        let place = min(chosen, K - 1);
        y[t] = if finite.index == 0 || chosen == u32::MAX { u32::MAX } else { token[t][place] };
    }
}

schedule! {
    /// One workgroup a row.
    pub row for draw {
        workgroup 64;
        t: grid;
        n: serial, lanes(64);
        i: serial, lanes(64);
        c: serial, lanes(64);
    }
}
