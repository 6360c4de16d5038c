//! Prints loop IR as WGSL: readable text, nothing decided.
//!
//! Two dialects, because naga refuses `enable subgroups;` and browsers require it. Bindings are dense from 0 in group 0: the
//! buffers in their order, then the parameter block. A load that is narrower than its binding becomes component access. What
//! an expression means, and whether it is legal, was settled before; the printer gives a text for every IR, legal or not.
//! WebGPU Shading Language, W3C Candidate Recommendation Draft 2025.

use crate::loops::{Access, Buffer, Builtin, Expr, Kind, LoopIr, Stmt, Ty, Var};
use crate::names::{LOCAL_INDEX, Names, PARAMS, PARAMS_TYPE, SUBGROUP_INVOCATION, SUBGROUP_SIZE, WORKGROUP};
use crate::precedence::{Piece, infix};
use crate::text::component;
use crate::types::is_bool;
use crate::usage::Used;
use std::fmt::Write;
use tilewright_dsl::ir::{Binary, Type, Unary};

/// Whose WGSL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    /// naga's, for wgpu: subgroup operations need no directive.
    Native,
    /// Browsers' and tint's.
    Web,
}

/// The text of a shader.
pub fn print(ir: &LoopIr, dialect: Dialect) -> String {
    let mut printer = Printer { ir, names: Names::new(ir), used: Used::new(ir), out: String::new() };
    printer.shader(dialect);
    printer.out
}

struct Printer<'a> {
    ir: &'a LoopIr,
    names: Names,
    used: Used,
    out: String,
}

impl Printer<'_> {
    fn shader(&mut self, dialect: Dialect) {
        for text in &self.ir.head {
            self.comment(0, text);
        }
        if dialect == Dialect::Web && self.used.subgroups() {
            self.line(0, "enable subgroups;");
        }
        self.out.push('\n');
        self.bindings();
        let builtins = self.builtins();
        self.line(0, &format!("@compute @workgroup_size({})", self.ir.workgroup));
        let entry = &self.names.entry;
        let head = format!("fn {entry}({}) {{", builtins.join(", "));
        if head.len() <= 120 {
            self.line(0, &head);
        } else {
            let head = format!("fn {entry}(");
            self.line(0, &head);
            for builtin in builtins {
                self.line(1, &format!("{builtin},"));
            }
            self.line(0, ") {");
        }
        let ir = self.ir;
        self.block(1, &ir.body);
        self.line(0, "}");
    }

    fn bindings(&mut self) {
        let ir = self.ir;
        if !ir.params.is_empty() {
            self.line(0, &format!("struct {PARAMS_TYPE} {{"));
            for (i, p) in ir.params.iter().enumerate() {
                let field = format!("{}: {},", self.names.params[i], p.ty);
                self.line(1, &field);
            }
            self.line(0, "}\n");
        }
        for (i, b) in ir.buffers.iter().enumerate() {
            let access = if b.access == Access::Read { "read" } else { "read_write" };
            let elem = ty(Ty { elem: b.elem, width: b.width });
            let name = &self.names.buffers[i];
            let text = format!("@group(0) @binding({i}) var<storage, {access}> {name}: array<{elem}>;");
            self.line(0, &text);
        }
        if !ir.params.is_empty() {
            self.line(0, &format!("@group(0) @binding({}) var<uniform> {PARAMS}: {PARAMS_TYPE};", ir.buffers.len()));
        }
        for (i, s) in ir.shared.iter().enumerate() {
            let text = format!("var<workgroup> {}: array<{}, {}>;", self.names.shared[i], s.elem, s.len);
            self.line(0, &text);
        }
        if !(ir.buffers.is_empty() && ir.shared.is_empty()) {
            self.out.push('\n');
        }
    }

    fn builtins(&self) -> Vec<String> {
        let mut list = Vec::new();
        if self.used.builtin(Builtin::LocalIndex) {
            list.push(format!("@builtin(local_invocation_index) {LOCAL_INDEX}: u32"));
        }
        if self.used.builtin(Builtin::WorkgroupX) || self.used.builtin(Builtin::WorkgroupY) {
            list.push(format!("@builtin(workgroup_id) {WORKGROUP}: vec3<u32>"));
        }
        if self.used.builtin(Builtin::SubgroupSize) {
            list.push(format!("@builtin(subgroup_size) {SUBGROUP_SIZE}: u32"));
        }
        if self.used.builtin(Builtin::SubgroupInvocation) {
            list.push(format!("@builtin(subgroup_invocation_id) {SUBGROUP_INVOCATION}: u32"));
        }
        list
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", depth * 4);
    }

    /// One `//` a line, so that no text can end the comment.
    fn comment(&mut self, depth: usize, text: &str) {
        for part in text.lines() {
            self.line(depth, format!("// {part}").trim_end());
        }
    }

    fn block(&mut self, depth: usize, body: &[Stmt]) {
        for stmt in body {
            self.stmt(depth, stmt);
        }
    }

    fn stmt(&mut self, depth: usize, stmt: &Stmt) {
        let text = match stmt {
            Stmt::Let(v, e) => format!("let {} = {};", self.var(*v), self.text(e)),
            Stmt::Declare(v, e) => format!("var {} = {};", self.var(*v), self.text(e)),
            Stmt::DeclareArray(v) => match self.ir.vars.get(v.0 as usize).map(|d| d.kind) {
                Some(Kind::Array(elem, len)) => format!("var {}: array<{elem}, {len}>;", self.var(*v)),
                _ => format!("var {};", self.var(*v)),
            },
            Stmt::Assign(v, e) => format!("{} = {};", self.var(*v), self.text(e)),
            Stmt::SetElement(v, i, e) => format!("{}[{}] = {};", self.var(*v), self.index(i), self.text(e)),
            Stmt::StoreShared(s, i, e) => {
                format!("{}[{}] = {};", nth(&self.names.shared, *s), self.index(i), self.text(e))
            }
            Stmt::Store(b, i, e) => format!("{} = {};", self.word(*b, i).text, self.text(e)),
            Stmt::Barrier => "workgroupBarrier();".into(),
            Stmt::Comment(text) => return self.comment(depth, text),
            Stmt::If(cond, then, or) => {
                self.line(depth, &format!("if {} {{", self.text(cond)));
                self.block(depth + 1, then);
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
                let start = self.text(start);
                self.line(depth, &format!("for (var {name} = {start}; {name} < {end}; {next}) {{"));
                self.block(depth + 1, body);
                "}".into()
            }
        };
        self.line(depth, &text);
    }

    /// A bound of a loop, which WGSL evaluates before every step: named first where its value could change meanwhile.
    fn bound(&mut self, depth: usize, name: &str, e: &Expr) -> String {
        let text = self.piece(e);
        if self.used.constant(e) {
            // The comparison's right side.
            return infix(Binary::Lt, false, Piece::atom(""), text).text.trim_start_matches(" < ").to_owned();
        }
        self.line(depth, &format!("let {name} = {};", text.text));
        name.to_owned()
    }

    fn var(&self, v: Var) -> String {
        nth(&self.names.vars, v.0 as usize)
    }

    /// What stands in brackets.
    fn index(&self, e: &Expr) -> String {
        if let Expr::U32(x) = e { x.to_string() } else { self.text(e) }
    }

    fn text(&self, e: &Expr) -> String {
        self.piece(e).text
    }

    fn piece(&self, e: &Expr) -> Piece {
        let p = |e: &Expr| self.piece(e);
        match e {
            Expr::F32(x) => Piece::atom(f32_literal(*x)),
            Expr::U32(x) => Piece::atom(format!("{x}u")),
            Expr::Bool(x) => Piece::atom(x.to_string()),
            Expr::Var(v) => Piece::atom(self.var(*v)),
            Expr::Builtin(b) => Piece::atom(match b {
                Builtin::LocalIndex => LOCAL_INDEX.to_owned(),
                Builtin::WorkgroupX => format!("{WORKGROUP}.x"),
                Builtin::WorkgroupY => format!("{WORKGROUP}.y"),
                Builtin::SubgroupSize => SUBGROUP_SIZE.to_owned(),
                Builtin::SubgroupInvocation => SUBGROUP_INVOCATION.to_owned(),
            }),
            Expr::Param(i) => Piece::atom(format!("{PARAMS}.{}", nth(&self.names.params, *i))),
            Expr::Load { buffer, index, width } => self.load(*buffer, index, *width),
            Expr::Shared(s, i) => Piece::atom(format!("{}[{}]", nth(&self.names.shared, *s), self.index(i))),
            Expr::Element(v, i) => Piece::atom(format!("{}[{}]", self.var(*v), self.index(i))),
            Expr::Component(a, c) => Piece::atom(format!("{}.{}", p(a).postfix(), component(*c))),
            Expr::UnpackF16(a) => call("unpack2x16float", vec![p(a)]),
            Expr::PackF16(a, b) => call("pack2x16float", vec![call("vec2<f32>", vec![p(a), p(b)])]),
            Expr::FromBits(a) => call("bitcast<f32>", vec![p(a)]),
            Expr::Unary(op, a) => match unary(*op) {
                Ok(sign) => Piece::prefix(sign, p(a)),
                Err(name) => call(name, vec![p(a)]),
            },
            Expr::Binary(op, a, b) => infix(*op, is_bool(self.ir, a), p(a), p(b)),
            Expr::Select(c, yes, no) => call("select", vec![p(no), p(yes), p(c)]),
            Expr::Fma(a, b, c) => call("fma", vec![p(a), p(b), p(c)]),
            Expr::ShuffleXor(a, mask) => call("subgroupShuffleXor", vec![p(a), p(mask)]),
        }
    }

    /// `width` words at `index * width`.
    fn load(&self, buffer: usize, index: &Expr, width: u8) -> Piece {
        let name = nth(&self.names.buffers, buffer);
        let bound = self.ir.buffers.get(buffer).map_or(width, |b| b.width);
        if bound == width {
            return Piece::atom(format!("{name}[{}]", self.index(index)));
        }
        match (width, bound) {
            (1, _) => self.word(buffer, index),
            (2, 4) => {
                let (element, half) = split(index, 2);
                let whole = format!("{name}[{}]", self.index(&element));
                match half {
                    Expr::U32(0) => Piece::atom(format!("{whole}.xy")),
                    Expr::U32(_) => Piece::atom(format!("{whole}.zw")),
                    dynamic => {
                        let odd = infix(Binary::Eq, false, self.piece(&dynamic), Piece::atom("1u"));
                        call(
                            "select",
                            vec![Piece::atom(format!("{whole}.xy")), Piece::atom(format!("{whole}.zw")), odd],
                        )
                    }
                }
            }
            _ => {
                let elem = self.ir.buffers.get(buffer).map_or(Type::U32, |b| b.elem);
                let narrow = |i: u8| {
                    let first = Expr::Binary(Binary::Mul, Box::new(index.clone()), Box::new(Expr::U32(width.into())));
                    self.word(buffer, &Expr::Binary(Binary::Add, Box::new(first), Box::new(Expr::U32(i.into()))))
                };
                call(&ty(Ty { elem, width }), (0..width).map(narrow).collect())
            }
        }
    }

    /// One word of a buffer, as a place.
    fn word(&self, buffer: usize, index: &Expr) -> Piece {
        let name = nth(&self.names.buffers, buffer);
        let width = self.ir.buffers.get(buffer).map_or(1, |b: &Buffer| b.width);
        if width == 1 {
            return Piece::atom(format!("{name}[{}]", self.index(index)));
        }
        let (element, part) = split(index, width.into());
        let element = self.index(&element);
        Piece::atom(match part {
            Expr::U32(c) => format!("{name}[{element}].{}", component(c as u8)),
            dynamic => format!("{name}[{element}][{}]", self.text(&dynamic)),
        })
    }
}

fn call(name: &str, mut args: Vec<Piece>) -> Piece {
    let last = args.pop();
    let mut list: Vec<_> = args.into_iter().map(Piece::argument).collect();
    list.extend(last.map(|p| p.text));
    Piece::atom(format!("{name}({})", list.join(", ")))
}

fn nth(names: &[String], i: usize) -> String {
    names.get(i).cloned().unwrap_or_else(|| format!("missing{i}"))
}

fn ty(t: Ty) -> String {
    if t.width == 1 { t.elem.to_string() } else { format!("vec{}<{}>", t.width, t.elem) }
}

/// `index / n` and `index % n` for an `n` of 2 or 4, folded where products and constants show them. Word indices stay
/// far below 2^32, so that nothing wraps.
fn split(index: &Expr, n: u32) -> (Expr, Expr) {
    if let Some((outer, inner)) = split_known(index, n) {
        return (outer, Expr::U32(inner));
    }
    let shift = Expr::U32(n.trailing_zeros());
    (
        Expr::Binary(Binary::Shr, Box::new(index.clone()), Box::new(shift)),
        Expr::Binary(Binary::And, Box::new(index.clone()), Box::new(Expr::U32(n - 1))),
    )
}

fn split_known(index: &Expr, n: u32) -> Option<(Expr, u32)> {
    match index {
        Expr::U32(x) => Some((Expr::U32(x / n), x % n)),
        Expr::Binary(Binary::Mul, a, b) => match (&**a, &**b) {
            (x, Expr::U32(c)) | (Expr::U32(c), x) if c % n == 0 => Some((times(x.clone(), c / n), 0)),
            _ => None,
        },
        Expr::Binary(Binary::Add, a, b) => {
            let ((a, x), (b, y)) = (split_known(a, n)?, split_known(b, n)?);
            (x + y < n).then(|| (plus(a, b), x + y))
        }
        _ => None,
    }
}

fn times(x: Expr, c: u32) -> Expr {
    if c == 1 { x } else { Expr::Binary(Binary::Mul, Box::new(x), Box::new(Expr::U32(c))) }
}

fn plus(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (a, Expr::U32(0)) => a,
        (Expr::U32(0), b) => b,
        (a, b) => Expr::Binary(Binary::Add, Box::new(a), Box::new(b)),
    }
}

/// A literal that every WGSL front end reads back to the same bits. One that is short in decimal is left without a suffix;
/// the others carry `f`, so that they are not rounded twice; huge ones are hexadecimal, since their shortest decimal text lies
/// above the largest f32.
fn f32_literal(x: f32) -> String {
    if !x.is_finite() {
        return format!("bitcast<f32>({:#x}u)", x.to_bits());
    }
    if x.abs() >= 1e38 {
        let sign = if x < 0.0 { "-" } else { "" };
        let bits = x.abs().to_bits();
        let (exponent, mantissa) = ((bits >> 23) as i32 - 127, (bits & 0x7f_ffff) << 1);
        return format!("{sign}0x1.{mantissa:06x}p+{exponent}f");
    }
    let text = format!("{x:?}");
    let exact = text.parse::<f64>().is_ok_and(|wide| wide == f64::from(x));
    if exact { text } else { format!("{text}f") }
}

fn unary(op: Unary) -> Result<char, &'static str> {
    Err(match op {
        Unary::Neg => return Ok('-'),
        Unary::Not => return Ok('!'),
        Unary::Exp => "exp",
        Unary::Log => "log",
        Unary::Sqrt => "sqrt",
        Unary::Rsqrt => "inverseSqrt",
        Unary::Tanh => "tanh",
        Unary::Abs => "abs",
        Unary::Floor => "floor",
        Unary::Bits => "bitcast<u32>",
        Unary::ToF32 => "f32",
        Unary::ToU32 => "u32",
    })
}
