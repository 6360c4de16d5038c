//! A plan in words: what runs, and what it costs.

use std::fmt::Write;

use tilewright_runtime::Role;
use tilewright_runtime::plan::{Counters, memory, text};

use super::{Plan, Stage};
use crate::error::ModelError;

impl Plan {
    /// What is to be said about it.
    ///
    /// # Errors
    /// None for a graph that was planned here.
    pub fn report(&self, notes: Vec<String>) -> Result<PlanReport, ModelError> {
        let memory = memory(self.buffers());
        let pos = (self.context / 2).min(128);
        let mut ops = String::new();
        for (name, stage, rows) in [("prefill", Stage::Prefill, self.chunk), ("last row", Stage::Last, 1)] {
            let text = text(self.graph(stage), &self.params(0, rows), &[])?;
            let _ = writeln!(ops, "{name}: {text}");
        }
        let step = |pos: u32| text(self.graph(self.decode_stage(pos)), &self.params(pos, 1), &[self.reads()]);
        let _ = write!(ops, "decode: {}", step(pos)?);
        if let Some(most) = self.attention.far.filter(|most| self.decode_stage(*most) == Stage::Far) {
            let last = step(self.context - 1)?;
            let _ = write!(ops, "\n\ndecode behind {most} positions and more: {last}");
        }
        Ok(PlanReport {
            tier: self.tier.number,
            tier_name: self.tier.name,
            notes,
            unused: self.unused.clone(),
            memory: self.memory_text(&memory),
            attention_bytes: self.between(),
            memory_bytes: memory.total(),
            weight_bytes: memory.bytes(Role::Weight),
            decode: self.counters(pos)?,
            ops,
        })
    }
}

/// A plan for people and snapshots.
#[derive(Clone, Debug)]
pub struct PlanReport {
    /// The tier.
    pub tier: usize,
    /// Its name.
    pub tier_name: &'static str,
    /// Why better tiers were passed over, and the like.
    pub notes: Vec<String>,
    /// What is to be said of the user's schedules: which are not used, and why.
    pub unused: Vec<String>,
    /// Bytes by role, as text.
    pub memory: String,
    /// Bytes of activations that kernels of attention pass on to each other.
    pub attention_bytes: u64,
    /// Bytes of all buffers.
    pub memory_bytes: u64,
    /// Bytes of weights.
    pub weight_bytes: u64,
    /// What a decode step costs, at position 128 or in the middle of a shorter context.
    pub decode: Counters,
    /// The ops of all graphs, as text.
    pub ops: String,
}
