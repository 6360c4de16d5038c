//! From the logits of one position to the next token.
//!
//! Logits are processed in transformers' order: repetition penalty, temperature, top-k, top-p. The draw is
//! `argmax(logit / T + Gumbel(hash(seed, position, token)))` over the kept tokens, which draws each with its softmax
//! probability. The rule: a token depends on the logits, the seed and the position alone, ties go to the lowest id, and
//! nothing adds up in an order of its own, so that another back end or a GPU can come to the same text. Absent: beams,
//! and penalties by frequency.
//! Reference: transformers `logits_process.py`; Gumbel-max: Maddison et al. 2014 (arXiv:1411.0030).

mod noise;

use std::cmp::Ordering;

use crate::config::GenerationDefaults;
use crate::error::{ModelError, Narrow};
pub use noise::{gumbel, hash, position_key};

/// How tokens are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplingParams {
    /// Divides the logits; 0 takes the best token.
    pub temperature: f32,
    /// Keeps this many of the best, and whatever ties with the last of them; 0 keeps all.
    pub top_k: usize,
    /// Keeps the best tokens that together have this probability, and at least one; 1 keeps all.
    pub top_p: f32,
    /// Divides positive logits of tokens already in the sequence, multiplies negative ones; 1 changes nothing.
    pub repetition_penalty: f32,
    /// Chooses the noise of the draw.
    pub seed: u64,
}

/// A token that is left after filtering.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The token.
    pub id: u32,
    /// Its logit after penalty and temperature.
    pub logit: f32,
    /// Its probability among those left.
    pub probability: f64,
}

impl SamplingParams {
    /// The best token each time, nothing penalised.
    pub const GREEDY: Self = Self { temperature: 0.0, top_k: 0, top_p: 1.0, repetition_penalty: 1.0, seed: 0 };

    /// What the model's authors set; greedy where they do not sample.
    pub fn from_defaults(defaults: &GenerationDefaults, seed: u64) -> Self {
        Self {
            temperature: if defaults.do_sample { defaults.temperature } else { 0.0 },
            top_k: defaults.top_k,
            top_p: defaults.top_p,
            repetition_penalty: defaults.repetition_penalty,
            seed,
        }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// For the first setting that is out of its range.
    pub fn validate(&self) -> Result<(), ModelError> {
        let check = |ok: bool, setting, found: f32, expected| {
            if ok { Ok(()) } else { Err(ModelError::Setting { setting, found: found.to_string(), expected }) }
        };
        let (t, p, r) = (self.temperature, self.top_p, self.repetition_penalty);
        check(t.is_finite() && t >= 0.0, "--temperature", t, "a number from 0 (0 takes the best token each time)")?;
        check(p > 0.0 && p <= 1.0, "--top-p", p, "a number over 0 and at most 1 (1 keeps every token)")?;
        check(r.is_finite() && r > 0.0, "--repetition-penalty", r, "a number over 0 (1 changes nothing)")
    }

    /// Whether the next token is simply the highest logit, so that an argmax on the GPU is enough.
    pub fn is_plain_argmax(&self) -> bool {
        self.temperature == 0.0 && self.repetition_penalty == 1.0
    }

    /// Chooses the token at `position` of the sequence, from 0. `history` is the sequence so far, prompt included; ids from
    /// `limit` on are never chosen.
    ///
    /// # Errors
    /// When a logit under the limit is not finite, or there are none.
    pub fn sample(&self, logits: &[f32], history: &[u32], position: usize, limit: usize) -> Result<u32, ModelError> {
        let kept = self.kept(logits, history, position, limit)?;
        self.draw(&kept, position).ok_or(ModelError::NoCandidates { position, logits: logits.len(), limit })
    }

    /// Chooses the token at `position` of the best logits, which are penalised already: the same that [`SamplingParams::sample`]
    /// chooses of all of them, as long as the pairs reach to the last logit that ties with the last of the top-k.
    ///
    /// # Errors
    /// When there are none.
    pub fn sample_pairs(&self, pairs: &[(u32, f32)], position: usize) -> Result<u32, ModelError> {
        self.draw(&self.kept_pairs(pairs), position).ok_or(ModelError::NoCandidates {
            position,
            logits: 0,
            limit: pairs.len(),
        })
    }

    /// What is left of the best logits, as [`SamplingParams::kept`] has it.
    pub fn kept_pairs(&self, pairs: &[(u32, f32)]) -> Vec<Candidate> {
        self.filter(pairs.iter().map(|&(id, logit)| Candidate { id, logit, probability: 0.0 }).collect())
    }

    /// The candidate that the noise of a position favours.
    fn draw(&self, kept: &[Candidate], position: usize) -> Option<u32> {
        let key = position_key(self.seed, position as u32);
        let score = |c: &Candidate| {
            if self.temperature == 0.0 { c.logit } else { c.logit + gumbel(key, c.id) }
        };
        let best = kept.iter().map(|c| (score(c), c.id)).reduce(|best, next| {
            let better = next.0.total_cmp(&best.0).then(best.1.cmp(&next.1)) == Ordering::Greater;
            if better { next } else { best }
        });
        best.map(|(_, id)| id)
    }

    /// The tokens left after all filters, the most probable first, ties by id. Arguments as for [`SamplingParams::sample`].
    ///
    /// # Errors
    /// When a logit under the limit is not finite, or there are none.
    pub fn kept(
        &self,
        logits: &[f32],
        history: &[u32],
        position: usize,
        limit: usize,
    ) -> Result<Vec<Candidate>, ModelError> {
        let mut scores = logits[..limit.min(logits.len())].to_vec();
        if scores.is_empty() {
            return Err(ModelError::NoCandidates { position, logits: logits.len(), limit });
        }
        if let Some(id) = scores.iter().position(|x| !x.is_finite()) {
            return Err(ModelError::NotFinite {
                position,
                token: id as u32,
                value: scores[id],
                narrow: Narrow::default(),
            });
        }
        penalise(&mut scores, history, self.repetition_penalty);
        let all = scores.iter().enumerate();
        Ok(self.filter(all.map(|(id, &logit)| Candidate { id: id as u32, logit, probability: 0.0 }).collect()))
    }

    /// Temperature, top-k and top-p; the most probable first, ties by id.
    fn filter(&self, mut kept: Vec<Candidate>) -> Vec<Candidate> {
        if self.temperature == 0.0 {
            kept = best(&kept).into_iter().collect();
        } else {
            // A temperature near 0 must not overflow the best logits, or all would tie: then they count from the largest.
            let overflows = kept.iter().any(|c| !(c.logit / self.temperature).is_finite());
            let top = if overflows { kept.iter().map(|c| c.logit).fold(f32::MIN, f32::max) } else { 0.0 };
            for c in &mut kept {
                c.logit = ((c.logit - top) / self.temperature).clamp(f32::MIN, f32::MAX);
            }
            top_k(&mut kept, self.top_k);
        }
        kept.sort_unstable_by(|a, b| b.logit.total_cmp(&a.logit).then(a.id.cmp(&b.id)));
        set_probabilities(&mut kept);
        if self.temperature != 0.0 && self.top_p < 1.0 {
            top_p(&mut kept, f64::from(self.top_p));
            set_probabilities(&mut kept);
        }
        kept
    }
}

fn penalise(scores: &mut [f32], history: &[u32], penalty: f32) {
    if penalty == 1.0 {
        return;
    }
    let mut seen = history.to_vec();
    seen.sort_unstable();
    seen.dedup();
    for id in seen {
        if let Some(x) = scores.get_mut(id as usize) {
            *x = (if *x < 0.0 { *x * penalty } else { *x / penalty }).clamp(f32::MIN, f32::MAX);
        }
    }
}

/// The highest score; the lowest id of equal ones.
fn best(all: &[Candidate]) -> Option<Candidate> {
    all.iter().copied().reduce(|best, next| if next.logit > best.logit { next } else { best })
}

/// Keeps those that are at least as good as the k-th best.
fn top_k(all: &mut Vec<Candidate>, k: usize) {
    if k == 0 || k >= all.len() {
        return;
    }
    let mut sorted: Vec<f32> = all.iter().map(|c| c.logit).collect();
    let (_, &mut threshold, _) = sorted.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    all.retain(|c| c.logit >= threshold);
}

/// Drops, from the least probable on, all whose cumulative probability stays within 1 - p; the best one stays.
fn top_p(kept: &mut Vec<Candidate>, p: f64) {
    let mut dropped = 0.0;
    while let [_, .., last] = kept[..] {
        dropped += last.probability;
        if dropped > 1.0 - p {
            break;
        }
        kept.pop();
    }
}

/// Softmax; the candidates are sorted, the best first.
fn set_probabilities(kept: &mut [Candidate]) {
    let Some(max) = kept.first().map(|c| f64::from(c.logit)) else {
        return;
    };
    for c in &mut *kept {
        c.probability = (f64::from(c.logit) - max).exp();
    }
    let total: f64 = kept.iter().map(|c| c.probability).sum();
    for c in kept {
        c.probability /= total;
    }
}
