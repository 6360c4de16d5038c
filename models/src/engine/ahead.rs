//! Decoding on and on: token after token, with steps handed to the device before the first of their tokens is read.
//!
//! The rule: the tokens are those of one step after the other. Where the device picks the token and writes it where the next
//! step reads its input, the host only has to stop in time; what was begun beyond that is overwritten by whatever comes next.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tilewright_runtime::{Params, STEPS_AT_ONCE};

use super::{Engine, Step};
use crate::error::ModelError;
use crate::variants::Kv;

/// Steps under way at once, at least: the device has the next one before it ends the first.
const UNDER_WAY: usize = 4;

/// How long the steps that are handed over together should take at most: a text flows, and little is lost at its end.
const TOGETHER: Duration = Duration::from_millis(20);

/// How many steps are handed over together. A submit costs little against a step (1,288 against 1,283 tokens a second on an H200), so
/// that this is for the host: fewer hand-overs and waits where steps are short.
struct Pace {
    together: usize,
    since: Instant,
}

impl Pace {
    fn new() -> Self {
        Pace { together: 1, since: Instant::now() }
    }

    /// Takes note that so many steps have come back.
    fn came(&mut self, steps: usize) {
        let step = self.since.elapsed() / steps.max(1) as u32;
        self.since = Instant::now();
        let fits = |n: usize| step * n as u32 <= TOGETHER;
        if fits(2 * self.together) {
            self.together = (2 * self.together).min(STEPS_AT_ONCE);
        } else if !fits(self.together) {
            self.together = (self.together / 2).max(1);
        }
    }
}

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
            let following = if self.plan.tier.ahead && self.plan.kv != Kv::None && self.plan.token.is_some() && rest > 1
            {
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
        let (start, mut begun, mut fed) = (self.position, 0, id);
        let mut under_way = VecDeque::with_capacity(UNDER_WAY);
        let mut pace = Pace::new();
        self.machine.write(self.plan.ids, &[id])?;
        loop {
            while begun < most && begun - ((self.position - start) as usize) < UNDER_WAY.max(2 * pace.together) {
                let pos = start + begun as u32;
                let stage = self.plan.decode_stage(pos);
                let next_ones = (pos..pos + pace.together.min(most - begun) as u32)
                    .take_while(|p| self.plan.decode_stage(*p) == stage);
                let steps: Vec<Params> = next_ones.map(|pos| self.plan.params(pos, 1)).collect();
                self.make_room(pos, steps.len() as u32)?;
                match self.machine.begin(stage, &steps, &[read])? {
                    Some(steps) => under_way.push_back(steps),
                    // Nothing runs ahead here.
                    None => {
                        *done += 1;
                        return next(self.decode(id)?);
                    }
                }
                begun += steps.len();
            }
            let Some(steps) = under_way.pop_front() else { return Ok(None) };
            let tokens = self.machine.finish(steps)?;
            pace.came(tokens.len());
            for bytes in tokens {
                self.cache.fed(self.position, &[fed]);
                self.position += 1;
                *done += 1;
                let token = bytes.first_chunk().map_or(u32::MAX, |b| u32::from_le_bytes(*b));
                fed = token;
                if token >= self.plan.limit {
                    let (position, narrow) = (self.position as usize - 1, self.plan.narrow());
                    return Err(ModelError::NotFiniteToken { position, narrow }.into());
                }
                match next(Step { token: Some(token), ..Step::default() })? {
                    Some(same) if same == token => {}
                    other => return Ok(other),
                }
            }
        }
    }
}
