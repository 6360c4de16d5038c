//! The goldens' folders, and models made to be damaged.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use serde_json::Value;
use tempfile::TempDir;
use tilewright_models::checkpoint::Dtype;
use tilewright_models::config::Config;
use tilewright_models::synth::{self, Synth, preset};

/// A path under `tests/goldens`.
pub fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(path)
}

/// A bundled model's folder: `tiny` or `draft`.
pub fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name)
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A JSON list of token ids.
pub fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
}

/// One f32 tensor of a golden file, and its shape.
pub fn tensor(path: &Path, name: &str) -> (Vec<usize>, Vec<f32>) {
    let bytes = std::fs::read(path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let view = file.tensor(name).unwrap();
    assert_eq!(view.dtype(), safetensors::Dtype::F32);
    let values = view.data().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    (view.shape().to_vec(), values)
}

/// A small, sound model in a folder of its own, in one file or in several shards.
pub fn small_model(dtype: Dtype, shard_bytes: u64) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let synth = Synth::new(preset("tiny-test").unwrap(), 0);
    synth::write(&synth, dtype, dir.path(), shard_bytes, &mut |_, _| ControlFlow::Continue(())).unwrap();
    dir
}

/// Changes a JSON file in place.
pub fn edit_json(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = json(path);
    change(&mut value);
    std::fs::write(path, value.to_string()).unwrap();
}

/// The configuration in a folder.
pub fn config(dir: &Path) -> Config {
    Config::open(dir).unwrap()
}

/// Asserts that a message has every one of these parts.
#[track_caller]
pub fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}
