//! One set of texts against another: the model behind the text and the page of `diff`.
//!
//! From files by kernel and name it makes pairs with their state, schedules, figures and lines. The rule: everything is read off
//! the texts' own heads, so that a file of an old revision and one that was just generated are the same kind of thing. Absent:
//! colours and markup.

use std::collections::BTreeMap;

use similar::{ChangeTag, TextDiff};

use super::Language;
use super::head::Head;

/// Texts of one shader by language.
pub type Texts = BTreeMap<Language, String>;

/// Texts by kernel and name.
pub type Folder = BTreeMap<(String, String), Texts>;

/// What became of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// All texts are equal, or there is nothing to compare with.
    Same,
    /// A text differs.
    Changed,
    /// It was not there.
    New,
    /// It is no longer there.
    Gone,
}

/// A figure on both sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// The old value, empty where there is none.
    pub old: String,
    /// The new value, likewise.
    pub new: String,
}

/// A line of a difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// `' '`, `'-'` or `'+'`.
    pub sign: char,
    /// The line without its end.
    pub text: String,
    /// Whether a change is at most so many lines away that it should be shown with it.
    pub near: bool,
}

/// A shader on both sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The kernel.
    pub kernel: String,
    /// The schedule, or what stands for it.
    pub name: String,
    /// More about it.
    pub note: String,
    /// The old texts.
    pub old: Option<Texts>,
    /// The new texts.
    pub new: Option<Texts>,
}

/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 3;

impl Pair {
    /// What became of it.
    pub fn state(&self) -> State {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) if old != new => State::Changed,
            (None, Some(_)) => State::New,
            (Some(_), None) => State::Gone,
            _ => State::Same,
        }
    }

    /// Both heads; the language does not matter, because all say the same.
    pub fn heads(&self) -> [Head; 2] {
        [&self.old, &self.new].map(|side| {
            let first = side.as_ref().and_then(|texts| texts.first_key_value());
            first.map(|(language, text)| Head::read(text, *language)).unwrap_or_default()
        })
    }

    /// What was compiled, and for which extents.
    pub fn subject(&self) -> String {
        let [old, new] = self.heads();
        let side = if self.new.is_some() { new } else { old };
        side.subject().to_string()
    }

    /// The schedule's lines.
    pub fn schedule(&self) -> Vec<Line> {
        let [old, new] = self.heads();
        lines(&old.schedule, &new.schedule)
    }

    /// The figures of the cost.
    pub fn cost(&self) -> Vec<Figure> {
        let [old, new] = self.heads();
        let with_dispatch = |head: Head| {
            let size = head.dispatch.strip_prefix("dispatch ").map(|size| ("dispatch".to_string(), size.to_string()));
            size.into_iter().chain(head.cost).collect::<Vec<_>>()
        };
        figures(&with_dispatch(old), &with_dispatch(new))
    }

    /// The languages that either side has.
    pub fn languages(&self) -> Vec<Language> {
        let has = |side: &Option<Texts>, language| side.as_ref().is_some_and(|texts| texts.contains_key(&language));
        Language::ALL.into_iter().filter(|l| has(&self.old, *l) || has(&self.new, *l)).collect()
    }

    /// The lines of the shader in a language, without its head.
    pub fn lines(&self, language: Language) -> Vec<Line> {
        let body = |side: &Option<Texts>| {
            let text = side.as_ref().and_then(|texts| texts.get(&language));
            text.map(|text| Head::read(text, language).body).unwrap_or_default()
        };
        lines(&body(&self.old), &body(&self.new))
    }
}

/// A comparison as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// What is compared.
    pub title: String,
    /// The old side's name; empty where there is nothing to compare with.
    pub old: String,
    /// The new side's name.
    pub new: String,
    /// Lines under the title.
    pub notes: Vec<String>,
    /// Lines of schedules and other settings that stand above all shaders.
    pub settings: Vec<Line>,
    /// Figures that stand above all shaders.
    pub plan: Vec<Figure>,
    /// The shaders.
    pub pairs: Vec<Pair>,
}

/// Every shader of two folders, by kernel in the order of the new one, and then what is gone.
pub fn folders(old: &Folder, new: &Folder) -> Vec<Pair> {
    let keys = new.keys().chain(old.keys().filter(|key| !new.contains_key(*key)));
    let pair = |key: &(String, String)| Pair {
        kernel: key.0.clone(),
        name: key.1.clone(),
        note: String::new(),
        old: old.get(key).cloned(),
        new: new.get(key).cloned(),
    };
    keys.map(pair).collect()
}

/// Figures by name on both sides, in the order of the new one.
pub fn figures(old: &[(String, String)], new: &[(String, String)]) -> Vec<Figure> {
    let value = |side: &[(String, String)], name: &str| {
        side.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let gone = old.iter().filter(|(name, _)| new.iter().all(|(n, _)| n != name));
    let names = new.iter().chain(gone).map(|(name, _)| name.clone());
    names.map(|name| Figure { old: value(old, &name), new: value(new, &name), name }).collect()
}

/// All lines of two texts, old ones before the new ones that take their place.
pub fn lines(old: &str, new: &str) -> Vec<Line> {
    let diff = TextDiff::from_lines(old, new);
    let line = |change: similar::Change<&str>| {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        Line { sign, text: change.value().trim_end_matches(['\n', '\r']).to_string(), near: false }
    };
    let mut lines: Vec<Line> = diff.iter_all_changes().map(line).collect();
    let changed: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].sign != ' ').collect();
    for at in changed {
        let end = (at + CONTEXT + 1).min(lines.len());
        lines[at.saturating_sub(CONTEXT)..end].iter_mut().for_each(|line| line.near = true);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_near_a_change_are_marked() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let found = lines(old, &old.replace("f\n", "F\n"));
        let text: String =
            found.iter().map(|l| format!("{}{}{} ", l.sign, l.text, if l.near { "!" } else { "" })).collect();
        assert_eq!(text, " a  b  c!  d!  e! -f! +F!  g!  h! ");
        assert!(lines(old, old).iter().all(|l| l.sign == ' ' && !l.near));
        assert_eq!(lines("", "").len(), 0);
    }

    #[test]
    fn figures_that_one_side_lacks_are_empty() {
        let side = |rows: &[(&str, &str)]| rows.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect::<Vec<_>>();
        let found = figures(&side(&[("loads", "4"), ("rounds of k", "9")]), &side(&[("loads", "2")]));
        let row = |name: &str, old: &str, new: &str| Figure { name: name.into(), old: old.into(), new: new.into() };
        assert_eq!(found, [row("loads", "4", "2"), row("rounds of k", "9", "")]);
    }

    #[test]
    fn shaders_come_go_and_change() {
        let folder = |names: &[(&str, &str)]| -> Folder {
            let texts = |text: &str| Texts::from([(Language::Wgsl, text.to_string())]);
            names.iter().map(|(name, text)| (("k".to_string(), name.to_string()), texts(text))).collect()
        };
        let pairs =
            folders(&folder(&[("a", "1"), ("b", "1"), ("d", "1")]), &folder(&[("a", "1"), ("b", "2"), ("c", "1")]));
        let found: Vec<_> = pairs.iter().map(|p| (p.name.as_str(), p.state())).collect();
        assert_eq!(found, [("a", State::Same), ("b", State::Changed), ("c", State::New), ("d", State::Gone)]);
    }
}
