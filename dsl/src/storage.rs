//! How f32 and u32 tensors lie in buffers: 32-bit words, rows padded with zeros to 16 bytes.
//!
//! Encode and decode stand side by side, and [`stride`] is the one place that knows the padding, so that every reader of a
//! buffer agrees with its writer. Two halves share a word, the lower index in the low half; four int8 codes or eight nf4 codes
//! too, and their scales follow in the same row ([`quantised`]). Rounding is to nearest, ties to even. What a tensor is called
//! and where its buffer lives is deliberately absent.

pub mod quantised;

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use crate::schedule::Storage;
use quantised::Loss;

/// Words that a row is padded to: one 128-bit load.
const ROW: u64 = 4;

impl Storage {
    /// Elements a 32-bit word.
    pub fn per_word(self) -> u32 {
        match self {
            Storage::F32 => 1,
            Storage::F16 | Storage::Bf16 => 2,
            Storage::Int8 => 4,
            Storage::Nf4 => 8,
        }
    }
    /// Whether elements are codes, which mean something by a scale of their row alone.
    pub fn quantised(self) -> bool {
        matches!(self, Storage::Int8 | Storage::Nf4)
    }
    /// Scales that a row of so many elements has; they follow its elements' words.
    pub fn scales(self, extent: u32) -> u32 {
        match self {
            Storage::F32 | Storage::F16 | Storage::Bf16 => 0,
            Storage::Int8 => extent.min(1),
            Storage::Nf4 => extent.div_ceil(quantised::BLOCK),
        }
    }
    /// Words of a row's elements, padded to 16 bytes: its first scale has this number.
    pub fn element_words(self, extent: u32) -> u32 {
        let words = u64::from(extent).div_ceil(self.per_word().into()).next_multiple_of(ROW);
        u32::try_from(words).unwrap_or(u32::MAX)
    }
}

/// Elements from one row to the next: `extent` rounded up to 16 bytes, and the room that its scales take, rounded likewise.
pub fn stride(storage: Storage, extent: u32) -> u32 {
    let scales = u64::from(storage.scales(extent)).next_multiple_of(ROW);
    let elements = u64::from(extent).div_ceil(storage.per_word().into()).next_multiple_of(ROW);
    // An extent this close to 2^32 fits no buffer; the sum of padded bytes is refused elsewhere.
    u32::try_from((elements + scales) * u64::from(storage.per_word())).unwrap_or(u32::MAX)
}

/// A tensor as words.
#[derive(Clone, PartialEq, Debug)]
pub struct Encoded {
    /// `rows × stride / per_word` words.
    pub words: Vec<u32>,
    /// Finite values that became infinite; where elements are codes, values that no code can mean.
    pub overflows: usize,
    /// What codes lose; nothing is measured for other storages.
    pub loss: Loss,
}

/// A slice whose length is not what its shape says.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{rows} row{} of {extent} make{} {expected} {unit}, but there are {found}",
    if *rows == 1 { "" } else { "s" }, if *rows == 1 { "s" } else { "" })]
pub struct LengthError {
    /// The rows: the product of all dimensions but the last.
    pub rows: usize,
    /// The last dimension.
    pub extent: u32,
    /// `elements` or `words`.
    pub unit: &'static str,
    /// How many there should be.
    pub expected: usize,
    /// How many there are.
    pub found: usize,
}

/// f32 values as words. Where rows come in pieces, encoding them piece by piece gives the same words.
pub fn encode(storage: Storage, rows: usize, extent: u32, values: &[f32]) -> Result<Encoded, LengthError> {
    let (mut overflows, mut loss) = (0, Loss::default());
    let mut narrow = |value: f32, bits: u16, finite: bool| {
        overflows += usize::from(value.is_finite() && !finite);
        u32::from(bits)
    };
    let words = match storage {
        Storage::F32 => pad(rows, extent, values, |v| v.to_bits())?,
        Storage::F16 if stride(storage, extent) == extent => {
            length("elements", rows, extent, rows.saturating_mul(extent as usize), values.len())?;
            // Whole slices convert with vector instructions.
            let mut halves = vec![f16::ZERO; values.len()];
            halves.convert_from_f32_slice(values);
            overflows = halves.iter().zip(values).filter(|(h, v)| !h.is_finite() && v.is_finite()).count();
            halves.chunks_exact(2).map(|h| u32::from(h[1].to_bits()) << 16 | u32::from(h[0].to_bits())).collect()
        }
        Storage::F16 => pairs(rows, extent, values, |v| {
            let half = f16::from_f32(v);
            narrow(v, half.to_bits(), half.is_finite())
        })?,
        Storage::Bf16 => pairs(rows, extent, values, |v| {
            let half = bf16::from_f32(v);
            narrow(v, half.to_bits(), half.is_finite())
        })?,
        Storage::Int8 | Storage::Nf4 => {
            length("elements", rows, extent, rows.saturating_mul(extent as usize), values.len())?;
            overflows = values.iter().filter(|v| !v.is_finite()).count();
            let per_row = (stride(storage, extent) / storage.per_word()) as usize;
            let mut words = vec![0; rows * per_row];
            let row_values = values.chunks_exact((extent as usize).max(1));
            for (row, words) in row_values.zip(words.chunks_exact_mut(per_row.max(1))) {
                quantised::encode_row(storage, row, words, &mut loss);
            }
            words
        }
    };
    Ok(Encoded { words, overflows, loss })
}

/// The values of words.
pub fn decode(storage: Storage, rows: usize, extent: u32, words: &[u32]) -> Result<Vec<f32>, LengthError> {
    match storage {
        Storage::F32 => unpad(storage, rows, extent, words, |row, i| f32::from_bits(row[i])),
        Storage::F16 => unpad(storage, rows, extent, words, |row, i| f16::from_bits(half_of(row, i)).to_f32()),
        Storage::Bf16 => unpad(storage, rows, extent, words, |row, i| bf16::from_bits(half_of(row, i)).to_f32()),
        Storage::Int8 | Storage::Nf4 => {
            unpad(storage, rows, extent, words, |row, i| quantised::decode_element(storage, extent, row, i))
        }
    }
}

/// u32 values as words; their only storage has the stride of [`Storage::F32`].
pub fn encode_u32(rows: usize, extent: u32, values: &[u32]) -> Result<Vec<u32>, LengthError> {
    pad(rows, extent, values, |v| v)
}

/// The u32 values of words.
pub fn decode_u32(rows: usize, extent: u32, words: &[u32]) -> Result<Vec<u32>, LengthError> {
    unpad(Storage::F32, rows, extent, words, |row, i| row[i])
}

fn length(unit: &'static str, rows: usize, extent: u32, expected: usize, found: usize) -> Result<(), LengthError> {
    if expected == found { Ok(()) } else { Err(LengthError { rows, extent, unit, expected, found }) }
}

fn half_of(row: &[u32], i: usize) -> u16 {
    (row[i / 2] >> (16 * (i % 2))) as u16
}

fn pad<T: Copy>(rows: usize, extent: u32, values: &[T], word: impl Fn(T) -> u32) -> Result<Vec<u32>, LengthError> {
    length("elements", rows, extent, rows.saturating_mul(extent as usize), values.len())?;
    let stride = stride(Storage::F32, extent) as usize;
    let mut words = Vec::with_capacity(rows * stride);
    for row in values.chunks_exact((extent as usize).max(1)) {
        words.extend(row.iter().map(|v| word(*v)));
        words.resize(words.len().next_multiple_of(stride), 0);
    }
    Ok(words)
}

fn pairs(rows: usize, extent: u32, values: &[f32], mut half: impl FnMut(f32) -> u32) -> Result<Vec<u32>, LengthError> {
    length("elements", rows, extent, rows.saturating_mul(extent as usize), values.len())?;
    let stride = stride(Storage::F16, extent) as usize / 2;
    let mut words = Vec::with_capacity(rows * stride);
    for row in values.chunks_exact((extent as usize).max(1)) {
        words.extend(row.chunks(2).map(|pair| {
            let low = half(pair[0]);
            pair.get(1).map_or(low, |high| half(*high) << 16 | low)
        }));
        words.resize(words.len().next_multiple_of(stride), 0);
    }
    Ok(words)
}

fn unpad<T>(
    storage: Storage,
    rows: usize,
    extent: u32,
    words: &[u32],
    element: impl Fn(&[u32], usize) -> T,
) -> Result<Vec<T>, LengthError> {
    let per_row = (stride(storage, extent) / storage.per_word()) as usize;
    length("words", rows, extent, rows.saturating_mul(per_row), words.len())?;
    let row = |row| (0..extent as usize).map(move |i| (row, i));
    Ok(words.chunks_exact(per_row.max(1)).flat_map(row).map(|(row, i)| element(row, i)).collect())
}
