//! Decoding on and on: token after token, with steps handed to the device before the first of their tokens is read.
//!
//! The rule: the tokens are those of one step after the other. Where the device picks the token and writes it where the next
//! step reads its input, the host only has to stop in time; what was begun beyond that is overwritten by whatever comes next.

use std::collections::VecDeque;

use super::{Engine, Step};
use crate::error::ModelError;

/// Steps under way at once: enough that the device never waits for the host, few enough that little is lost at the end.
const UNDER_WAY: usize = 4;

impl Engine {
    /// Appends `first`, then the token that `next` names after each step, until it names none, `most` steps are done, or the
    /// context is full.
    ///
    /// # Errors
    /// As [`Engine::prefill`], and those of `next`.
    pub fn decode_on<E: From<ModelError>>(
        &mut self,
        first: u32,
        most: usize,
        next: &mut dyn FnMut(Step) -> Result<Option<u32>, E>,
    ) -> Result<(), E> {
        let most = most.min((self.plan.context - self.position) as usize);
        if most > 0 {
            self.check(&[first])?;
        }
        let mut id = first;
        let mut done = 0;
        while done < most {
            let rest = most - done;
            let following = if self.plan.tier.ahead && self.plan.token.is_some() && rest > 1 {
                self.run_ahead(id, rest, &mut done, next)?
            } else {
                done += 1;
                next(self.decode(id)?)?
            };
            match following {
                Some(token) => id = token,
                None => break,
            }
        }
        Ok(())
    }

    /// Runs steps ahead from `id` for as long as `next` goes on with the device's token; the token to go on with otherwise.
    fn run_ahead<E: From<ModelError>>(
        &mut self,
        id: u32,
        most: usize,
        done: &mut usize,
        next: &mut dyn FnMut(Step) -> Result<Option<u32>, E>,
    ) -> Result<Option<u32>, E> {
        let read = self.plan.reads();
        let (start, mut begun) = (self.position, 0);
        let mut under_way = VecDeque::with_capacity(UNDER_WAY);
        self.machine.write(self.plan.ids, &[id])?;
        loop {
            while under_way.len() < UNDER_WAY && begun < most {
                let pos = start + begun as u32;
                match self.machine.begin(self.plan.decode_stage(pos), &self.plan.params(pos, 1), &[read])? {
                    Some(step) => under_way.push_back(step),
                    // Nothing runs ahead here.
                    None => {
                        *done += 1;
                        return next(self.decode(id)?);
                    }
                }
                begun += 1;
            }
            let Some(step) = under_way.pop_front() else { return Ok(None) };
            let bytes = self.machine.finish(step)?.pop().unwrap_or_default();
            self.position += 1;
            *done += 1;
            let token = bytes.first_chunk().map_or(u32::MAX, |b| u32::from_le_bytes(*b));
            if token >= self.plan.limit {
                let (position, narrow) = (self.position as usize - 1, self.plan.narrow());
                return Err(ModelError::NotFiniteToken { position, narrow }.into());
            }
            match next(Step { token: Some(token), logits: None })? {
                Some(same) if same == token => {}
                other => return Ok(other),
            }
        }
    }
}
