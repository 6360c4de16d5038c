//! Makes ops of kernels: picks the tier's schedule, compiles it once for a shape, and gives every tensor its buffers.
//!
//! The rule: a buffer's layout is what the programs that bind it say, and where two say different things that is an error,
//! never a copy. A tier's storage of weights is added to schedules that say nothing of it. All of the user's schedules are
//! held against their kernels, and what is wrong with them is gathered. The order of ops is absent: that is the model's.

use std::collections::HashMap;
use std::sync::Arc;

use tilewright_codegen::program::{Count, Program, TensorLayout};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, compile};
use tilewright_dsl::ir::{self, Kernel};
use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_runtime::{BufferDecl, BufferId, Graph, Op, Role, ScalarSource};

use super::conflict::{StorageConflict, Use};
use crate::error::ModelError;
use crate::kernels;
use crate::tiers::Tier;

/// A tensor of the model, by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensor {
    name: String,
    role: Role,
}

/// A tensor's buffers.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Its name.
    pub name: String,
    /// How it lies in them.
    pub layout: TensorLayout,
    /// A buffer a part.
    pub buffers: Vec<BufferId>,
    role: Role,
    kernel: String,
}

/// A kernel applied to tensors.
pub struct Call<'c> {
    /// The op's label, without a layer number.
    pub label: &'c str,
    /// The kernel's name.
    pub kernel: &'static str,
    /// Its extents but `T`.
    pub extents: &'c [(&'static str, usize)],
    /// A tensor for each of its parameters, in order.
    pub tensors: &'c [&'c Tensor],
    /// A value for each of its scalars.
    pub scalars: &'c [(&'static str, ScalarSource)],
    /// Rows that are really touched, of tensors whose rows are not the step's own.
    pub touched: &'c [(&'static str, Count)],
}

/// Positions in a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rows {
    /// One.
    One,
    /// Up to this many; the parameter `T` says how many.
    Chunk(u32),
}

impl Rows {
    /// How many there are, as an expression of the step's parameters.
    pub fn count(self) -> Count {
        match self {
            Rows::One => Count::Const(1),
            Rows::Chunk(_) => Count::Param("T".into()),
        }
    }
}

/// Graphs in the making, over one set of buffers.
pub struct Assembly<'a> {
    target: &'a Target,
    tier: &'a Tier,
    overrides: &'a [Schedule],
    head_dim: u32,
    kernels: HashMap<String, Kernel>,
    programs: HashMap<(&'static str, Storage, bool, Shape), Arc<Program>>,
    /// Which of the user's schedules are wrong, and how, at the first shape at which they are.
    refused: Vec<(usize, ModelError)>,
    buffers: Vec<BufferDecl>,
    placed: Vec<Placed>,
    by_name: HashMap<String, usize>,
    rows: Rows,
    group: u32,
    ops: Vec<Op>,
}

impl<'a> Assembly<'a> {
    /// Nothing yet; `overrides` take the place of the tier's schedules.
    pub fn new(target: &'a Target, tier: &'a Tier, overrides: &'a [Schedule], head_dim: usize) -> Self {
        Assembly {
            target,
            tier,
            overrides,
            head_dim: head_dim as u32,
            kernels: kernels::all().into_iter().map(|e| (e.kernel.name.clone(), e.kernel)).collect(),
            programs: HashMap::new(),
            refused: Vec::new(),
            buffers: Vec::new(),
            placed: Vec::new(),
            by_name: HashMap::new(),
            rows: Rows::One,
            group: 0,
            ops: Vec::new(),
        }
    }

    /// The tier that ops are made for.
    pub fn tier(&self) -> &'a Tier {
        self.tier
    }

    /// Positions in the step at hand.
    pub fn rows(&self) -> Rows {
        self.rows
    }

    /// Begins a graph for steps of so many positions.
    pub fn begin(&mut self, rows: Rows) {
        (self.rows, self.group) = (rows, 0);
        self.ops.clear();
    }

    /// Ops that follow belong to this group of a submission by layers.
    pub fn layer(&mut self, group: u32) {
        self.group = group;
    }

    /// Ends a graph: the ops since [`Assembly::begin`].
    pub fn end(&mut self) -> Vec<Op> {
        std::mem::take(&mut self.ops)
    }

    /// A tensor by name; its buffers are made when an op first uses it.
    pub fn tensor(&self, name: impl Into<String>, role: Role) -> Tensor {
        Tensor { name: name.into(), role }
    }

    /// Adds an op.
    ///
    /// # Errors
    /// The schedule's, or two layouts of one tensor.
    pub fn op(&mut self, call: Call) -> Result<(), ModelError> {
        let program = self.program(&call)?;
        let kernel = &self.kernels[call.kernel];
        let (reads, writes) = traffic(kernel, &program, &call, self.rows);
        let mut bindings = Vec::with_capacity(call.tensors.len());
        for (tensor, layout) in call.tensors.iter().zip(&program.tensors) {
            bindings.push(self.place(tensor, layout, call.kernel)?);
        }
        let mut scalars: Vec<_> = call.scalars.iter().map(|(name, s)| (name.to_string(), s.clone())).collect();
        if let Rows::Chunk(_) = self.rows {
            scalars.push(("T".into(), ScalarSource::Param("T".into())));
        }
        let (label, group) = (call.label.to_string(), self.group);
        self.ops.push(Op { label, group, program, bindings, scalars, reads: Some(reads), writes: Some(writes) });
        Ok(())
    }

    /// The graph of a list of ops, over all buffers.
    pub fn graph(&self, ops: Vec<Op>) -> Graph {
        Graph { buffers: self.buffers.clone(), ops, submission: self.tier.submission, max_dispatches: None }
    }

    /// Where a tensor lies, if an op uses it.
    pub fn find(&self, name: &str) -> Option<&Placed> {
        self.by_name.get(name).map(|i| &self.placed[*i])
    }

    /// Tensors of a role, in the order of their first use.
    pub fn of_role(&self, role: Role) -> Vec<Placed> {
        self.placed.iter().filter(|p| p.role == role).cloned().collect()
    }

    fn program(&mut self, call: &Call) -> Result<Arc<Program>, ModelError> {
        let mut shape = match self.rows {
            Rows::One => Shape::new().fixed("T", 1),
            Rows::Chunk(capacity) => Shape::new().param("T", capacity),
        };
        for (name, n) in call.extents {
            shape = shape.fixed(name, u32::try_from(*n).unwrap_or(u32::MAX));
        }
        let kernel = &self.kernels[call.kernel];
        // The kernels that multiply with or look up in a matrix of the model call it `w`.
        let w =
            kernel.tensor_named("w").filter(|t| call.tensors.get(t.0 as usize).is_some_and(|t| t.role == Role::Weight));
        let matrix = w.is_some_and(|t| kernel.tensor(t).dims.len() == 2);
        let storage = if matrix { self.tier.weights } else { Storage::F32 };
        let key = (call.kernel, storage, w.is_some(), shape);
        if let Some(program) = self.programs.get(&key) {
            return Ok(program.clone());
        }
        let stored = |mut schedule: Schedule| {
            if w.is_none() {
                // The embedding's text also picks a row of the residual stream, which a kernel writes.
                schedule.stores.retain(|(tensor, _)| tensor != "w");
            } else if storage != Storage::F32 && !schedule.stores.iter().any(|(tensor, _)| tensor == "w") {
                schedule.stores.push(("w".into(), storage));
            }
            schedule
        };
        let mut program = None;
        for (i, own) in self.overrides.iter().enumerate().filter(|(_, s)| s.kernel == call.kernel) {
            match compile(kernel, &stored(own.clone()), &key.3, self.target) {
                // The last one counts.
                Ok(done) => program = Some(done),
                Err(bug @ CompileError::Bug(_)) => return Err(bug.into()),
                Err(_) if self.refused.iter().any(|r| r.0 == i) => {}
                Err(error) => self.refused.push((i, error.into())),
            }
        }
        let program = match program {
            Some(program) => program,
            None => compile(kernel, &stored(self.schedule(call.kernel)), &key.3, self.target)?,
        };
        let program = Arc::new(program);
        self.programs.insert(key, program.clone());
        Ok(program)
    }

    /// Ends planning: the plan, or all that is wrong with the user's schedules and then what ended it.
    ///
    /// # Errors
    /// Those.
    pub fn finish<T>(self, planned: Result<T, ModelError>) -> Result<T, ModelError> {
        let mut errors: Vec<ModelError> = self.refused.into_iter().map(|r| r.1).collect();
        let planned = planned.map_err(|error| errors.push(error)).ok();
        match (planned, errors.len()) {
            (Some(planned), 0) => Ok(planned),
            (_, 1) => Err(errors.swap_remove(0)),
            _ => Err(ModelError::Several(errors)),
        }
    }

    /// The tier's own schedule.
    fn schedule(&self, kernel: &str) -> Schedule {
        let prefill = self.rows != Rows::One;
        self.tier.schedule(kernel, prefill, self.head_dim).cloned().unwrap_or_else(|| Schedule::empty(kernel))
    }

    fn place(&mut self, tensor: &Tensor, layout: &TensorLayout, kernel: &str) -> Result<Vec<BufferId>, ModelError> {
        let Some(known) = self.by_name.get(&tensor.name).map(|i| &self.placed[*i]) else {
            return Ok(self.declare(tensor, layout, kernel));
        };
        if !agree(&known.layout, layout) {
            return Err(self.conflict(tensor, known, layout, kernel).into());
        }
        for (part, id) in known.buffers.iter().enumerate() {
            let decl = &mut self.buffers[id.0];
            decl.bytes = decl.bytes.max(layout.part_bytes(part));
        }
        Ok(known.buffers.clone())
    }

    fn conflict(&self, tensor: &Tensor, known: &Placed, layout: &TensorLayout, kernel: &str) -> Box<StorageConflict> {
        let one = Use { kernel: known.kernel.clone(), layout: known.layout.clone() };
        let other = Use { kernel: kernel.into(), layout: layout.clone() };
        let mut conflict = StorageConflict { tensor: tensor.name.clone(), uses: [one, other], schedule: None };
        let line = conflict.narrow().map(|(narrow, _)| (narrow.kernel.clone(), narrow.layout.name.clone()));
        conflict.schedule = line.and_then(|(kernel, parameter)| {
            let own = self.overrides.iter().rev().find(|s| s.kernel == kernel)?;
            own.stores.iter().any(|(tensor, _)| *tensor == parameter).then(|| Box::new(own.clone()))
        });
        Box::new(conflict)
    }

    fn declare(&mut self, tensor: &Tensor, layout: &TensorLayout, kernel: &str) -> Vec<BufferId> {
        let parts = layout.parts.len();
        let mut ids = Vec::with_capacity(parts);
        for part in 0..parts {
            let name = if parts == 1 { tensor.name.clone() } else { format!("{} part {part}", tensor.name) };
            self.buffers.push(BufferDecl { name, bytes: layout.part_bytes(part), role: tensor.role });
            ids.push(BufferId(self.buffers.len() - 1));
        }
        self.by_name.insert(tensor.name.clone(), self.placed.len());
        let (name, layout, kernel, role) = (tensor.name.clone(), layout.clone(), kernel.into(), tensor.role);
        self.placed.push(Placed { name, layout, buffers: ids.clone(), role, kernel });
        ids
    }
}

/// Whether elements lie at the same words: heads side by side are one row.
fn agree(a: &TensorLayout, b: &TensorLayout) -> bool {
    let rows = a.dims.len() == 1 || b.dims.len() == 1 || a.row_bytes() == b.row_bytes();
    let parts = a.parts == b.parts || a.parts.len() + b.parts.len() == 2;
    rows && parts && a.storage == b.storage && a.integer == b.integer
}

/// Words that an op reads and writes, each once.
fn traffic(kernel: &Kernel, program: &Program, call: &Call, rows: Rows) -> (Count, Count) {
    let (mut reads, mut writes) = (Count::Const(0), Count::Const(0));
    for (tensor, layout) in kernel.tensors.iter().zip(&program.tensors) {
        let own = kernel.extents[tensor.dims[0].0 as usize] == "T";
        let touched = call.touched.iter().find(|(name, _)| *name == tensor.name).map(|(_, count)| count.clone());
        let words = match touched.or_else(|| own.then(|| rows.count())) {
            Some(count) if layout.dims.len() == 1 => count,
            Some(count) => times(count, layout.row_bytes() / 4),
            None => times(Count::Const(1), (0..layout.parts.len()).map(|i| layout.part_bytes(i) / 4).sum()),
        };
        if tensor.role != ir::Role::Out {
            reads = plus(reads, words.clone());
        }
        if tensor.role != ir::Role::In {
            writes = plus(writes, words);
        }
    }
    (reads, writes)
}

fn times(count: Count, n: u64) -> Count {
    let n = u32::try_from(n).unwrap_or(u32::MAX);
    match count {
        Count::Const(c) => Count::Const(c.saturating_mul(n)),
        other => Count::Mul(Box::new(other), Box::new(Count::Const(n))),
    }
}

fn plus(a: Count, b: Count) -> Count {
    match (a, b) {
        (Count::Const(a), Count::Const(b)) => Count::Const(a.saturating_add(b)),
        (Count::Const(0), b) => b,
        (a, b) => Count::Add(Box::new(a), Box::new(b)),
    }
}
