//! Kernels laid beside each other in one grid, and inputs that are one tensor.
//!
//! Both renumber what is there and add nothing: equal loads become one, every axis keeps its own levels.

use super::FuseError;
use std::collections::HashMap;
use tilewright_dsl::ir::{
    AxisId, Expr, ExprId, ExtentId, Kernel, Let, MonoidId, Reduce, Role, ScalarId, Stmt, TensorId, Type,
};

/// Lays kernels beside each other: one body under their common outermost axis. What is named in `shared` (that axis,
/// extents, inputs, scalars) is the same thing in all of them; every other name gets its kernel's prefix.
///
/// # Errors
/// [`FuseError::NotBeside`] where a body is not one loop over the common axis, where shared things differ, or where an output
/// is shared.
pub fn beside(name: &str, parts: &[(&str, &Kernel)], shared: &[&str]) -> Result<Kernel, FuseError> {
    let mut new = empty(name, parts.iter().map(|(_, k)| k.name.as_str()).collect::<Vec<_>>().join(" beside "));
    let mut arena = HashMap::new();
    let mut inner = Vec::new();
    let mut outermost = None;
    for (prefix, kernel) in parts {
        let refuse = |why: &str| FuseError::NotBeside { kernel: kernel.name.clone(), why: why.into() };
        let full = |n: &str| if shared.contains(&n) { n.to_string() } else { format!("{prefix}.{n}") };
        let [Stmt::For(first, body)] = &kernel.body[..] else {
            return Err(refuse("its body is not one loop"));
        };
        let axis = &kernel.axis(*first).name;
        if !shared.contains(&axis.as_str()) {
            return Err(refuse(&format!("its outermost axis `{axis}` is not shared")));
        }
        let mut maps = Maps::default();
        for e in &kernel.extents {
            maps.extents.push(ExtentId(place(&mut new.extents, full(e), |a, b| a == b)));
        }
        for t in &kernel.tensors {
            let mut moved = t.clone();
            moved.name = full(&t.name);
            moved.dims = t.dims.iter().map(|d| maps.extents[d.0 as usize]).collect();
            let known = new.tensors.iter().position(|n| n.name == moved.name);
            if known.is_some_and(|i| new.tensors[i] != moved || t.role != Role::In) {
                return Err(refuse(&format!("the shared tensor `{}` is written, or has another shape", t.name)));
            }
            maps.tensors.push(TensorId(known.unwrap_or(new.tensors.len()) as u32));
            if known.is_none() {
                new.tensors.push(moved);
            }
        }
        for s in &kernel.scalars {
            let mut moved = s.clone();
            moved.name = full(&s.name);
            maps.scalars.push(ScalarId(place(&mut new.scalars, moved, |a, b| a == b)));
        }
        for m in &kernel.monoids {
            maps.monoids.push(MonoidId(place(&mut new.monoids, m.clone(), |a, b| a == b)));
        }
        let open = new.axes.len() as u32;
        maps.axes = (0..kernel.axes.len() as u32).map(|a| AxisId(open + a)).collect();
        let here = maps.axes[first.0 as usize];
        let there = *outermost.get_or_insert(here);
        maps.axes[first.0 as usize] = there;
        maps.exprs = copy(kernel, &mut new, &mut arena, &maps);
        for axis in &kernel.axes {
            let mut moved = axis.clone();
            moved.name = full(&axis.name);
            moved.lo = maps.exprs[axis.lo.0 as usize];
            moved.hi = maps.exprs[axis.hi.0 as usize];
            new.axes.push(moved);
        }
        for l in &kernel.lets {
            new.lets.push(Let { name: full(&l.name), value: maps.exprs[l.value.0 as usize] });
        }
        let (own, common) = (new.axis(here), new.axis(there));
        if (own.lo, own.hi) != (common.lo, common.hi) {
            return Err(refuse(&format!("its axis `{}` has other bounds", own.name)));
        }
        inner.extend(statements(body, &maps));
    }
    let Some(outermost) = outermost else {
        return Err(FuseError::NotBeside { kernel: name.into(), why: "it has no parts".into() });
    };
    new.body = vec![Stmt::For(outermost, inner)];
    Ok(compact(&new))
}

/// Makes several inputs of a kernel one tensor with a name of its own; loads of the same element become one.
///
/// # Errors
/// [`FuseError::NotBeside`] where one of the names is no input, or where their ranks or types differ.
pub fn share(kernel: &Kernel, inputs: &[&str], name: &str) -> Result<Kernel, FuseError> {
    let refuse = |why: String| FuseError::NotBeside { kernel: kernel.name.clone(), why };
    let mut found = Vec::new();
    for input in inputs {
        let id = kernel.tensor_named(input).filter(|t| kernel.tensor(*t).role == Role::In);
        found.push(id.ok_or_else(|| refuse(format!("it has no input `{input}`")))?);
    }
    let Some(first) = found.first().copied() else { return Err(refuse("no inputs are named".into())) };
    let mut new = kernel.clone();
    let mut maps = Maps::same(kernel);
    for other in &found[1..] {
        let (a, b) = (kernel.tensor(first), kernel.tensor(*other));
        if a.elem != b.elem || a.dims.len() != b.dims.len() {
            return Err(refuse(format!("`{}` and `{}` have other ranks or types", a.name, b.name)));
        }
        maps.tensors[other.0 as usize] = first;
        for (one, two) in a.dims.iter().zip(&b.dims) {
            let one = maps.extents[one.0 as usize];
            maps.extents[two.0 as usize] = one;
        }
    }
    new.tensors[first.0 as usize].name = name.into();
    for t in &mut new.tensors {
        t.dims.iter_mut().for_each(|d| *d = maps.extents[d.0 as usize]);
    }
    (new.exprs, new.types) = (vec![], vec![]);
    maps.exprs = copy(kernel, &mut new, &mut HashMap::new(), &maps);
    for (axis, old) in new.axes.iter_mut().zip(&kernel.axes) {
        (axis.lo, axis.hi) = (maps.exprs[old.lo.0 as usize], maps.exprs[old.hi.0 as usize]);
    }
    for (l, old) in new.lets.iter_mut().zip(&kernel.lets) {
        l.value = maps.exprs[old.value.0 as usize];
    }
    new.body = statements(&kernel.body, &maps);
    Ok(compact(&new))
}

/// New handles of a kernel's things.
#[derive(Default)]
struct Maps {
    tensors: Vec<TensorId>,
    scalars: Vec<ScalarId>,
    extents: Vec<ExtentId>,
    axes: Vec<AxisId>,
    monoids: Vec<MonoidId>,
    exprs: Vec<ExprId>,
}

impl Maps {
    fn same(kernel: &Kernel) -> Self {
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

    fn expr(&self, expr: &Expr, exprs: &[ExprId]) -> Expr {
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

fn empty(name: &str, doc: String) -> Kernel {
    Kernel {
        name: name.into(),
        doc: format!("{doc}."),
        extents: vec![],
        tensors: vec![],
        scalars: vec![],
        axes: vec![],
        monoids: vec![],
        lets: vec![],
        exprs: vec![],
        types: vec![],
        body: vec![],
    }
}

/// The place of an item in a list, where it is put if it is not there.
fn place<T>(list: &mut Vec<T>, item: T, equal: impl Fn(&T, &T) -> bool) -> u32 {
    let at = list.iter().position(|i| equal(i, &item)).unwrap_or(list.len());
    if at == list.len() {
        list.push(item);
    }
    at as u32
}

/// Appends a kernel's expressions, each once; operands stand before their users on both sides.
fn copy(from: &Kernel, to: &mut Kernel, arena: &mut HashMap<Expr, ExprId>, maps: &Maps) -> Vec<ExprId> {
    let mut ids: Vec<ExprId> = Vec::with_capacity(from.exprs.len());
    for (expr, ty) in from.exprs.iter().zip(&from.types) {
        ids.push(intern(to, arena, maps.expr(expr, &ids), *ty));
    }
    ids
}

fn intern(to: &mut Kernel, arena: &mut HashMap<Expr, ExprId>, expr: Expr, ty: Type) -> ExprId {
    if let Some(known) = arena.get(&expr) {
        return *known;
    }
    to.exprs.push(expr.clone());
    to.types.push(ty);
    let id = ExprId(to.exprs.len() as u32 - 1);
    arena.insert(expr, id);
    id
}

fn statements(body: &[Stmt], maps: &Maps) -> Vec<Stmt> {
    let of = |id: &ExprId| maps.exprs[id.0 as usize];
    let one = |stmt: &Stmt| match stmt {
        Stmt::For(axis, inner) => Stmt::For(maps.axes[axis.0 as usize], statements(inner, maps)),
        Stmt::Store(tensor, indices, value) => {
            Stmt::Store(maps.tensors[tensor.0 as usize], indices.iter().map(of).collect(), of(value))
        }
    };
    body.iter().map(one).collect()
}

/// The same kernel without extents, tensors and axes that nothing uses any more.
fn compact(kernel: &Kernel) -> Kernel {
    let mut live = vec![false; kernel.axes.len()];
    mark(&kernel.body, &mut live);
    for expr in &kernel.exprs {
        if let Expr::Reduce(r) = expr {
            live[r.axis.0 as usize] = true;
            r.array.iter().for_each(|a| live[a.0 as usize] = true);
        }
    }
    let mut loaded = vec![false; kernel.tensors.len()];
    for expr in &kernel.exprs {
        if let Expr::Load(t, _) = expr {
            loaded[t.0 as usize] = true;
        }
    }
    let mut new = empty(&kernel.name, String::new());
    new.doc.clone_from(&kernel.doc);
    (new.scalars, new.monoids) = (kernel.scalars.clone(), kernel.monoids.clone());
    let mut maps = Maps::same(kernel);
    let kept = |i: usize| kernel.tensors[i].role != Role::In || loaded[i];
    for (i, name) in kernel.extents.iter().enumerate() {
        let dim = |(t, tensor): (usize, &tilewright_dsl::ir::Tensor)| {
            kept(t) && tensor.dims.iter().any(|d| d.0 as usize == i)
        };
        let named = kernel.exprs.contains(&Expr::Extent(ExtentId(i as u32)));
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
    maps.exprs = copy(kernel, &mut new, &mut HashMap::new(), &maps);
    for (axis, _) in kernel.axes.iter().zip(&live).filter(|(_, alive)| **alive) {
        let mut axis = axis.clone();
        (axis.lo, axis.hi) = (maps.exprs[axis.lo.0 as usize], maps.exprs[axis.hi.0 as usize]);
        new.axes.push(axis);
    }
    for l in &kernel.lets {
        new.lets.push(Let { name: l.name.clone(), value: maps.exprs[l.value.0 as usize] });
    }
    new.body = statements(&kernel.body, &maps);
    new
}

fn mark(body: &[Stmt], live: &mut [bool]) {
    for stmt in body {
        if let Stmt::For(axis, inner) = stmt {
            live[axis.0 as usize] = true;
            mark(inner, live);
        }
    }
}
