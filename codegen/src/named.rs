//! Gives a local to what HLSL must have a name for, and leaves everything else as it is.
//!
//! Only locals can be `precise`, and DXC contracts and reorders the arithmetic of every other expression: of a store's value, of
//! a condition, of an index. So a result of float arithmetic that is not a local's own value becomes one, just before. The
//! same for a word that is unpacked, since its two halves are two expressions. No value changes: expressions have no effects, and
//! the new statement stands where the old one evaluated them.

use crate::loops::{Expr, Kind, LoopIr, Stmt, Ty, Var, VarDecl};
use crate::types::{U32, type_of};
use tilewright_dsl::ir::{Binary, Type, Unary};

/// The shader with those locals.
pub(crate) fn named(ir: &LoopIr) -> LoopIr {
    let mut out = ir.clone();
    let body = std::mem::take(&mut out.body);
    out.body = block(&mut out, body);
    out
}

/// Whether an expression computes with floats or compares them, so that a compiler might round or order it otherwise.
pub(crate) fn rounds(ir: &LoopIr, e: &Expr) -> bool {
    compares(ir, e) || computes(ir, e) || e.operands().into_iter().any(|x| rounds(ir, x))
}

/// Whether an expression computes with floats somewhere.
fn contracts(ir: &LoopIr, e: &Expr) -> bool {
    computes(ir, e) || e.operands().into_iter().any(|x| contracts(ir, x))
}

fn compares(ir: &LoopIr, e: &Expr) -> bool {
    use Binary::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(e, Expr::Binary(Eq | Ne | Lt | Le | Gt | Ge, a, _) if float(ir, a))
}

fn computes(ir: &LoopIr, e: &Expr) -> bool {
    match e {
        Expr::Fma(..) => true,
        Expr::Unary(Unary::Bits, _) => false,
        Expr::Unary(_, a) | Expr::Binary(_, a, _) => float(ir, a) && !compares(ir, e),
        _ => false,
    }
}

fn float(ir: &LoopIr, e: &Expr) -> bool {
    matches!(type_of(ir, e), Ok(Ty { elem: Type::F32, .. }))
}

fn block(ir: &mut LoopIr, body: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(body.len());
    for mut stmt in body {
        for nested in stmt.blocks_mut() {
            *nested = block(ir, std::mem::take(nested));
        }
        let own = own_value(ir, &stmt);
        for (i, e) in stmt.expressions_mut().into_iter().enumerate() {
            operands(ir, e, &mut out);
            if Some(i) != own && rounds(ir, e) {
                value(ir, e, &mut out);
            }
        }
        out.push(stmt);
    }
    out
}

/// Which of a statement's expressions becomes the value of a local that is `precise`, or can be.
fn own_value(ir: &LoopIr, stmt: &Stmt) -> Option<usize> {
    let float = |v: &Var| match ir.vars.get(v.0 as usize).map(|d| d.kind) {
        Some(Kind::Value(ty)) => ty.elem == Type::F32,
        Some(Kind::Array(elem, _)) => elem == Type::F32,
        Some(Kind::Fragment(..)) | None => false,
    };
    match stmt {
        Stmt::Let(..) | Stmt::Declare(..) => Some(0),
        Stmt::Assign(v, _) if float(v) => Some(0),
        Stmt::SetElement(v, ..) if float(v) => Some(1),
        _ => None,
    }
}

/// Names operands, innermost first: words that are unpacked, where they are more than a name already, and results that a
/// `precise` around them does not reach.
fn operands(ir: &mut LoopIr, e: &mut Expr, out: &mut Vec<Stmt>) {
    for operand in e.operands_mut() {
        operands(ir, operand, out);
    }
    if let Expr::UnpackF16(word) = e {
        let short = match &**word {
            Expr::Component(vector, _) => matches!(**vector, Expr::Var(_)),
            other => matches!(other, Expr::Var(_) | Expr::U32(_) | Expr::Param(_)),
        };
        if !short && type_of(ir, word) == Ok(U32) {
            name(ir, "word", U32, word, out);
        }
    }
    // For SPIR-V, which knows no order of comparisons, DXC follows arithmetic and conversions, and stops at these.
    let unreached = match e {
        Expr::Select(cond, ..) => vec![cond],
        Expr::Load { index, .. } | Expr::Shared(_, index) | Expr::Element(_, index) => vec![index],
        Expr::PackF16(a, b) | Expr::ShuffleXor(a, b) => vec![a, b],
        _ => vec![],
    };
    for operand in unreached {
        if contracts(ir, operand) {
            value(ir, operand, out);
        }
    }
}

/// Names a result, if it has a type.
fn value(ir: &mut LoopIr, e: &mut Expr, out: &mut Vec<Stmt>) {
    if let Ok(ty) = type_of(ir, e) {
        name(ir, "value", ty, e, out);
    }
}

fn name(ir: &mut LoopIr, wish: &str, ty: Ty, e: &mut Expr, out: &mut Vec<Stmt>) {
    let var = Var(ir.vars.len() as u32);
    ir.vars.push(VarDecl { name: wish.into(), kind: Kind::Value(ty) });
    out.push(Stmt::Let(var, std::mem::replace(e, Expr::Var(var))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::dump;
    use crate::types::F32;

    fn boxed(op: Binary, a: Expr, b: Expr) -> Expr {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    #[test]
    fn rounded_results_and_unpacked_words_get_a_local() {
        let vars = ["x", "n"].iter().zip([F32, U32]);
        let vars = vars.map(|(n, ty)| VarDecl { name: (*n).into(), kind: Kind::Value(ty) }).collect();
        let (x, n) = (Expr::Var(Var(0)), Expr::Var(Var(1)));
        let half = || boxed(Binary::Mul, x.clone(), Expr::F32(0.5));
        let less = boxed(Binary::Lt, half(), x.clone());
        let plain = boxed(Binary::Lt, x.clone(), Expr::F32(0.0));
        let unpacked = Expr::UnpackF16(Box::new(boxed(Binary::Add, n.clone(), Expr::U32(1))));
        let body = vec![
            Stmt::Declare(Var(0), Expr::F32(1.0)),
            Stmt::Declare(Var(1), Expr::U32(0)),
            Stmt::Assign(Var(0), half()),
            Stmt::Assign(Var(1), Expr::Select(Box::new(less.clone()), Box::new(n.clone()), Box::new(Expr::U32(2)))),
            Stmt::Assign(Var(0), Expr::Select(Box::new(plain), Box::new(x.clone()), Box::new(Expr::F32(2.0)))),
            Stmt::Store(0, boxed(Binary::Add, n, Expr::U32(1)), half()),
            Stmt::If(less, vec![Stmt::Store(0, Expr::U32(0), Expr::Component(Box::new(unpacked), 1))], vec![]),
        ];
        let ir = LoopIr { name: "k".into(), workgroup: 1, vars, body, ..LoopIr::default() };
        let text = dump(&named(&ir));
        let lines: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
        let expected = [
            "var x = 1.0",
            "var n = 0",
            "x = x * 0.5",
            "let value = x * 0.5 < x",
            "n = select(value, n, 2)",
            "x = select(x < 0.0, x, 2.0)",
            "let value1 = x * 0.5",
            "missing0[n + 1] = value1",
            "let value2 = x * 0.5 < x",
            "if value2",
            "let word = n + 1",
            "missing0[0] = unpack_f16(word).y",
        ];
        assert_eq!(lines, expected);
    }
}
