//! The invariants of the kernel IR, and what is wrong where one does not hold.
//!
//! A checked kernel has: operands earlier in the arena than their users; the types that [`Expr`] says; as many indices as
//! dimensions (1 to 4); unique names; every axis bound by exactly one `for`, reduction or array, and used inside it alone;
//! bounds made from constants, extents, scalars and enclosing axes; reductions read through their fields only; inputs read
//! and never written, outputs written and never read; of an in-out tensor only those elements read that the same body
//! writes. All errors come at once, except that broken handles hide the rest. Whether two iterations write one element
//! is deliberately absent: code generation proves it.

use std::collections::{BTreeSet, HashSet};

use crate::ir::*;

/// What is wrong with a kernel or a monoid: its author's mistake.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum KernelError {
    /// A name that schedules could not spell.
    #[error("`{name}` is not a name: use letters, digits and `_`, parts joined by `.`")]
    BadName {
        /// The name.
        name: String,
    },
    /// Two tensors, scalars, axes or values of one name.
    #[error("the name `{name}` is given to {first} and to {second}: schedules could not tell them apart; rename one")]
    DuplicateName {
        /// The name.
        name: String,
        /// What has it first.
        first: &'static str,
        /// What has it next.
        second: &'static str,
    },
    /// A tensor without dimensions or with too many.
    #[error("tensor `{tensor}` has {rank} dimensions; 1 to 4 are possible")]
    Rank {
        /// The tensor.
        tensor: String,
        /// Its dimensions.
        rank: usize,
    },
    /// More or fewer indices than dimensions.
    #[error("tensor `{tensor}` has {expected} dimensions, but {found} indices are given")]
    IndexCount {
        /// The tensor.
        tensor: String,
        /// Its dimensions.
        expected: usize,
        /// The indices.
        found: usize,
    },
    /// A value of the wrong type.
    #[error("{place} is {found}; {expected} is needed there: convert with `as`")]
    TypeMismatch {
        /// Where.
        place: String,
        /// What is there.
        found: Type,
        /// What may be there.
        expected: Type,
    },
    /// An element type that cannot be stored.
    #[error("`{name}` is of type bool; tensors, scalars and fields are f32 or u32")]
    BoolStored {
        /// The tensor, scalar or field.
        name: String,
    },
    /// A load from an `Out`.
    #[error("tensor `{tensor}` is an `Out` and is read: declare it `InOut`, or name the value with `let` and use that")]
    ReadOfOutput {
        /// The tensor.
        tensor: String,
    },
    /// A store to a `Tensor`.
    #[error("tensor `{tensor}` is an input and is written: declare it `Out` or `InOut`")]
    WriteToInput {
        /// The tensor.
        tensor: String,
    },
    /// An `Out` or `InOut` without a store.
    #[error("tensor `{tensor}` is never written: store to it, or declare it `Tensor`")]
    NeverWritten {
        /// The tensor.
        tensor: String,
    },
    /// An input that nothing uses.
    #[error("tensor `{tensor}` is never read: remove the parameter")]
    NeverRead {
        /// The tensor.
        tensor: String,
    },
    /// A load from an `InOut` of an element that the body does not store to.
    #[error(
        "tensor `{tensor}` is read at an element that the same body does not write: an `InOut` may only be read where \
         it is written; use a `Tensor` for the old values and an `Out` for the new"
    )]
    InOutRead {
        /// The tensor.
        tensor: String,
    },
    /// A `for` without a store in it.
    #[error("the body of `for {axis}` stores nothing: store to an `Out`, or remove the loop")]
    EmptyLoop {
        /// The axis.
        axis: String,
    },
    /// An axis used where it has no value.
    #[error("axis `{axis}` is used outside its loop, in {place}: move the use inside")]
    AxisOutOfScope {
        /// The axis.
        axis: String,
        /// Where it is used.
        place: String,
    },
    /// An axis that not exactly one `for`, reduction or array binds, or one of another kind.
    #[error(
        "axis `{axis}` is bound {count} times as {kind}; exactly one `for`, reduction or array field binds an axis"
    )]
    AxisBinding {
        /// The axis.
        axis: String,
        /// How often.
        count: usize,
        /// What it was declared as.
        kind: &'static str,
    },
    /// A bound that depends on data.
    #[error(
        "the bounds of axis `{axis}` use a tensor or a reduction: only constants, extents, u32 scalars and enclosing axes \
         may bound an axis"
    )]
    DataBound {
        /// The axis.
        axis: String,
    },
    /// A reduction that does not fit its monoid.
    #[error("the reduction along `{axis}` gives {found} fields; monoid `{monoid}` has {expected}")]
    FieldCount {
        /// The reduction's axis.
        axis: String,
        /// The monoid.
        monoid: String,
        /// Its fields.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// Array fields without an array axis, or the reverse.
    #[error(
        "monoid `{monoid}` {}: give the extent of the array exactly where the monoid has array fields",
        if *.needed { "has array fields, but the reduction has no extent for them" } else { "has no array fields" }
    )]
    ArrayExtent {
        /// The monoid.
        monoid: String,
        /// Whether one is needed.
        needed: bool,
    },
    /// A scalar field read as an array, or the reverse, or a field that is not there.
    #[error("monoid `{monoid}` has no {} number {field}", if *.array { "array field" } else { "scalar field" })]
    NoSuchField {
        /// The monoid.
        monoid: String,
        /// The field's number.
        field: usize,
        /// What was asked for.
        array: bool,
    },
    /// A reduction used as a value.
    #[error("the reduction along `{axis}` is used as a value: read one of its fields")]
    ReductionAsValue {
        /// The reduction's axis.
        axis: String,
    },
    /// A field or element of something that is not a reduction.
    #[error("{place} reads a field of something that is not a reduction")]
    FieldOfValue {
        /// Where.
        place: String,
    },
    /// An array contribution indexed before it is reduced.
    #[error("an array contribution is indexed inside its own reduction: use the value itself")]
    ContributionIndexed,
    /// An expression that may not stand there.
    #[error("monoid `{monoid}`: {found} in {place}; a monoid is made of constants, operators and its operands' fields")]
    NotInMonoid {
        /// The monoid.
        monoid: String,
        /// What stands there.
        found: &'static str,
        /// Where.
        place: String,
    },
    /// A scalar field that depends on an element of an array field.
    #[error("monoid `{monoid}`: scalar field `{field}` uses an element of an array field")]
    ScalarFromArray {
        /// The monoid.
        monoid: String,
        /// The scalar field.
        field: String,
    },
    /// An operand of a merge outside one.
    #[error("an operand of a merge stands in kernel `{kernel}`: it has a meaning in a monoid alone")]
    PartInKernel {
        /// The kernel.
        kernel: String,
    },
    /// A handle that points nowhere or forward: values of two builders were mixed.
    #[error("{place} refers to {what} that is not (yet) in `{owner}`: values of two builders do not mix")]
    BrokenHandle {
        /// The kernel or monoid.
        owner: String,
        /// Where the handle stands.
        place: String,
        /// What it should point to.
        what: &'static str,
    },
}

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
        errors = check.errors;
    }
    let mut seen = HashSet::new();
    errors.retain(|e| seen.insert(e.clone()));
    errors
}

/// Everything that is wrong with a monoid; nothing for a well-formed one.
pub fn monoid(monoid: &Monoid) -> Vec<KernelError> {
    let name = || monoid.name.clone();
    let field = |i: usize| monoid.fields.get(i);
    let mut errors = Vec::new();
    let mut types: Vec<Type> = Vec::new();
    let mut from_array = vec![];
    for (i, expr) in monoid.exprs.iter().enumerate() {
        let place = format!("expression {i}");
        if operands(expr).iter().any(|o| o.0 as usize >= i) {
            return vec![KernelError::BrokenHandle { owner: name(), place, what: "an expression" }];
        }
        from_array.push(match expr {
            Expr::Part(_, f) => field(*f).is_some_and(|f| f.array),
            _ => operands(expr).iter().any(|o| from_array[o.0 as usize]),
        });
        types.push(match expr {
            Expr::F32(_) => Type::F32,
            Expr::U32(_) => Type::U32,
            Expr::Bool(_) => Type::Bool,
            Expr::Part(_, f) => match field(*f) {
                Some(f) => f.ty,
                None => return vec![KernelError::NoSuchField { monoid: name(), field: *f, array: false }],
            },
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => operation(expr, &types, &place, &mut errors),
            other => {
                return vec![KernelError::NotInMonoid { monoid: name(), found: noun(other), place }];
            }
        });
    }
    for (list, what) in [(&monoid.identity, "the identity"), (&monoid.merge, "the merge")] {
        if list.len() != monoid.fields.len() {
            let (expected, found) = (monoid.fields.len(), list.len());
            errors.push(KernelError::FieldCount { axis: what.into(), monoid: name(), expected, found });
        }
        for (f, id) in monoid.fields.iter().zip(list) {
            let place = format!("{what} of field `{}`", f.name);
            match types.get(id.0 as usize) {
                None => errors.push(KernelError::BrokenHandle { owner: name(), place, what: "an expression" }),
                Some(&found) if found != f.ty => {
                    errors.push(KernelError::TypeMismatch { place, found, expected: f.ty })
                }
                Some(_) if from_array[id.0 as usize] && !f.array => {
                    errors.push(KernelError::ScalarFromArray { monoid: name(), field: f.name.clone() })
                }
                Some(_) => {}
            }
        }
    }
    for f in monoid.fields.iter().filter(|f| f.ty == Type::Bool) {
        errors.push(KernelError::BoolStored { name: f.name.clone() });
    }
    let needed = monoid.fields.iter().any(|f| f.array);
    if needed != monoid.array.is_some() {
        errors.push(KernelError::ArrayExtent { monoid: name(), needed });
    }
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

/// The type of an operator, function or select; a mismatch is reported and the likely type given.
fn operation(expr: &Expr, types: &[Type], place: &str, errors: &mut Vec<KernelError>) -> Type {
    use Type::{Bool, F32, U32};
    let ty = |id: &ExprId| types[id.0 as usize];
    let mut expect = |found: Type, expected: Type, what: &str| {
        if found != expected {
            errors.push(KernelError::TypeMismatch { place: format!("{what} ({place})"), found, expected });
        }
    };
    match expr {
        Expr::Unary(op, a) => match op {
            Unary::Not => {
                expect(ty(a), Bool, "the operand of `!`");
                Bool
            }
            Unary::Bits => {
                expect(ty(a), F32, "the operand of `bits`");
                U32
            }
            Unary::ToF32 | Unary::ToU32 => {
                if ty(a) == Bool {
                    expect(Bool, U32, "the operand of `as`");
                }
                if *op == Unary::ToF32 { F32 } else { U32 }
            }
            _ => {
                expect(ty(a), F32, &format!("the operand of {op:?}"));
                F32
            }
        },
        Expr::Binary(op, a, b) => {
            let first = ty(a);
            let right = format!("the right side of {op:?}");
            let left = format!("the left side of {op:?}");
            match op {
                Binary::Rem | Binary::Xor | Binary::Shl | Binary::Shr => {
                    expect(first, U32, &left);
                    expect(ty(b), U32, &right);
                    U32
                }
                Binary::And | Binary::Or => {
                    let wanted = if first == F32 { U32 } else { first };
                    expect(first, wanted, &left);
                    expect(ty(b), wanted, &right);
                    wanted
                }
                _ => {
                    if first == Bool {
                        expect(first, U32, &left);
                    } else {
                        expect(ty(b), first, &right);
                    }
                    let compares =
                        matches!(op, Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge);
                    if compares { Bool } else { first }
                }
            }
        }
        Expr::Select(c, a, b) => {
            expect(ty(c), Bool, "the condition of `if`");
            expect(ty(b), ty(a), "the `else` value");
            ty(a)
        }
        _ => U32,
    }
}

fn noun(expr: &Expr) -> &'static str {
    match expr {
        Expr::Axis(_) => "an axis",
        Expr::Extent(_) => "an extent",
        Expr::Scalar(_) => "a scalar parameter",
        Expr::Load(..) => "a load",
        Expr::Reduce(_) | Expr::Field(..) | Expr::Element(..) => "a reduction",
        Expr::Part(..) => "an operand of a merge",
        Expr::F32(_) | Expr::U32(_) | Expr::Bool(_) => "a constant",
        Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => "an operator",
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
