//! Configurations: what is read, and what is refused by name.

use serde_json::{Value, json};
use tilewright_models::config::{Config, GenerationDefaults, RopeScaling};
use tilewright_models::error::ModelError;
use tilewright_models::synth::{PRESETS, preset};

use crate::goldens::{assert_says, asset, golden};

fn base() -> Value {
    json!({
        "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_act": "silu",
        "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 300, "max_position_embeddings": 512, "rms_norm_eps": 1e-6,
        "rope_theta": 1e6, "tie_word_embeddings": true, "eos_token_id": 1
    })
}

fn parse(value: &Value) -> Result<Config, ModelError> {
    Config::from_json(value, "dir/config.json".as_ref())
}

/// The base with some fields replaced.
fn with(changes: Value) -> Value {
    let mut value = base();
    value.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    value
}

#[track_caller]
fn refused(changes: Value, parts: &[&str]) {
    let message = parse(&with(changes)).unwrap_err().to_string();
    assert_says(&message, &["dir/config.json"]);
    assert_says(&message, parts);
}

#[test]
fn the_bundled_model() {
    let c = Config::open(&asset("tiny")).unwrap();
    assert_eq!((c.vocab_size, c.hidden_size, c.intermediate_size, c.num_hidden_layers), (4096, 256, 640, 6));
    assert_eq!((c.num_attention_heads, c.num_key_value_heads, c.head_dim), (8, 2, 32));
    assert_eq!((c.rms_norm_eps, c.rope.theta, c.context()), (1e-6, 1e6, 2048));
    assert_eq!((c.q_width(), c.kv_width(), c.group()), (256, 64, 4));
    assert_eq!((c.tie_word_embeddings, c.rope.scaling), (true, RopeScaling::None));
    // config.json has 4082 alone; generation_config.json adds 4080.
    assert_eq!(c.eos_token_ids, [4082, 4080]);
    let expected =
        GenerationDefaults { do_sample: true, temperature: 0.7, top_k: 20, top_p: 0.8, repetition_penalty: 1.05 };
    assert_eq!(c.generation, expected);
}

#[test]
fn both_spellings_of_yarn() {
    let yarn = Config::open(&golden("variants/yarn")).unwrap();
    assert_eq!(yarn.context(), 256);
    let RopeScaling::Yarn { factor, original_context, attention_factor, .. } = yarn.rope.scaling else {
        panic!("{:?}", yarn.rope);
    };
    assert_eq!((factor, original_context), (4.0, 64));
    // 0.1 ln 4 + 1
    assert!((attention_factor - 1.138_629_436_111_989).abs() < 1e-15);

    let mut new = base();
    new.as_object_mut().unwrap().remove("rope_theta");
    new["rope_parameters"] = json!({
        "rope_type": "yarn", "rope_theta": 1e5, "factor": 4.0, "original_max_position_embeddings": 256,
        "beta_fast": 16, "beta_slow": 2, "mscale": 2.0, "mscale_all_dim": 1.0, "truncate": false
    });
    let new = parse(&new).unwrap();
    assert_eq!((new.rope.theta, new.context()), (1e5, 1024));
    let expected = RopeScaling::Yarn {
        factor: 4.0,
        original_context: 256,
        beta_fast: 16.0,
        beta_slow: 2.0,
        // (0.2 ln 4 + 1) / (0.1 ln 4 + 1)
        attention_factor: (0.2 * 4f64.ln() + 1.0) / (0.1 * 4f64.ln() + 1.0),
        truncate: false,
    };
    assert_eq!(new.rope.scaling, expected);

    let given = with(json!({ "rope_scaling": { "type": "yarn", "factor": 2, "attention_factor": 1.5 } }));
    let given = parse(&given).unwrap();
    assert!(matches!(given.rope.scaling, RopeScaling::Yarn { attention_factor: 1.5, original_context: 512, .. }));
}

#[test]
fn absent_and_null_fields_have_transformers_defaults() {
    let mut value = with(json!({ "rope_scaling": null, "head_dim": null, "eos_token_id": [7, 9] }));
    for field in ["num_key_value_heads", "rms_norm_eps", "rope_theta", "tie_word_embeddings"] {
        value.as_object_mut().unwrap().remove(field);
    }
    let c = parse(&value).unwrap();
    assert_eq!((c.num_key_value_heads, c.head_dim, c.rope.theta), (4, 16, 1e4));
    assert_eq!((c.tie_word_embeddings, c.eos_token_ids), (false, vec![7, 9]));
    assert_eq!(parse(&with(json!({ "head_dim": 32 }))).unwrap().q_width(), 128);
}

#[test]
fn what_it_writes_it_reads() {
    for name in PRESETS {
        let config = preset(name).unwrap();
        assert_eq!(parse(&config.to_json("bfloat16")).unwrap(), config);
    }
    let yarn = Config::open(&golden("variants/yarn")).unwrap();
    assert_eq!(parse(&yarn.to_json("bfloat16")).unwrap(), yarn);
}

#[test]
fn other_architectures_are_refused_by_name() {
    let model =
        |architecture: &str, model_type: &str| json!({ "architectures": [architecture], "model_type": model_type });
    refused(model("LlamaForCausalLM", "llama"), &["`LlamaForCausalLM`", "Qwen2ForCausalLM", "Qwen2.5-0.5B"]);
    refused(model("Qwen3ForCausalLM", "qwen3"), &["`Qwen3ForCausalLM`"]);
    refused(model("Qwen2ForSequenceClassification", "qwen2"), &["`Qwen2ForSequenceClassification`"]);
    refused(json!({ "architectures": null, "model_type": "qwen2_moe" }), &["`qwen2_moe`"]);
    refused(json!({ "architectures": null, "model_type": null }), &["`model_type` is missing", "qwen2"]);
    assert!(parse(&with(json!({ "architectures": null }))).is_ok());
}

#[test]
fn quantised_checkpoints_are_refused_by_name() {
    for (method, name) in [("awq", "AWQ"), ("gptq", "GPTQ"), ("fp8", "FP8")] {
        let quantised = json!({ "quantization_config": { "quant_method": method, "bits": 4 } });
        refused(quantised, &[name, "quantised", "base model"]);
    }
}

#[test]
fn impossible_numbers_are_refused() {
    refused(json!({ "hidden_size": 0 }), &["`hidden_size` is 0", "from 1 to"]);
    refused(json!({ "hidden_size": -64 }), &["`hidden_size` is -64"]);
    refused(json!({ "hidden_size": 66 }), &["`hidden_size` is 66", "multiple of num_attention_heads, which is 4"]);
    refused(json!({ "hidden_size": 60 }), &["`hidden_size` is 60", "even", "15"]);
    refused(json!({ "head_dim": 17 }), &["`head_dim` is 17", "even"]);
    refused(json!({ "num_key_value_heads": 3 }), &["`num_key_value_heads` is 3", "divisor", "4"]);
    refused(json!({ "num_key_value_heads": 0 }), &["`num_key_value_heads` is 0"]);
    refused(
        json!({ "num_hidden_layers": 18_446_744_073_709_551_615_u64 }),
        &["`num_hidden_layers` is 18446744073709551615", "1024"],
    );
    refused(json!({ "vocab_size": 1e30 }), &["`vocab_size` is 1e+30", "16777216"]);
    refused(json!({ "vocab_size": "300" }), &["`vocab_size` is \"300\"", "whole number"]);
    refused(json!({ "vocab_size": null }), &["`vocab_size` is missing"]);
    refused(json!({ "intermediate_size": 1.5 }), &["`intermediate_size` is 1.5"]);
    refused(
        json!({ "num_attention_heads": 1_048_576, "num_key_value_heads": 1, "head_dim": 128 }),
        &["`num_attention_heads`", "8192"],
    );
    refused(json!({ "rms_norm_eps": 0 }), &["`rms_norm_eps` is 0", "over 0"]);
    refused(json!({ "rope_theta": -1.0 }), &["`rope_theta` is -1.0"]);
    refused(json!({ "eos_token_id": "</s>" }), &["`eos_token_id` is \"</s>\"", "token id"]);
    refused(json!({ "eos_token_id": [-1] }), &["`eos_token_id` is [-1]"]);
    refused(json!({ "eos_token_id": [1, 300] }), &["`eos_token_id` is [1,300]", "under `vocab_size`, which is 300"]);
    for field in ["torch_dtype", "dtype"] {
        refused(json!({ field: "int8" }), &[&format!("`{field}` is \"int8\""), "bfloat16", "float16", "float32"]);
        for fine in [json!("bfloat16"), json!("torch.float32"), json!("auto"), json!(null)] {
            assert!(parse(&with(json!({ field: fine }))).is_ok(), "{fine}");
        }
    }
    refused(json!({ "hidden_act": "gelu" }), &["`hidden_act` is \"gelu\"", "silu"]);
    refused(json!({ "tie_word_embeddings": 1 }), &["`tie_word_embeddings` is 1", "true or false"]);
}

#[test]
fn rope_scalings_that_are_not_there_are_refused() {
    let scaling = |s: Value| json!({ "rope_scaling": s });
    refused(
        scaling(json!({ "rope_type": "dynamic", "factor": 2.0 })),
        &["`rope_scaling.rope_type` is \"dynamic\"", "yarn"],
    );
    refused(scaling(json!({ "type": "llama3", "factor": 8.0 })), &["`rope_scaling.type` is \"llama3\""]);
    refused(scaling(json!({ "type": "yarn", "factor": 0.5 })), &["`rope_scaling.factor` is 0.5", "from 1"]);
    refused(scaling(json!({ "type": "yarn", "factor": 1e12 })), &["`rope_scaling.factor`", "at most"]);
    refused(scaling(json!({ "type": "linear" })), &["`rope_scaling.factor` is missing"]);
    refused(scaling(json!("yarn")), &["`rope_scaling` is \"yarn\"", "an object"]);
    let reversed = json!({ "type": "yarn", "factor": 4, "beta_fast": 1, "beta_slow": 32 });
    refused(scaling(reversed), &["`rope_scaling.beta_fast` is 1", "32"]);
}

#[test]
fn a_sliding_window_is_refused_where_it_has_an_effect() {
    let window = |layers: u64, window: u64| json!({ "use_sliding_window": true, "max_window_layers": layers, "sliding_window": window });
    refused(window(1, 128), &["`use_sliding_window` is true", "128", "512"]);
    assert!(parse(&with(window(2, 128))).is_ok(), "no layer uses it");
    assert!(parse(&with(window(1, 512))).is_ok(), "it is as long as the context");
    let named = json!({
        "use_sliding_window": true, "sliding_window": 128,
        "layer_types": ["full_attention", "sliding_attention"]
    });
    refused(named, &["`use_sliding_window`"]);
}

#[test]
fn folders_and_files_that_are_not_there() {
    let message = Config::open("/nowhere/model".as_ref()).unwrap_err().to_string();
    assert_says(&message, &["/nowhere/model", "nothing is there", "check the path"]);

    let dir = tempfile::tempdir().unwrap();
    let message = || Config::open(dir.path()).unwrap_err().to_string();
    assert_says(&message(), &["config.json", "Hugging Face layout", &dir.path().display().to_string()]);
    std::fs::write(dir.path().join("model-q4.gguf"), "GGUF").unwrap();
    assert_says(&message(), &["model-q4.gguf", "not supported"]);

    std::fs::write(dir.path().join("config.json"), "{\"hidden_size\": 64,").unwrap();
    assert_says(&message(), &["config.json", "not valid JSON", "line 1"]);
    std::fs::write(dir.path().join("config.json"), b"{\"a\": \"\xff\"}").unwrap();
    assert_says(&message(), &["config.json", "not UTF-8", "byte 7"]);
    std::fs::write(dir.path().join("config.json"), "[]").unwrap();
    assert_says(&message(), &["config.json", "[]", "not an object"]);

    std::fs::write(dir.path().join("config.json"), base().to_string()).unwrap();
    std::fs::write(dir.path().join("generation_config.json"), r#"{"top_p": 1.5}"#).unwrap();
    assert_says(&message(), &["generation_config.json", "`top_p` is 1.5", "0 to 1"]);
    std::fs::write(dir.path().join("generation_config.json"), r#"{"eos_token_id": 300}"#).unwrap();
    assert_says(&message(), &["generation_config.json", "`eos_token_id` is 300", "under `vocab_size`, which is 300"]);
    let file = dir.path().join("config.json");
    let message = Config::open(&file).unwrap_err().to_string();
    assert_says(&message, &["config.json", "not a folder"]);
}
