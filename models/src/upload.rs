//! Weights from their source to the device, some rows at a time, in the layout that the programs ask for.
//!
//! The rule: the host never holds more than one piece of 16 MiB of f32 and its encoded bytes, whatever the model's size. A value that
//! its storage cannot hold is an error that names the tensor. Files are absent: a [`WeightSource`] gives rows.

use half::slice::HalfFloatSliceExt;
use tilewright_codegen::program::TensorLayout;
use tilewright_dsl::schedule::Storage;
use tilewright_runtime::BufferId;

use crate::checkpoint::WeightSource;
use crate::engine::assembly::Placed;
use crate::error::ModelError;

/// Elements of one piece.
const PIECE: usize = 4 << 20;

/// Takes bytes for a buffer at an offset.
pub type Sink<'s> = dyn FnMut(BufferId, u64, &[u8]) -> Result<(), ModelError> + 's;

/// Sends every weight; `progress` hears of bytes on the device, done and in all.
///
/// # Errors
/// The source's, the sink's, and [`ModelError::HalfOverflow`].
pub fn weights(
    source: &dyn WeightSource,
    placed: &[Placed],
    sink: &mut Sink,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), ModelError> {
    let bytes = |p: &Placed| (0..p.layout.parts.len()).map(|i| p.layout.part_bytes(i)).sum::<u64>();
    let total = placed.iter().map(bytes).sum();
    let mut done = 0;
    progress(0, total);
    for weight in placed {
        tensor(source, weight, sink, &mut |more| {
            done += more;
            progress(done, total);
        })?;
    }
    Ok(())
}

fn tensor(
    source: &dyn WeightSource,
    weight: &Placed,
    sink: &mut Sink,
    sent: &mut dyn FnMut(u64),
) -> Result<(), ModelError> {
    let layout = &weight.layout;
    let (columns, row_elements) = columns(layout);
    let rows_a_piece = (PIECE / columns.max(1)).max(1);
    let mut overflow = 0;
    let mut first = 0;
    let mut values = Vec::new();
    for (part, buffer) in weight.buffers.iter().enumerate() {
        let rows = if layout.dims.len() == 1 { 1 } else { layout.parts[part] as usize };
        for start in (0..rows).step_by(rows_a_piece) {
            let count = rows_a_piece.min(rows - start);
            values.resize(count * columns, 0.0f32);
            let from = (first + start) * row_elements;
            source.rows_f32(&weight.name, from..from + count * row_elements, &mut values)?;
            let bytes = encode(layout, &values, columns, &mut overflow);
            sink(*buffer, start as u64 * layout.row_bytes(), &bytes)?;
            sent(bytes.len() as u64);
        }
        first += rows;
    }
    match overflow {
        0 => Ok(()),
        count => Err(ModelError::HalfOverflow { tensor: weight.name.clone(), count }),
    }
}

/// Elements of a row of dimension 0, and how many rows of the source that is: a vector's rows have one element.
fn columns(layout: &TensorLayout) -> (usize, usize) {
    let all = |dims: &[u32]| dims.iter().map(|d| *d as usize).product::<usize>();
    if layout.dims.len() == 1 { (all(&layout.dims), all(&layout.dims)) } else { (all(&layout.dims[1..]), 1) }
}

/// Rows as they lie in a buffer; counts values that became infinite.
pub fn encode(layout: &TensorLayout, values: &[f32], columns: usize, overflow: &mut u64) -> Vec<u8> {
    let innermost = *layout.dims.last().unwrap_or(&1) as usize;
    let stride = layout.stride as usize;
    let rows = values.chunks_exact(innermost.min(columns).max(1));
    match layout.storage {
        Storage::F32 => {
            let mut out = vec![0.0f32; rows.len() * stride];
            rows.zip(out.chunks_exact_mut(stride)).for_each(|(row, out)| out[..row.len()].copy_from_slice(row));
            bytemuck::cast_slice(&out).to_vec()
        }
        Storage::F16 => {
            let mut out = vec![half::f16::ZERO; rows.len() * stride];
            for (row, out) in rows.zip(out.chunks_exact_mut(stride)) {
                out[..row.len()].convert_from_f32_slice(row);
            }
            let infinite = |n: &half::f16| n.is_infinite();
            if out.iter().any(infinite) {
                let given = values.iter().filter(|v| v.is_infinite()).count() as u64;
                *overflow += out.iter().filter(|n| infinite(n)).count() as u64 - given;
            }
            bytemuck::cast_slice(&out).to_vec()
        }
        Storage::Bf16 => {
            let mut out = vec![half::bf16::ZERO; rows.len() * stride];
            for (row, out) in rows.zip(out.chunks_exact_mut(stride)) {
                out[..row.len()].convert_from_f32_slice(row);
            }
            bytemuck::cast_slice(&out).to_vec()
        }
    }
}
