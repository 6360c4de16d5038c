//! Quantised model folders: the words in them, what other readers see, and files that are not what they should be.

use std::ops::ControlFlow;
use std::path::Path;

use safetensors::SafeTensors;
use tempfile::TempDir;
use tilewright_dsl::schedule::Storage;
use tilewright_dsl::storage::encode;
use tilewright_models::checkpoint::{Checkpoint, Dtype, Stacked, WeightSource, expected_tensors};
use tilewright_models::error::ModelError;
use tilewright_models::quantise::{Quantised, quantise};
use tilewright_models::stores::{Stores, StoresError};
use tilewright_models::synth::SHARD_BYTES;

use crate::checkpoint::{edit_header, refused};
use crate::goldens::{asset, config, small_model};

fn quantised(from: &Path, text: &str) -> (TempDir, Result<Quantised, ModelError>) {
    let (out, config) = (tempfile::tempdir().unwrap(), config(from));
    let weights = Checkpoint::open(from, &config).unwrap();
    let stores: Stores = text.parse().unwrap();
    let done = quantise(from, &config, &weights, stores, out.path(), &mut |_, _| ControlFlow::Continue(()));
    (out, done)
}

#[test]
fn files_hold_the_words_that_loading_would_make() {
    for (from, text) in
        [(asset("tiny"), "nf4,embedding=bf16"), (asset("tiny"), "int8"), (asset("tiny"), "f16,head=nf4")]
    {
        let (out, done) = quantised(&from, text);
        let done = done.unwrap();
        let config = config(&from);
        let (before, after) =
            (Checkpoint::open(&from, &config).unwrap(), Checkpoint::open(out.path(), &config).unwrap());
        assert_eq!((before.tied(), after.notes().len()), (after.tied(), 0));
        assert_eq!(after.stored_bytes(), done.bytes);
        let stores = after.stores();
        let mut coded = 0;
        for spec in expected_tensors(&config) {
            let storage = stores.of(&spec.name).filter(|s| s.quantised() && spec.shape.len() == 2);
            let rows = 0..spec.shape[0];
            let values = before.tensor_f32(&spec.name).unwrap();
            let Some(storage) = storage else {
                assert_eq!(after.tensor(&spec.name).unwrap().bytes, before.tensor(&spec.name).unwrap().bytes);
                continue;
            };
            let words = encode(storage, rows.len(), spec.shape[1] as u32, &values).unwrap().words;
            assert_eq!(after.rows_encoded(&spec.name, rows.clone(), storage).unwrap(), Some(words), "{}", spec.name);
            assert_eq!(after.shape(&spec.name).unwrap(), spec.shape);
            assert_eq!(after.rows_encoded(&spec.name, rows, Storage::F16).unwrap(), None);
            coded += 1;
        }
        assert_eq!(coded, done.lost.len());
        assert!(done.lost.iter().all(|l| l.loss.within_bound()));
        for name in ["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"] {
            assert_eq!(std::fs::read(from.join(name)).unwrap(), std::fs::read(out.path().join(name)).unwrap());
        }
    }
}

#[test]
fn stacked_projections_are_rows_of_three_matrices() {
    let (out, _) = quantised(&asset("tiny"), "nf4");
    let weights = Checkpoint::open(out.path(), &config(out.path())).unwrap();
    let stacked = Stacked(&weights);
    let name = |part: &str| format!("model.layers.1.self_attn.{part}.weight");
    let rows = stacked.shape(&name("qkv_proj")).unwrap()[0];
    let all = stacked.rows_encoded(&name("qkv_proj"), 0..rows, Storage::Nf4).unwrap().unwrap();
    let parts = ["q_proj", "k_proj", "v_proj"].map(|part| {
        let rows = weights.shape(&name(part)).unwrap()[0];
        weights.rows_encoded(&name(part), 0..rows, Storage::Nf4).unwrap().unwrap()
    });
    assert_eq!(all, parts.concat());
    let middle = stacked.rows_encoded(&name("qkv_proj"), 1..rows - 1, Storage::Nf4).unwrap().unwrap();
    let row = all.len() / rows;
    assert_eq!(middle, all[row..all.len() - row]);
}

#[test]
fn other_readers_miss_the_matrices() {
    let (out, _) = quantised(&asset("tiny"), "nf4");
    let bytes = std::fs::read(out.path().join("model.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    for spec in expected_tensors(&config(out.path())).iter().filter(|s| s.shape.len() == 2) {
        assert!(file.tensor(&spec.name).is_err() && file.tensor(&format!("{}.nf4", spec.name)).is_ok());
    }
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    let edited = |from: &str, to: &str| {
        let (out, done) = quantised(&asset("tiny"), "int8");
        done.unwrap();
        edit_header(&out.path().join("model.safetensors"), |h| {
            assert!(h.contains(from), "no {from} in the header");
            h.replacen(from, to, 1)
        });
        out
    };
    let version = edited(r#""tilewright.quantised":"1""#, r#""tilewright.quantised":"2""#);
    refused(version.path(), &["model.safetensors", "version `2`", "version 1", "quantise the original files again"]);
    let storage = edited(r#""tilewright.store":"int8""#, r#""tilewright.store":"int7""#);
    refused(storage.path(), &["model.safetensors", "`int7`", "int8 or nf4"]);
    let lacking = edited(r#""tilewright.store":"int8""#, r#""tilewright.other":"int8""#);
    refused(lacking.path(), &["model.safetensors", "`tilewright.store`"]);
    let other = edited(r#""tilewright.store":"int8""#, r#""tilewright.store":"nf4""#);
    refused(other.path(), &[".weight.nf4", "quantise the original files again"]);
    let plain = edited(r#""tilewright.quantised":"1""#, r#""tilewright.elsewhere":"1""#);
    refused(plain.path(), &["model.safetensors", "model.embed_tokens.weight"]);
}

#[test]
fn truncated_scales_are_another_shape() {
    let (out, _) = quantised(&asset("tiny"), "int8");
    let path = out.path().join("model.safetensors");
    // The last 16 bytes of every row of the embedding go, as if nobody had kept its scales.
    let (columns, rows) = (config(out.path()).hidden_size / 4, config(out.path()).vocab_size);
    let (whole, short) = (format!("[{rows},{}]", columns + 4), format!("[{rows},{columns}]"));
    let bytes = std::fs::read(&path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let cut = rows * 16;
    for (name, entry) in header.as_object_mut().unwrap() {
        let Some(offsets) = entry.get_mut("data_offsets").and_then(|o| o.as_array_mut()) else { continue };
        let first = name == "model.embed_tokens.weight.int8";
        for (i, at) in offsets.iter_mut().enumerate().skip(usize::from(first)) {
            *at = (at.as_u64().unwrap() - cut as u64).into();
            assert!(i < 2);
        }
        if first {
            entry["shape"] = serde_json::json!([rows, columns]);
        }
    }
    let header = header.to_string();
    let mut new = (header.len() as u64).to_le_bytes().to_vec();
    new.extend(header.bytes());
    new.extend(&bytes[8 + length + cut..]);
    std::fs::write(&path, new).unwrap();
    let plain = |text: &str| text.replace(',', ", ");
    refused(out.path(), &["model.embed_tokens.weight.int8", &plain(&short), &plain(&whole)]);
}

#[test]
fn nothing_is_left_of_what_failed() {
    let from = small_model(Dtype::F32, SHARD_BYTES);
    let (out, done) = quantised(from.path(), "f16");
    assert!(matches!(done, Err(ModelError::Stores(StoresError::NoCodes { .. }))), "{done:?}");
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
    let path = from.path().join("model.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    bytes[start..start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let (out, done) = quantised(from.path(), "nf4");
    match done {
        Err(ModelError::Stores(StoresError::NoCode { tensor, count: 1, .. })) => {
            assert_eq!(tensor, "model.embed_tokens.weight");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
    // Codes of codes, and a folder that holds something.
    let (eight, _) = quantised(&asset("tiny"), "int8");
    let (_, again) = quantised(eight.path(), "nf4");
    assert!(matches!(again, Err(ModelError::Stores(StoresError::Twice { .. }))), "{again:?}");
    let config = config(eight.path());
    let weights = Checkpoint::open(eight.path(), &config).unwrap();
    let stores = "int8".parse().unwrap();
    let over = quantise(eight.path(), &config, &weights, stores, eight.path(), &mut |_, _| ControlFlow::Continue(()));
    assert!(matches!(over, Err(ModelError::Occupied { .. })), "{over:?}");
}
