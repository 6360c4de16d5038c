//! Model folders that are wrong: one error that names the file, what was found and what was expected; exit code 1.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use crate::run::{Ran, bundled, edit, edit_tensor, goldens, interpreted, path, run, small_model, small_model_as};

/// Copies the files of a folder.
fn copy(from: &Path) -> TempDir {
    let to = tempfile::tempdir().expect("a temporary folder");
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        fs::copy(entry.path(), to.path().join(entry.file_name())).expect("the file can be copied");
    }
    to
}

fn generate(model: &Path) -> Ran {
    interpreted("generate", model, &["--ids", "1,2,3", "--max-tokens", "2"])
}

#[test]
fn no_folder() {
    generate(Path::new("/no/such/model")).fails(1, &["/no/such/model", "nothing is there", "expected a folder"]);
    let file = bundled().join("config.json");
    generate(&file).fails(1, &["config.json", "not a folder", "expected a folder"]);
    let empty = tempfile::tempdir().unwrap();
    generate(empty.path()).fails(1, &[path(empty.path()), "has no config.json", "expected the Hugging Face layout"]);
}

#[test]
fn every_command_refuses_a_missing_folder() {
    for args in [
        &["generate", "--model", "/no/such", "hi"][..],
        &["logits", "--model", "/no/such", "--ids", "1", "--output", "/dev/null"],
        &["bench", "--model", "/no/such"],
    ] {
        run(args).fails(1, &["/no/such", "nothing is there"]);
    }
}

#[test]
fn no_weights() {
    let model = small_model();
    fs::remove_file(model.path().join("model.safetensors")).unwrap();
    generate(model.path()).fails(1, &["has no model.safetensors"]);
}

/// To open a pipe is to wait for a writer, and no model file is one.
#[cfg(unix)]
#[test]
fn only_regular_files_are_opened() {
    for name in
        ["config.json", "model.safetensors", "generation_config.json", "tokenizer.json", "tokenizer_config.json"]
    {
        let model = copy(&bundled());
        let file = model.path().join(name);
        fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        let chat = || interpreted("generate", model.path(), &["--chat", "--max-tokens", "1", "hi"]);
        chat().fails(1, &[name, "it is a pipe or a device", "expected a regular file"]);
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        chat().fails(1, &[name, "it is a folder", "expected a regular file"]);
        fs::remove_dir(&file).unwrap();
        std::os::unix::fs::symlink(bundled().join(name), &file).unwrap();
        chat().ok();
    }
}

/// Tier 0 stores weights in f32 already, so that it is no advice.
#[test]
fn damaged_weights_are_told_without_a_text() {
    let model = small_model();
    edit_tensor(&model.path().join("model.safetensors"), "model.norm.weight", |_| f32::NAN);
    for (tier, says) in
        [("0", "the weights are damaged: download"), ("2", "store them in f32, as the schedules of tiers 0")]
    {
        let ran = interpreted("generate", model.path(), &["--ids", "1,2,3", "--tier", tier]);
        assert_eq!(ran.stderr.contains("tiers 0"), tier == "2", "{}", ran.stderr);
        ran.fails(1, &["position 2", says]);
    }
}

#[test]
fn truncated_weights() {
    let model = small_model();
    let file = model.path().join("model.safetensors");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 10]).unwrap();
    let (found, expected) = ((bytes.len() - 10).to_string(), bytes.len().to_string());
    generate(model.path()).fails(1, &["model.safetensors", &found, &expected, "download"]);
    fs::write(&file, b"").unwrap();
    generate(model.path()).fails(1, &["model.safetensors"]);
}

#[test]
fn a_header_longer_than_the_file() {
    let model = small_model();
    let file = model.path().join("model.safetensors");
    let mut bytes = fs::read(&file).unwrap();
    bytes[..8].copy_from_slice(&(1u64 << 40).to_le_bytes());
    fs::write(&file, &bytes).unwrap();
    let expected = (1u64 << 40).to_string();
    generate(model.path())
        .fails(1, &["model.safetensors", &expected, &bytes.len().to_string(), "expected a safetensors file"]);
}

#[test]
fn another_type_or_shape() {
    let model = small_model_as("f16");
    let file = model.path().join("model.safetensors");
    let bytes = fs::read(&file).unwrap();
    // A type of the same width, so that nothing else is wrong.
    let text = replace_all(&bytes, b"\"F16\"", b"\"I16\"");
    fs::write(&file, text).unwrap();
    generate(model.path()).fails(1, &["model.safetensors", "I16", "expected BF16, F16 or F32"]);

    fs::write(&file, &bytes).unwrap();
    edit(&model.path().join("config.json"), |c| c["intermediate_size"] = json!(64));
    generate(model.path()).fails(1, &["model.safetensors", "[128, 64]", "expected [64, 64]", "config.json"]);
}

fn replace_all(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut found = 0;
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert!(found > 0, "nothing to replace");
    bytes
}

#[test]
fn shards() {
    let sharded = goldens("variants/sharded_f16");
    let index = "model.safetensors.index.json";
    let shard = fs::read_dir(&sharded)
        .unwrap()
        .flatten()
        .map(|e| e.file_name().into_string().unwrap())
        .find(|n| n.starts_with("model-") && n.ends_with(".safetensors"))
        .expect("a shard");

    let missing = copy(&sharded);
    fs::remove_file(missing.path().join(&shard)).unwrap();
    generate(missing.path()).fails(1, &[index, &shard, "expected every shard"]);

    let truncated = copy(&sharded);
    let bytes = fs::read(sharded.join(&shard)).unwrap();
    fs::write(truncated.path().join(&shard), &bytes[..bytes.len() / 2]).unwrap();
    generate(truncated.path()).fails(1, &[&shard, &(bytes.len() / 2).to_string(), &bytes.len().to_string()]);

    let renamed = copy(&sharded);
    edit(&renamed.path().join(index), |i| {
        i["weight_map"]["model.norm.weight"] = json!("model-99999-of-99999.safetensors");
    });
    generate(renamed.path()).fails(1, &[index, "model-99999-of-99999.safetensors"]);
}

#[test]
fn no_tokenizer() {
    let model = small_model();
    interpreted("generate", model.path(), &["hello"]).fails(1, &[path(model.path()), "has no tokenizer.json", "--ids"]);
    let broken = copy(&bundled());
    fs::write(broken.path().join("tokenizer.json"), "{}").unwrap();
    interpreted("generate", broken.path(), &["hello"]).fails(1, &["tokenizer.json", "not a tokenizer"]);
}

#[test]
fn layers_that_the_configuration_leaves_out() {
    let model = small_model();
    edit(&model.path().join("config.json"), |c| c["num_hidden_layers"] = json!(1));
    generate(model.path())
        .fails(1, &["model.safetensors", "tensors of layer 1", "`num_hidden_layers`: 1", "same model"]);
}

#[test]
fn a_tensor_that_the_header_leaves_out() {
    let model = small_model();
    let file = model.path().join("model.safetensors");
    let bytes = fs::read(&file).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    header.as_object_mut().unwrap().remove("model.layers.1.mlp.up_proj.weight").unwrap();
    let header = header.to_string();
    let parts = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[8 + length..]];
    fs::write(&file, parts.concat()).unwrap();
    // Nothing is said before it about the tokenizer, which is not there either.
    let ran = generate(model.path());
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    ran.fails(1, &["model.safetensors", "belong to no tensor", "damaged or was edited"]);
}

#[test]
fn a_configuration_that_no_weights_can_fit() {
    for (field, value, expected) in
        [("eos_token_id", json!(300), "`vocab_size`, which is 300"), ("torch_dtype", json!("int8"), "bfloat16")]
    {
        let model = small_model();
        edit(&model.path().join("config.json"), |c| c[field] = value.clone());
        generate(model.path()).fails(1, &["config.json", field, &value.to_string(), expected]);
    }
}

#[test]
fn a_chat_template_that_does_not_render() {
    let model = copy(&bundled());
    edit(&model.path().join("tokenizer_config.json"), |c| c["chat_template"] = json!("{% if %}"));
    interpreted("generate", model.path(), &["--chat", "hello"])
        .fails(1, &["tokenizer_config.json", "does not render", "without --chat"]);
    interpreted("generate", model.path(), &["--max-tokens", "1", "hello"]).ok();
}

#[test]
fn assets_that_are_not_where_the_environment_says() {
    let mut command = crate::run::program(&["generate", "hi"]);
    command.env("TILEWRIGHT_ASSETS", "/no/such/assets");
    crate::run::ran(command.output().unwrap()).fails(1, &["TILEWRIGHT_ASSETS", "/no/such/assets", "unset it"]);
}

#[test]
fn another_architecture() {
    let model = small_model();
    edit(&model.path().join("config.json"), |c| {
        c["architectures"] = json!(["LlamaForCausalLM"]);
        c["model_type"] = json!("llama");
    });
    generate(model.path()).fails(1, &["config.json", "LlamaForCausalLM", "expected `Qwen2ForCausalLM`"]);
}

#[test]
fn impossible_numbers() {
    for (field, value) in [
        ("num_key_value_heads", json!(3)),
        ("hidden_size", json!(0)),
        ("num_hidden_layers", json!(-1)),
        ("vocab_size", json!("many")),
        ("hidden_size", json!(1u64 << 40)),
    ] {
        let model = small_model();
        edit(&model.path().join("config.json"), |c| c[field] = value.clone());
        generate(model.path()).fails(1, &["config.json", field, "expected"]);
    }
    let model = small_model();
    fs::write(model.path().join("config.json"), "{ \"hidden_size\": ").unwrap();
    generate(model.path()).fails(1, &["config.json", "not valid JSON"]);
}

#[test]
fn quantised_checkpoints() {
    for method in ["awq", "gptq"] {
        let model = small_model();
        edit(&model.path().join("config.json"), |c| {
            c["quantization_config"] = json!({ "quant_method": method, "bits": 4 });
        });
        generate(model.path())
            .fails(1, &["config.json", &method.to_uppercase(), "expected bf16, f16 or f32", "base model"]);
    }
    let model = small_model();
    let file = model.path().join("model.safetensors");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, replace_all(&bytes, b".q_proj.weight", b".q_proj.qweigh")).unwrap();
    let text = generate(model.path());
    text.fails(1, &["model.safetensors", "q_proj.weight", "expected"]);
}

#[test]
fn places_that_cannot_be_written() {
    let model = small_model();
    interpreted("logits", model.path(), &["--ids", "1", "--output", "/no/such/folder/x.safetensors"])
        .fails(1, &["cannot write /no/such/folder/x.safetensors", "because"]);
    interpreted("logits", model.path(), &["--ids", "1", "--output", path(model.path())])
        .fails(1, &["cannot write", "it is a folder"]);
    run(&["synth", "--preset", "tiny-test", path(model.path())]).fails(1, &[path(model.path()), "not an empty folder"]);
}

#[test]
fn a_file_that_is_there_is_overwritten_only_by_force() {
    let model = small_model();
    let file = model.path().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    let args = ["--ids", "1", "--output", path(&file)];
    interpreted("logits", model.path(), &args).fails(1, &["--output", "notes.txt", "the file exists", "--force"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    interpreted("logits", model.path(), &[&args[..], &["--force"]].concat()).ok();
    assert_eq!(crate::run::tensor(&file, "logits").0, [300]);
}

#[test]
fn schedule_files() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    let generate = || run(&["generate", "--backend", "interp", "--tier", "6", "--schedules", path(&file), "hi"]);
    generate().fails(1, &["--schedules", "mine.txt", "cannot be read"]);
    fs::write(&file, "schedule mine for linear {\n    r grid;\n}\n").unwrap();
    generate().fails(1, &["mine.txt:2:5", "expected", "found"]);
    fs::write(&file, "schedule mine for lienar {\n    r: grid;\n}\n").unwrap();
    generate().fails(1, &["lienar", "mine"]);
    fs::write(&file, "schedule mine for linear {\n    q: grid;\n}\n").unwrap();
    generate().fails(1, &["no axis `q`", "mine", "linear"]);
}
