//! Which axes a value depends on, which values a kernel shares, and which numbers are known when it is compiled.
//!
//! Facts about a kernel alone, computed once and asked by `apply` and `lower`; nothing about a schedule is known here.

use crate::shape::{Extent, Shape};
use tilewright_dsl::eval::{Value, binary, unary};
use tilewright_dsl::ir::{AxisId, Binary, Expr, ExprId, Kernel, Stmt};

/// A set of the first [`AxisSet::MOST`] axes of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct AxisSet(u64);

impl AxisSet {
    /// Most axes of a kernel: `apply` refuses more.
    pub const MOST: usize = u64::BITS as usize;
    /// The set of one axis.
    pub fn of(axis: AxisId) -> Self {
        AxisSet(1u64.checked_shl(axis.0).unwrap_or(0))
    }
    /// All that is in either.
    pub fn union(self, other: Self) -> Self {
        AxisSet(self.0 | other.0)
    }
    /// All that is here and not there.
    pub fn minus(self, other: Self) -> Self {
        AxisSet(self.0 & !other.0)
    }
    /// Whether an axis is in the set.
    pub fn has(self, axis: AxisId) -> bool {
        self.0 & AxisSet::of(axis).0 != 0
    }
    /// Whether all of this is in `other`.
    pub fn within(self, other: Self) -> bool {
        self.minus(other).0 == 0
    }
}

/// Facts about the expressions of a kernel.
pub struct Deps {
    free: Vec<AxisSet>,
    uses: Vec<u32>,
}

impl Deps {
    /// Reads the whole arena once; operands stand before their users.
    pub fn new(kernel: &Kernel) -> Self {
        let mut free: Vec<AxisSet> = Vec::with_capacity(kernel.exprs.len());
        let mut uses = vec![0; kernel.exprs.len()];
        for expr in &kernel.exprs {
            let mut set = AxisSet::default();
            for operand in operands(kernel, expr) {
                set = set.union(free[operand.0 as usize]);
                uses[operand.0 as usize] += 1;
            }
            match expr {
                Expr::Axis(axis) => set = AxisSet::of(*axis),
                Expr::Reduce(r) => {
                    let inner = r.array.map_or(AxisSet::of(r.axis), |c| AxisSet::of(r.axis).union(AxisSet::of(c)));
                    set = set.minus(inner);
                }
                _ => {}
            }
            free.push(set);
        }
        count_stores(&kernel.body, &mut uses);
        Deps { free, uses }
    }
    /// The axes that a value changes with.
    pub fn free(&self, id: ExprId) -> AxisSet {
        self.free[id.0 as usize]
    }
    /// How often a value is an operand.
    pub fn uses(&self, id: ExprId) -> u32 {
        self.uses[id.0 as usize]
    }
}

fn count_stores(body: &[Stmt], uses: &mut [u32]) {
    for stmt in body {
        match stmt {
            Stmt::For(_, inner) => count_stores(inner, uses),
            Stmt::Store(_, indices, value) => {
                for id in indices.iter().chain([value]) {
                    uses[id.0 as usize] += 1;
                }
            }
        }
    }
}

/// The direct operands of an expression; of a reduction, its bounds and what it adds up.
pub fn operands(kernel: &Kernel, expr: &Expr) -> Vec<ExprId> {
    match expr {
        Expr::Load(_, indices) => indices.clone(),
        Expr::Unary(_, a) | Expr::Field(a, _) => vec![*a],
        Expr::Binary(_, a, b) | Expr::Element(a, _, b) => vec![*a, *b],
        Expr::Select(c, a, b) => vec![*c, *a, *b],
        Expr::Reduce(r) => {
            let axis = kernel.axis(r.axis);
            let mut all = vec![axis.lo, axis.hi];
            all.extend(&r.body);
            all
        }
        Expr::F32(_)
        | Expr::U32(_)
        | Expr::Bool(_)
        | Expr::Axis(_)
        | Expr::Extent(_)
        | Expr::Scalar(_)
        | Expr::Part(..) => vec![],
    }
}

/// A u32 expression's value, where extents that are fixed decide it.
pub fn constant(kernel: &Kernel, shape: &Shape, id: ExprId) -> Option<u32> {
    bound(kernel, shape, id, false)
}

/// The largest value that a u32 expression of extents can take (run-time ones at their capacity).
pub fn capacity(kernel: &Kernel, shape: &Shape, id: ExprId) -> Option<u32> {
    bound(kernel, shape, id, true)
}

fn bound(kernel: &Kernel, shape: &Shape, id: ExprId, at_capacity: bool) -> Option<u32> {
    match kernel.expr(id) {
        Expr::U32(n) => Some(*n),
        Expr::Extent(e) => match shape.get(&kernel.extents[e.0 as usize])? {
            Extent::Fixed(n) => Some(n),
            Extent::Param { capacity } => at_capacity.then_some(capacity),
        },
        Expr::Binary(op, a, b) => {
            // A bound is monotone in the left operand alone, so the right one must be a number.
            let x = bound(kernel, shape, *a, at_capacity)?;
            let y = bound(kernel, shape, *b, at_capacity && matches!(op, Binary::Add | Binary::Mul))?;
            match op {
                Binary::Add => x.checked_add(y),
                Binary::Sub => x.checked_sub(y),
                Binary::Mul => x.checked_mul(y),
                Binary::Div => x.checked_div(y),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The value of an expression of extents and constants, where the shape fixes them.
pub fn fixed(kernel: &Kernel, shape: &Shape, id: ExprId) -> Option<Value> {
    Some(match kernel.expr(id) {
        Expr::F32(bits) => Value::F32(f32::from_bits(*bits)),
        Expr::U32(n) => Value::U32(*n),
        Expr::Bool(b) => Value::Bool(*b),
        Expr::Extent(e) => match shape.get(&kernel.extents[e.0 as usize])? {
            Extent::Fixed(n) => Value::U32(n),
            Extent::Param { .. } => return None,
        },
        Expr::Unary(op, a) => unary(*op, fixed(kernel, shape, *a)?)?,
        Expr::Binary(op, a, b) => binary(*op, fixed(kernel, shape, *a)?, fixed(kernel, shape, *b)?)?,
        _ => return None,
    })
}

/// Whether a value depends on what is loaded from a tensor.
pub fn is_loaded(kernel: &Kernel, id: ExprId) -> bool {
    is_load(kernel, id) || operands(kernel, kernel.expr(id)).into_iter().any(|o| is_loaded(kernel, o))
}

/// Whether a value is loaded from a tensor.
pub fn is_load(kernel: &Kernel, id: ExprId) -> bool {
    matches!(kernel.expr(id), Expr::Load(..))
}
