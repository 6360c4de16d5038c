//! RoPE's base and scaling, from both spellings: `rope_theta` beside `rope_scaling` (to transformers 4), and
//! `rope_parameters` (from transformers 5).
//!
//! Linear scaling and YaRN (Peng et al. 2023, arXiv:2309.00071) are kept as their numbers; `crate::rope` makes the tables.
//! Scalings that depend on the length of the sequence or on per-frequency lists are refused by name.

use serde_json::{Value, json};

use super::fields::Fields;
use crate::error::ModelError;

/// Rotary position embedding: the base and how positions are stretched.
#[derive(Debug, Clone, PartialEq)]
pub struct Rope {
    /// The base of the wavelengths, θ.
    pub theta: f64,
    /// How positions beyond the pretrained context are reached.
    pub scaling: RopeScaling,
}

/// How positions beyond the pretrained context are reached.
#[derive(Debug, Clone, PartialEq)]
pub enum RopeScaling {
    /// Not at all.
    None,
    /// Every frequency divided by the factor.
    Linear {
        /// The factor.
        factor: f64,
    },
    /// YaRN: high frequencies kept, low ones divided by the factor, a ramp between.
    Yarn {
        /// The factor.
        factor: f64,
        /// The context of the pretraining, in tokens.
        original_context: usize,
        /// Rotations over the original context above which a frequency is kept.
        beta_fast: f64,
        /// Rotations under which it is divided.
        beta_slow: f64,
        /// Multiplies cosine and sine; by default 0.1 ln(factor) + 1.
        attention_factor: f64,
        /// Whether the ramp's ends are rounded outward to whole dimensions.
        truncate: bool,
    },
}

impl Rope {
    /// Reads the base and the scaling; `max_position` stands in for an absent original context, as in transformers.
    pub(super) fn read(fields: &Fields, max_position: usize) -> Result<Self, ModelError> {
        let scaling_fields = match fields.object("rope_scaling")? {
            Some(scaling) => Some(scaling),
            None => fields.object("rope_parameters")?,
        };
        let top_theta = theta(fields)?;
        let Some(f) = scaling_fields else {
            return Ok(Self { theta: top_theta.unwrap_or(10_000.0), scaling: RopeScaling::None });
        };
        let theta = theta(&f)?.or(top_theta).unwrap_or(10_000.0);
        if f.number("partial_rotary_factor")?.is_some_and(|p| p != 1.0) {
            return Err(f.wrong("partial_rotary_factor", "1: Qwen2 rotates whole heads"));
        }
        let name = if f.has("rope_type") { "rope_type" } else { "type" };
        let kind = f.string(name)?;
        let factor = || {
            let factor = f.positive("factor")?.ok_or_else(|| f.wrong("factor", "a number from 1"))?;
            if factor < 1.0 { Err(f.wrong("factor", "a number from 1")) } else { Ok(factor) }
        };
        let scaling = match kind.as_deref() {
            None | Some("default") => RopeScaling::None,
            Some("linear") => RopeScaling::Linear { factor: factor()? },
            Some("yarn") => yarn(&f, factor, max_position)?,
            Some(_) => {
                return Err(f.wrong(name, "\"default\", \"linear\" or \"yarn\""));
            }
        };
        Ok(Self { theta, scaling })
    }

    /// The context that the scaling stretches the model to; 0 without one that says.
    pub(super) fn stretched_context(&self) -> usize {
        match self.scaling {
            RopeScaling::Yarn { factor, original_context, .. } => (factor * original_context as f64).round() as usize,
            RopeScaling::None | RopeScaling::Linear { .. } => 0,
        }
    }

    /// The `rope_scaling` object of a `config.json`, if there is a scaling.
    pub(crate) fn to_json(&self) -> Option<Value> {
        match self.scaling {
            RopeScaling::None => None,
            RopeScaling::Linear { factor } => Some(json!({ "type": "linear", "factor": factor })),
            RopeScaling::Yarn { factor, original_context, beta_fast, beta_slow, attention_factor, truncate } => {
                Some(json!({
                    "type": "yarn",
                    "factor": factor,
                    "original_max_position_embeddings": original_context,
                    "beta_fast": beta_fast,
                    "beta_slow": beta_slow,
                    "attention_factor": attention_factor,
                    "truncate": truncate,
                }))
            }
        }
    }
}

fn theta(fields: &Fields) -> Result<Option<f64>, ModelError> {
    match fields.number("rope_theta")? {
        Some(theta) if theta <= 1.0 => Err(fields.wrong("rope_theta", "a number over 1")),
        other => Ok(other),
    }
}

fn yarn(
    f: &Fields,
    factor: impl Fn() -> Result<f64, ModelError>,
    max_position: usize,
) -> Result<RopeScaling, ModelError> {
    const ORIGINAL: &str = "original_max_position_embeddings";
    let original_context = f.optional_size(ORIGINAL, super::CONTEXT_MAX)?.unwrap_or(max_position);
    // A null factor means the ratio of the two contexts.
    let factor = if f.has("factor") { factor()? } else { (max_position as f64 / original_context as f64).max(1.0) };
    if factor * original_context as f64 > super::CONTEXT_MAX as f64 {
        let expected = format!("at most {} / {ORIGINAL}", super::CONTEXT_MAX);
        return Err(f.wrong("factor", expected));
    }
    let mscale = |m: f64| {
        if factor <= 1.0 { 1.0 } else { 0.1 * m * factor.ln() + 1.0 }
    };
    let set = |name| Ok::<_, ModelError>(f.number(name)?.filter(|x| *x != 0.0));
    let attention_factor = match (f.positive("attention_factor")?, set("mscale")?, set("mscale_all_dim")?) {
        (Some(given), _, _) => given,
        (None, Some(m), Some(all)) => mscale(m) / mscale(all),
        _ => mscale(1.0),
    };
    let beta_fast = f.positive("beta_fast")?.unwrap_or(32.0);
    let beta_slow = f.positive("beta_slow")?.unwrap_or(1.0);
    if beta_fast < beta_slow {
        return Err(f.wrong("beta_fast", format!("at least beta_slow, which is {beta_slow}")));
    }
    let truncate = f.boolean("truncate")?.unwrap_or(true);
    Ok(RopeScaling::Yarn { factor, original_context, beta_fast, beta_slow, attention_factor, truncate })
}
