//! Weights by formula against the numbers of the reference script.

use std::ops::ControlFlow;
use std::path::Path;

use tilewright_models::checkpoint::{Checkpoint, Dtype, WeightSource, expected_tensors};
use tilewright_models::config::Config;
use tilewright_models::synth::{PRESETS, SHARD_BYTES, Synth, preset, write};

use crate::goldens::{assert_says, config, golden, json};

/// Values that `assets/scripts/synth.py` makes: tensor, first row, row length, seed, six values from there.
const SPOTS: [(&str, &str, usize, u64, [f32; 6]); 6] = [
    (
        "qwen2.5-0.5b",
        "model.embed_tokens.weight",
        151_935,
        0,
        [-0.094_726_56, 0.071_289_06, 0.067_382_81, 0.107421875, -0.028_320_313, -0.087890625],
    ),
    (
        "qwen2.5-0.5b",
        "model.layers.23.mlp.down_proj.weight",
        895,
        7,
        [-0.060546875, -0.047_851_563, 0.0126953125, 0.039_550_78, 0.050_292_97, 0.037109375],
    ),
    (
        "qwen2.5-0.5b",
        "model.layers.5.input_layernorm.weight",
        890,
        12_345_678_901_234_567_890,
        [0.984375, 0.984375, 1.0546875, 1.03125, 1.0078125, 0.9453125],
    ),
    (
        "qwen2.5-7b",
        "lm_head.weight",
        152_063,
        1,
        [0.060_058_594, -0.010_253_906, 0.030_761_719, -0.038_085_938, -0.035_644_53, -0.037109375],
    ),
    ("qwen2.5-0.5b", "model.norm.weight", 0, 3, [1.78125, -0.59375, 1.9375, 0.53125, 1.25, 0.734375]),
    ("qwen2.5-0.5b", "model.layers.11.self_attn.k_proj.bias", 120, 0, [-2.09375, -0.25, -1.84375, -1.125, 0.25, 2.75]),
];

#[test]
fn numbers_are_those_of_the_script() {
    for (shape, name, row, seed, expected) in SPOTS {
        let synth = Synth::new(preset(shape).unwrap(), seed);
        let columns: usize = synth.shape(name).unwrap()[1..].iter().product();
        let rows = 6usize.div_ceil(columns);
        let mut out = vec![0.0; rows * columns];
        synth.rows_f32(name, row..row + rows, &mut out).unwrap();
        assert_eq!(out[..6], expected, "{name}");
    }
}

/// The golden's first four values of every kind of tensor, and sums over whole tensors, which are exact in f64.
#[test]
fn whole_tensors_are_those_of_the_script() {
    let dir = golden("shapes/qwen14x64_2layers");
    let synth = Synth::new(config(&dir), 0);
    let firsts = json(&dir.join("golden.json"));
    let firsts = firsts["checksums"].as_object().unwrap();
    assert!(firsts.len() >= 14);
    for (name, values) in firsts {
        let ours = synth.tensor_f32(name).unwrap();
        for (our, their) in ours.iter().zip(values.as_array().unwrap()) {
            assert_eq!(f64::from(*our), their.as_f64().unwrap(), "{name}");
        }
    }
    let sums = [
        ("model.embed_tokens.weight", -231.9970703125),
        ("model.layers.0.post_attention_layernorm.weight", 893.765625),
        ("model.layers.0.self_attn.o_proj.weight", -160.6171875),
        ("model.layers.1.self_attn.v_proj.bias", -1.650390625),
        ("model.layers.1.mlp.down_proj.weight", -136.7470703125),
        ("model.norm.weight", -17.34375),
    ];
    for (name, expected) in sums {
        let sum: f64 = synth.tensor_f32(name).unwrap().iter().map(|&x| f64::from(x)).sum();
        assert_eq!(sum, expected, "{name}");
    }
}

/// Written in each type, in one file and in shards, then read back: the same numbers.
#[test]
fn what_is_written_is_what_is_read() {
    let mut untied = preset("tiny-test").unwrap();
    untied.tie_word_embeddings = false;
    for (shape, dtype, shard_bytes, files) in [
        (preset("tiny-test").unwrap(), Dtype::Bf16, SHARD_BYTES, 1),
        (untied.clone(), Dtype::F16, 60_000, 4),
        (untied, Dtype::F32, SHARD_BYTES, 1),
    ] {
        let synth = Synth::new(shape.clone(), 99);
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("new/model");
        let mut steps = Vec::new();
        let mut progress = |done, total| {
            steps.push((done, total));
            ControlFlow::Continue(())
        };
        write(&synth, dtype, &out, shard_bytes, &mut progress).unwrap();

        let read = Config::open(&out).unwrap();
        assert_eq!(read, shape);
        let stored = Checkpoint::open(&out, &read).unwrap();
        let weights = std::fs::read_dir(&out)
            .unwrap()
            .filter(|e| e.as_ref().unwrap().path().extension().unwrap() == "safetensors");
        assert_eq!(weights.count(), files);
        assert_eq!(stored.tied(), shape.tie_word_embeddings);
        for tensor in expected_tensors(&shape) {
            assert_eq!(stored.tensor(&tensor.name).unwrap().dtype, dtype);
            assert_eq!(stored.tensor_f32(&tensor.name).unwrap(), synth.tensor_f32(&tensor.name).unwrap());
        }
        assert!(steps.is_sorted() && steps.last() == Some(&(stored.stored_bytes(), stored.stored_bytes())));
    }
}

/// The published sizes of the family, in millions of parameters.
#[test]
fn presets_have_the_published_sizes() {
    let published = [0.0935, 494.0, 1543.7, 3085.9, 7615.6, 14_770.0, 32_763.9, 72_706.2];
    for (name, millions) in PRESETS.iter().zip(published) {
        let config = preset(name).unwrap();
        let count: u64 = expected_tensors(&config).iter().map(|t| t.elements()).sum();
        let off = (count as f64 / 1e6 / millions - 1.0).abs();
        assert!(off < 0.001, "{name}: {count}");
    }
    let message = preset("qwen3").unwrap_err().to_string();
    assert_says(&message, &["`qwen3`", "qwen2.5-0.5b", "qwen2.5-72b"]);
}

/// A progress that lets the writing go on.
fn on(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// What is unfinished has another name, and goes when the writing ends early; so do the folders that were made for it.
#[test]
fn a_writing_that_ends_early_leaves_nothing() {
    let synth = Synth::new(preset("tiny-test").unwrap(), 0);
    let dir = tempfile::tempdir().unwrap();
    let names = |path: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(path).unwrap().flatten();
        entries.map(|e| e.file_name().into_string().unwrap()).collect()
    };
    let stop = |out: &Path| {
        let mut seen = Vec::new();
        let mut progress = |done, _| {
            seen = names(out);
            if done > 100_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let message = write(&synth, Dtype::F32, out, 60_000, &mut progress).unwrap_err().to_string();
        assert_says(&message, &[&out.display().to_string(), "removed"]);
        assert!(seen.len() >= 2 && seen.iter().all(|n| n.ends_with(".safetensors.unfinished")), "{seen:?}");
    };
    stop(&dir.path().join("new/model"));
    assert_eq!(names(dir.path()), [""; 0]);
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    stop(&dir.path().join("empty"));
    assert_eq!((names(dir.path()), names(&dir.path().join("empty"))), (vec!["empty".into()], Vec::new()));
}

#[test]
fn a_disk_that_is_too_small_is_seen_before_anything_is_written() {
    // Petabytes.
    let huge = Config {
        hidden_size: 1 << 20,
        intermediate_size: 1 << 20,
        num_hidden_layers: 1 << 10,
        ..preset("tiny-test").unwrap()
    };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("model");
    let mut progress = |_, _| panic!("something was written");
    let message = write(&Synth::new(huge, 0), Dtype::F32, &out, SHARD_BYTES, &mut progress).unwrap_err().to_string();
    assert_says(&message, &[&out.display().to_string(), "free space", "12583689.2 GiB are needed", "smaller preset"]);
    assert!(!out.exists());
}

#[test]
fn folders_that_hold_something_are_left_alone() {
    let synth = Synth::new(preset("tiny-test").unwrap(), 0);
    let dir = tempfile::tempdir().unwrap();
    let try_at = |path: &Path| write(&synth, Dtype::Bf16, path, SHARD_BYTES, &mut on).unwrap_err().to_string();
    std::fs::write(dir.path().join("thesis.tex"), "mine").unwrap();
    assert_says(&try_at(dir.path()), &["thesis.tex", "choose another", &dir.path().display().to_string()]);
    assert_says(&try_at(&dir.path().join("thesis.tex")), &["it is a file"]);
    assert_eq!(std::fs::read_to_string(dir.path().join("thesis.tex")).unwrap(), "mine");
    assert_says(&try_at(&dir.path().join("thesis.tex/model")), &["cannot write", "thesis.tex/model"]);
}
