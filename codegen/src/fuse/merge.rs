//! Reductions that share one loop.
//!
//! A factor that does not change with the axis leaves a sum; sums over equal ranges then become one reduction with a field
//! each. Both change the order of f32 arithmetic and nothing else.

use super::FuseError;
use super::arena::{Maps, compact, intern, statements};
use crate::deps::Deps;
use std::collections::HashMap;
use tilewright_dsl::ir::{
    Binary, Expr, ExprId, Kernel, Let, Monoid, MonoidField, MonoidId, MonoidKind, Reduce, Side, Type,
};

/// Takes what does not change with the axis out of the sums over axes of that name: Σ a·x·b = a·b·Σ x.
///
/// # Errors
/// [`FuseError::NotMerged`] where the axis is not that of a sum.
pub fn factor(kernel: &Kernel, axis: &str) -> Result<Kernel, FuseError> {
    let count = sums_over(kernel, axis)?.len();
    // Handles change with every sum that is rewritten.
    (0..count).try_fold(kernel.clone(), |kernel, i| {
        let (id, reduce) = sums_over(&kernel, axis)?.swap_remove(i);
        Ok(factored(&kernel, id, &reduce))
    })
}

fn factored(kernel: &Kernel, id: ExprId, reduce: &Reduce) -> Kernel {
    let deps = Deps::new(kernel);
    let mut outside = Vec::new();
    let stays = |f: ExprId| deps.free(f).has(reduce.axis);
    invariant(kernel, reduce.body[0], &stays, &mut outside);
    if outside.is_empty() || !stays(reduce.body[0]) {
        return kernel.clone();
    }
    rewrite(kernel, &mut |new, arena, old, ids, expr| match expr {
        Expr::Reduce(r) if old == id => {
            let body = rest(kernel, reduce.body[0], &stays, new, arena, ids);
            Expr::Reduce(Reduce { body: body.into_iter().collect(), ..r })
        }
        Expr::Field(r, field) if kernel.expr(old) == &Expr::Field(id, field) => {
            let sum = intern(new, arena, Expr::Field(r, field), Type::F32);
            let outer = times(new, arena, outside.iter().map(|f| ids[f.0 as usize]));
            Expr::Binary(Binary::Mul, sum, outer)
        }
        other => other,
    })
}

/// Makes all sums over axes of these names one reduction over an axis `name`: one loop, one fold, a field each.
///
/// # Errors
/// [`FuseError::NotMerged`] where an axis is not that of a sum, where ranges differ, or where one sum needs another.
pub fn merge(kernel: &Kernel, axes: &[&str], name: &str) -> Result<Kernel, FuseError> {
    let found = axes.iter().map(|a| sums_over(kernel, a)).collect::<Result<Vec<_>, _>>()?.concat();
    let Some((_, first)) = found.first() else {
        return Err(FuseError::NotMerged { kernel: kernel.name.clone(), why: "no axes are named".into() });
    };
    let refuse = |why: String| FuseError::NotMerged { kernel: kernel.name.clone(), why };
    let range = |r: &Reduce| (kernel.axis(r.axis).lo, kernel.axis(r.axis).hi);
    for (_, sum) in &found {
        let axis = &kernel.axis(sum.axis).name;
        if range(sum) != range(first) {
            return Err(refuse(format!("`{axis}` and `{}` have other ranges", axes[0])));
        }
        if found.iter().any(|(other, _)| needs(kernel, sum.body[0], *other)) {
            return Err(refuse(format!("the sum over `{axis}` needs another of them")));
        }
    }
    let mut new = kernel.clone();
    new.monoids.push(sums(found.len()));
    let monoid = MonoidId(new.monoids.len() as u32 - 1);
    let mut maps = Maps::same(kernel);
    for (_, sum) in &found[1..] {
        maps.axes[sum.axis.0 as usize] = first.axis;
    }
    new.axes[first.axis.0 as usize].name = name.into();
    (new.exprs, new.types) = (vec![], vec![]);
    let mut arena = HashMap::new();
    // Terms first, as in the sums' own order; the reduction stands after the last of them.
    let order = by_need(kernel, &found.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    let mut ids: Vec<ExprId> = vec![ExprId(0); kernel.exprs.len()];
    let mut merged = None;
    for old in order {
        let ty = kernel.type_of(old);
        let at = found.iter().position(|(id, _)| *id == old);
        let field = match kernel.expr(old) {
            Expr::Field(r, 0) => found.iter().position(|(id, _)| id == r),
            _ => None,
        };
        let expr = match (at, field) {
            (Some(_), _) => {
                let body = found.iter().map(|(_, sum)| ids[sum.body[0].0 as usize]).collect();
                Expr::Reduce(Reduce { monoid, axis: first.axis, array: None, body })
            }
            (None, Some(field)) => Expr::Field(merged.unwrap_or(ExprId(0)), field),
            (None, None) => maps.expr(kernel.expr(old), &ids),
        };
        let id = intern(&mut new, &mut arena, expr, ty);
        if at.is_some() {
            merged = Some(id);
        }
        ids[old.0 as usize] = id;
    }
    maps.exprs = ids;
    Ok(moved(kernel, new, &maps))
}

/// The sums over the axes of a name: inlining at several indices makes several.
fn sums_over(kernel: &Kernel, axis: &str) -> Result<Vec<(ExprId, Reduce)>, FuseError> {
    let refuse = |why: String| FuseError::NotMerged { kernel: kernel.name.clone(), why };
    let over = kernel.exprs.iter().enumerate().filter_map(|(i, e)| match e {
        Expr::Reduce(r) if kernel.axis(r.axis).name == axis => Some((ExprId(i as u32), r.clone())),
        _ => None,
    });
    let found: Vec<(ExprId, Reduce)> = over.collect();
    let sums = found.iter().all(|(_, r)| kernel.monoid(r.monoid).kind == MonoidKind::Sum);
    if found.is_empty() || !sums { Err(refuse(format!("`{axis}` is not the axis of a sum"))) } else { Ok(found) }
}

/// The factors of a product that do not stay in it, in the order of the text.
fn invariant(kernel: &Kernel, id: ExprId, stays: &dyn Fn(ExprId) -> bool, found: &mut Vec<ExprId>) {
    match kernel.expr(id) {
        _ if !stays(id) => found.push(id),
        Expr::Binary(Binary::Mul, a, b) if kernel.type_of(id) == Type::F32 => {
            invariant(kernel, *a, stays, found);
            invariant(kernel, *b, stays, found);
        }
        _ => {}
    }
}

/// A product without the factors that do not stay in it, as it was put together.
fn rest(
    kernel: &Kernel,
    id: ExprId,
    stays: &dyn Fn(ExprId) -> bool,
    new: &mut Kernel,
    arena: &mut Arena,
    ids: &[ExprId],
) -> Option<ExprId> {
    match kernel.expr(id) {
        _ if !stays(id) => None,
        Expr::Binary(Binary::Mul, a, b) if kernel.type_of(id) == Type::F32 => {
            let a = rest(kernel, *a, stays, new, arena, ids);
            let b = rest(kernel, *b, stays, new, arena, ids);
            match (a, b) {
                (Some(a), Some(b)) => Some(intern(new, arena, Expr::Binary(Binary::Mul, a, b), Type::F32)),
                (one, other) => one.or(other),
            }
        }
        _ => Some(ids[id.0 as usize]),
    }
}

fn times(new: &mut Kernel, arena: &mut Arena, mut factors: impl Iterator<Item = ExprId>) -> ExprId {
    let first = factors.next().unwrap_or(ExprId(0));
    factors.fold(first, |a, b| intern(new, arena, Expr::Binary(Binary::Mul, a, b), Type::F32))
}

/// Whether an expression is computed from another.
pub(super) fn needs(kernel: &Kernel, id: ExprId, other: ExprId) -> bool {
    crate::deps::any(kernel, id, |e| e == other)
}

/// All expressions, operands before their users, and all terms of the sums before the first of the sums.
fn by_need(kernel: &Kernel, sums: &[ExprId]) -> Vec<ExprId> {
    let mut terms: Vec<bool> = vec![false; kernel.exprs.len()];
    let mut open: Vec<ExprId> = sums.iter().flat_map(|s| crate::deps::operands(kernel, kernel.expr(*s))).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut terms[id.0 as usize], true) {
            open.extend(crate::deps::operands(kernel, kernel.expr(id)));
        }
    }
    let all = || (0..kernel.exprs.len() as u32).map(ExprId);
    let (before, after) = (all().filter(|i| terms[i.0 as usize]), all().filter(|i| !terms[i.0 as usize]));
    before.chain(after).collect()
}

/// n sums at once.
fn sums(n: usize) -> Monoid {
    let mut exprs = vec![Expr::F32(0)];
    let mut merge = Vec::with_capacity(n);
    for field in 0..n {
        let at = exprs.len() as u32;
        exprs.extend([
            Expr::Part(Side::A, field),
            Expr::Part(Side::B, field),
            Expr::Binary(Binary::Add, ExprId(at), ExprId(at + 1)),
        ]);
        merge.push(ExprId(at + 2));
    }
    let field = |i: usize| MonoidField { name: format!("sum{i}"), ty: Type::F32, array: false };
    Monoid {
        name: format!("Sums{n}"),
        kind: MonoidKind::Custom,
        fields: (0..n).map(field).collect(),
        array: None,
        exprs,
        identity: vec![ExprId(0); n],
        merge,
    }
}

type Arena = HashMap<Expr, ExprId>;
/// What takes the place of an expression, given the new kernel with its arena, the old handle, all new handles, and a copy.
type Change<'c> = &'c mut dyn FnMut(&mut Kernel, &mut Arena, ExprId, &[ExprId], Expr) -> Expr;

/// A copy in which `change` may replace each expression after its operands were replaced.
fn rewrite(kernel: &Kernel, change: Change) -> Kernel {
    let mut new = kernel.clone();
    (new.exprs, new.types) = (vec![], vec![]);
    let mut maps = Maps::same(kernel);
    let (mut arena, mut ids) = (HashMap::new(), Vec::with_capacity(kernel.exprs.len()));
    for (i, ty) in kernel.types.iter().enumerate() {
        let old = ExprId(i as u32);
        let expr = maps.expr(kernel.expr(old), &ids);
        let expr = change(&mut new, &mut arena, old, &ids, expr);
        let id = intern(&mut new, &mut arena, expr, *ty);
        ids.push(id);
    }
    maps.exprs = ids;
    moved(kernel, new, &maps)
}

/// The rest of a kernel whose expressions have moved.
fn moved(kernel: &Kernel, mut new: Kernel, maps: &Maps) -> Kernel {
    let of = |id: ExprId| maps.exprs[id.0 as usize];
    for (axis, old) in new.axes.iter_mut().zip(&kernel.axes) {
        (axis.lo, axis.hi) = (of(old.lo), of(old.hi));
    }
    new.lets = kernel.lets.iter().map(|l| Let { name: l.name.clone(), value: of(l.value) }).collect();
    new.asserts = kernel.asserts.iter().map(|id| of(*id)).collect();
    new.body = statements(&kernel.body, maps);
    compact(&new)
}
