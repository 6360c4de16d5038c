//! The text of schedules, read back: what [`Schedule`] prints, several in a file, `// comments` between the words, and
//! `schedule NAME for KERNEL from BASE { .. }` where BASE stands before it in the file.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use super::*;

/// What is wrong with a schedule's text.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[error("{}{line}:{column}: expected {expected}, found {found}", if .file.is_empty() { String::new() } else { format!("{}:", .file) })]
pub struct SyntaxError {
    /// The file; empty for a text without one.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What may stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl FromStr for Schedule {
    type Err = SyntaxError;
    /// One schedule.
    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut parser = Parser::new("", text);
        let schedule = parser.schedule(&[])?;
        match parser.token().kind {
            Kind::End => Ok(schedule),
            _ => Err(parser.expected("the end of the text")),
        }
    }
}

/// All schedules of a text, in order; `file` is its name in messages.
pub fn parse_file(file: &str, text: &str) -> Result<Vec<Schedule>, SyntaxError> {
    let mut parser = Parser::new(file, text);
    let mut schedules = Vec::new();
    while parser.token().kind != Kind::End {
        schedules.push(parser.schedule(&schedules)?);
    }
    Ok(schedules)
}

#[derive(Clone, PartialEq)]
enum Kind {
    /// A name with its dots.
    Word(String),
    Number(String),
    Sign(char),
    End,
}

#[derive(Clone)]
struct Token {
    kind: Kind,
    line: u32,
    column: u32,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Word(text) | Kind::Number(text) => write!(f, "`{text}`"),
            Kind::Sign(sign) => write!(f, "`{}`", sign.escape_debug()),
            Kind::End => f.write_str("the end of the text"),
        }
    }
}

/// The words of a text; the last one is [`Kind::End`].
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut line, mut column) = (1, 1);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first.is_ascii_alphanumeric() || first == '_' {
            let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || (c == '.' && !first.is_ascii_digit());
            let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
            let word = rest[..length].to_string();
            let kind = if first.is_ascii_digit() { Kind::Number(word) } else { Kind::Word(word) };
            tokens.push(Token { kind, line, column });
            length
        } else {
            if !first.is_whitespace() {
                tokens.push(Token { kind: Kind::Sign(first), line, column });
            }
            first.len_utf8()
        };
        for c in rest[..length].chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        rest = &rest[length..];
    }
    tokens.push(Token { kind: Kind::End, line, column });
    tokens
}

struct Parser<'t> {
    file: &'t str,
    tokens: Vec<Token>,
    at: usize,
    seen: HashSet<String>,
}

const DIRECTIVES: &str = "`workgroup`, `fold`, `stage`, `compute`, `store`, `tail`, `AXIS: levels` or `}`";

impl<'t> Parser<'t> {
    fn new(file: &'t str, text: &str) -> Self {
        Parser { file, tokens: tokens(text), at: 0, seen: HashSet::new() }
    }

    fn token(&self) -> &Token {
        // `next` never passes the last token, which is `End`.
        &self.tokens[self.at]
    }

    fn next(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn expected(&self, expected: impl Into<String>) -> SyntaxError {
        let token = self.token();
        SyntaxError {
            file: self.file.into(),
            line: token.line,
            column: token.column,
            expected: expected.into(),
            found: token.to_string(),
        }
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
            let later = ["matrix", "int8", "nf4"].into_iter().find(|w| self.is_word(w));
            let note = later.map(|w| format!(" (`{w}` is not available yet)")).unwrap_or_default();
            return Err(self.expected(words.join(" or ") + &note));
        };
        self.next();
        Ok(*found)
    }

    fn once(&mut self, directive: String) -> Result<(), SyntaxError> {
        if self.seen.insert(directive.clone()) {
            Ok(())
        } else {
            Err(self.expected(format!("one directive `{directive}`, not a second")))
        }
    }

    fn schedule(&mut self, before: &[Schedule]) -> Result<Schedule, SyntaxError> {
        let line = self.token().line;
        self.keyword("schedule")?;
        let name = self.name("a name for the schedule")?;
        self.keyword("for")?;
        let kernel = self.name("the name of a kernel")?;
        let mut base = None;
        if self.is_word("from") {
            self.next();
            let found = before.iter().find(|s| self.is_word(&s.name) && s.kernel == kernel);
            let wanted = || format!("a schedule for `{kernel}` that stands before this one");
            base = Some(found.ok_or_else(|| self.expected(wanted()))?);
            self.next();
        }
        self.sign('{')?;
        self.seen.clear();
        let origin = Origin { file: self.file.into(), line };
        let mut schedule = Schedule { name, kernel, origin, ..Schedule::default() };
        while !self.is_sign('}') {
            self.directive(&mut schedule)?;
            self.sign(';')?;
        }
        self.next();
        Ok(match base {
            Some(base) => base.derived(schedule),
            None => schedule,
        })
    }

    fn directive(&mut self, s: &mut Schedule) -> Result<(), SyntaxError> {
        if self.tokens.get(self.at + 1).is_some_and(|t| t.kind == Kind::Sign(':')) {
            let axis = self.name("an axis")?;
            self.once(format!("{axis}: ..."))?;
            let mut levels = Vec::new();
            self.sign(':')?;
            levels.push(self.level()?);
            while self.is_sign(',') {
                self.next();
                levels.push(self.level()?);
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
                self.once("workgroup".into())?;
                self.next();
                s.workgroup = Some(self.number()?);
            }
            "fold" => {
                let axis = self.about(&word, "an axis")?;
                s.folds.push((axis, self.word(Fold::ALL, Fold::word)?));
            }
            "store" => {
                let tensor = self.about(&word, "a tensor")?;
                s.stores.push((tensor, self.word(Storage::ALL, Storage::word)?));
            }
            "tail" => {
                let axis = self.about(&word, "an axis")?;
                s.tails.push((axis, self.word(Tail::ALL, Tail::word)?));
            }
            "stage" => {
                self.next();
                let tensor = self.name("a tensor")?;
                let at = self.at_level()?;
                self.sign(':')?;
                let place = self.word(Place::ALL, Place::word)?;
                self.once(format!("stage {tensor} ...: {place}"))?;
                s.stages.push(Stage { tensor, at, place });
            }
            "compute" => {
                self.next();
                let value = self.name("a `let`")?;
                self.once(format!("compute {value} ..."))?;
                let at = self.at_level()?;
                let mut place = Place::Registers;
                if self.is_sign(':') {
                    self.next();
                    place = self.word(Place::ALL, Place::word)?;
                }
                s.computes.push(Compute { value, at, place });
            }
            "merge" => return Err(self.expected(format!("{DIRECTIVES} (`merge` is not available yet)"))),
            _ => return Err(self.expected(DIRECTIVES)),
        }
        Ok(())
    }

    /// `DIRECTIVE NAME:`.
    fn about(&mut self, directive: &str, what: &str) -> Result<String, SyntaxError> {
        self.next();
        let name = self.name(what)?;
        self.once(format!("{directive} {name}"))?;
        self.sign(':')?;
        Ok(name)
    }

    fn at_level(&mut self) -> Result<String, SyntaxError> {
        self.keyword("at")?;
        self.name("a level")
    }

    fn level(&mut self) -> Result<Level, SyntaxError> {
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
            let name = self.name("a name for the level")?;
            self.once(format!("... as {name}"))?;
            level.name = Some(name);
        }
        Ok(level)
    }
}
