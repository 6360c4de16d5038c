//! Small constructors of loop expressions that fold what is known, so that the text shows no `* 1u` and no `+ 0u`.
//!
//! Only u32 arithmetic is folded freely; f32 arithmetic is left as the kernel says, but for exact identities.

use crate::loops::{Expr, Ty};
use tilewright_dsl::ir::{Binary, Type, Unary};

/// A u32 constant.
pub fn u(n: u32) -> Expr {
    Expr::U32(n)
}

/// `a + b` on u32.
pub fn add(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::U32(x), Expr::U32(y)) => u(x.wrapping_add(y)),
        (Expr::U32(0), e) | (e, Expr::U32(0)) => e,
        // Constants gather on the right: (x + 1) + 2 is x + 3.
        (Expr::Binary(Binary::Add, x, c), Expr::U32(n)) if matches!(*c, Expr::U32(_)) => {
            let Expr::U32(m) = *c else { return add(*x, u(n)) };
            add(*x, u(m.wrapping_add(n)))
        }
        (a, b) => bin(Binary::Add, a, b),
    }
}

/// `a - b` on u32, where a >= b.
pub fn sub(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::U32(x), Expr::U32(y)) => u(x.wrapping_sub(y)),
        (e, Expr::U32(0)) => e,
        (a, b) => bin(Binary::Sub, a, b),
    }
}

/// `a * b` on u32.
pub fn mul(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::U32(x), Expr::U32(y)) => u(x.wrapping_mul(y)),
        (Expr::U32(0), _) | (_, Expr::U32(0)) => u(0),
        (Expr::U32(1), e) | (e, Expr::U32(1)) => e,
        (a, b) => bin(Binary::Mul, a, b),
    }
}

/// `a / n` on u32, n not 0.
pub fn div(a: Expr, n: u32) -> Expr {
    match a {
        Expr::U32(x) => u(x / n),
        e if n == 1 => e,
        e => bin(Binary::Div, e, u(n)),
    }
}

/// `a % n` on u32, n not 0.
pub fn rem(a: Expr, n: u32) -> Expr {
    match a {
        Expr::U32(x) => u(x % n),
        _ if n == 1 => u(0),
        e => bin(Binary::Rem, e, u(n)),
    }
}

/// The smaller of two u32.
pub fn min(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::U32(x), Expr::U32(y)) => u(x.min(y)),
        (a, b) => bin(Binary::Min, a, b),
    }
}

/// `a < b` on u32.
pub fn lt(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::U32(x), Expr::U32(y)) => Expr::Bool(x < y),
        (a, b) => bin(Binary::Lt, a, b),
    }
}

/// Both.
pub fn and(a: Option<Expr>, b: Expr) -> Expr {
    match a {
        Some(a) => bin(Binary::And, a, b),
        None => b,
    }
}

/// An operator on two operands, as it is.
pub fn bin(op: Binary, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

/// A kernel's operator: exact identities folded, multiply-accumulate made explicit.
pub fn binary(op: Binary, ty: Type, a: Expr, b: Expr) -> Expr {
    let one = |e: &Expr| matches!(e, Expr::F32(x) if *x == 1.0);
    match (op, ty) {
        (Binary::Add, Type::U32) => add(a, b),
        (Binary::Sub, Type::U32) => sub(a, b),
        (Binary::Mul, Type::U32) => mul(a, b),
        (Binary::Div, Type::U32) => match b {
            Expr::U32(n) if n > 0 => div(a, n),
            b => bin(op, a, divisor(b)),
        },
        (Binary::Rem, Type::U32) => match b {
            Expr::U32(n) if n > 0 => rem(a, n),
            b => bin(op, a, divisor(b)),
        },
        (Binary::Mul, Type::F32) if one(&a) => b,
        (Binary::Mul | Binary::Div, Type::F32) if one(&b) => a,
        (Binary::Add, Type::F32) => match (a, b) {
            (Expr::Binary(Binary::Mul, x, y), c) | (c, Expr::Binary(Binary::Mul, x, y)) => Expr::Fma(x, y, Box::new(c)),
            (a, b) => bin(op, a, b),
        },
        (Binary::Sub, Type::F32) => match (a, b) {
            (Expr::Binary(Binary::Mul, x, y), c) => Expr::Fma(x, y, Box::new(negate(c))),
            (c, Expr::Binary(Binary::Mul, x, y)) => Expr::Fma(Box::new(negate(*x)), y, Box::new(c)),
            (a, b) => bin(op, a, b),
        },
        _ => bin(op, a, b),
    }
}

/// A divisor that is never 0: `a / 0` is a and `a % 0` is 0, as by 1, but devices do as they like. `simplify` drops what is known.
fn divisor(b: Expr) -> Expr {
    bin(Binary::Max, b, u(1))
}

fn negate(e: Expr) -> Expr {
    match e {
        Expr::F32(x) => Expr::F32(-x),
        e => Expr::Unary(Unary::Neg, Box::new(e)),
    }
}

/// Whether an expression may be repeated in the text at no cost.
pub fn cheap(e: &Expr) -> bool {
    match e {
        Expr::F32(_) | Expr::U32(_) | Expr::Bool(_) | Expr::Var(_) | Expr::Builtin(_) | Expr::Param(_) => true,
        Expr::Component(e, _) => cheap(e),
        _ => false,
    }
}

/// The scalar type of that element.
pub fn scalar(elem: Type) -> Ty {
    Ty { elem, width: 1 }
}
