//! What must hold of cooperative-matrix fragments: the device has their shape, they are touched by whole subgroups, and what
//! they load lies in its array.

use super::Violation;
use crate::loops::*;
use crate::ranges::Ranges;
use crate::target::Target;
use crate::text;
use crate::types::fragment;
use tilewright_dsl::ir::Binary;

/// Fragments of sizes that the target has, at places that a subgroup shares and that lie inside their array.
pub(super) fn fragments<'a>(
    ir: &'a LoopIr,
    target: &Target,
    ranges: &mut Ranges<'a>,
    body: &[Stmt],
    found: &mut Vec<Violation>,
) {
    let size = target.subgroups.filter(|s| s.min == s.max).map(|s| s.min);
    for stmt in body {
        match stmt {
            Stmt::Let(v, e) => ranges.set(*v, ranges.of(e)),
            Stmt::For { var, start, end, .. } => ranges.set(*var, ranges.counter(start, end)),
            Stmt::DeclareFragment(v) => {
                let side = fragment(ir, *v, &[Side::Sum]).unwrap_or(0);
                if !target.fragments.contains(&side) || size.is_none() {
                    let have = match (&target.fragments[..], size) {
                        ([], _) => "none".into(),
                        (_, None) => "subgroups of several sizes".into(),
                        (sides, _) => format!("sides of {sides:?}"),
                    };
                    found.push(Violation::Fragments { side, have, target: target.name.clone() });
                }
            }
            Stmt::LoadFragment(v, at) | Stmt::StoreFragment(v, at) => {
                let statement = || text::line(ir, stmt);
                if apart(&ir.body, &at.index, size.unwrap_or(1)) {
                    found.push(Violation::Apart { statement: statement() });
                }
                let Some(array) = ir.shared.get(at.array) else { continue };
                let unit = if array.narrow { 4 } else { 1 };
                let side = fragment(ir, *v, &[Side::Left, Side::Right, Side::Sum]).unwrap_or(0);
                if at.stride * unit < side {
                    found.push(Violation::Reach { what: "rows overlap", statement: statement() });
                }
                let last = u64::from(ranges.of(&at.index).hi) * u64::from(unit)
                    + u64::from(side.saturating_sub(1)) * u64::from(at.stride * unit)
                    + u64::from(side);
                if last > u64::from(array.len) {
                    found.push(Violation::Reach { what: "the array ends before", statement: statement() });
                }
            }
            _ => {}
        }
        for block in stmt.blocks() {
            fragments(ir, target, ranges, block, found);
        }
    }
}

/// Whether a value may differ between the invocations of a subgroup of that size. The index of an invocation is the same for
/// all of them once it is divided by a multiple of the size.
fn apart(body: &[Stmt], e: &Expr, size: u32) -> bool {
    match e {
        Expr::Binary(Binary::Div, a, n) => match (&**a, &**n) {
            (Expr::Builtin(Builtin::LocalIndex), Expr::U32(n)) if n.is_multiple_of(size) => false,
            _ => apart(body, a, size) || apart(body, n, size),
        },
        Expr::Builtin(b) => matches!(b, Builtin::LocalIndex | Builtin::SubgroupInvocation),
        Expr::Var(v) => match value_of(body, *v) {
            Some(Ok(value)) => apart(body, value, size),
            Some(Err(bounds)) => bounds.into_iter().any(|b| apart(body, b, size)),
            None => true,
        },
        Expr::Load { .. } | Expr::Shared(..) | Expr::Element(..) | Expr::ShuffleXor(..) => true,
        _ => e.operands().into_iter().any(|x| apart(body, x, size)),
    }
}

/// The value of a `let`, or the bounds of a counter; none for what is assigned again.
fn value_of(body: &[Stmt], v: Var) -> Option<Result<&Expr, [&Expr; 3]>> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::Let(var, e) if *var == v => Some(Ok(e)),
        Stmt::For { var, start, end, step, .. } if *var == v => Some(Err([start, end, step])),
        _ => stmt.blocks().into_iter().find_map(|block| value_of(block, v)),
    })
}
