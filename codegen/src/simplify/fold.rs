//! Rewrites of one operator that hold for all values of its operands.

use crate::loops::Expr;
use tilewright_dsl::eval::to_u32;
use tilewright_dsl::ir::{Binary, Unary};

/// Where the hyperbolic tangent of an f32 has long been ±1.
const TANH_LIMIT: f32 = 10.0;

/// A simpler form of `op a`.
pub(super) fn unary(op: Unary, a: &Expr) -> Option<Expr> {
    match (op, a) {
        (Unary::Tanh, _) => clamped(a),
        (Unary::Not, Expr::Bool(x)) => Some(Expr::Bool(!x)),
        (Unary::Not, Expr::Unary(Unary::Not, x)) | (Unary::Neg, Expr::Unary(Unary::Neg, x)) => Some((**x).clone()),
        (Unary::Not, Expr::Binary(op, x, y)) => {
            // On f32 the opposite of `<` is not `>=` where a NaN may come along.
            let opposite = match op {
                Binary::Eq => Binary::Ne,
                Binary::Ne => Binary::Eq,
                _ => return None,
            };
            Some(Expr::Binary(opposite, x.clone(), y.clone()))
        }
        (Unary::Neg, Expr::F32(x)) => Some(Expr::F32(-x)),
        (Unary::Abs, Expr::F32(x)) => Some(Expr::F32(x.abs())),
        (Unary::Floor, Expr::F32(x)) => Some(Expr::F32(x.floor())),
        (Unary::Bits, Expr::F32(x)) => Some(Expr::U32(x.to_bits())),
        (Unary::Bits, Expr::FromBits(x)) => Some((**x).clone()),
        (Unary::ToF32, Expr::U32(x)) => Some(Expr::F32(*x as f32)),
        (Unary::ToF32, Expr::F32(_)) | (Unary::ToU32, Expr::U32(_)) => Some(a.clone()),
        (Unary::ToU32, Expr::F32(x)) => Some(Expr::U32(to_u32(*x))),
        _ => None,
    }
}

/// `tanh(x)` with its argument kept in ±10; `None` where it is so already.
fn clamped(x: &Expr) -> Option<Expr> {
    if matches!(x, Expr::Binary(Binary::Min, _, limit) if **limit == Expr::F32(TANH_LIMIT)) {
        return None;
    }
    let low = Expr::Binary(Binary::Max, Box::new(x.clone()), Box::new(Expr::F32(-TANH_LIMIT)));
    let both = Expr::Binary(Binary::Min, Box::new(low), Box::new(Expr::F32(TANH_LIMIT)));
    Some(Expr::Unary(Unary::Tanh, Box::new(both)))
}

/// A simpler form of `a op b`.
pub(super) fn binary(op: Binary, a: &Expr, b: &Expr) -> Option<Expr> {
    match (a, b) {
        (Expr::U32(x), Expr::U32(y)) => integers(op, *x, *y),
        (Expr::F32(x), Expr::F32(y)) => floats(op, *x, *y),
        (Expr::Bool(x), Expr::Bool(y)) => Some(Expr::Bool(match op {
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Eq => x == y,
            Binary::Ne => x != y,
            _ => return None,
        })),
        _ => neutral(op, a, b).or_else(|| regrouped(op, a, b)),
    }
}

/// Operators on u32 constants, as the shading language defines them; a division by zero stays for `verify` to find.
fn integers(op: Binary, x: u32, y: u32) -> Option<Expr> {
    Some(match op {
        Binary::Add => Expr::U32(x.wrapping_add(y)),
        Binary::Sub => Expr::U32(x.wrapping_sub(y)),
        Binary::Mul => Expr::U32(x.wrapping_mul(y)),
        Binary::Div => Expr::U32(x.checked_div(y)?),
        Binary::Rem => Expr::U32(x.checked_rem(y)?),
        Binary::Min => Expr::U32(x.min(y)),
        Binary::Max => Expr::U32(x.max(y)),
        Binary::And => Expr::U32(x & y),
        Binary::Or => Expr::U32(x | y),
        Binary::Xor => Expr::U32(x ^ y),
        Binary::Shl => Expr::U32(x.wrapping_shl(y)),
        Binary::Shr => Expr::U32(x.wrapping_shr(y)),
        Binary::Eq => Expr::Bool(x == y),
        Binary::Ne => Expr::Bool(x != y),
        Binary::Lt => Expr::Bool(x < y),
        Binary::Le => Expr::Bool(x <= y),
        Binary::Gt => Expr::Bool(x > y),
        Binary::Ge => Expr::Bool(x >= y),
    })
}

/// Operators on finite f32 constants by IEEE 754, where the result is finite.
fn floats(op: Binary, x: f32, y: f32) -> Option<Expr> {
    let value = match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        Binary::Min => x.min(y),
        Binary::Max => x.max(y),
        Binary::Eq => return Some(Expr::Bool(x == y)),
        Binary::Ne => return Some(Expr::Bool(x != y)),
        Binary::Lt => return Some(Expr::Bool(x < y)),
        Binary::Le => return Some(Expr::Bool(x <= y)),
        Binary::Gt => return Some(Expr::Bool(x > y)),
        Binary::Ge => return Some(Expr::Bool(x >= y)),
        _ => return None,
    };
    // Devices may flush subnormal results to zero.
    (value.is_normal() || value == 0.0).then_some(Expr::F32(value))
}

/// Constants that do nothing, or decide everything. `x + 0.0` stays: it turns -0.0 into 0.0.
fn neutral(op: Binary, a: &Expr, b: &Expr) -> Option<Expr> {
    let (is_a, is_b) = (|x: u32| *a == Expr::U32(x), |x: u32| *b == Expr::U32(x));
    let (one_a, one_b) = (*a == Expr::F32(1.0), *b == Expr::F32(1.0));
    let zero = Some(Expr::U32(0));
    match op {
        Binary::Add if is_a(0) => Some(b.clone()),
        Binary::Add | Binary::Sub | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr | Binary::Max if is_b(0) => {
            Some(a.clone())
        }
        Binary::Or | Binary::Xor | Binary::Max if is_a(0) => Some(b.clone()),
        Binary::Mul if is_a(1) || one_a => Some(b.clone()),
        Binary::Mul | Binary::Div if is_b(1) || one_b => Some(a.clone()),
        Binary::Mul | Binary::And | Binary::Min if is_a(0) || is_b(0) => zero,
        Binary::Rem if is_b(1) => zero,
        Binary::Sub if matches!(b, Expr::F32(x) if x.to_bits() == 0) => Some(a.clone()),
        Binary::And => match (a, b) {
            (Expr::Bool(true), x) | (x, Expr::Bool(true)) => Some(x.clone()),
            (Expr::Bool(false), _) | (_, Expr::Bool(false)) => Some(Expr::Bool(false)),
            _ => None,
        },
        Binary::Or => match (a, b) {
            (Expr::Bool(false), x) | (x, Expr::Bool(false)) => Some(x.clone()),
            (Expr::Bool(true), _) | (_, Expr::Bool(true)) => Some(Expr::Bool(true)),
            _ => None,
        },
        _ => None,
    }
}

/// Sums and products of u32 are associative: constants meet, and sums lean to the left. A constant shows which type it is.
fn regrouped(op: Binary, a: &Expr, b: &Expr) -> Option<Expr> {
    // (x + m) - n
    if let (Binary::Sub, Expr::Binary(Binary::Add, x, m), Expr::U32(n)) = (op, a, b)
        && let Expr::U32(m) = **m
    {
        let (sign, rest) = if m >= *n { (Binary::Add, m - n) } else { (Binary::Sub, n - m) };
        return Some(Expr::Binary(sign, x.clone(), Box::new(Expr::U32(rest))));
    }
    if !matches!(op, Binary::Add | Binary::Mul) {
        return None;
    }
    let join = |x: &Expr, y: &Expr| Expr::Binary(op, Box::new(x.clone()), Box::new(y.clone()));
    match (a, b) {
        // c + x = x + c
        (Expr::U32(_), x) => Some(join(x, a)),
        (Expr::Binary(inner, x, c), Expr::U32(n)) if *inner == op => match **c {
            Expr::U32(m) => Some(join(x, &integers(op, m, *n)?)),
            _ => None,
        },
        // (x + c) + y = (x + y) + c, and x + (y + c) = (x + y) + c
        (Expr::Binary(inner, x, c), y) if *inner == op && matches!(**c, Expr::U32(_)) => Some(join(&join(x, y), c)),
        (x, Expr::Binary(inner, y, c)) if *inner == op && matches!(**c, Expr::U32(_)) => Some(join(&join(x, y), c)),
        _ => None,
    }
}
