//! The operators, each over the invocations' words.

use half::f16;
use tilewright_dsl::eval::to_u32;
use tilewright_dsl::ir::{Binary, Type, Unary};

pub(super) fn unary(op: Unary, from: Type, d: &mut [u32], a: &[u32]) {
    let float = |d: &mut [u32], f: fn(f32) -> f32| map(d, a, |x| f(f32::from_bits(x)).to_bits());
    match op {
        Unary::Neg => float(d, |x| -x),
        Unary::Not => map(d, a, |x| x ^ 1),
        Unary::Exp => float(d, f32::exp),
        Unary::Log => float(d, f32::ln),
        Unary::Sqrt => float(d, f32::sqrt),
        Unary::Rsqrt => float(d, |x| 1.0 / x.sqrt()),
        Unary::Tanh => float(d, f32::tanh),
        Unary::Abs => float(d, f32::abs),
        Unary::Floor => float(d, f32::floor),
        Unary::ToF32 if from == Type::U32 => map(d, a, |x| (x as f32).to_bits()),
        Unary::ToU32 if from == Type::F32 => map(d, a, |x| to_u32(f32::from_bits(x))),
        Unary::Bits | Unary::ToF32 | Unary::ToU32 => d.copy_from_slice(a),
    }
}

pub(super) fn binary(op: Binary, ty: Type, d: &mut [u32], a: &[u32], b: &[u32]) {
    if ty == Type::F32 { float(op, d, a, b) } else { word(op, d, a, b) }
}

fn float(op: Binary, d: &mut [u32], a: &[u32], b: &[u32]) {
    let (f, bits) = (f32::from_bits, f32::to_bits);
    match op {
        Binary::Add => zip(d, a, b, |x, y| bits(f(x) + f(y))),
        Binary::Sub => zip(d, a, b, |x, y| bits(f(x) - f(y))),
        Binary::Mul => zip(d, a, b, |x, y| bits(f(x) * f(y))),
        Binary::Div => zip(d, a, b, |x, y| bits(f(x) / f(y))),
        Binary::Min => zip(d, a, b, |x, y| bits(f(x).min(f(y)))),
        Binary::Max => zip(d, a, b, |x, y| bits(f(x).max(f(y)))),
        Binary::Eq => zip(d, a, b, |x, y| (f(x) == f(y)).into()),
        Binary::Ne => zip(d, a, b, |x, y| (f(x) != f(y)).into()),
        Binary::Lt => zip(d, a, b, |x, y| (f(x) < f(y)).into()),
        Binary::Le => zip(d, a, b, |x, y| (f(x) <= f(y)).into()),
        Binary::Gt => zip(d, a, b, |x, y| (f(x) > f(y)).into()),
        Binary::Ge => zip(d, a, b, |x, y| (f(x) >= f(y)).into()),
        // Not typed on f32.
        Binary::Rem | Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr => d.fill(0),
    }
}

/// u32 and bool; a divisor of zero was refused before where it matters.
fn word(op: Binary, d: &mut [u32], a: &[u32], b: &[u32]) {
    match op {
        Binary::Add => zip(d, a, b, u32::wrapping_add),
        Binary::Sub => zip(d, a, b, u32::wrapping_sub),
        Binary::Mul => zip(d, a, b, u32::wrapping_mul),
        Binary::Div => zip(d, a, b, |x, y| x.checked_div(y).unwrap_or(x)),
        Binary::Rem => zip(d, a, b, |x, y| x.checked_rem(y).unwrap_or(0)),
        Binary::Min => zip(d, a, b, u32::min),
        Binary::Max => zip(d, a, b, u32::max),
        Binary::And => zip(d, a, b, |x, y| x & y),
        Binary::Or => zip(d, a, b, |x, y| x | y),
        Binary::Xor => zip(d, a, b, |x, y| x ^ y),
        Binary::Shl => zip(d, a, b, u32::wrapping_shl),
        Binary::Shr => zip(d, a, b, u32::wrapping_shr),
        Binary::Eq => zip(d, a, b, |x, y| (x == y).into()),
        Binary::Ne => zip(d, a, b, |x, y| (x != y).into()),
        Binary::Lt => zip(d, a, b, |x, y| (x < y).into()),
        Binary::Le => zip(d, a, b, |x, y| (x <= y).into()),
        Binary::Gt => zip(d, a, b, |x, y| (x > y).into()),
        Binary::Ge => zip(d, a, b, |x, y| (x >= y).into()),
    }
}

pub(super) fn select(d: &mut [u32], c: &[u32], yes: &[u32], no: &[u32]) {
    for (((d, c), yes), no) in d.iter_mut().zip(c).zip(yes).zip(no) {
        *d = if *c != 0 { *yes } else { *no };
    }
}

/// Rounds after the product and after the sum.
pub(super) fn fma(d: &mut [u32], a: &[u32], b: &[u32], c: &[u32]) {
    for (((d, a), b), c) in d.iter_mut().zip(a).zip(b).zip(c) {
        *d = (f32::from_bits(*a) * f32::from_bits(*b) + f32::from_bits(*c)).to_bits();
    }
}

/// The low (`shift` 0) or high (16) half of a word, from f16.
pub(super) fn unpack(d: &mut [u32], a: &[u32], shift: u32) {
    map(d, a, |x| f16::from_bits((x >> shift) as u16).to_f32().to_bits());
}

pub(super) fn pack(d: &mut [u32], a: &[u32], b: &[u32]) {
    let bits = |x: u32| u32::from(f16::from_f32(f32::from_bits(x)).to_bits());
    zip(d, a, b, |x, y| bits(x) | bits(y) << 16);
}

/// An f32 rounded to f16.
pub(super) fn narrow(x: u32) -> u32 {
    f16::from_f32(f32::from_bits(x)).to_f32().to_bits()
}

/// `sums += a · b` for each subgroup's square fragments, row by row, in f32.
pub(super) fn multiply_add(side: usize, sums: &mut [f32], a: &[f32], b: &[f32]) {
    let all = side * side;
    for ((sums, a), b) in sums.chunks_exact_mut(all).zip(a.chunks_exact(all)).zip(b.chunks_exact(all)) {
        for (i, sum) in sums.iter_mut().enumerate() {
            let (row, column) = (i / side, i % side);
            *sum += (0..side).map(|k| a[row * side + k] * b[k * side + column]).sum::<f32>();
        }
    }
}

fn map(d: &mut [u32], a: &[u32], f: impl Fn(u32) -> u32) {
    for (d, a) in d.iter_mut().zip(a) {
        *d = f(*a);
    }
}

fn zip(d: &mut [u32], a: &[u32], b: &[u32], f: impl Fn(u32, u32) -> u32) {
    for ((d, a), b) in d.iter_mut().zip(a).zip(b) {
        *d = f(*a, *b);
    }
}
