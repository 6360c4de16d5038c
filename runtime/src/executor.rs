//! Records a graph for each step and submits it.
//!
//! Pipelines and bind groups are made once. A step writes one small uniform buffer (one block for each different set of
//! scalars), records the dispatches that `plan` lists, and submits them in the ranges that `plan` lists, so that what was
//! planned is what happens. Several steps may share a submit: each has blocks of its own in that buffer. Barriers between
//! dispatches are wgpu's.

use crate::buffers::{Buffers, mapped, staging};
use crate::device::Device;
use crate::error::RuntimeError;
use crate::graph::{BufferId, Graph, Op, Params, Read, Submission};
use crate::pipeline::{Owner, Pipeline};
use crate::plan::{self, Counters, Dispatch, Environments};
use crate::profile::{Profile, Span, Timestamps};
use std::ops::Range;
use std::sync::Arc;
use tilewright_codegen::program::Shader;

/// A graph that is ready to run.
pub struct Executor {
    device: Device,
    graph: Graph,
    buffers: Arc<Buffers>,
    environments: Environments,
    /// For each op, its shaders.
    stages: Vec<Vec<Stage>>,
    blocks: Blocks,
    /// Staging buffers that no step is using.
    staging: Vec<wgpu::Buffer>,
    counted: Counters,
}

/// The most steps that [`Executor::begin`] takes at once.
pub const STEPS_AT_ONCE: usize = 8;

/// Steps that were handed to the device and not waited for.
pub struct Pending {
    submission: Option<wgpu::SubmissionIndex>,
    staging: Option<wgpu::Buffer>,
    /// Bytes of each read of a step.
    reads: Vec<u64>,
    steps: usize,
}

/// What a step's parameters come to.
struct Planned {
    /// Scalars of each environment.
    values: Vec<Params>,
    dispatches: Vec<Dispatch>,
}

/// Where the times of a step go.
enum Clock<'a> {
    /// Of each dispatch.
    Each(&'a mut Profile),
    /// Of the whole step, in nanoseconds.
    Whole(&'a mut f64),
}

struct Stage {
    pipeline: Arc<Pipeline>,
    bind_group: wgpu::BindGroup,
    /// Bytes read and written at most.
    capacity: (u64, u64),
}

impl Executor {
    /// Checks the graph, compiles its shaders (each text once a device) and binds its buffers.
    ///
    /// # Errors
    /// [`RuntimeError::Graph`], [`RuntimeError::Shader`], out of memory, device loss.
    pub fn new(device: &Device, graph: Graph, buffers: Arc<Buffers>) -> Result<Self, RuntimeError> {
        graph.check(device.target())?;
        for (i, decl) in graph.buffers.iter().enumerate() {
            buffers.range(BufferId(i), 0, decl.bytes & !3)?;
        }
        let environments = Environments::of(&graph);
        let blocks = Blocks::new(device, &graph, &environments)?;
        let make = |(i, op): (usize, &Op)| {
            let environment = environments.of_op[i];
            op.program.shaders.iter().map(|s| stage(device, op, s, &buffers, &blocks, environment)).collect()
        };
        let stages = graph.ops.iter().enumerate().map(make).collect::<Result<_, _>>()?;
        let device = device.clone();
        let counted = Counters::default();
        Ok(Executor { device, graph, buffers, environments, stages, blocks, staging: Vec::new(), counted })
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The buffers.
    pub fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    /// What the steps that were begun last really did, all together.
    pub fn counted(&self) -> Counters {
        self.counted
    }

    /// Runs the graph once and returns the bytes of each read; without reads it does not wait.
    ///
    /// # Errors
    /// [`RuntimeError::Graph`] for a missing parameter or too many workgroups, [`RuntimeError::OutOfRange`] for a read outside its
    /// buffer, device loss.
    pub fn step(&mut self, params: &Params, reads: &[Read]) -> Result<Vec<Vec<u8>>, RuntimeError> {
        let pending = self.run(std::slice::from_ref(params), reads, None)?;
        self.finish(pending)
    }

    /// Hands steps to the device without waiting for them, at most [`STEPS_AT_ONCE`]; where a whole step is one submit, all of
    /// them are. Steps run in the order in which they are begun, so that one may read what the one before it writes;
    /// [`Executor::finish`] gets what was read.
    ///
    /// # Errors
    /// Those of [`Executor::step`], and [`RuntimeError::TooManySteps`].
    pub fn begin(&mut self, steps: &[Params], reads: &[Read]) -> Result<Pending, RuntimeError> {
        self.run(steps, reads, None)
    }

    /// Waits for steps and returns the bytes of each read, step after step; without reads it does not wait.
    ///
    /// # Errors
    /// Device loss.
    pub fn finish(&mut self, pending: Pending) -> Result<Vec<Vec<u8>>, RuntimeError> {
        let Some(staging) = pending.staging else { return Ok(Vec::new()) };
        self.device.wait_for(pending.submission)?;
        self.counted.waits = self.counted.waits.max(1);
        let all = mapped(&self.device, &staging, pending.reads.iter().sum::<u64>() * pending.steps as u64)?;
        self.staging.push(staging);
        let mut rest = all.as_slice();
        let reads = std::iter::repeat_n(&pending.reads, pending.steps).flatten();
        Ok(reads.filter_map(|n| rest.split_off(..*n as usize).map(<[u8]>::to_vec)).collect())
    }

    /// Runs the graph once with a timestamp around each dispatch, and adds the times to `profile`.
    ///
    /// Each dispatch gets a pass of its own and the device is waited for, so that the step as a whole is slower.
    ///
    /// # Errors
    /// Those of [`Executor::step`], and [`RuntimeError::NoTimestamps`].
    pub fn profiled_step(
        &mut self,
        params: &Params,
        reads: &[Read],
        profile: &mut Profile,
    ) -> Result<Vec<Vec<u8>>, RuntimeError> {
        self.needs_timestamps()?;
        let pending = self.run(std::slice::from_ref(params), reads, Some(Clock::Each(profile)))?;
        self.finish(pending)
    }

    /// Runs the graph once as a step does, and returns the nanoseconds from the first dispatch to the end of the last one; where
    /// there are several submits, what lies between them does not count.
    ///
    /// # Errors
    /// Those of [`Executor::step`], and [`RuntimeError::NoTimestamps`].
    pub fn timed_step(&mut self, params: &Params) -> Result<f64, RuntimeError> {
        self.needs_timestamps()?;
        let mut total = 0.0;
        self.run(std::slice::from_ref(params), &[], Some(Clock::Whole(&mut total)))?;
        Ok(total)
    }

    fn needs_timestamps(&self) -> Result<(), RuntimeError> {
        match self.device.timestamps() {
            true => Ok(()),
            false => Err(RuntimeError::NoTimestamps { adapter: self.device.adapter().name.clone() }),
        }
    }

    fn run(&mut self, steps: &[Params], reads: &[Read], clock: Option<Clock>) -> Result<Pending, RuntimeError> {
        self.device.check()?;
        if steps.len() > STEPS_AT_ONCE {
            return Err(RuntimeError::TooManySteps { found: steps.len(), allowed: STEPS_AT_ONCE });
        }
        let target = self.device.target();
        let (most, rounds) = (target.max_workgroups, target.max_iterations);
        let mut planned = Vec::with_capacity(steps.len());
        for params in steps {
            let values = self.environments.values(&self.graph, params)?;
            let dispatches = plan::dispatches(&self.graph, &self.environments, &values, most, rounds)?;
            planned.push(Planned { values, dispatches });
        }
        let staging = self.staging(reads, steps.len())?;
        self.blocks.write(&self.device, &planned);
        let spans = |clock: &Clock| match clock {
            Clock::Each(_) => (Span::Dispatch, planned.iter().map(|p| p.dispatches.len()).sum()),
            Clock::Whole(_) => {
                (Span::Submit, planned.iter().map(|p| plan::submits(&self.graph, &p.dispatches, reads).len()).sum())
            }
        };
        let spans = clock.as_ref().map(spans).filter(|(_, count)| *count > 0);
        let times = spans.map(|(span, count)| Timestamps::new(&self.device, span, count)).transpose()?;
        self.counted = Counters::default();
        let submission = self.submit(&planned, reads, staging.as_ref(), times.as_ref())?;
        let bytes: u64 = reads.iter().map(|r| r.bytes).sum();
        if let Some(staging) = &staging {
            staging.slice(..bytes * steps.len() as u64).map_async(wgpu::MapMode::Read, |_| ());
        }

        let traffic = |(planned, d): (&Planned, &Dispatch)| {
            let capacity = self.stages[d.op][d.shader].capacity;
            plan::traffic(&self.graph.ops[d.op], d, &planned.values[self.environments.of_op[d.op]], capacity)
        };
        let dispatches = || planned.iter().flat_map(|p| p.dispatches.iter().map(move |d| (p, d)));
        let traffic = dispatches().map(traffic).collect::<Result<Vec<_>, _>>()?;
        for (read, written) in &traffic {
            self.counted.bytes_read += read;
            self.counted.bytes_written += written;
        }
        let nanoseconds = times.map(|times| times.read(&self.device)).transpose()?;
        match (clock, nanoseconds) {
            (Some(Clock::Whole(total)), Some(nanoseconds)) => *total = nanoseconds.iter().sum(),
            (Some(Clock::Each(profile)), Some(nanoseconds)) => {
                for (((_, dispatch), ns), (read, written)) in dispatches().zip(nanoseconds).zip(traffic) {
                    let program = &self.graph.ops[dispatch.op].program;
                    profile.add(&program.kernel, &program.schedule, ns, read + written);
                }
            }
            _ => {}
        }
        Ok(Pending { submission, staging, reads: reads.iter().map(|r| r.bytes).collect(), steps: steps.len() })
    }

    fn submit(
        &mut self,
        planned: &[Planned],
        reads: &[Read],
        staging: Option<&wgpu::Buffer>,
        times: Option<&Timestamps>,
    ) -> Result<Option<wgpu::SubmissionIndex>, RuntimeError> {
        let together = self.graph.submission == Submission::PerToken;
        let (mut last, mut encoder) = (None, None);
        for (step, Planned { dispatches, .. }) in planned.iter().enumerate() {
            let submits = plan::submits(&self.graph, dispatches, reads);
            for (i, range) in submits.iter().enumerate() {
                let ends = i + 1 == submits.len();
                let into =
                    encoder.get_or_insert_with(|| self.device.wgpu().create_command_encoder(&Default::default()));
                self.counted.dispatches += range.len() as u32;
                self.record(into, (step, dispatches), (i, range.clone()), times);
                if let Some(staging) = staging.filter(|_| ends) {
                    self.counted.readback_bytes += self.copy(into, step, reads, staging)?;
                }
                if together && ends && step + 1 < planned.len() {
                    continue;
                }
                let label = dispatches[range.clone()].last().map_or("read back", |d| &self.graph.ops[d.op].label);
                let submission = self.device.submit(label, encoder.take().map(wgpu::CommandEncoder::finish));
                self.counted.submits += 1;
                if self.graph.submission == (Submission::PerOp { wait: true }) {
                    self.device.wait_for(Some(submission.clone()))?;
                    self.counted.waits += 1;
                }
                last = Some(submission);
            }
        }
        self.device.check()?;
        Ok(last)
    }

    fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        (step, dispatches): (usize, &[Dispatch]),
        (submit, range): (usize, Range<usize>),
        times: Option<&Timestamps>,
    ) {
        // A pass of its own for each dispatch is what its timestamps need; else one pass holds them all.
        let passes = match times {
            Some(times) if times.span == Span::Dispatch => 1,
            _ => range.len().max(1),
        };
        let offset = [self.blocks.offset(step)];
        for start in range.step_by(passes) {
            let timestamp_writes = times.map(|t| t.writes(if t.span == Span::Dispatch { start } else { submit }));
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
            for dispatch in &dispatches[start..start + passes] {
                let stage = &self.stages[dispatch.op][dispatch.shader];
                pass.set_pipeline(&stage.pipeline.pipeline);
                pass.set_bind_group(0, &stage.bind_group, &offset[..usize::from(stage.pipeline.dynamic)]);
                pass.dispatch_workgroups(dispatch.size[0], dispatch.size[1], 1);
            }
        }
    }

    /// Copies what is read of a step behind what is read of those before it; how many bytes these are.
    fn copy(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        step: usize,
        reads: &[Read],
        staging: &wgpu::Buffer,
    ) -> Result<u64, RuntimeError> {
        let bytes: u64 = reads.iter().map(|r| r.bytes).sum();
        let mut at = step as u64 * bytes;
        for read in reads {
            let source = self.buffers.range(read.buffer, read.offset, read.bytes)?;
            encoder.copy_buffer_to_buffer(source, read.offset, staging, at, read.bytes);
            at += read.bytes;
        }
        Ok(bytes)
    }

    /// Checks the reads and finds a buffer that those of all steps are copied to.
    fn staging(&mut self, reads: &[Read], steps: usize) -> Result<Option<wgpu::Buffer>, RuntimeError> {
        for read in reads {
            self.buffers.range(read.buffer, read.offset, read.bytes)?;
        }
        let bytes = reads.iter().map(|r| r.bytes).sum::<u64>() * steps as u64;
        if bytes == 0 {
            return Ok(None);
        }
        match self.staging.iter().position(|free| free.size() >= bytes) {
            Some(i) => Ok(Some(self.staging.swap_remove(i))),
            None => staging(&self.device, bytes).map(Some),
        }
    }
}

fn stage(
    device: &Device,
    op: &Op,
    shader: &Shader,
    buffers: &Buffers,
    blocks: &Blocks,
    environment: usize,
) -> Result<Stage, RuntimeError> {
    let owner = Owner { kernel: &op.program.kernel, schedule: &op.program.schedule };
    let pipeline = device.pipelines().get(device, owner, &shader.loops, &shader.wgsl)?;
    let bound = op.buffers_of(shader).map_err(|fault| op.fault(fault))?;
    let storage = bound.iter().filter_map(|(id, _)| buffers.handle(*id)).map(|b| b.as_entire_binding());
    let block = (!shader.loops.params.is_empty()).then(|| blocks.binding(environment, shader)).flatten();
    let resources: Vec<_> = storage.chain(block).collect();
    let entries: Vec<_> = resources
        .into_iter()
        .enumerate()
        .map(|(i, resource)| wgpu::BindGroupEntry { binding: i as u32, resource })
        .collect();
    let made = device.scoped(|| {
        device.wgpu().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&op.label),
            layout: &pipeline.layout,
            entries: &entries,
        })
    });
    let bind_group = made.map_err(|e| RuntimeError::Shader {
        kernel: owner.kernel.to_string(),
        schedule: owner.schedule.to_string(),
        reason: e.to_string(),
    })?;
    Ok(Stage { pipeline, bind_group, capacity: plan::capacity(op, shader) })
}

/// The parameter blocks of all shaders in one uniform buffer: for each step a block for each set of scalars and list of fields.
struct Blocks {
    keys: Vec<(usize, Vec<String>)>,
    stride: usize,
    buffer: wgpu::Buffer,
}

impl Blocks {
    fn new(device: &Device, graph: &Graph, environments: &Environments) -> Result<Self, RuntimeError> {
        let mut keys = Vec::new();
        for (i, op) in graph.ops.iter().enumerate() {
            for shader in op.program.shaders.iter().filter(|s| !s.loops.params.is_empty()) {
                let key = (environments.of_op[i], fields(shader));
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        let words = keys.iter().map(|(_, fields)| fields.len()).max().unwrap_or(0);
        let alignment = device.wgpu().limits().min_uniform_buffer_offset_alignment.max(16) as usize;
        let stride = (words * 4).next_multiple_of(alignment).max(alignment);
        let bytes = (stride * keys.len().max(1) * STEPS_AT_ONCE) as u64;
        let made = device.scoped(|| {
            device.wgpu().create_buffer(&wgpu::BufferDescriptor {
                label: Some("parameters"),
                size: bytes,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        });
        let buffer = made.map_err(|e| device.allocation_error("parameters", bytes, 0, bytes, e))?;
        Ok(Blocks { keys, stride, buffer })
    }

    fn binding(&self, environment: usize, shader: &Shader) -> Option<wgpu::BindingResource<'_>> {
        let fields = fields(shader);
        let index = self.keys.iter().position(|(e, f)| *e == environment && *f == fields)?;
        let size = wgpu::BufferSize::new((fields.len() as u64 * 4).next_multiple_of(16));
        let offset = (index * self.stride) as u64;
        Some(wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.buffer, offset, size }))
    }

    /// Where a step's blocks begin.
    fn offset(&self, step: usize) -> u32 {
        (step * self.stride * self.keys.len()) as u32
    }

    /// One write of all blocks; the device sees it before the first submit.
    fn write(&self, device: &Device, steps: &[Planned]) {
        if self.keys.is_empty() {
            return;
        }
        let mut words = vec![0u32; steps.len() * self.keys.len() * self.stride / 4];
        let values = steps.iter().flat_map(|step| self.keys.iter().map(|key| (&step.values, key)));
        for ((values, (environment, fields)), block) in values.zip(words.chunks_exact_mut(self.stride / 4)) {
            for (word, field) in block.iter_mut().zip(fields) {
                *word = values[*environment].get(field).copied().unwrap_or(0);
            }
        }
        device.queue().write_buffer(&self.buffer, 0, bytemuck::cast_slice(&words));
    }
}

fn fields(shader: &Shader) -> Vec<String> {
    shader.loops.params.iter().map(|p| p.name.clone()).collect()
}
