//! How well a model foresees a text: windows of it, a stride apart, and the mean of -log p of every token but the first.
//!
//! The rule: every token is judged once, by the first window that holds it and a token before it; sums are f64. Absent: any
//! choice of text, tokenizer or storage.

use std::ops::{ControlFlow, Range};

use crate::engine::Engine;
use crate::error::ModelError;

/// Tokens whose logits come back at once.
const ROWS: usize = 128;

/// Some tokens of a text that a model reads from an empty cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The first token.
    pub begin: usize,
    /// The tokens that count here, at least the second of the window; it ends with the last of them.
    pub judged: Range<usize>,
}

/// The windows of a text of `count` tokens; `stride` is less than `window`.
pub fn windows(count: usize, window: usize, stride: usize) -> Vec<Window> {
    let mut all = Vec::new();
    let (mut begin, mut next) = (0, 1);
    while next < count {
        let end = count.min(begin + window);
        all.push(Window { begin, judged: next..end });
        (begin, next) = (begin + stride.clamp(1, window.saturating_sub(1).max(1)), end);
    }
    all
}

/// -log p of a token by the logits of the position before it.
pub fn surprise(logits: &[f32], token: u32) -> f64 {
    let most = logits.iter().fold(f32::NEG_INFINITY, |m, x| m.max(*x));
    let sum: f64 = logits.iter().map(|x| f64::from(x - most).exp()).sum();
    let own = logits.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
    sum.ln() - f64::from(own - most)
}

/// What was found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Judged {
    /// Tokens that were judged.
    pub tokens: usize,
    /// Tokens that were read, those of overlaps as often as they were.
    pub read: usize,
    /// The sum of their -log p.
    pub surprise: f64,
}

impl Judged {
    /// e to the mean of -log p.
    pub fn perplexity(&self) -> f64 {
        (self.surprise / self.tokens.max(1) as f64).exp()
    }
}

/// Judges a text of at least two tokens. `progress` hears what was found so far and of the tokens in all, and may end it.
///
/// # Errors
/// The engine's; `None` where `progress` ended it.
pub fn judge(
    engine: &mut Engine,
    ids: &[u32],
    window: usize,
    stride: usize,
    progress: &mut dyn FnMut(&Judged, usize) -> ControlFlow<()>,
) -> Result<Option<Judged>, ModelError> {
    let mut found = Judged { tokens: 0, read: 0, surprise: 0.0 };
    for Window { begin, judged } in windows(ids.len(), window, stride) {
        engine.reset();
        // The token before the first one that counts is the first whose logits matter.
        let known = &ids[begin..judged.start - 1];
        if !known.is_empty() {
            engine.prefill(known)?;
        }
        for start in judged.clone().step_by(ROWS) {
            let end = judged.end.min(start + ROWS);
            let rows = engine.prefill_all(&ids[start - 1..end - 1])?;
            found.surprise += rows.iter().zip(&ids[start..end]).map(|(row, id)| surprise(row, *id)).sum::<f64>();
            found.tokens += end - start;
            if progress(&found, ids.len() - 1).is_break() {
                return Ok(None);
            }
        }
        found.read += judged.end - 1 - begin;
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_judged_once_with_one_before_it() {
        for count in 0..40 {
            for window in 2..12 {
                for stride in 1..window {
                    let all = windows(count, window, stride);
                    let judged: Vec<usize> = all.iter().flat_map(|w| w.judged.clone()).collect();
                    assert_eq!(judged, (1..count.max(1)).collect::<Vec<_>>(), "{count} {window} {stride}");
                    assert!(all.iter().all(|w| w.judged.start > w.begin && w.judged.end - w.begin <= window));
                }
            }
        }
    }

    #[test]
    fn equal_logits_are_as_many_choices() {
        assert!((surprise(&[3.0; 8], 5) - 8f64.ln()).abs() < 1e-12);
        assert!((surprise(&[1000.0, 0.0], 1) - 1000.0).abs() < 1e-9);
        let judged = Judged { tokens: 3, read: 3, surprise: 3.0 * 8f64.ln() };
        assert!((judged.perplexity() - 8.0).abs() < 1e-12);
    }
}
