//! Handles that an author's text is made of: values ([`E`]) with their operators, and tensors.

use std::marker::PhantomData;
use std::ops;

use super::Builder;
use crate::check::KernelError;
use crate::ir::*;

/// The Rust types that stand for the types of values.
pub trait Elem: Copy {
    /// The type that it stands for.
    const TYPE: Type;
}

impl Elem for f32 {
    const TYPE: Type = Type::F32;
}
impl Elem for u32 {
    const TYPE: Type = Type::U32;
}
impl Elem for bool {
    const TYPE: Type = Type::Bool;
}

/// f32 and u32.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a number", label = "f32 or u32 is needed here")]
pub trait Number: Elem {}
impl Number for f32 {}
impl Number for u32 {}

/// u32.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an integer", label = "u32 is needed here")]
pub trait Integer: Number {}
impl Integer for u32 {}

/// A value of type `T` in the kernel that `'b` builds.
pub struct E<'b, T> {
    builder: &'b Builder,
    id: ExprId,
    ty: PhantomData<T>,
}

impl<T> Clone for E<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for E<'_, T> {}

impl<'b, T: Elem> E<'b, T> {
    pub(super) fn new(builder: &'b Builder, id: ExprId) -> Self {
        E { builder, id, ty: PhantomData }
    }

    /// The handle in the arena.
    pub fn id(self) -> ExprId {
        self.id
    }

    fn unary<R: Elem>(self, op: Unary) -> E<'b, R> {
        self.builder.push(Expr::Unary(op, self.id))
    }

    fn binary<R: Elem>(self, op: Binary, other: impl Value<'b, T>) -> E<'b, R> {
        let other = other.value(self.builder);
        self.builder.push(Expr::Binary(op, self.id, other.id))
    }
}

macro_rules! functions {
    ($ty:ty: $($(#[$doc:meta])* $name:ident $op:ident -> $result:ty;)*) => {
        impl<'b> E<'b, $ty> {
            $($(#[$doc])* pub fn $name(self) -> E<'b, $result> { self.unary(Unary::$op) })*
        }
    };
}

functions! { f32:
    /// e^x.
    exp Exp -> f32;
    /// Natural logarithm.
    log Log -> f32;
    /// Square root.
    sqrt Sqrt -> f32;
    /// 1 / sqrt(x).
    rsqrt Rsqrt -> f32;
    /// Hyperbolic tangent.
    tanh Tanh -> f32;
    /// |x|.
    abs Abs -> f32;
    /// Largest integer that is not greater.
    floor Floor -> f32;
    /// The bits as u32.
    bits Bits -> u32;
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl<'b, T: Number> E<'b, T> {
            $($(#[$doc])* pub fn $name(self, other: impl Value<'b, T>) -> E<'b, bool> { self.binary(Binary::$op, other) })*

            /// The smaller.
            pub fn min(self, other: impl Value<'b, T>) -> Self {
                self.binary(Binary::Min, other)
            }
            /// The larger.
            pub fn max(self, other: impl Value<'b, T>) -> Self {
                self.binary(Binary::Max, other)
            }
            /// As f32: of a u32, rounded to nearest.
            pub fn to_f32(self) -> E<'b, f32> {
                self.unary(Unary::ToF32)
            }
            /// As u32: of an f32, towards zero, saturating.
            pub fn to_u32(self) -> E<'b, u32> {
                self.unary(Unary::ToU32)
            }
        }
    };
}

comparisons! {
    /// Equal.
    eq Eq;
    /// Not equal.
    ne Ne;
    /// Less.
    lt Lt;
    /// Less or equal.
    le Le;
    /// Greater.
    gt Gt;
    /// Greater or equal.
    ge Ge;
}

macro_rules! operators {
    ($($ty:ty: $($trait:ident $method:ident $op:ident),*;)*) => {
        $($(
            impl<'b> ops::$trait for E<'b, $ty> {
                type Output = E<'b, $ty>;
                fn $method(self, other: Self) -> Self {
                    self.binary(Binary::$op, other)
                }
            }
            impl<'b> ops::$trait<$ty> for E<'b, $ty> {
                type Output = E<'b, $ty>;
                fn $method(self, other: $ty) -> Self {
                    self.binary(Binary::$op, other)
                }
            }
        )*)*
    };
}

operators! {
    f32: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div;
    u32: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem,
         BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor, Shl shl Shl, Shr shr Shr;
}

impl ops::Neg for E<'_, f32> {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(Unary::Neg)
    }
}

impl ops::Not for E<'_, bool> {
    type Output = Self;
    fn not(self) -> Self {
        self.unary(Unary::Not)
    }
}

impl<'b> E<'b, bool> {
    /// Both; both sides are evaluated.
    pub fn and(self, other: Self) -> Self {
        self.binary(Binary::And, other)
    }
    /// Either; both sides are evaluated.
    pub fn or(self, other: Self) -> Self {
        self.binary(Binary::Or, other)
    }
}

/// The binary operators as functions of two handles. Generated code calls them, since a mismatch then is one short error
/// at the right operand.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod operators {
    use super::{Binary, E, Integer, Number};

    macro_rules! operators {
        ($([$($bound:ident)?] $ty:ident: $($name:ident $op:ident -> $result:ty),*;)*) => {
            $(operators! { @each [$($bound)?] $ty: $($name $op -> $result),* })*
        };
        (@each [$bound:ident] $ty:ident: $($name:ident $op:ident -> $result:ty),*) => {
            $(pub fn $name<'b, $ty: $bound>(a: E<'b, $ty>, b: E<'b, $ty>) -> E<'b, $result> { a.binary(Binary::$op, b) })*
        };
        (@each [] $ty:ident: $($name:ident $op:ident -> $result:ty),*) => {
            $(pub fn $name<'b>(a: E<'b, $ty>, b: E<'b, $ty>) -> E<'b, $result> { a.binary(Binary::$op, b) })*
        };
    }

    operators! {
        [Number] T: add Add -> T, sub Sub -> T, mul Mul -> T, div Div -> T, min Min -> T, max Max -> T;
        [Number] T: eq Eq -> bool, ne Ne -> bool, lt Lt -> bool, le Le -> bool, gt Gt -> bool, ge Ge -> bool;
        [Integer] T: rem Rem -> T, bit_and And -> T, bit_or Or -> T, bit_xor Xor -> T, shl Shl -> T, shr Shr -> T;
        [] bool: and And -> bool, or Or -> bool;
    }
}

/// What may stand for a value: a handle or a constant.
#[diagnostic::on_unimplemented(
    message = "expected a value of type `{T}`, found `{Self}`",
    label = "not of type `{T}`",
    note = "convert with `as f32` or `as u32`"
)]
pub trait Value<'b, T> {
    /// The handle.
    fn value(self, builder: &'b Builder) -> E<'b, T>;
}

impl<'b, T> Value<'b, T> for E<'b, T> {
    fn value(self, _: &'b Builder) -> E<'b, T> {
        self
    }
}
macro_rules! constants {
    ($($ty:ident)*) => {
        $(
            impl<'b> Value<'b, $ty> for $ty {
                fn value(self, builder: &'b Builder) -> E<'b, $ty> {
                    builder.$ty(self)
                }
            }
        )*
    };
}

constants! { f32 u32 bool }

/// What a `let` may name.
pub trait Named: Copy {
    /// The named expression; of a whole fold, the reduction.
    fn named(&self) -> ExprId;
}

impl<T> Named for E<'_, T> {
    fn named(&self) -> ExprId {
        self.id
    }
}

/// An array field of a reduction, or what one value of its axis contributes to it.
pub struct Elements<'b, T> {
    builder: &'b Builder,
    id: ExprId,
    field: Option<usize>,
    ty: PhantomData<T>,
}

impl<T> Clone for Elements<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Elements<'_, T> {}

impl<'b, T: Elem> Elements<'b, T> {
    /// A contribution: `value` may use the array axis.
    pub fn each(value: E<'b, T>) -> Self {
        Elements { builder: value.builder, id: value.id, field: None, ty: PhantomData }
    }

    pub(super) fn of(builder: &'b Builder, reduce: ExprId, field: usize) -> Self {
        Elements { builder, id: reduce, field: Some(field), ty: PhantomData }
    }

    /// The expression: of a contribution its value, of a finished reduction the reduction.
    pub fn id(self) -> ExprId {
        self.id
    }

    /// The value of a contribution or of a merge's operand: of the element at hand.
    pub fn at_hand(self) -> E<'b, T> {
        E::new(self.builder, self.id)
    }

    /// The element at that index of a finished reduction.
    pub fn at(self, index: impl Value<'b, u32>) -> E<'b, T> {
        let index = index.value(self.builder);
        match self.field {
            Some(field) => self.builder.push(Expr::Element(self.id, field, index.id)),
            None => {
                self.builder.error(KernelError::ContributionIndexed);
                E::new(self.builder, self.id)
            }
        }
    }
}

macro_rules! tensors {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            pub struct $name<'b, T, const N: usize> {
                builder: &'b Builder,
                id: TensorId,
                ty: PhantomData<T>,
            }
            impl<T, const N: usize> Clone for $name<'_, T, N> {
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl<T, const N: usize> Copy for $name<'_, T, N> {}
            impl<'b, T: Elem, const N: usize> $name<'b, T, N> {
                pub(super) fn new(builder: &'b Builder, id: TensorId) -> Self {
                    $name { builder, id, ty: PhantomData }
                }
            }
        )*
    };
}

tensors! {
    /// A tensor of N dimensions that is only read.
    Input;
    /// A tensor of N dimensions that is only written.
    Output;
    /// A tensor of N dimensions that is read and written in place.
    InOut;
}

fn ids<const N: usize>(at: [E<'_, u32>; N]) -> Vec<ExprId> {
    at.map(|e| e.id).to_vec()
}

impl<'b, T: Elem, const N: usize> Input<'b, T, N> {
    /// The element at these indices.
    pub fn at(self, at: [E<'b, u32>; N]) -> E<'b, T> {
        self.builder.push(Expr::Load(self.id, ids(at)))
    }
}

impl<'b, T: Elem, const N: usize> Output<'b, T, N> {
    /// `tensor[at] = value`.
    pub fn set(self, at: [E<'b, u32>; N], value: E<'b, T>) {
        self.builder.store(self.id, ids(at), value.id);
    }
}

impl<'b, T: Elem, const N: usize> InOut<'b, T, N> {
    /// The element at these indices, as it was before any store.
    pub fn at(self, at: [E<'b, u32>; N]) -> E<'b, T> {
        self.builder.push(Expr::Load(self.id, ids(at)))
    }

    /// `tensor[at] = value`.
    pub fn set(self, at: [E<'b, u32>; N], value: E<'b, T>) {
        self.builder.store(self.id, ids(at), value.id);
    }
}
