//! Studies as Markdown and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Cell, Study, Table};
use crate::plot::told;

/// A page of studies; `device` are lines about the adapter, `command` is what makes the page again from a study's name.
pub fn markdown(device: &[String], studies: &[Study], command: &dyn Fn(&str) -> String, plots: bool) -> String {
    let mut out = String::from("# Lab\n\n");
    device.iter().for_each(|line| {
        let _ = writeln!(out, "- {line}");
    });
    for study in studies {
        let _ = writeln!(out, "\n## {}\n\n{}\n\n```sh\n{}\n```", study.title, study.about, command(study.name));
        study.tables.iter().for_each(|table| out += &rows(table));
        for plot in study.plots.iter().filter(|_| plots) {
            let _ = writeln!(out, "\n![{}]({})", plot.title, plot.file);
        }
        if !study.findings.is_empty() {
            out.push_str("\nWhat can be read off it:\n\n");
            study.findings.iter().for_each(|line| {
                let _ = writeln!(out, "- {line}");
            });
        }
        out.push_str("\nWhat the figures do not say:\n\n");
        study.silent.iter().for_each(|line| {
            let _ = writeln!(out, "- {line}");
        });
    }
    out
}

fn rows(table: &Table) -> String {
    let mut out = format!("\n| {} |\n|{}\n", table.head.join(" | "), "---|".repeat(table.head.len()));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(text).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Measured(spread) => told(spread),
        Cell::None(why) => format!("none: {}", why.replace('|', "/")),
    }
}

/// The same as one object.
pub fn json(device: &[String], studies: &[Study], command: &dyn Fn(&str) -> String) -> Value {
    let cell = |cell: &Cell| match cell {
        Cell::Text(text) => json!(text),
        Cell::Measured(spread) => spread.json(),
        Cell::None(why) => json!({ "error": why }),
    };
    let table = |t: &Table| {
        let row = |cells: &Vec<Cell>| -> Value {
            t.head.iter().zip(cells).map(|(head, c)| (head.clone(), cell(c))).collect::<serde_json::Map<_, _>>().into()
        };
        Value::from(t.rows.iter().map(row).collect::<Vec<_>>())
    };
    let study = |s: &Study| {
        json!({
            "study": s.name,
            "title": s.title,
            "about": s.about,
            "command": command(s.name),
            "tables": s.tables.iter().map(table).collect::<Vec<_>>(),
            "findings": s.findings,
            "not_said": s.silent,
        })
    };
    json!({ "device": device, "studies": studies.iter().map(study).collect::<Vec<_>>() })
}
