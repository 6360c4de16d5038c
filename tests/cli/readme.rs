//! What README.md tells people to type.

use crate::run::{path, run};

const README: &str = include_str!("../../README.md");

/// The words of a command line, with quoted ones kept together and a comment left out.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" #").next().unwrap_or_default();
    let parts = line.split('"').enumerate();
    parts.flat_map(|(i, part)| if i % 2 == 1 { vec![part.to_string()] } else { split(part) }).collect()
}

fn split(part: &str) -> Vec<String> {
    part.split_whitespace().map(String::from).collect()
}

#[test]
fn every_command_line_is_understood() {
    let lines: Vec<&str> = README.lines().filter(|l| l.starts_with("tilewright ")).collect();
    assert!(lines.len() >= 10, "{lines:?}");
    for line in lines {
        // Help comes after all words before it have been understood.
        let mut args = words(line)[1..].to_vec();
        args.push("--help".into());
        assert!(run(&args).ok().contains("Usage: tilewright"), "{line}");
    }
}

#[test]
fn its_schedule_applies() {
    let (_, rest) = README.split_once("cat > mine.txt <<'END'\n").expect("the file is there");
    let (text, _) = rest.split_once("END\n").expect("the file ends");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    std::fs::write(&file, text).unwrap();
    let shader = run(&["shaders", "show", "linear", "--schedules", path(&file), "--schedule", "mine"]).ok();
    assert!(shader.contains("schedule mine"), "{shader}");
    let args = ["generate", "--backend", "interp", "--schedules", path(&file), "--temperature", "0"];
    let text = run(&[&args[..], &["--max-tokens", "2", "The capital of France is"]].concat()).ok();
    assert_eq!(text, " Paris.\n");
}
