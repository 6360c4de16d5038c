//! A model by formula as files: config.json, generation_config.json, and safetensors, sharded where they are large.
//!
//! The rule: a few megabytes at a time, whatever the model's size; every file gets its name when all are complete, `config.json`
//! last, so that nothing half written is taken for a model, and what was begun in vain is removed.

use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use half::f16;
use serde_json::{Map, Value, json};

use super::Synth;
use crate::checkpoint::{Dtype, TensorSpec, WeightSource, expected_tensors};
use crate::error::ModelError;
use crate::files::{Begun, check_space};

/// The usual size of a shard, as on the Hugging Face hub.
pub const SHARD_BYTES: u64 = 5_000_000_000;

/// Elements made and written at once.
const CHUNK: usize = 1 << 22;

/// Hears of the bytes written and the bytes in all; a break ends the writing.
pub type Progress<'p> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'p;

/// Writes the model into the folder `out`, which must be new or empty, in files of at most `shard_bytes` (or one
/// tensor).
///
/// # Errors
/// When the folder holds something already, when its disk is too small, or when it cannot be written; [`ModelError::Stopped`] when
/// `progress` breaks. Nothing is left then.
pub fn write(
    synth: &Synth,
    dtype: Dtype,
    out: &Path,
    shard_bytes: u64,
    progress: &mut Progress,
) -> Result<(), ModelError> {
    let tensors = expected_tensors(synth.config());
    let bytes = |t: &TensorSpec| t.elements() * dtype.size() as u64;
    let total = tensors.iter().map(bytes).sum();
    let mut begun = Begun::claim(out)?;
    check_space(out, total)?;
    let shards = split(tensors, shard_bytes, bytes);

    let mut weight_map = Map::new();
    let mut done = 0;
    let count = shards.len();
    for (n, shard) in shards.iter().enumerate() {
        let name = match count {
            1 => "model.safetensors".to_string(),
            _ => format!("model-{:05}-of-{count:05}.safetensors", n + 1),
        };
        let mut advance = |bytes| {
            done += bytes;
            progress(done, total)
        };
        write_shard(synth, dtype, shard, &begun.file(&name), &mut advance)?;
        weight_map.extend(shard.iter().map(|t| (t.name.clone(), Value::from(name.clone()))));
    }
    if count > 1 {
        let index = json!({ "metadata": { "total_size": total }, "weight_map": weight_map });
        write_json(&begun.file("model.safetensors.index.json"), &index)?;
    }
    let eos = &synth.config().eos_token_ids;
    write_json(&begun.file("generation_config.json"), &json!({ "do_sample": false, "eos_token_id": eos }))?;
    write_json(&begun.file("config.json"), &synth.config().to_json(dtype.torch_name()))?;
    begun.finish()
}

/// Tensors in order, a new shard wherever the next one would go over the limit.
fn split(tensors: Vec<TensorSpec>, limit: u64, bytes: impl Fn(&TensorSpec) -> u64) -> Vec<Vec<TensorSpec>> {
    let mut shards: Vec<Vec<TensorSpec>> = Vec::new();
    let mut filled = u64::MAX;
    for tensor in tensors {
        let size = bytes(&tensor);
        match shards.last_mut() {
            Some(shard) if filled + size <= limit => {
                filled += size;
                shard.push(tensor);
            }
            _ => {
                filled = size;
                shards.push(vec![tensor]);
            }
        }
    }
    shards
}

fn write_shard(
    synth: &Synth,
    dtype: Dtype,
    tensors: &[TensorSpec],
    path: &Path,
    advance: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(), ModelError> {
    let failed = |source| ModelError::Write { path: path.into(), source };
    let mut file = File::create(path).map_err(failed)?;
    file.write_all(&header(dtype, tensors)).map_err(failed)?;
    let (mut values, mut bytes) = (Vec::new(), Vec::new());
    for tensor in tensors {
        let rows = tensor.shape[0];
        let columns: usize = tensor.shape[1..].iter().product();
        let step = (CHUNK / columns).max(1);
        for start in (0..rows).step_by(step) {
            let end = rows.min(start + step);
            values.resize((end - start) * columns, 0.0);
            synth.rows_f32(&tensor.name, start..end, &mut values)?;
            encode(dtype, &values, &mut bytes);
            file.write_all(&bytes).map_err(failed)?;
            if advance(bytes.len() as u64).is_break() {
                return Err(ModelError::Stopped { path: path.parent().unwrap_or(path).into() });
            }
        }
    }
    file.sync_all().map_err(failed)
}

/// The length and the JSON of a safetensors header, padded to 8 bytes.
fn header(dtype: Dtype, tensors: &[TensorSpec]) -> Vec<u8> {
    let mut map = Map::new();
    map.insert("__metadata__".into(), json!({ "format": "pt" }));
    let mut offset = 0;
    for tensor in tensors {
        let end = offset + tensor.elements() * dtype.size() as u64;
        let entry = json!({ "dtype": dtype.name(), "shape": tensor.shape, "data_offsets": [offset, end] });
        map.insert(tensor.name.clone(), entry);
        offset = end;
    }
    let mut text = Value::Object(map).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut header = (text.len() as u64).to_le_bytes().to_vec();
    header.append(&mut text);
    header
}

/// Little-endian elements; the formula's weights are exact in each type.
fn encode(dtype: Dtype, values: &[f32], bytes: &mut Vec<u8>) {
    bytes.clear();
    match dtype {
        Dtype::Bf16 => bytes.extend(values.iter().flat_map(|x| ((x.to_bits() >> 16) as u16).to_le_bytes())),
        Dtype::F16 => bytes.extend(values.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes())),
        Dtype::F32 => bytes.extend(values.iter().flat_map(|x| x.to_le_bytes())),
    }
}

fn write_json(path: &Path, value: &Value) -> Result<(), ModelError> {
    let text = format!("{value:#}\n");
    std::fs::write(path, text).map_err(|source| ModelError::Write { path: path.into(), source })
}
