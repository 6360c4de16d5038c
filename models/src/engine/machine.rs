//! What runs a plan: a GPU, or the interpreter on buffers of the host.
//!
//! The rule: both run the same graphs and know nothing of a model. Whoever calls writes inputs, runs a stage, and gets the
//! bytes that it asked for.

use std::sync::Arc;

use tilewright_runtime::plan::Counters;
use tilewright_runtime::{
    BufferDecl, BufferId, Buffers, Device, Executor, Graph, Params, Pending, Profile, Read, copy_bandwidth,
};

use super::Progress;
use super::interp::Interpreter;
use super::plan::{Plan, Stage};
use crate::error::ModelError;
use crate::upload::Sink;

/// Runs a plan's graphs.
pub enum Machine {
    /// On a device.
    Gpu(Box<Gpu>),
    /// On the processor, statement by statement.
    Cpu(Box<Interpreter>),
}

/// A device with a plan's buffers and graphs.
pub struct Gpu {
    device: Device,
    buffers: Arc<Buffers>,
    stages: Vec<Executor>,
    /// Steps of a few positions.
    few: Vec<Executor>,
    /// The last step of one position.
    last: Stage,
    profile: Option<(Profile, f64)>,
}

/// A step that was handed to the device and not waited for.
pub struct Begun {
    stage: Stage,
    pending: Pending,
}

impl Gpu {
    fn new(
        device: Device,
        plan: &Plan,
        profile: bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Self, ModelError> {
        let buffers = Arc::new(Buffers::allocate(&device, plan.buffers())?);
        let few = plan.verify.iter().flat_map(|verify| &verify.graphs);
        let all: Vec<&Graph> = plan.graphs.iter().chain(few.clone()).collect();
        device.compile(&all, &mut |shader| progress(Progress::Compiling(shader)))?;
        let make = |graph: &Graph| Executor::new(&device, graph.clone(), Arc::clone(&buffers));
        let stages = plan.graphs.iter().map(make).collect::<Result<_, _>>()?;
        let few = few.map(make).collect::<Result<_, _>>()?;
        let profile = match profile && device.timestamps() {
            true => Some((Profile::default(), copy_bandwidth(&device)?)),
            false => None,
        };
        Ok(Gpu { device, buffers, stages, few, last: Stage::Decode, profile })
    }
}

impl Machine {
    /// Allocates a plan's buffers and makes its pipelines, of which `progress` hears; on the host without a device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        device: Option<&Device>,
        plan: &Plan,
        profile: bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Self, ModelError> {
        Ok(match device {
            Some(device) => Machine::Gpu(Box::new(Gpu::new(device.clone(), plan, profile, progress)?)),
            None => Machine::Cpu(Box::new(Interpreter::new(plan))),
        })
    }

    /// Lets `fill` send many bytes.
    ///
    /// # Errors
    /// Those of `fill` and of the device.
    pub fn fill(&mut self, fill: &mut dyn FnMut(&mut Sink) -> Result<(), ModelError>) -> Result<(), ModelError> {
        match self {
            Machine::Gpu(gpu) => {
                let mut uploader = gpu.buffers.uploader();
                fill(&mut |id, offset, bytes| Ok(uploader.write(id, offset, bytes)?))?;
                Ok(uploader.finish()?)
            }
            Machine::Cpu(cpu) => fill(&mut |id, offset, bytes| {
                cpu.write(id, offset, bytes);
                Ok(())
            }),
        }
    }

    /// Writes a step's inputs.
    ///
    /// # Errors
    /// Those of the device.
    pub fn write(&mut self, id: BufferId, words: &[u32]) -> Result<(), ModelError> {
        let bytes = bytemuck::cast_slice(words);
        match self {
            Machine::Gpu(gpu) => gpu.buffers.write(id, 0, bytes)?,
            Machine::Cpu(cpu) => cpu.write(id, 0, bytes),
        }
        Ok(())
    }

    /// Runs a stage and returns the bytes of each read.
    ///
    /// # Errors
    /// Those of the device, or a fault that the interpreter finds.
    pub fn step(&mut self, stage: Stage, params: &Params, reads: &[Read]) -> Result<Vec<Vec<u8>>, ModelError> {
        match self {
            Machine::Gpu(gpu) => {
                let executor = &mut gpu.stages[stage as usize];
                if stage.decodes() {
                    gpu.last = stage;
                }
                Ok(match &mut gpu.profile {
                    Some((profile, _)) if stage.decodes() => executor.profiled_step(params, reads, profile)?,
                    _ => executor.step(params, reads)?,
                })
            }
            Machine::Cpu(cpu) => cpu.step(stage, params, reads),
        }
    }

    /// Runs a step of a few positions, by the graph for a long cache or for a short one.
    ///
    /// # Errors
    /// Those of the device, or a fault that the interpreter finds.
    pub fn few(&mut self, far: bool, params: &Params, reads: &[Read]) -> Result<Vec<Vec<u8>>, ModelError> {
        match self {
            Machine::Gpu(gpu) => Ok(gpu.few[usize::from(far)].step(params, reads)?),
            Machine::Cpu(cpu) => cpu.few(far, params, reads),
        }
    }

    /// Hands decode steps to the device without waiting for them; `None` where there is no device, or one whose steps are timed.
    ///
    /// # Errors
    /// Those of the device.
    pub fn begin(&mut self, stage: Stage, steps: &[Params], reads: &[Read]) -> Result<Option<Begun>, ModelError> {
        match self {
            Machine::Gpu(gpu) if gpu.profile.is_none() => {
                Ok(Some(Begun { stage, pending: gpu.stages[stage as usize].begin(steps, reads)? }))
            }
            _ => Ok(None),
        }
    }

    /// Waits for steps that were begun together and returns the bytes of each read, step after step.
    ///
    /// # Errors
    /// Those of the device.
    pub fn finish(&mut self, begun: Begun) -> Result<Vec<Vec<u8>>, ModelError> {
        match self {
            Machine::Gpu(gpu) => {
                gpu.last = begun.stage;
                Ok(gpu.stages[begun.stage as usize].finish(begun.pending)?)
            }
            Machine::Cpu(_) => Ok(Vec::new()),
        }
    }

    /// Reads bytes outside a step.
    ///
    /// # Errors
    /// Those of the device.
    pub fn read(&mut self, read: Read) -> Result<Vec<u8>, ModelError> {
        match self {
            Machine::Gpu(gpu) => Ok(gpu.buffers.read(read.buffer, read.offset, read.bytes)?),
            Machine::Cpu(cpu) => Ok(cpu.read(read)),
        }
    }

    /// Copies bytes inside buffers: buffer, from, to, how many.
    ///
    /// # Errors
    /// Those of the device.
    pub fn copy(&mut self, copies: &[(BufferId, u64, u64, u64)]) -> Result<(), ModelError> {
        match self {
            Machine::Gpu(gpu) => gpu.buffers.copy_within(copies)?,
            Machine::Cpu(cpu) => copies.iter().for_each(|(id, from, to, bytes)| cpu.copy(*id, *from, *to, *bytes)),
        }
        Ok(())
    }

    /// Runs a graph that is not one of the plan's, over the plan's buffers.
    ///
    /// # Errors
    /// Those of the device, or a fault that the interpreter finds.
    pub fn once(&mut self, graph: Graph, params: &Params) -> Result<(), ModelError> {
        match self {
            Machine::Gpu(gpu) => {
                Executor::new(&gpu.device, graph, Arc::clone(&gpu.buffers))?.step(params, &[])?;
                Ok(())
            }
            Machine::Cpu(cpu) => cpu.run(&graph, params),
        }
    }

    /// The device and the plan's buffers on it.
    pub fn device(&self) -> Option<(&Device, &Arc<Buffers>)> {
        match self {
            Machine::Gpu(gpu) => Some((&gpu.device, &gpu.buffers)),
            Machine::Cpu(_) => None,
        }
    }

    /// What the last decode step did.
    pub fn counted(&self) -> Option<Counters> {
        match self {
            Machine::Gpu(gpu) => Some(gpu.stages[gpu.last as usize].counted()),
            Machine::Cpu(_) => None,
        }
    }

    /// Times so far, and the device's copy rate in GB/s.
    pub fn profile(&self) -> Option<&(Profile, f64)> {
        match self {
            Machine::Gpu(gpu) => gpu.profile.as_ref(),
            Machine::Cpu(_) => None,
        }
    }
}

/// Words of a buffer.
pub fn words(decl: &BufferDecl) -> usize {
    decl.bytes.div_ceil(4) as usize
}
