//! Makes ops of kernels: picks the tier's schedule, compiles it once for a shape, and gives every tensor its buffers.
//!
//! The rule: a buffer's layout is what the programs that bind it say, and where two say different things that is an error,
//! never a copy. A tier's storage of weights is added to schedules that say nothing of it. All of the user's schedules are
//! held against their kernels, the longest steps and each other, and what is wrong with them is gathered. The order of ops
//! is absent: that is the model's.

mod counts;
mod few;
mod layout;
mod rows;

pub(crate) use counts::times;
use counts::{traffic, words};
use layout::{agree, wish};
pub use rows::Rows;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tilewright_codegen::error::ScheduleError;
use tilewright_codegen::program::{Count, Program, TensorLayout};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, check_step, compile};
use tilewright_dsl::ir::{self, Kernel};
use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_dsl::storage::stride;
use tilewright_runtime::{BufferDecl, BufferId, Graph, Op, Params, Role, ScalarSource};

use super::conflict::{StorageConflict, Use};
use crate::error::ModelError;
use crate::kernels;
use crate::kernels::paged::{PAGE, TABLE, paged};
use crate::qwen2::PAGE_TABLE;
use crate::stores::Stores;
use crate::tiers::Tier;
use crate::tune::site::fingerprint;
use crate::tune::{Key, Phase, Site, Tuned};

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
    /// Its extents but `T`; of those that are scalars as well, the most.
    pub extents: &'c [(&'static str, usize)],
    /// A tensor for each of its parameters, in order.
    pub tensors: &'c [&'c Tensor],
    /// A value for each of its scalars.
    pub scalars: &'c [(&'static str, ScalarSource)],
    /// Rows that are really touched, of tensors whose rows are not the step's own.
    pub touched: &'c [(&'static str, Count)],
}

impl Call<'_> {
    /// Whether a step tells this extent.
    fn at_run_time(&self, extent: &str) -> bool {
        self.scalars.iter().any(|(name, _)| *name == extent)
    }
}

/// Graphs in the making, over one set of buffers.
pub struct Assembly<'a> {
    target: &'a Target,
    tier: &'a Tier,
    overrides: &'a [Schedule],
    tuned: Option<&'a Tuned>,
    stores: Stores,
    head_dim: u32,
    /// How keys and values lie in the cache.
    kv: Storage,
    /// Pages of the pool, and of a sequence, where the cache has pages.
    pages: Option<[u32; 2]>,
    kernels: HashMap<String, Kernel>,
    programs: HashMap<(&'static str, Storage, bool, Shape), Arc<Program>>,
    /// Whether schedules that narrow are passed over.
    plain: bool,
    /// Whether a schedule that narrows was taken.
    narrowed: bool,
    /// Which of the user's schedules are wrong, and how, at the first shape at which they are.
    refused: Vec<(usize, ModelError)>,
    /// Tensors in two layouts, one for each `store` line that is to change.
    conflicts: Vec<StorageConflict>,
    /// The model's weights with the kernels' parameters that they are given to.
    given: BTreeSet<Given>,
    buffers: Vec<BufferDecl>,
    placed: Vec<Placed>,
    by_name: HashMap<String, usize>,
    rows: Rows,
    /// Parameters of the longest steps of the graph in the making.
    steps: Vec<Params>,
    group: u32,
    ops: Vec<Op>,
    sites: Vec<Site>,
    /// Why tuned schedules were passed over.
    passed: Vec<String>,
}

/// A weight of the model, the kernel and parameter that it is given to, and how it is stored for it.
type Given = (String, String, String, Storage);

impl<'a> Assembly<'a> {
    /// Nothing yet; `overrides` take the place of the tier's schedules.
    pub fn new(target: &'a Target, tier: &'a Tier, overrides: &'a [Schedule], head_dim: usize) -> Self {
        Assembly {
            target,
            tier,
            overrides,
            tuned: None,
            stores: Stores::default(),
            head_dim: head_dim as u32,
            kv: Storage::F32,
            pages: None,
            kernels: kernels::all().into_iter().map(|e| (e.kernel.name.clone(), e.kernel)).collect(),
            programs: HashMap::new(),
            plain: false,
            narrowed: false,
            refused: Vec::new(),
            conflicts: Vec::new(),
            given: BTreeSet::new(),
            buffers: Vec::new(),
            placed: Vec::new(),
            by_name: HashMap::new(),
            rows: Rows::One,
            steps: Vec::new(),
            group: 0,
            ops: Vec::new(),
            sites: Vec::new(),
            passed: Vec::new(),
        }
    }

    /// Schedules for sites that take the place of the tier's, but not of the user's.
    #[must_use]
    pub fn tuned(mut self, tuned: Option<&'a Tuned>) -> Self {
        self.tuned = tuned;
        self
    }

    /// How matrices are stored where that is not the tier's to say.
    #[must_use]
    pub fn stores(mut self, stores: Stores) -> Self {
        self.stores = stores;
        self
    }

    /// How tensors that live from step to step are stored, but where the user's schedules say it.
    #[must_use]
    pub fn cached(self, kv: Storage) -> Self {
        Assembly { kv, ..self }
    }

    /// Where schedules are used, each place once, and why tuned ones were passed over.
    pub fn sites(&mut self) -> (Vec<Site>, Vec<String>) {
        (std::mem::take(&mut self.sites), std::mem::take(&mut self.passed))
    }

    /// The tier that ops are made for.
    pub fn tier(&self) -> &'a Tier {
        self.tier
    }

    /// Positions in the step at hand.
    pub fn rows(&self) -> Rows {
        self.rows
    }

    /// Begins a graph for steps of so many positions; `steps` are the parameters of the longest ones, which the user's
    /// schedules must allow.
    pub fn begin(&mut self, rows: Rows, steps: Vec<Params>) {
        (self.rows, self.steps, self.group) = (rows, steps, 0);
        self.ops.clear();
    }

    /// From here on no schedule narrows; whether one did so far. What was compiled for other steps is compiled anew.
    pub fn widen(&mut self) -> bool {
        self.plain = true;
        self.programs.clear();
        self.narrowed
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

    /// Adds an op. What is wrong with the user's schedules is noted for [`Assembly::finish`].
    ///
    /// # Errors
    /// Those of the tier's own schedules.
    pub fn op(&mut self, call: Call) -> Result<(), ModelError> {
        self.with_table(&call, |this, call| this.add(call))
    }

    fn add(&mut self, call: &Call) -> Result<(), ModelError> {
        let program = self.program(call)?;
        let kernel = &self.kernels[call.kernel];
        let (reads, writes) = traffic(kernel, &program, call, self.rows);
        let mut bindings = Vec::with_capacity(call.tensors.len());
        for (tensor, layout) in call.tensors.iter().zip(&program.tensors) {
            bindings.push(self.place(tensor, layout, call.kernel));
        }
        let scalars = self.scalars(call);
        let (label, group) = (call.label.to_string(), self.group);
        self.ops.push(Op { label, group, program, bindings, scalars, reads: Some(reads), writes: Some(writes) });
        Ok(())
    }

    /// Whether one binding holds each of a call's tensors, or several where the kernel can be split by their rows, and the device
    /// has as many. Where the user's schedules are wrong, [`Assembly::op`] is to say so.
    ///
    /// # Errors
    /// Those of the tier's own schedules that are not about bindings.
    pub fn holds(&mut self, call: &Call) -> Result<bool, ModelError> {
        use ScheduleError::{BindingTooLarge, TooManyBuffers};
        let large = |e: &ScheduleError| matches!(e, BindingTooLarge { .. } | TooManyBuffers { .. });
        match self.with_table(call, Self::program) {
            Err(ModelError::Compile(CompileError::Schedule { errors, .. })) if errors.iter().any(large) => Ok(false),
            other => other.map(|_| true),
        }
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

    /// A value for each parameter that the program of a call names.
    fn scalars(&self, call: &Call) -> Vec<(String, ScalarSource)> {
        let mut scalars: Vec<_> = call.scalars.iter().map(|(name, s)| (name.to_string(), s.clone())).collect();
        if let Rows::Chunk(_) = self.rows {
            scalars.push(("T".into(), ScalarSource::Param("T".into())));
        }
        scalars
    }

    fn program(&mut self, call: &Call) -> Result<Arc<Program>, ModelError> {
        let mut shape = match self.rows {
            Rows::One => Shape::new().fixed("T", 1),
            Rows::Few(n) => Shape::new().fixed("T", n),
            Rows::Chunk(capacity) => Shape::new().param("T", capacity),
        };
        for (name, n) in call.extents {
            let n = u32::try_from(*n).unwrap_or(u32::MAX);
            shape = if call.at_run_time(name) { shape.param(name, n) } else { shape.fixed(name, n) };
        }
        let kernel = &self.kernels[call.kernel];
        // What is multiplied with or looked up in is a matrix of the model; elsewhere such a tensor is an activation.
        let weights = (0..kernel.tensors.len() as u32).map(ir::TensorId).filter(|t| {
            let given = call.tensors.get(t.0 as usize).is_some_and(|given| given.role == Role::Weight);
            kernel.tensor(*t).role == ir::Role::In && given
        });
        let weights: Vec<ir::TensorId> = weights.collect();
        let matrices = weights.iter().filter(|t| kernel.tensor(**t).dims.len() == 2);
        let given = matrices.clone().find_map(|t| call.tensors.get(t.0 as usize));
        let matrices: Vec<&String> = matrices.map(|t| &kernel.tensor(*t).name).collect();
        let storage = given.map_or(Storage::F32, |t| self.stores.of(&t.name).unwrap_or(self.tier.weights));
        let kept = kernel.tensors.iter().zip(call.tensors).filter(|(_, given)| given.role == Role::State);
        let kept: Vec<&String> = kept.map(|(tensor, _)| &tensor.name).collect();
        let key = (call.kernel, storage, !weights.is_empty(), shape);
        if let Some(program) = self.programs.get(&key) {
            return Ok(program.clone());
        }
        let stored = |mut schedule: Schedule| {
            if weights.is_empty() {
                // The embedding's text also picks a row of the residual stream, which a kernel writes.
                schedule.stores.retain(|(tensor, _)| tensor != "w");
            }
            let stored = matrices.iter().map(|tensor| (*tensor, storage)).chain(kept.iter().map(|t| (*t, self.kv)));
            for (tensor, storage) in stored {
                if storage != Storage::F32 && !schedule.stores.iter().any(|(known, _)| known == tensor) {
                    schedule.stores.push((tensor.clone(), storage));
                }
            }
            schedule
        };
        if let Rows::Few(rows) = self.rows {
            let program = Arc::new(self.few(kernel, &key.3, storage, (rows, !matrices.is_empty()))?);
            self.programs.insert(key, program.clone());
            return Ok(program);
        }
        let scalars = self.scalars(call);
        let (mut program, mut last) = (None, None);
        let meant = |s: &Schedule| s.kernel == call.kernel && !(self.plain && s.narrows());
        for (i, own) in self.overrides.iter().enumerate().filter(|(_, s)| meant(s)) {
            let narrows = own.narrows();
            let own = stored(own.clone());
            let done = compile(kernel, &own, &key.3, self.target).and_then(|program| {
                let steps = self.steps.iter().map(|step| words(&scalars, step));
                let mut judged = steps.map(|s| check_step(kernel, &own, &key.3, self.target, &program, &s));
                judged.find(Result::is_err).unwrap_or(Ok(())).map(|()| program)
            });
            last = Some((own, done.is_err()));
            match done {
                // The last one counts.
                Ok(done) => program = Some((done, narrows)),
                Err(bug @ CompileError::Bug(_)) => return Err(bug.into()),
                Err(_) if self.refused.iter().any(|r| r.0 == i) => {}
                Err(error) => self.refused.push((i, error.into())),
            }
        }
        let phase = if self.rows.decodes() { Phase::Decode } else { Phase::Prefill };
        let at = Key::new(kernel, phase, &key.3, storage);
        let tuned = self.tuned.and_then(|tuned| tuned.find(&at)).filter(|entry| {
            let narrow = self.plain && entry.schedule.narrows();
            program.is_none() && !narrow
        });
        if let Some(entry) = tuned {
            let done = compile(kernel, &stored(entry.schedule.clone()), &key.3, self.target);
            let why = match done {
                _ if !entry.schedule.stores.is_empty() => {
                    "how tensors are stored is the tier's to say: drop `store`".into()
                }
                Ok(done) if entry.text.is_none_or(|text| text == fingerprint(&done)) => {
                    program = Some((done, entry.schedule.narrows()));
                    String::new()
                }
                Ok(_) => "the compiler makes another text of it than was measured".into(),
                Err(error) => error.to_string().lines().next().unwrap_or_default().to_string(),
            };
            if program.is_none() {
                let start = &entry.schedule.origin.start;
                self.passed.push(format!("{}:{}: `{at}`: {why}", start.file, start.line));
            }
        }
        let (mut program, narrows) = match program {
            Some(program) => program,
            None => self.best(kernel, &stored, &key.3)?,
        };
        self.narrowed |= narrows;
        if let Some((refused, true)) = last {
            wish(&mut program, &refused);
        }
        let program = Arc::new(program);
        let prefill = phase == Phase::Prefill;
        let own = self.overrides.iter().filter(|s| s.kernel == call.kernel).chain(tuned.map(|entry| &entry.schedule));
        let used = own
            .chain(self.tier.schedules(call.kernel, prefill, self.head_dim))
            .find(|s| s.name == program.schedule)
            .cloned();
        self.sites.push(Site {
            key: at,
            kernel: kernel.clone(),
            phase,
            shape: key.3.clone(),
            schedule: stored(used.unwrap_or_else(|| Schedule::empty(call.kernel))),
            program: program.clone(),
            longest: self.steps.iter().map(|step| words(&scalars, step)).collect(),
        });
        self.programs.insert(key, program.clone());
        Ok(program)
    }

    /// Ends planning: the plan, or all that is wrong with the user's schedules and then what ended it.
    ///
    /// # Errors
    /// Those.
    pub fn finish<T>(self, planned: Result<T, ModelError>) -> Result<T, ModelError> {
        let mut errors: Vec<ModelError> = self.refused.into_iter().map(|r| r.1).collect();
        errors.extend(self.conflicts.into_iter().map(|mut conflict| {
            conflict.complete(&self.given);
            Box::new(conflict).into()
        }));
        let planned = planned.map_err(|error| errors.push(error)).ok();
        match (planned, errors.len()) {
            (Some(planned), 0) => Ok(planned),
            (_, 1) => Err(errors.swap_remove(0)),
            _ => Err(ModelError::Several(errors)),
        }
    }

    /// The first of the tier's schedules that the device can run, and whether it narrows; the last one's errors if it can run none.
    fn best(
        &self,
        kernel: &Kernel,
        stored: &dyn Fn(Schedule) -> Schedule,
        shape: &Shape,
    ) -> Result<(Program, bool), CompileError> {
        let own = self.tier.schedules(&kernel.name, !self.rows.decodes(), self.head_dim);
        let own = own.filter(|s| !(self.plain && s.narrows())).cloned();
        let mut tried = None;
        for schedule in own {
            let narrows = schedule.narrows();
            match compile(kernel, &stored(schedule), shape, self.target) {
                Err(error @ CompileError::Schedule { .. }) => tried = Some(error),
                done => return done.map(|program| (program, narrows)),
            }
        }
        match tried {
            Some(error) => Err(error),
            None => compile(kernel, &stored(kernels::usual(&kernel.name)), shape, self.target)
                .map(|program| (program, false)),
        }
    }

    fn place(&mut self, tensor: &Tensor, layout: &TensorLayout, kernel: &str) -> Vec<BufferId> {
        if tensor.role == Role::Weight {
            self.given.insert((tensor.name.clone(), kernel.into(), layout.name.clone(), layout.storage));
        }
        let Some(known) = self.by_name.get(&tensor.name).map(|i| &self.placed[*i]) else {
            return self.declare(tensor, layout, kernel);
        };
        let ids = known.buffers.clone();
        if agree(&known.layout, layout) {
            for (part, id) in ids.iter().enumerate() {
                let decl = &mut self.buffers[id.0];
                decl.bytes = decl.bytes.max(layout.part_bytes(part));
            }
            return ids;
        }
        let uses = [(known.kernel.as_str(), &known.layout), (kernel, layout)]
            .map(|(kernel, layout)| self.wanted(kernel, layout));
        let conflict = StorageConflict { tensor: tensor.name.clone(), uses, also: Vec::new() };
        // One mistake is one error, however many tensors a parameter is given.
        if !self.conflicts.iter().any(|c| c.line() == conflict.line()) {
            self.conflicts.push(conflict);
        }
        ids
    }

    /// A kernel's wish, with the user's schedule where that says it.
    fn wanted(&self, kernel: &str, layout: &TensorLayout) -> Use {
        let own = self.overrides.iter().rev().find(|s| s.kernel == kernel);
        let own = own.filter(|s| s.stores.iter().any(|(tensor, _)| *tensor == layout.name));
        Use { kernel: kernel.into(), layout: layout.clone(), schedule: own.cloned().map(Box::new) }
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
