//! Whether every index lies inside its tensor, and whether two iterations write one element.
//!
//! The runtime lets drivers leave out their own checks, so what a shape decides is decided here. An index that only a run can
//! judge (it has a scalar in it) is the host's promise, and one that is loaded is clamped. An element that is written twice is
//! refused where two iterations are found that do it; where indices tell iterations apart there is nothing to look for.

use super::linear::Sums;
use crate::deps::{Deps, is_loaded};
use crate::error::ShapeError;
use crate::shape::{Extent, Shape};
use std::collections::HashMap;
use tilewright_dsl::eval::{Value, binary, unary};
use tilewright_dsl::ir::{AxisId, Expr, ExprId, Kernel, Reduce, Stmt, TensorId};

/// Iterations of a store that are looked at.
const LOOKED_AT: u32 = 4096;

/// Adds what is wrong with the indices of a kernel at a sound shape.
pub fn check(kernel: &Kernel, shape: &Shape, deps: &Deps, errors: &mut Vec<ShapeError>) {
    let sums = Sums::new(kernel, shape, deps);
    let stores = stores(&kernel.body, &mut Vec::new());
    let loads = kernel.exprs.iter().filter_map(|e| match e {
        Expr::Load(tensor, indices) => Some((*tensor, indices.as_slice())),
        _ => None,
    });
    let mut places: Vec<Place> = Vec::new();
    for (tensor, indices) in loads.chain(stores.iter().map(|s| (s.tensor, s.indices))) {
        let decl = kernel.tensor(tensor);
        for (dimension, (index, extent)) in indices.iter().zip(&decl.dims).enumerate() {
            let extent = &kernel.extents[extent.0 as usize];
            let Some(Extent::Fixed(size) | Extent::Param { capacity: size }) = shape.get(extent) else { continue };
            places.push(Place { of: &decl.name, dimension, index: *index, extent, size: size.into() });
        }
    }
    for expr in &kernel.exprs {
        if let Expr::Element(reduce, _, index) = expr
            && let Expr::Reduce(Reduce { array: Some(array), .. }) = kernel.expr(*reduce)
            && let Some(size) = sums.count(*array)
        {
            let name = &kernel.axis(*array).name;
            places.push(Place { of: name, dimension: 0, index: *index, extent: name, size });
        }
    }
    for place in places {
        if let Some(error) = beyond(kernel, &sums, &place)
            && !errors.contains(&error)
        {
            errors.push(error);
        }
    }
    for (i, tensor) in kernel.tensors.iter().enumerate() {
        let own: Vec<&Store> = stores.iter().filter(|s| s.tensor == TensorId(i as u32)).collect();
        let alone = own.len() == 1 && sums.tells(own[0].indices, &own[0].axes);
        if alone || own.iter().any(|s| s.indices.iter().any(|id| is_loaded(kernel, *id))) {
            continue;
        }
        if let Some((index, one, other)) = (Iterations { kernel, shape }).meet(&own) {
            errors.push(ShapeError::WrittenTwice { tensor: tensor.name.clone(), index, one, other });
        }
    }
}

/// A store with the axes around it, outermost first.
struct Store<'k> {
    tensor: TensorId,
    indices: &'k [ExprId],
    axes: Vec<AxisId>,
}

fn stores<'k>(body: &'k [Stmt], around: &mut Vec<AxisId>) -> Vec<Store<'k>> {
    let mut found = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::For(axis, inner) => {
                around.push(*axis);
                found.extend(stores(inner, around));
                around.pop();
            }
            Stmt::Store(tensor, indices, _) => found.push(Store { tensor: *tensor, indices, axes: around.clone() }),
        }
    }
    found
}

/// An index into a tensor or an array field.
struct Place<'k> {
    of: &'k str,
    dimension: usize,
    index: ExprId,
    extent: &'k str,
    size: i64,
}

fn beyond(kernel: &Kernel, sums: &Sums, place: &Place) -> Option<ShapeError> {
    let span = sums.span(place.index);
    let found = match (span.lo, span.hi) {
        // An axis without values.
        (Some(lo), Some(hi)) if lo > hi => return None,
        (Some(lo), _) if lo < 0 => lo,
        (_, Some(hi)) if hi >= place.size => hi,
        _ => return None,
    };
    (!is_loaded(kernel, place.index)).then(|| ShapeError::OutOfBounds {
        tensor: place.of.into(),
        dimension: place.dimension,
        index: kernel.spell(place.index),
        found,
        extent: place.extent.into(),
        size: place.size,
    })
}

/// Runs through iterations of stores.
struct Iterations<'k> {
    kernel: &'k Kernel,
    shape: &'k Shape,
}

/// An element, and two iterations that write it, as `i = 0, j = 3`.
type Meeting = (Vec<u32>, String, String);

impl Iterations<'_> {
    /// Two iterations that write one element: among the first ones of all axes, then among those of each axis alone.
    fn meet(&self, stores: &[&Store]) -> Option<Meeting> {
        let most = stores.iter().map(|s| s.axes.len()).max().unwrap_or(0).max(1);
        let each = f64::from(LOOKED_AT).powf(1.0 / most as f64) as u32;
        let alone = stores.iter().flat_map(|s| &s.axes).map(|a| Some(*a));
        std::iter::once(None).chain(alone).find_map(|only| {
            let limit = |axis: AxisId| match only {
                None => each,
                Some(a) if a == axis => LOOKED_AT,
                Some(_) => 1,
            };
            let mut seen = HashMap::new();
            stores.iter().find_map(|store| self.walk(store, &store.axes, &limit, &mut HashMap::new(), &mut seen))
        })
    }

    fn walk(
        &self,
        store: &Store,
        open: &[AxisId],
        limit: &dyn Fn(AxisId) -> u32,
        at: &mut HashMap<AxisId, u32>,
        seen: &mut HashMap<Vec<u32>, String>,
    ) -> Option<Meeting> {
        let Some((axis, inner)) = open.split_first() else {
            let index = store.indices.iter().map(|id| self.number(*id, at)).collect::<Option<Vec<u32>>>()?;
            let name = |a: &AxisId| format!("{} = {}", self.kernel.axis(*a).name, at[a]);
            let here = store.axes.iter().map(name).collect::<Vec<_>>().join(", ");
            return seen.insert(index.clone(), here.clone()).map(|before| (index, before, here));
        };
        let decl = self.kernel.axis(*axis);
        let (lo, hi) = (self.number(decl.lo, at)?, self.number(decl.hi, at)?);
        let found = (lo..hi.min(lo.saturating_add(limit(*axis)))).find_map(|value| {
            at.insert(*axis, value);
            self.walk(store, inner, limit, at, seen)
        });
        at.remove(axis);
        found
    }

    fn number(&self, id: ExprId, at: &HashMap<AxisId, u32>) -> Option<u32> {
        match self.value(id, at, &mut HashMap::new())? {
            Value::U32(n) => Some(n),
            _ => None,
        }
    }

    /// A value, run-time extents being as large as can be and scalars 0.
    fn value(
        &self,
        id: ExprId,
        at: &HashMap<AxisId, u32>,
        known: &mut HashMap<ExprId, Option<Value>>,
    ) -> Option<Value> {
        if let Some(found) = known.get(&id) {
            return *found;
        }
        let found = self.compute(id, at, known);
        known.insert(id, found);
        found
    }

    fn compute(
        &self,
        id: ExprId,
        at: &HashMap<AxisId, u32>,
        known: &mut HashMap<ExprId, Option<Value>>,
    ) -> Option<Value> {
        let mut of = |id: &ExprId| self.value(*id, at, known);
        Some(match self.kernel.expr(id) {
            Expr::F32(bits) => Value::F32(f32::from_bits(*bits)),
            Expr::U32(n) => Value::U32(*n),
            Expr::Bool(b) => Value::Bool(*b),
            Expr::Axis(a) => Value::U32(*at.get(a)?),
            Expr::Extent(e) => match self.shape.get(&self.kernel.extents[e.0 as usize])? {
                Extent::Fixed(n) | Extent::Param { capacity: n } => Value::U32(n),
            },
            Expr::Scalar(_) => Value::U32(0),
            Expr::Unary(op, a) => unary(*op, of(a)?)?,
            Expr::Binary(op, a, b) => binary(*op, of(a)?, of(b)?)?,
            Expr::Select(c, a, b) => match of(c)? {
                Value::Bool(true) => of(a)?,
                _ => of(b)?,
            },
            _ => return None,
        })
    }
}
