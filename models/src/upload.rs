//! Weights from their source to the device, some rows at a time, in the layout that the programs ask for.
//!
//! The rule: the host never holds more than a piece of 2 MiB of f32 and three of its encoded bytes for each of at most eight threads,
//! whatever the model's size. A value that
//! its storage cannot hold is an error that names the tensor. Files are absent: a [`WeightSource`] gives rows.

use std::ops::Range;
use std::sync::mpsc;

use tilewright_codegen::program::TensorLayout;
use tilewright_dsl::storage::quantised::Loss;
use tilewright_dsl::storage::{self, Encoded};
use tilewright_runtime::BufferId;

use crate::checkpoint::WeightSource;
use crate::engine::assembly::Placed;
use crate::error::ModelError;
use crate::stores::{Lost, StoresError};

/// Elements of one piece.
const PIECE: usize = 1 << 19;

/// Threads that convert at once, as far as there are cores: more only wait for memory.
const THREADS: usize = 8;

/// Takes bytes for a buffer at an offset.
pub type Sink<'s> = dyn FnMut(BufferId, u64, &[u8]) -> Result<(), ModelError> + 's;

/// Sends every weight, and gives what quantised ones lost; `progress` hears of bytes on the device, done and in all.
///
/// # Errors
/// The source's, the sink's, [`ModelError::HalfOverflow`], and what codes cannot hold.
pub fn weights(
    source: &dyn WeightSource,
    placed: &[Placed],
    sink: &mut Sink,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Lost>, ModelError> {
    let bytes = |p: &Placed| (0..p.layout.parts.len()).map(|i| p.layout.part_bytes(i)).sum::<u64>();
    let total = placed.iter().map(bytes).sum();
    let pieces: Vec<Piece> = placed.iter().flat_map(pieces).collect();
    let (mut done, mut overflow) = (0, 0);
    let mut lost: Vec<Lost> = Vec::new();
    progress(0, total);
    in_order(&pieces, &|piece, values| piece.encoded(source, values), &mut |i, encoded| {
        let piece = &pieces[i];
        overflow += encoded.overflows as u64;
        sink(piece.buffer, piece.offset, bytemuck::cast_slice(&encoded.words))?;
        done += encoded.words.len() as u64 * 4;
        progress(done, total);
        if piece.weight.layout.storage.quantised() && encoded.loss.of > 0.0 {
            let (tensor, storage) = (&piece.weight.name, piece.weight.layout.storage);
            match lost.last_mut().filter(|l| l.tensor == *tensor) {
                Some(known) => known.loss = known.loss.and(encoded.loss),
                None => lost.push(Lost { tensor: tensor.clone(), storage, loss: encoded.loss }),
            }
        }
        let ends = pieces.get(i + 1).is_none_or(|next| !std::ptr::eq(next.weight, piece.weight));
        match std::mem::take(&mut overflow) {
            0 if ends => bounded(lost.last(), &piece.weight.name),
            0 => Ok(()),
            count if ends => Err(too_large(piece.weight, count)),
            count => {
                overflow = count;
                Ok(())
            }
        }
    })?;
    Ok(lost)
}

/// Holds what a tensor lost against what its codes allow.
fn bounded(lost: Option<&Lost>, tensor: &str) -> Result<(), ModelError> {
    match lost.filter(|l| l.tensor == tensor && !l.loss.within_bound()) {
        Some(Lost { tensor, storage, loss }) => {
            Err(StoresError::Bound { tensor: tensor.clone(), storage: *storage, worst: loss.worst }.into())
        }
        None => Ok(()),
    }
}

/// Values that the storage of a tensor cannot hold.
fn too_large(weight: &Placed, count: u64) -> ModelError {
    let (tensor, storage) = (weight.name.clone(), weight.layout.storage);
    match storage.quantised() {
        true => StoresError::NoCode { tensor, count, storage }.into(),
        false => ModelError::HalfOverflow { tensor, count },
    }
}

/// Some rows of a weight.
struct Piece<'p> {
    weight: &'p Placed,
    buffer: BufferId,
    /// Bytes before it in the buffer.
    offset: u64,
    /// Rows of the source.
    rows: Range<usize>,
    /// Its elements.
    elements: usize,
}

impl Piece<'_> {
    fn encoded(&self, source: &dyn WeightSource, values: &mut Vec<f32>) -> Result<Encoded, ModelError> {
        let storage = self.weight.layout.storage;
        if let Some(words) = source.rows_encoded(&self.weight.name, self.rows.clone(), storage)? {
            return Ok(Encoded { words, overflows: 0, loss: Loss::default() });
        }
        values.resize(self.elements, 0.0);
        source.rows_f32(&self.weight.name, self.rows.clone(), values)?;
        encode(&self.weight.layout, values)
    }
}

fn pieces(weight: &Placed) -> Vec<Piece<'_>> {
    let layout = &weight.layout;
    let (columns, row_elements) = columns(layout);
    let rows_a_piece = (PIECE / columns.max(1)).max(1);
    let mut all = Vec::new();
    let mut first = 0;
    for (part, buffer) in weight.buffers.iter().enumerate() {
        let rows = if layout.dims.len() == 1 { 1 } else { layout.parts[part] as usize };
        for start in (0..rows).step_by(rows_a_piece) {
            let count = rows_a_piece.min(rows - start);
            let from = (first + start) * row_elements;
            all.push(Piece {
                weight,
                buffer: *buffer,
                offset: start as u64 * layout.row_bytes(),
                rows: from..from + count * row_elements,
                elements: count * columns,
            });
        }
        first += rows;
    }
    all
}

/// Makes something of an item; the values are room to work in.
pub(crate) type Make<'m, I, R> = dyn Fn(&I, &mut Vec<f32>) -> Result<R, ModelError> + Sync + 'm;

/// Makes something of each item on several threads, each with values of its own to work in, and takes the results in the items'
/// order on this one. No thread is more than two results ahead.
pub(crate) fn in_order<I: Sync, R: Send>(
    items: &[I],
    make: &Make<I, R>,
    take: &mut dyn FnMut(usize, R) -> Result<(), ModelError>,
) -> Result<(), ModelError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS).min(items.len().max(1));
    std::thread::scope(|scope| {
        let start = |first: usize| {
            let (give, results) = mpsc::sync_channel(1);
            scope.spawn(move || {
                let mut values = Vec::new();
                // Once nobody takes results any more, the rest is not made.
                items.iter().skip(first).step_by(threads).all(|item| give.send(make(item, &mut values)).is_ok());
            });
            results
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        for i in 0..items.len() {
            // A thread that is gone without a result has panicked, and the scope hands its panic on.
            let Ok(result) = running[i % threads].recv() else { break };
            take(i, result?)?;
        }
        Ok(())
    })
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
