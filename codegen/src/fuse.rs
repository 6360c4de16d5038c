//! Fusion by inlining: a producer's value takes the place of the loads of its output.
//!
//! Kernels are pure, so this is substitution and nothing else: the axes of the producer's store become the consumer's
//! indices, and what is left (reductions, lets) is renamed with a prefix: axis `j` of `norm` is `norm.j`. Where the values are
//! computed is decided by the schedule as always: a reduction that depends on `t` alone is computed once a `t`. Inlining that
//! would run a reduction again at every step of another one is refused, unless the steps are the elements that it makes, each
//! wanted once. No fused kernel is written by hand.

mod arena;
mod beside;
mod merge;
mod split;
mod through;

pub use beside::{beside, share};
pub use merge::{factor, merge};
pub use split::split;
pub use through::through;

use std::collections::HashMap;
use thiserror::Error;
use tilewright_dsl::ir::{
    Axis, AxisId, AxisKind, Binary, Expr, ExprId, ExtentId, Kernel, Let, MonoidId, Reduce, Role, Scalar, ScalarId,
    Stmt, Tensor, TensorId, Type,
};

/// Why two kernels cannot be fused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FuseError {
    /// The consumer has no such input.
    #[error("kernel `{consumer}` has no input `{tensor}` to put kernel `{producer}` in the place of; its inputs are {}", inputs.join(", "))]
    NoInput {
        /// Its inputs.
        inputs: Vec<String>,
        /// The consumer.
        consumer: String,
        /// The producer.
        producer: String,
        /// The tensor asked for.
        tensor: String,
    },
    /// The producer is not one store of every element.
    #[error("kernel `{producer}` cannot be inlined: {why}; dispatch it by itself")]
    NotOneStore {
        /// The producer.
        producer: String,
        /// What is in the way.
        why: &'static str,
    },
    /// Ranks differ.
    #[error(
        "kernel `{producer}` makes {made} dimensions, and `{tensor}` of `{consumer}` has {wanted}: it cannot have fewer"
    )]
    Rank {
        /// The consumer.
        consumer: String,
        /// The producer.
        producer: String,
        /// The tensor.
        tensor: String,
        /// Dimensions of the producer's output.
        made: usize,
        /// Dimensions of the input.
        wanted: usize,
    },
    /// A reduction would run again at every step of another.
    #[error(
        "the reduction over `{axis}` would run again for every `{factor}`: store its result in a kernel of its own"
    )]
    RunsAgain {
        /// The producer's axis.
        axis: String,
        /// The consumer's reduction axis.
        factor: String,
    },
    /// A factor cannot leave a sum, or sums cannot share a loop.
    #[error("sums of kernel `{kernel}` cannot be merged: {why}")]
    NotMerged {
        /// The kernel.
        kernel: String,
        /// What is in the way.
        why: String,
    },
    /// A reduction cannot be made in parts.
    #[error("the reduction over `{axis}` of kernel `{kernel}` cannot be split: {why}")]
    NotSplit {
        /// The kernel.
        kernel: String,
        /// The axis asked for.
        axis: String,
        /// What is in the way.
        why: String,
    },
    /// Rows cannot be looked up in a table.
    #[error("rows of kernel `{kernel}` cannot be looked up in a table: {why}")]
    NoTable {
        /// The kernel.
        kernel: String,
        /// What is in the way.
        why: String,
    },
    /// Kernels cannot lie beside each other, or inputs cannot be one.
    #[error("kernel `{kernel}` cannot be put together with others: {why}")]
    NotBeside {
        /// The kernel.
        kernel: String,
        /// What is in the way.
        why: String,
    },
}

/// Puts `producer` in the place of the consumer's input `tensor`; its axes, lets, tensors and scalars get `prefix.`. Where the
/// input has more dimensions than the producer's output, its last ones are one row of it.
/// A producer with a reduction that is loaded at several indices gives as many axes of one name, which `eval` refuses:
/// [`merge`] makes them one.
pub fn fuse(name: &str, consumer: &Kernel, tensor: &str, prefix: &str, producer: &Kernel) -> Result<Kernel, FuseError> {
    let input = consumer.tensor_named(tensor).filter(|t| consumer.tensor(*t).role == Role::In).ok_or_else(|| {
        let inputs = consumer.tensors.iter().filter(|t| t.role == Role::In).map(|t| t.name.clone()).collect();
        FuseError::NoInput {
            inputs,
            consumer: consumer.name.clone(),
            producer: producer.name.clone(),
            tensor: tensor.into(),
        }
    })?;
    let (indices, value) = one_store(producer)?;
    let wanted = consumer.tensor(input).dims.len();
    if indices.len() > wanted || indices.is_empty() {
        return Err(FuseError::Rank {
            consumer: consumer.name.clone(),
            producer: producer.name.clone(),
            tensor: tensor.into(),
            made: indices.len(),
            wanted,
        });
    }
    let mut fuser = Fuser::new(name, consumer, input, prefix, producer, indices, value);
    let body = fuser.body(&consumer.body)?;
    fuser.kernel.body = body;
    for l in &consumer.lets {
        let value = fuser.consume(l.value)?;
        fuser.kernel.lets.push(Let { name: l.name.clone(), value });
    }
    for id in &consumer.asserts {
        let id = fuser.consume(*id)?;
        fuser.kernel.asserts.push(id);
    }
    for id in &producer.asserts {
        let id = fuser.produce(*id, &[])?;
        fuser.kernel.asserts.push(id);
    }
    Ok(arena::compact(&fuser.kernel))
}

/// The axes and the value of a producer's only store.
fn one_store(producer: &Kernel) -> Result<(Vec<AxisId>, ExprId), FuseError> {
    let refuse = |why| FuseError::NotOneStore { producer: producer.name.clone(), why };
    let mut axes = Vec::new();
    let mut body = &producer.body;
    let (tensor, indices, value) = loop {
        match &body[..] {
            [Stmt::For(axis, inner)] => {
                axes.push(*axis);
                body = inner;
            }
            [Stmt::Store(tensor, indices, value)] => break (*tensor, indices, *value),
            _ => return Err(refuse("its body is not one store")),
        }
    };
    if producer.tensor(tensor).role != Role::Out {
        return Err(refuse("it changes a tensor in place"));
    }
    let mut found = Vec::new();
    for (d, index) in indices.iter().enumerate() {
        let Expr::Axis(axis) = producer.expr(*index) else {
            return Err(refuse("it stores at a computed index"));
        };
        let decl = producer.axis(*axis);
        let whole = matches!(producer.expr(decl.lo), Expr::U32(0))
            && *producer.expr(decl.hi) == Expr::Extent(producer.tensor(tensor).dims[d]);
        if !whole || found.contains(axis) {
            return Err(refuse("it does not store every element once"));
        }
        found.push(*axis);
    }
    if found.len() != axes.len() {
        return Err(refuse("it stores an element for several values of an axis"));
    }
    Ok((found, value))
}

/// Whether a load's indices name every axis around it, so that what takes its place runs once a step and never again.
fn once(kernel: &Kernel, load: ExprId, indices: &[ExprId]) -> bool {
    let deps = crate::deps::Deps::new(kernel);
    let named = |axis: AxisId| indices.iter().any(|i| deps.free(*i).has(axis));
    let reduced = kernel.exprs.iter().all(|e| match e {
        Expr::Reduce(r) => {
            let fields = &kernel.monoid(r.monoid).fields;
            let mut inside = r.body.iter().zip(fields).filter(|(body, _)| merge::needs(kernel, **body, load));
            inside.all(|(_, field)| named(r.axis) && (!field.array || r.array.is_none_or(named)))
        }
        _ => true,
    });
    reduced && around(kernel, &kernel.body, load, &mut Vec::new(), &named)
}

/// Whether all axes around the stores that need a load are named.
fn around(
    kernel: &Kernel,
    body: &[Stmt],
    load: ExprId,
    open: &mut Vec<AxisId>,
    named: &dyn Fn(AxisId) -> bool,
) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::For(axis, inner) => {
            open.push(*axis);
            let all = around(kernel, inner, load, open, named);
            open.pop();
            all
        }
        Stmt::Store(_, indices, value) => {
            let needed = indices.iter().chain([value]).any(|e| merge::needs(kernel, *e, load));
            !needed || open.iter().all(|axis| named(*axis))
        }
    })
}

struct Fuser<'k> {
    kernel: Kernel,
    consumer: &'k Kernel,
    producer: &'k Kernel,
    input: TensorId,
    prefix: &'k str,
    /// The axes of the producer's store.
    stored: Vec<AxisId>,
    value: ExprId,
    known: HashMap<Expr, ExprId>,
    consumed: HashMap<ExprId, ExprId>,
    /// New handles of the consumer's and the producer's things.
    tensors: [Vec<Option<TensorId>>; 2],
    scalars: [Vec<ScalarId>; 2],
    extents: [Vec<ExtentId>; 2],
    axes: HashMap<(usize, AxisId, Vec<ExprId>), AxisId>,
    /// The producer's reduction axes that are open, as the new kernel's.
    open: HashMap<AxisId, AxisId>,
    /// Whether the load at hand has another index in every iteration around it.
    once: bool,
    monoids: [Vec<MonoidId>; 2],
}

const CONSUMER: usize = 0;
const PRODUCER: usize = 1;

impl<'k> Fuser<'k> {
    fn new(
        name: &str,
        consumer: &'k Kernel,
        input: TensorId,
        prefix: &'k str,
        producer: &'k Kernel,
        stored: Vec<AxisId>,
        value: ExprId,
    ) -> Self {
        let mut kernel = Kernel {
            name: name.into(),
            doc: format!("{} with {} inside.", consumer.name, producer.name),
            extents: consumer.extents.clone(),
            tensors: vec![],
            scalars: vec![],
            axes: vec![],
            monoids: vec![],
            lets: vec![],
            exprs: vec![],
            types: vec![],
            asserts: vec![],
            body: vec![],
        };
        let own: Vec<ExtentId> = (0..consumer.extents.len() as u32).map(ExtentId).collect();
        // The producer's output has the shape of the input that it replaces.
        let output = producer.tensors.iter().find(|t| t.role == Role::Out).map(|t| t.dims.clone()).unwrap_or_default();
        let wanted = &consumer.tensor(input).dims;
        let theirs: Vec<ExtentId> = (0..producer.extents.len() as u32)
            .map(|e| match output.iter().position(|d| d.0 == e) {
                // A row of several dimensions has an extent of its own.
                Some(d) if d + 1 < output.len() || output.len() == wanted.len() => wanted[d],
                _ => {
                    let wish = &producer.extents[e as usize];
                    let taken = kernel.extents.contains(wish);
                    kernel.extents.push(if taken { format!("{prefix}.{wish}") } else { wish.clone() });
                    ExtentId(kernel.extents.len() as u32 - 1)
                }
            })
            .collect();
        let mut tensors = [vec![None; consumer.tensors.len()], vec![None; producer.tensors.len()]];
        let mut scalars = [vec![], vec![]];
        for (side, from) in [(CONSUMER, consumer), (PRODUCER, producer)] {
            let extents = if side == CONSUMER { &own } else { &theirs };
            let full = |n: &str| if side == CONSUMER { n.to_string() } else { format!("{prefix}.{n}") };
            for (i, t) in from.tensors.iter().enumerate() {
                let gone = if side == CONSUMER { i as u32 == input.0 } else { t.role != Role::In };
                if gone {
                    continue;
                }
                let dims = t.dims.iter().map(|d| extents[d.0 as usize]).collect();
                kernel.tensors.push(Tensor { name: full(&t.name), role: t.role, elem: t.elem, dims });
                tensors[side][i] = Some(TensorId(kernel.tensors.len() as u32 - 1));
            }
            for s in &from.scalars {
                kernel.scalars.push(Scalar { name: full(&s.name), ty: s.ty });
                scalars[side].push(ScalarId(kernel.scalars.len() as u32 - 1));
            }
        }
        let mut monoids = [vec![], vec![]];
        for (side, from) in [(CONSUMER, consumer), (PRODUCER, producer)] {
            for m in &from.monoids {
                let at = kernel.monoids.iter().position(|n| n == m).unwrap_or_else(|| {
                    kernel.monoids.push(m.clone());
                    kernel.monoids.len() - 1
                });
                monoids[side].push(MonoidId(at as u32));
            }
        }
        Fuser {
            kernel,
            consumer,
            producer,
            input,
            prefix,
            stored,
            value,
            known: HashMap::new(),
            consumed: HashMap::new(),
            tensors,
            scalars,
            extents: [own, theirs],
            axes: HashMap::new(),
            open: HashMap::new(),
            once: false,
            monoids,
        }
    }

    fn body(&mut self, body: &[Stmt]) -> Result<Vec<Stmt>, FuseError> {
        let mut out = Vec::new();
        for stmt in body {
            out.push(match stmt {
                Stmt::For(axis, inner) => {
                    let axis = self.axis(CONSUMER, *axis, &[])?;
                    Stmt::For(axis, self.body(inner)?)
                }
                Stmt::Store(tensor, indices, value) => {
                    let indices = indices.iter().map(|i| self.consume(*i)).collect::<Result<_, _>>()?;
                    let value = self.consume(*value)?;
                    Stmt::Store(self.tensors[CONSUMER][tensor.0 as usize].unwrap_or(TensorId(0)), indices, value)
                }
            });
        }
        Ok(out)
    }

    /// An expression of the consumer.
    fn consume(&mut self, id: ExprId) -> Result<ExprId, FuseError> {
        if let Some(done) = self.consumed.get(&id) {
            return Ok(*done);
        }
        let new = match self.consumer.expr(id) {
            Expr::Load(tensor, indices) if *tensor == self.input => {
                let mut at = indices.iter().map(|i| self.consume(*i)).collect::<Result<Vec<_>, _>>()?;
                let rows = at.split_off(self.stored.len() - 1);
                let sizes = &self.consumer.tensor(*tensor).dims[self.stored.len() - 1..];
                let place = |this: &mut Self, place: Option<ExprId>, (index, size): (&ExprId, &ExtentId)| {
                    let Some(place) = place else { return Some(*index) };
                    let size = this.intern(Expr::Extent(this.extents[CONSUMER][size.0 as usize]), Type::U32);
                    let first = this.intern(Expr::Binary(Binary::Mul, place, size), Type::U32);
                    Some(this.intern(Expr::Binary(Binary::Add, first, *index), Type::U32))
                };
                at.extend(rows.iter().zip(sizes).fold(None, |at, step| place(self, at, step)));
                self.once = once(self.consumer, id, indices);
                self.produce(self.value, &at)?
            }
            expr => self.copy(CONSUMER, expr, self.consumer.type_of(id), &[])?,
        };
        self.consumed.insert(id, new);
        Ok(new)
    }

    /// An expression of the producer, whose stored axes have the values `at`.
    fn produce(&mut self, id: ExprId, at: &[ExprId]) -> Result<ExprId, FuseError> {
        let expr = self.producer.expr(id);
        if let Expr::Axis(axis) = expr
            && let Some(d) = self.stored.iter().position(|a| a == axis)
        {
            return Ok(at[d]);
        }
        if let Expr::Reduce(reduce) = expr {
            self.runs_once(reduce, id, at)?;
        }
        // What a reduction does not depend on must not make it another one.
        let free = crate::deps::Deps::new(self.producer).free(id);
        let zero = self.intern(Expr::U32(0), Type::U32);
        let at: Vec<ExprId> =
            self.stored.iter().zip(at).map(|(axis, value)| if free.has(*axis) { *value } else { zero }).collect();
        let new = self.copy(PRODUCER, expr, self.producer.type_of(id), &at)?;
        if let Some(l) = self.producer.lets.iter().find(|l| l.value == id) {
            let name = format!("{}.{}", self.prefix, l.name);
            if !self.kernel.lets.iter().any(|l| l.name == name) {
                self.kernel.lets.push(Let { name, value: new });
            }
        }
        Ok(new)
    }

    fn runs_once(&self, reduce: &Reduce, id: ExprId, at: &[ExprId]) -> Result<(), FuseError> {
        if self.once {
            return Ok(());
        }
        let free = crate::deps::Deps::new(self.producer).free(id);
        let facts = crate::deps::Deps::new(&self.kernel);
        for (axis, value) in self.stored.iter().zip(at) {
            if !free.has(*axis) {
                continue;
            }
            let inner = facts.free(*value);
            let factor = (0..self.kernel.axes.len() as u32)
                .map(AxisId)
                .find(|a| inner.has(*a) && self.kernel.axis(*a).kind == AxisKind::Reduce);
            if let Some(factor) = factor {
                return Err(FuseError::RunsAgain {
                    axis: format!("{}.{}", self.prefix, self.producer.axis(reduce.axis).name),
                    factor: self.kernel.axis(factor).name.clone(),
                });
            }
        }
        Ok(())
    }

    fn operand(&mut self, side: usize, id: ExprId, at: &[ExprId]) -> Result<ExprId, FuseError> {
        if side == CONSUMER { self.consume(id) } else { self.produce(id, at) }
    }

    fn axis(&mut self, side: usize, id: AxisId, at: &[ExprId]) -> Result<AxisId, FuseError> {
        let key = (side, id, at.to_vec());
        if let Some(done) = self.axes.get(&key) {
            return Ok(*done);
        }
        let decl = if side == CONSUMER { self.consumer.axis(id) } else { self.producer.axis(id) }.clone();
        let lo = self.operand(side, decl.lo, at)?;
        let hi = self.operand(side, decl.hi, at)?;
        let name = if side == CONSUMER { decl.name } else { format!("{}.{}", self.prefix, decl.name) };
        self.kernel.axes.push(Axis { name, kind: decl.kind, lo, hi });
        let new = AxisId(self.kernel.axes.len() as u32 - 1);
        self.axes.insert(key, new);
        Ok(new)
    }

    fn copy(&mut self, side: usize, expr: &Expr, ty: Type, at: &[ExprId]) -> Result<ExprId, FuseError> {
        let of = |this: &mut Self, id: &ExprId| this.operand(side, *id, at);
        let new = match expr {
            Expr::F32(_) | Expr::U32(_) | Expr::Bool(_) | Expr::Part(..) => expr.clone(),
            Expr::Axis(a) => match self.open.get(a).filter(|_| side == PRODUCER) {
                Some(open) => Expr::Axis(*open),
                None => Expr::Axis(self.axis(side, *a, at)?),
            },
            Expr::Extent(e) => Expr::Extent(self.extents[side][e.0 as usize]),
            Expr::Scalar(s) => Expr::Scalar(self.scalars[side][s.0 as usize]),
            Expr::Load(t, indices) => {
                let indices = indices.iter().map(|i| of(self, i)).collect::<Result<_, _>>()?;
                Expr::Load(self.tensors[side][t.0 as usize].unwrap_or(TensorId(0)), indices)
            }
            Expr::Unary(op, a) => Expr::Unary(*op, of(self, a)?),
            Expr::Binary(op, a, b) => Expr::Binary(*op, of(self, a)?, of(self, b)?),
            Expr::Select(c, a, b) => Expr::Select(of(self, c)?, of(self, a)?, of(self, b)?),
            Expr::Field(r, f) => Expr::Field(of(self, r)?, *f),
            Expr::Element(r, f, i) => Expr::Element(of(self, r)?, *f, of(self, i)?),
            Expr::Reduce(r) => {
                let axis = self.axis(side, r.axis, at)?;
                let array = r.array.map(|a| self.axis(side, a, at)).transpose()?;
                if side == PRODUCER {
                    self.open.insert(r.axis, axis);
                    self.open.extend(r.array.zip(array));
                }
                let body = r.body.iter().map(|b| self.operand(side, *b, at)).collect::<Result<_, _>>()?;
                Expr::Reduce(Reduce { monoid: self.monoids[side][r.monoid.0 as usize], axis, array, body })
            }
        };
        Ok(self.intern(new, ty))
    }

    fn intern(&mut self, expr: Expr, ty: Type) -> ExprId {
        if let Some(id) = self.known.get(&expr) {
            return *id;
        }
        self.kernel.exprs.push(expr.clone());
        self.kernel.types.push(ty);
        let id = ExprId(self.kernel.exprs.len() as u32 - 1);
        self.known.insert(expr, id);
        id
    }
}
