//! Attention in a single pass over the cache, by online softmax.
//! Milakov and Gimelshein 2018 (arXiv:1805.02867); grouped heads: Ainslie et al. 2023 (arXiv:2305.13245).

use tilewright_dsl::{kernel, monoid, schedule};

/// Part of a softmax-weighted mean: the largest score, the sum of weights relative to it, and the weighted sum of values.
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

/// y = softmax(q·kᵀ)·v over all positions up to the query's own.
#[kernel]
pub fn attention(q: Tensor<T, H, D>, k: Tensor<P, G, D>, v: Tensor<P, G, D>, y: Out<T, H, D>, pos: u32, scale: f32) {
    assert!(H % G == 0);
    for t in 0..T {
        for h in 0..H {
            let g = h / (H / G);
            let s = fold(0..pos + t + 1, |j| {
                let score = sum(0..D, |d| q[t][h][d] * scale * k[j][g][d]);
                Softmax::<D> { max: score, weight: 1.0, value: |c| v[j][g][c] }
            });
            for c in 0..D {
                y[t][h][c] = s.value[c] / s.weight;
            }
        }
    }
}

schedule! {
    /// One invocation a query head.
    pub naive for attention {
        t: grid;
        h: grid, lanes(4);
    }
}

schedule! {
    /// One workgroup a query head: the scores of 64 positions are computed together, then each invocation adds up its column.
    pub columns for attention {
        t: grid;
        h: grid;
        j: serial as jo, serial(64);
        softmax.c: lanes(64);
        c: lanes(64);
        d: serial, vector(4);
        compute score at jo: workgroup;
    }
}

schedule! {
    /// The same for heads of up to 128 columns.
    pub columns_wide for attention from columns {
        j: serial as jo, serial(128);
        softmax.c: lanes(128);
        c: lanes(128);
    }
}

schedule! {
    /// Eight positions at a time, 16 invocations each: partial results meet in a tree.
    pub tree for attention {
        t: grid;
        h: grid;
        j: serial, lanes(8);
        softmax.c: lanes(16), unroll(4);
        c: lanes(16), unroll(4);
        d: lanes(16), vector(4);
    }
}

schedule! {
    /// The same with scores folded by subgroup operations.
    pub subgroup for attention from tree {
        fold d: subgroup;
    }
}

schedule! {
    /// One workgroup a query head: 256 scores are computed together, then 16 groups of 16 invocations each add up every
    /// sixteenth position, four columns an invocation. The groups meet in a tree.
    pub grouped for attention {
        workgroup 256;
        t: grid;
        h: grid;
        j: serial as jo, serial(16), lanes(16);
        softmax.c: lanes(16), vector(4);
        c: lanes(16), vector(4);
        d: serial, vector(4);
        compute score at jo: workgroup;
    }
}

schedule! {
    /// The same for heads of up to 128 columns.
    pub grouped_wide for attention from grouped {
        j: serial as jo, serial(32), lanes(8);
        softmax.c: lanes(32), vector(4);
        c: lanes(32), vector(4);
    }
}

schedule! {
    /// Prefill: 16 queries of a head a workgroup share each tile of 32 keys and values; 16 invocations of four columns a query.
    pub queries for attention {
        workgroup 256;
        t: grid, lanes(16);
        h: grid;
        j: serial as jo, serial(32);
        softmax.c: lanes(16), unroll(4);
        c: lanes(16), unroll(4);
        d: serial, vector(4);
        stage k at jo: workgroup;
        stage v at jo: workgroup;
        compute score at jo: workgroup;
    }
}

schedule! {
    /// The same for heads of up to 128 columns: 8 queries, 16 keys and values at a time.
    pub queries_wide for attention from queries {
        t: grid, lanes(8);
        j: serial as jo, serial(16);
        softmax.c: lanes(32), unroll(4);
        c: lanes(32), unroll(4);
    }
}

schedule! {
    /// One workgroup of 512 a query head: 64 positions at a time, eight invocations of eight columns each.
    pub octets for attention {
        workgroup 512;
        t: grid;
        h: grid;
        j: serial, lanes(64);
        softmax.c: lanes(8), vector(8);
        c: lanes(8), vector(8);
        d: lanes(8), vector(8);
        fold d: subgroup;
    }
}

schedule! {
    /// The same for heads of up to 128 columns.
    pub octets_wide for attention from octets {
        j: serial, lanes(32);
        softmax.c: lanes(16), vector(8);
        c: lanes(16), vector(8);
        d: lanes(16), vector(8);
    }
}

schedule! {
    /// As `octets`, with four positions of an invocation under way at once.
    pub fours for attention from octets {
        j: serial, unroll(4), lanes(64);
    }
}

schedule! {
    /// The same for heads of up to 128 columns.
    pub fours_wide for attention from octets_wide {
        j: serial, unroll(4), lanes(32);
    }
}
