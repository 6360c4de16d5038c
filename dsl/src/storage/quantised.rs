//! Codes and scales: a row of int8 or nf4 elements, and what rounding to them loses.
//!
//! int8(channel) is symmetric with one f32 scale a row: `q = round(w·127/absmax)` from -127 to 127, kept as `q + 128` in a byte,
//! means `q·scale` with `scale = absmax/127`. nf4(64) keeps the nearest of sixteen levels, the quantiles of a normal distribution,
//! and means `level·absmax` of its block of 64. A row is its codes, the lower index in the lower bits, padded to 16 bytes, then
//! its scales, padded likewise. Every row is held against the error that rounding allows while it is encoded. Nothing here
//! chooses which tensors are quantised. Dettmers et al. 2023 (arXiv:2305.14314), appendix E, for the levels.

use crate::schedule::Storage;

/// Elements that share a scale in nf4.
pub const BLOCK: u32 = 64;

/// What a byte of int8 holds more than the code that it means.
pub const BIAS: u32 = 128;

/// The levels of nf4, by their code.
pub const LEVELS: [f32; 16] = [
    -1.0,
    -0.696_192_8,
    -0.525_073_05,
    -0.394_917_5,
    -0.284_441_38,
    -0.184_773_43,
    -0.091_050_036,
    0.0,
    0.079_580_3,
    0.160_930_2,
    0.246_112_3,
    0.337_915_24,
    0.440_709_83,
    0.562_617,
    0.722_956_84,
    1.0,
];

/// Half of the widest gap between two levels: what an element is off at most, where its block's largest is 1.
const WIDEST: f64 = (1.0 - 0.696_192_8) / 2.0;

/// How much more than the bound an element may be off: the rounding of a scale to f32.
const SLACK: f64 = 1.0 / 65_536.0;

/// What codes lose of their values.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Loss {
    /// The sum of squared differences.
    pub off: f64,
    /// The sum of squared values.
    pub of: f64,
    /// The largest difference as a part of what its row or block allows: `absmax/254`, or 0.152 of a block's largest.
    pub worst: f64,
}

impl Loss {
    /// The root of the squared differences' part of the squared values.
    pub fn relative(&self) -> f64 {
        if self.of == 0.0 { 0.0 } else { (self.off / self.of).sqrt() }
    }
    /// Both together.
    pub fn and(self, other: Loss) -> Loss {
        Loss { off: self.off + other.off, of: self.of + other.of, worst: self.worst.max(other.worst) }
    }
    /// Whether every element is as near as its scale allows.
    pub fn within_bound(&self) -> bool {
        self.worst <= 1.0 + SLACK
    }
}

/// Codes and scales of a row, into words of zeros.
pub(super) fn encode_row(storage: Storage, row: &[f32], words: &mut [u32], loss: &mut Loss) {
    let (codes, scales) = words.split_at_mut(storage.element_words(row.len() as u32) as usize);
    match storage {
        Storage::Nf4 => {
            let blocks = row.chunks(BLOCK as usize).zip(codes.chunks_mut(BLOCK as usize / 8));
            for ((block, codes), scale) in blocks.zip(scales) {
                let most = largest(block);
                *scale = most.to_bits();
                let (mut off, mut worst) = (0.0, 0f64);
                for (values, word) in block.chunks(8).zip(codes) {
                    for (i, v) in values.iter().enumerate() {
                        let code = nearest(v / most);
                        *word |= (code as u32) << (4 * i);
                        let d = (f64::from(*v) - f64::from(LEVELS[code]) * f64::from(most)).abs();
                        off += d * d;
                        worst = worst.max(d);
                    }
                }
                note(loss, block, off, worst, f64::from(most) * WIDEST);
            }
        }
        _ => {
            let most = largest(row);
            let scale = most / 127.0;
            if let Some(place) = scales.first_mut() {
                *place = scale.to_bits();
            }
            let factor = if most > 0.0 { 127.0 / f64::from(most) } else { 0.0 };
            // 1.5 · 2^52 leaves a rounded integer in the lowest bits of a sum.
            let magic = 6_755_399_441_055_744.0 + f64::from(BIAS);
            let (mut off, mut worst) = (0.0, 0f64);
            for (values, word) in row.chunks(4).zip(codes) {
                for (i, v) in values.iter().enumerate() {
                    let code = (f64::from(*v) * factor + magic).to_bits() as u8;
                    *word |= u32::from(code) << (8 * i);
                    let d = (f64::from(*v) - (f64::from(code) - f64::from(BIAS)) * f64::from(scale)).abs();
                    off += d * d;
                    worst = worst.max(d);
                }
            }
            note(loss, row, off, worst, f64::from(most) / 254.0);
        }
    }
}

/// The element of that number of a row of so many.
pub(super) fn decode_element(storage: Storage, extent: u32, row: &[u32], i: usize) -> f32 {
    let first = storage.element_words(extent) as usize;
    match storage {
        Storage::Nf4 => {
            LEVELS[(row[i / 8] >> (4 * (i % 8)) & 15) as usize] * f32::from_bits(row[first + i / BLOCK as usize])
        }
        _ => ((row[i / 4] >> (8 * (i % 4)) & 255) as f32 - BIAS as f32) * f32::from_bits(row[first]),
    }
}

fn largest(values: &[f32]) -> f32 {
    values.iter().fold(0f32, |m, v| m.max(v.abs()))
}

/// The code of the level nearest to a value from -1 to 1; 0 where all of a block is 0.
fn nearest(x: f32) -> usize {
    if x.is_nan() {
        return 7;
    }
    LEVELS.windows(2).filter(|pair| x > (pair[0] + pair[1]) / 2.0).count()
}

fn note(loss: &mut Loss, values: &[f32], off: f64, worst: f64, allowed: f64) {
    loss.off += off;
    loss.of += values.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>();
    if worst > 0.0 {
        loss.worst = loss.worst.max(worst / allowed);
    }
}
