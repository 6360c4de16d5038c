//! The token rule: when two tiers may write different texts.
//!
//! Tokens must be equal wherever the leader's gap exceeds twice the tolerance of a logit; at a closer step, and from there on
//! along the reference's text, the logits themselves are compared. Tolerance: a share of the largest logit's magnitude.

use super::super::error::CliError;
use super::measure::Bench;
use crate::engine::EngineOptions;
use crate::error::ModelError;

/// How far a logit may be off, as a share of the largest logit's magnitude.
pub const TOLERANCE: f32 = 2e-3;

/// Steps whose logits are compared after tokens differ.
const STEPS: usize = 16;

/// What the rule says of a tier.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// This is the tier that the others are held against.
    Reference,
    /// Tier 0 was not measured, or does not run here.
    Unchecked,
    /// All tokens are equal.
    Equal {
        /// How many.
        tokens: usize,
    },
    /// The first difference is a tie by rounding, and logits agree from there on.
    Within {
        /// The first generated token that differs, from 0.
        step: usize,
        /// The largest difference of a logit, as a share of the largest magnitude.
        off: f32,
    },
    /// The tokens are wrong.
    Broken {
        /// The reference's tier.
        reference: usize,
        /// Where, and by how much.
        how: String,
    },
}

impl Verdict {
    /// A few words for a table.
    pub fn text(&self) -> String {
        match self {
            Verdict::Reference => "reference".into(),
            Verdict::Unchecked => "not checked: tier 0 is not measured".into(),
            Verdict::Equal { tokens } => format!("equal ({tokens})"),
            Verdict::Within { step, off } => format!("equal up to {step}, then a tie; logits within {off:.1e}"),
            Verdict::Broken { how, .. } => format!("BROKEN: {how}"),
        }
    }
}

/// An engine's logits after `prefix`, and after each of `forced`, up to a bound.
pub fn forced_logits(
    bench: &Bench,
    options: &EngineOptions,
    prefix: &[u32],
    forced: &[u32],
) -> Result<Vec<Vec<f32>>, CliError> {
    let mut engine = bench.folder.load_from(bench.weights, options)?;
    let mut step = engine.prefill(prefix)?;
    let mut all = Vec::new();
    for (n, &id) in forced.iter().take(STEPS).enumerate() {
        let missing = ModelError::NoCandidates { position: prefix.len() + n, logits: 0, limit: 0 };
        all.push(step.logits.take().ok_or(missing)?);
        if n + 1 < forced.len().min(STEPS) {
            step = engine.decode(id)?;
        }
    }
    Ok(all)
}

/// Judges a first difference at `step`, where the reference took `theirs` and the tier took `ours`, by the logits from there on.
pub fn judge(step: usize, reference: &[Vec<f32>], logits: &[Vec<f32>], theirs: u32, ours: u32) -> Verdict {
    let broken = |how| Verdict::Broken { reference: 0, how };
    let mut most = 0.0f32;
    for (n, (a, b)) in reference.iter().zip(logits).enumerate() {
        let largest = a.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        let off = a.iter().zip(b).fold(0.0f32, |m, (x, y)| if (x - y).abs() <= m { m } else { (x - y).abs() });
        let share = off / largest;
        if n == 0 {
            let gap = (a[theirs as usize] - a[ours as usize]) / largest;
            if gap > 2.0 * TOLERANCE {
                return broken(format!(
                    "token {step} is {ours} and not {theirs}, whose logit leads by {gap:.1e} of the largest; expected at most {:.1e}",
                    2.0 * TOLERANCE
                ));
            }
        }
        if share.is_nan() || share > TOLERANCE {
            return broken(format!(
                "a logit after token {} is off by {share:.1e} of the largest; expected at most {TOLERANCE:.1e}",
                step + n
            ));
        }
        most = most.max(share);
    }
    Verdict::Within { step, off: most }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge_one(reference: [f32; 3], logits: [f32; 3]) -> Verdict {
        judge(7, &[reference.to_vec()], &[logits.to_vec()], 1, 0)
    }

    #[test]
    fn a_tie_by_rounding_is_within() {
        let verdict = judge_one([9.99, 10.0, -3.0], [10.001, 9.999, -3.0]);
        assert!(matches!(verdict, Verdict::Within { step: 7, off } if (off - 1.1e-3).abs() < 1e-4), "{verdict:?}");
    }

    #[test]
    fn a_clear_leader_must_be_taken() {
        let verdict = judge_one([9.0, 10.0, -3.0], [10.0, 9.0, -3.0]).text();
        assert!(verdict.contains("token 7 is 0 and not 1") && verdict.contains("1.0e-1"), "{verdict}");
    }

    #[test]
    fn logits_are_compared_where_the_tie_is_real() {
        for wrong in [-3.1, f32::NAN] {
            let verdict = judge_one([9.999, 10.0, -3.0], [10.0, 9.999, wrong]);
            assert!(matches!(verdict, Verdict::Broken { .. }), "{wrong}: {verdict:?}");
        }
    }

    #[test]
    fn and_in_the_steps_after_it() {
        let reference = [vec![9.999, 10.0], vec![1.0, 2.0]];
        let verdict = judge(7, &reference, &[vec![10.0, 9.999], vec![1.0, 2.1]], 1, 0).text();
        assert!(verdict.contains("after token 8"), "{verdict}");
    }
}
