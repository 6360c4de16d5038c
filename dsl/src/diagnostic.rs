//! Messages about a schedule: labels under its canonical text, where it stands, and what to do instead.
//!
//! The text is made here, at the edge; the mistakes themselves are values of whoever finds them. Colours and terminal widths
//! are deliberately absent, so that a message is the same in a snapshot and on a screen.

use std::fmt::Write;
use std::ops::Range;

use crate::schedule::{Schedule, Spot};

/// A message: `error: TITLE`, file and line, each line of the schedule that a label points at with carets under it, then
/// the help. Labels of one line share a row of carets where only the last one has a text. A label whose place is not in
/// the schedule becomes a note.
pub fn render(title: &str, schedule: &Schedule, labels: &[(Spot, String)], help: &[String]) -> String {
    let printed = schedule.printed();
    let mut out = format!("error: {title}\n");
    let origin = &schedule.origin;
    if !origin.file.is_empty() {
        let _ = writeln!(out, "  --> {}:{}", origin.file, origin.line);
    }
    let place = |spot: &Spot| printed.spots.iter().find(|s| s.0 == *spot).map(|s| s.1.clone());
    let mut start = 0;
    for line in printed.text.split_inclusive('\n') {
        let span = start..start + line.len();
        start = span.end;
        let mut here: Vec<(Range<usize>, &str)> = labels
            .iter()
            .filter_map(|(spot, text)| place(spot).filter(|p| span.contains(&p.start)).map(|p| (p, text.as_str())))
            .collect();
        here.sort_by_key(|(place, _)| place.start);
        if !here.is_empty() {
            let indent = line.len() - line.trim_start().len();
            let shown = line.trim().trim_end_matches(';');
            let _ = writeln!(out, "   |  {shown}");
            carets(&mut out, &printed.text, span.start + indent, &here);
        }
    }
    for (_, text) in labels.iter().filter(|(spot, _)| place(spot).is_none()) {
        let _ = writeln!(out, "   = note: {text}");
    }
    for text in help {
        let _ = writeln!(out, "   = help: {text}");
    }
    out
}

fn carets(out: &mut String, text: &str, from: usize, labels: &[(Range<usize>, &str)]) {
    let width = |range: Range<usize>| text.get(range).map_or(0, |t| t.chars().count());
    let mut row = String::new();
    for (i, (place, label)) in labels.iter().enumerate() {
        let column = width(from..place.start);
        row.push_str(&" ".repeat(column.saturating_sub(row.len())));
        row.push_str(&"^".repeat(width(place.clone())));
        if !label.is_empty() || i + 1 == labels.len() {
            let _ = writeln!(out, "   |  {}", format!("{row} {label}").trim_end());
            row.clear();
        }
    }
}
