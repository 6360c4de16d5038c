//! Tables and reports of `bench`.

use crate::run::{Ran, edit_tensor, interpreted, path, run, small_model};

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

/// Weights that f16 rounds to nothing: a schedule that stores them so is wrong on every tier, and tier 0's own are right.
#[test]
fn a_wrong_schedule_is_caught_on_the_first_tiers_too() {
    let model = small_model();
    let weights = model.path().join("model.safetensors");
    edit_tensor(&weights, "model.embed_tokens.weight", |x| x * 2f32.powi(-26));
    let file = model.path().join("mine.txt");
    let text = |line: &str| format!("schedule a for linear {{ {line} }}\nschedule b for embedding {{ {line} }}\n");
    for tiers in ["0", "1", "0,1"] {
        std::fs::write(&file, text("store w: f16;")).unwrap();
        let rest = ["--tiers", tiers, "--schedules", path(&file)];
        let ran = bench(model.path(), &rest);
        assert_eq!(ran.code, Some(1), "{tiers}: {}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("BROKEN: "), "{}", ran.stdout);
        for part in ["breaks the token rule against tier 0", "the schedules of ", "mine.txt are in use", "--schedules"]
        {
            assert!(ran.stderr.contains(part), "no {part:?} in: {}", ran.stderr);
        }
        std::fs::write(&file, text("")).unwrap();
        let out = bench(model.path(), &rest).ok();
        assert!(!out.contains("reference") && out.contains("equal (3)"), "{out}");
    }
}

#[test]
fn rows_are_told_as_they_get_ready() {
    let model = small_model();
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("r.md");
    let rest = ["--tiers", "0,3", "--long-prompt-tokens", "20", "--report", path(&report)];
    let ran = bench(model.path(), &rest);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let told = |line: &str, tier: &str| line.starts_with(tier) && line.ends_with(" tok/s");
    assert_eq!(lines.len(), 6, "{}", ran.stderr);
    assert!(told(lines[0], "tier 0 naive: ") && told(lines[1], "tier 3 cooperative: "), "{}", ran.stderr);
    assert_eq!(lines[2], "the same after a prompt of 20 tokens");
    assert!(told(lines[3], "tier 0 naive: ") && told(lines[4], "tier 3 cooperative: "), "{}", ran.stderr);
}

#[test]
fn a_long_prompt_that_does_not_fit_is_refused_before_anything_is_measured() {
    let model = small_model();
    let rest = ["--long-prompt-tokens", "500000", "--report", "/dev/null"];
    let ran = bench(model.path(), &rest);
    assert!(!ran.stderr.contains("tok/s"), "{}", ran.stderr);
    ran.fails(2, &["500003 tokens", "room for 512"]);
}

#[test]
fn a_report_needs_a_place() {
    run(&["bench", "--backend", "interp", "--report", "/no/such/folder/r.md"])
        .fails(1, &["cannot write /no/such/folder/r.md", "there is no folder /no/such/folder", "make it first"]);
}
