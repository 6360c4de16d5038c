//! The words of a schedule's text, with the place of each.

use std::fmt;

#[derive(Clone, PartialEq)]
pub enum Kind {
    /// A name with its dots.
    Word(String),
    Number(String),
    Sign(char),
    End,
}

#[derive(Clone)]
pub struct Token {
    pub kind: Kind,
    /// Line and column in characters, both from 1.
    pub at: (u32, u32),
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

/// The words of a text; the last one is [`Kind::End`]. A byte-order mark is no part of it.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut line, mut column) = (1, 1);
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first.is_ascii_alphanumeric() || first == '_' {
            let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || (c == '.' && !first.is_ascii_digit());
            let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
            let word = rest[..length].to_string();
            let kind = if first.is_ascii_digit() { Kind::Number(word) } else { Kind::Word(word) };
            tokens.push(Token { kind, at: (line, column) });
            length
        } else {
            if !first.is_whitespace() {
                tokens.push(Token { kind: Kind::Sign(first), at: (line, column) });
            }
            first.len_utf8()
        };
        for c in rest[..length].chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        rest = &rest[length..];
    }
    tokens.push(Token { kind: Kind::End, at: (line, column) });
    tokens
}
