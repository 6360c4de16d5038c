//! Whether a shape has all that a kernel needs of it: each extent, what the kernel asserts of them, and no division by 0.

use crate::deps;
use crate::error::ShapeError;
use crate::shape::{Extent, Shape};
use tilewright_dsl::eval::Value;
use tilewright_dsl::ir::{Binary, Expr, ExprId, Kernel};

/// Adds everything that is wrong with the extents; of what follows from a first mistake nothing is said.
pub fn check(kernel: &Kernel, shape: &Shape, errors: &mut Vec<ShapeError>) {
    let before = errors.len();
    for extent in &kernel.extents {
        match shape.get(extent) {
            None => errors.push(ShapeError::MissingExtent { extent: extent.clone() }),
            Some(Extent::Fixed(0) | Extent::Param { capacity: 0 }) => {
                errors.push(ShapeError::EmptyExtent { extent: extent.clone() });
            }
            Some(_) => {}
        }
    }
    if errors.len() > before {
        return;
    }
    for id in &kernel.asserts {
        let demand = kernel.demand(*id);
        match deps::fixed(kernel, shape, *id) {
            Some(Value::Bool(true)) => {}
            Some(_) => errors.push(ShapeError::Assertion { demand, extents: given(kernel, shape, *id) }),
            None => {
                let at_run_time = |e: &&str| matches!(shape.get(e), Some(Extent::Param { .. }));
                let extents = kernel.extents_in(*id).into_iter().filter(at_run_time).map(String::from).collect();
                errors.push(ShapeError::AssertionAtRunTime { demand, extents });
            }
        }
    }
    if errors.len() > before {
        return;
    }
    for (i, expr) in kernel.exprs.iter().enumerate() {
        let id = ExprId(i as u32);
        if let Some(error) = no_value(kernel, shape, id, expr)
            && !errors.contains(&error)
        {
            errors.push(error);
        }
    }
    let finite = |e: &&Expr| matches!(e, Expr::F32(bits) if !f32::from_bits(*bits).is_finite());
    for (monoid, expr) in kernel.monoids.iter().filter_map(|m| Some((m, m.exprs.iter().find(finite)?))) {
        let Expr::F32(bits) = expr else { continue };
        let value = format!("a constant of monoid {}", monoid.name);
        errors.push(ShapeError::NotFinite { value, found: f32::from_bits(*bits).to_string(), extents: vec![] });
    }
}

/// What is wrong with a constant expression whose operands are right.
fn no_value(kernel: &Kernel, shape: &Shape, id: ExprId, expr: &Expr) -> Option<ShapeError> {
    if let Expr::Binary(op, _, by) = expr
        && let Some(Value::U32(n)) = deps::fixed(kernel, shape, *by)
    {
        let (by, extents) = (*by, given(kernel, shape, *by));
        match op {
            Binary::Div | Binary::Rem if n == 0 => {
                return Some(ShapeError::ZeroDivisor { divisor: kernel.spell(by), extents });
            }
            Binary::Shl | Binary::Shr if n >= 32 => {
                return Some(ShapeError::ShiftTooFar { value: kernel.spell(id), by: n, extents });
            }
            _ => {}
        }
    }
    let infinite = |id: ExprId| match deps::fixed(kernel, shape, id) {
        Some(Value::F32(x)) if !x.is_finite() => Some(x),
        _ => None,
    };
    let found = infinite(id)?;
    if deps::operands(kernel, expr).into_iter().any(|o| infinite(o).is_some()) {
        return None;
    }
    let (value, extents) = (kernel.spell(id), given(kernel, shape, id));
    Some(ShapeError::NotFinite { value, found: found.to_string(), extents })
}

/// The extents in an expression with their numbers.
fn given(kernel: &Kernel, shape: &Shape, id: ExprId) -> Vec<String> {
    let number = |name: &str| match shape.get(name) {
        Some(Extent::Fixed(n) | Extent::Param { capacity: n }) => format!("{name} = {n}"),
        None => name.into(),
    };
    kernel.extents_in(id).into_iter().map(number).collect()
}
