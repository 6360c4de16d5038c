//! Weights by formula: a model of any Qwen2 shape without a file.
//!
//! Every weight is an 8-bit signed integer times a power of two, exact in bf16, f16 and f32, and depends on nothing but
//! the tensor's name, its index and a seed:
//!
//! ```text
//! v(name, i) = the top byte, signed, of splitmix64((fnv1a64(name) ^ seed) + i)
//! norms of the layers: 1 + floor(v / 16) / 128        everything else: v * 2^-k, k by the tensor's name
//! ```
//!
//! The rule: the same numbers as `assets/scripts/synth.py`, so that one implementation's results check another's. Absent:
//! any attempt at meaning; such a model writes noise, at the speed of a real one.
//! FNV-1a: Fowler, Noll, Vo; splitmix64: Steele et al. 2014, "Fast splittable pseudorandom number generators".

mod presets;
mod write;

use std::collections::HashMap;
use std::ops::Range;

use crate::checkpoint::{WeightSource, element_range, expected_tensors};
use crate::config::Config;
use crate::error::ModelError;
pub use presets::{PRESETS, preset};
pub use write::{SHARD_BYTES, write};

/// A model by formula, in memory: only rows that are asked for are ever made.
#[derive(Debug, Clone)]
pub struct Synth {
    config: Config,
    seed: u64,
    shapes: HashMap<String, Vec<usize>>,
}

impl Synth {
    /// The model of this shape and seed.
    pub fn new(config: Config, seed: u64) -> Self {
        let shapes = expected_tensors(&config).into_iter().map(|t| (t.name, t.shape)).collect();
        Self { config, seed, shapes }
    }

    /// The model's shape.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

impl WeightSource for Synth {
    fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        self.shapes.get(name).cloned().ok_or_else(|| ModelError::NoTensor {
            path: "(weights by formula)".into(),
            tensor: name.into(),
            expected: Vec::new(),
            help: "no tensor of this name belongs to the model".into(),
        })
    }

    fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError> {
        let shape = self.shape(name)?;
        let elements = element_range(name, &shape, &rows, out.len())?;
        fill(Formula::of(name), fnv1a64(name) ^ self.seed, elements.start as u64, out);
        Ok(())
    }

    fn tied(&self) -> bool {
        self.config.tie_word_embeddings
    }
}

/// How a tensor's integers become weights.
#[derive(Debug, Clone, Copy)]
enum Formula {
    /// 1 + floor(v / 16) / 128.
    Norm,
    /// v times this.
    Scaled(f32),
}

impl Formula {
    /// By the name's ending. The final norm is scaled like a matrix, with weights of both signs: otherwise a tied head
    /// would mostly answer with the token that went in.
    fn of(name: &str) -> Self {
        const SHIFTS: [(&str, i32); 13] = [
            ("embed_tokens.weight", 10),
            ("lm_head.weight", 11),
            ("q_proj.weight", 11),
            ("k_proj.weight", 11),
            ("v_proj.weight", 12),
            ("o_proj.weight", 11),
            ("gate_proj.weight", 12),
            ("up_proj.weight", 12),
            ("down_proj.weight", 11),
            ("model.norm.weight", 6),
            ("q_proj.bias", 6),
            ("k_proj.bias", 5),
            ("v_proj.bias", 9),
        ];
        match SHIFTS.iter().find(|(ending, _)| name.ends_with(ending)) {
            Some((_, shift)) => Self::Scaled((-shift as f32).exp2()),
            None => Self::Norm,
        }
    }

    fn weight(self, v: i8) -> f32 {
        match self {
            Self::Norm => 1.0 + f32::from(v >> 4) / 128.0,
            Self::Scaled(scale) => f32::from(v) * scale,
        }
    }
}

/// Fills `out` with the weights from index `start` on, on all cores where that pays.
fn fill(formula: Formula, base: u64, start: u64, out: &mut [f32]) {
    const WORTH_A_THREAD: usize = 1 << 18;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let part = out.len().div_ceil(threads).max(WORTH_A_THREAD);
    let run = |at: u64, part: &mut [f32]| {
        for (i, x) in part.iter_mut().enumerate() {
            let hashed = splitmix64(base.wrapping_add(at + i as u64));
            *x = formula.weight((hashed >> 56) as i8);
        }
    };
    if out.len() <= part {
        return run(start, out);
    }
    std::thread::scope(|scope| {
        for (n, part_out) in out.chunks_mut(part).enumerate() {
            scope.spawn(move || run(start + (n * part) as u64, part_out));
        }
    });
}

fn fnv1a64(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published test vectors of FNV-1a, and splitmix64's first outputs from seed 0 as Java's `SplittableRandom(0)`.
    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(fnv1a64(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a64("foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(splitmix64(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(splitmix64(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn threads_make_the_same_numbers() {
        let base = fnv1a64("model.embed_tokens.weight");
        let formula = Formula::of("model.embed_tokens.weight");
        let mut whole = vec![0.0; (1 << 19) + 7];
        fill(formula, base, 5, &mut whole);
        let mut pieces = vec![0.0; whole.len()];
        for (n, piece) in pieces.chunks_mut(1000).enumerate() {
            fill(formula, base, 5 + 1000 * n as u64, piece);
        }
        assert_eq!(whole, pieces);
    }
}
