//! From logits to a sampled token, or to the best logits, on the device.
//!
//! The rule: each step of the host's sampler is an op here, in its order: the penalty, the best k, then filters and the draw.

use tilewright_runtime::{Role, ScalarSource};

use super::head::limit;
use super::{IDS, KEY, LOGITS, PAIRS, Qwen2, pos};
use crate::engine::assembly::{Call, Tensor};
use crate::engine::sampling::Sampling;
use crate::error::ModelError;
use crate::kernels::topk::CHUNK;

/// The best logits of a row, and what is known of each chunk of all of them.
struct Best {
    /// Logits, [1, K].
    value: Tensor,
    /// Their ids, [1, K].
    token: Tensor,
    /// Each chunk's largest logit, [1, N].
    best: Tensor,
    /// Its id, [1, N].
    index: Tensor,
    /// Each chunk's sum of exponentials, [1, N].
    weight: Tensor,
}

impl Qwen2<'_, '_> {
    /// Notes which tokens a step appends, where these are to be made less likely.
    ///
    /// # Errors
    /// Those of [`crate::engine::assembly::Assembly::op`].
    pub fn note(&mut self, sampling: Option<&Sampling>) -> Result<(), ModelError> {
        if !sampling.is_some_and(Sampling::penalises) {
            return Ok(());
        }
        let (ids, first) = (self.a.tensor(IDS, Role::Input), self.first()); // [T], [V]
        self.a.op(Call {
            label: "first_seen",
            kernel: "first_seen",
            extents: &[("V", self.c.vocab_size)],
            tensors: &[&ids, &first],
            scalars: &[pos()],
            touched: &[],
        })
    }

    /// From the logits of one row, [1, V], to a token, `[1]`, or to pairs, [1, 2K + 3].
    ///
    /// # Errors
    /// Those of [`crate::engine::assembly::Assembly::op`].
    pub fn sample(&mut self, sampling: &Sampling) -> Result<(), ModelError> {
        let mut logits = self.a.tensor(LOGITS, Role::Output); // [1, V]
        if sampling.penalises() {
            let (first, less) = (self.first(), self.activation("penalised")); // [V], [1, V]
            self.a.op(Call {
                label: "penalise",
                kernel: "penalise",
                extents: &[("V", self.c.vocab_size)],
                tensors: &[&logits, &first, &less],
                scalars: &[("penalty", ScalarSource::F32(sampling.params.repetition_penalty))],
                touched: &[],
            })?;
            logits = less;
        }
        if !sampling.pairs && sampling.params.temperature == 0.0 {
            return self.argmax(&logits);
        }
        let best = self.top(&logits, sampling.kept())?;
        if sampling.pairs { self.pairs(&best, sampling) } else { self.draw(&best, sampling) }
    }

    /// The first position of each token in the sequence, `[V]`.
    fn first(&self) -> Tensor {
        self.a.tensor("first seen", Role::State)
    }

    fn chunks(&self) -> usize {
        self.c.vocab_size.div_ceil(CHUNK as usize)
    }

    /// The `k` best logits, sorted.
    fn top(&mut self, logits: &Tensor, k: usize) -> Result<Best, ModelError> {
        let (chunks, columns) = (self.chunks(), CHUNK as usize);
        let first = k.min(chunks);
        let (best, index) = (self.activation("chunk best"), self.activation("chunk index")); // [1, N] each
        let weight = self.activation("chunk weight"); // [1, N]
        self.a.op(Call {
            label: "chunks",
            kernel: "topk_chunks",
            extents: &[("V", self.c.vocab_size), ("N", chunks)],
            tensors: &[logits, &best, &index, &weight],
            scalars: &[limit()],
            touched: &[],
        })?;
        let order = self.rank("chunk ranks", &best, &index, chunks)?; // [1, N]
        let (value, id) = (self.activation("candidates"), self.activation("candidate ids")); // [1, F, C] each
        self.a.op(Call {
            label: "candidates",
            kernel: "topk_values",
            extents: &[("V", self.c.vocab_size), ("N", chunks), ("F", first), ("C", columns)],
            tensors: &[logits, &order, &value, &id],
            scalars: &[limit()],
            touched: &[],
        })?;
        let all = first * columns;
        let order = self.rank("candidate ranks", &value, &id, all)?; // [1, M]
        let (sorted, token) = (self.activation("top logits"), self.activation("top ids")); // [1, K] each
        self.a.op(Call {
            label: "top",
            kernel: "topk_first",
            extents: &[("M", all), ("K", k)],
            tensors: &[&value, &id, &order, &sorted, &token],
            scalars: &[],
            touched: &[],
        })?;
        Ok(Best { value: sorted, token, best, index, weight })
    }

    /// How many pairs come before each one.
    fn rank(&mut self, label: &str, x: &Tensor, id: &Tensor, count: usize) -> Result<Tensor, ModelError> {
        let rank = self.activation(label);
        self.a.op(Call {
            label,
            kernel: "topk_rank",
            extents: &[("M", count)],
            tensors: &[x, id, &rank],
            scalars: &[],
            touched: &[],
        })?;
        Ok(rank)
    }

    fn pairs(&mut self, b: &Best, sampling: &Sampling) -> Result<(), ModelError> {
        let y = self.a.tensor(PAIRS, Role::Output); // [1, 2K + 3]
        self.a.op(Call {
            label: "pairs",
            kernel: "topk_pairs",
            extents: &[("K", sampling.kept()), ("N", self.chunks()), ("W", sampling.words())],
            tensors: &[&b.value, &b.token, &b.best, &b.index, &b.weight, &y],
            scalars: &[],
            touched: &[],
        })
    }

    fn draw(&mut self, b: &Best, sampling: &Sampling) -> Result<(), ModelError> {
        let (y, p) = (self.token(), &sampling.params); // [1]
        self.a.op(Call {
            label: "draw",
            kernel: "draw",
            extents: &[("K", sampling.kept()), ("N", self.chunks())],
            tensors: &[&b.value, &b.token, &b.index, &y],
            scalars: &[
                ("keep", ScalarSource::U32(p.top_k as u32)),
                ("temperature", ScalarSource::F32(p.temperature)),
                ("top_p", ScalarSource::F32(p.top_p)),
                ("seed", ScalarSource::Param(KEY.into())),
                limit(),
            ],
            touched: &[],
        })
    }
}
