//! One set of texts against another: the model behind the text and the page of `diff`.
//!
//! From files by kernel and name it makes pairs with their state, schedules, figures and lines. The rule: everything is read off
//! the texts' own heads, so that a file of an old revision and one that was just generated are the same kind of thing. Absent:
//! colours and markup.

use std::collections::{BTreeMap, BTreeSet};

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

    /// The figures of the cost, and above them what else the heads state: the target always, the extents where they differ.
    pub fn cost(&self) -> Vec<Figure> {
        let [old, new] = self.heads();
        let moved = self.old.is_some() && self.new.is_some() && old.subject() != new.subject();
        let rows = |head: &Head| {
            let row = |name: &str, value: &str| (name.to_string(), value.to_string());
            let target = [row("target", head.target())].into_iter().filter(|(_, name)| !name.is_empty());
            let subject = moved.then(|| row("compiled", head.subject()));
            target.chain(subject).chain(head.lines.clone()).chain(head.cost.clone()).collect::<Vec<_>>()
        };
        figures(&rows(&old), &rows(&new))
    }

    /// The languages whose texts differ in anything, heads included.
    pub fn changed(&self) -> Vec<Language> {
        let text = |side: &Option<Texts>, language| side.as_ref().and_then(|texts| texts.get(&language)).cloned();
        let differs = |language: &Language| text(&self.old, *language) != text(&self.new, *language);
        self.languages().into_iter().filter(differs).collect()
    }

    /// The languages that either side has.
    pub fn languages(&self) -> Vec<Language> {
        let has = |side: &Option<Texts>, language| side.as_ref().is_some_and(|texts| texts.contains_key(&language));
        Language::ALL.into_iter().filter(|l| has(&self.old, *l) || has(&self.new, *l)).collect()
    }

    /// The lines of the shader in a language: without its head, which the schedule and the figures say, unless the texts differ in
    /// nothing else.
    pub fn lines(&self, language: Language) -> Vec<Line> {
        let text = |side: &Option<Texts>| {
            side.as_ref().and_then(|texts| texts.get(&language)).map(String::as_str).unwrap_or_default().to_string()
        };
        let (old, new) = (text(&self.old), text(&self.new));
        let body = |text: &str| Head::read(text, language).body;
        let bodies = lines(&body(&old), &body(&new));
        let seen = bodies.iter().chain(&self.schedule()).any(|line| line.sign != ' ');
        if old == new || seen || self.cost().iter().any(|f| f.old != f.new) { bodies } else { lines(&old, &new) }
    }
}

/// A reviewed text that is no shader: a plan or an explanation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    /// Its place under `snapshots/`, such as `plans/tiny-3`.
    pub name: String,
    /// The old text.
    pub old: Option<String>,
    /// The new text.
    pub new: Option<String>,
}

/// Texts that are no shaders by their place.
pub type Documents = BTreeMap<String, String>;

impl Document {
    /// What became of it.
    pub fn state(&self) -> State {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) if old != new => State::Changed,
            (None, Some(_)) => State::New,
            (Some(_), None) => State::Gone,
            _ => State::Same,
        }
    }

    /// Its lines.
    pub fn lines(&self) -> Vec<Line> {
        lines(self.old.as_deref().unwrap_or_default(), self.new.as_deref().unwrap_or_default())
    }
}

/// Every text of both sides, by place.
pub fn documents(old: &Documents, new: &Documents) -> Vec<Document> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let document =
        |name: &String| Document { name: name.clone(), old: old.get(name).cloned(), new: new.get(name).cloned() };
    names.into_iter().map(document).collect()
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
    /// Plans and explanations.
    pub documents: Vec<Document>,
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

    /// A shader whose only language is WGSL, under a head with these words.
    fn headed(target: &str, size: &str, more: &str) -> Option<Texts> {
        let text = format!(
            "// kernel k, shape A = 1, schedule s, target {target}\n// schedule s for k {{\n// }}\n// dispatch {size}\n// cost\n{more}\nx\n"
        );
        Some(Texts::from([(Language::Wgsl, text)]))
    }

    #[test]
    fn no_change_is_invisible() {
        let row = |name: &str, old: &str, new: &str| Figure { name: name.into(), old: old.into(), new: new.into() };
        let pair = |old, new| Pair { kernel: "k".into(), name: "s".into(), note: String::new(), old, new };
        let same = || headed("webgpu", "4", "");
        let other = pair(same(), headed("wide", "4", ""));
        assert_eq!(other.cost(), [row("target", "webgpu", "wide"), row("dispatch", "4", "4")]);
        assert!(other.lines(Language::Wgsl).iter().all(|l| l.sign == ' '), "the table says it");
        // A line that neither table nor schedule has a place for.
        let odd = pair(same(), headed("webgpu", "4", "// odd\n"));
        assert!(odd.lines(Language::Wgsl).iter().any(|l| l.sign == '+' && l.text == "// odd"));
        let mut hlsl = pair(same(), same());
        hlsl.new.as_mut().unwrap().insert(Language::Hlsl, "float f;\n".into());
        assert_eq!((hlsl.state(), hlsl.changed()), (State::Changed, vec![Language::Hlsl]));
        assert!(pair(same(), same()).changed().is_empty());
    }

    #[test]
    fn documents_of_either_side_are_compared() {
        let side = |of: &[(&str, &str)]| of.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect::<Documents>();
        let found =
            documents(&side(&[("a", "1"), ("b", "1"), ("d", "1")]), &side(&[("a", "1"), ("b", "2"), ("c", "1")]));
        let states: Vec<_> = found.iter().map(|d| (d.name.as_str(), d.state())).collect();
        assert_eq!(states, [("a", State::Same), ("b", State::Changed), ("c", State::New), ("d", State::Gone)]);
        assert_eq!(found[1].lines().iter().map(|l| l.sign).collect::<String>(), "-+");
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
