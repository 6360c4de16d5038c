//! The invariants of the kernel IR, and what is wrong where one does not hold.
//!
//! A checked kernel has: operands earlier in the arena than their users; the types that [`Expr`] says; as many indices as
//! dimensions (1 to 4); unique names; every axis bound by exactly one `for`, reduction or array, and used inside it alone;
//! bounds made from constants, extents, scalars and enclosing axes; reductions read through their fields only; inputs read
//! and never written, outputs written and never read; assertions made from constants and extents; of an in-out tensor only those elements read that the same body
//! writes. All errors come at once, except that broken handles hide the rest. Whether two iterations write one element
//! is deliberately absent: code generation proves it.

mod error;
mod monoid;

use std::collections::{BTreeSet, HashSet};

pub use error::KernelError;
pub use monoid::monoid;
use monoid::operation;

use crate::ir::*;

/// Everything that is wrong with a kernel; nothing for a well-formed one.
pub fn kernel(kernel: &Kernel) -> Vec<KernelError> {
    let mut errors = handles(kernel);
    errors.extend(kernel.monoids.iter().flat_map(monoid));
    if errors.is_empty() {
        let mut check = Check { kernel, errors, free: Vec::new() };
        check.names();
        check.expressions();
        check.axes();
        check.body(&kernel.body, &mut Vec::new());
        check.roles();
        check.asserts();
        errors = check.errors;
    }
    let mut seen = HashSet::new();
    errors.retain(|e| seen.insert(e.clone()));
    errors
}

/// The operands of an expression, in order; of a reduction, its body (the bounds belong to its axes).
pub fn operands(expr: &Expr) -> Vec<ExprId> {
    match expr {
        Expr::F32(_) | Expr::U32(_) | Expr::Bool(_) | Expr::Axis(_) | Expr::Extent(_) | Expr::Scalar(_) => vec![],
        Expr::Part(..) => vec![],
        Expr::Load(_, at) => at.clone(),
        Expr::Unary(_, a) | Expr::Field(a, _) => vec![*a],
        Expr::Binary(_, a, b) | Expr::Element(a, _, b) => vec![*a, *b],
        Expr::Select(c, a, b) => vec![*c, *a, *b],
        Expr::Reduce(r) => r.body.clone(),
    }
}

/// Handles that point nowhere; while there are any, nothing else can be checked.
fn handles(k: &Kernel) -> Vec<KernelError> {
    let mut errors = Vec::new();
    let mut check = |ok: bool, place: &dyn Fn() -> String, what: &'static str| {
        if !ok {
            errors.push(KernelError::BrokenHandle { owner: k.name.clone(), place: place(), what });
        }
    };
    for (i, expr) in k.exprs.iter().enumerate() {
        let place = || format!("expression {i}");
        check(operands(expr).iter().all(|o| (o.0 as usize) < i), &place, "an expression");
        match expr {
            Expr::Axis(a) => check((a.0 as usize) < k.axes.len(), &place, "an axis"),
            Expr::Extent(e) => check((e.0 as usize) < k.extents.len(), &place, "an extent"),
            Expr::Scalar(s) => check((s.0 as usize) < k.scalars.len(), &place, "a scalar"),
            Expr::Load(t, _) => check((t.0 as usize) < k.tensors.len(), &place, "a tensor"),
            Expr::Reduce(r) => {
                check((r.monoid.0 as usize) < k.monoids.len(), &place, "a monoid");
                let axes = std::iter::once(r.axis).chain(r.array);
                check(axes.into_iter().all(|a| (a.0 as usize) < k.axes.len()), &place, "an axis");
            }
            _ => {}
        }
    }
    let known = |id: ExprId| (id.0 as usize) < k.exprs.len();
    check(k.types.len() == k.exprs.len(), &|| "the list of types".into(), "an expression");
    for axis in &k.axes {
        check(known(axis.lo) && known(axis.hi), &|| format!("axis `{}`", axis.name), "an expression");
    }
    for value in &k.lets {
        check(known(value.value), &|| format!("`let {}`", value.name), "an expression");
    }
    for id in &k.asserts {
        check(known(*id), &|| "an assertion".into(), "an expression");
    }
    for tensor in &k.tensors {
        let ok = tensor.dims.iter().all(|d| (d.0 as usize) < k.extents.len());
        check(ok, &|| format!("tensor `{}`", tensor.name), "an extent");
    }
    let mut open: Vec<&Stmt> = k.body.iter().collect();
    while let Some(stmt) = open.pop() {
        match stmt {
            Stmt::For(a, body) => {
                check((a.0 as usize) < k.axes.len(), &|| "a `for`".into(), "an axis");
                open.extend(body);
            }
            Stmt::Store(t, at, value) => {
                check((t.0 as usize) < k.tensors.len(), &|| "a store".into(), "a tensor");
                check(at.iter().chain([value]).all(|id| known(*id)), &|| "a store".into(), "an expression");
            }
        }
    }
    errors
}

struct Check<'k> {
    kernel: &'k Kernel,
    errors: Vec<KernelError>,
    /// The axes that each expression's value depends on.
    free: Vec<BTreeSet<AxisId>>,
}

impl Check<'_> {
    fn names(&mut self) {
        let k = self.kernel;
        let mut all: Vec<(&str, &'static str)> = Vec::new();
        all.extend(k.tensors.iter().map(|t| (t.name.as_str(), "a tensor")));
        all.extend(k.scalars.iter().map(|s| (s.name.as_str(), "a scalar")));
        all.extend(k.axes.iter().map(|a| (a.name.as_str(), "an axis")));
        all.extend(k.lets.iter().map(|l| (l.name.as_str(), "a `let`")));
        let extents = k.extents.iter().map(|e| (e.as_str(), "an extent"));
        for (name, _) in std::iter::once((k.name.as_str(), "")).chain(extents).chain(all.iter().copied()) {
            if !is_name(name) {
                self.errors.push(KernelError::BadName { name: name.into() });
            }
        }
        for (i, (name, second)) in all.iter().enumerate() {
            if let Some((_, first)) = all[..i].iter().find(|other| other.0 == *name) {
                self.errors.push(KernelError::DuplicateName { name: (*name).into(), first, second });
            }
        }
        for tensor in &k.tensors {
            if !(1..=4).contains(&tensor.dims.len()) {
                self.errors.push(KernelError::Rank { tensor: tensor.name.clone(), rank: tensor.dims.len() });
            }
        }
        let stored = k.tensors.iter().map(|t| (&t.name, t.elem)).chain(k.scalars.iter().map(|s| (&s.name, s.ty)));
        for (name, _) in stored.filter(|s| s.1 == Type::Bool) {
            self.errors.push(KernelError::BoolStored { name: name.clone() });
        }
    }

    fn expressions(&mut self) {
        let k = self.kernel;
        for (i, expr) in k.exprs.iter().enumerate() {
            let place = format!("expression {i}");
            for o in operands(expr) {
                if let (Expr::Reduce(r), false) = (k.expr(o), matches!(expr, Expr::Field(..) | Expr::Element(..))) {
                    self.errors.push(KernelError::ReductionAsValue { axis: k.axis(r.axis).name.clone() });
                }
            }
            let found = k.types[i];
            let expected = match expr {
                Expr::F32(_) => Type::F32,
                Expr::U32(_) | Expr::Axis(_) | Expr::Extent(_) => Type::U32,
                Expr::Bool(_) => Type::Bool,
                Expr::Scalar(s) => k.scalars[s.0 as usize].ty,
                Expr::Load(t, at) => {
                    self.access(*t, at);
                    k.tensor(*t).elem
                }
                Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
                    operation(expr, &k.types, &place, &mut self.errors)
                }
                Expr::Reduce(r) => {
                    self.reduce(r);
                    k.monoid(r.monoid).fields.first().map_or(Type::F32, |f| f.ty)
                }
                Expr::Field(of, number) => self.field(*of, *number, false, &place).unwrap_or(found),
                Expr::Element(of, number, at) => {
                    self.expect(*at, Type::U32, || "the index of an array field".into());
                    self.field(*of, *number, true, &place).unwrap_or(found)
                }
                Expr::Part(..) => {
                    self.errors.push(KernelError::PartInKernel { kernel: k.name.clone() });
                    found
                }
            };
            if found != expected {
                self.errors.push(KernelError::TypeMismatch { place, found, expected });
            }
        }
    }

    fn expect(&mut self, id: ExprId, expected: Type, place: impl Fn() -> String) {
        let found = self.kernel.type_of(id);
        if let Expr::Reduce(r) = self.kernel.expr(id) {
            let axis = self.kernel.axis(r.axis).name.clone();
            self.errors.push(KernelError::ReductionAsValue { axis });
        } else if found != expected {
            self.errors.push(KernelError::TypeMismatch { place: place(), found, expected });
        }
    }

    fn access(&mut self, tensor: TensorId, at: &[ExprId]) {
        let t = self.kernel.tensor(tensor);
        if t.dims.len() != at.len() {
            let (expected, found) = (t.dims.len(), at.len());
            self.errors.push(KernelError::IndexCount { tensor: t.name.clone(), expected, found });
        }
        for id in at {
            self.expect(*id, Type::U32, || format!("an index of `{}`", t.name));
        }
    }

    fn reduce(&mut self, r: &Reduce) {
        let m = self.kernel.monoid(r.monoid);
        let axis = &self.kernel.axis(r.axis).name;
        if m.fields.len() != r.body.len() {
            let (expected, found) = (m.fields.len(), r.body.len());
            let (axis, monoid) = (axis.clone(), m.name.clone());
            self.errors.push(KernelError::FieldCount { axis, monoid, expected, found });
        }
        for (f, id) in m.fields.iter().zip(&r.body) {
            self.expect(*id, f.ty, || format!("field `{}` of the reduction along `{axis}`", f.name));
        }
        if m.array.is_some() != r.array.is_some() {
            self.errors.push(KernelError::ArrayExtent { monoid: m.name.clone(), needed: m.array.is_some() });
        }
    }

    fn field(&mut self, of: ExprId, field: usize, array: bool, place: &str) -> Option<Type> {
        let Expr::Reduce(r) = self.kernel.expr(of) else {
            self.errors.push(KernelError::FieldOfValue { place: place.into() });
            return None;
        };
        let m = self.kernel.monoid(r.monoid);
        let found = m.fields.get(field).filter(|f| f.array == array).map(|f| f.ty);
        if found.is_none() {
            self.errors.push(KernelError::NoSuchField { monoid: m.name.clone(), field, array });
        }
        found
    }

    /// Bounds and bindings, and which axes each expression depends on.
    fn axes(&mut self) {
        let k = self.kernel;
        let mut bound = vec![0; k.axes.len()];
        let mut bind = |axis: AxisId, kind: AxisKind| {
            if k.axis(axis).kind == kind {
                bound[axis.0 as usize] += 1;
            }
        };
        let data = data_dependent(k);
        for expr in &k.exprs {
            let mut free = BTreeSet::new();
            for o in operands(expr) {
                free.extend(&self.free[o.0 as usize]);
            }
            match expr {
                Expr::Axis(a) => {
                    free.insert(*a);
                }
                Expr::Reduce(r) => {
                    bind(r.axis, AxisKind::Reduce);
                    free.remove(&r.axis);
                    if let Some(array) = r.array {
                        bind(array, AxisKind::Array);
                        free.remove(&array);
                    }
                    for a in std::iter::once(r.axis).chain(r.array) {
                        for bound in [k.axis(a).lo, k.axis(a).hi] {
                            free.extend(self.free.get(bound.0 as usize).into_iter().flatten());
                        }
                    }
                }
                _ => {}
            }
            self.free.push(free);
        }
        let mut open: Vec<&Stmt> = k.body.iter().collect();
        while let Some(stmt) = open.pop() {
            if let Stmt::For(a, body) = stmt {
                bind(*a, AxisKind::Map);
                open.extend(body);
            }
        }
        for (axis, &count) in k.axes.iter().zip(&bound) {
            if count != 1 {
                let kind = match axis.kind {
                    AxisKind::Map => "`for`",
                    AxisKind::Reduce => "reduction",
                    AxisKind::Array => "array field",
                };
                self.errors.push(KernelError::AxisBinding { axis: axis.name.clone(), count, kind });
            }
            for bound in [axis.lo, axis.hi] {
                self.expect(bound, Type::U32, || format!("a bound of axis `{}`", axis.name));
                if data[bound.0 as usize] {
                    self.errors.push(KernelError::DataBound { axis: axis.name.clone() });
                }
            }
        }
    }

    fn body(&mut self, body: &[Stmt], scope: &mut Vec<AxisId>) {
        let k = self.kernel;
        let stores: Vec<(TensorId, &Vec<ExprId>)> = body
            .iter()
            .filter_map(|s| match s {
                Stmt::Store(t, at, _) => Some((*t, at)),
                Stmt::For(..) => None,
            })
            .collect();
        for stmt in body {
            match stmt {
                Stmt::For(a, inner) => {
                    let axis = k.axis(*a);
                    for bound in [axis.lo, axis.hi] {
                        self.in_scope(bound, scope, || format!("the bounds of `{}`", axis.name));
                    }
                    if inner.is_empty() {
                        self.errors.push(KernelError::EmptyLoop { axis: axis.name.clone() });
                    }
                    scope.push(*a);
                    self.body(inner, scope);
                    scope.pop();
                }
                Stmt::Store(t, at, value) => {
                    let tensor = k.tensor(*t);
                    let name = || format!("the store to `{}`", tensor.name);
                    self.access(*t, at);
                    self.expect(*value, tensor.elem, name);
                    for id in at.iter().chain([value]) {
                        self.in_scope(*id, scope, name);
                        self.own_reads(*id, &stores);
                    }
                }
            }
        }
    }

    fn in_scope(&mut self, id: ExprId, scope: &[AxisId], place: impl Fn() -> String) {
        for axis in &self.free[id.0 as usize] {
            if !scope.contains(axis) {
                let axis = self.kernel.axis(*axis).name.clone();
                self.errors.push(KernelError::AxisOutOfScope { axis, place: place() });
            }
        }
    }

    /// Reads of in-out tensors below an expression are at elements that the body stores to.
    fn own_reads(&mut self, id: ExprId, stores: &[(TensorId, &Vec<ExprId>)]) {
        let k = self.kernel;
        for expr in reachable(k, [id]) {
            if let Expr::Load(t, at) = expr
                && k.tensor(*t).role == Role::InOut
                && !stores.iter().any(|s| s.0 == *t && s.1 == at)
            {
                self.errors.push(KernelError::InOutRead { tensor: k.tensor(*t).name.clone() });
            }
        }
    }

    /// Assertions are about extents alone, so that a shape decides them.
    fn asserts(&mut self) {
        let k = self.kernel;
        for id in &k.asserts {
            self.expect(*id, Type::Bool, || "an assertion".into());
            let fixed = |e: &&Expr| {
                matches!(
                    e,
                    Expr::U32(_) | Expr::Bool(_) | Expr::Extent(_) | Expr::Unary(Unary::Not, _) | Expr::Binary(..)
                )
            };
            if !reachable(k, [*id]).iter().all(fixed) {
                self.errors.push(KernelError::AssertNotExtents { kernel: k.name.clone(), assertion: k.spell(*id) });
            }
        }
    }

    fn roles(&mut self) {
        let k = self.kernel;
        let mut roots = Vec::new();
        let mut written = HashSet::new();
        let mut open: Vec<&Stmt> = k.body.iter().collect();
        while let Some(stmt) = open.pop() {
            match stmt {
                Stmt::For(_, body) => open.extend(body),
                Stmt::Store(t, at, value) => {
                    written.insert(*t);
                    roots.extend(at);
                    roots.push(*value);
                }
            }
        }
        let loads = reachable(k, roots).into_iter().filter_map(|e| match e {
            Expr::Load(t, _) => Some(*t),
            _ => None,
        });
        let read: HashSet<TensorId> = loads.collect();
        for (i, tensor) in k.tensors.iter().enumerate() {
            let id = TensorId(i as u32);
            let (name, read, written) = (tensor.name.clone(), read.contains(&id), written.contains(&id));
            match tensor.role {
                Role::In if written => self.errors.push(KernelError::WriteToInput { tensor: name }),
                Role::In if !read => self.errors.push(KernelError::NeverRead { tensor: name }),
                Role::Out if read => self.errors.push(KernelError::ReadOfOutput { tensor: name }),
                Role::Out | Role::InOut if !written => self.errors.push(KernelError::NeverWritten { tensor: name }),
                _ => {}
            }
        }
    }
}

/// Whether each expression depends on a tensor or a reduction.
fn data_dependent(k: &Kernel) -> Vec<bool> {
    let mut data: Vec<bool> = Vec::new();
    for expr in &k.exprs {
        let own = matches!(expr, Expr::Load(..) | Expr::Reduce(_));
        data.push(own || operands(expr).iter().any(|o| data[o.0 as usize]));
    }
    data
}

/// The expressions that these are made of, themselves included, once each.
fn reachable(k: &Kernel, roots: impl IntoIterator<Item = ExprId>) -> Vec<&Expr> {
    let mut seen = HashSet::new();
    let mut open: Vec<ExprId> = roots.into_iter().collect();
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            let expr = k.expr(id);
            found.push(expr);
            open.extend(operands(expr));
            if let Expr::Reduce(r) = expr {
                open.extend(std::iter::once(r.axis).chain(r.array).flat_map(|a| [k.axis(a).lo, k.axis(a).hi]));
            }
        }
    }
    found
}

fn is_name(name: &str) -> bool {
    name.split('.').all(|part| {
        let mut chars = part.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
