//! A reduction in two steps: parts of its axis, each by itself, and what is made of their results.
//!
//! [`split`] makes two kernels of one. The first computes the reduction over every `chunk` values of its axis and stores its
//! state, a tensor a field; the second merges the states in the order of the parts and computes the rest of the kernel. The
//! rule: what a part covers depends on `chunk` alone, so that a value meets the same others however long the axis is. How many
//! parts there are is an extent, which may be a run-time parameter: parts beyond the end of the axis are never begun. Absent:
//! how either kernel runs, which is its schedule's business, and any choice of a chunk.
//! Flash-decoding: Dao et al. 2023; split-K matrix products have the same form.

use super::FuseError;
use super::arena::{Maps, compact, intern, statements};
use super::merge::needs;
use crate::deps::{AxisSet, Deps, all, find};
use std::collections::HashMap;
use tilewright_dsl::ir::{
    Axis, AxisId, AxisKind, Binary, Expr, ExprId, ExtentId, Kernel, Let, Reduce, Role, Stmt, Tensor, TensorId, Type,
};

/// Splits the reduction over `axis` into parts of `chunk` values. Of `j`, the kernels `partial` and `finish` have an axis
/// `j.part` over an extent `j.Parts`, and a tensor `j.FIELD` for each field of the monoid. `j.Parts` times `chunk` must reach
/// the end of the axis; further parts are empty (extents that make some certain are refused when a schedule is applied).
///
/// # Errors
/// [`FuseError::NotSplit`] where `axis` is not that of one reduction, where this lies inside another one or every part would run
/// another one again, where its state is no tensor, or where it reads what the kernel changes.
pub fn split(names: [&str; 2], kernel: &Kernel, axis: &str, chunk: u32) -> Result<[Kernel; 2], FuseError> {
    let refuse = |why: String| FuseError::NotSplit { kernel: kernel.name.clone(), axis: axis.into(), why };
    let splitter = Splitter::new(kernel, axis, chunk).map_err(refuse)?;
    Ok([splitter.partial(names[0]), splitter.finish(names[1])])
}

/// The parts of a reduction that is to be split.
struct Splitter<'k> {
    kernel: &'k Kernel,
    id: ExprId,
    reduce: &'k Reduce,
    chunk: u32,
    /// The axes that the reduction depends on, outermost first.
    around: Vec<AxisId>,
    /// Their extents.
    extents: Vec<ExtentId>,
    /// The extent of array fields.
    elements: Option<ExtentId>,
}

/// A kernel in the making.
struct Making {
    new: Kernel,
    arena: HashMap<Expr, ExprId>,
    maps: Maps,
}

impl Making {
    fn of(&mut self, expr: Expr, ty: Type) -> ExprId {
        intern(&mut self.new, &mut self.arena, expr, ty)
    }

    fn index(&mut self, op: Binary, a: ExprId, b: ExprId) -> ExprId {
        self.of(Expr::Binary(op, a, b), Type::U32)
    }

    /// Adds an axis from 0 to an extent.
    fn axis(&mut self, name: String, kind: AxisKind, extent: ExtentId) -> AxisId {
        let (lo, hi) = (self.of(Expr::U32(0), Type::U32), self.of(Expr::Extent(extent), Type::U32));
        self.new.axes.push(Axis { name, kind, lo, hi });
        AxisId(self.new.axes.len() as u32 - 1)
    }

    /// An expression whose operands have moved.
    fn copy(&mut self, expr: &Expr, ty: Type) -> ExprId {
        let moved = self.maps.expr(expr, &self.maps.exprs);
        self.of(moved, ty)
    }

    /// An expression with all that it is made of, before anything has moved.
    fn tree(&mut self, kernel: &Kernel, id: ExprId) -> ExprId {
        let mut ids = vec![ExprId(0); kernel.exprs.len()];
        // Operands stand before their users.
        for e in all(kernel, [id]) {
            let moved = self.maps.expr(kernel.expr(e), &ids);
            ids[e.0 as usize] = self.of(moved, kernel.type_of(e));
        }
        ids[id.0 as usize]
    }

    /// The kernel, after all expressions of the one that it is made from have moved; one axis may have other bounds.
    fn done(mut self, kernel: &Kernel, bounds: Option<(AxisId, [ExprId; 2])>) -> Kernel {
        let of = |id: ExprId| self.maps.exprs[id.0 as usize];
        for (axis, old) in self.new.axes.iter_mut().zip(&kernel.axes) {
            (axis.lo, axis.hi) = (of(old.lo), of(old.hi));
        }
        if let Some((axis, [lo, hi])) = bounds {
            let axis = &mut self.new.axes[axis.0 as usize];
            (axis.lo, axis.hi) = (lo, hi);
        }
        self.new.lets = kernel.lets.iter().map(|l| Let { name: l.name.clone(), value: of(l.value) }).collect();
        self.new.asserts = kernel.asserts.iter().map(|id| of(*id)).collect();
        compact(&self.new)
    }
}

impl<'k> Splitter<'k> {
    fn new(kernel: &'k Kernel, axis: &str, chunk: u32) -> Result<Self, String> {
        if chunk == 0 {
            return Err("a part of 0 values holds nothing".into());
        }
        let over = kernel.exprs.iter().enumerate().filter_map(|(i, e)| match e {
            Expr::Reduce(r) if kernel.axis(r.axis).name == axis => Some((ExprId(i as u32), r)),
            _ => None,
        });
        let found: Vec<_> = over.collect();
        let [(id, reduce)] = found[..] else {
            let known = kernel.axes.iter().filter(|a| a.kind == AxisKind::Reduce).map(|a| a.name.as_str());
            let known = known.collect::<Vec<_>>().join(", ");
            let what =
                if found.is_empty() { "no reduction has that axis" } else { "several reductions have that axis" };
            return Err(format!("{what}; those of reductions are {known}"));
        };
        let deps = Deps::new(kernel);
        let free = deps.free(id);
        let inside = (0..kernel.axes.len() as u32).map(AxisId).filter(|a| free.has(*a));
        if let Some(other) = inside.clone().find(|a| kernel.axis(*a).kind != AxisKind::Map) {
            let name = &kernel.axis(other).name;
            return Err(format!("it runs at every step of `{name}`, and each would have parts of its own"));
        }
        let own = reduce.array.map_or(AxisSet::of(reduce.axis), |c| AxisSet::of(reduce.axis).union(AxisSet::of(c)));
        if let Some(again) = again(kernel, &deps, own, &reduce.body) {
            return Err(format!(
                "the reduction over `{again}` would run again for every part: split what needs it apart"
            ));
        }
        if let Some(tensor) = reduce.body.iter().find_map(|b| changed(kernel, *b)) {
            return Err(format!("it reads `{tensor}`, which the kernel changes"));
        }
        let mut around = Vec::new();
        if !stored(kernel, &kernel.body, id, &mut around) {
            return Err("nothing that is stored needs it".into());
        }
        around.retain(|a| free.has(*a));
        let extents = around.iter().map(|a| whole(kernel, *a)).collect::<Result<Vec<_>, _>>()?;
        let elements = reduce.array.map(|a| whole(kernel, a)).transpose()?;
        let rank = extents.len() + 1 + usize::from(elements.is_some());
        if rank > 4 {
            return Err(format!("its parts would make a tensor of {rank} dimensions, and there are 4 at most"));
        }
        Ok(Splitter { kernel, id, reduce, chunk, around, extents, elements })
    }

    fn axis(&self) -> &'k str {
        &self.kernel.axis(self.reduce.axis).name
    }

    /// A copy without expressions, with the extent of parts.
    fn begin(&self, name: &str, doc: &str) -> (Making, ExtentId) {
        let mut new = self.kernel.clone();
        new.name = name.into();
        new.doc = format!("{doc} `{}` of {}.", self.axis(), self.kernel.name);
        (new.exprs, new.types, new.body) = (vec![], vec![], vec![]);
        new.extents.push(format!("{}.Parts", self.axis()));
        let parts = ExtentId(new.extents.len() as u32 - 1);
        (Making { new, arena: HashMap::new(), maps: Maps::same(self.kernel) }, parts)
    }

    /// Adds a tensor for each field.
    fn states(&self, making: &mut Making, role: Role, parts: ExtentId) -> Vec<TensorId> {
        let monoid = self.kernel.monoid(self.reduce.monoid);
        let mut all = Vec::new();
        for field in &monoid.fields {
            let elements = self.elements.filter(|_| field.array);
            let dims = self.extents.iter().copied().chain([parts]).chain(elements).collect();
            let name = format!("{}.{}", self.axis(), field.name);
            making.new.tensors.push(Tensor { name, role, elem: field.ty, dims });
            all.push(TensorId(making.new.tensors.len() as u32 - 1));
        }
        all
    }

    /// Every part's state.
    fn partial(&self, name: &str) -> Kernel {
        let kernel = self.kernel;
        let (mut making, parts) = self.begin(name, "The state of every part along");
        // What nothing loads any more goes: what the kernel writes is the other one's.
        making.new.tensors.iter_mut().for_each(|t| t.role = Role::In);
        let states = self.states(&mut making, Role::Out, parts);
        let part = making.axis(format!("{}.part", self.axis()), AxisKind::Map, parts);
        let (first, bounds) = self.range(&mut making, part);
        for (expr, ty) in kernel.exprs.iter().zip(&kernel.types) {
            let mut id = making.copy(expr, *ty);
            if *expr == Expr::Axis(self.reduce.axis) {
                id = making.index(Binary::Add, first, id);
            }
            making.maps.exprs.push(id);
        }
        let state = making.maps.exprs[self.id.0 as usize];
        let mut at: Vec<ExprId> = Vec::new();
        for axis in self.around.iter().chain([&part]) {
            at.push(making.of(Expr::Axis(*axis), Type::U32));
        }
        let element = self.reduce.array.zip(self.elements).map(|(array, extent)| {
            let long = &kernel.axis(array).name;
            let short = long.rsplit('.').next().unwrap_or(long).to_string();
            let taken = self.around.iter().any(|a| kernel.axis(*a).name == short);
            let axis =
                making.axis(if taken { format!("{}.{short}", self.axis()) } else { short }, AxisKind::Map, extent);
            (axis, making.of(Expr::Axis(axis), Type::U32))
        });
        let (mut body, mut rows) = (Vec::new(), Vec::new());
        for (f, (field, tensor)) in kernel.monoid(self.reduce.monoid).fields.iter().zip(states).enumerate() {
            match element.filter(|_| field.array) {
                Some((_, c)) => {
                    let value = making.of(Expr::Element(state, f, c), field.ty);
                    rows.push(Stmt::Store(tensor, at.iter().copied().chain([c]).collect(), value));
                }
                None => {
                    let value = making.of(Expr::Field(state, f), field.ty);
                    body.push(Stmt::Store(tensor, at.clone(), value));
                }
            }
        }
        body.extend(element.filter(|_| !rows.is_empty()).map(|(c, _)| Stmt::For(c, rows)));
        let nested = self.around.iter().chain([&part]).rev().fold(body, |body, axis| vec![Stmt::For(*axis, body)]);
        making.new.body = nested;
        making.done(kernel, Some((self.reduce.axis, bounds)))
    }

    /// The first value of a part, and the bounds of what is added to it: from 0 to the chunk's end or the axis'.
    fn range(&self, making: &mut Making, part: AxisId) -> (ExprId, [ExprId; 2]) {
        let decl = self.kernel.axis(self.reduce.axis);
        let [lo, hi] = [decl.lo, decl.hi].map(|id| making.tree(self.kernel, id));
        let chunk = making.of(Expr::U32(self.chunk), Type::U32);
        let part = making.of(Expr::Axis(part), Type::U32);
        let mut first = making.index(Binary::Mul, part, chunk);
        let zero = making.of(Expr::U32(0), Type::U32);
        if lo != zero {
            first = making.index(Binary::Add, lo, first);
        }
        let end = making.index(Binary::Max, hi, first);
        let rest = making.index(Binary::Sub, end, first);
        (first, [zero, making.index(Binary::Min, rest, chunk)])
    }

    /// The kernel, with the states of the parts in the place of the reduction's values.
    fn finish(&self, name: &str) -> Kernel {
        let kernel = self.kernel;
        let (mut making, parts) = self.begin(name, "What the kernel makes of the parts along");
        let states = self.states(&mut making, Role::In, parts);
        let part = making.axis(format!("{}.part", self.axis()), AxisKind::Reduce, parts);
        for (i, (expr, ty)) in kernel.exprs.iter().zip(&kernel.types).enumerate() {
            let id = if ExprId(i as u32) == self.id {
                let body = self.loads(&mut making, &states, part);
                making.of(Expr::Reduce(Reduce { axis: part, body, ..self.reduce.clone() }), *ty)
            } else {
                making.copy(expr, *ty)
            };
            making.maps.exprs.push(id);
        }
        making.new.body = statements(&kernel.body, &making.maps);
        making.done(kernel, None)
    }

    fn loads(&self, making: &mut Making, states: &[TensorId], part: AxisId) -> Vec<ExprId> {
        let fields = &self.kernel.monoid(self.reduce.monoid).fields;
        let load = |(field, tensor): (&tilewright_dsl::ir::MonoidField, &TensorId)| {
            let element = self.reduce.array.filter(|_| field.array);
            let axes = self.around.iter().copied().chain([part]).chain(element);
            let at = axes.map(|a| making.of(Expr::Axis(a), Type::U32)).collect();
            making.of(Expr::Load(*tensor, at), field.ty)
        };
        fields.iter().zip(states).map(load).collect()
    }
}

/// The extent of an axis that runs over all of one.
fn whole(kernel: &Kernel, axis: AxisId) -> Result<ExtentId, String> {
    let decl = kernel.axis(axis);
    match (kernel.expr(decl.lo), kernel.expr(decl.hi)) {
        (Expr::U32(0), Expr::Extent(extent)) => Ok(*extent),
        _ => {
            Err(format!("its state would need a dimension for `{}`, which does not run from 0 to an extent", decl.name))
        }
    }
}

/// The axis of a reduction below these expressions that stays the same along the split one.
fn again(kernel: &Kernel, deps: &Deps, own: AxisSet, below: &[ExprId]) -> Option<String> {
    find(kernel, below.iter().copied(), |id| match kernel.expr(id) {
        Expr::Reduce(r) if deps.free(id).minus(own) == deps.free(id) => Some(kernel.axis(r.axis).name.clone()),
        _ => None,
    })
}

/// A tensor below an expression that the kernel changes in place.
fn changed(kernel: &Kernel, id: ExprId) -> Option<&str> {
    find(kernel, [id], |e| match kernel.expr(e) {
        Expr::Load(t, _) if kernel.tensor(*t).role == Role::InOut => Some(kernel.tensor(*t).name.as_str()),
        _ => None,
    })
}

/// The axes around the first store that needs an expression; whether there is one.
fn stored(kernel: &Kernel, body: &[Stmt], id: ExprId, around: &mut Vec<AxisId>) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::For(axis, inner) => {
            around.push(*axis);
            let found = stored(kernel, inner, id, around);
            if !found {
                around.pop();
            }
            found
        }
        Stmt::Store(_, indices, value) => indices.iter().chain([value]).any(|e| needs(kernel, *e, id)),
    })
}
