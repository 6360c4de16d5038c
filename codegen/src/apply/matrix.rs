//! Sums of products that are multiplied as fragments of cooperative matrices: which they are, and what keeps others from it.
//!
//! The rule: a reduction with a `matrix` level is a sum of products of two tensors that lie narrowed in workgroup memory, and its
//! result is one fragment for each copy of the two axes beneath which it stands. Those axes' lanes count subgroups, because a
//! subgroup holds a fragment together. Nothing else may be reduced inside a fragment.

use super::{AxisPlan, Nest, TileOf};
use crate::deps::operands;
use crate::error::ScheduleError;
use std::collections::HashSet;
use tilewright_dsl::ir::{AxisId, Binary, Expr, ExprId, Kernel, Monoid, MonoidKind, Side, Stmt, TensorId, Type};
use tilewright_dsl::schedule::{LevelKind, Place};

/// One factor of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Factor {
    /// The tensor that is read.
    pub tensor: TensorId,
    /// The axis that walks over its rows.
    pub axis: AxisId,
}

/// A sum of products by fragments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    /// The reduction.
    pub reduce: ExprId,
    /// Which of its sums.
    pub field: usize,
    /// The factor whose rows are those of the result: its axis is the outer one.
    pub left: Factor,
    /// The factor whose rows are the result's columns.
    pub right: Factor,
    /// Elements a side of a fragment.
    pub side: u32,
}

/// Whether an axis is walked in fragments.
pub fn has_matrix(plan: &AxisPlan) -> bool {
    plan.level(LevelKind::Matrix).is_some()
}

/// Invocations that an index along lanes counts: those of a subgroup beneath `matrix`, else one.
pub fn width(nest: &Nest, axes: &[AxisId]) -> u32 {
    let sizes = nest.target.subgroups.filter(|s| s.min == s.max);
    if axes.iter().any(|a| has_matrix(nest.plan(*a))) { sizes.map_or(1, |s| s.min) } else { 1 }
}

/// Sets the nest's products, and gives what is wrong with its `matrix` levels.
pub fn find(nest: &mut Nest, errors: &mut Vec<ScheduleError>) {
    let axes = (0..nest.axes.len() as u32).map(AxisId);
    let walked: Vec<AxisId> = axes.filter(|a| has_matrix(nest.plan(*a))).collect();
    let known = |e: &ScheduleError| matches!(e, ScheduleError::LevelNotPossible { kind: LevelKind::Matrix, .. });
    if walked.is_empty() || errors.iter().any(known) {
        return;
    }
    let before = errors.len();
    device(nest, &walked, errors);
    let mut products = Vec::new();
    let mut chain = Vec::new();
    let mut seen = HashSet::new();
    let body = nest.kernel.body.clone();
    stores(nest, &body, &mut chain, &mut seen, &mut products, errors);
    let used = |a: &AxisId| {
        products.iter().any(|p: &Product| [p.left.axis, p.right.axis, axis_of(nest.kernel, p.reduce)].contains(a))
    };
    for axis in walked.iter().filter(|a| !used(a)) {
        if errors.len() == before {
            let why = "no sum of products is multiplied along it";
            errors.push(refuse(nest.kernel, *axis, why, "write `unroll(n)` or `serial(n)`"));
        }
    }
    nest.products = products;
}

/// The device must have the fragments, and subgroups of one size.
fn device(nest: &Nest, walked: &[AxisId], errors: &mut Vec<ScheduleError>) {
    let (target, sides) = (&nest.target.name, &nest.target.fragments);
    for axis in walked {
        let asked = nest.plan(*axis).level(LevelKind::Matrix).and_then(|l| l.size).unwrap_or(0);
        if !sides.contains(&asked) {
            let (axis, target) = (nest.kernel.axis(*axis).name.clone(), target.clone());
            errors.push(ScheduleError::NoFragments { axis, asked, allowed: sides.clone(), target });
            return;
        }
    }
    if nest.target.subgroups.is_none_or(|s| s.min != s.max) {
        let (min, max) = nest.target.subgroups.map_or((1, 1), |s| (s.min, s.max));
        errors.push(ScheduleError::SubgroupsDiffer { min, max, target: target.clone() });
    }
}

fn stores(
    nest: &Nest,
    body: &[Stmt],
    chain: &mut Vec<AxisId>,
    seen: &mut HashSet<ExprId>,
    products: &mut Vec<Product>,
    errors: &mut Vec<ScheduleError>,
) {
    for stmt in body {
        match stmt {
            Stmt::For(axis, inner) => {
                chain.push(*axis);
                stores(nest, inner, chain, seen, products, errors);
                chain.pop();
            }
            Stmt::Store(_, indices, value) => {
                let inside = chain.iter().copied().filter(|a| has_matrix(nest.plan(*a)));
                let inside: Vec<AxisId> = inside.collect();
                let before = errors.len();
                for id in indices.iter().chain([value]) {
                    visit(nest, *id, &inside, seen, products, errors);
                }
                let lanes = |p: &Product| nest.plan(axis_of(nest.kernel, p.reduce)).lanes;
                if let Some(other) = products.iter().find(|p| lanes(p) != lanes(&products[0])) {
                    let why = "its lanes are others than those of the sum that is stored with it";
                    let axis = axis_of(nest.kernel, other.reduce);
                    errors.push(refuse(nest.kernel, axis, why, "give both reductions the same `lanes(n)`"));
                }
                let sides: Vec<AxisId> = products.iter().flat_map(|p| [p.left.axis, p.right.axis]).collect();
                if let Some(axis) = inside.iter().find(|a| !sides.contains(a) || inside.len() != 2)
                    && errors.len() == before
                {
                    let why = "a value is stored beneath it that is no sum of products of two axes with `matrix`";
                    errors.push(refuse(nest.kernel, *axis, why, "drop the level, or give both axes of the result one"));
                }
            }
        }
    }
}

fn visit(
    nest: &Nest,
    id: ExprId,
    inside: &[AxisId],
    seen: &mut HashSet<ExprId>,
    products: &mut Vec<Product>,
    errors: &mut Vec<ScheduleError>,
) {
    if !seen.insert(id) {
        return;
    }
    let expr = nest.kernel.expr(id);
    let Expr::Reduce(reduce) = expr else {
        for operand in operands(nest.kernel, expr) {
            visit(nest, operand, inside, seen, products, errors);
        }
        return;
    };
    if !has_matrix(nest.plan(reduce.axis)) {
        let free = nest.deps.free(id);
        if let Some(axis) = inside.iter().find(|a| free.has(**a)) {
            let why = "a reduction beneath it has no `matrix` level, and there is no value to reduce in a fragment";
            errors.push(refuse(nest.kernel, *axis, why, "give that reduction's axis a `matrix(n)` level too"));
        }
        return;
    }
    for (field, body) in reduce.body.iter().enumerate() {
        match product(nest, id, field, *body, inside) {
            Ok(product) => products.push(product),
            Err((why, instead)) => return errors.push(refuse(nest.kernel, reduce.axis, why, instead)),
        }
    }
}

/// Whether every field of a monoid is a sum of its own.
pub fn adds(monoid: &Monoid) -> bool {
    let part = |id: ExprId, side: Side, f: usize| monoid.exprs[id.0 as usize] == Expr::Part(side, f);
    let sum = |(f, id): (usize, &ExprId)| match monoid.exprs[id.0 as usize] {
        Expr::Binary(Binary::Add, a, b) => part(a, Side::A, f) && part(b, Side::B, f),
        _ => false,
    };
    monoid.array.is_none()
        && monoid.fields.iter().all(|f| f.ty == Type::F32)
        && (monoid.kind == MonoidKind::Sum || monoid.merge.iter().enumerate().all(sum))
}

/// The product that a sum of a reduction is, or why it is none and what to do instead.
fn product(
    nest: &Nest,
    id: ExprId,
    field: usize,
    body: ExprId,
    inside: &[AxisId],
) -> Result<Product, (&'static str, &'static str)> {
    let kernel = nest.kernel;
    let no_sum = ("it is no sum of products of two loads", "use `serial`, `lanes(n)` and `vector(n)`");
    let Expr::Reduce(reduce) = kernel.expr(id) else { return Err(no_sum) };
    let (true, Expr::Binary(Binary::Mul, a, b)) = (adds(kernel.monoid(reduce.monoid)), kernel.expr(body)) else {
        return Err(no_sum);
    };
    let plan = nest.plan(reduce.axis);
    if plan.levels.iter().any(|l| !matches!(l.kind, LevelKind::Serial | LevelKind::Lanes | LevelKind::Matrix)) {
        return Err(("a subgroup adds up fragments one after the other", "leave `serial`, `lanes(n)` and `matrix(n)`"));
    }
    let side = plan.level(LevelKind::Matrix).and_then(|l| l.size).unwrap_or(0);
    let mut factors = Vec::new();
    for factor in [*a, *b] {
        let Expr::Load(tensor, indices) = kernel.expr(factor) else { return Err(no_sum) };
        let last = indices.last().map(|i| kernel.expr(*i));
        if last != Some(&Expr::Axis(reduce.axis)) {
            return Err((
                "a factor's last index is another one",
                "the elements that are multiplied must be neighbours in memory",
            ));
        }
        let rows: Vec<AxisId> = inside.iter().copied().filter(|a| nest.deps.free(factor).has(*a)).collect();
        let [axis] = rows[..] else {
            return Err((
                "a factor does not walk along exactly one axis of the result that has a `matrix` level",
                "give both axes of the result a `matrix(n)` level",
            ));
        };
        let same = nest.plan(axis).level(LevelKind::Matrix).and_then(|l| l.size) == Some(side);
        if !same {
            return Err(("the fragments' sides differ", "give all three axes the same `matrix(n)`"));
        }
        let tile = nest.tiles.iter().find(|t| t.what == TileOf::Tensor(*tensor) && t.place == Place::Workgroup);
        match tile {
            Some(tile) if tile.narrow && tile.axis == reduce.axis => {}
            Some(tile) if tile.narrow => {
                return Err((
                    "a factor is staged at another axis",
                    "stage it at a `serial as NAME` level of this axis",
                ));
            }
            _ => {
                return Err((
                    "a factor is not narrowed",
                    "add `stage TENSOR at NAME: workgroup f16;` for both factors, with `serial as NAME` on this axis",
                ));
            }
        }
        factors.push(Factor { tensor: *tensor, axis });
    }
    let at = |f: &Factor| inside.iter().position(|a| *a == f.axis);
    factors.sort_by_key(at);
    match factors[..] {
        [left, right] if left.axis != right.axis => Ok(Product { reduce: id, field, left, right, side }),
        _ => Err(("both factors walk along the same axis", "use `serial`, `lanes(n)` and `vector(n)`")),
    }
}

fn axis_of(kernel: &Kernel, reduce: ExprId) -> AxisId {
    match kernel.expr(reduce) {
        Expr::Reduce(r) => r.axis,
        _ => AxisId(0),
    }
}

fn refuse(kernel: &Kernel, axis: AxisId, why: &'static str, instead: &'static str) -> ScheduleError {
    let axis = kernel.axis(axis).name.clone();
    ScheduleError::LevelNotPossible { axis, kind: LevelKind::Matrix, why, instead }
}
