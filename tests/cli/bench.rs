//! Tables and reports of `bench`.

use crate::run::{Ran, interpreted, path, run, small_model};

const SMALL: [&str; 6] = ["--prompt-tokens", "3", "--generate", "3", "--runs", "2"];

fn bench(model: &std::path::Path, rest: &[&str]) -> Ran {
    interpreted("bench", model, &[&SMALL, rest].concat())
}

#[test]
fn a_row_a_tier() {
    let model = small_model();
    let out = bench(model.path(), &["--json", "--tiers", "0..6"]).json();
    let rows = out["tiers"].as_array().unwrap();
    assert_eq!(rows.len(), 7);
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row["tier"], number);
        for speed in ["decode_tokens_per_s", "prefill_tokens_per_s"] {
            let at = |name: &str| row[speed][name].as_f64().unwrap();
            assert!(0.0 < at("min") && at("min") <= at("median") && at("median") <= at("max"), "{row}");
        }
        assert_eq!(row["token_ids"].as_array().unwrap().len(), 3);
        assert_eq!(row["token_rule"]["passed"], true, "{row}");
    }
    // 22 dispatches a layer, embedding, final norm, head; each submitted on its own, then a layer at once.
    assert_eq!((&rows[0]["dispatches_per_token"], &rows[0]["submits_per_token"]), (&47.into(), &47.into()));
    assert_eq!(rows[1]["submits_per_token"], 2);
    assert_eq!(rows[5]["readback_bytes_per_token"], 300 * 4);
    assert_eq!(rows[6]["readback_bytes_per_token"], 4);
}

#[test]
fn tables() {
    let model = small_model();
    let text = bench(model.path(), &["--tiers", "1,2"]).ok();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("tier 0 is not measured"), "{text}");
    let markdown = bench(model.path(), &["--markdown", "--tiers", "0,2"]).ok();
    assert!(markdown.starts_with("| tier | what |") && markdown.contains("\n| 2 | half |"), "{markdown}");
    assert!(markdown.contains("| equal (3) |"), "{markdown}");
}

#[test]
fn a_report_is_written_once() {
    let model = small_model();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report.md");
    let rest = ["--tiers", "0..2", "--long-prompt-tokens", "20", "--report", path(&file)];
    bench(model.path(), &rest).ok();
    let text = std::fs::read_to_string(&file).unwrap();
    for part in [
        "3 tokens after a prompt of 3",
        "3 tokens after a prompt of 20",
        "## Tier 2: half",
        "**Hypothesis.**",
        "**Change.**",
        "Baseline: tier 1",
        "Gain: decode",
        "Check: tokens equal",
        "**Risk.**",
        "store w: f16",
    ] {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
    bench(model.path(), &rest).fails(1, &["--report", "report.md", "the file exists", "expected a new one", "--force"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "the file is as it was");
    bench(model.path(), &[&rest[..], &["--force"]].concat()).ok();
}

#[test]
fn a_report_needs_a_place() {
    run(&["bench", "--backend", "interp", "--report", "/no/such/folder/r.md"])
        .fails(1, &["cannot write /no/such/folder/r.md", "because"]);
}
