//! The k best logits, sorted, ties by the lowest id: in five steps that spread over the whole device.
//!
//! The rule that makes it exact: chunks of 64 values are ranked by their best one, and the k best values lie in the k first
//! chunks, since each chunk before another one holds a better value than all of the other's. A rank is a count of what comes
//! before, so that nothing depends on an order of evaluation, and a value goes where its rank says. The steps are chunks, ranks
//! of chunks, the values of the first chunks, their ranks, and the k first of these. Absent: a bitonic network, whose lists of k
//! pairs an invocation (64 × 8 bytes) fill workgroup memory with 32 lists.

use tilewright_dsl::{kernel, monoid, schedule};

/// Values that a chunk has.
pub const CHUNK: u32 = 64;

/// The least index.
#[monoid]
impl Least {
    const IDENTITY: Self = Self { index: u32::MAX };
    fn merge(a: Self, b: Self) -> Self {
        Self { index: min(a.index, b.index) }
    }
}

/// Of every 64 of the first `limit` values of a row: the largest, its index (u32::MAX where one of them is not finite), and the
/// sum of all their exponentials relative to it.
#[kernel]
pub fn topk_chunks(x: Tensor<T, V>, best: Out<T, N>, index: Out<u32, T, N>, weight: Out<T, N>, limit: u32) {
    assert!(N * 64 >= V);
    for t in 0..T {
        for n in 0..N {
            let end = min(limit, V);
            let begin = n * 64;
            let lo = min(begin, end);
            let hi = min(begin + 64, end);
            let m = max(lo..hi, |i| x[t][i]);
            best[t][n] = m;
            weight[t][n] = sum(lo..hi, |j| exp(x[t][j] - m));
            let place = argmax(lo..hi, |v| x[t][v]);
            index[t][n] = if begin < end { place } else { begin };
        }
    }
}

/// How many of a row's pairs come before each one: a larger value, or an equal one with a lower id.
#[kernel]
pub fn topk_rank(x: Tensor<T, M>, id: Tensor<u32, T, M>, rank: Out<T, M>) {
    for t in 0..T {
        for m in 0..M {
            rank[t][m] =
                sum(0..M, |j| if x[t][j] > x[t][m] || x[t][j] == x[t][m] && id[t][j] < id[t][m] { 1.0 } else { 0.0 });
        }
    }
}

/// The values of the first chunks by rank, and their ids; LOWEST behind the first `limit` values of a row.
#[kernel]
pub fn topk_values(x: Tensor<T, V>, rank: Tensor<T, N>, value: Out<T, F, C>, id: Out<u32, T, F, C>, limit: u32) {
    assert!(C <= 64);
    for t in 0..T {
        for f in 0..F {
            let found = fold(0..N, |n| {
                let index = if rank[t][n] == f as f32 { n } else { u32::MAX };
                Least { index: index }
            });
            let chunk = min(found.index, N - 1);
            for c in 0..C {
                let at = chunk * 64 + c;
                value[t][f][c] = if at < min(limit, V) { x[t][min(at, V - 1)] } else { LOWEST };
                id[t][f][c] = at;
            }
        }
    }
}

/// The first pairs by rank; LOWEST and u32::MAX where there are no more.
#[kernel]
pub fn topk_first(x: Tensor<T, M>, id: Tensor<u32, T, M>, rank: Tensor<T, M>, value: Out<T, K>, token: Out<u32, T, K>) {
    for t in 0..T {
        for k in 0..K {
            let found = fold(0..M, |m| {
                let index = if rank[t][m] == k as f32 { m } else { u32::MAX };
                Least { index: index }
            });
            let at = min(found.index, M - 1);
            value[t][k] = if found.index < M { x[t][at] } else { LOWEST };
            token[t][k] = if found.index < M { id[t][at] } else { u32::MAX };
        }
    }
}

/// For the host, a row: the bits of K values, their ids, and of all values the largest, the sum of exponentials relative to
/// it, and u32::MAX where one is not finite.
#[kernel]
pub fn topk_pairs(
    value: Tensor<T, K>,
    token: Tensor<u32, T, K>,
    best: Tensor<T, N>,
    index: Tensor<u32, T, N>,
    weight: Tensor<T, N>,
    y: Out<u32, T, W>,
) {
    assert!(W == 2 * K + 3);
    for t in 0..T {
        for k in 0..K {
            y[t][k] = bits(value[t][k]);
            y[t][K + k] = token[t][k];
        }
        let m = max(0..N, |i| best[t][i]);
        y[t][2 * K] = bits(m);
        y[t][2 * K + 1] = bits(sum(0..N, |j| weight[t][j] * exp(best[t][j] - m)));
        let finite = fold(0..N, |n| {
            let whole = if index[t][n] == u32::MAX { 0 } else { 1 };
            Least { index: whole }
        });
        y[t][2 * K + 2] = if finite.index == 0 { u32::MAX } else { 0 };
    }
}

schedule! {
    /// 16 chunks a workgroup, 16 invocations each.
    pub chunks for topk_chunks {
        workgroup 256;
        t: grid;
        n: grid, lanes(16);
        i: serial, lanes(16);
        j: serial, lanes(16);
        v: serial, lanes(16);
    }
}

schedule! {
    /// 16 pairs a workgroup, 16 invocations each.
    pub ranks for topk_rank {
        workgroup 256;
        t: grid;
        m: grid, lanes(16);
        j: serial, unroll(4), lanes(16);
    }
}

schedule! {
    /// A chunk a workgroup.
    pub values for topk_values {
        workgroup 64;
        t: grid;
        f: grid;
        n: serial, lanes(64);
        c: serial, lanes(64);
    }
}

schedule! {
    /// A place a workgroup.
    pub places for topk_first {
        workgroup 64;
        t: grid;
        k: grid;
        m: serial, unroll(4), lanes(64);
    }
}

schedule! {
    /// One workgroup a row.
    pub row for topk_pairs {
        workgroup 64;
        t: grid;
        k: serial, lanes(64);
        i: serial, lanes(64);
        j: serial, lanes(64);
        n: serial, lanes(64);
    }
}
