//! The whole Qwen2.5-0.5B by formula against transformers. Not in every run, since it takes minutes on a software adapter:
//! `cargo test --release -p tilewright-models --features whole --test decode half_billion`.

use serde_json::Value;
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions};
use tilewright_models::synth::Synth;

use crate::goldens::{best, distance, golden, scale, tensors, tier};

/// Logits within this share of the largest one's magnitude: 24 layers of rounding.
const TOLERANCE: f32 = 5e-3;

#[test]
fn half_billion() {
    let dir = golden("shapes/qwen2.5-0.5b");
    let config = Config::open(&dir).unwrap();
    let golden: Value = serde_json::from_slice(&std::fs::read(dir.join("golden.json")).unwrap()).unwrap();
    let last = tensors(&dir.join("golden_last_logits.safetensors"));
    let weights = Synth::new(config.clone(), golden["seed"].as_u64().unwrap());
    let ids = |v: &Value| v.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u32).collect::<Vec<_>>();
    for number in [2, 6] {
        let options = EngineOptions { context: Some(256), ..tier(number) };
        let mut engine = Engine::load(&config, &weights, &options, &mut |_, _| ()).unwrap();
        println!("{:?}", engine.info());
        for case in golden["cases"].as_array().unwrap() {
            engine.reset();
            let prompt = ids(&case["input_ids"]);
            let mut logits = engine.prefill(&prompt).unwrap().logits.unwrap();
            let tolerance = TOLERANCE * scale(&logits);
            if let Some(wanted) = last.get(&format!("n{}", prompt.len())) {
                let found = distance(&logits, wanted);
                println!("tier {number}, {} ids: {found} apart, allowed {tolerance}", prompt.len());
                assert!(found <= tolerance);
            }
            for (token, value) in case["top10"].as_array().unwrap().iter().map(|t| (&t[0], &t[1])) {
                let found = logits[token.as_u64().unwrap() as usize];
                assert!((found - value.as_f64().unwrap() as f32).abs() <= tolerance);
            }
            let gaps = case["greedy_gaps"].as_array().unwrap();
            for (want, gap) in ids(&case["greedy_ids"]).into_iter().zip(gaps) {
                if gap.as_f64().unwrap() as f32 > 2.0 * tolerance {
                    assert_eq!(best(&logits), want);
                }
                logits = engine.decode(want).unwrap().logits.unwrap();
            }
        }
    }
}
