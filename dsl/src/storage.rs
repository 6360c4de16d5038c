//! How f32 and u32 tensors lie in buffers: 32-bit words, rows padded with zeros to 16 bytes.
//!
//! Encode and decode stand side by side, and [`stride`] is the one place that knows the padding, so that every reader of a
//! buffer agrees with its writer. Two halves share a word, the lower index in the low half. Rounding is to nearest, ties to
//! even. What a tensor is called and where its buffer lives is deliberately absent.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use crate::schedule::Storage;

/// Bytes that a row is padded to: one 128-bit load.
const ROW: u32 = 16;

impl Storage {
    /// Elements a 32-bit word.
    pub fn per_word(self) -> u32 {
        match self {
            Storage::F32 => 1,
            Storage::F16 | Storage::Bf16 => 2,
        }
    }
}

/// Elements from one row to the next: `extent` rounded up to 16 bytes.
pub fn stride(storage: Storage, extent: u32) -> u32 {
    // An extent this close to 2^32 fits no buffer; the sum of padded bytes is refused elsewhere.
    extent.checked_next_multiple_of(ROW / 4 * storage.per_word()).unwrap_or(u32::MAX)
}

/// A tensor as words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoded {
    /// `rows × stride / per_word` words.
    pub words: Vec<u32>,
    /// Finite values that became infinite.
    pub overflows: usize,
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
    let mut overflows = 0;
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
    };
    Ok(Encoded { words, overflows })
}

/// The values of words.
pub fn decode(storage: Storage, rows: usize, extent: u32, words: &[u32]) -> Result<Vec<f32>, LengthError> {
    match storage {
        Storage::F32 => unpad(storage, rows, extent, words, |word, _| f32::from_bits(word)),
        Storage::F16 => {
            unpad(storage, rows, extent, words, |word, i| f16::from_bits((word >> (16 * i)) as u16).to_f32())
        }
        Storage::Bf16 => unpad(storage, rows, extent, words, |word, i| f32::from_bits((word >> (16 * i)) << 16)),
    }
}

/// u32 values as words; their only storage has the stride of [`Storage::F32`].
pub fn encode_u32(rows: usize, extent: u32, values: &[u32]) -> Result<Vec<u32>, LengthError> {
    pad(rows, extent, values, |v| v)
}

/// The u32 values of words.
pub fn decode_u32(rows: usize, extent: u32, words: &[u32]) -> Result<Vec<u32>, LengthError> {
    unpad(Storage::F32, rows, extent, words, |word, _| word)
}

fn length(unit: &'static str, rows: usize, extent: u32, expected: usize, found: usize) -> Result<(), LengthError> {
    if expected == found { Ok(()) } else { Err(LengthError { rows, extent, unit, expected, found }) }
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
    value: impl Fn(u32, usize) -> T,
) -> Result<Vec<T>, LengthError> {
    let per_word = storage.per_word() as usize;
    let stride = stride(storage, extent) as usize / per_word;
    length("words", rows, extent, rows.saturating_mul(stride), words.len())?;
    let element = |row: &[u32], i: usize| value(row[i / per_word], i % per_word);
    let row = |row| (0..extent as usize).map(move |i| (row, i));
    Ok(words.chunks_exact(stride.max(1)).flat_map(row).map(|(row, i)| element(row, i)).collect())
}
