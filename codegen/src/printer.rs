//! The walk over loop IR that every printer shares: statements to lines, expressions to pieces, each named once.
//!
//! What differs between shading languages is a [`Language`]: a table of spellings. It decides nothing, and neither does the
//! walk: what an expression means, and whether it is legal, was settled before, and every IR has a text. Absent: names, which
//! are [`Names`], and parentheses, which are [`Piece`]s.

use crate::loops::{Builtin, Expr, Kind, LoopIr, Stmt, Ty, Var};
use crate::names::{Names, PARAMS, nth};
use crate::precedence::{Piece, infix};
use crate::text::{component, number};
use crate::types::is_bool;
use crate::usage::Used;
use std::fmt::Write;
use tilewright_dsl::ir::{Binary, Type, Unary};

/// How a shading language spells what all of them have.
pub(crate) trait Language: Sized {
    /// Meeting of a workgroup.
    const BARRIER: &'static str;
    /// Everything above the first statement: bindings, workgroup memory and the entry's head.
    fn head(p: &mut Printer<'_, Self>);
    /// A declaration with its value; `register` where it is assigned again.
    fn define(p: &Printer<'_, Self>, v: Var, register: bool, value: &Expr) -> String;
    /// A u32 that never changes: a loop's bound.
    fn bound(name: &str, value: &str) -> String;
    /// A loop's counter with its first value.
    fn counter(name: &str, start: &str) -> String;
    /// A private array of zeros.
    fn array(name: &str, elem: Type, len: u32) -> String;
    /// The head of a branch.
    fn branch(condition: &str) -> String;
    /// Sets a word of a buffer.
    fn store(p: &Printer<'_, Self>, buffer: usize, index: &Expr, value: &Expr) -> String;
    /// The function whose value is the bits of a u32 as f32.
    const FROM_BITS: &'static str;
    /// The function for `a * b + c`, rounded once where the device can.
    const FMA: &'static str;
    /// A literal that reads back to the same bits.
    fn f32(x: f32) -> String;
    /// A built-in value.
    fn builtin(b: Builtin) -> String;
    /// `width` words of a buffer at word `index * width`.
    fn load(p: &Printer<'_, Self>, buffer: usize, index: &Expr, width: u8) -> Piece;
    /// One operand.
    fn unary(op: Unary, a: Piece) -> Piece;
    /// `cond ? yes : no`.
    fn select(cond: Piece, yes: Piece, no: Piece) -> Piece;
    /// Two f16 of a word as a vector of two f32.
    fn unpack_f16(word: Piece) -> Piece;
    /// The reverse.
    fn pack_f16(low: Piece, high: Piece) -> Piece;
    /// A statement on fragments, or one that narrows.
    fn fragments(p: &Printer<'_, Self>, stmt: &Stmt) -> String;
    /// The value of another invocation of the subgroup.
    fn shuffle_xor(a: Piece, mask: Piece) -> Piece;
}

/// A shader on its way to text.
pub(crate) struct Printer<'a, L> {
    pub(crate) ir: &'a LoopIr,
    pub(crate) language: L,
    pub(crate) names: Names,
    pub(crate) used: Used,
    out: String,
}

/// The text of a shader with the given names.
pub(crate) fn print<L: Language>(ir: &LoopIr, names: Names, language: L) -> String {
    let mut printer = Printer { ir, language, names, used: Used::new(ir), out: String::new() };
    L::head(&mut printer);
    printer.block(1, &ir.body);
    printer.line(0, "}");
    printer.out
}

impl<L: Language> Printer<'_, L> {
    pub(crate) fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", depth * 4);
    }

    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// One `//` a line, so that no text can end the comment; nor continue it, as a backslash at its end would.
    pub(crate) fn comment(&mut self, depth: usize, text: &str) {
        for part in text.lines() {
            self.line(depth, format!("// {part}").trim_end_matches(|c: char| c.is_whitespace() || c == '\\'));
        }
    }

    fn block(&mut self, depth: usize, body: &[Stmt]) {
        for stmt in body {
            self.stmt(depth, stmt);
        }
    }

    fn stmt(&mut self, depth: usize, stmt: &Stmt) {
        let text = match stmt {
            Stmt::Let(v, e) => L::define(self, *v, false, e),
            Stmt::Declare(v, e) => L::define(self, *v, true, e),
            Stmt::DeclareArray(v) => match self.ir.vars.get(v.0 as usize).map(|d| d.kind) {
                Some(Kind::Array(elem, len)) => L::array(&self.var(*v), elem, len),
                _ => L::array(&self.var(*v), Type::F32, 0),
            },
            Stmt::Assign(v, e) => format!("{} = {};", self.var(*v), self.text(e)),
            Stmt::SetElement(v, i, e) => format!("{}[{}] = {};", self.var(*v), self.index(i), self.text(e)),
            Stmt::StoreShared(s, i, e) => {
                format!("{}[{}] = {};", nth(&self.names.shared, *s), self.index(i), self.text(e))
            }
            Stmt::Store(b, i, e) => L::store(self, *b, i, e),
            Stmt::StoreNarrow(..)
            | Stmt::DeclareFragment(_)
            | Stmt::LoadFragment(..)
            | Stmt::MultiplyAdd(..)
            | Stmt::StoreFragment(..) => L::fragments(self, stmt),
            Stmt::Barrier => L::BARRIER.into(),
            Stmt::Comment(text) => return self.comment(depth, text),
            Stmt::If(cond, then, or) => {
                self.line(depth, &L::branch(&self.text(cond)));
                self.block(depth + 1, then);
                let mut or = or;
                while let [Stmt::If(cond, then, rest)] = &or[..] {
                    self.line(depth, &format!("}} else {}", L::branch(&self.text(cond))));
                    self.block(depth + 1, then);
                    or = rest;
                }
                if !or.is_empty() {
                    self.line(depth, "} else {");
                    self.block(depth + 1, or);
                }
                "}".into()
            }
            Stmt::For { var, start, end, step, body } => {
                let name = self.var(*var);
                let end = self.bound(depth, &format!("{name}_end"), end);
                let next = match step {
                    Expr::U32(1) => format!("{name}++"),
                    _ => format!("{name} += {}", self.bound(depth, &format!("{name}_step"), step)),
                };
                let start = L::counter(&name, &self.text(start));
                self.line(depth, &format!("for ({start}; {name} < {end}; {next}) {{"));
                self.block(depth + 1, body);
                "}".into()
            }
        };
        self.line(depth, &text);
    }

    /// A bound of a loop, which is evaluated before every step: named first where its value could change meanwhile.
    fn bound(&mut self, depth: usize, name: &str, e: &Expr) -> String {
        let text = self.piece(e);
        if self.used.constant(e) {
            // The comparison's right side.
            return infix(Binary::Lt, false, Piece::atom(""), text).text.trim_start_matches(" < ").to_owned();
        }
        self.line(depth, &L::bound(name, &text.text));
        name.to_owned()
    }

    pub(crate) fn var(&self, v: Var) -> String {
        nth(&self.names.vars, v.0 as usize)
    }

    /// The type of a local that is no array.
    pub(crate) fn ty(&self, v: Var) -> Ty {
        match self.ir.vars.get(v.0 as usize).map(|d| d.kind) {
            Some(Kind::Value(ty)) => ty,
            _ => Ty { elem: Type::U32, width: 1 },
        }
    }

    /// What stands in brackets.
    pub(crate) fn index(&self, e: &Expr) -> String {
        if let Expr::U32(x) = e { x.to_string() } else { self.text(e) }
    }

    pub(crate) fn text(&self, e: &Expr) -> String {
        self.piece(e).text
    }

    pub(crate) fn piece(&self, e: &Expr) -> Piece {
        let p = |e: &Expr| self.piece(e);
        match e {
            Expr::F32(x) => Piece::atom(L::f32(*x)),
            Expr::U32(x) => Piece::atom(format!("{}u", number(*x))),
            Expr::Bool(x) => Piece::atom(x.to_string()),
            Expr::Var(v) => Piece::atom(self.var(*v)),
            Expr::Builtin(b) => Piece::atom(L::builtin(*b)),
            Expr::Param(i) => Piece::atom(format!("{PARAMS}.{}", nth(&self.names.params, *i))),
            Expr::Load { buffer, index, width } => L::load(self, *buffer, index, *width),
            Expr::Shared(s, i) => Piece::atom(format!("{}[{}]", nth(&self.names.shared, *s), self.index(i))),
            Expr::Element(v, i) => Piece::atom(format!("{}[{}]", self.var(*v), self.index(i))),
            Expr::Component(a, c) => Piece::atom(format!("{}.{}", p(a).postfix(), component(*c))),
            Expr::UnpackF16(a) => L::unpack_f16(p(a)),
            Expr::PackF16(a, b) => L::pack_f16(p(a), p(b)),
            Expr::FromBits(a) => call(L::FROM_BITS, vec![p(a)]),
            Expr::Unary(op, a) => L::unary(*op, p(a)),
            Expr::Binary(op, a, b) => infix(*op, is_bool(self.ir, a), p(a), p(b)),
            Expr::Select(c, yes, no) => L::select(p(c), p(yes), p(no)),
            Expr::Fma(a, b, c) => call(L::FMA, vec![p(a), p(b), p(c)]),
            Expr::ShuffleXor(a, mask) => L::shuffle_xor(p(a), p(mask)),
        }
    }
}

/// `name(args)`.
pub(crate) fn call(name: &str, mut args: Vec<Piece>) -> Piece {
    let last = args.pop();
    let mut list: Vec<_> = args.into_iter().map(Piece::argument).collect();
    list.extend(last.map(|p| p.text));
    Piece::atom(format!("{name}({})", list.join(", ")))
}

/// A sign before an operand, or a function of it.
pub(crate) fn prefix_or_call(spelled: Result<char, &str>, a: Piece) -> Piece {
    match spelled {
        Ok(sign) => Piece::prefix(sign, a),
        Err(name) => call(name, vec![a]),
    }
}
