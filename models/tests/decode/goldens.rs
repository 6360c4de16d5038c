//! Goldens, models and engines.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use serde_json::Value;
use tilewright_models::checkpoint::Checkpoint;
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, TierChoice};

/// A path under `tests/goldens`.
pub fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(path)
}

/// The bundled model's folder.
pub fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/tiny")
}

/// One prompt and what transformers makes of it.
pub struct Case {
    pub name: String,
    pub ids: Vec<u32>,
    pub greedy: Vec<u32>,
    /// How far the best logit led at each step.
    pub gaps: Vec<f32>,
    pub last: Vec<f32>,
}

/// The cases of a JSON list, with the logits of a safetensors file.
pub fn cases(list: &str, logits: &str) -> Vec<Case> {
    let text = std::fs::read(golden(list)).unwrap();
    let list: Value = serde_json::from_slice(&text).unwrap();
    let logits = tensors(&golden(logits));
    let numbers = |v: &Value| v.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect::<Vec<_>>();
    let ids = |v: &Value| numbers(v).into_iter().map(|n| n as u32).collect();
    let cases = list.as_array().unwrap().iter();
    cases
        .map(|case| {
            let name = case["name"].as_str().map_or_else(|| format!("n{}", case["n_input"]), String::from);
            Case {
                ids: ids(&case["input_ids"]),
                greedy: ids(&case["greedy_ids"]),
                gaps: numbers(&case["greedy_gaps"]).into_iter().map(|n| n as f32).collect(),
                last: logits[&name].clone(),
                name,
            }
        })
        .collect()
}

/// All f32 tensors of a file.
pub fn tensors(path: &Path) -> HashMap<String, Vec<f32>> {
    let bytes = std::fs::read(path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let words = |data: &[u8]| data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    file.tensors().into_iter().map(|(name, view)| (name, words(view.data()))).collect()
}

/// The engine of a model folder.
pub fn load(dir: &Path, options: &EngineOptions) -> Engine {
    let config = Config::open(dir).unwrap();
    let weights = Checkpoint::open(dir, &config).unwrap();
    Engine::load(&config, &weights, options, &mut |_, _| ()).unwrap()
}

/// Options of a tier.
pub fn tier(number: usize) -> EngineOptions {
    EngineOptions { tier: TierChoice::Number(number), ..EngineOptions::default() }
}

/// The largest magnitude.
pub fn scale(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// The largest difference.
pub fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// The index of the largest value, the lowest among equals.
pub fn best(values: &[f32]) -> u32 {
    (0..values.len()).fold(0, |b, i| if values[i] > values[b] { i } else { b }) as u32
}
