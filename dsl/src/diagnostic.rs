//! Messages about a schedule: labels under its canonical text, where it stands, and what to do instead.
//!
//! The text is made here, at the edge; the mistakes themselves are values of whoever finds them. Colours and terminal widths
//! are deliberately absent, so that a message is the same in a snapshot and on a screen.

use std::fmt::Write;
use std::ops::Range;

use crate::schedule::{Position, Schedule, Spot};

/// A message: `error: TITLE`, the place of the first label (or of the schedule), each line of the schedule that a label
/// points at with its number and with carets under it, then the help. Labels of one line share a row of carets where only
/// the last one has a text. A label whose place is not in the schedule becomes a note.
pub fn render(title: &str, schedule: &Schedule, labels: &[(Spot, String)], help: &[String]) -> String {
    let printed = schedule.printed();
    let mut out = format!("error: {title}\n");
    let origin = &schedule.origin;
    let first = labels.iter().find_map(|(spot, _)| origin.of(spot)).unwrap_or(&origin.start);
    let arrow = |out: &mut String, sign: &str, at: &Position| {
        if !at.file.is_empty() {
            let _ = writeln!(out, "  {sign} {}:{}:{}", at.file, at.line, at.column);
        }
    };
    arrow(&mut out, "-->", first);
    let place = |spot: &Spot| printed.spots.iter().find(|s| s.0 == *spot).map(|s| s.1.clone());
    let last = labels.iter().filter_map(|(spot, _)| origin.of(spot)).map(|at| at.line).max().unwrap_or(0);
    let gutter = last.to_string().len().max(2);
    let mut file = &first.file;
    let mut start = 0;
    for line in printed.text.split_inclusive('\n') {
        let span = start..start + line.len();
        start = span.end;
        let here = labels.iter().filter(|(spot, _)| place(spot).is_some_and(|p| span.contains(&p.start)));
        // A line that a program has added has no place.
        let at = here.clone().find_map(|(spot, _)| origin.of(spot)).filter(|at| !at.file.is_empty());
        let mut here: Vec<(Range<usize>, &str)> =
            here.filter_map(|(s, text)| Some((place(s)?, text.as_str()))).collect();
        here.sort_by_key(|(place, _)| place.start);
        if !here.is_empty() {
            if let Some(at) = at.filter(|at| at.file != *file) {
                arrow(&mut out, ":::", at);
                file = &at.file;
            }
            let indent = line.len() - line.trim_start().len();
            let shown = line.trim().trim_end_matches([';', '{']).trim_end();
            let number = at.map(|at| at.line.to_string()).unwrap_or_default();
            let _ = writeln!(out, "{number:>gutter$} |  {shown}");
            carets(&mut out, gutter, &printed.text, span.start + indent, &here);
        }
    }
    for (_, text) in labels.iter().filter(|(spot, _)| place(spot).is_none()) {
        let _ = writeln!(out, "{:gutter$} = note: {text}", "");
    }
    for text in help {
        let _ = writeln!(out, "{:gutter$} = help: {text}", "");
    }
    out
}

fn carets(out: &mut String, gutter: usize, text: &str, from: usize, labels: &[(Range<usize>, &str)]) {
    let width = |range: Range<usize>| text.get(range).map_or(0, |t| t.chars().count());
    let mut row = String::new();
    for (i, (place, label)) in labels.iter().enumerate() {
        let column = width(from..place.start);
        row.push_str(&" ".repeat(column.saturating_sub(row.len())));
        row.push_str(&"^".repeat(width(place.clone())));
        if !label.is_empty() || i + 1 == labels.len() {
            let _ = writeln!(out, "{:gutter$} |  {}", "", format!("{row} {label}").trim_end());
            row.clear();
        }
    }
}
