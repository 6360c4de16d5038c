//! `--store`, `quantize` and `perplexity`: how matrices are stored, and what that costs.

use std::fs;

use crate::run::{bundled, interpreted, path, run, small_model};

#[test]
fn a_storage_that_is_none_is_named() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["generate", "--store", "q4", "hi"], &["--store", "`q4`", "f32, f16, bf16, int8 or nf4"]),
        (&["bench", "--store", "nf4,tail=f16"], &["--store", "`tail`", "`head=`"]),
        (&["tune", "--store", "nf4,int8"], &["--store", "`int8`", "second time"]),
        (&["doctor", "--store", ""], &["--store", "``"]),
        (&["quantize", "--store", "f16", "in", "out"], &["--store f16", "makes no codes", "int8 or nf4"]),
        (&["perplexity", "/dev/null", "--tokens", "1"], &["--tokens", "'1'", "from 2"]),
        (&["perplexity", "/dev/null", "--stride", "0"], &["--stride", "'0'", "from 1"]),
    ];
    for (args, parts) in cases {
        run(args).fails(2, parts);
    }
}

#[test]
fn texts_without_two_tokens_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    for (bytes, parts) in [
        (&b""[..], &["text.txt is empty", "at least two tokens"][..]),
        (b"a", &["text.txt has 1 token", "at least two tokens"]),
        (b"good \xff", &["text.txt", "byte 5 is not UTF-8"]),
    ] {
        let text = file("text.txt", bytes);
        interpreted("perplexity", &bundled(), &[path(&text)]).fails(2, parts);
    }
    let text = file("text.txt", b"France is a country in Europe.");
    let strides = ["--context", "8", "--stride", "8"];
    interpreted("perplexity", &bundled(), &[&[path(&text)][..], &strides].concat())
        .fails(2, &["--stride 8", "windows of 8"]);
    interpreted("perplexity", &bundled(), &["/no/such/text"]).fails(1, &["/no/such/text"]);
}

#[test]
fn a_quantised_folder_is_a_model() {
    let (model, out) = (small_model(), tempfile::tempdir().unwrap());
    let out = out.path().join("int8");
    let args = ["quantize", "--store", "int8", "--json", path(model.path()), path(&out)];
    let report = run(&args).json();
    let tensors = report["tensors"].as_array().unwrap();
    assert!(!tensors.is_empty() && tensors.iter().all(|t| t["largest_error_of_bound"].as_f64().unwrap() < 1.0001));
    assert!(report["weight_bytes"].as_u64() < report["f32_bytes"].as_u64());
    let ids = ["--ids", "1,2,3", "--max-tokens", "3", "--temperature", "0", "--json", "--tier", "2"];
    let at_load = interpreted("generate", model.path(), &[&ids[..], &["--store", "int8"]].concat()).json();
    let from_files = interpreted("generate", &out, &ids).json();
    assert_eq!(at_load["token_ids"], from_files["token_ids"]);
    run(&args).fails(1, &["is not an empty folder"]);
    interpreted("generate", &out, &[&ids[..], &["--store", "nf4"]].concat()).fails(1, &["int8(channel)", "nf4(64)"]);
}

#[test]
fn a_text_is_judged() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("text.txt");
    fs::write(&text, "Paris. France is a country in Europe.").unwrap();
    let args = [path(&text), "--tier", "2", "--tokens", "7", "--context", "5", "--stride", "2", "--json"];
    let report = interpreted("perplexity", &bundled(), &args).json();
    assert_eq!((report["tokens"].as_u64(), report["window"].as_u64()), (Some(6), Some(5)));
    let perplexity = report["perplexity"].as_f64().unwrap();
    assert!(perplexity > 1.0 && perplexity < 4096.0, "{perplexity}");
}
