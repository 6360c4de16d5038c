//! Monoids, and the types of operators, which monoids and kernels share.

use super::{KernelError, operands};
use crate::ir::*;

/// Everything that is wrong with a monoid; nothing for a well-formed one.
pub fn monoid(monoid: &Monoid) -> Vec<KernelError> {
    let name = || monoid.name.clone();
    let field = |i: usize| monoid.fields.get(i);
    let mut errors = Vec::new();
    let mut types: Vec<Type> = Vec::new();
    let mut from_array = vec![];
    for (i, expr) in monoid.exprs.iter().enumerate() {
        let place = format!("expression {i}");
        if operands(expr).iter().any(|o| o.0 as usize >= i) {
            return vec![KernelError::BrokenHandle { owner: name(), place, what: "an expression" }];
        }
        from_array.push(match expr {
            Expr::Part(_, f) => field(*f).is_some_and(|f| f.array),
            _ => operands(expr).iter().any(|o| from_array[o.0 as usize]),
        });
        types.push(match expr {
            Expr::F32(_) => Type::F32,
            Expr::U32(_) => Type::U32,
            Expr::Bool(_) => Type::Bool,
            Expr::Part(_, f) => match field(*f) {
                Some(f) => f.ty,
                None => return vec![KernelError::NoSuchField { monoid: name(), field: *f, array: false }],
            },
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => operation(expr, &types, &place, &mut errors),
            other => {
                return vec![KernelError::NotInMonoid { monoid: name(), found: noun(other), place }];
            }
        });
    }
    for (list, what) in [(&monoid.identity, "the identity"), (&monoid.merge, "the merge")] {
        if list.len() != monoid.fields.len() {
            let (expected, found) = (monoid.fields.len(), list.len());
            errors.push(KernelError::FieldCount { axis: what.into(), monoid: name(), expected, found });
        }
        for (f, id) in monoid.fields.iter().zip(list) {
            let place = format!("{what} of field `{}`", f.name);
            match types.get(id.0 as usize) {
                None => errors.push(KernelError::BrokenHandle { owner: name(), place, what: "an expression" }),
                Some(&found) if found != f.ty => {
                    errors.push(KernelError::TypeMismatch { place, found, expected: f.ty })
                }
                Some(_) if from_array[id.0 as usize] && !f.array => {
                    errors.push(KernelError::ScalarFromArray { monoid: name(), field: f.name.clone() })
                }
                Some(_) => {}
            }
        }
    }
    for f in monoid.fields.iter().filter(|f| f.ty == Type::Bool) {
        errors.push(KernelError::BoolStored { name: f.name.clone() });
    }
    let needed = monoid.fields.iter().any(|f| f.array);
    if needed != monoid.array.is_some() {
        errors.push(KernelError::ArrayExtent { monoid: name(), needed });
    }
    errors
}

/// The type of an operator, function or select; a mismatch is reported and the likely type given.
pub fn operation(expr: &Expr, types: &[Type], place: &str, errors: &mut Vec<KernelError>) -> Type {
    use Type::{Bool, F32, U32};
    let ty = |id: &ExprId| types[id.0 as usize];
    let mut expect = |found: Type, expected: Type, what: &str| {
        if found != expected {
            errors.push(KernelError::TypeMismatch { place: format!("{what} ({place})"), found, expected });
        }
    };
    match expr {
        Expr::Unary(op, a) => match op {
            Unary::Not => {
                expect(ty(a), Bool, "the operand of `!`");
                Bool
            }
            Unary::Bits => {
                expect(ty(a), F32, "the operand of `bits`");
                U32
            }
            Unary::ToF32 | Unary::ToU32 => {
                if ty(a) == Bool {
                    expect(Bool, U32, "the operand of `as`");
                }
                if *op == Unary::ToF32 { F32 } else { U32 }
            }
            _ => {
                expect(ty(a), F32, &format!("the operand of {op:?}"));
                F32
            }
        },
        Expr::Binary(op, a, b) => {
            let first = ty(a);
            let right = format!("the right side of {op:?}");
            let left = format!("the left side of {op:?}");
            match op {
                Binary::Rem | Binary::Xor | Binary::Shl | Binary::Shr => {
                    expect(first, U32, &left);
                    expect(ty(b), U32, &right);
                    U32
                }
                Binary::And | Binary::Or => {
                    let wanted = if first == F32 { U32 } else { first };
                    expect(first, wanted, &left);
                    expect(ty(b), wanted, &right);
                    wanted
                }
                _ => {
                    if first == Bool {
                        expect(first, U32, &left);
                    } else {
                        expect(ty(b), first, &right);
                    }
                    let compares =
                        matches!(op, Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge);
                    if compares { Bool } else { first }
                }
            }
        }
        Expr::Select(c, a, b) => {
            expect(ty(c), Bool, "the condition of `if`");
            expect(ty(b), ty(a), "the `else` value");
            ty(a)
        }
        _ => U32,
    }
}

fn noun(expr: &Expr) -> &'static str {
    match expr {
        Expr::Axis(_) => "an axis",
        Expr::Extent(_) => "an extent",
        Expr::Scalar(_) => "a scalar parameter",
        Expr::Load(..) => "a load",
        Expr::Reduce(_) | Expr::Field(..) | Expr::Element(..) => "a reduction",
        Expr::Part(..) => "an operand of a merge",
        Expr::F32(_) | Expr::U32(_) | Expr::Bool(_) => "a constant",
        Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => "an operator",
    }
}
