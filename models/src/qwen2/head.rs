//! From the residual stream's last row to logits and the greedy token.
//!
//! The rule: where nobody reads logits, a tier may leave none. Absent: tokens that are not the best one.

use tilewright_runtime::{Role, ScalarSource};

use super::{IDS, LOGITS, Qwen2, ROW, TOKEN, TOKENS};
use crate::checkpoint::FINAL_NORM;
use crate::engine::assembly::{Call, Rows, Tensor};
use crate::error::ModelError;
use crate::kernels::head_parts;

impl Qwen2<'_, '_> {
    /// Row `row[0]` of the residual stream, [1, hidden]: a lookup in it. `chunk` is its rows.
    ///
    /// # Errors
    /// Those of [`crate::engine::assembly::Assembly::op`].
    pub fn last_row(&mut self, h: &Tensor, chunk: usize) -> Result<Tensor, ModelError> {
        let row = self.a.tensor(ROW, Role::Input); // [1]
        let last = self.activation("last"); // [1, hidden]
        self.lookup("last_row", &row, h, chunk, &last)?;
        Ok(last)
    }

    /// From rows of the residual stream to logits, `[T, V]`, and where asked for to the greedy token of each, `[T]`.
    ///
    /// # Errors
    /// Those of [`crate::engine::assembly::Assembly::op`].
    pub fn head(&mut self, h: &Tensor, head: &str, token: bool) -> Result<(), ModelError> {
        let (hidden, vocab) = (self.c.hidden_size, self.c.vocab_size);
        let norm = self.a.tensor(FINAL_NORM, Role::Weight); // [hidden]
        let (w, logits) = (self.a.tensor(head, Role::Weight), self.a.tensor(LOGITS, Role::Output)); // [V, hidden]
        if self.fused() {
            self.a.op(Call {
                label: "head",
                kernel: "norm_linear",
                extents: &[("R", vocab), ("K", hidden)],
                tensors: &[&w, &logits, h, &norm],
                scalars: &[("norm.eps", ScalarSource::F32(self.c.rms_norm_eps))],
                touched: &[],
            })?;
        } else {
            let x = self.norm("final_norm", h, &norm)?; // [T, hidden]
            self.project("head", &w, &x, &logits, vocab, hidden)?; // [T, V]
        }
        if token { self.argmax(&logits) } else { Ok(()) }
    }

    /// From rows of logits, [T, V], to the token of the largest of each, `[T]`.
    ///
    /// # Errors
    /// Those of [`crate::engine::assembly::Assembly::op`].
    pub fn argmax(&mut self, logits: &Tensor) -> Result<(), ModelError> {
        self.a.op(Call {
            label: "argmax",
            kernel: "argmax",
            extents: &[("V", self.c.vocab_size)],
            tensors: &[logits, &self.token()],
            scalars: &[limit()],
            touched: &[],
        })
    }

    /// From rows of the residual stream to the greedy token of each, `[T]`. Where a tier splits and one binding holds the whole head,
    /// logits are not written: every few rows keep their largest.
    ///
    /// # Errors
    /// Those of [`crate::engine::assembly::Assembly::op`].
    pub fn greedy(&mut self, h: &Tensor, head: &str) -> Result<(), ModelError> {
        let (hidden, vocab) = (self.c.hidden_size, self.c.vocab_size);
        let norm = self.a.tensor(FINAL_NORM, Role::Weight); // [hidden]
        let w = self.a.tensor(head, Role::Weight); // [V, hidden]
        let (max, index) = (self.activation("head max"), self.activation("head index")); // [T, parts] each
        let parts = ("v.Parts", vocab.div_ceil(head_parts::CHUNK as usize));
        let call = Call {
            label: "head",
            kernel: "head_parts",
            extents: &[("V", vocab), ("K", hidden), parts],
            tensors: &[&max, &index, &w, h, &norm],
            scalars: &[limit(), ("head.norm.eps", ScalarSource::F32(self.c.rms_norm_eps))],
            touched: &[],
        };
        if self.a.tier().split.is_none() || !self.a.holds(&call)? {
            return self.head(h, head, true);
        }
        self.a.op(call)?;
        self.a.op(Call {
            label: "argmax",
            kernel: "argmax_merged",
            extents: &[parts],
            tensors: &[&self.token(), &max, &index],
            scalars: &[],
            touched: &[],
        })
    }

    /// The buffer of the token that the device picks: the next step's input, or a place of its own.
    pub fn token(&self) -> Tensor {
        match self.a.rows() {
            Rows::Few(_) => self.a.tensor(TOKENS, Role::Output),
            _ if self.a.tier().ahead => self.a.tensor(IDS, Role::Input),
            _ => self.a.tensor(TOKEN, Role::Output),
        }
    }
}

/// Ids from here on are never picked.
pub fn limit() -> (&'static str, ScalarSource) {
    ("limit", ScalarSource::Param("limit".into()))
}
