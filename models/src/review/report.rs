//! A comparison as text: schedules, figures, then shaders, each as a difference of lines.
//!
//! The rule: with colours off it is what `diff -u` people expect, and with colours on the characters are the same.

use std::fmt::Write;

use super::Language;
use super::compare::{Comparison, Document, Figure, Line, Pair, State};

/// The whole comparison, with shaders in one language.
pub fn text(comparison: &Comparison, language: Language, colours: bool) -> String {
    let report = Report { comparison, colours };
    let mut out = report.bold(&comparison.title) + "\n";
    for note in &comparison.notes {
        let _ = writeln!(out, "{note}");
    }
    if comparison.settings.iter().any(|line| line.sign != ' ') {
        out += &report.part("schedules", &report.near(&comparison.settings));
    }
    if !comparison.plan.is_empty() {
        out += &report.part("plan", &report.table(&comparison.plan));
    }
    let changed: Vec<&Pair> = comparison.pairs.iter().filter(|p| p.state() != State::Same).collect();
    for pair in &changed {
        out += &report.pair(pair, language);
    }
    let documents: Vec<&Document> = comparison.documents.iter().filter(|d| d.state() != State::Same).collect();
    for document in &documents {
        let state = state(document.state());
        let heading = format!("snapshots/{}{state}", document.name);
        out += &report.part(&heading, &report.near(&document.lines()));
    }
    let same = comparison.pairs.len() - changed.len();
    if changed.is_empty() {
        let others =
            if comparison.documents.is_empty() || !documents.is_empty() { "" } else { ", plan or explanation" };
        let _ = writeln!(out, "\nno shader{others} differs");
    } else if same > 0 {
        let (s, are) = if same == 1 { ("", "is") } else { ("s", "are") };
        let _ = writeln!(out, "\n{same} other shader{s} {are} equal");
    }
    out
}

/// What became of a text, behind its name.
fn state(state: State) -> &'static str {
    match state {
        State::New => " (new)",
        State::Gone => " (gone)",
        State::Same | State::Changed => "",
    }
}

struct Report<'a> {
    comparison: &'a Comparison,
    colours: bool,
}

impl Report<'_> {
    fn pair(&self, pair: &Pair, language: Language) -> String {
        let mut out = "\n".to_string();
        // Where it is all there is, the title has named it.
        if self.comparison.title != format!("{}: {}", pair.kernel, pair.name) {
            let heading = format!("{} {}{}", pair.kernel, pair.name, state(pair.state()));
            let _ = writeln!(out, "{}", self.bold(&heading));
        }
        let _ = writeln!(out, "{}", pair.subject());
        if !pair.note.is_empty() {
            let _ = writeln!(out, "{}", pair.note);
        }
        let schedule: String = pair.schedule().iter().map(|line| self.line(line)).collect();
        out += &self.part("schedule", &schedule);
        out += &self.part("cost", &self.table(&pair.cost()));
        let lines = pair.lines(language);
        let shown = lines.iter().any(|line| line.sign != ' ');
        let mut shader = if shown { self.near(&lines) } else { "the shaders are equal\n".into() };
        for other in pair.changed().into_iter().filter(|other| !shown && *other != language) {
            if pair.lines(other).iter().any(|line| line.sign != ' ') {
                let name = other.extension();
                let _ = writeln!(shader, "{name} differs: --target {name} shows it");
            }
        }
        out + &self.part(language.extension(), &shader)
    }

    fn part(&self, name: &str, body: &str) -> String {
        format!("\n{}\n{body}", self.bold(name))
    }

    /// Changed lines with a few around them; what is left out between is one line of dots.
    fn near(&self, lines: &[Line]) -> String {
        let mut out = String::new();
        for group in lines.chunk_by(|a, b| a.near == b.near) {
            match group[0].near {
                true => group.iter().for_each(|line| out += &self.line(line)),
                false => {
                    let (count, s) = (group.len(), if group.len() == 1 { "" } else { "s" });
                    let _ = writeln!(out, "{}", self.paint("36", &format!("@@ {count} equal line{s} @@")));
                }
            }
        }
        out
    }

    fn line(&self, line: &Line) -> String {
        let text = format!("{}{}", line.sign, line.text);
        let text = text.trim_end();
        let painted = match line.sign {
            '-' => self.paint("31", text),
            '+' => self.paint("32", text),
            _ => text.to_string(),
        };
        painted + "\n"
    }

    fn table(&self, figures: &[Figure]) -> String {
        let (old, new) = (&self.comparison.old, &self.comparison.new);
        let width = |cells: &mut dyn Iterator<Item = &String>| cells.map(|c| c.chars().count()).max().unwrap_or(0);
        let name = width(&mut figures.iter().map(|f| &f.name));
        let left = width(&mut figures.iter().map(|f| &f.old).chain([old]));
        let mut out = format!("{:name$}  {old:left$}  {new}\n", "");
        for figure in figures {
            let row = format!("{:name$}  {:left$}  {}", figure.name, figure.old, figure.new);
            let row = row.trim_end();
            out += &if figure.old == figure.new { row.to_string() } else { self.paint("33", row) };
            out.push('\n');
        }
        out
    }

    fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::review::compare::{figures, lines};

    fn comparison() -> Comparison {
        let texts = |text: &str| Some(BTreeMap::from([(Language::Wgsl, text.to_string())]));
        let numbered: String = (0..20).map(|i| format!("line {i}\n")).collect();
        let pair = |name: &str, old, new| Pair { kernel: "k".into(), name: name.into(), note: String::new(), old, new };
        let row = |value: &str| vec![("submits".to_string(), value.to_string())];
        Comparison {
            title: "one -> two".into(),
            old: "one".into(),
            new: "two".into(),
            notes: vec!["a note".into()],
            settings: lines("weights: f32\n", "weights: f16\n"),
            plan: figures(&row("24"), &row("1")),
            pairs: vec![
                pair("a", texts(&numbered), texts(&numbered.replace("line 9\n", "other\n"))),
                pair("b", None, texts("new\n")),
                pair("c", texts("same\n"), texts("same\n")),
            ],
            documents: vec![
                Document { name: "plans/m-1".into(), old: Some("one\n".into()), new: Some("two\n".into()) },
                Document { name: "plans/m-2".into(), old: Some("same\n".into()), new: Some("same\n".into()) },
            ],
        }
    }

    #[test]
    fn the_order_of_a_report() {
        let text = text(&comparison(), Language::Wgsl, false);
        let order = [
            "one -> two\na note\n",
            "\nschedules\n-weights: f32\n+weights: f16\n",
            "\nplan\n",
            "submits  24   1\n",
            "\nk a\n",
            "@@ 6 equal lines @@\n line 6\n line 7\n line 8\n-line 9\n+other\n line 10\n",
            "\nk b (new)\n",
            "+new\n",
            "\nsnapshots/plans/m-1\n-one\n+two\n",
            "\n1 other shader is equal\n",
        ];
        let at: Vec<_> =
            order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}"))).collect();
        assert!(at.is_sorted(), "{text}");
        assert!(!text.contains("k c") && !text.contains("m-2") && !text.contains('\x1b'), "{text}");
    }

    #[test]
    fn another_language_that_differs_is_named() {
        let mut comparison = comparison();
        comparison.pairs.remove(0);
        for (language, text) in [(Language::Hlsl, "other\n"), (Language::Loops, "equal\n")] {
            comparison.pairs[1].old.as_mut().unwrap().insert(language, "equal\n".into());
            comparison.pairs[1].new.as_mut().unwrap().insert(language, text.into());
        }
        let wgsl = text(&comparison, Language::Wgsl, false);
        assert!(wgsl.contains("\nwgsl\nthe shaders are equal\nhlsl differs: --target hlsl shows it\n"), "{wgsl}");
        assert!(!wgsl.contains("loops differs"), "{wgsl}");
        let hlsl = text(&comparison, Language::Hlsl, false);
        assert!(hlsl.contains("\nhlsl\n-equal\n+other\n") && !hlsl.contains("hlsl differs"), "{hlsl}");
    }

    #[test]
    fn what_was_compared_is_named_where_nothing_differs() {
        let mut comparison = Comparison { documents: comparison().documents, ..Comparison::default() };
        assert!(text(&comparison, Language::Wgsl, false).ends_with("\nno shader differs\n"));
        comparison.documents.remove(0);
        assert!(text(&comparison, Language::Wgsl, false).ends_with("\nno shader, plan or explanation differs\n"));
    }

    #[test]
    fn colours_change_no_character() {
        let comparison = comparison();
        let painted = text(&comparison, Language::Wgsl, true);
        assert!(painted.contains("\x1b[31m-line 9\x1b[0m") && painted.contains("\x1b[32m+other\x1b[0m"), "{painted}");
        let plain = ["0", "1", "31", "32", "33", "36"];
        let stripped = plain.iter().fold(painted, |text, code| text.replace(&format!("\x1b[{code}m"), ""));
        assert_eq!(stripped, text(&comparison, Language::Wgsl, false));
    }
}
