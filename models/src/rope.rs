//! Cosine and sine tables of rotary position embedding, made on the host from a [`Config`].
//!
//! The rule: the same roundings as transformers. Frequencies and angles are f32 (`1 / θ^(2i/D)`, then `position × frequency`),
//! so that at long positions the tables agree with the ones that the weights were trained on; powers and cosines themselves
//! are taken in f64 and rounded once. Shaders get tables because WGSL bounds `sin` and `cos` only near zero. Absent:
//! scalings that change with the length of the sequence.
//! Su et al. 2021 (arXiv:2104.09864); YaRN: Peng et al. 2023 (arXiv:2309.00071), `modeling_rope_utils.py`.

use std::f64::consts::PI;
use std::ops::Range;

use crate::config::{Config, RopeScaling};

/// Tables for a range of positions: row `position - first`, column i of D/2.
///
/// The rotation pairs element i of a head with element i + D/2, and both use column i.
#[derive(Debug, Clone, PartialEq)]
pub struct RopeTables {
    /// The cosines, [positions, D/2], times the scaling's attention factor.
    pub cos: Vec<f32>,
    /// The sines, [positions, D/2], times the scaling's attention factor.
    pub sin: Vec<f32>,
    /// Columns of a row, D/2.
    pub half_dim: usize,
}

impl RopeTables {
    /// Makes the rows of `positions`.
    pub fn new(config: &Config, positions: Range<usize>) -> Self {
        let frequencies = inverse_frequencies(config);
        let scale = attention_factor(&config.rope.scaling);
        let capacity = positions.len() * frequencies.len();
        let (mut cos, mut sin) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        for position in positions {
            for frequency in &frequencies {
                let angle = f64::from(position as f32 * frequency);
                cos.push(angle.cos() as f32 * scale);
                sin.push(angle.sin() as f32 * scale);
            }
        }
        Self { cos, sin, half_dim: frequencies.len() }
    }

    /// Both in one, [positions, D]: the cosines of a position and then its sines.
    pub fn rows(&self) -> Vec<f32> {
        let halves = self.cos.chunks_exact(self.half_dim).zip(self.sin.chunks_exact(self.half_dim));
        halves.flat_map(|(cos, sin)| [cos, sin].concat()).collect()
    }
}

/// The D/2 angular frequencies, in radians a position, highest first.
pub fn inverse_frequencies(config: &Config) -> Vec<f32> {
    let dim = config.head_dim;
    let theta = config.rope.theta;
    let power = |i: usize| {
        let exponent = (2 * i) as f32 / dim as f32;
        theta.powf(f64::from(exponent)) as f32
    };
    let powers = (0..dim / 2).map(power);
    match config.rope.scaling {
        RopeScaling::None => powers.map(|p| 1.0 / p).collect(),
        RopeScaling::Linear { factor } => powers.map(|p| 1.0 / p / factor as f32).collect(),
        RopeScaling::Yarn { factor, original_context, beta_fast, beta_slow, truncate, .. } => {
            let dimension = |rotations: f64| {
                dim as f64 * (original_context as f64 / (rotations * 2.0 * PI)).ln() / (2.0 * theta.ln())
            };
            let (mut low, mut high) = (dimension(beta_fast), dimension(beta_slow));
            if truncate {
                (low, high) = (low.floor(), high.ceil());
            }
            (low, high) = (low.max(0.0), high.min((dim - 1) as f64));
            if low == high {
                high += 0.001;
            }
            let blend = |(i, p): (usize, f32)| {
                let ramp = ((i as f32 - low as f32) / (high - low) as f32).clamp(0.0, 1.0);
                let kept = 1.0 - ramp;
                1.0 / (factor as f32 * p) * (1.0 - kept) + 1.0 / p * kept
            };
            powers.enumerate().map(blend).collect()
        }
    }
}

/// What multiplies cosines and sines.
pub fn attention_factor(scaling: &RopeScaling) -> f32 {
    match scaling {
        RopeScaling::Yarn { attention_factor, .. } => *attention_factor as f32,
        RopeScaling::None | RopeScaling::Linear { .. } => 1.0,
    }
}
