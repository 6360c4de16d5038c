//! Copies of a kernel's arena under new handles: what every way of putting kernels together stands on.

use std::collections::HashMap;
use tilewright_dsl::ir::{
    AxisId, Expr, ExprId, ExtentId, Kernel, Let, MonoidId, Reduce, Role, ScalarId, Stmt, TensorId, Type,
};

/// New handles of a kernel's things.
#[derive(Default)]
pub(super) struct Maps {
    pub tensors: Vec<TensorId>,
    pub scalars: Vec<ScalarId>,
    pub extents: Vec<ExtentId>,
    pub axes: Vec<AxisId>,
    pub monoids: Vec<MonoidId>,
    pub exprs: Vec<ExprId>,
}

impl Maps {
    pub fn same(kernel: &Kernel) -> Self {
        let upto = |n: usize| 0..n as u32;
        Maps {
            tensors: upto(kernel.tensors.len()).map(TensorId).collect(),
            scalars: upto(kernel.scalars.len()).map(ScalarId).collect(),
            extents: upto(kernel.extents.len()).map(ExtentId).collect(),
            axes: upto(kernel.axes.len()).map(AxisId).collect(),
            monoids: upto(kernel.monoids.len()).map(MonoidId).collect(),
            exprs: vec![],
        }
    }

    pub fn expr(&self, expr: &Expr, exprs: &[ExprId]) -> Expr {
        let of = |id: &ExprId| exprs[id.0 as usize];
        match expr {
            Expr::F32(_) | Expr::U32(_) | Expr::Bool(_) | Expr::Part(..) => expr.clone(),
            Expr::Axis(a) => Expr::Axis(self.axes[a.0 as usize]),
            Expr::Extent(e) => Expr::Extent(self.extents[e.0 as usize]),
            Expr::Scalar(s) => Expr::Scalar(self.scalars[s.0 as usize]),
            Expr::Load(t, indices) => Expr::Load(self.tensors[t.0 as usize], indices.iter().map(of).collect()),
            Expr::Unary(op, a) => Expr::Unary(*op, of(a)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, of(a), of(b)),
            Expr::Select(c, a, b) => Expr::Select(of(c), of(a), of(b)),
            Expr::Field(r, f) => Expr::Field(of(r), *f),
            Expr::Element(r, f, i) => Expr::Element(of(r), *f, of(i)),
            Expr::Reduce(r) => Expr::Reduce(Reduce {
                monoid: self.monoids[r.monoid.0 as usize],
                axis: self.axes[r.axis.0 as usize],
                array: r.array.map(|a| self.axes[a.0 as usize]),
                body: r.body.iter().map(of).collect(),
            }),
        }
    }
}

pub(super) fn empty(name: &str, doc: String) -> Kernel {
    Kernel {
        name: name.into(),
        doc: format!("{doc}."),
        extents: vec![],
        tensors: vec![],
        scalars: vec![],
        axes: vec![],
        monoids: vec![],
        lets: vec![],
        asserts: vec![],
        exprs: vec![],
        types: vec![],
        body: vec![],
    }
}

/// The place of an item in a list, where it is put if it is not there.
pub(super) fn place<T>(list: &mut Vec<T>, item: T, equal: impl Fn(&T, &T) -> bool) -> u32 {
    let at = list.iter().position(|i| equal(i, &item)).unwrap_or(list.len());
    if at == list.len() {
        list.push(item);
    }
    at as u32
}

/// Appends a kernel's expressions, each once; operands stand before their users on both sides.
pub(super) fn copy(from: &Kernel, to: &mut Kernel, arena: &mut HashMap<Expr, ExprId>, maps: &Maps) -> Vec<ExprId> {
    let mut ids: Vec<ExprId> = Vec::with_capacity(from.exprs.len());
    for (expr, ty) in from.exprs.iter().zip(&from.types) {
        ids.push(intern(to, arena, maps.expr(expr, &ids), *ty));
    }
    ids
}

pub(super) fn intern(to: &mut Kernel, arena: &mut HashMap<Expr, ExprId>, expr: Expr, ty: Type) -> ExprId {
    if let Some(known) = arena.get(&expr) {
        return *known;
    }
    to.exprs.push(expr.clone());
    to.types.push(ty);
    let id = ExprId(to.exprs.len() as u32 - 1);
    arena.insert(expr, id);
    id
}

pub(super) fn statements(body: &[Stmt], maps: &Maps) -> Vec<Stmt> {
    let of = |id: &ExprId| maps.exprs[id.0 as usize];
    let one = |stmt: &Stmt| match stmt {
        Stmt::For(axis, inner) => Stmt::For(maps.axes[axis.0 as usize], statements(inner, maps)),
        Stmt::Store(tensor, indices, value) => {
            Stmt::Store(maps.tensors[tensor.0 as usize], indices.iter().map(of).collect(), of(value))
        }
    };
    body.iter().map(one).collect()
}

/// The same kernel without expressions, names, extents, scalars, tensors and axes that nothing uses any more.
pub(super) fn compact(kernel: &Kernel) -> Kernel {
    let used = used(kernel);
    let mut live = vec![false; kernel.axes.len()];
    mark(&kernel.body, &mut live);
    let mut loaded = vec![false; kernel.tensors.len()];
    for (expr, _) in kernel.exprs.iter().zip(&used).filter(|(_, used)| **used) {
        match expr {
            Expr::Load(t, _) => loaded[t.0 as usize] = true,
            Expr::Reduce(r) => {
                live[r.axis.0 as usize] = true;
                r.array.iter().for_each(|a| live[a.0 as usize] = true);
            }
            _ => {}
        }
    }
    let mut new = empty(&kernel.name, String::new());
    new.doc.clone_from(&kernel.doc);
    let mut maps = Maps::same(kernel);
    let has = |wanted: &dyn Fn(&Expr) -> bool| kernel.exprs.iter().zip(&used).any(|(e, used)| *used && wanted(e));
    for (i, scalar) in kernel.scalars.iter().enumerate() {
        if has(&|e| *e == Expr::Scalar(ScalarId(i as u32))) {
            maps.scalars[i] = ScalarId(new.scalars.len() as u32);
            new.scalars.push(scalar.clone());
        }
    }
    for (i, monoid) in kernel.monoids.iter().enumerate() {
        if has(&|e| matches!(e, Expr::Reduce(r) if r.monoid.0 as usize == i)) {
            maps.monoids[i] = MonoidId(new.monoids.len() as u32);
            new.monoids.push(monoid.clone());
        }
    }
    let kept = |i: usize| kernel.tensors[i].role != Role::In || loaded[i];
    for (i, name) in kernel.extents.iter().enumerate() {
        let dim = |(t, tensor): (usize, &tilewright_dsl::ir::Tensor)| {
            kept(t) && tensor.dims.iter().any(|d| d.0 as usize == i)
        };
        let extent = Expr::Extent(ExtentId(i as u32));
        let named = kernel.exprs.iter().zip(&used).any(|(e, used)| *used && *e == extent);
        if named || kernel.tensors.iter().enumerate().any(dim) {
            maps.extents[i] = ExtentId(new.extents.len() as u32);
            new.extents.push(name.clone());
        }
    }
    for (i, tensor) in kernel.tensors.iter().enumerate().filter(|(i, _)| kept(*i)) {
        maps.tensors[i] = TensorId(new.tensors.len() as u32);
        let mut tensor = tensor.clone();
        tensor.dims.iter_mut().for_each(|d| *d = maps.extents[d.0 as usize]);
        new.tensors.push(tensor);
    }
    let mut next = 0;
    for (i, alive) in live.iter().enumerate() {
        maps.axes[i] = AxisId(next);
        next += u32::from(*alive);
    }
    let mut arena = HashMap::new();
    for (i, (expr, ty)) in kernel.exprs.iter().zip(&kernel.types).enumerate() {
        let id = if used[i] { intern(&mut new, &mut arena, maps.expr(expr, &maps.exprs), *ty) } else { ExprId(0) };
        maps.exprs.push(id);
    }
    for (axis, _) in kernel.axes.iter().zip(&live).filter(|(_, alive)| **alive) {
        let mut axis = axis.clone();
        (axis.lo, axis.hi) = (maps.exprs[axis.lo.0 as usize], maps.exprs[axis.hi.0 as usize]);
        new.axes.push(axis);
    }
    for l in kernel.lets.iter().filter(|l| used[l.value.0 as usize]) {
        new.lets.push(Let { name: l.name.clone(), value: maps.exprs[l.value.0 as usize] });
    }
    new.asserts = kernel.asserts.iter().map(|id| maps.exprs[id.0 as usize]).collect();
    new.body = statements(&kernel.body, &maps);
    new
}

/// Which expressions the body needs, with the bounds of its axes and what is asserted.
fn used(kernel: &Kernel) -> Vec<bool> {
    let mut used = vec![false; kernel.exprs.len()];
    let mut open = Vec::new();
    open.extend(&kernel.asserts);
    roots(kernel, &kernel.body, &mut open);
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut used[id.0 as usize], true) {
            open.extend(crate::deps::operands(kernel, kernel.expr(id)));
            if let Expr::Reduce(Reduce { array: Some(array), .. }) = kernel.expr(id) {
                open.extend([kernel.axis(*array).lo, kernel.axis(*array).hi]);
            }
        }
    }
    used
}

fn roots(kernel: &Kernel, body: &[Stmt], open: &mut Vec<ExprId>) {
    for stmt in body {
        match stmt {
            Stmt::For(axis, inner) => {
                open.extend([kernel.axis(*axis).lo, kernel.axis(*axis).hi]);
                roots(kernel, inner, open);
            }
            Stmt::Store(_, indices, value) => open.extend(indices.iter().chain([value])),
        }
    }
}

fn mark(body: &[Stmt], live: &mut [bool]) {
    for stmt in body {
        if let Stmt::For(axis, inner) = stmt {
            live[axis.0 as usize] = true;
            mark(inner, live);
        }
    }
}
