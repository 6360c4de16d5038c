//! The text of schedules, read back: what [`Schedule`] prints, several in a file, `// comments` between the words, and
//! `schedule NAME for KERNEL from BASE { .. }` where BASE stands before it in the file.
//!
//! The rule: all mistakes of a text come at once, each where it stands. After one, reading goes on behind the next `;`, or
//! at the end of the schedule.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use super::token::{Kind, Token, tokens};
use super::*;

/// What is wrong with a schedule's text, and where.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[error("{}{line}:{column}: {mistake}", if .file.is_empty() { String::new() } else { format!("{}:", .file) })]
pub struct SyntaxError {
    /// The file; empty for a text without one.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong there.
    pub mistake: Mistake,
}

/// What can be wrong at a place in a schedule's text.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum Mistake {
    /// Another word or sign should stand there.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What may stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// Something is said twice.
    #[error("a second {what}; the first is in line {line}, column {column}: {help}")]
    Twice {
        /// What is said.
        what: String,
        /// The line in which it was said first, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What to do instead.
        help: &'static str,
    },
}

/// All that is wrong with a text: at least one thing, in the order of the text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SyntaxErrors(pub Vec<SyntaxError>);

impl fmt::Display for SyntaxErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(SyntaxError::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for SyntaxErrors {}

impl FromStr for Schedule {
    type Err = SyntaxErrors;
    /// One schedule.
    fn from_str(text: &str) -> Result<Self, SyntaxErrors> {
        let mut parser = Parser::new("", text);
        let schedule = parser.schedule(&[]);
        if parser.errors.is_empty() && parser.token().kind != Kind::End {
            let error = parser.expected("the end of the text");
            parser.errors.push(error);
        }
        parser.finish(schedule.unwrap_or_default())
    }
}

/// All schedules of a text, in order; `file` is its name in messages.
///
/// # Errors
/// All mistakes of the text; a text without a schedule is one.
pub fn parse_file(file: &str, text: &str) -> Result<Vec<Schedule>, SyntaxErrors> {
    let mut parser = Parser::new(file, text);
    let mut schedules = Vec::new();
    if parser.token().kind == Kind::End {
        let error = parser.expected("at least one `schedule NAME for KERNEL { .. }`");
        parser.errors.push(error);
    }
    while parser.token().kind != Kind::End {
        let schedule = parser.schedule(&schedules);
        schedules.extend(schedule);
    }
    parser.finish(schedules)
}

struct Parser<'t> {
    file: &'t str,
    tokens: Vec<Token>,
    at: usize,
    /// What has been said, and where: by schedules of the text, and by directives of the schedule at hand.
    schedules: HashMap<String, (u32, u32)>,
    directives: HashMap<String, (u32, u32)>,
    /// Where the parts of the schedule at hand stand.
    parts: Vec<(Spot, (u32, u32))>,
    errors: Vec<SyntaxError>,
}

const DIRECTIVES: &str = "`workgroup`, `fold`, `stage`, `compute`, `store`, `tail`, `AXIS: levels` or `}`";

/// The name, kernel and base of a schedule.
type Head<'s> = (String, String, Option<&'s Schedule>);

impl<'t> Parser<'t> {
    fn new(file: &'t str, text: &str) -> Self {
        let (schedules, directives) = (HashMap::new(), HashMap::new());
        Parser { file, tokens: tokens(text), at: 0, schedules, directives, parts: Vec::new(), errors: Vec::new() }
    }

    fn finish<T>(self, done: T) -> Result<T, SyntaxErrors> {
        if self.errors.is_empty() { Ok(done) } else { Err(SyntaxErrors(self.errors)) }
    }

    fn token(&self) -> &Token {
        // `next` never passes the last token, which is `End`.
        &self.tokens[self.at]
    }

    fn next(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn here(&self) -> (u32, u32) {
        self.token().at
    }

    fn error(&self, (line, column): (u32, u32), mistake: Mistake) -> SyntaxError {
        SyntaxError { file: self.file.into(), line, column, mistake }
    }

    fn expected(&self, expected: impl Into<String>) -> SyntaxError {
        let mut expected = expected.into();
        if self.is_sign('/') || self.is_sign('#') {
            expected.push_str(" (a comment begins with `//`)");
        }
        self.error(self.here(), Mistake::Expected { expected, found: self.token().to_string() })
    }

    fn sign(&mut self, sign: char) -> Result<(), SyntaxError> {
        if self.token().kind != Kind::Sign(sign) {
            return Err(self.expected(format!("`{sign}`")));
        }
        self.next();
        Ok(())
    }

    fn is_sign(&self, sign: char) -> bool {
        self.token().kind == Kind::Sign(sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token().kind, Kind::Word(w) if w == word)
    }

    /// Whether `schedule NAME for` stands here.
    fn is_head(&self) -> bool {
        let is = |ahead: usize, word: &str| {
            self.tokens.get(self.at + ahead).is_some_and(|t| matches!(&t.kind, Kind::Word(w) if w == word))
        };
        is(0, "schedule") && is(2, "for")
    }

    fn keyword(&mut self, word: &str) -> Result<(), SyntaxError> {
        if !self.is_word(word) {
            return Err(self.expected(format!("`{word}`")));
        }
        self.next();
        Ok(())
    }

    fn name(&mut self, what: &str) -> Result<String, SyntaxError> {
        match &self.token().kind {
            Kind::Word(name) if name.split('.').all(|p| p.starts_with(|c: char| c == '_' || c.is_alphabetic())) => {
                let name = name.clone();
                self.next();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn number(&mut self) -> Result<u32, SyntaxError> {
        let number = match &self.token().kind {
            Kind::Number(text) => text.parse().ok().filter(|n| *n > 0),
            _ => None,
        };
        let number = number.ok_or_else(|| self.expected("a number from 1 to 4294967295"))?;
        self.next();
        Ok(number)
    }

    /// One of a type's words.
    fn word<T: Copy>(&mut self, all: &[T], word: impl Fn(T) -> &'static str) -> Result<T, SyntaxError> {
        let found = all.iter().find(|w| self.is_word(word(**w)));
        let Some(found) = found else {
            let words: Vec<_> = all.iter().map(|w| format!("`{}`", word(*w))).collect();
            return Err(self.expected(words.join(" or ")));
        };
        self.next();
        Ok(*found)
    }

    /// A storage; those of codes say in parentheses what shares a scale.
    fn storage(&mut self) -> Result<Storage, SyntaxError> {
        let head = |s: Storage| s.word().split('(').next().unwrap_or_default();
        let storage = Storage::ALL.iter().copied().find(|s| self.is_word(head(*s)));
        let Some(storage) = storage.filter(|s| s.quantised()) else { return self.word(Storage::ALL, Storage::word) };
        self.next();
        let shares = match storage.word().split_once('(') {
            Some((_, shares)) => shares.trim_end_matches(')'),
            None => return Ok(storage),
        };
        let found = match &self.token().kind {
            Kind::Sign('(') => self.tokens.get(self.at + 1).map(|t| t.kind.clone()),
            _ => None,
        };
        match found {
            Some(Kind::Word(text) | Kind::Number(text)) if text == shares => {
                self.next();
                self.next();
                self.sign(')')?;
                Ok(storage)
            }
            _ => Err(self.expected(format!("`({shares})`, the only form of `{}`", head(storage)))),
        }
    }

    /// Notes that a directive that began at `at` says this; a second one is a mistake, and reading goes on.
    fn once(&mut self, at: (u32, u32), what: String, help: &'static str) {
        if let Some(&(line, column)) = self.directives.get(&what) {
            let error = self.error(at, Mistake::Twice { what, line, column, help });
            self.errors.push(error);
        } else {
            self.directives.insert(what, at);
        }
    }

    /// A schedule; `None` where its head is wrong. Its mistakes are noted.
    fn schedule(&mut self, before: &[Schedule]) -> Option<Schedule> {
        let start = self.here();
        let head = self.head(before);
        let head = head.map_err(|error| {
            self.errors.push(error);
            while self.token().kind != Kind::End && !self.is_sign('{') && !self.is_head() {
                self.next();
            }
        });
        if head.is_err() && !self.is_sign('{') {
            return None;
        }
        let mut schedule = Schedule::default();
        self.body(&mut schedule);
        let (name, kernel, base) = head.ok()?;
        let parts = std::mem::take(&mut self.parts);
        let schedule = Schedule { name, kernel, origin: Origin::new(self.file, start, parts), ..schedule };
        Some(match base {
            Some(base) => base.derived(schedule),
            None => schedule,
        })
    }

    /// Everything before the `{`.
    fn head<'s>(&mut self, before: &'s [Schedule]) -> Result<Head<'s>, SyntaxError> {
        self.parts.clear();
        self.keyword("schedule")?;
        let at = self.here();
        let name = self.name("a name for the schedule")?;
        self.parts.push((Spot::Name, at));
        self.keyword("for")?;
        let kernel = self.name("the name of a kernel")?;
        let mut base = None;
        if self.is_word("from") {
            self.next();
            base = before.iter().find(|s| self.is_word(&s.name) && s.kernel == kernel);
            if base.is_none() {
                let error = self.expected(format!("a schedule for `{kernel}` that stands before this one"));
                self.errors.push(error);
            }
            self.next();
        }
        if !self.is_sign('{') {
            return Err(self.expected(if base.is_some() { "`{`" } else { "`from BASE` or `{`" }));
        }
        let what = format!("schedule `{name}` for `{kernel}`");
        match self.schedules.get(&what).copied() {
            Some((line, column)) => {
                let help = "give each its own name";
                let error = self.error(at, Mistake::Twice { what, line, column, help });
                self.errors.push(error);
            }
            None => {
                self.schedules.insert(what, at);
            }
        }
        Ok((name, kernel, base))
    }

    /// The directives in their braces.
    fn body(&mut self, schedule: &mut Schedule) {
        self.directives.clear();
        self.next();
        while !self.is_sign('}') {
            if let Err(error) = self.directive(schedule).and_then(|()| self.sign(';')) {
                self.errors.push(error);
                while !self.is_sign(';') && !self.is_sign('}') && self.token().kind != Kind::End && !self.is_head() {
                    self.next();
                }
                if self.is_sign(';') {
                    self.next();
                } else if !self.is_sign('}') {
                    return;
                }
            }
        }
        self.next();
    }

    fn directive(&mut self, s: &mut Schedule) -> Result<(), SyntaxError> {
        let at = self.here();
        if self.tokens.get(self.at + 1).is_some_and(|t| t.kind == Kind::Sign(':')) {
            let axis = self.name("an axis")?;
            self.once(at, format!("line for axis `{axis}`"), "put all its levels in one line, outermost first");
            self.parts.push((Spot::Axis(axis.clone()), at));
            let mut levels = Vec::new();
            self.sign(':')?;
            levels.push(self.level(&axis, 0)?);
            while self.is_sign(',') {
                self.next();
                levels.push(self.level(&axis, levels.len())?);
            }
            s.axes.push(AxisLevels { axis, levels });
            return Ok(());
        }
        let word = match &self.token().kind {
            Kind::Word(word) => word.clone(),
            _ => return Err(self.expected(DIRECTIVES)),
        };
        match word.as_str() {
            "workgroup" => {
                self.once(at, "`workgroup` line".into(), KEEP_ONE);
                self.next();
                self.part(Spot::Workgroup);
                s.workgroup = Some(self.number()?);
            }
            "fold" => {
                let axis = self.about(&word, "an axis")?;
                self.part(Spot::Fold(axis.clone()));
                s.folds.push((axis, self.word(Fold::ALL, Fold::word)?));
            }
            "store" => {
                let tensor = self.about(&word, "a tensor")?;
                self.part(Spot::Store(tensor.clone()));
                s.stores.push((tensor, self.storage()?));
            }
            "tail" => {
                let axis = self.about(&word, "an axis")?;
                self.part(Spot::Tail(axis.clone()));
                s.tails.push((axis, self.word(Tail::ALL, Tail::word)?));
            }
            "stage" => {
                self.next();
                let tensor = self.name("a tensor")?;
                let level = self.at_level()?;
                self.sign(':')?;
                // Of the two places, `registers` never applies; that is for `apply` to say.
                let places = if self.is_word(Place::Registers.word()) { Place::ALL } else { &[Place::Workgroup] };
                let place = self.word(places, Place::word)?;
                let mut storage = Storage::F32;
                if self.is_word(Storage::F16.word()) {
                    storage = Storage::F16;
                    self.next();
                }
                let ahead = self.is_word("ahead");
                if ahead {
                    self.next();
                }
                self.once(at, format!("`stage {tensor}` in {place}"), KEEP_ONE);
                self.parts.push((Spot::Stage(tensor.clone(), place), at));
                s.stages.push(Stage { tensor, at: level, place, storage, ahead });
            }
            "compute" => {
                self.next();
                let value = self.name("a `let`")?;
                self.once(at, format!("`compute {value}`"), KEEP_ONE);
                self.parts.push((Spot::Compute(value.clone()), at));
                let level = self.at_level()?;
                let mut place = Place::Registers;
                if self.is_sign(':') {
                    self.next();
                    place = self.word(Place::ALL, Place::word)?;
                }
                s.computes.push(Compute { value, at: level, place });
            }
            "merge" => return Err(self.expected(format!("{DIRECTIVES} (`merge` is not available yet)"))),
            _ => return Err(self.expected(DIRECTIVES)),
        }
        Ok(())
    }

    /// A part of the schedule begins at this token.
    fn part(&mut self, spot: Spot) {
        self.parts.push((spot, self.here()));
    }

    /// `DIRECTIVE NAME:`.
    fn about(&mut self, directive: &str, what: &str) -> Result<String, SyntaxError> {
        let at = self.here();
        self.next();
        let name = self.name(what)?;
        self.once(at, format!("`{directive} {name}`"), KEEP_ONE);
        self.sign(':')?;
        Ok(name)
    }

    fn at_level(&mut self) -> Result<String, SyntaxError> {
        self.keyword("at")?;
        self.name("a level")
    }

    /// The level of that number of an axis.
    fn level(&mut self, axis: &str, number: usize) -> Result<Level, SyntaxError> {
        self.part(Spot::Level(axis.into(), number));
        let kind = self.word(LevelKind::ALL, LevelKind::word)?;
        let mut level = Level { kind, size: None, name: None };
        if self.is_sign('(') {
            self.next();
            level.size = Some(self.number()?);
            self.sign(')')?;
        } else if !matches!(kind, LevelKind::Grid | LevelKind::Serial) {
            return Err(self.expected(format!("`(n)` after `{kind}`")));
        }
        if kind == LevelKind::Serial && self.is_word("as") {
            self.next();
            let at = self.here();
            let name = self.name("a name for the level")?;
            self.once(at, format!("level named `{name}`"), "give each its own name");
            level.name = Some(name);
        }
        Ok(level)
    }
}

const KEEP_ONE: &str = "keep one";
