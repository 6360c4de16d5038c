//! Weights: what is read, and what is said about files that are not what they should be.

use std::ops::ControlFlow;
use std::path::Path;

use serde_json::json;
use tilewright_models::checkpoint::{Checkpoint, Dtype, EMBEDDING, HEAD, WeightSource};
use tilewright_models::synth::{SHARD_BYTES, Synth, preset, write};

use crate::goldens::{assert_says, config, edit_json, golden, small_model};

/// Opens the folder, which must fail, and checks the message.
#[track_caller]
pub fn refused(dir: &Path, parts: &[&str]) {
    let message = Checkpoint::open(dir, &config(dir)).unwrap_err().to_string();
    assert_says(&message, parts);
}

/// Rewrites the header of a safetensors file as text, leaving the data.
pub fn edit_header(path: &Path, change: impl FnOnce(String) -> String) {
    let bytes = std::fs::read(path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = change(String::from_utf8(bytes[8..8 + length].to_vec()).unwrap());
    let mut out = (header.len() as u64).to_le_bytes().to_vec();
    out.extend(header.bytes());
    out.extend(&bytes[8 + length..]);
    std::fs::write(path, out).unwrap();
}

/// Adds a tensor of zeros at the end of a safetensors file.
fn add_tensor(path: &Path, name: &str, dtype: &str, shape: &[usize], bytes: usize) {
    let length = std::fs::read(path).unwrap();
    let header_length = u64::from_le_bytes(length[..8].try_into().unwrap()) as usize;
    let end = length.len() - 8 - header_length;
    let entry = json!({ "dtype": dtype, "shape": shape, "data_offsets": [end, end + bytes] });
    edit_header(path, |h| h.trim_end().strip_suffix('}').unwrap().to_string() + &format!(",\"{name}\":{entry}}}"));
    let mut all = std::fs::read(path).unwrap();
    all.resize(all.len() + bytes, 0);
    std::fs::write(path, all).unwrap();
}

fn file(dir: &tempfile::TempDir) -> std::path::PathBuf {
    dir.path().join("model.safetensors")
}

#[test]
fn rows_at_any_alignment_and_in_any_pieces() {
    let synth = Synth::new(preset("tiny-test").unwrap(), 0);
    for dtype in [Dtype::Bf16, Dtype::F16, Dtype::F32] {
        let dir = small_model(dtype, SHARD_BYTES);
        // An odd header length puts every element at an odd address.
        edit_header(&file(&dir), |h| h + " ");
        let weights = Checkpoint::open(dir.path(), &config(dir.path())).unwrap();
        for name in [EMBEDDING, "model.layers.1.mlp.down_proj.weight", "model.norm.weight"] {
            let whole = synth.tensor_f32(name).unwrap();
            let shape = weights.shape(name).unwrap();
            let columns: usize = shape[1..].iter().product();
            for step in [1, 7, shape[0]] {
                for start in (0..shape[0]).step_by(step) {
                    let end = shape[0].min(start + step);
                    let mut out = vec![f32::NAN; (end - start) * columns];
                    weights.rows_f32(name, start..end, &mut out).unwrap();
                    assert_eq!(out, whole[start * columns..end * columns]);
                }
            }
        }
    }
}

/// Every bf16 and f16 pattern, infinities and subnormals too, against definitions by powers of two.
#[test]
fn conversions_are_exact() {
    for dtype in [Dtype::Bf16, Dtype::F16] {
        let dir = small_model(dtype, SHARD_BYTES);
        let path = file(&dir);
        let mut bytes = std::fs::read(&path).unwrap();
        let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        // The embedding comes first and has 19,200 elements: four pictures of it hold all 65,536 patterns.
        for quarter in 0..4u32 {
            let patterns: Vec<u16> = (0..16_384).map(|i| (quarter * 16_384 + i) as u16).collect();
            for (i, p) in patterns.iter().enumerate() {
                bytes[start + 2 * i..start + 2 * i + 2].copy_from_slice(&p.to_le_bytes());
            }
            std::fs::write(&path, &bytes).unwrap();
            let weights = Checkpoint::open(dir.path(), &config(dir.path())).unwrap();
            let ours = weights.tensor_f32(EMBEDDING).unwrap();
            for (our, p) in ours.iter().zip(&patterns) {
                let expected = by_definition(dtype, *p);
                assert!(*our == expected || (our.is_nan() && expected.is_nan()), "{p:04x}: {our}, {expected}");
            }
        }
    }
}

/// A 16-bit float from its sign, exponent and fraction.
fn by_definition(dtype: Dtype, pattern: u16) -> f32 {
    let (fraction_bits, bias) = if dtype == Dtype::F16 { (10, 15) } else { (7, 127) };
    let exponent_mask = (1 << (15 - fraction_bits)) - 1;
    let sign = if pattern >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(pattern >> fraction_bits) & exponent_mask;
    let fraction = f64::from(pattern & ((1 << fraction_bits) - 1)) / f64::from(1 << fraction_bits);
    let value = match exponent {
        0 => fraction * 2f64.powi(1 - bias),
        e if e == exponent_mask && fraction == 0.0 => f64::INFINITY,
        e if e == exponent_mask => f64::NAN,
        e => (1.0 + fraction) * 2f64.powi(e - bias),
    };
    (sign * value) as f32
}

#[test]
fn rows_that_are_not_there() {
    let dir = small_model(Dtype::Bf16, SHARD_BYTES);
    let weights = Checkpoint::open(dir.path(), &config(dir.path())).unwrap();
    let synth = Synth::new(preset("tiny-test").unwrap(), 0);
    for source in [&weights as &dyn WeightSource, &synth] {
        let ask = |name, rows, length| source.rows_f32(name, rows, &mut vec![0.0; length]).unwrap_err().to_string();
        assert_says(&ask(EMBEDDING, 299..301, 128), &[EMBEDDING, "300 rows of 64", "299..301", "128 elements"]);
        assert_says(&ask(EMBEDDING, 0..2, 127), &["0..2", "127 elements"]);
        #[expect(clippy::reversed_empty_ranges, reason = "that is the case under test")]
        let reversed = ask(EMBEDDING, 2..1, 0);
        assert_says(&reversed, &["2..1"]);
        assert_says(
            &ask("model.layers.2.mlp.up_proj.weight", 0..1, 64),
            &["model.layers.2.mlp.up_proj.weight", "missing"],
        );
        assert_says(&source.shape("nothing").unwrap_err().to_string(), &["`nothing`"]);
    }
}

#[test]
fn truncated_and_lengthened_files() {
    let dir = small_model(Dtype::Bf16, SHARD_BYTES);
    let whole = std::fs::read(file(&dir)).unwrap();
    let length = whole.len();
    std::fs::write(file(&dir), &whole[..length - 100]).unwrap();
    refused(
        dir.path(),
        &["model.safetensors", &format!("{} bytes", length - 100), &format!("describes {length}"), "download"],
    );
    std::fs::write(file(&dir), [&whole[..], b"xx"].concat()).unwrap();
    refused(
        dir.path(),
        &[&format!("{} bytes", length + 2), &format!("describes {length}"), "last bytes belong to no tensor", "edited"],
    );
    // Cut inside the header, at its length, before it, and to nothing.
    for (cut, says) in
        [(100, "the header claims"), (8, "the header claims"), (7, "shorter than 8 bytes"), (0, "shorter than 8 bytes")]
    {
        std::fs::write(file(&dir), &whole[..cut]).unwrap();
        refused(dir.path(), &["model.safetensors", says, "download"]);
    }
}

#[test]
fn headers_that_are_wrong() {
    let dir = small_model(Dtype::Bf16, SHARD_BYTES);
    let whole = std::fs::read(file(&dir)).unwrap();
    let with_length = |n: u64| [&n.to_le_bytes()[..], &whole[8..]].concat();
    std::fs::write(file(&dir), with_length(u64::MAX)).unwrap();
    refused(dir.path(), &["claims 18446744073709551615 bytes", &format!("the file has {}", whole.len())]);
    std::fs::write(file(&dir), with_length(200)).unwrap();
    refused(dir.path(), &["model.safetensors", "not a sound safetensors file"]);
    std::fs::write(file(&dir), "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 988097824\n").unwrap();
    refused(dir.path(), &["Git LFS pointer", "git lfs pull"]);

    let damaged = |from: &str, to: &str, parts: &[&str]| {
        std::fs::write(file(&dir), &whole).unwrap();
        edit_header(&file(&dir), |h| {
            assert!(h.contains(from), "{from}");
            h.replacen(from, to, 1)
        });
        refused(dir.path(), parts);
    };
    damaged(
        "\"data_offsets\":[0,",
        "\"data_offsets\":[8,",
        &["not a sound", "bytes 0..8", EMBEDDING, "belong to no tensor", "edited"],
    );
    damaged("[300,64]", "[300,65]", &["not a sound", "disagree"]);
    damaged("[300,64]", "[18446744073709551615,64]", &["not a sound", "overflow"]);
    damaged("\"BF16\"", "\"BF17\"", &["not a sound", "BF17"]);
    damaged("{\"__meta", "[\"__meta", &["not a sound"]);
}

/// The tensor at which a fault is noticed is not its cause: the message says which bytes, and whose.
#[test]
fn tensors_that_do_not_follow_one_another() {
    let dir = small_model(Dtype::Bf16, SHARD_BYTES);
    let whole = std::fs::read(file(&dir)).unwrap();
    let change = |change: &dyn Fn(&mut serde_json::Map<String, serde_json::Value>)| {
        std::fs::write(file(&dir), &whole).unwrap();
        edit_header(&file(&dir), |h| {
            let mut header: serde_json::Value = serde_json::from_str(&h).unwrap();
            change(header.as_object_mut().unwrap());
            header.to_string()
        });
    };
    let (first, second) = ("model.layers.0.input_layernorm.weight", "model.layers.0.self_attn.q_proj.weight");
    // The embedding has 300 × 64 elements, the norm after it 64, the projection after that 64 × 64.
    change(&|h| drop(h.remove(first)));
    refused(dir.path(), &["bytes 38400..38528", second, "belong to no tensor", "damaged or was edited"]);
    change(&|h| drop(h.remove(EMBEDDING)));
    refused(dir.path(), &["bytes 0..38400", first, "belong to no tensor"]);
    change(&|h| h[second]["data_offsets"] = json!([38_500, 46_692]));
    refused(dir.path(), &[first, second, "share bytes 38500..38528"]);
    change(&|h| h[first]["data_offsets"] = json!([38_400, 38_300]));
    refused(dir.path(), &[first, "ends before it begins"]);
    change(&|h| drop(h.remove("model.norm.weight")));
    refused(dir.path(), &["last bytes belong to no tensor"]);
}

#[test]
fn layers_beyond_the_configuration_are_refused() {
    let dir = small_model(Dtype::Bf16, SHARD_BYTES);
    edit_json(&dir.path().join("config.json"), |c| c["num_hidden_layers"] = json!(1));
    refused(
        dir.path(),
        &["model.safetensors", "layer 1", "`model.layers.1.", "`num_hidden_layers`: 1 (0 to 0)", "same model"],
    );
}

#[test]
fn tensors_that_do_not_fit_the_configuration() {
    let dir = small_model(Dtype::Bf16, SHARD_BYTES);
    let change = |field: &str, value: usize| {
        edit_json(&dir.path().join("config.json"), |c| c[field] = json!(value));
    };
    change("intermediate_size", 136);
    refused(
        dir.path(),
        &["model.safetensors", "`model.layers.0.mlp.gate_proj.weight`", "[128, 64]", "[136, 64]", "same model"],
    );
    change("intermediate_size", 128);
    change("num_hidden_layers", 3);
    refused(dir.path(), &["`model.layers.2.input_layernorm.weight` is missing", "[64]", "same model"]);
    change("num_hidden_layers", 2);
    assert!(Checkpoint::open(dir.path(), &config(dir.path())).is_ok());

    let dtype = small_model(Dtype::Bf16, SHARD_BYTES);
    edit_header(&file(&dtype), |h| h.replacen("BF16", "I16", 1));
    refused(dtype.path(), &[EMBEDDING, "stored as I16", "BF16, F16 or F32"]);
}

#[test]
fn quantised_tensors_give_themselves_away() {
    let dir = small_model(Dtype::Bf16, SHARD_BYTES);
    add_tensor(&file(&dir), "model.layers.0.mlp.up_proj.qweight", "I32", &[8, 16], 512);
    refused(dir.path(), &["model.safetensors", "quantised", "model.layers.0.mlp.up_proj.qweight", "base model"]);
}

#[test]
fn tensors_that_are_not_weights_are_left_alone() {
    let dir = small_model(Dtype::Bf16, SHARD_BYTES);
    add_tensor(&file(&dir), "model.layers.0.self_attn.rotary_emb.inv_freq", "F32", &[8], 32);
    add_tensor(&file(&dir), "model.layers.7.self_attn.rotary_emb.inv_freq", "F32", &[8], 32);
    let notes = || Checkpoint::open(dir.path(), &config(dir.path())).unwrap().notes().to_vec();
    assert_eq!(notes(), [""; 0]);
    add_tensor(&file(&dir), "model.layers.0.self_attn.o_proj.bias", "F32", &[64], 256);
    add_tensor(&file(&dir), "score.weight", "F32", &[64], 256);
    assert_eq!(notes().len(), 1);
    assert_says(
        &notes()[0],
        &["model.safetensors", "2 of its tensors", "not used", "`model.layers.0.self_attn.o_proj.bias`"],
    );
}

/// The four combinations of the flag and the tensor, and the fifth: a tensor that only repeats the embedding.
#[test]
fn tied_and_untied_heads() {
    let flag = |dir: &Path, tied: bool| {
        edit_json(&dir.join("config.json"), |c| c["tie_word_embeddings"] = json!(tied));
    };
    let open = |dir: &Path| Checkpoint::open(dir, &config(dir)).unwrap();

    let without = small_model(Dtype::Bf16, SHARD_BYTES);
    assert_eq!((open(without.path()).tied(), open(without.path()).head()), (true, EMBEDDING));
    flag(without.path(), false);
    refused(
        without.path(),
        &["`lm_head.weight` is missing", "[300, 64]", "`tie_word_embeddings`: false", "set it to true"],
    );

    let with = tempfile::tempdir().unwrap();
    let mut untied = preset("tiny-test").unwrap();
    untied.tie_word_embeddings = false;
    write(&Synth::new(untied, 0), Dtype::Bf16, with.path(), SHARD_BYTES, &mut |_, _| ControlFlow::Continue(()))
        .unwrap();
    assert_eq!((open(with.path()).tied(), open(with.path()).head()), (false, HEAD));
    assert!(open(with.path()).notes().is_empty());
    flag(with.path(), true);
    let conflict = open(with.path());
    assert_eq!((conflict.tied(), conflict.head()), (false, HEAD));
    assert_says(&conflict.notes()[0], &["`tie_word_embeddings`: true", "lm_head.weight", "using it"]);

    flag(without.path(), true);
    add_tensor(&file(&without), HEAD, "BF16", &[300, 64], 300 * 64 * 2);
    let mut bytes = std::fs::read(file(&without)).unwrap();
    let (start, length) = (8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize, 300 * 64 * 2);
    let end = bytes.len() - length;
    bytes.copy_within(start..start + length, end);
    std::fs::write(file(&without), bytes).unwrap();
    let copy = open(without.path());
    assert!(copy.tied() && copy.notes().is_empty());
}

#[test]
fn shards_that_are_missing_or_mixed_up() {
    let dir = small_model(Dtype::Bf16, 60_000);
    let index = dir.path().join("model.safetensors.index.json");
    let first = dir.path().join("model-00001-of-00004.safetensors");
    let last = dir.path().join("model-00004-of-00004.safetensors");
    assert!(Checkpoint::open(dir.path(), &config(dir.path())).is_ok());

    let whole = std::fs::read(&last).unwrap();
    std::fs::remove_file(&last).unwrap();
    refused(
        dir.path(),
        &["model.safetensors.index.json", "model-00004-of-00004.safetensors", "no such file", "tensors", "download"],
    );
    std::fs::write(&last, &whole[..whole.len() - 2]).unwrap();
    refused(dir.path(), &["model-00004-of-00004.safetensors", "download"]);
    std::fs::copy(&first, &last).unwrap();
    refused(dir.path(), &["index.json", "does not hold", "model-00004-of-00004.safetensors", "different downloads"]);
    std::fs::write(&last, &whole).unwrap();

    edit_json(&index, |i| i["weight_map"][EMBEDDING] = json!("../elsewhere.safetensors"));
    refused(dir.path(), &["index.json", EMBEDDING, "../elsewhere.safetensors", "beside the index"]);
    edit_json(&index, |i| {
        i["weight_map"].as_object_mut().unwrap().remove(EMBEDDING);
    });
    refused(dir.path(), &["index.json", EMBEDDING, "is missing", "[300, 64]"]);
    edit_json(&index, |i| *i = json!({ "weight_map": {} }));
    refused(dir.path(), &["index.json", "`weight_map` is missing or empty"]);
    std::fs::write(&index, "{").unwrap();
    refused(dir.path(), &["index.json", "not valid JSON"]);
}

#[test]
fn folders_without_weights() {
    let dir = small_model(Dtype::Bf16, SHARD_BYTES);
    std::fs::remove_file(file(&dir)).unwrap();
    refused(dir.path(), &["model.safetensors", "download the weights", &dir.path().display().to_string()]);
    std::fs::write(dir.path().join("pytorch_model.bin"), "PK").unwrap();
    refused(dir.path(), &["pytorch_model.bin is not read", "model.safetensors.index.json"]);
}

#[test]
fn the_shards_of_the_golden() {
    let dir = golden("variants/sharded_f16");
    let weights = Checkpoint::open(&dir, &config(&dir)).unwrap();
    assert_eq!((weights.tied(), weights.stored_bytes()), (false, 860_928));
    assert_eq!(weights.tensor(HEAD).unwrap().dtype, Dtype::F16);
}
