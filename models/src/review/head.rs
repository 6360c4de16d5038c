//! The head of a reviewed text: what the compiler wrote above the shader, read back.
//!
//! From the comments at the top of a file it makes the schedule's text and the figures of its cost, whatever revision the file is
//! of. The rule: a head that cannot be read is an empty one, and then all of the text is its body.

use super::Language;

/// A text, taken apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Head {
    /// `kernel linear, shape K = 896, ...`.
    pub title: String,
    /// The schedule's canonical text.
    pub schedule: String,
    /// How large the dispatch is.
    pub dispatch: String,
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
        let Some(end) = rest.iter().position(|line| line == "}") else { return found };
        found.title = title.clone();
        found.schedule = rest[..=end].join("\n") + "\n";
        for line in &rest[end + 1..] {
            match line.strip_prefix("    ").and_then(|row| row.split_once(": ")) {
                Some((name, value)) => found.cost.push((name.into(), value.into())),
                None if line.starts_with("dispatch ") => found.dispatch = line.clone(),
                None => {}
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
                assert!(head.dispatch.starts_with("dispatch "), "{}", file.text);
                assert!(head.cost.len() >= 8 && head.cost[0].0 == "workgroup memory", "{:?}", head.cost);
                assert!(!head.body.contains("schedule ") && head.body.len() > 50, "{}", head.body);
            }
        }
    }

    #[test]
    fn a_text_without_a_head_is_all_body() {
        for text in ["", "fn f() {}\n", "// a comment\nfn f() {}\n", "// kernel k, shape\n// no schedule\n"] {
            let head = Head::read(text, Language::Wgsl);
            assert_eq!(head, Head { body: text.into(), ..Head::default() });
        }
    }
}
