//! Logits of tokens that are in the sequence already, made smaller: what the host's sampler does before all else.
//!
//! The rule: of every token the first position is kept, and each step forgets what is said of its own positions and later ones
//! before it looks at its ids. So a sequence that is cut off, or begun anew, leaves nothing behind. An element is written by the
//! one that asks whether it is among the ids, not by the id: ids may be equal.
//! Repetition penalty: Keskar et al. 2019 (arXiv:1909.05858).

use super::topk::Least;
use tilewright_dsl::{kernel, schedule};

/// `first[v]` = the first position of token v in the sequence, of which `ids[0..T]` stand at `pos`; u32::MAX where it has none.
#[kernel]
pub fn first_seen(ids: Tensor<u32, T>, first: InOut<u32, V>, pos: u32) {
    for v in 0..V {
        let now = fold(0..T, |t| {
            let index = if ids[t] == v { pos + t } else { u32::MAX };
            Least { index: index }
        });
        first[v] = if first[v] < pos { first[v] } else { now.index };
    }
}

/// y = x, of tokens that have a first position divided by `penalty` where it is positive, and multiplied by it elsewhere.
#[kernel]
pub fn penalise(x: Tensor<T, V>, first: Tensor<u32, V>, y: Out<T, V>, penalty: f32) {
    for t in 0..T {
        for v in 0..V {
            let less = if x[t][v] < 0.0 { x[t][v] * penalty } else { x[t][v] / penalty };
            y[t][v] = if first[v] == u32::MAX { x[t][v] } else { less };
        }
    }
}

schedule! {
    /// A token an invocation.
    pub tokens for first_seen {
        v: grid, lanes(64);
    }
}

schedule! {
    /// A logit an invocation.
    pub elements for penalise {
        t: grid;
        v: grid, lanes(64);
    }
}
