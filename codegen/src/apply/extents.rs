//! Whether a shape has all that a kernel needs of it: each extent, what the kernel asserts of them, and no division by 0.

use crate::deps;
use crate::error::ScheduleError;
use crate::shape::{Extent, Shape};
use tilewright_dsl::eval::Value;
use tilewright_dsl::ir::{Binary, Expr, ExprId, Kernel};

/// Adds everything that is wrong with the extents; of what follows from a first mistake nothing is said.
pub fn check(kernel: &Kernel, shape: &Shape, errors: &mut Vec<ScheduleError>) {
    let before = errors.len();
    for extent in &kernel.extents {
        match shape.get(extent) {
            None => errors.push(ScheduleError::MissingExtent { extent: extent.clone() }),
            Some(Extent::Fixed(0) | Extent::Param { capacity: 0 }) => {
                errors.push(ScheduleError::EmptyExtent { extent: extent.clone() });
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
            Some(_) => errors.push(ScheduleError::Assertion { demand, extents: given(kernel, shape, *id) }),
            None => {
                let at_run_time = |e: &&str| matches!(shape.get(e), Some(Extent::Param { .. }));
                let extents = kernel.extents_in(*id).into_iter().filter(at_run_time).map(String::from).collect();
                errors.push(ScheduleError::AssertionAtRunTime { demand, extents });
            }
        }
    }
    if errors.len() > before {
        return;
    }
    let mut divisors: Vec<ExprId> = Vec::new();
    for expr in &kernel.exprs {
        if let Expr::Binary(Binary::Div | Binary::Rem, _, by) = expr
            && deps::fixed(kernel, shape, *by) == Some(Value::U32(0))
            && !divisors.contains(by)
        {
            divisors.push(*by);
            let (divisor, extents) = (kernel.spell(*by), given(kernel, shape, *by));
            errors.push(ScheduleError::ZeroDivisor { divisor, extents });
        }
    }
}

/// The extents in an expression with their numbers.
fn given(kernel: &Kernel, shape: &Shape, id: ExprId) -> Vec<String> {
    let number = |name: &str| match shape.get(name) {
        Some(Extent::Fixed(n) | Extent::Param { capacity: n }) => format!("{name} = {n}"),
        None => name.into(),
    };
    kernel.extents_in(id).into_iter().map(number).collect()
}
