//! Tuned schedules as text: a file for `--schedules` whose comments say where each schedule belongs and what it gained.
//!
//! The rule: what is written reads back, and whatever a person has changed is known by the sum in the head, so that it is never
//! overwritten. A file is for one adapter; a schedule without an `at` line is an error. Absent: where files lie, which is
//! [`super::find`]'s.

use std::fmt;

use tilewright_dsl::schedule::{Schedule, SyntaxErrors, parse_file};

use super::site::{Key, hash};

/// Schedules of one adapter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tuned {
    /// The adapter's name.
    pub adapter: String,
    /// Its driver.
    pub driver: String,
    /// The program that made it.
    pub compiler: String,
    /// One a site.
    pub entries: Vec<Entry>,
}

/// A site's schedule.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The site.
    pub at: Key,
    /// The [fingerprint](super::site::fingerprint) of the program that was measured; an entry without one is always taken.
    pub text: Option<u64>,
    /// What was measured, for people.
    pub note: String,
    /// The schedule.
    pub schedule: Schedule,
}

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{path}: the file cannot be read: {reason}")]
    Read {
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
    },
    /// Its schedules cannot be read.
    #[error("{0}")]
    Syntax(#[from] SyntaxErrors),
    /// The head does not say whose it is.
    #[error(
        "{path}: no line `// adapter: NAME` before the first schedule; expected a file that `tilewright tune` wrote"
    )]
    NoAdapter {
        /// The file.
        path: String,
    },
    /// A schedule that belongs nowhere.
    #[error(
        "{path}:{line}: schedule `{schedule}` has no line `// at: {kernel} ...` before it; expected the site that it is for, as \
         `tilewright tune --dry-run` names them"
    )]
    NoSite {
        /// The file.
        path: String,
        /// The schedule's line.
        line: u32,
        /// The schedule.
        schedule: String,
        /// Its kernel.
        kernel: String,
    },
    /// A line that is not what it should be.
    #[error("{path}:{line}: `{found}`; expected {expected}")]
    Line {
        /// The file.
        path: String,
        /// The line.
        line: u32,
        /// What stands there.
        found: String,
        /// What should.
        expected: &'static str,
    },
}

const HEAD: &str = "\
// Schedules that `tilewright tune` measured. The format is that of --schedules; each `at` line names where the schedule below it
// is used. Whoever edits this file keeps it: it is used as it stands, and not overwritten.
";

impl Tuned {
    /// Reads the text of `path`. In one that somebody has edited, no entry is bound to the text that was measured.
    ///
    /// # Errors
    /// All mistakes of the schedules' text, or the first of the comments.
    pub fn read(path: &str, text: &str) -> Result<Self, FileError> {
        let schedules = parse_file(path, text)?;
        let mut tuned = Tuned::default();
        let mut places: Vec<(u32, Place)> = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let Some((word, value)) = content.trim().strip_prefix("//").and_then(|c| c.trim().split_once(": ")) else {
                continue;
            };
            let value = value.trim();
            match word.trim() {
                "adapter" => tuned.adapter = value.into(),
                "driver" => tuned.driver = value.into(),
                "compiler" => tuned.compiler = value.into(),
                "at" => places.push((line, Place { at: Key::read(value), text: None, note: String::new() })),
                "text" => {
                    let number = u64::from_str_radix(value, 16).map_err(|_| FileError::Line {
                        path: path.into(),
                        line,
                        found: content.trim().into(),
                        expected: "`// text: ` and 16 hexadecimal digits",
                    })?;
                    places.iter_mut().for_each(|(at, place)| {
                        if *at + 1 == line {
                            place.text = Some(number)
                        }
                    });
                }
                "measured" => {
                    if let Some((_, place)) = places.last_mut() {
                        place.note = value.into();
                    }
                }
                _ => {}
            }
        }
        if !untouched(text) {
            places.iter_mut().for_each(|(_, place)| place.text = None);
        }
        if tuned.adapter.is_empty() {
            return Err(FileError::NoAdapter { path: path.into() });
        }
        let mut before = 0;
        for schedule in schedules {
            let line = schedule.origin.start.line;
            let own = places
                .iter()
                .rev()
                .find(|(at, place)| (before..line).contains(at) && place.at.kernel() == schedule.kernel);
            let Some((_, place)) = own else {
                let (schedule, kernel) = (schedule.name, schedule.kernel);
                return Err(FileError::NoSite { path: path.into(), line, schedule, kernel });
            };
            before = line;
            let Place { at, text, note } = place.clone();
            tuned.entries.push(Entry { at, text, note, schedule });
        }
        Ok(tuned)
    }

    /// The entry of a site: its own, or else the first one whose name [covers](Key::covers) it.
    pub fn find(&self, at: &Key) -> Option<&Entry> {
        let own = self.entries.iter().rev().find(|e| e.at == *at);
        own.or_else(|| self.entries.iter().find(|e| e.at.covers(at)))
    }

    /// Puts an entry in the place of its site's.
    pub fn put(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|e| e.at == entry.at) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }
}

#[derive(Clone)]
struct Place {
    at: Key,
    text: Option<u64>,
    note: String,
}

/// The file's text.
impl fmt::Display for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut body = String::new();
        for entry in &self.entries {
            body += &format!("\n// at: {}\n", entry.at);
            if let Some(text) = entry.text {
                body += &format!("// text: {text:016x}\n");
            }
            if !entry.note.is_empty() {
                body += &format!("// measured: {}\n", entry.note);
            }
            body += &entry.schedule.to_string();
        }
        let head =
            format!("{HEAD}// adapter: {}\n// driver: {}\n// compiler: {}\n", self.adapter, self.driver, self.compiler);
        write!(f, "{head}// sum: {:016x}\n{body}", hash(&format!("{head}{body}")))
    }
}

/// Whether a file is as it was written: its sum is right.
pub fn untouched(text: &str) -> bool {
    let Some(start) = text.find("// sum: ") else { return false };
    let Some(end) = text[start..].find('\n').map(|n| start + n + 1) else { return false };
    let rest = format!("{}{}", &text[..start], &text[end..]);
    text[start..end].trim_end() == format!("// sum: {:016x}", hash(&rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::linear;

    fn tuned() -> Tuned {
        let entry = |at: &str, schedule: Schedule, name: &str| Entry {
            at: Key::read(at),
            text: Some(17),
            note: "5.00 µs, was 6.00".into(),
            schedule: Schedule { name: name.into(), ..schedule },
        };
        Tuned {
            adapter: "a card (of some kind)".into(),
            driver: "driver 1.2".into(),
            compiler: "tilewright 0".into(),
            entries: vec![
                entry("linear prefill R=896 K=896 f16", linear::tiled(), "one"),
                entry("linear prefill R=896 K=4864 f16", linear::row(), "two"),
            ],
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let text = tuned().to_string();
        assert_eq!(Tuned::read("f", &text), Ok(tuned()));
        assert!(untouched(&text), "{text}");
        assert_eq!(parse_file("f", &text).unwrap().len(), 2, "it is a file of schedules");
        let found = tuned().find(&Key::read("linear  prefill R=896 K=4864 f16")).map(|e| e.schedule.name.clone());
        assert_eq!(found.as_deref(), Some("two"));
    }

    #[test]
    fn an_edit_is_noticed_wherever_it_is() {
        let text = tuned().to_string();
        for (from, to) in [("lanes(16)", "lanes(8)"), ("driver 1.2", "driver 1.3"), ("// sum: ", "// sum: 0")] {
            let edited = text.replacen(from, to, 1);
            assert!(!untouched(&edited), "{from}");
            let read = Tuned::read("f", &edited).unwrap();
            assert!(read.entries.iter().all(|e| e.text.is_none()), "{from}: it is used as it stands");
        }
        assert!(!untouched(""));
    }

    #[test]
    fn mistakes_are_named() {
        let text = tuned().to_string();
        let broken = |from: &str, to: &str| Tuned::read("f", &text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(broken("// adapter", "// for").contains("f: no line `// adapter: NAME`"));
        let told = broken("// at: linear prefill R=896 K=4864 f16", "");
        assert!(told.contains("schedule `two` has no line `// at: linear"), "{told}");
        assert!(broken("0000000000000011", "xyz").contains("16 hexadecimal digits"));
        assert!(broken("lanes(16)", "lanes").contains("expected `(n)`"));
    }
}
