//! Token ids and streamed text against the reference tokenizer.

use serde_json::json;
use tilewright_models::tokenizer::{SpecialTokens, Tokenizer};

use crate::goldens::{assert_says, asset, config, edit_json, golden, ids, json};

fn tiny() -> Tokenizer {
    Tokenizer::open(&asset("tiny"), &config(&asset("tiny"))).unwrap()
}

/// The bundled model's tokenizer with `tokenizer.json` changed, and the configuration with it.
fn changed(change: impl FnOnce(&mut serde_json::Value), vocab_size: usize) -> Result<Tokenizer, String> {
    let dir = tempfile::tempdir().unwrap();
    for file in ["tokenizer.json", "tokenizer_config.json"] {
        std::fs::copy(asset("tiny").join(file), dir.path().join(file)).unwrap();
    }
    edit_json(&dir.path().join("tokenizer.json"), change);
    let mut config = config(&asset("tiny"));
    config.vocab_size = vocab_size;
    Tokenizer::open(dir.path(), &config).map_err(|e| e.to_string())
}

#[test]
fn texts_and_ids_are_those_of_transformers() {
    // The same tokenizer, once with merges written as "a b" and once as ["a", "b"].
    let pairs = Tokenizer::open(&golden("tokenizer_pairs"), &config(&asset("tiny"))).unwrap();
    let cases = json(&golden("tokenizer_tiny.json"));
    assert_eq!(cases.as_array().unwrap().len(), 44);
    for tokenizer in [tiny(), pairs] {
        for case in cases.as_array().unwrap() {
            let (text, expected) = (case["text"].as_str().unwrap(), ids(&case["ids"]));
            assert_eq!(tokenizer.encode(text).unwrap(), expected, "{text:?}");
            assert_eq!(tokenizer.decode(&expected, SpecialTokens::Show), case["decoded"].as_str().unwrap());
            assert_eq!(
                tokenizer.decode(&expected, SpecialTokens::Hide),
                case["decoded_skip_special"].as_str().unwrap()
            );
        }
    }
}

/// After each token, what was printed is the decoding so far without an unfinished character at its end.
#[test]
fn streams_never_print_half_a_character() {
    let tokenizer = tiny();
    let (mut unfinished, mut compared) = (0, 0);
    for case in json(&golden("tokenizer_tiny.json")).as_array().unwrap() {
        let mut stream = tokenizer.stream(SpecialTokens::Show);
        let mut printed = String::new();
        // Long texts have no prefixes in the golden.
        let Some(prefixes) = case["prefix_decoded"].as_array() else {
            continue;
        };
        for (id, so_far) in ids(&case["ids"]).into_iter().zip(prefixes) {
            printed.push_str(&stream.push(id));
            let so_far = so_far.as_str().unwrap();
            unfinished += usize::from(so_far != printed);
            compared += 1;
            assert_eq!(so_far.trim_end_matches('\u{fffd}'), printed.trim_end_matches('\u{fffd}'));
            assert!(so_far.starts_with(&printed));
        }
        printed.push_str(&stream.finish());
        assert_eq!(printed, case["decoded"].as_str().unwrap());
    }
    assert!(unfinished >= 5 && compared >= 280, "{unfinished} of {compared}");
}

#[test]
fn bytes_that_are_no_text() {
    let tokenizer = tiny();
    // Byte tokens of "é" (c3 a9), of "👋" (f0 9f 91 8b), and a byte that begins nothing (ff).
    let byte = |b: char| tokenizer.encode_token(b);
    let (c3, a9, ff) = (byte('Ã'), byte('©'), byte('ÿ'));
    let mut stream = tokenizer.stream(SpecialTokens::Show);
    assert_eq!([stream.push(c3), stream.push(a9)], ["", "é"]);
    assert_eq!([stream.push(ff), stream.push(c3), stream.push(c3)], ["\u{fffd}", "", "\u{fffd}"]);
    // A special token that is hidden does not cut a character in two.
    let mut hidden = tokenizer.stream(SpecialTokens::Hide);
    assert_eq!([hidden.push(c3), hidden.push(4082), hidden.push(a9)], ["", "", "é"]);
    assert_eq!(stream.finish(), "\u{fffd}");
    for ids in [vec![c3], vec![c3, c3, a9, ff, a9], vec![a9, 64, c3, 64, c3]] {
        let whole = tokenizer.decode(&ids, SpecialTokens::Show);
        let bytes: Vec<u8> = ids
            .iter()
            .map(|&id| {
                if id == c3 {
                    0xc3
                } else if id == a9 {
                    0xa9
                } else if id == ff {
                    0xff
                } else {
                    b'a'
                }
            })
            .collect();
        assert_eq!(whole, String::from_utf8_lossy(&bytes));
    }
    // Ids beyond the tokenizer have no text.
    assert_eq!(tokenizer.decode(&[4090, 64, u32::MAX], SpecialTokens::Show), "a");
}

trait ByteToken {
    fn encode_token(&self, c: char) -> u32;
}

impl ByteToken for Tokenizer {
    /// The id of the token that is written as this one character.
    fn encode_token(&self, c: char) -> u32 {
        (0..256).find(|&id| self.token(id) == Some(c.to_string())).unwrap()
    }
}

#[test]
fn ends_and_entries() {
    let tokenizer = tiny();
    assert_eq!(tokenizer.eos_ids(), [4082, 4080]);
    assert_eq!(tokenizer.entries(), 4085);
    assert_eq!(tokenizer.token(4082).as_deref(), Some("<|im_end|>"));

    // The tokenizer's own end token joins those of the configuration.
    let mut config = config(&asset("tiny"));
    config.eos_token_ids = vec![7];
    assert_eq!(Tokenizer::open(&asset("tiny"), &config).unwrap().eos_ids(), [7, 4082]);
}

#[test]
fn training_settings_do_not_change_a_prompt() {
    let truncating = changed(
        |t| {
            t["truncation"] = json!({ "direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0 });
            t["padding"] = json!({
                "strategy": { "Fixed": 50 }, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                "pad_type_id": 0, "pad_token": "!"
            });
        },
        4096,
    );
    let text = "The capital of Peru is Lima.";
    assert_eq!(truncating.unwrap().encode(text).unwrap(), tiny().encode(text).unwrap());
}

#[test]
fn tokenizers_that_cannot_be_used() {
    let config = config(&asset("tiny"));
    let none = tempfile::tempdir().unwrap();
    let message = Tokenizer::open(none.path(), &config).err().unwrap().to_string();
    assert_says(&message, &["tokenizer.json", "--ids", &none.path().display().to_string()]);

    std::fs::write(none.path().join("tokenizer.json"), "{}").unwrap();
    let message = Tokenizer::open(none.path(), &config).err().unwrap().to_string();
    assert_says(&message, &["tokenizer.json", "not a tokenizer", "download"]);

    let message = changed(|t| t["decoder"] = json!({ "type": "Fuse" }), 4096).err().unwrap();
    assert_says(&message, &["tokenizer.json", "not ByteLevel", "Qwen2"]);
    let message = changed(|_| (), 4084).err().unwrap();
    assert_says(&message, &["tokenizer.json", "up to 4084", "`vocab_size`: 4084", "different models"]);
    assert!(changed(|_| (), 4085).is_ok());
}
