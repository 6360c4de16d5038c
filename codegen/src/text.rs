//! A compact text of loop IR: what snapshots show, and how error messages quote a statement.
//!
//! Made from a [`LoopIr`] alone, one line a statement, with the names that the printers use. It says what the IR says and no
//! more: no types but those of declarations, no binding numbers, no entry point. It is not read back.

use crate::loops::{Access, Buffer, Builtin, Expr, Kind, LoopIr, Place, Stmt, Var};
use crate::names::{Names, nth};
use crate::precedence::{Piece, infix};
use crate::types::is_bool;
use std::fmt::Write;
use tilewright_dsl::ir::Unary;

/// The whole shader.
pub fn dump(ir: &LoopIr) -> String {
    let text = Text { ir, names: Names::new(ir) };
    let mut out = String::new();
    for line in &ir.head {
        let _ = writeln!(out, "# {line}");
    }
    let _ = writeln!(out, "{}: workgroup {}", text.names.entry, ir.workgroup);
    for (b, name) in ir.buffers.iter().zip(&text.names.buffers) {
        let _ = writeln!(out, "  {}", buffer_line(b, name));
    }
    for (p, name) in ir.params.iter().zip(&text.names.params) {
        let _ = writeln!(out, "  param {name}: {}", p.ty);
    }
    for (s, name) in ir.shared.iter().zip(&text.names.shared) {
        let elem = if s.narrow { "f16".to_string() } else { s.elem.to_string() };
        let _ = writeln!(out, "  shared {name}: {elem}[{}]", s.len);
    }
    text.block(&ir.body, 1, &mut out);
    out
}

/// One expression.
pub fn expr(ir: &LoopIr, e: &Expr) -> String {
    Text { ir, names: Names::new(ir) }.piece(e).text
}

/// One statement, without what is nested in it.
pub fn line(ir: &LoopIr, stmt: &Stmt) -> String {
    Text { ir, names: Names::new(ir) }.line(stmt)
}

fn buffer_line(b: &Buffer, name: &str) -> String {
    let access = if b.access == Access::Read { "read" } else { "read-write" };
    let wide = if b.width == 1 { String::new() } else { format!("x{}", b.width) };
    let part = if b.part == 0 { String::new() } else { format!(" part {}", b.part) };
    let of = if b.tensor == b.name && b.part == 0 { String::new() } else { format!(" of {}{part}", b.tensor) };
    format!("{access} {name}: {}{wide}{of}", b.elem)
}

struct Text<'a> {
    ir: &'a LoopIr,
    names: Names,
}

impl Text<'_> {
    fn block(&self, body: &[Stmt], depth: usize, out: &mut String) {
        for stmt in body {
            let _ = writeln!(out, "{:1$}{2}", "", depth * 2, self.line(stmt));
            match stmt {
                Stmt::For { body, .. } => self.block(body, depth + 1, out),
                Stmt::If(_, then, or) => {
                    self.block(then, depth + 1, out);
                    if !or.is_empty() {
                        let _ = writeln!(out, "{:1$}else", "", depth * 2);
                        self.block(or, depth + 1, out);
                    }
                }
                _ => {}
            }
        }
    }

    fn line(&self, stmt: &Stmt) -> String {
        let e = |e: &Expr| self.piece(e).text;
        match stmt {
            Stmt::Let(v, x) => format!("let {} = {}", self.var(*v), e(x)),
            Stmt::Declare(v, x) => format!("var {} = {}", self.var(*v), e(x)),
            Stmt::DeclareArray(v) => match self.ir.vars.get(v.0 as usize).map(|d| d.kind) {
                Some(Kind::Array(elem, len)) => format!("var {}: {elem}[{len}]", self.var(*v)),
                _ => format!("var {}: not an array", self.var(*v)),
            },
            Stmt::Assign(v, x) => format!("{} = {}", self.var(*v), e(x)),
            Stmt::SetElement(v, i, x) => format!("{}[{}] = {}", self.var(*v), e(i), e(x)),
            Stmt::StoreShared(s, i, x) => format!("{}[{}] = {}", nth(&self.names.shared, *s), e(i), e(x)),
            Stmt::Store(b, i, x) => format!("{}[{}] = {}", nth(&self.names.buffers, *b), e(i), e(x)),
            Stmt::StoreNarrow(s, i, values) => {
                let values: Vec<String> = values.iter().map(e).collect();
                format!("{}.x4[{}] = narrow({})", nth(&self.names.shared, *s), e(i), values.join(", "))
            }
            Stmt::DeclareFragment(v) => format!("fragment {} = 0", self.var(*v)),
            Stmt::LoadFragment(v, at) => format!("fragment {} = {}", self.var(*v), self.place(at)),
            Stmt::MultiplyAdd(sum, a, b) => {
                format!("{} += {} * {}", self.var(*sum), self.var(*a), self.var(*b))
            }
            Stmt::StoreFragment(v, at) => format!("{} = {}", self.place(at), self.var(*v)),
            Stmt::For { var, start, end, step, .. } => {
                let step = if *step == Expr::U32(1) { String::new() } else { format!(" by {}", e(step)) };
                format!("for {} in {}..{}{step}", self.var(*var), self.range(start), self.range(end))
            }
            Stmt::If(cond, ..) => format!("if {}", e(cond)),
            Stmt::Barrier => "barrier".into(),
            Stmt::Comment(text) => format!("# {text}"),
        }
    }

    fn place(&self, at: &Place) -> String {
        let unit = if self.ir.shared.get(at.array).is_some_and(|s| s.narrow) { ".x4" } else { "" };
        let array = nth(&self.names.shared, at.array);
        format!("{array}{unit}[{}] by {}", self.piece(&at.index).text, at.stride)
    }

    fn range(&self, e: &Expr) -> String {
        let text = self.piece(e).text;
        if text.contains(' ') { format!("({text})") } else { text }
    }

    fn var(&self, v: Var) -> String {
        nth(&self.names.vars, v.0 as usize)
    }

    fn piece(&self, e: &Expr) -> Piece {
        let p = |e: &Expr| self.piece(e);
        let call = |name: &str, args: &[&Expr]| {
            let args: Vec<_> = args.iter().map(|a| self.piece(a).text).collect();
            Piece::atom(format!("{name}({})", args.join(", ")))
        };
        match e {
            Expr::F32(x) => Piece::atom(format!("{x:?}")),
            Expr::U32(x) => Piece::atom(number(*x)),
            Expr::Bool(x) => Piece::atom(x.to_string()),
            Expr::Var(v) => Piece::atom(self.var(*v)),
            Expr::Builtin(b) => Piece::atom(match b {
                Builtin::LocalIndex => "lane",
                Builtin::WorkgroupX => "group.x",
                Builtin::WorkgroupY => "group.y",
                Builtin::SubgroupSize => "subgroup.size",
                Builtin::SubgroupInvocation => "subgroup.lane",
            }),
            Expr::Param(i) => Piece::atom(nth(&self.names.params, *i)),
            Expr::Load { buffer, index, width } => {
                let wide = if *width == 1 { String::new() } else { format!(".x{width}") };
                Piece::atom(format!("{}{wide}[{}]", nth(&self.names.buffers, *buffer), p(index).text))
            }
            Expr::Shared(s, i) => Piece::atom(format!("{}[{}]", nth(&self.names.shared, *s), p(i).text)),
            Expr::Element(v, i) => Piece::atom(format!("{}[{}]", self.var(*v), p(i).text)),
            Expr::Component(a, c) => Piece::atom(format!("{}.{}", p(a).postfix(), component(*c))),
            Expr::UnpackF16(a) => call("unpack_f16", &[a]),
            Expr::PackF16(a, b) => call("pack_f16", &[a, b]),
            Expr::FromBits(a) => call("from_bits", &[a]),
            Expr::Unary(op, a) => match unary(*op) {
                Ok(sign) => Piece::prefix(sign, p(a)),
                Err(name) => call(name, &[a]),
            },
            Expr::Binary(op, a, b) => infix(*op, is_bool(self.ir, a), p(a), p(b)),
            Expr::Select(c, yes, no) => call("select", &[c, yes, no]),
            Expr::Fma(a, b, c) => call("fma", &[a, b, c]),
            Expr::ShuffleXor(a, mask) => call("shuffle_xor", &[a, mask]),
        }
    }
}

/// A u32 without a type: what is made of bits, or larger than anything that is counted, in sixteens.
pub(crate) fn number(x: u32) -> String {
    if x >= 1 << 28 { format!("{x:#x}") } else { x.to_string() }
}

/// `x y z w`.
pub(crate) fn component(c: u8) -> char {
    *b"xyzw".get(usize::from(c)).unwrap_or(&b'?') as char
}

/// A sign, or the name of a function.
fn unary(op: Unary) -> Result<char, &'static str> {
    Err(match op {
        Unary::Neg => return Ok('-'),
        Unary::Not => return Ok('!'),
        Unary::Exp => "exp",
        Unary::Log => "log",
        Unary::Sqrt => "sqrt",
        Unary::Rsqrt => "rsqrt",
        Unary::Tanh => "tanh",
        Unary::Abs => "abs",
        Unary::Floor => "floor",
        Unary::Bits => "bits",
        Unary::ToF32 => "f32",
        Unary::ToU32 => "u32",
    })
}
