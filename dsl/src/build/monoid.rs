//! Monoids and the reductions over them.
//!
//! `sum`, `max` and `argmax` are ordinary [`Monoid`] values; a monoid of the author's own comes from a
//! [`MonoidBuilder`] or from `#[monoid]`. A monoid may have array fields: their elements lie along an axis of their own,
//! `softmax.c`, and a merge takes each element together with the one of the same index.

use super::{Builder, E, Elem, Elements, Named, Value};
use crate::check::{self, KernelError};
use crate::ir::*;

/// Reductions of one f32 field, named as their monoids.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            pub fn $name<'b>(
                &'b self,
                axis: &str,
                lo: impl Value<'b, u32>,
                hi: impl Value<'b, u32>,
                body: impl FnOnce(E<'b, u32>) -> E<'b, f32>,
            ) -> E<'b, f32> {
                self.fold(&$name(), axis, lo, hi, None, |k, _| vec![body(k).id()]).field(0)
            }
        )*
    };
}

impl Builder {
    reductions! {
        /// `sum(lo..hi, |axis| body)`.
        sum;
        /// `max(lo..hi, |axis| body)`; [`LOWEST`] over an empty range.
        max;
    }

    /// `argmax(lo..hi, |axis| body)`: where `body` is largest, the lowest index among equals. `u32::MAX` if any value is
    /// not finite, `u32::MAX - 1` over an empty range.
    pub fn argmax<'b>(
        &'b self,
        axis: &str,
        lo: impl Value<'b, u32>,
        hi: impl Value<'b, u32>,
        body: impl FnOnce(E<'b, u32>) -> E<'b, f32>,
    ) -> E<'b, u32> {
        let singleton = |v: E<'b, u32>, _| {
            let value = body(v);
            let poison = (value.bits() & EXPONENT).eq(EXPONENT);
            vec![self.select(poison, self.f32(f32::MAX), value).id(), self.select(poison, self.u32(POISON), v).id()]
        };
        self.fold(&argmax(), axis, lo, hi, None, singleton).field(1)
    }

    /// `fold(lo..hi, |axis| M { .. })`. `array` is the extent of the array fields; `body` gets the axis and the array axis
    /// and gives one expression a field.
    pub fn fold<'b>(
        &'b self,
        monoid: &Monoid,
        axis: &str,
        lo: impl Value<'b, u32>,
        hi: impl Value<'b, u32>,
        array: Option<E<'b, u32>>,
        body: impl FnOnce(E<'b, u32>, Option<E<'b, u32>>) -> Vec<ExprId>,
    ) -> Folded<'b> {
        let (lo, hi) = (lo.value(self).id(), hi.value(self).id());
        let (id, at) = self.axis(axis, AxisKind::Reduce, lo, hi);
        let array = match (&monoid.array, array) {
            (Some(letter), Some(extent)) => {
                let name = format!("{}.{}", monoid.name.to_lowercase(), letter.to_lowercase());
                Some(self.axis(&name, AxisKind::Array, self.u32(0).id(), extent.id()))
            }
            _ => None,
        };
        let body = body(at, array.map(|a| a.1));
        let ty = monoid.fields.first().map_or(Type::F32, |f| f.ty);
        let reduce = Reduce { monoid: self.monoid(monoid), axis: id, array: array.map(|a| a.0), body };
        Folded { builder: self, reduce: self.intern(Expr::Reduce(reduce), ty) }
    }

    /// [`Builder::fold`] of a monoid that `#[monoid]` made: what one value contributes goes in, the result comes out.
    pub fn fold_of<'b, M: MonoidValue<'b>>(
        &'b self,
        axis: &str,
        lo: impl Value<'b, u32>,
        hi: impl Value<'b, u32>,
        array: Option<E<'b, u32>>,
        body: impl FnOnce(E<'b, u32>, E<'b, u32>) -> M,
    ) -> Reduced<M> {
        let folded = self.fold(&M::monoid(), axis, lo, hi, array, |k, c| body(k, c.unwrap_or(k)).contributions());
        Reduced { value: M::result(folded), reduce: folded.reduce }
    }
}

/// A finished reduction.
#[derive(Clone, Copy)]
pub struct Folded<'b> {
    builder: &'b Builder,
    reduce: ExprId,
}

impl<'b> Folded<'b> {
    /// The scalar field of that number; its type is checked by [`Builder::finish`].
    pub fn field<T: Elem>(self, number: usize) -> E<'b, T> {
        self.builder.push(Expr::Field(self.reduce, number))
    }

    /// The array field of that number.
    pub fn elements<T: Elem>(self, number: usize) -> Elements<'b, T> {
        Elements::of(self.builder, self.reduce, number)
    }
}

impl Named for Folded<'_> {
    fn named(&self) -> ExprId {
        self.reduce
    }
}

/// A finished reduction as a value of its monoid's struct; its fields are reached through it.
#[derive(Clone, Copy)]
pub struct Reduced<M> {
    value: M,
    reduce: ExprId,
}

impl<M> std::ops::Deref for Reduced<M> {
    type Target = M;
    fn deref(&self) -> &M {
        &self.value
    }
}

impl<M: Copy> Named for Reduced<M> {
    fn named(&self) -> ExprId {
        self.reduce
    }
}

/// The struct that `#[monoid]` makes: one field a field.
pub trait MonoidValue<'b>: Copy {
    /// The first letter of the array extent's name, if the monoid has array fields.
    const ARRAY: Option<&'static str>;
    /// The monoid.
    fn monoid() -> Monoid;
    /// One expression a field.
    fn contributions(self) -> Vec<ExprId>;
    /// The fields of a finished reduction.
    fn result(folded: Folded<'b>) -> Self;
}

/// Makes a [`Monoid`]: first its fields, then [`MonoidBuilder::finish`] with the merged fields. Constants and `select`
/// come from [`MonoidBuilder::exprs`].
pub struct MonoidBuilder {
    exprs: Builder,
    name: String,
    kind: MonoidKind,
    array: Option<String>,
    fields: std::cell::RefCell<Vec<(MonoidField, ExprId)>>,
}

/// A field of both operands of a merge; of an array field, the elements at hand.
#[derive(Clone, Copy)]
pub struct Pair<'b, T> {
    /// The left operand's.
    pub a: E<'b, T>,
    /// The right operand's.
    pub b: E<'b, T>,
}

impl MonoidBuilder {
    /// A monoid of that name; `array` is the letter of its array fields' extent.
    pub fn new(name: &str, array: Option<&str>) -> Self {
        MonoidBuilder {
            exprs: Builder::new(name),
            name: name.into(),
            kind: MonoidKind::Custom,
            array: array.map(String::from),
            fields: Default::default(),
        }
    }

    fn known(name: &str, kind: MonoidKind) -> Self {
        MonoidBuilder { kind, ..MonoidBuilder::new(name, None) }
    }

    /// Where constants and expressions of the identity and the merge are made.
    pub fn exprs(&self) -> &Builder {
        &self.exprs
    }

    /// A scalar field and its identity.
    pub fn field<'b, T: Elem>(&'b self, name: &str, identity: impl Value<'b, T>) -> Pair<'b, T> {
        self.part(name, false, identity)
    }

    /// An array field and the identity of each of its elements.
    pub fn array<'b, T: Elem>(&'b self, name: &str, identity: impl Value<'b, T>) -> Pair<'b, T> {
        self.part(name, true, identity)
    }

    fn part<'b, T: Elem>(&'b self, name: &str, array: bool, identity: impl Value<'b, T>) -> Pair<'b, T> {
        let identity = identity.value(&self.exprs).id();
        let number = {
            let mut fields = self.fields.borrow_mut();
            fields.push((MonoidField { name: name.into(), ty: T::TYPE, array }, identity));
            fields.len() - 1
        };
        Pair { a: self.exprs.push(Expr::Part(Side::A, number)), b: self.exprs.push(Expr::Part(Side::B, number)) }
    }

    /// The monoid with its merged fields, one expression a field; or everything that is wrong with it.
    pub fn finish(self, merge: Vec<ExprId>) -> Result<Monoid, Vec<KernelError>> {
        let monoid = self.assemble(merge);
        let errors = check::monoid(&monoid);
        if errors.is_empty() { Ok(monoid) } else { Err(errors) }
    }

    fn assemble(self, merge: Vec<ExprId>) -> Monoid {
        let (fields, identity) = self.fields.into_inner().into_iter().unzip();
        Monoid {
            name: self.name,
            kind: self.kind,
            fields,
            array: self.array,
            exprs: self.exprs.state.into_inner().kernel.exprs,
            identity,
            merge,
        }
    }
}

/// The exponent bits of an f32: all ones where it is not finite.
const EXPONENT: u32 = 0x7f80_0000;
/// The index that `argmax` gives where a value is not finite.
const POISON: u32 = u32::MAX;

/// Addition.
pub fn sum() -> Monoid {
    let m = MonoidBuilder::known("sum", MonoidKind::Sum);
    let v = m.field("sum", 0.0);
    let merge = vec![(v.a + v.b).id()];
    m.assemble(merge)
}

/// The larger of two.
pub fn max() -> Monoid {
    let m = MonoidBuilder::known("max", MonoidKind::Max);
    let v = m.field("max", LOWEST);
    let merge = vec![v.a.max(v.b).id()];
    m.assemble(merge)
}

/// The larger of two with its index: poison wins, then the larger, then the lower index.
pub fn argmax() -> Monoid {
    let m = MonoidBuilder::known("argmax", MonoidKind::ArgMax);
    let (v, i) = (m.field("max", LOWEST), m.field("index", POISON - 1));
    let larger = v.a.gt(v.b).or(v.a.eq(v.b).and(i.a.le(i.b)));
    let left = i.a.eq(POISON).or(i.b.ne(POISON).and(larger));
    let merge = vec![m.exprs.select(left, v.a, v.b).id(), m.exprs.select(left, i.a, i.b).id()];
    m.assemble(merge)
}
