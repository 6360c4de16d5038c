//! Rows as a plain table, Markdown, or JSON.

use serde_json::{Value, json};
use tilewright_runtime::Size;

use super::super::error::CliError;
use super::super::generate::loading;
use super::measure::{Bench, Device, Measured, Row};
use super::rule::{TOLERANCE, Verdict};
use crate::spread::Spread;
use crate::tiers;

const HEADS: [&str; 11] = [
    "tier",
    "what",
    "decode tok/s",
    "prefill tok/s",
    "submits",
    "dispatches",
    "readback",
    "weights",
    "% of copy",
    "% empty dispatches",
    "tokens against tier 0",
];

/// A row in a few words, for whoever waits for the others.
pub fn in_short(row: &Row) -> String {
    let (number, name) = (number(row), tiers::tier(row.tier).name);
    match &row.result {
        Ok(measured) => format!("tier {number} {name}: {} tok/s", three(measured.decode.median)),
        Err(error) => format!("tier {number} {name}: {}", absent(error)),
    }
}

/// The tier's number, or that it was chosen automatically.
fn number(row: &Row) -> String {
    if row.auto { "auto".into() } else { row.tier.to_string() }
}

/// Why a tier has no numbers, on one line.
fn absent(error: &CliError) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    format!("does not run here: {}", line.strip_prefix("error: ").unwrap_or(line))
}

/// Columns padded with blanks.
pub fn plain(rows: &[Row]) -> String {
    lines(rows, |cells, widths| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
    })
}

/// A Markdown table.
pub fn markdown(rows: &[Row]) -> String {
    let text = lines(rows, |cells, _| format!("| {} |", cells.join(" | ")));
    match text.split_once('\n') {
        Some((head, rest)) => format!("{head}\n|{}\n{rest}", "---|".repeat(HEADS.len())),
        None => text,
    }
}

fn lines(rows: &[Row], line: impl Fn(&[String], &[usize]) -> String) -> String {
    let mut all: Vec<Vec<String>> = vec![HEADS.map(String::from).to_vec()];
    all.extend(rows.iter().map(cells));
    let widths: Vec<usize> = (0..HEADS.len())
        .map(|column| all.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0))
        .collect();
    all.iter().map(|cells| line(cells, &widths) + "\n").collect()
}

fn cells(row: &Row) -> Vec<String> {
    let measured = match &row.result {
        Ok(measured) => measured,
        Err(error) => {
            let mut cells = vec!["-".to_string(); HEADS.len()];
            cells[0] = number(row);
            cells[HEADS.len() - 1] = absent(error);
            return cells;
        }
    };
    let info = &measured.info;
    let name = match info.tuned.sites {
        _ if !row.auto => info.tier_name.to_string(),
        0 => format!("{} ({}), nothing tuned", info.tier, info.tier_name),
        n => format!("{} ({}), {n} tuned", info.tier, info.tier_name),
    };
    let percent = |share: Option<f64>| share.map_or("-".into(), |share| format!("{:.1}", 100.0 * share));
    vec![
        number(row),
        name,
        speed(&measured.decode),
        speed(&measured.prefill),
        info.submits.to_string(),
        info.dispatches.to_string(),
        format!("{} B", info.readback_bytes),
        Size(info.weight_bytes).to_string(),
        percent(measured.of_copy),
        percent(measured.of_dispatch),
        measured.verdict.text(),
    ]
}

/// The median, and the least and the most.
pub fn speed(s: &Spread) -> String {
    format!("{} ({}–{})", three(s.median), three(s.min), three(s.max))
}

/// Three significant digits, and no fewer than are before the point.
fn three(x: f64) -> String {
    let digits = if x >= 100.0 { 0 } else { (2 - x.max(1e-3).log10().floor() as i32).max(0) as usize };
    format!("{x:.digits$}")
}

/// One object.
pub fn json(bench: &Bench, device: Option<&Device>, rows: &[Row]) -> Value {
    json!({
        "model": bench.folder.dir.display().to_string(),
        "adapter": device.map(|d| d.name.clone()),
        "copy_gb_per_s": device.map(|d| d.copy_gb_per_s),
        "dispatch_us": device.map(|d| d.dispatch_us),
        "prompt_tokens": bench.prompt,
        "generate": bench.args.generate,
        "runs": bench.args.runs,
        "tolerance": TOLERANCE,
        "interrupted": bench.watch.asked(),
        "tiers": rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    match &row.result {
        Err(error) => json!({ "tier": row.tier, "auto": row.auto, "error": error.to_string() }),
        Ok(measured) => numbers(row, measured),
    }
}

fn numbers(row: &Row, measured: &Measured) -> Value {
    let spread = Spread::json;
    let info = &measured.info;
    let passed = match &measured.verdict {
        Verdict::Reference | Verdict::Equal { .. } | Verdict::Within { .. } => Some(true),
        Verdict::Broken { .. } => Some(false),
        Verdict::Unchecked => None,
    };
    json!({
        "tier": row.tier,
        "auto": row.auto,
        "tuned_kernels": info.tuned.sites,
        "name": info.tier_name,
        "adapter": info.adapter,
        "shaders": info.shaders,
        "decode_tokens_per_s": spread(&measured.decode),
        "prefill_tokens_per_s": spread(&measured.prefill),
        "submits_per_token": info.submits,
        "dispatches_per_token": info.dispatches,
        "readback_bytes_per_token": info.readback_bytes,
        "bytes_read_per_token": info.bytes_read,
        "bytes_written_per_token": info.bytes_written,
        "weight_bytes": info.weight_bytes,
        "load_to_first_token_ms": measured.first_token.as_secs_f64() * 1e3,
        "loading_ms": loading(&info.loading),
        "cpu_us_per_token": measured.cpu_us.as_ref().map(spread),
        "percent_empty_dispatches": measured.of_dispatch.map(|share| 100.0 * share),
        "percent_of_copy": measured.of_copy.map(|share| 100.0 * share),
        "token_rule": { "passed": passed, "text": measured.verdict.text() },
        "token_ids": measured.tokens,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        for (x, text) in [(1234.6, "1235"), (99.94, "99.9"), (5.678, "5.68"), (0.01234, "0.0123")] {
            assert_eq!(three(x), text);
        }
    }

    #[test]
    fn a_tier_that_does_not_run_keeps_its_row() {
        let error = CliError::Unwell("no subgroups\n  = help: another adapter".into());
        let rows = [Row { tier: 5, auto: false, result: Err(error) }];
        let text = markdown(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1].matches("---").count(), HEADS.len());
        assert!(lines[2].starts_with("| 5 |") && lines[2].ends_with("does not run here: no subgroups |"), "{text}");
        assert!(plain(&rows).lines().nth(1).unwrap().ends_with("no subgroups"));
    }
}
