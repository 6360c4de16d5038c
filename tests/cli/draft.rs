//! `generate --draft`: the same text in fewer passes, and drafts that do not fit.

use serde_json::json;

use crate::run::{bundled, edit, interpreted, path, run, small_model};

fn draft() -> std::path::PathBuf {
    bundled().with_file_name("draft")
}

#[test]
fn a_draft_writes_the_same_text_in_fewer_passes() {
    let prompt = "The capital of France is";
    for sampling in [&["--temperature", "0"][..], &["--temperature", "0.7", "--seed", "5"]] {
        let flags = [sampling, &["--max-tokens", "12", "--json", prompt]].concat();
        let alone = interpreted("generate", &bundled(), &flags).json();
        let dir = draft();
        let flags = [&["--draft", path(&dir), "--gamma", "3"][..], &flags].concat();
        let both = interpreted("generate", &bundled(), &flags).json();
        assert_eq!(both["token_ids"], alone["token_ids"]);
        assert_eq!(both["text"], alone["text"]);
        assert_eq!(alone["speculative"], json!(null));
        let s = &both["speculative"];
        let tokens = both["token_ids"].as_array().unwrap().len() as f64 - 1.0;
        assert!(s["accepted"].as_u64() > Some(0) && s["accepted"].as_u64() <= s["guessed"].as_u64(), "{s}");
        assert_eq!(s["passes"].as_f64().unwrap() * s["tokens_a_pass"].as_f64().unwrap(), tokens, "{s}");
        assert!(s["passes"].as_f64().unwrap() < tokens, "{s}");
    }
}

#[test]
fn verbose_says_what_the_draft_was_worth() {
    let dir = draft();
    let flags =
        ["--draft", path(&dir), "--temperature", "0", "--max-tokens", "6", "--verbose", "The capital of Italy is"];
    let ran = interpreted("generate", &bundled(), &flags);
    for part in ["draft: tier ", " guesses right", "tokens a pass", " ms verifying in "] {
        assert!(ran.stderr.contains(part), "no {part:?} in {}", ran.stderr);
    }
    ran.ok();
}

#[test]
fn drafts_that_do_not_fit_are_refused_by_name() {
    let dir = draft();
    let flags = ["--draft", path(&bundled()), "--ids", "1,2"].map(String::from);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    interpreted("generate", &dir, &flags).fails(1, &["draft", "4986368 parameters", "918656", "exchange the two"]);

    let small = small_model();
    let flags = ["--draft", path(small.path()), "hi"];
    interpreted("generate", &bundled(), &flags).fails(1, &["vocabulary of 300", "4096", "no tokenizer"]);

    let other = small_model();
    edit(&other.path().join("config.json"), |config| config["num_hidden_layers"] = json!(0));
    interpreted("generate", &bundled(), &["--draft", path(other.path()), "hi"]).fails(1, &["num_hidden_layers"]);
    interpreted("generate", &bundled(), &["--draft", "/no/such/folder", "hi"]).fails(1, &["/no/such/folder"]);
}

#[test]
fn flags_of_a_draft_are_judged_at_once() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["generate", "--gamma", "3", "hi"], &["--draft"]),
        (&["generate", "--draft", "x", "--gamma", "0", "hi"], &["--gamma", "'0'", "from 1"]),
        (&["generate", "--draft", "x", "--gamma", "17", "hi"], &["--gamma", "17 tokens at a time", "1 to 16"]),
        (&["generate", "--draft", "x", "--profile", "hi"], &["--profile", "--draft"]),
    ];
    for (args, parts) in cases {
        let ran = run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        for part in *parts {
            assert!(ran.stderr.contains(part), "{args:?}: no {part:?} in {}", ran.stderr);
        }
    }
}
