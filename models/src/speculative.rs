//! Speculative decoding: a small model guesses some tokens, the large one verifies all of them in one pass over its weights.
//!
//! The rule: the text is the target's own, token by token, whatever the draft is. A guess is kept where it is the token that the target
//! chooses at that position; since a sampler's noise belongs to the seed and the position, both models draw with the same noise, and that
//! holds with a temperature as it does without: the target's distribution is kept because its very draws are. Absent: trees of guesses.
//! Leviathan et al. 2023 (arXiv:2211.17192); draws with common noise: Daliri et al. 2024 (arXiv:2408.07978).

mod error;

use std::time::{Duration, Instant};

use crate::config::Config;
use crate::engine::{Engine, Step};
use crate::error::ModelError;
use crate::tokenizer::Tokenizer;
pub use error::SpeculativeError;

/// Chooses the token that follows a history.
pub type Choose<'c> = dyn Fn(&Step, &[u32]) -> Result<u32, ModelError> + 'c;

/// A target and its draft.
pub struct Speculative {
    target: Engine,
    draft: Engine,
    gamma: u32,
    counts: Counts,
}

/// What rounds of guessing came to.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Counts {
    /// Passes of the target.
    pub passes: u64,
    /// Tokens that the draft guessed.
    pub guessed: u64,
    /// How many of them were the target's.
    pub accepted: u64,
    /// Tokens that came out.
    pub tokens: u64,
    /// Time spent guessing.
    pub drafting: Duration,
    /// Time spent verifying.
    pub verifying: Duration,
}

impl Counts {
    /// The share of guesses that were right.
    pub fn acceptance(&self) -> f64 {
        self.accepted as f64 / self.guessed.max(1) as f64
    }

    /// Tokens a pass of the target.
    pub fn tokens_a_pass(&self) -> f64 {
        self.tokens as f64 / self.passes.max(1) as f64
    }
}

impl Speculative {
    /// Pairs engines; the target is planned to verify `gamma + 1` positions.
    pub fn new(target: Engine, draft: Engine, gamma: u32) -> Self {
        Speculative { target, draft, gamma, counts: Counts::default() }
    }

    /// The target.
    pub fn target(&self) -> &Engine {
        &self.target
    }

    /// The draft.
    pub fn draft(&self) -> &Engine {
        &self.draft
    }

    /// What the rounds so far came to.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Forgets all positions and counts.
    pub fn reset(&mut self) {
        self.target.reset();
        self.draft.reset();
        self.counts = Counts::default();
    }

    /// Appends a prompt to both; the result is the target's.
    ///
    /// # Errors
    /// As [`Engine::prefill`].
    pub fn prefill(&mut self, ids: &[u32]) -> Result<Step, ModelError> {
        let room = (self.draft.context() - self.draft.position()) as usize;
        if ids.len() <= room {
            self.draft.prefill(ids)?;
        }
        self.target.prefill(ids)
    }

    /// Goes on after `history`, all of whose tokens but the last are behind both models: `next` takes each token that the target
    /// chooses by `choose`, and says whether to go on. It ends when `most` tokens are there, or the context is full.
    ///
    /// # Errors
    /// As [`Engine::prefill`], and those of `next`.
    pub fn decode_on<E: From<ModelError>>(
        &mut self,
        history: &mut Vec<u32>,
        most: usize,
        choose: &Choose,
        next: &mut dyn FnMut(u32) -> Result<bool, E>,
    ) -> Result<(), E> {
        let most = most.min((self.target.context() - self.target.position()) as usize);
        let mut done = 0;
        while done < most {
            let start = self.target.position();
            let guesses = self.guess(history, most - done, choose)?;
            let clock = Instant::now();
            let last = history[history.len() - 1];
            let steps = match guesses.is_empty() {
                true => vec![self.target.decode(last)?],
                false => self.target.verify(&[&[last], &guesses[..]].concat())?,
            };
            self.counts.verifying += clock.elapsed();
            self.counts.passes += 1;
            self.counts.guessed += guesses.len() as u64;
            let (mut goes_on, mut kept) = (Ok(true), 0);
            for (i, step) in steps.iter().enumerate() {
                let id = choose(step, history)?;
                history.push(id);
                kept += 1;
                let right = guesses.get(i) == Some(&id);
                self.counts.accepted += u64::from(right);
                goes_on = next(id);
                if !right || !matches!(goes_on, Ok(true)) {
                    break;
                }
            }
            done += kept;
            self.counts.tokens += kept as u64;
            // The last token that came out was not processed yet.
            self.target.rollback(start + kept as u32)?;
            self.draft.rollback(self.draft.position().min(start + kept as u32))?;
            if !goes_on? {
                break;
            }
        }
        Ok(())
    }

    /// What the draft thinks will follow, as many tokens as the target can verify and somebody wants.
    fn guess(&mut self, history: &[u32], most: usize, choose: &Choose) -> Result<Vec<u32>, ModelError> {
        let behind = self.draft.position() as usize;
        let room = (self.draft.context() as usize).saturating_sub(history.len());
        let count = (self.target.verifiable() as usize).min(most).min(self.gamma as usize + 1);
        let count = count.saturating_sub(1).min(room);
        if count == 0 {
            return Ok(Vec::new());
        }
        let clock = Instant::now();
        // A token that the draft guessed last and the target kept is not behind the draft yet.
        let missing = &history[behind..history.len() - 1];
        if !missing.is_empty() {
            self.draft.prefill(missing)?;
        }
        let mut all = history.to_vec();
        self.draft.decode_on(history[history.len() - 1], count, &mut |step| {
            let id = choose(&step, &all)?;
            all.push(id);
            Ok::<_, ModelError>(Some(id))
        })?;
        self.counts.drafting += clock.elapsed();
        Ok(all.split_off(history.len()))
    }
}

/// A model by its name, configuration and, where it has one, tokenizer.
#[derive(Clone, Copy)]
pub struct Named<'n> {
    /// What to call it.
    pub name: &'n str,
    /// Its configuration.
    pub config: &'n Config,
    /// Its tokenizer.
    pub tokenizer: Option<&'n Tokenizer>,
}

/// Whether a draft fits its target.
///
/// # Errors
/// A larger draft, other tokens, or another vocabulary where no tokenizer tells.
pub fn check(target: Named, draft: Named) -> Result<(), SpeculativeError> {
    let (found, most) = (draft.config.parameters(), target.config.parameters());
    if found > most {
        return Err(SpeculativeError::Larger { draft: draft.name.into(), found, target: target.name.into(), most });
    }
    match (target.tokenizer, draft.tokenizer) {
        (Some(a), Some(b)) => match a.difference(b) {
            None => Ok(()),
            Some(found) => Err(SpeculativeError::Tokenizers {
                draft: b.path().display().to_string(),
                target: a.path().display().to_string(),
                found,
            }),
        },
        _ if target.config.vocab_size == draft.config.vocab_size => Ok(()),
        _ => Err(SpeculativeError::Vocabulary {
            draft: draft.name.into(),
            found: draft.config.vocab_size,
            target: target.name.into(),
            expected: target.config.vocab_size,
        }),
    }
}
