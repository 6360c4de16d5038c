//! Weights from their source to the device, some rows at a time, in the layout that the programs ask for.
//!
//! The rule: the host never holds more than one piece of 16 MiB of f32 and its encoded bytes, whatever the model's size. A value that
//! its storage cannot hold is an error that names the tensor. Files are absent: a [`WeightSource`] gives rows.

use tilewright_codegen::program::TensorLayout;
use tilewright_dsl::storage::{self, Encoded};
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
            let encoded = encode(layout, &values)?;
            overflow += encoded.overflows as u64;
            sink(*buffer, start as u64 * layout.row_bytes(), bytemuck::cast_slice(&encoded.words))?;
            sent(encoded.words.len() as u64 * 4);
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

/// Values of whole rows as they lie in a buffer.
///
/// # Errors
/// [`ModelError::Encoding`] if they are not whole rows.
pub fn encode(layout: &TensorLayout, values: &[f32]) -> Result<Encoded, ModelError> {
    let innermost = layout.dims.last().copied().unwrap_or(1);
    let rows = values.len() / innermost.max(1) as usize;
    Ok(storage::encode(layout.storage, rows, innermost, values)?)
}
