//! Pipes that close and Ctrl-C.

use std::io::Read;
use std::process::Stdio;

use crate::run::{program, ran};

fn endless() -> std::process::Child {
    // One id after another of a model that hardly ever ends.
    let args = ["generate", "--backend", "interp", "--max-tokens", "1500", "--seed", "7", "--temperature", "2", "Once"];
    program(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut child = endless();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0]).expect("some text");
    drop(stdout);
    let ran = ran(child.wait_with_output().expect("the program ends"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

/// Presses Ctrl-C and waits for the end.
#[cfg(unix)]
fn interrupt(child: std::process::Child) -> crate::run::Ran {
    end(child, "-INT")
}

/// Sends a signal and waits for the end.
#[cfg(unix)]
fn end(child: std::process::Child, signal: &str) -> crate::run::Ran {
    kill(&child, signal);
    ran(child.wait_with_output().expect("the program ends"))
}

#[cfg(unix)]
#[test]
fn a_request_to_end_leaves_no_half_a_model() {
    ["-INT", "-TERM", "-HUP"].into_iter().for_each(synth_ended_by);
}

#[cfg(unix)]
fn synth_ended_by(signal: &str) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("half");
    let args = ["synth", "--preset", "qwen2.5-0.5b", crate::run::path(&out)];
    let child = program(&args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    while !out.join("model.safetensors.unfinished").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let ran = end(child, signal);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let line = format!("note: interrupted; what was begun in {} is removed\n", out.display());
    assert_eq!((ran.stderr, ran.stdout), (line, String::new()));
    assert!(!out.exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_tiers_that_are_measured() {
    let model = crate::run::small_model();
    let report = model.path().join("report.md");
    let fixed = ["bench", "--backend", "interp", "--prompt-tokens", "1", "--generate", "32", "--runs", "1", "--json"];
    let args =
        [&fixed[..], &["--model", crate::run::path(model.path()), "--report", crate::run::path(&report)]].concat();
    // Later and later, until at least one tier is complete and not all are.
    let mut delay = std::time::Duration::from_millis(100);
    loop {
        let child = program(&args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        std::thread::sleep(delay);
        let ran = interrupt(child);
        if !ran.stdout.is_empty() {
            assert_eq!(ran.code, Some(130), "{}", ran.stderr);
            let out: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one object");
            let rows = out["tiers"].as_array().unwrap().len();
            assert!((1..13).contains(&rows), "{rows} rows");
            assert_eq!(out["interrupted"], true);
            let what = format!("interrupted after {rows} of 13 tiers on a prompt of 1 token, and no report is written");
            assert!(ran.stderr.ends_with(&format!(" tok/s\nnote: {what}\n")), "{}", ran.stderr);
            assert!(!report.exists());
            return;
        }
        delay = delay.mul_f64(1.5);
    }
}

#[cfg(unix)]
#[test]
fn the_first_request_to_end_keeps_the_text() {
    ["-INT", "-TERM"].into_iter().for_each(text_ended_by);
}

#[cfg(unix)]
fn text_ended_by(signal: &str) {
    let mut child = endless();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0]).expect("some text");
    kill(&child, signal);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("text in whole characters");
    let ran = ran(child.wait_with_output().expect("the program ends"));
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert_eq!(ran.stderr, "note: interrupted\n");
    assert!(rest.ends_with('\n'), "the line is ended: {rest:?}");
}

#[cfg(unix)]
fn kill(child: &std::process::Child, signal: &str) {
    let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill is there").success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_help_too() {
    for args in [&["--help"][..], &["--version"], &["generate", "--help"], &["shaders", "list"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("it is there");
        let child = program(args).stdout(full).stderr(Stdio::piped()).spawn().expect("the program starts");
        ran(child.wait_with_output().expect("the program ends")).fails(1, &["cannot write to stdout", "No space left"]);
    }
}
