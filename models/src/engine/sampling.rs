//! What a step leaves of its logits where a token is sampled: all of them, the best of them, or the token.
//!
//! The rule: the token does not depend on who draws it. The device and the host have the same order of filters, the same noise
//! and the same lowest id of equal ones; a device's `exp`, `log` and quotients may be off in their last bits, so that they differ
//! where two candidates are that near. A device keeps pairs in numbers that are powers of two, and what ties with the last
//! kept logit counts as far as these reach. Absent: settings without a top-k, which need every logit, and rounds of a draft, whose host draws.

use tilewright_runtime::AdapterKind;

use super::Engine;
use crate::error::ModelError;
use crate::sampler::SamplingParams;
use crate::tiers::Tier;

/// The largest top-k that a device samples with.
pub const MOST: usize = 128;

/// The fewest pairs that a device keeps.
const FEWEST: usize = 8;

/// What the caller takes of a step.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Wants {
    /// Logits, or the best one's token where [`super::EngineOptions::plain_argmax`] says so.
    #[default]
    Logits,
    /// The best logits after the repetition penalty, of which the caller draws by these settings.
    Pairs(SamplingParams),
    /// The token that these settings draw.
    Token(SamplingParams),
    /// The same where that is faster; logits on the processor, which has nothing to bring back and is slow at many small dispatches.
    Faster(SamplingParams),
}

/// The best logits of a step, penalised, and what all of them add up to.
#[derive(Clone, PartialEq, Debug)]
pub struct Top {
    /// Tokens and their logits, the best first, ties by id.
    pub pairs: Vec<(u32, f32)>,
    /// The logarithm of the sum of the exponentials of all logits: a logit less this is the logarithm of its probability.
    pub log_sum_exp: f32,
}

/// How a device samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampling {
    /// The settings.
    pub params: SamplingParams,
    /// Whether pairs come back and no token.
    pub pairs: bool,
}

impl Engine {
    /// Draws with another seed from here on, where the device draws.
    pub fn reseed(&mut self, seed: u64) {
        if let Some(sampling) = &mut self.plan.sampling {
            sampling.params.seed = seed;
        }
    }

    /// How the device samples, if it does.
    pub fn sampling(&self) -> Option<&Sampling> {
        self.plan.sampling.as_ref()
    }

    /// Whether the device picks tokens.
    pub fn picks(&self) -> bool {
        self.plan.token.is_some()
    }
}

impl Wants {
    /// The same on an adapter; on none there is the interpreter.
    #[must_use]
    pub fn settled(self, adapter: Option<AdapterKind>) -> Self {
        match self {
            Wants::Faster(params) if params.is_plain_argmax() => Wants::Token(params),
            Wants::Faster(_) if matches!(adapter, None | Some(AdapterKind::Software)) => Wants::Logits,
            Wants::Faster(params) => Wants::Token(params),
            other => other,
        }
    }

    /// Whether the token of the best logit is all that is wanted.
    pub fn is_plain_argmax(&self) -> bool {
        matches!(self, Wants::Token(params) | Wants::Faster(params) if params.is_plain_argmax())
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// For the first setting that is out of its range.
    pub fn validate(&self) -> Result<(), ModelError> {
        match self {
            Wants::Logits => Ok(()),
            Wants::Pairs(params) | Wants::Token(params) | Wants::Faster(params) => params.validate(),
        }
    }

    /// How a device samples for this in a tier; not at all where the host has to, or where an argmax is enough.
    pub fn on_device(&self, tier: &Tier) -> Option<Sampling> {
        let (params, pairs) = match *self {
            Wants::Logits => return None,
            Wants::Pairs(params) => (params, true),
            Wants::Token(params) | Wants::Faster(params) => (params, false),
        };
        let fits = fits(&params) || !pairs && params.temperature == 0.0;
        (tier.device_argmax && fits && !self.is_plain_argmax()).then_some(Sampling { params, pairs })
    }
}

/// Whether a device keeps as many pairs as these settings need.
pub fn fits(params: &SamplingParams) -> bool {
    (1..=MOST).contains(&params.top_k)
}

impl Sampling {
    /// How many pairs the device keeps.
    pub fn kept(&self) -> usize {
        self.params.top_k.next_power_of_two().max(FEWEST)
    }

    /// Words of a step's pairs: bits of logits, ids, and three numbers about all logits.
    pub fn words(&self) -> usize {
        2 * self.kept() + 3
    }

    /// Whether tokens of the sequence are made less likely.
    pub fn penalises(&self) -> bool {
        self.params.repetition_penalty != 1.0
    }

    /// Pairs from their bytes, without ids from `limit` on; none where a logit was not finite.
    pub fn top(&self, bytes: &[u8], limit: u32) -> Option<Top> {
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(bytes);
        let (values, rest) = words.split_at_checked(self.kept())?;
        let (ids, rest) = rest.split_at_checked(self.kept())?;
        let &[max, sum, broken] = rest else { return None };
        let (max, sum) = (f32::from_bits(max), f32::from_bits(sum));
        if broken != 0 || !max.is_finite() || !sum.is_finite() {
            return None;
        }
        let pairs = ids.iter().copied().zip(values.iter().copied().map(f32::from_bits));
        Some(Top { pairs: pairs.filter(|pair| pair.0 < limit).collect(), log_sum_exp: max + sum.ln() })
    }
}
