//! Which axes a value depends on, which values a kernel shares, and which numbers are known when it is compiled.
//!
//! Facts about a kernel alone, computed once and asked by `apply` and `lower`; nothing about a schedule is known here.

use crate::shape::{Extent, Shape};
use std::collections::{BTreeSet, HashMap, HashSet};
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
    bound(kernel, shape, id, false, &mut Default::default())
}

/// The largest value that a u32 expression of extents can take (run-time ones at their capacity).
pub fn capacity(kernel: &Kernel, shape: &Shape, id: ExprId) -> Option<u32> {
    bound(kernel, shape, id, true, &mut Default::default())
}

/// Values are shared: each is looked at once, and remembered.
type Known<T> = HashMap<ExprId, Option<T>>;

fn bound(kernel: &Kernel, shape: &Shape, id: ExprId, at_capacity: bool, known: &mut [Known<u32>; 2]) -> Option<u32> {
    let which = usize::from(at_capacity);
    if let Some(found) = known[which].get(&id) {
        return *found;
    }
    let found = bound_of(kernel, shape, id, at_capacity, known);
    known[which].insert(id, found);
    found
}

fn bound_of(kernel: &Kernel, shape: &Shape, id: ExprId, at_capacity: bool, known: &mut [Known<u32>; 2]) -> Option<u32> {
    match kernel.expr(id) {
        Expr::U32(n) => Some(*n),
        Expr::Extent(e) => match shape.get(&kernel.extents[e.0 as usize])? {
            Extent::Fixed(n) => Some(n),
            Extent::Param { capacity } => at_capacity.then_some(capacity),
        },
        Expr::Binary(op, a, b) => {
            // Others are monotone in the left operand alone, so that the right one must be a number.
            let grows = matches!(op, Binary::Add | Binary::Mul | Binary::Min | Binary::Max);
            let x = bound(kernel, shape, *a, at_capacity, known)?;
            let y = bound(kernel, shape, *b, at_capacity && grows, known)?;
            match op {
                Binary::Add => x.checked_add(y),
                Binary::Sub => x.checked_sub(y),
                Binary::Mul => x.checked_mul(y),
                Binary::Div => x.checked_div(y),
                Binary::Min => Some(x.min(y)),
                Binary::Max => Some(x.max(y)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The value of an expression of extents and constants, where the shape fixes them.
pub fn fixed(kernel: &Kernel, shape: &Shape, id: ExprId) -> Option<Value> {
    fixed_in(kernel, shape, id, &mut HashMap::new())
}

fn fixed_in(kernel: &Kernel, shape: &Shape, id: ExprId, known: &mut Known<Value>) -> Option<Value> {
    if let Some(found) = known.get(&id) {
        return *found;
    }
    let mut of = |id: &ExprId| fixed_in(kernel, shape, *id, known);
    let found = match kernel.expr(id) {
        Expr::F32(bits) => Some(Value::F32(f32::from_bits(*bits))),
        Expr::U32(n) => Some(Value::U32(*n)),
        Expr::Bool(b) => Some(Value::Bool(*b)),
        Expr::Extent(e) => match shape.get(&kernel.extents[e.0 as usize]) {
            Some(Extent::Fixed(n)) => Some(Value::U32(n)),
            _ => None,
        },
        Expr::Unary(op, a) => of(a).and_then(|a| unary(*op, a)),
        Expr::Binary(op, a, b) => of(a).and_then(|a| binary(*op, a, of(b)?)),
        _ => None,
    };
    known.insert(id, found);
    found
}

/// The first answer among these values and all that they are made of, users before their operands, each asked once.
pub fn find<T>(
    kernel: &Kernel,
    roots: impl IntoIterator<Item = ExprId>,
    mut ask: impl FnMut(ExprId) -> Option<T>,
) -> Option<T> {
    let mut seen = HashSet::new();
    let mut open: Vec<ExprId> = roots.into_iter().collect();
    open.reverse();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        if let Some(found) = ask(id) {
            return Some(found);
        }
        open.extend(operands(kernel, kernel.expr(id)).into_iter().rev());
    }
    None
}

/// These values and all that they are made of.
pub fn all(kernel: &Kernel, roots: impl IntoIterator<Item = ExprId>) -> BTreeSet<ExprId> {
    let mut found = BTreeSet::new();
    find(kernel, roots, |id| {
        found.insert(id);
        None::<()>
    });
    found
}

/// Whether a value, or one that it is made of, is such.
pub fn any(kernel: &Kernel, id: ExprId, such: impl Fn(ExprId) -> bool) -> bool {
    find(kernel, [id], |id| such(id).then_some(())).is_some()
}

/// Whether a value depends on what is loaded from a tensor.
pub fn is_loaded(kernel: &Kernel, id: ExprId) -> bool {
    any(kernel, id, |id| is_load(kernel, id))
}

/// Whether a value is loaded from a tensor.
pub fn is_load(kernel: &Kernel, id: ExprId) -> bool {
    matches!(kernel.expr(id), Expr::Load(..))
}
