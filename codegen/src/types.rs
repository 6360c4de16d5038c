//! The type of every loop IR expression, or the first reason why it has none.
//!
//! One table serves the printer, the interpreter and `verify`. Only types are looked at here: whether a local is in scope,
//! an index in range or a flow uniform is decided elsewhere.

use crate::loops::{Expr, Kind, LoopIr, Place, Shared, Side, Ty, Var};
use crate::text;
use tilewright_dsl::ir::{Binary, Type, Unary};

/// An expression without a type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is {found} where {expected} is needed")]
pub struct TypeError {
    /// The expression.
    pub text: String,
    /// What it is.
    pub found: String,
    /// What its place needs.
    pub expected: String,
}

/// A scalar f32.
pub const F32: Ty = Ty { elem: Type::F32, width: 1 };
/// A scalar u32.
pub const U32: Ty = Ty { elem: Type::U32, width: 1 };
/// A bool.
pub const BOOL: Ty = Ty { elem: Type::Bool, width: 1 };

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.width {
            1 => write!(f, "{}", self.elem),
            n => write!(f, "{}x{n}", self.elem),
        }
    }
}

/// The type of an expression and, recursively, of all its operands.
///
/// # Errors
/// The innermost expression that does not fit its place, or that names a buffer, parameter, array or local which is not there.
pub fn type_of(ir: &LoopIr, e: &Expr) -> Result<Ty, TypeError> {
    let error = |found: &str, expected: &str| TypeError {
        text: text::expr(ir, e),
        found: found.to_owned(),
        expected: expected.to_owned(),
    };
    Ok(match e {
        Expr::F32(x) if x.is_finite() => F32,
        Expr::F32(_) => return Err(error("not finite", "a finite constant")),
        Expr::U32(_) => U32,
        Expr::Bool(_) => BOOL,
        Expr::Var(v) => match ir.vars.get(v.0 as usize).map(|d| d.kind) {
            Some(Kind::Value(ty)) => ty,
            Some(Kind::Array(..)) => return Err(error("a private array", "a value")),
            Some(Kind::Fragment(..)) => return Err(error("a fragment", "a value")),
            None => return Err(error("not declared", "a local")),
        },
        Expr::Builtin(_) => U32,
        Expr::Param(i) => match ir.params.get(*i) {
            Some(p) => Ty { elem: p.ty, width: 1 },
            None => return Err(error("missing", "a parameter")),
        },
        Expr::Load { buffer, index, width } => {
            expect(ir, index, U32)?;
            let b = ir.buffers.get(*buffer).ok_or_else(|| error("missing", "a buffer"))?;
            if !matches!(width, 1 | 2 | 4) || *width > b.width {
                return Err(error(&format!("{width} words wide"), &format!("a load of 1 to {} words", b.width)));
            }
            Ty { elem: b.elem, width: *width }
        }
        Expr::Shared(i, index) => {
            expect(ir, index, U32)?;
            match ir.shared.get(*i) {
                Some(array) if array.narrow => return Err(error("narrow", "workgroup memory of words")),
                Some(array) => Ty { elem: array.elem, width: 1 },
                None => return Err(error("missing", "workgroup memory")),
            }
        }
        Expr::Element(v, index) => {
            expect(ir, index, U32)?;
            match ir.vars.get(v.0 as usize).map(|d| d.kind) {
                Some(Kind::Array(elem, _)) => Ty { elem, width: 1 },
                _ => return Err(error("no array", "a private array")),
            }
        }
        Expr::Component(v, c) => {
            let ty = type_of(ir, v)?;
            if ty.width == 1 || *c >= ty.width {
                return Err(error(&ty.to_string(), &format!("a vector with component {c}")));
            }
            Ty { elem: ty.elem, width: 1 }
        }
        Expr::UnpackF16(a) => {
            expect(ir, a, U32)?;
            Ty { elem: Type::F32, width: 2 }
        }
        Expr::PackF16(a, b) => {
            expect(ir, a, F32)?;
            expect(ir, b, F32)?;
            U32
        }
        Expr::FromBits(a) => {
            expect(ir, a, U32)?;
            F32
        }
        Expr::Unary(op, a) => unary(ir, *op, a)?,
        Expr::Binary(op, a, b) => binary(ir, *op, a, b)?,
        Expr::Select(cond, yes, no) => {
            expect(ir, cond, BOOL)?;
            let ty = scalar(ir, yes)?;
            expect(ir, no, ty)?;
            ty
        }
        Expr::Fma(a, b, c) => {
            for x in [a, b, c] {
                expect(ir, x, F32)?;
            }
            F32
        }
        Expr::ShuffleXor(a, mask) => {
            expect(ir, mask, U32)?;
            let ty = scalar(ir, a)?;
            one_of(ir, a, ty, &[Type::F32, Type::U32])?
        }
    })
}

/// The size of a fragment that a statement uses as one of these sides.
///
/// # Errors
/// A local that is no such fragment.
pub fn fragment(ir: &LoopIr, v: Var, sides: &[Side]) -> Result<u32, TypeError> {
    let error = |found: String| TypeError {
        text: text::expr(ir, &Expr::Var(v)),
        found,
        expected: sides.iter().map(Side::to_string).collect::<Vec<_>>().join(" or "),
    };
    match ir.vars.get(v.0 as usize).map(|d| d.kind) {
        Some(Kind::Fragment(side, n)) if sides.contains(&side) => Ok(n),
        Some(Kind::Fragment(side, _)) => Err(error(side.to_string())),
        _ => Err(error("no fragment".into())),
    }
}

/// The array of workgroup memory at a fragment's place.
///
/// # Errors
/// An array of another kind, or an index that is no u32.
pub fn place<'a>(ir: &'a LoopIr, place: &Place, narrow: bool) -> Result<&'a Shared, TypeError> {
    expect(ir, &place.index, U32)?;
    let error = |found: &str| TypeError {
        text: format!("array {}", place.array),
        found: found.into(),
        expected: if narrow { "a narrow array" } else { "workgroup memory of f32" }.into(),
    };
    match ir.shared.get(place.array) {
        Some(array) if array.narrow == narrow && array.elem == Type::F32 => Ok(array),
        Some(array) => Err(error(if array.narrow { "narrow" } else { "words" }).with(&array.name)),
        None => Err(error("missing")),
    }
}

impl TypeError {
    fn with(self, text: &str) -> Self {
        TypeError { text: text.into(), ..self }
    }
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Side::Left => "a left factor",
            Side::Right => "a right factor",
            Side::Sum => "a sum",
        })
    }
}

/// Whether an expression is a bool, as far as its outermost operators tell; never fails.
pub(crate) fn is_bool(ir: &LoopIr, e: &Expr) -> bool {
    match e {
        Expr::Bool(_) | Expr::Unary(Unary::Not, _) => true,
        Expr::Var(v) => ir.vars.get(v.0 as usize).is_some_and(|d| d.kind == Kind::Value(BOOL)),
        Expr::Select(_, yes, _) => is_bool(ir, yes),
        Expr::Binary(Binary::And | Binary::Or, a, _) => is_bool(ir, a),
        Expr::Binary(op, ..) => {
            matches!(op, Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge)
        }
        _ => false,
    }
}

/// Checks that an expression has a type.
///
/// # Errors
/// As [`type_of`], or the expression with its own type where that is another one.
pub fn expect(ir: &LoopIr, e: &Expr, expected: Ty) -> Result<(), TypeError> {
    let found = type_of(ir, e)?;
    if found == expected {
        return Ok(());
    }
    Err(TypeError { text: text::expr(ir, e), found: found.to_string(), expected: expected.to_string() })
}

fn scalar(ir: &LoopIr, e: &Expr) -> Result<Ty, TypeError> {
    let ty = type_of(ir, e)?;
    if ty.width == 1 {
        return Ok(ty);
    }
    Err(TypeError { text: text::expr(ir, e), found: ty.to_string(), expected: "a scalar".into() })
}

fn one_of(ir: &LoopIr, e: &Expr, ty: Ty, allowed: &[Type]) -> Result<Ty, TypeError> {
    if allowed.contains(&ty.elem) {
        return Ok(ty);
    }
    let expected: Vec<_> = allowed.iter().map(Type::to_string).collect();
    Err(TypeError { text: text::expr(ir, e), found: ty.to_string(), expected: expected.join(" or ") })
}

fn unary(ir: &LoopIr, op: Unary, a: &Expr) -> Result<Ty, TypeError> {
    let (from, to) = match op {
        Unary::Not => (BOOL, BOOL),
        Unary::Bits => (F32, U32),
        Unary::ToF32 | Unary::ToU32 => {
            let ty = scalar(ir, a)?;
            one_of(ir, a, ty, &[Type::F32, Type::U32])?;
            (ty, if op == Unary::ToF32 { F32 } else { U32 })
        }
        Unary::Neg | Unary::Exp | Unary::Log | Unary::Sqrt | Unary::Rsqrt | Unary::Tanh | Unary::Abs | Unary::Floor => {
            (F32, F32)
        }
    };
    expect(ir, a, from)?;
    Ok(to)
}

fn binary(ir: &LoopIr, op: Binary, a: &Expr, b: &Expr) -> Result<Ty, TypeError> {
    let ty = scalar(ir, a)?;
    expect(ir, b, ty)?;
    let (allowed, bool_result): (&[Type], bool) = match op {
        Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Min | Binary::Max => {
            (&[Type::F32, Type::U32], false)
        }
        Binary::And | Binary::Or => (&[Type::U32, Type::Bool], false),
        Binary::Rem | Binary::Xor | Binary::Shl | Binary::Shr => (&[Type::U32], false),
        Binary::Eq | Binary::Ne => (&[Type::F32, Type::U32, Type::Bool], true),
        Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => (&[Type::F32, Type::U32], true),
    };
    one_of(ir, a, ty, allowed)?;
    Ok(if bool_result { BOOL } else { ty })
}
