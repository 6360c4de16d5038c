//! A model folder with matrices as codes, made of one without.
//!
//! The rule: the words in the file are those that the same storages would give on the device, bit for bit; matrices that are no
//! codes and all vectors keep their bytes; a few megabytes are in memory at a time, on each of a few threads. Every row is held
//! against its bound. Absent: any other file's content, which is copied.

use std::fs::File;
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use serde_json::{Map, Value, json};
use tilewright_dsl::schedule::Storage;
use tilewright_dsl::storage::{self, quantised::Loss};

use crate::checkpoint::codes::{STORES_KEY, VERSION, VERSION_KEY, entry_name, row_words};
use crate::checkpoint::{Checkpoint, TensorSpec, WeightSource, expected_tensors};
use crate::config::Config;
use crate::error::ModelError;
use crate::files::{self, Begun, check_space};
use crate::stores::{Lost, Stores, StoresError};
use crate::upload::in_order;

/// Elements encoded at once by a thread.
const PIECE: usize = 1 << 19;

/// Files that a model may have beside its weights; config.json comes last, so that what has it is complete.
const OTHERS: [&str; 9] = [
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "config.json",
];

/// What was written.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantised {
    /// Bytes of all weights in the file.
    pub bytes: u64,
    /// Bytes that they would have in f32.
    pub f32_bytes: u64,
    /// What each matrix lost.
    pub lost: Vec<Lost>,
}

/// A tensor of the file.
struct Part {
    spec: TensorSpec,
    /// Its codes, if it becomes codes.
    storage: Option<Storage>,
    bytes: u64,
}

/// Writes the model of the folder `from` into the folder `out`, which must be new or empty. `progress` hears of the bytes
/// written and the bytes in all, and may end it.
///
/// # Errors
/// When nothing would become codes, or codes would become other codes; when a value has no code; when `out` holds something
/// already, its disk is too small, or it cannot be written; [`ModelError::Stopped`]. Nothing is left then.
pub fn quantise(
    from: &Path,
    config: &Config,
    weights: &Checkpoint,
    stores: Stores,
    out: &Path,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Quantised, ModelError> {
    stores.over(weights.stores())?;
    let settled = stores.settled(weights.tied())?;
    if !settled.quantises() {
        return Err(StoresError::NoCodes { stores: stores.to_string() }.into());
    }
    let parts = parts(config, weights, settled);
    let total = parts.iter().map(|p| p.bytes).sum();
    let mut begun = Begun::claim(out)?;
    check_space(out, total)?;
    let path = begun.file("model.safetensors");
    let lost = write(weights, &parts, settled, &path, total, progress)?;
    for name in OTHERS.iter().filter(|name| files::exists(&from.join(name))) {
        let path = begun.file(name);
        let bytes = files::read(&from.join(name))?;
        std::fs::write(&path, bytes).map_err(|source| ModelError::Write { path, source })?;
    }
    begun.finish()?;
    let f32_bytes = parts.iter().map(|p| p.spec.elements() * 4).sum();
    Ok(Quantised { bytes: total, f32_bytes, lost })
}

/// The file's tensors in the order of a forward pass.
fn parts(config: &Config, weights: &Checkpoint, stores: Stores) -> Vec<Part> {
    let specs = expected_tensors(&Config { tie_word_embeddings: weights.tied(), ..config.clone() });
    let part = |spec: TensorSpec| {
        let storage = stores.of(&spec.name).filter(|s| s.quantised() && spec.shape.len() == 2);
        let bytes = match storage {
            Some(storage) => (spec.shape[0] * row_words(storage, spec.shape[1]) * 4) as u64,
            None => weights.tensor(&spec.name).map_or(0, |view| view.bytes.len() as u64),
        };
        Part { spec, storage, bytes }
    };
    specs.into_iter().map(part).collect()
}

/// The length and the JSON of the header, padded to 8 bytes.
fn header(weights: &Checkpoint, parts: &[Part], stores: Stores) -> Vec<u8> {
    let mut map = Map::new();
    map.insert("__metadata__".into(), json!({ VERSION_KEY: VERSION, STORES_KEY: stores.to_string() }));
    let mut offset = 0;
    for Part { spec, storage, bytes } in parts {
        let end = offset + bytes;
        let (name, dtype, shape) = match storage {
            Some(storage) => {
                let shape = vec![spec.shape[0], row_words(*storage, spec.shape[1])];
                (entry_name(&spec.name, *storage), "U32", shape)
            }
            None => {
                let dtype = weights.tensor(&spec.name).map_or("F32", |view| view.dtype.name());
                (spec.name.clone(), dtype, spec.shape.clone())
            }
        };
        map.insert(name, json!({ "dtype": dtype, "shape": shape, "data_offsets": [offset, end] }));
        offset = end;
    }
    let mut text = Value::Object(map).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut header = (text.len() as u64).to_le_bytes().to_vec();
    header.append(&mut text);
    header
}

/// Some rows of a tensor: its number, and which.
type Piece = (usize, Range<usize>);

fn write(
    weights: &Checkpoint,
    parts: &[Part],
    stores: Stores,
    path: &Path,
    total: u64,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Vec<Lost>, ModelError> {
    let failed = |source| ModelError::Write { path: path.into(), source };
    let mut file = File::create(path).map_err(failed)?;
    file.write_all(&header(weights, parts, stores)).map_err(failed)?;
    let mut pieces: Vec<Piece> = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let step = (PIECE / part.spec.shape.get(1).copied().unwrap_or(1).max(1)).max(1);
        let rows = part.spec.shape[0];
        pieces.extend((0..rows).step_by(step).map(|start| (i, start..rows.min(start + step))));
    }
    let (mut done, mut lost): (u64, Vec<Lost>) = (0, Vec::new());
    let make = |(i, rows): &Piece, values: &mut Vec<f32>| encoded(weights, &parts[*i], rows, values);
    in_order(&pieces, &make, &mut |i, (bytes, loss): (Vec<u8>, Option<Loss>)| {
        file.write_all(&bytes).map_err(failed)?;
        done += bytes.len() as u64;
        let Part { spec, storage, .. } = &parts[pieces[i].0];
        if let (Some(storage), Some(loss)) = (*storage, loss) {
            let (tensor, worst) = (spec.name.clone(), loss.worst);
            if !loss.within_bound() {
                return Err(StoresError::Bound { tensor, storage, worst }.into());
            }
            match lost.last_mut().filter(|l| l.tensor == tensor) {
                Some(known) => known.loss = known.loss.and(loss),
                None => lost.push(Lost { tensor, storage, loss }),
            }
        }
        match progress(done, total) {
            ControlFlow::Break(()) => Err(ModelError::Stopped { path: path.parent().unwrap_or(path).into() }),
            ControlFlow::Continue(()) => Ok(()),
        }
    })?;
    file.sync_all().map_err(failed)?;
    Ok(lost)
}

/// The bytes of some rows, and what they lost where they become codes.
fn encoded(
    weights: &Checkpoint,
    part: &Part,
    rows: &Range<usize>,
    values: &mut Vec<f32>,
) -> Result<(Vec<u8>, Option<Loss>), ModelError> {
    let Part { spec, storage, .. } = part;
    let Some(storage) = *storage else {
        let Some(view) = weights.tensor(&spec.name) else { return Ok((Vec::new(), None)) };
        let row = view.bytes.len() / spec.shape[0].max(1);
        return Ok((view.bytes[rows.start * row..rows.end * row].to_vec(), None));
    };
    let columns = spec.shape[1];
    let whole = |words: Vec<u32>| words.into_iter().flat_map(u32::to_le_bytes).collect();
    if let Some(words) = weights.rows_encoded(&spec.name, rows.clone(), storage)? {
        return Ok((whole(words), None));
    }
    values.resize(rows.len() * columns, 0.0);
    weights.rows_f32(&spec.name, rows.clone(), values)?;
    let encoded = storage::encode(storage, rows.len(), columns as u32, values)?;
    match encoded.overflows as u64 {
        0 => Ok((whole(encoded.words), Some(encoded.loss))),
        count => Err(StoresError::NoCode { tensor: spec.name.clone(), count, storage }.into()),
    }
}
