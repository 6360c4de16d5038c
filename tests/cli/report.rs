//! `report` on a small model: every figure with its command, and plots.

use std::fs;

use crate::run::{path, run, small_model};

#[test]
fn every_figure_has_its_command() {
    let model = small_model();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("r");
    let small = ["--contexts", "4", "--prefill", "8", "--generate", "3", "--runs", "1", "--tiers", "10"];
    let fixed = ["report", "--model", path(model.path()), "--output", path(&out)];
    let text = run(&[&fixed[..], &small].concat()).ok();
    for part in [
        "| decode after a prompt of 4 | ",
        "| prefill of 8 | ",
        "| CPU time a token while decoding | ",
        "| GPU time of the head | ",
        "| first token after the start | ",
        "tilewright bench --json --tiers auto --model ",
        "llama-bench",
    ] {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
    assert_eq!(fs::read_to_string(out.join("report.md")).unwrap(), text);
    let json: serde_json::Value = serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
    let figures = json["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 5);
    assert!(figures[0]["value"]["median"].as_f64().unwrap() > 0.0, "{json}");
    assert_eq!(json["tiers"].as_array().unwrap().len(), 1);
    let plots = ["tiers.svg", "context.svg"].map(|name| fs::read_to_string(out.join(name)).unwrap());
    assert!(plots[0].contains(">10 wide<") && plots[0].contains("prefers-color-scheme:dark"), "{}", plots[0]);
    assert!(plots[1].matches("<circle").count() == 1, "{}", plots[1]);
    run(&[&fixed[..], &small].concat()).fails(1, &["--output", "report.md", "the file exists", "--force"]);
}

#[test]
fn what_does_not_run_is_told_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let none = dir.path().join("none");
    let args = ["report", "--model", path(&none), "--contexts", "4", "--runs", "1", "--tiers", "0"];
    let text = run(&args).ok();
    assert!(text.contains("| none | decode after a prompt of 4 | none: no model folder at "), "{text}");
}
