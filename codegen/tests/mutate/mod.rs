//! Damage to loop IR, one place at a time: what a mistake in a pass would make.
#![allow(dead_code, missing_docs, reason = "each test binary uses a part of it")]

use tilewright_codegen::loops::*;
use tilewright_dsl::ir::Binary;

/// All single damages of a shader, with a name each: the kind, and which place of that kind.
pub fn mutants(ir: &LoopIr) -> Vec<(String, LoopIr)> {
    let mut all = Vec::new();
    for (kind, damage) in STATEMENTS {
        grow(kind, ir, &mut all, |body, place| block(body, place, *damage));
    }
    for (kind, damage) in EXPRESSIONS {
        grow(kind, ir, &mut all, |body, place| expressions(body, place, *damage));
    }
    all
}

/// The names of the kinds of damage.
pub fn kinds() -> Vec<&'static str> {
    STATEMENTS.iter().map(|d| d.0).chain(EXPRESSIONS.iter().map(|d| d.0)).collect()
}

/// The kind of damage that only shaders with quantised tensors have a place for.
pub const OF_SCALES: &str = "scale of another row";

/// How far rows lie apart in an index.
fn row_of(index: &Expr) -> Option<u32> {
    match index {
        Expr::Binary(Binary::Mul, _, n) => match **n {
            Expr::U32(n) => Some(n),
            _ => None,
        },
        e => e.operands().into_iter().find_map(row_of),
    }
}

/// What stands instead of a statement; `None` where this damage does not apply.
type StmtDamage = fn(&Stmt) -> Option<Vec<Stmt>>;
/// The same for an expression.
type ExprDamage = fn(&Expr) -> Option<Expr>;

const STATEMENTS: &[(&str, StmtDamage)] = &[
    ("drop a barrier", |s| (*s == Stmt::Barrier).then(Vec::new)),
    ("barrier in a divergent branch", |s| {
        (*s == Stmt::Barrier).then(|| vec![Stmt::If(first(), vec![s.clone()], vec![])])
    }),
    ("halve a loop", |s| end_of(s, |end| (end > 1).then_some(end / 2))),
    ("one step more", |s| match s {
        Stmt::For { var, start, end, step, body } => Some(vec![Stmt::For {
            var: *var,
            start: start.clone(),
            end: Expr::Binary(Binary::Add, Box::new(end.clone()), Box::new(step.clone())),
            step: step.clone(),
            body: body.clone(),
        }]),
        _ => None,
    }),
    ("one step less", |s| match s {
        Stmt::For { var, start, end: Expr::U32(end), step: Expr::U32(step), body } => {
            let (end, step) = (Expr::U32(end.checked_sub(*step)?), Expr::U32(*step));
            Some(vec![Stmt::For { var: *var, start: start.clone(), end, step, body: body.clone() }])
        }
        _ => None,
    }),
    ("double a step", |s| match s {
        Stmt::For { var, start, end, step: Expr::U32(n), body } => Some(vec![Stmt::For {
            var: *var,
            start: start.clone(),
            end: end.clone(),
            step: Expr::U32(n * 2),
            body: body.clone(),
        }]),
        _ => None,
    }),
    ("drop a guard", |s| match s {
        Stmt::If(_, then, or) if or.is_empty() => Some(then.clone()),
        _ => None,
    }),
    ("loosen a guard", |s| match s {
        Stmt::If(cond, then, or) => Some(vec![Stmt::If(loosened(cond)?, then.clone(), or.clone())]),
        _ => None,
    }),
    ("drop a statement", |s| {
        let stores =
            matches!(s, Stmt::Store(..) | Stmt::StoreShared(..) | Stmt::StoreNarrow(..) | Stmt::StoreFragment(..));
        (stores || matches!(s, Stmt::Assign(..) | Stmt::SetElement(..) | Stmt::MultiplyAdd(..))).then(Vec::new)
    }),
    ("swap factors", |s| match s {
        Stmt::MultiplyAdd(sum, a, b) => Some(vec![Stmt::MultiplyAdd(*sum, *b, *a)]),
        _ => None,
    }),
    ("another stride", |s| match s {
        Stmt::LoadFragment(v, at) => Some(vec![Stmt::LoadFragment(*v, Place { stride: at.stride + 1, ..at.clone() })]),
        Stmt::StoreFragment(v, at) => {
            Some(vec![Stmt::StoreFragment(*v, Place { stride: at.stride - 1, ..at.clone() })])
        }
        _ => None,
    }),
    ("a place for each invocation", |s| match s {
        Stmt::LoadFragment(v, at) => {
            let index = Expr::Binary(Binary::Rem, Box::new(Expr::Builtin(Builtin::LocalIndex)), Box::new(Expr::U32(2)));
            Some(vec![Stmt::LoadFragment(*v, Place { index, ..at.clone() })])
        }
        _ => None,
    }),
    ("store twice", |s| matches!(s, Stmt::Store(..)).then(|| vec![s.clone(), s.clone()])),
    ("accumulate twice", |s| match s {
        Stmt::Assign(v, Expr::Fma(.., c)) if **c == Expr::Var(*v) => Some(vec![s.clone(), s.clone()]),
        Stmt::MultiplyAdd(..) => Some(vec![s.clone(), s.clone()]),
        _ => None,
    }),
    ("split a word", |s| match s {
        Stmt::Store(b, i, e) => Some(vec![Stmt::Store(*b, op(Binary::Div, i, 2), e.clone())]),
        _ => None,
    }),
    ("store beside", |s| match s {
        Stmt::Store(b, i, e) => Some(vec![Stmt::Store(*b, op(Binary::Add, i, 1), e.clone())]),
        Stmt::StoreShared(a, i, e) => Some(vec![Stmt::StoreShared(*a, op(Binary::Add, i, 1), e.clone())]),
        Stmt::StoreNarrow(a, i, e) => Some(vec![Stmt::StoreNarrow(*a, op(Binary::Add, i, 1), e.clone())]),
        _ => None,
    }),
    ("another identity", |s| match s {
        Stmt::Declare(v, Expr::F32(x)) => {
            Some(vec![Stmt::Declare(*v, Expr::F32(if x.abs() > 1e30 { 7.0 } else { x + 7.0 }))])
        }
        _ => None,
    }),
];

const EXPRESSIONS: &[(&str, ExprDamage)] = &[
    ("load beside", |e| match e {
        Expr::Load { buffer, index, width } => {
            Some(Expr::Load { buffer: *buffer, index: Box::new(op(Binary::Add, index, 1)), width: *width })
        }
        _ => None,
    }),
    (OF_SCALES, |e| match e {
        Expr::FromBits(word) => match &**word {
            Expr::Load { buffer, index, width } => {
                let index = Box::new(op(Binary::Add, index, row_of(index)?));
                Some(Expr::FromBits(Box::new(Expr::Load { buffer: *buffer, index, width: *width })))
            }
            _ => None,
        },
        _ => None,
    }),
    ("another component", |e| match e {
        Expr::Component(a, c) => Some(Expr::Component(a.clone(), c ^ 1)),
        _ => None,
    }),
    ("fold with itself", |e| match e {
        Expr::Binary(op, a, b) => match (&**a, &**b) {
            (Expr::Shared(..), Expr::Shared(..)) => Some(Expr::Binary(*op, a.clone(), a.clone())),
            _ => None,
        },
        _ => None,
    }),
    ("another fold partner", |e| match e {
        Expr::Shared(s, i) => Some(Expr::Shared(*s, Box::new(op(Binary::Add, i, 1)))),
        _ => None,
    }),
    ("another shuffle mask", |e| match e {
        Expr::ShuffleXor(a, mask) => Some(Expr::ShuffleXor(a.clone(), Box::new(op(Binary::Mul, mask, 2)))),
        _ => None,
    }),
    ("swap the arms of a select", |e| match e {
        Expr::Select(c, yes, no) => Some(Expr::Select(c.clone(), no.clone(), yes.clone())),
        _ => None,
    }),
    ("forget what was accumulated", |e| match e {
        Expr::Fma(a, b, _) => Some(Expr::Binary(Binary::Mul, a.clone(), b.clone())),
        _ => None,
    }),
    ("halve a tile", |e| match e {
        Expr::Binary(Binary::Mul, a, c) => match **c {
            Expr::U32(n) if n > 1 => Some(op(Binary::Mul, a, n / 2)),
            _ => None,
        },
        _ => None,
    }),
    ("swap operands", |e| match e {
        Expr::Binary(op @ (Binary::Sub | Binary::Div), a, b) => Some(Expr::Binary(*op, b.clone(), a.clone())),
        _ => None,
    }),
    ("another operator", |e| match e {
        Expr::Binary(Binary::Max, a, b) => Some(Expr::Binary(Binary::Min, a.clone(), b.clone())),
        Expr::Binary(Binary::Add, a, b) if **b != Expr::U32(0) => Some(Expr::Binary(Binary::Sub, a.clone(), b.clone())),
        Expr::Binary(Binary::Rem, a, b) => Some(Expr::Binary(Binary::Div, a.clone(), b.clone())),
        Expr::Binary(Binary::Div, a, b) => Some(Expr::Binary(Binary::Rem, a.clone(), b.clone())),
        _ => None,
    }),
];

/// One mutant for each place, until there is no further place.
fn grow(kind: &str, ir: &LoopIr, all: &mut Vec<(String, LoopIr)>, damage: impl Fn(&mut Vec<Stmt>, &mut usize) -> bool) {
    for place in 0.. {
        let mut mutant = ir.clone();
        if !damage(&mut mutant.body, &mut place.clone()) {
            return;
        }
        if mutant != *ir {
            all.push((format!("{kind} #{place}"), mutant));
        }
    }
}

/// Damages the statement at the `place`th place, counted down; whether there is one.
fn block(body: &mut Vec<Stmt>, place: &mut usize, damage: StmtDamage) -> bool {
    for i in 0..body.len() {
        if let Some(instead) = damage(&body[i]) {
            if *place == 0 {
                body.splice(i..=i, instead);
                return true;
            }
            *place -= 1;
        }
        if body[i].blocks_mut().into_iter().any(|b| block(b, place, damage)) {
            return true;
        }
    }
    false
}

fn expressions(body: &mut [Stmt], place: &mut usize, damage: ExprDamage) -> bool {
    body.iter_mut().any(|stmt| {
        stmt.expressions_mut().into_iter().any(|e| expression(e, place, damage))
            || stmt.blocks_mut().into_iter().any(|b| expressions(b, place, damage))
    })
}

fn expression(e: &mut Expr, place: &mut usize, damage: ExprDamage) -> bool {
    if let Some(instead) = damage(e) {
        if *place == 0 {
            *e = instead;
            return true;
        }
        *place -= 1;
    }
    e.operands_mut().into_iter().any(|x| expression(x, place, damage))
}

fn op(op: Binary, a: &Expr, n: u32) -> Expr {
    Expr::Binary(op, Box::new(a.clone()), Box::new(Expr::U32(n)))
}

fn first() -> Expr {
    Expr::Binary(Binary::Eq, Box::new(Expr::Builtin(Builtin::LocalIndex)), Box::new(Expr::U32(0)))
}

fn end_of(s: &Stmt, f: fn(u32) -> Option<u32>) -> Option<Vec<Stmt>> {
    match s {
        Stmt::For { var, start, end: Expr::U32(end), step, body } => {
            let (start, step, body) = (start.clone(), step.clone(), body.clone());
            Some(vec![Stmt::For { var: *var, start, end: Expr::U32(f(*end)?), step, body }])
        }
        _ => None,
    }
}

/// `a < b` as `a < b + 4`, `==` as `>=`, in a conjunction's first part.
fn loosened(cond: &Expr) -> Option<Expr> {
    let Expr::Binary(operator, a, b) = cond else { return None };
    match operator {
        Binary::Lt => Some(Expr::Binary(Binary::Lt, a.clone(), Box::new(op(Binary::Add, b, 4)))),
        Binary::Eq => Some(Expr::Binary(Binary::Ge, a.clone(), b.clone())),
        Binary::And => Some(Expr::Binary(Binary::And, Box::new(loosened(a)?), b.clone())),
        _ => None,
    }
}
