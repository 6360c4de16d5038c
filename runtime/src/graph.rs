//! A plan as data: buffers, and programs applied to them in order.
//!
//! A graph is made once and recorded again for each step, because command buffers of WebGPU are single-use. Everything that
//! changes from step to step is a named run-time parameter; op order, bindings and buffers never change. A buffer is bound
//! whole, and a dispatch that writes a buffer binds it once: WebGPU tracks usage by buffer (section 3.4.3 "Synchronization").

use crate::error::{GraphFault, RuntimeError};
use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_codegen::program::{Count, Program, Shader};
use tilewright_codegen::target::Target;

/// What a buffer is for; memory plans are summed by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// Parameters of the model.
    Weight,
    /// Lives from step to step: the KV cache.
    State,
    /// Lives within a step.
    Activation,
    /// Written by the host before a step.
    Input,
    /// Read by the host after a step.
    Output,
    /// Between the shaders of one program.
    Scratch,
}

/// A buffer to be allocated.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BufferDecl {
    /// Its name in messages and plans.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What it is for.
    pub role: Role,
}

/// Index into [`Graph::buffers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferId(pub usize);

/// Where a program's scalar or run-time extent gets its value.
#[derive(Clone, PartialEq, Debug)]
pub enum ScalarSource {
    /// The step's parameter of this name (a u32, or the bits of an f32).
    Param(String),
    /// A number.
    U32(u32),
    /// A real number.
    F32(f32),
}

/// A program applied to buffers.
#[derive(Clone, PartialEq, Debug)]
pub struct Op {
    /// Its name in plans, profiles and messages; without a layer number, so that equal layers print alike.
    pub label: String,
    /// Ops of equal group that follow each other share a submit under [`Submission::PerLayer`].
    pub group: u32,
    /// What runs.
    pub program: Arc<Program>,
    /// For each tensor of the program, in its order: a buffer for each part.
    pub bindings: Vec<Vec<BufferId>>,
    /// A value for each parameter that the program names.
    pub scalars: Vec<(String, ScalarSource)>,
    /// 32-bit words it reads, as an expression of its scalars; the capacity of what it binds if not given.
    pub reads: Option<Count>,
    /// 32-bit words it writes, likewise.
    pub writes: Option<Count>,
}

/// When recorded commands are handed to the device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Submission {
    /// Each op on its own.
    PerOp {
        /// Whether to wait for each before the next is recorded.
        wait: bool,
    },
    /// Ops of one group together.
    PerLayer,
    /// A whole step together.
    PerToken,
}

/// A plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Graph {
    /// Its buffers.
    pub buffers: Vec<BufferDecl>,
    /// Its ops, in order.
    pub ops: Vec<Op>,
    /// How they are submitted.
    pub submission: Submission,
    /// Most dispatches of one submit: drivers reset a device whose submit runs for seconds. `None`: no bound.
    pub max_dispatches: Option<u32>,
}

/// Bytes to read back at the end of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Read {
    /// From this buffer,
    pub buffer: BufferId,
    /// from this byte (a multiple of 4),
    pub offset: u64,
    /// this many bytes (a multiple of 4).
    pub bytes: u64,
}

/// Run-time parameters of a step by name.
pub type Params = BTreeMap<String, u32>;

impl Graph {
    /// Holds every op against its program, its buffers and the device.
    ///
    /// # Errors
    /// [`RuntimeError::Graph`] with the op's label and the first fault.
    pub fn check(&self, target: &Target) -> Result<(), RuntimeError> {
        self.ops.iter().try_for_each(|op| self.check_op(op, target).map_err(|fault| op.fault(fault)))
    }

    fn check_op(&self, op: &Op, target: &Target) -> Result<(), GraphFault> {
        let program = &op.program;
        if op.bindings.len() != program.tensors.len() {
            let (expected, found) = (program.tensors.len(), op.bindings.len());
            return Err(GraphFault::Bindings { kernel: program.kernel.clone(), expected, found });
        }
        for (tensor, ids) in program.tensors.iter().zip(&op.bindings) {
            let (expected, found) = (tensor.parts.len(), ids.len());
            if expected != found {
                return Err(GraphFault::Parts { tensor: tensor.name.clone(), expected, found });
            }
            for (part, id) in ids.iter().enumerate() {
                let count = self.buffers.len();
                let no_buffer = || GraphFault::NoBuffer { tensor: tensor.name.clone(), id: id.0, count };
                let decl = self.buffers.get(id.0).ok_or_else(no_buffer)?;
                let needed = tensor.part_bytes(part);
                if decl.bytes < needed {
                    let (tensor, buffer) = (tensor.name.clone(), decl.name.clone());
                    return Err(GraphFault::BufferTooSmall { tensor, buffer, needed, found: decl.bytes });
                }
            }
        }
        program.shaders.iter().try_for_each(|shader| self.check_shader(op, shader, target))
    }

    fn check_shader(&self, op: &Op, shader: &Shader, target: &Target) -> Result<(), GraphFault> {
        let bound = op.buffers_of(shader)?;
        let shared: u64 = shader.loops.shared.iter().map(|array| u64::from(array.bytes())).sum();
        let limits = [
            ("max_storage_buffers", bound.len() as u64, target.max_storage_buffers),
            ("max_invocations", u64::from(shader.loops.workgroup), target.max_invocations),
            // wgpu 30 does not hold shaders against this one.
            ("max_workgroup_bytes", shared, target.max_workgroup_bytes),
        ];
        if let Some((limit, found, allowed)) = limits.into_iter().find(|(_, found, limit)| *found > u64::from(*limit)) {
            return Err(GraphFault::OverLimit { limit, found, allowed: u64::from(allowed) });
        }
        if shader.subgroups && target.subgroups.is_none() {
            return Err(GraphFault::NoSubgroups);
        }
        for (i, (id, written)) in bound.iter().enumerate() {
            let twice = bound[..i].iter().find(|(other, other_written)| other == id && (*written || *other_written));
            if twice.is_some() {
                return Err(GraphFault::Aliased { buffer: self.buffers[id.0].name.clone() });
            }
        }
        let fields = shader.loops.params.iter().map(|p| p.name.clone());
        let sizes = shader.dispatch.iter().flat_map(Count::params).map(String::from);
        let given = |name: &String| op.scalars.iter().any(|(n, _)| n == name);
        match fields.chain(sizes).find(|name| !given(name)) {
            Some(name) => Err(GraphFault::NoScalar { name }),
            None => Ok(()),
        }
    }
}

impl Op {
    /// The buffer of each storage binding of a shader of this op, and whether it is written.
    pub(crate) fn buffers_of(&self, shader: &Shader) -> Result<Vec<(BufferId, bool)>, GraphFault> {
        let find = |buffer: &tilewright_codegen::loops::Buffer| {
            let tensor = self.program.tensors.iter().position(|t| t.name == buffer.tensor)?;
            let id = self.bindings.get(tensor)?.get(buffer.part as usize)?;
            Some((*id, buffer.access == tilewright_codegen::loops::Access::ReadWrite))
        };
        let missing =
            |b: &tilewright_codegen::loops::Buffer| GraphFault::NoTensor { tensor: b.tensor.clone(), part: b.part };
        shader.loops.buffers.iter().map(|b| find(b).ok_or_else(|| missing(b))).collect()
    }

    pub(crate) fn fault(&self, fault: GraphFault) -> RuntimeError {
        RuntimeError::Graph { op: self.label.clone(), fault }
    }
}

impl ScalarSource {
    /// The 32-bit word it stands for.
    pub(crate) fn word(&self, params: &Params) -> Result<u32, GraphFault> {
        match self {
            ScalarSource::Param(name) => {
                params.get(name).copied().ok_or_else(|| GraphFault::NoParameter { name: name.clone() })
            }
            ScalarSource::U32(n) => Ok(*n),
            ScalarSource::F32(x) => Ok(x.to_bits()),
        }
    }
}
