//! Whether an adapter's cooperative matrices multiply rightly.
//!
//! The feature is experimental in wgpu and its layouts are the driver's own, so one small product of fragments is run when a
//! device is opened and held against the host's: small whole numbers, whose sums are exact. What fails is not used, aloud. The
//! shader is loop IR, printed as every other is.

use crate::device::Device;
use crate::error::RuntimeError;
use crate::probe::{facts, one_output};
use tilewright_codegen::loops::{
    Access, Buffer, Builtin, Expr, Kind, LoopIr, Place, Shared, Side, Stmt, Ty, Var, VarDecl,
};
use tilewright_codegen::target::Subgroups;
use tilewright_dsl::ir::{Binary, Type, Unary};

/// How often the product is added up: sums that begin with something else than zeros are looked at too.
const TIMES: u32 = 2;

/// What is wrong with fragments of this side in subgroups of that size, or `None`.
pub(crate) fn wrong(device: &Device, side: u32, subgroup: u32) -> Result<Option<String>, RuntimeError> {
    let words = side * side;
    let program = one_output("products", words, 1, product(side, subgroup));
    let found = facts(device, "product of fragments", program, words)?;
    Ok(difference(&found, side))
}

/// The first element that is not the host's.
fn difference(found: &[u32], side: u32) -> Option<String> {
    (0..side * side).find_map(|i| {
        let (row, column) = (i / side, i % side);
        let sum: f32 = (0..side).map(|k| element(LEFT, row * side + k) * element(RIGHT, column * side + k)).sum();
        let expected = sum * TIMES as f32;
        let got = f32::from_bits(found.get(i as usize).copied().unwrap_or(u32::MAX));
        (got != expected).then(|| {
            format!(
                "element {row}, {column} of a product of {side} × {side} fragments is {got}, and should be {expected}"
            )
        })
    })
}

/// A factor's elements: `i * .0 % .1 - .2` for element i.
type Elements = (u32, u32, u16);

/// The left factor, row by row.
const LEFT: Elements = (7, 13, 6);
/// The right factor, column by column.
const RIGHT: Elements = (5, 11, 5);

/// An element as the host has it.
fn element((factor, modulus, shift): Elements, i: u32) -> f32 {
    (i * factor % modulus) as f32 - f32::from(shift)
}

/// One workgroup of one subgroup that fills both factors, multiplies, and writes the sums' bits.
fn product(side: u32, subgroup: u32) -> LoopIr {
    let words = side * side;
    let lane = || Expr::Builtin(Builtin::LocalIndex);
    let binary = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    let u = Expr::U32;
    // Elements of four neighbours.
    let four = |at: Var, (factor, modulus, shift): Elements| {
        Box::new([0, 1, 2, 3].map(|c| {
            let i = binary(Binary::Add, binary(Binary::Mul, Expr::Var(at), u(4)), u(c));
            let n = binary(Binary::Rem, binary(Binary::Mul, i, u(factor)), u(modulus));
            binary(Binary::Sub, Expr::Unary(Unary::ToF32, Box::new(n)), Expr::F32(f32::from(shift)))
        }))
    };
    let word = Kind::Value(Ty { elem: Type::U32, width: 1 });
    let [fill, a, b, sum, at] = [0, 1, 2, 3, 4].map(Var);
    let kinds = [
        ("fill", word),
        ("a", Kind::Fragment(Side::Left, side)),
        ("b", Kind::Fragment(Side::Right, side)),
        ("sum", Kind::Fragment(Side::Sum, side)),
        ("i", word),
    ];
    let spread = |var, end: u32, body| Stmt::For { var, start: lane(), end: u(end), step: u(subgroup), body };
    let place = |array, stride| Place { array, index: u(0), stride };
    let mut body = vec![
        spread(
            fill,
            words / 4,
            vec![
                Stmt::StoreNarrow(0, Expr::Var(fill), four(fill, LEFT)),
                Stmt::StoreNarrow(1, Expr::Var(fill), four(fill, RIGHT)),
            ],
        ),
        Stmt::Barrier,
        Stmt::DeclareFragment(sum),
        Stmt::LoadFragment(a, place(0, side / 4)),
        Stmt::LoadFragment(b, place(1, side / 4)),
    ];
    body.extend((0..TIMES).map(|_| Stmt::MultiplyAdd(sum, a, b)));
    body.push(Stmt::StoreFragment(sum, place(2, side)));
    body.push(Stmt::Barrier);
    let bits = Expr::Unary(Unary::Bits, Box::new(Expr::Shared(2, Box::new(Expr::Var(at)))));
    body.push(spread(at, words, vec![Stmt::Store(0, Expr::Var(at), bits)]));
    let shared = |name: &str, narrow| Shared { name: name.into(), elem: Type::F32, len: words, narrow };
    let facts = Buffer {
        name: "facts".into(),
        access: Access::ReadWrite,
        elem: Type::U32,
        width: 1,
        tensor: "facts".into(),
        part: 0,
    };
    LoopIr {
        name: "products".into(),
        head: vec![format!("a product of two {side} x {side} fragments, added up {TIMES} times")],
        workgroup: subgroup,
        subgroups: Some(Subgroups { min: subgroup, max: subgroup }),
        buffers: vec![facts],
        shared: vec![shared("left", true), shared("right", true), shared("sums", false)],
        vars: kinds.map(|(name, kind)| VarDecl { name: name.into(), kind }).into(),
        body,
        ..LoopIr::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_codegen::target::Target;
    use tilewright_codegen::validate::validate;
    use tilewright_codegen::verify::verify;
    use tilewright_codegen::wgsl::{Dialect, print};
    use tilewright_codegen::{interp, simplify};

    #[test]
    fn the_product_is_what_the_host_says_and_a_wrong_one_is_found() {
        let target = Target { fragments: vec![8, 16], ..Target::matrix() };
        for side in [8, 16] {
            let mut ir = product(side, 32);
            assert_eq!(verify(&ir, &target), []);
            simplify::simplify(&mut ir);
            validate(&print(&ir, Dialect::Native), &target).unwrap_or_else(|e| panic!("{e}"));
            let mut buffers = [vec![0; (side * side) as usize]];
            interp::run(&ir, [1, 1], &[], &mut buffers, 32).expect("it runs");
            assert_eq!(difference(&buffers[0], side), None);
            // As if the right factor were read by rows.
            let mut turned = buffers[0].clone();
            turned.swap(1, side as usize);
            let told = difference(&turned, side).expect("element 0, 1 differs");
            assert!(told.starts_with("element 0, 1 of a product"), "{told}");
        }
    }
}
