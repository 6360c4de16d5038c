//! Prompts that cannot be continued.

use std::io::Write;
use std::process::Stdio;

use crate::run::{Ran, interpreted, program, ran, run, small_model};

fn with_stdin(bytes: &[u8]) -> Ran {
    let args = ["generate", "--backend", "interp", "--max-tokens", "2", "--temperature", "0", "-"];
    let mut child = program(&args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(bytes).expect("the program reads stdin");
    ran(child.wait_with_output().expect("the program ends"))
}

#[test]
fn no_prompt_at_all() {
    run(&["generate"]).fails(2, &["no PROMPT", "expected at least one token", "tilewright generate"]);
}

#[test]
fn an_empty_prompt() {
    run(&["generate", ""]).fails(2, &["PROMPT is empty", "expected at least one token"]);
    run(&["generate", "--chat", ""]).fails(2, &["PROMPT is empty"]);
    with_stdin(b"").fails(2, &["stdin is empty", "expected at least one token"]);
    with_stdin(b"\n").fails(2, &["stdin is empty"]);
}

#[test]
fn not_utf8() {
    with_stdin(b"caf\xe9").fails(2, &["stdin is not UTF-8 at byte 3", "expected text in UTF-8"]);
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let args = ["generate".as_ref(), std::ffi::OsStr::from_bytes(b"caf\xe9")];
    run(&args).fails(2, &["PROMPT is not UTF-8 at byte 3", "expected text in UTF-8"]);
}

#[test]
fn one_newline_at_the_end_of_stdin_is_not_the_prompts() {
    let text = with_stdin(b"The capital of France is\n").ok();
    assert_eq!(text, " Paris.\n");
    assert_eq!(with_stdin(b"The capital of France is\r\n").ok(), text);
}

#[test]
fn longer_than_the_context() {
    let long = "word ".repeat(2100);
    run(&["generate", &long]).fails(2, &["the prompt has 21", "room for 2048", "the model's own", "use fewer"]);
    run(&["generate", "--context", "4", "The capital of France is"])
        .fails(2, &["the prompt has 5 tokens", "room for 4", "--context"]);
    let model = small_model();
    interpreted("logits", model.path(), &["--ids", "1,2,3", "--context", "2", "--output", "/dev/null"])
        .fails(2, &["the prompt has 3 tokens", "room for 2"]);
}

#[test]
fn a_context_longer_than_the_models() {
    // The path is that of the model inside the program.
    let config = "<bundled model>";
    run(&["generate", "--context", "2049", "hi"]).fails(2, &["--context is 2049", "at most 2048", config]);
    run(&["bench", "--context", "2049"]).fails(2, &["--context is 2049", "at most 2048", config]);
    run(&["bench", "--prompt-tokens", "2000", "--generate", "64"]).fails(2, &["2064 tokens", "room for 2048"]);
}

#[test]
fn ids_that_the_model_does_not_have() {
    let model = small_model();
    for command in ["generate", "logits"] {
        let output: &[&str] = if command == "logits" { &["--output", "/dev/null"] } else { &[] };
        interpreted(command, model.path(), &[&["--ids", "1,300"], output].concat())
            .fails(2, &["--ids has 300", "under 300", "config.json"]);
    }
}
