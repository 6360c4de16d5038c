//! A plain f32 forward pass, to hold files, formula and tables against transformers' logits.
//!
//! It shares nothing with the kernels: loops over rows in the order of the paper.

use tilewright_models::checkpoint::{Checkpoint, EMBEDDING, FINAL_NORM, WeightSource, layer_tensor};
use tilewright_models::config::Config;
use tilewright_models::rope::RopeTables;
use tilewright_models::synth::Synth;

use crate::goldens::{asset, config, golden, ids, json, tensor};

type Rows = Vec<Vec<f32>>;

/// The logits after the last token.
pub fn last_logits(config: &Config, weights: &dyn WeightSource, tokens: &[u32]) -> Vec<f32> {
    let (half, group) = (config.head_dim / 2, config.group());
    let tables = RopeTables::new(config, 0..tokens.len());
    let mut x: Rows = tokens.iter().map(|&t| rows(weights, EMBEDDING, t as usize, t as usize + 1)).collect();
    for layer in 0..config.num_hidden_layers {
        let name = |part: &str| layer_tensor(layer, part);
        let normed = norm(config, weights, &name("input_layernorm.weight"), &x);
        let project = |part: &str| {
            linear(
                weights,
                &name(&format!("self_attn.{part}.weight")),
                Some(&name(&format!("self_attn.{part}.bias"))),
                &normed,
            )
        };
        let (mut q, mut k, v) = (project("q_proj"), project("k_proj"), project("v_proj"));
        for (t, row) in q.iter_mut().chain(k.iter_mut()).enumerate() {
            let at = (t % tokens.len()) * half;
            for head in row.chunks_mut(2 * half) {
                for i in 0..half {
                    let (c, s) = (tables.cos[at + i], tables.sin[at + i]);
                    let (a, b) = (head[i], head[i + half]);
                    (head[i], head[i + half]) = (a * c - b * s, b * c + a * s);
                }
            }
        }
        let mut attended = vec![vec![0.0; config.q_width()]; tokens.len()];
        for (t, out) in attended.iter_mut().enumerate() {
            for (h, out) in out.chunks_mut(config.head_dim).enumerate() {
                let part = |row: &[f32], h: usize| row[h * config.head_dim..(h + 1) * config.head_dim].to_vec();
                let qh = part(&q[t], h);
                let scores: Vec<f32> = k[..=t]
                    .iter()
                    .map(|row| dot(&qh, &part(row, h / group)) / (config.head_dim as f32).sqrt())
                    .collect();
                let max = scores.iter().copied().fold(f32::MIN, f32::max);
                let weights: Vec<f32> = scores.iter().map(|s| (s - max).exp()).collect();
                let total: f32 = weights.iter().sum();
                for (w, row) in weights.iter().zip(&v) {
                    for (o, value) in out.iter_mut().zip(part(row, h / group)) {
                        *o += w / total * value;
                    }
                }
            }
        }
        add(&mut x, linear(weights, &name("self_attn.o_proj.weight"), None, &attended));
        let normed = norm(config, weights, &name("post_attention_layernorm.weight"), &x);
        let mut gated = linear(weights, &name("mlp.gate_proj.weight"), None, &normed);
        let up = linear(weights, &name("mlp.up_proj.weight"), None, &normed);
        for (g, u) in gated.iter_mut().flatten().zip(up.iter().flatten()) {
            *g = *g / (1.0 + (-*g).exp()) * u;
        }
        add(&mut x, linear(weights, &name("mlp.down_proj.weight"), None, &gated));
    }
    let last = vec![x.pop().unwrap()];
    linear(weights, weights.head(), None, &norm(config, weights, FINAL_NORM, &last)).remove(0)
}

fn rows(weights: &dyn WeightSource, name: &str, start: usize, end: usize) -> Vec<f32> {
    let columns: usize = weights.shape(name).unwrap()[1..].iter().product();
    let mut out = vec![0.0; (end - start) * columns];
    weights.rows_f32(name, start..end, &mut out).unwrap();
    out
}

/// y = x·Wᵀ + b, some rows of W at a time.
fn linear(weights: &dyn WeightSource, name: &str, bias: Option<&str>, x: &Rows) -> Rows {
    let outputs = weights.shape(name).unwrap()[0];
    let bias = bias.map_or(vec![0.0; outputs], |b| weights.tensor_f32(b).unwrap());
    let mut y = vec![Vec::with_capacity(outputs); x.len()];
    for start in (0..outputs).step_by(1000) {
        let end = outputs.min(start + 1000);
        let w = rows(weights, name, start, end);
        for (w, b) in w.chunks(x[0].len()).zip(&bias[start..end]) {
            for (x, y) in x.iter().zip(&mut y) {
                y.push(dot(w, x) + b);
            }
        }
    }
    y
}

fn norm(config: &Config, weights: &dyn WeightSource, name: &str, x: &Rows) -> Rows {
    let w = weights.tensor_f32(name).unwrap();
    let one = |row: &Vec<f32>| {
        let scale = 1.0 / (dot(row, row) / row.len() as f32 + config.rms_norm_eps).sqrt();
        row.iter().zip(&w).map(|(x, w)| w * (x * scale)).collect()
    };
    x.iter().map(one).collect()
}

/// Eight sums side by side, so that a compiler may use vectors.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f32 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (a, b) in a8.zip(b8) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f32>() + tail
}

fn add(x: &mut Rows, y: Rows) {
    for (x, y) in x.iter_mut().flatten().zip(y.iter().flatten()) {
        *x += y;
    }
}

/// The largest difference of logits, as a part of the largest logit.
#[track_caller]
fn assert_logits(what: &str, ours: &[f32], theirs: &[f32], tolerance: f32) {
    assert_eq!(ours.len(), theirs.len());
    let largest = theirs.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    let off = ours.iter().zip(theirs).fold(0.0f32, |m, (a, b)| m.max((a - b).abs()));
    assert!(off <= tolerance * largest, "{what}: off by {off} of {largest}");
}

#[test]
fn bundled_models() {
    for (name, cases) in [("tiny", 8), ("draft", 3)] {
        let config = config(&asset(name));
        let weights = Checkpoint::open(&asset(name), &config).unwrap();
        assert!(weights.tied() && weights.notes().is_empty());
        let all = json(&golden(name).join("cases.json"));
        assert_eq!(all.as_array().unwrap().len(), cases);
        for case in all.as_array().unwrap() {
            let (name_of_case, tokens) = (case["name"].as_str().unwrap(), ids(&case["input_ids"]));
            if tokens.len() > 300 {
                continue;
            }
            let (_, theirs) = tensor(&golden(name).join("last_logits.safetensors"), name_of_case);
            assert_logits(name_of_case, &last_logits(&config, &weights, &tokens), &theirs, 1e-4);
        }
    }
}

/// Odd sizes, an untied head, groups of 7, shards, f16, f32, YaRN.
#[test]
fn variants() {
    for name in ["f32", "heads7", "odd48", "sharded_f16", "untied", "yarn"] {
        let dir = golden("variants").join(name);
        let config = config(&dir);
        let weights = Checkpoint::open(&dir, &config).unwrap();
        for case in json(&dir.join("golden.json")).as_array().unwrap() {
            let case_name = case["name"].as_str().unwrap();
            let ours = last_logits(&config, &weights, &ids(&case["input_ids"]));
            let (_, theirs) = tensor(&dir.join("golden_last_logits.safetensors"), case_name);
            assert_logits(&format!("{name} {case_name}"), &ours, &theirs, 1e-4);
        }
    }
}

#[test]
fn by_formula() {
    for (name, longest) in [("qwen14x64_2layers", 131), ("qwen2.5-0.5b", 5)] {
        let dir = golden("shapes").join(name);
        let config = config(&dir);
        let synth = Synth::new(config.clone(), 0);
        let file = dir.join("golden_last_logits.safetensors");
        let mut compared = 0;
        for case in json(&dir.join("golden.json"))["cases"].as_array().unwrap() {
            let (case_name, tokens) = (case["name"].as_str().unwrap(), ids(&case["input_ids"]));
            let stored = name != "qwen2.5-0.5b" || case_name == "n5";
            if tokens.len() <= longest && stored {
                let (_, theirs) = tensor(&file, case_name);
                assert_logits(&format!("{name} {case_name}"), &last_logits(&config, &synth, &tokens), &theirs, 1e-3);
                compared += 1;
            }
        }
        assert!(compared >= 1);
    }
}
