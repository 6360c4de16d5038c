//! Text, ids and JSON of `generate`, and the file of `logits`, against goldens of another implementation.

use serde_json::{Value, json};

use crate::run::{Ran, bundled, goldens, interpreted, path, read_json, run, small_model, tensor};

fn case(name: &str) -> Value {
    let cases = read_json(&goldens("tiny/cases.json"));
    cases.as_array().unwrap().iter().find(|c| c["name"] == name).expect("the case is there").clone()
}

fn greedy(rest: &[&str]) -> Ran {
    interpreted("generate", &bundled(), &[&["--temperature", "0"], rest].concat())
}

fn ids(value: &Value) -> String {
    value.as_array().unwrap().iter().map(|id| id.to_string()).collect::<Vec<_>>().join(",")
}

#[test]
fn greedy_text_is_the_goldens() {
    for name in ["ascii_capital", "chinese", "emoji"] {
        let case = case(name);
        let expected = format!("{}\n", case["greedy_text_to_stop"].as_str().unwrap());
        assert_eq!(greedy(&[case["text"].as_str().unwrap()]).ok(), expected);
        assert_eq!(greedy(&["--ids", &ids(&case["input_ids"])]).ok(), expected, "ids of the same prompt");
    }
}

#[test]
fn the_best_adapter_writes_the_same() {
    let case = case("ascii_capital");
    for tier in ["auto", "0"] {
        let text = run(&["generate", "--temperature", "0", "--tier", tier, case["text"].as_str().unwrap()]).ok();
        assert_eq!(text.trim_end(), case["greedy_text_to_stop"].as_str().unwrap(), "tier {tier}");
    }
}

#[test]
fn chat_applies_the_template() {
    let case = case("chat_system");
    let messages = case["messages"].as_array().unwrap();
    let content = |role: &str| messages.iter().find(|m| m["role"] == role).unwrap()["content"].as_str().unwrap();
    let chat = greedy(&["--chat", "--system", content("system"), content("user"), "--json"]).json();
    assert_eq!(chat["prompt_ids"], case["input_ids"]);
    assert_eq!(chat["text"], case["greedy_text_to_stop"]);
}

#[test]
fn json_has_every_field_and_nothing_else() {
    let case = case("ascii_capital");
    let out = greedy(&["--json", case["text"].as_str().unwrap()]).json();
    let fields: Vec<&str> = out.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "adapter",
        "decode_tokens_per_s",
        "dispatches_per_token",
        "finish_reason",
        "first_token_ms",
        "loading_ms",
        "prefill_tokens_per_s",
        "profile",
        "prompt_ids",
        "readback_bytes_per_token",
        "seed",
        "shaders",
        "speculative",
        "submits_per_token",
        "text",
        "tier",
        "token_ids",
        "tuned_kernels",
        "weight_bytes",
    ];
    let mut sorted = fields.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    assert_eq!(fields, sorted_as_documented(), "in the documented order");

    let stop = case["greedy_stop"].as_u64().unwrap() as usize;
    let tokens: Vec<Value> = case["greedy_ids"].as_array().unwrap()[..=stop].to_vec();
    assert_eq!(out["token_ids"], json!(tokens), "up to and with the token that ended it");
    assert_eq!(out["finish_reason"], "eos");
    assert_eq!(out["readback_bytes_per_token"], 4, "the best tier picks the token on the device");
    assert!(out["decode_tokens_per_s"].as_f64().unwrap() > 0.0 && out["prefill_tokens_per_s"].as_f64().unwrap() > 0.0);
}

fn sorted_as_documented() -> [&'static str; 19] {
    [
        "prompt_ids",
        "token_ids",
        "text",
        "finish_reason",
        "seed",
        "tier",
        "tuned_kernels",
        "adapter",
        "shaders",
        "first_token_ms",
        "loading_ms",
        "prefill_tokens_per_s",
        "decode_tokens_per_s",
        "profile",
        "submits_per_token",
        "dispatches_per_token",
        "readback_bytes_per_token",
        "weight_bytes",
        "speculative",
    ]
}

#[test]
fn a_text_ends_for_a_reason() {
    let length = greedy(&["--json", "--max-tokens", "3", "The capital of France is"]).json();
    assert_eq!((length["finish_reason"].as_str(), length["token_ids"].as_array().unwrap().len()), (Some("length"), 3));
    // A context of 7 holds the 5 of the prompt and 2 more; the token after them is known and has no place.
    let context = greedy(&["--json", "--context", "7", "The capital of France is"]).json();
    assert_eq!(
        (context["finish_reason"].as_str(), context["token_ids"].as_array().unwrap().len()),
        (Some("context"), 3)
    );
    assert_eq!(context["token_ids"], length["token_ids"]);
    let full = greedy(&["--json", "--context", "5", "The capital of France is"]).json();
    assert_eq!((full["finish_reason"].as_str(), full["token_ids"].as_array().unwrap().len()), (Some("context"), 1));
    let counted = greedy(&["--json", "--max-tokens", "1", "The capital of France is"]).json();
    assert_eq!(counted["decode_tokens_per_s"], Value::Null, "no token was decoded");
}

#[test]
fn a_seed_repeats_a_text() {
    let text = |seed: &str| {
        let args = [
            "--temperature",
            "1.5",
            "--top-k",
            "0",
            "--top-p",
            "1",
            "--seed",
            seed,
            "--max-tokens",
            "12",
            "--json",
            "Once",
        ];
        let out = interpreted("generate", &bundled(), &args).json();
        assert_eq!(out["seed"].to_string(), seed);
        out["token_ids"].clone()
    };
    assert_eq!(text("5"), text("5"));
    assert_ne!(text("5"), text("6"));
}

#[test]
fn whoever_samples_writes_the_same() {
    let text = |sampler: &str, settings: &[&str]| {
        let flags = ["generate", "--sampler", sampler, "--seed", "3", "--max-tokens", "10", "--json", "Once"];
        let out = run(&[&flags, settings].concat()).json();
        (out["token_ids"].clone(), out["readback_bytes_per_token"].as_u64().unwrap())
    };
    // The bundled model keeps 20 tokens and penalises: 32 pairs and three numbers, or 4,096 logits.
    let (expected, bytes) = text("host", &[]);
    assert_eq!(bytes, 16384);
    assert_eq!(text("device", &[]), (expected.clone(), 4));
    let (tokens, bytes) = text("auto", &[]);
    assert_eq!(tokens, expected);
    assert!([4, 16384].contains(&bytes), "a GPU picks, a processor does not");
    assert_eq!(text("pairs", &[]), (expected, 268));
    let open = ["--top-k", "50", "--top-p", "1", "--repetition-penalty", "1"];
    assert_eq!(text("device", &open).0, text("host", &open).0);
    let verbose = run(&["generate", "--sampler", "pairs", "--verbose", "--max-tokens", "1", "Once"]);
    assert!(verbose.stderr.contains("; the host picks from the best 32\n"), "{}", verbose.stderr);
    assert!(verbose.stderr.contains(" 268 bytes read back"), "{}", verbose.stderr);
}

#[test]
fn a_sampler_that_needs_all_logits_is_refused() {
    let top_k = |n: &str, sampler: &str| run(&["generate", "--sampler", sampler, "--top-k", n, "Once"]);
    top_k("0", "pairs").fails(2, &["--sampler pairs", "top-k of 0", "1 to 128"]);
    top_k("129", "device").fails(2, &["--sampler device", "top-k of 129", "--sampler host"]);
    let dir = bundled().with_file_name("draft");
    let both = run(&["generate", "--sampler", "device", "--draft", path(&dir), "Once"]);
    both.fails(2, &["--sampler device", "--draft", "leave one"]);
}

#[test]
fn a_seed_is_told_where_none_was_given() {
    let verbose = interpreted("generate", &bundled(), &["--verbose", "--max-tokens", "1", "Once"]);
    assert_eq!(verbose.code, Some(0));
    for part in [
        "seed ",
        "temperature 0.7, top-k 20, top-p 0.8",
        "tier: ",
        "memory",
        "4082 <|im_end|>, 4080 <|endoftext|>",
        "dispatches",
    ] {
        assert!(verbose.stderr.contains(part), "no {part:?} in: {}", verbose.stderr);
    }
    let seed = || interpreted("generate", &bundled(), &["--json", "--max-tokens", "1", "Once"]).json()["seed"].clone();
    assert_ne!(seed(), seed(), "two random seeds of 32 bits");
}

#[test]
fn ids_need_no_tokenizer() {
    let model = small_model();
    let ran = interpreted("generate", model.path(), &["--ids", "1,2,3", "--max-tokens", "4"]);
    assert!(ran.stderr.contains("no tokenizer.json"), "{}", ran.stderr);
    let text = ran.ok();
    let printed: Vec<u32> = text.trim_end().split(',').map(|id| id.parse().unwrap()).collect();
    let out = interpreted("generate", model.path(), &["--ids", "1,2,3", "--max-tokens", "4", "--json"]).json();
    assert_eq!(out["token_ids"], json!(printed));
    assert_eq!(out["text"], Value::Null);
}

#[test]
fn schedules_of_a_file_take_the_place_of_the_tiers() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    std::fs::write(&file, "schedule mine for silu {\n    t: grid;\n    i: grid, lanes(32);\n}\n").unwrap();
    let args = ["--schedules", path(&file), "--max-tokens", "8", "--json", "The capital of France is"];
    let out = greedy(&args).json();
    let expected: Vec<Value> = case("ascii_capital")["greedy_ids"].as_array().unwrap()[..8].to_vec();
    assert_eq!(out["token_ids"], json!(expected));
}

#[test]
fn logits_are_the_goldens() {
    let dir = tempfile::tempdir().unwrap();
    let case = case("ascii_capital");
    let ids = ids(&case["input_ids"]);
    let (_, expected) = tensor(&goldens("tiny/last_logits.safetensors"), "ascii_capital");
    let largest = expected.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    let close = |ours: &[f32]| {
        assert_eq!(ours.len(), expected.len());
        let off = ours.iter().zip(&expected).fold(0.0f32, |m, (a, b)| m.max((a - b).abs()));
        assert!(off <= 2e-3 * largest, "off by {off} of {largest}");
    };

    let last = dir.path().join("last.safetensors");
    interpreted("logits", &bundled(), &["--ids", &ids, "--output", path(&last)]).ok();
    let (shape, values) = tensor(&last, "logits");
    assert_eq!(shape, [4096]);
    close(&values);

    let all = dir.path().join("all.safetensors");
    interpreted("logits", &bundled(), &["--ids", &ids, "--all", "--tier", "0", "--output", path(&all)]).ok();
    let (shape, values) = tensor(&all, "logits");
    assert_eq!(shape, [5, 4096]);
    close(&values[4 * 4096..]);
}
