//! Weight storage types and their conversion to f32.
//!
//! The rule: every conversion here is exact, because f32 holds all values of bf16 and f16. Absent: narrowing, which
//! belongs to the storages of the kernel language.

use half::f16;
use half::slice::HalfFloatSliceExt;

/// How a checkpoint stores a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// The upper half of an f32.
    Bf16,
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
}

impl Dtype {
    /// Bytes an element.
    pub fn size(self) -> usize {
        match self {
            Self::Bf16 | Self::F16 => 2,
            Self::F32 => 4,
        }
    }

    /// The type that a safetensors header calls `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "BF16" => Some(Self::Bf16),
            "F16" => Some(Self::F16),
            "F32" => Some(Self::F32),
            _ => None,
        }
    }

    /// The name in a safetensors header.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "BF16",
            Self::F16 => "F16",
            Self::F32 => "F32",
        }
    }

    /// The name in a `config.json`.
    pub fn torch_name(self) -> &'static str {
        match self {
            Self::Bf16 => "bfloat16",
            Self::F16 => "float16",
            Self::F32 => "float32",
        }
    }
}

/// Converts little-endian elements; `bytes` holds exactly as many as `out`.
pub(super) fn to_f32(dtype: Dtype, bytes: &[u8], out: &mut [f32]) {
    match dtype {
        Dtype::Bf16 => {
            for (b, x) in bytes.chunks_exact(2).zip(out) {
                *x = f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16);
            }
        }
        Dtype::F16 => {
            // By blocks, because the bytes need not be aligned and whole slices convert with vector instructions.
            let mut block = [f16::ZERO; 512];
            for (b, x) in bytes.chunks(2 * block.len()).zip(out.chunks_mut(block.len())) {
                let halves = &mut block[..x.len()];
                for (h, pair) in halves.iter_mut().zip(b.chunks_exact(2)) {
                    *h = f16::from_le_bytes([pair[0], pair[1]]);
                }
                halves.convert_to_f32_slice(x);
            }
        }
        Dtype::F32 => {
            for (b, x) in bytes.chunks_exact(4).zip(out) {
                *x = f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            }
        }
    }
}
