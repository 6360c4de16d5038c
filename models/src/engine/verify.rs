//! Steps of a few positions that give what as many steps of one would give, bit for bit, and the way back from them.
//!
//! The rule: such a step runs the schedules of one position with another `t`, so that whoever guessed the tokens learns what the model
//! says behind each of them. What was guessed wrong is taken back by position alone: a later step writes over it. Absent: guesses.
//! Speculative decoding: Leviathan et al. 2023 (arXiv:2211.17192).

use tilewright_runtime::Read;

use super::{Engine, Stage, Step};
use crate::error::ModelError;
use crate::speculative::SpeculativeError;
use crate::variants::Kv;

impl Engine {
    /// The most ids that [`Engine::verify`] takes at the current position: at most what the engine was planned for, less where the context
    /// or the way in which the cache is read ends before; 0 where it takes none, as without a cache.
    pub fn verifiable(&self) -> u32 {
        let Some(verify) = &self.plan.verify else { return 0 };
        match self.plan.kv != Kv::None && self.position + verify.rows <= self.plan.context {
            true => verify.rows.min(self.plan.alike(self.position)),
            false => 0,
        }
    }

    /// Appends ids and gives what each step of one position would have given.
    ///
    /// # Errors
    /// As [`Engine::prefill`]; [`SpeculativeError::TooMany`] for more than [`Engine::verifiable`].
    pub fn verify(&mut self, ids: &[u32]) -> Result<Vec<Step>, ModelError> {
        self.check(ids)?;
        let most = self.verifiable() as usize;
        let Some(verify) = self.plan.verify.as_ref().filter(|_| ids.len() <= most) else {
            return Err(SpeculativeError::TooMany { found: ids.len(), most }.into());
        };
        let (rows, stride, tokens) = (verify.rows, verify.stride, verify.tokens);
        // What stands behind the last id is computed too, and counts for nothing.
        let mut padded = ids.to_vec();
        padded.resize(rows as usize, 0);
        self.make_room(self.position, rows)?;
        self.machine.write(self.plan.ids, &padded)?;
        let far = self.plan.decode_stage(self.position) == Stage::Far;
        let params = self.plan.params(self.position, rows);
        let count = ids.len() as u64;
        let reads: Vec<Read> = match tokens {
            Some(buffer) => vec![Read { buffer, offset: 0, bytes: 4 * count }],
            None => (0..count).map(|row| Read { offset: row * stride, ..self.plan.logits_read() }).collect(),
        };
        let bytes = self.machine.few(far, &params, &reads)?;
        let mut steps = Vec::with_capacity(ids.len());
        if tokens.is_some() {
            for (i, token) in bytes.iter().flat_map(|b| b.as_chunks::<4>().0).enumerate() {
                let token = u32::from_le_bytes(*token);
                if token >= self.plan.limit {
                    let (position, narrow) = (self.position as usize + i, self.plan.narrow());
                    return Err(ModelError::NotFiniteToken { position, narrow });
                }
                steps.push(Step { token: Some(token), ..Step::default() });
            }
        } else {
            for (i, bytes) in bytes.iter().enumerate() {
                let logits = self.logits(bytes, self.position + i as u32)?;
                steps.push(Step { logits: Some(logits), ..Step::default() });
            }
        }
        self.cache.fed(self.position, ids);
        self.position += ids.len() as u32;
        Ok(steps)
    }

    /// Forgets all positions from `position` on.
    ///
    /// # Errors
    /// [`SpeculativeError::Rollback`] for positions that are not there.
    pub fn rollback(&mut self, position: u32) -> Result<(), ModelError> {
        if position > self.position {
            return Err(SpeculativeError::Rollback { found: position, most: self.position }.into());
        }
        self.position = position;
        Ok(())
    }
}
