//! A comparison as one HTML page that needs nothing else: what a reviewer attaches to a pull request.
//!
//! The frame is a template; lines of code are made here, escaped word by word. The rule: no address of another host is on the
//! page, it can be read without its script, and a block of code scrolls in itself, never the page.

use std::collections::{BTreeMap, HashSet};

use minijinja::{Environment, Value, context};

use super::Language;
use super::compare::{Comparison, Document, Figure, Line, Pair, State};
use super::highlight;

const TEMPLATE: &str = include_str!("page.html");

/// The page.
///
/// # Errors
/// None for the template that is built in.
pub fn html(comparison: &Comparison) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.add_template("page.html", TEMPLATE)?;
    let compared = !comparison.old.is_empty();
    let mut groups: Vec<(String, Vec<Value>)> = Vec::new();
    let mut taken = HashSet::new();
    for pair in &comparison.pairs {
        if groups.last().is_none_or(|(kernel, _)| *kernel != pair.kernel) {
            groups.push((pair.kernel.clone(), Vec::new()));
        }
        if let Some((_, shaders)) = groups.last_mut() {
            shaders.push(shader(pair, anchor(&format!("{}/{}", pair.kernel, pair.name), &mut taken), compared));
        }
    }
    let groups: Vec<Value> = groups.into_iter().map(|(kernel, shaders)| group(&kernel, shaders)).collect();
    let documents = comparison.documents.iter().map(|d| document(d, anchor(&d.name, &mut taken)));
    let documents: Vec<Value> = documents.collect();
    let documents = (!documents.is_empty()).then(|| group("plans and explanations", documents));
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for state in comparison.pairs.iter().map(Pair::state).chain(comparison.documents.iter().map(Document::state)) {
        *states.entry(word(state)).or_default() += 1;
    }
    let settings = comparison.settings.iter().any(|line| line.sign != ' ');
    let page = environment.get_template("page.html")?.render(context! {
        title => &comparison.title,
        old => &comparison.old,
        new => &comparison.new,
        notes => comparison.notes.iter().map(|note| marked(note)).collect::<Vec<_>>(),
        settings => settings.then(|| code(&comparison.settings, true)),
        plan => table(&comparison.plan),
        states,
        compared,
        groups,
        documents,
    })?;
    Ok(page + "\n")
}

fn word(state: State) -> &'static str {
    match state {
        State::Same => "same",
        State::Changed => "changed",
        State::New => "new",
        State::Gone => "gone",
    }
}

/// What stands under one name in the list; what is equal stands behind what is not.
fn group(name: &str, entries: Vec<Value>) -> Value {
    let same = |entry: &Value| entry.get_attr("state").is_ok_and(|state| state.as_str() == Some("same"));
    let (same, other): (Vec<Value>, Vec<Value>) = entries.iter().cloned().partition(same);
    context! { name, entries, other, same }
}

/// A place on the page that is called as what stands there, so that a link to it holds when other shaders come and go.
fn anchor(name: &str, taken: &mut HashSet<String>) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || "/._".contains(c) { c } else { '-' };
    let name: String = name.replace(" -> ", "-").chars().map(legal).collect();
    let numbered = (2..).map(|i| format!("{name}-{i}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|n| !taken.contains(n)).unwrap_or(name);
    taken.insert(free.clone());
    free
}

/// Words of a line, with what stands between backticks as code.
fn marked(line: &str) -> Value {
    let part = |(i, text): (usize, &str)| match i % 2 {
        1 => format!("<code>{}</code>", highlight::escape(text)),
        _ => highlight::escape(text),
    };
    let whole = line.matches('`').count().is_multiple_of(2);
    let out = if whole { line.split('`').enumerate().map(part).collect() } else { highlight::escape(line) };
    Value::from_safe_string(out)
}

fn document(document: &Document, id: String) -> Value {
    let state = word(document.state());
    let name = &document.name;
    context! { id, name, state, code => code(&document.lines(), state != "same") }
}

/// A language's name above its text.
fn title(language: Language) -> String {
    match language {
        Language::Loops => "Loop IR".into(),
        _ => language.extension().to_uppercase(),
    }
}

fn shader(pair: &Pair, id: String, compared: bool) -> Value {
    let has = pair.languages();
    let columns: Vec<Value> = Language::ALL
        .into_iter()
        .filter(|language| has.contains(language))
        .map(|language| {
            let lines = pair.lines(language);
            let changed = compared && lines.iter().any(|line| line.sign != ' ');
            context! { title => title(language), changed, code => code(&lines, changed) }
        })
        .collect();
    context! {
        id,
        name => &pair.name,
        kernel => &pair.kernel,
        subject => pair.subject(),
        note => &pair.note,
        state => if compared { word(pair.state()) } else { "same" },
        schedule => code(&pair.schedule(), compared),
        cost => table(&pair.cost()),
        columns,
    }
}

fn table(figures: &[Figure]) -> Vec<Value> {
    let row = |f: &Figure| context! { name => &f.name, old => &f.old, new => &f.new, changed => f.old != f.new };
    figures.iter().map(row).collect()
}

/// Lines as HTML; signs are shown where there is something to compare with.
fn code(lines: &[Line], signs: bool) -> Value {
    let some = lines.iter().any(|line| line.near);
    let mut out = String::new();
    for group in lines.chunk_by(|a, b| a.near == b.near) {
        let far = signs && some && !group[0].near;
        if far {
            let s = if group.len() == 1 { "" } else { "s" };
            out += &format!("<span class=gap>{} equal line{s}</span>", group.len());
        }
        for line in group {
            let class = match line.sign {
                '-' if signs => "l del",
                '+' if signs => "l add",
                _ if far => "l far",
                _ => "l",
            };
            let sign = if signs { format!("<i>{}</i>", line.sign) } else { String::new() };
            out += &format!("<span class=\"{class}\">{sign}{}</span>", highlight::line(&line.text));
        }
    }
    Value::from_safe_string(out)
}

#[cfg(test)]
mod tests {
    use super::super::compare::{self, Texts};
    use super::*;

    fn comparison(old: &str, new: &str) -> Comparison {
        let texts = |text: &str| Some(Texts::from([(Language::Wgsl, text.to_string())]));
        Comparison {
            title: "<b>title</b>".into(),
            old: "a\"b".into(),
            new: "c".into(),
            notes: vec!["<note>".into()],
            settings: compare::lines("x<y\n", "x>y\n"),
            plan: compare::figures(&[("<figure>".into(), "1".into())], &[("<figure>".into(), "<2>".into())]),
            pairs: vec![Pair {
                kernel: "<k>".into(),
                name: "n'".into(),
                note: "&".into(),
                old: texts(old),
                new: texts(new),
            }],
            documents: vec![Document { name: "<d>".into(), old: Some(old.into()), new: Some(new.into()) }],
        }
    }

    #[test]
    fn everything_is_escaped() {
        let page = html(&comparison("a < b;\n", "a <script>alert(1)</script>;\n")).unwrap();
        for text in ["<b>title", "<script>alert", "<note>", "<k>", "<d>", "x<y", "<figure>", "<2>"] {
            assert!(!page.contains(text), "{text} is markup");
        }
        for text in ["&lt;b&gt;title", "a &lt;", "&lt;note&gt;", "&lt;k&gt;", "&lt;figure&gt;", "&lt;2&gt;"] {
            assert!(page.contains(text), "no {text}");
        }
    }

    #[test]
    fn what_is_equal_is_folded_away_in_the_list() {
        let mut comparison = comparison("a\n", "b\n");
        let mut same = comparison.pairs[0].clone();
        (same.name, same.new) = ("equal".into(), same.old.clone());
        comparison.pairs.insert(0, same);
        let page = html(&comparison).unwrap();
        let nav = page.split_once("<nav").unwrap().1.split_once("</nav>").unwrap().0.replace("&#x2f;", "/");
        let at = |part: &str| nav.find(part).unwrap_or_else(|| panic!("no {part} in {nav}"));
        assert!(at("#-k-/n-\"") < at("<summary>1 equal</summary>") && at("<summary>") < at("#-k-/equal"), "{nav}");
        let alone = Comparison { old: String::new(), ..comparison };
        assert!(!html(&alone).unwrap().contains("<summary>"), "without an old side nothing is equal");
    }

    #[test]
    fn a_place_is_called_as_what_stands_there() {
        let mut taken = HashSet::new();
        let found = ["attention/octets", "linear/row -> tiled", "linear/row -> tiled", "plans/tiny-3"]
            .map(|n| anchor(n, &mut taken));
        assert_eq!(found, ["attention/octets", "linear/row-tiled", "linear/row-tiled-2", "plans/tiny-3"]);
        let note = |text: &str| marked(text).to_string();
        assert_eq!(note("for `wide` <b>"), "for <code>wide</code> &lt;b&gt;");
        assert_eq!(note("one ` alone"), "one ` alone");
    }

    #[test]
    fn the_page_needs_nothing_else() {
        let page = html(&comparison("a\n", "b\n")).unwrap();
        for word in ["http:", "https:", "src=", "url(", "@import", "<link"] {
            assert!(!page.contains(word), "the page says {word}");
        }
    }

    #[test]
    fn changed_lines_are_marked_and_equal_ones_folded() {
        let old: String = (0..20).map(|i| format!("line{i};\n")).collect();
        let page = html(&comparison(&old, &old.replace("line9;", "other;"))).unwrap();
        assert!(page.contains("<span class=\"l del\"><i>-</i>line9;"), "{page}");
        assert!(page.contains("<span class=\"l add\"><i>+</i>other;"), "{page}");
        assert!(page.contains("<span class=gap>6 equal lines</span>"), "{page}");
        assert!(page.contains("<span class=\"l far\"><i> </i>line0;"), "{page}");
    }
}
