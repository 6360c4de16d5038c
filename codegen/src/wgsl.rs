//! WGSL's spellings for the shared printer: readable text, nothing decided.
//!
//! Two dialects, because naga refuses `enable subgroups;` and browsers require it. Bindings are dense from 0 in group 0: the
//! buffers in their order, then the parameter block. A load that is narrower than its binding becomes component access. What
//! an expression means, and whether it is legal, was settled before; the printer gives a text for every IR, legal or not.
//! WebGPU Shading Language, W3C Candidate Recommendation Draft 2025.

use crate::loops::{Access, Buffer, Builtin, Expr, Kind, LoopIr, Place, Side, Stmt, Ty, Var};
use crate::names::{LOCAL_INDEX, Names, PARAMS, PARAMS_TYPE, SUBGROUP_INVOCATION, SUBGROUP_SIZE, WORKGROUP, nth};
use crate::precedence::{Piece, infix};
use crate::printer::{self, Language, Printer, call, prefix_or_call};
use crate::text::component;
use crate::usage::Used;
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
    printer::print(ir, Names::new(ir), Wgsl(dialect))
}

struct Wgsl(Dialect);

impl Language for Wgsl {
    const BARRIER: &'static str = "workgroupBarrier();";
    const FROM_BITS: &'static str = "bitcast<f32>";
    const FMA: &'static str = "fma";

    fn head(p: &mut Printer<'_, Self>) {
        let ir = p.ir;
        for text in &ir.head {
            p.comment(0, text);
        }
        if p.used.fragments() {
            p.line(0, "enable f16;");
            p.line(0, "enable wgpu_cooperative_matrix;");
        } else if p.language.0 == Dialect::Web && p.used.subgroups() {
            p.line(0, "enable subgroups;");
        }
        p.blank();
        bindings(p);
        let builtins = builtins(&p.used);
        p.line(0, &format!("@compute @workgroup_size({})", ir.workgroup));
        let entry = p.names.entry.clone();
        let head = format!("fn {entry}({}) {{", builtins.join(", "));
        if head.len() <= 120 {
            p.line(0, &head);
        } else {
            p.line(0, &format!("fn {entry}("));
            for builtin in builtins {
                p.line(1, &format!("{builtin},"));
            }
            p.line(0, ") {");
        }
    }

    fn define(p: &Printer<'_, Self>, v: Var, register: bool, value: &Expr) -> String {
        format!("{} {} = {};", if register { "var" } else { "let" }, p.var(v), p.text(value))
    }

    fn bound(name: &str, value: &str) -> String {
        format!("let {name} = {value};")
    }

    fn counter(name: &str, start: &str) -> String {
        format!("var {name} = {start}")
    }

    fn array(name: &str, elem: Type, len: u32) -> String {
        format!("var {name}: array<{elem}, {len}>;")
    }

    fn branch(condition: &str) -> String {
        format!("if {condition} {{")
    }

    fn store(p: &Printer<'_, Self>, buffer: usize, index: &Expr, value: &Expr) -> String {
        format!("{} = {};", word(p, buffer, index).text, p.text(value))
    }

    fn f32(x: f32) -> String {
        f32_literal(x)
    }

    fn builtin(b: Builtin) -> String {
        match b {
            Builtin::LocalIndex => LOCAL_INDEX.to_owned(),
            Builtin::WorkgroupX => format!("{WORKGROUP}.x"),
            Builtin::WorkgroupY => format!("{WORKGROUP}.y"),
            Builtin::SubgroupSize => SUBGROUP_SIZE.to_owned(),
            Builtin::SubgroupInvocation => SUBGROUP_INVOCATION.to_owned(),
        }
    }

    fn load(p: &Printer<'_, Self>, buffer: usize, index: &Expr, width: u8) -> Piece {
        load(p, buffer, index, width)
    }

    fn unary(op: Unary, a: Piece) -> Piece {
        prefix_or_call(unary(op), a)
    }

    fn select(cond: Piece, yes: Piece, no: Piece) -> Piece {
        call("select", vec![no, yes, cond])
    }

    fn unpack_f16(word: Piece) -> Piece {
        call("unpack2x16float", vec![word])
    }

    fn pack_f16(low: Piece, high: Piece) -> Piece {
        call("pack2x16float", vec![call("vec2<f32>", vec![low, high])])
    }

    fn fragments(p: &Printer<'_, Self>, stmt: &Stmt) -> String {
        let at = |place: &Place| {
            let array = nth(&p.names.shared, place.array);
            format!("&{array}[{}], {}u", p.index(&place.index), place.stride)
        };
        let ty = |v: Var| match p.ir.vars.get(v.0 as usize).map(|d| d.kind) {
            Some(Kind::Fragment(side, n)) => (side, fragment(side, n)),
            _ => (Side::Sum, fragment(Side::Sum, 0)),
        };
        match stmt {
            Stmt::StoreNarrow(s, i, values) => {
                let values = values.iter().map(|e| p.piece(e)).collect();
                let narrowed = call("vec4<f16>", vec![call("vec4<f32>", values)]);
                format!("{}[{}] = {};", nth(&p.names.shared, *s), p.index(i), narrowed.text)
            }
            Stmt::DeclareFragment(v) => format!("var {}: {};", p.var(*v), ty(*v).1),
            Stmt::LoadFragment(v, place) => {
                let (side, ty) = ty(*v);
                // The plain function reads columns.
                let load = if side == Side::Right { "coopLoad" } else { "coopLoadT" };
                format!("let {} = {load}<{ty}>({});", p.var(*v), at(place))
            }
            Stmt::MultiplyAdd(sum, a, b) => {
                format!("{0} = coopMultiplyAdd({1}, {2}, {0});", p.var(*sum), p.var(*a), p.var(*b))
            }
            Stmt::StoreFragment(v, place) => format!("coopStoreT({}, {});", p.var(*v), at(place)),
            _ => String::new(),
        }
    }

    fn shuffle_xor(a: Piece, mask: Piece) -> Piece {
        call("subgroupShuffleXor", vec![a, mask])
    }
}

fn bindings(p: &mut Printer<'_, Wgsl>) {
    let ir = p.ir;
    if !ir.params.is_empty() {
        p.line(0, &format!("struct {PARAMS_TYPE} {{"));
        for (i, param) in ir.params.iter().enumerate() {
            let field = format!("{}: {},", p.names.params[i], param.ty);
            p.line(1, &field);
        }
        p.line(0, "}\n");
    }
    for (i, b) in ir.buffers.iter().enumerate() {
        let access = if b.access == Access::Read { "read" } else { "read_write" };
        let elem = ty(Ty { elem: b.elem, width: b.width });
        let name = &p.names.buffers[i];
        let text = format!("@group(0) @binding({i}) var<storage, {access}> {name}: array<{elem}>;");
        p.line(0, &text);
    }
    if !ir.params.is_empty() {
        p.line(0, &format!("@group(0) @binding({}) var<uniform> {PARAMS}: {PARAMS_TYPE};", ir.buffers.len()));
    }
    for (i, s) in ir.shared.iter().enumerate() {
        let (elem, len) = if s.narrow { ("vec4<f16>".to_owned(), s.len / 4) } else { (s.elem.to_string(), s.len) };
        let text = format!("var<workgroup> {}: array<{elem}, {len}>;", p.names.shared[i]);
        p.line(0, &text);
    }
    if !(ir.buffers.is_empty() && ir.shared.is_empty()) {
        p.blank();
    }
}

fn builtins(used: &Used) -> Vec<String> {
    let mut list = Vec::new();
    if used.builtin(Builtin::LocalIndex) {
        list.push(format!("@builtin(local_invocation_index) {LOCAL_INDEX}: u32"));
    }
    if used.builtin(Builtin::WorkgroupX) || used.builtin(Builtin::WorkgroupY) {
        list.push(format!("@builtin(workgroup_id) {WORKGROUP}: vec3<u32>"));
    }
    if used.builtin(Builtin::SubgroupSize) {
        list.push(format!("@builtin(subgroup_size) {SUBGROUP_SIZE}: u32"));
    }
    if used.builtin(Builtin::SubgroupInvocation) {
        list.push(format!("@builtin(subgroup_invocation_id) {SUBGROUP_INVOCATION}: u32"));
    }
    list
}

/// `width` words at `index * width`.
fn load(p: &Printer<'_, Wgsl>, buffer: usize, index: &Expr, width: u8) -> Piece {
    let name = nth(&p.names.buffers, buffer);
    let bound = p.ir.buffers.get(buffer).map_or(width, |b| b.width);
    if bound == width {
        return Piece::atom(format!("{name}[{}]", p.index(index)));
    }
    match (width, bound) {
        (1, _) => word(p, buffer, index),
        (2, 4) => {
            let (element, half) = split(index, 2);
            let whole = format!("{name}[{}]", p.index(&element));
            match half {
                Expr::U32(0) => Piece::atom(format!("{whole}.xy")),
                Expr::U32(_) => Piece::atom(format!("{whole}.zw")),
                dynamic => {
                    let odd = infix(Binary::Eq, false, p.piece(&dynamic), Piece::atom("1u"));
                    call("select", vec![Piece::atom(format!("{whole}.xy")), Piece::atom(format!("{whole}.zw")), odd])
                }
            }
        }
        _ => {
            let elem = p.ir.buffers.get(buffer).map_or(Type::U32, |b| b.elem);
            let narrow = |i: u8| {
                let first = Expr::Binary(Binary::Mul, Box::new(index.clone()), Box::new(Expr::U32(width.into())));
                word(p, buffer, &Expr::Binary(Binary::Add, Box::new(first), Box::new(Expr::U32(i.into()))))
            };
            call(&ty(Ty { elem, width }), (0..width).map(narrow).collect())
        }
    }
}

/// One word of a buffer, as a place.
fn word(p: &Printer<'_, Wgsl>, buffer: usize, index: &Expr) -> Piece {
    let name = nth(&p.names.buffers, buffer);
    let width = p.ir.buffers.get(buffer).map_or(1, |b: &Buffer| b.width);
    if width == 1 {
        return Piece::atom(format!("{name}[{}]", p.index(index)));
    }
    let (element, part) = split(index, width.into());
    let element = p.index(&element);
    Piece::atom(match part {
        Expr::U32(c) => format!("{name}[{element}].{}", component(c as u8)),
        dynamic => format!("{name}[{element}][{}]", p.text(&dynamic)),
    })
}

/// The type of a fragment.
fn fragment(side: Side, n: u32) -> String {
    let (elem, role) = match side {
        Side::Left => ("f16", "A"),
        Side::Right => ("f16", "B"),
        Side::Sum => ("f32", "C"),
    };
    format!("coop_mat{n}x{n}<{elem}, {role}>")
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
