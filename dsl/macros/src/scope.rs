//! The names that a kernel's text knows, and the mistakes found in it so far.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Error;

#[derive(Clone, Copy, PartialEq)]
pub enum Role {
    In,
    Out,
    InOut,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Tensor {
        role: Role,
        rank: usize,
    },
    Scalar,
    Extent,
    Axis,
    Value,
    /// `let a = |c| e`; `reduces`: indexing it twice would run a reduction twice.
    Array {
        rank: usize,
        reduces: bool,
    },
    /// The parameter of an array.
    Index,
    /// `a` or `b` of a merge.
    Operand,
    /// The parameter of an array field in a monoid: it only picks the element at hand.
    Element,
}

impl Kind {
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Tensor { .. } => "a tensor",
            Kind::Scalar => "a scalar",
            Kind::Extent => "an extent",
            Kind::Axis => "an axis",
            Kind::Value => "a `let`",
            Kind::Array { .. } => "an array",
            Kind::Index | Kind::Element => "the index of an array",
            Kind::Operand => "an operand of the merge",
        }
    }
}

#[derive(Default)]
pub struct Scope {
    errors: Vec<Error>,
    visible: Vec<(String, Kind)>,
    taken: HashMap<String, Kind>,
    used: HashSet<String>,
    /// Arrays with a reduction that have been indexed.
    reduced: HashSet<String>,
    /// What each `let` stands for, as text, so that equal indices of an in-out tensor are seen to be equal.
    texts: HashMap<String, String>,
    /// Reads of in-out tensors in the bodies that are open, with their indices as text.
    pub reads: Vec<(String, String, Span)>,
    /// Inside the closure of an array: a `let` there has no one value that a schedule could name.
    pub in_array: bool,
    pub in_monoid: bool,
    /// Whether a reduction has been met.
    pub reduces: bool,
    /// The names that schedules may use.
    pub axes: Vec<Ident>,
    pub tensors: Vec<Ident>,
    pub values: Vec<Ident>,
}

impl Scope {
    pub fn error(&mut self, at: impl ToTokens, message: impl std::fmt::Display) {
        self.errors.push(Error::new_spanned(at, message));
    }

    pub fn error_at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.errors.push(Error::new(span, message));
    }

    pub fn is_clean(&self) -> bool {
        self.errors.is_empty()
    }

    /// All mistakes as `compile_error!`s.
    pub fn compile_errors(self) -> TokenStream {
        self.errors.iter().map(Error::to_compile_error).collect()
    }

    /// Gives a name that is unique in the whole kernel.
    pub fn declare(&mut self, name: &Ident, kind: Kind) {
        let text = name.to_string();
        match self.taken.insert(text.clone(), kind) {
            Some(old) => {
                let noun = old.noun();
                self.error(
                    name,
                    format!("`{text}` is already {noun} of this kernel: schedules need unique names; rename one"),
                );
            }
            None if text == "LOWEST" => self.error(name, "`LOWEST` is the least finite f32: choose another name"),
            None => match kind {
                Kind::Tensor { .. } => self.tensors.push(name.clone()),
                Kind::Axis => self.axes.push(name.clone()),
                Kind::Value if !self.in_array && !self.in_monoid => self.values.push(name.clone()),
                _ => {}
            },
        }
        self.visible.push((text, kind));
    }

    /// Gives a name that only has to differ from what is visible.
    pub fn declare_index(&mut self, name: &Ident, kind: Kind) {
        let text = name.to_string();
        if let Some(old) = self.find(&text) {
            let noun = old.noun();
            self.error(name, format!("`{text}` is already {noun}: choose another name for the index"));
        }
        self.visible.push((text, kind));
    }

    pub fn mark(&self) -> usize {
        self.visible.len()
    }

    pub fn leave(&mut self, mark: usize) {
        self.visible.truncate(mark);
    }

    fn find(&self, name: &str) -> Option<Kind> {
        self.visible.iter().rev().find(|n| n.0 == name).map(|n| n.1)
    }

    /// What a used name stands for; a mistake where it is nothing.
    pub fn lookup(&mut self, name: &Ident) -> Option<Kind> {
        let text = name.to_string();
        self.used.insert(text.clone());
        let found = self.find(&text);
        if found.is_none() {
            let message = match self.taken.get(&text) {
                Some(kind) => format!("`{text}` is {} of another scope: it has no value here", kind.noun()),
                None if self.in_monoid => format!("`{text}` is not a name of this merge"),
                None => format!("`{text}` is not a tensor, scalar, axis, extent or `let` of this kernel"),
            };
            self.error(name, message);
        }
        found
    }

    /// The names of the extents.
    pub fn extents(&self) -> Vec<&str> {
        self.visible.iter().filter(|n| n.1 == Kind::Extent).map(|n| n.0.as_str()).collect()
    }

    /// Whether an array that contains a reduction was indexed before.
    pub fn second_use(&mut self, name: &Ident) -> bool {
        !self.reduced.insert(name.to_string())
    }

    pub fn is_used(&self, name: &Ident) -> bool {
        self.used.contains(&name.to_string())
    }

    /// Remembers what a `let` stands for.
    pub fn stands_for(&mut self, name: &Ident, value: &TokenStream) {
        let text = self.text(value.clone());
        self.texts.insert(name.to_string(), text);
    }

    /// Tokens as text, with each `let` replaced by what it stands for.
    pub fn text(&self, tokens: TokenStream) -> String {
        let mut text = String::new();
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    text.push('(');
                    text.push_str(&self.text(group.stream()));
                    text.push(')');
                }
                TokenTree::Ident(name) => match self.texts.get(&name.to_string()) {
                    Some(value) => text.push_str(value),
                    None => text.push_str(&name.to_string()),
                },
                other => text.push_str(&other.to_string()),
            }
            text.push(' ');
        }
        text.trim_end().into()
    }
}
