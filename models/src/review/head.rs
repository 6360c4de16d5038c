//! The head of a reviewed text: what the compiler wrote above the shader, read back.
//!
//! From the comments at the top of a file it makes the schedule's text and the figures of its cost, whatever revision the file is
//! of. The rule: a head that cannot be read is an empty one, and then all of the text is its body; a line that is not known here
//! is kept by its first word, so that nothing of a head is lost.

use super::Language;

/// A text, taken apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Head {
    /// `kernel linear, shape K = 896, ...`.
    pub title: String,
    /// The schedule's canonical text.
    pub schedule: String,
    /// What else is stated, by its first word: `dispatch` and its size.
    pub lines: Vec<(String, String)>,
    /// Figures by name.
    pub cost: Vec<(String, String)>,
    /// What follows the head.
    pub body: String,
}

impl Head {
    /// Takes a text apart.
    pub fn read(text: &str, language: Language) -> Self {
        let comment = |line: &str| -> Option<String> {
            let rest = line.strip_prefix(language.comment())?;
            Some(rest.strip_prefix(' ').unwrap_or(rest).to_string())
        };
        let head: Vec<String> = text.lines().map_while(comment).collect();
        let mut found = Head { body: text.to_string(), ..Head::default() };
        let Some((title, rest)) = head.split_first().filter(|(title, _)| title.starts_with("kernel ")) else {
            return found;
        };
        let start = rest.iter().position(|line| line.starts_with("schedule "));
        let end = rest.iter().position(|line| line == "}");
        let Some((start, end)) = start.zip(end).filter(|(start, end)| start < end) else { return found };
        found.title = title.clone();
        found.schedule = rest[start..=end].join("\n") + "\n";
        for line in rest[..start].iter().chain(&rest[end + 1..]) {
            if let Some((name, value)) = line.strip_prefix("    ").and_then(|row| row.split_once(": ")) {
                found.cost.push((name.into(), value.into()));
            } else if let Some((name, value)) = line.split_once(' ') {
                found.lines.push((name.into(), value.into()));
            }
        }
        let body: Vec<&str> = text.lines().skip(head.len()).collect();
        found.body = body.join("\n").trim_start_matches('\n').to_string() + "\n";
        found
    }

    /// The title without the schedule's name and the target: what was compiled, and for which extents.
    pub fn subject(&self) -> &str {
        self.title.split(", schedule ").next().unwrap_or_default()
    }

    /// The name of the target; empty where the title has none.
    pub fn target(&self) -> &str {
        self.title.split_once(", target ").map(|(_, name)| name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::{files, subjects};

    #[test]
    fn every_head_is_read_in_every_language() {
        for subject in subjects() {
            let program = subject.compile().expect("it compiles");
            for file in files(&program) {
                let head = Head::read(&file.text, file.language);
                assert_eq!(head.schedule.parse(), Ok(subject.schedule.clone()), "{}", file.text);
                assert_eq!(head.subject(), format!("kernel {}, shape {}", program.kernel, subject.shape));
                assert!(head.lines.iter().any(|(name, size)| name == "dispatch" && !size.is_empty()), "{}", file.text);
                assert!(["webgpu-subgroups", "wide", "matrix"].contains(&head.target()), "{}", file.text);
                assert!(head.cost.len() >= 8 && head.cost[0].0 == "workgroup memory", "{:?}", head.cost);
                assert!(!head.body.contains("schedule ") && head.body.len() > 50, "{}", head.body);
            }
        }
    }

    #[test]
    fn lines_that_are_not_known_are_kept() {
        let text = "// kernel k, shape A = 1, schedule s, target wide\n// part 2 of 5\n// schedule s for k {\n// }\n// dispatch 4\n\nx\n";
        let head = Head::read(text, Language::Wgsl);
        let lines = [("part", "2 of 5"), ("dispatch", "4")].map(|(a, b)| (a.to_string(), b.to_string()));
        assert_eq!((head.lines, head.schedule.as_str()), (lines.to_vec(), "schedule s for k {\n}\n"));
    }

    #[test]
    fn a_text_without_a_head_is_all_body() {
        for text in ["", "fn f() {}\n", "// a comment\nfn f() {}\n", "// kernel k, shape\n// no schedule\n"] {
            let head = Head::read(text, Language::Wgsl);
            assert_eq!(head, Head { body: text.into(), ..Head::default() });
        }
    }
}
