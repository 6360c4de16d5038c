//! Records a graph for each step and submits it.
//!
//! Pipelines and bind groups are made once. A step writes one small uniform buffer (one block for each different set of
//! scalars), records the dispatches that `plan` lists, and submits them in the ranges that `plan` lists, so that what was
//! planned is what happens. Barriers between dispatches are wgpu's.

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

/// A step that was handed to the device and not waited for.
pub struct Pending {
    submission: Option<wgpu::SubmissionIndex>,
    staging: Option<wgpu::Buffer>,
    /// Bytes of each read.
    reads: Vec<u64>,
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

    /// What the last step really did.
    pub fn counted(&self) -> Counters {
        self.counted
    }

    /// Runs the graph once and returns the bytes of each read; without reads it does not wait.
    ///
    /// # Errors
    /// [`RuntimeError::Graph`] for a missing parameter or too many workgroups, [`RuntimeError::OutOfRange`] for a read outside its
    /// buffer, device loss.
    pub fn step(&mut self, params: &Params, reads: &[Read]) -> Result<Vec<Vec<u8>>, RuntimeError> {
        let pending = self.begin(params, reads)?;
        self.finish(pending)
    }

    /// Hands a step to the device without waiting for it. Steps run in the order in which they are begun, so that one may
    /// read what the one before it writes; [`Executor::finish`] gets what was read.
    ///
    /// # Errors
    /// Those of [`Executor::step`].
    pub fn begin(&mut self, params: &Params, reads: &[Read]) -> Result<Pending, RuntimeError> {
        self.run(params, reads, None)
    }

    /// Waits for a step and returns the bytes of each read; without reads it does not wait.
    ///
    /// # Errors
    /// Device loss.
    pub fn finish(&mut self, pending: Pending) -> Result<Vec<Vec<u8>>, RuntimeError> {
        let Some(staging) = pending.staging else { return Ok(Vec::new()) };
        self.device.wait_for(pending.submission)?;
        self.counted.waits = self.counted.waits.max(1);
        let all = mapped(&self.device, &staging, pending.reads.iter().sum())?;
        self.staging.push(staging);
        let mut rest = all.as_slice();
        Ok(pending.reads.iter().filter_map(|n| rest.split_off(..*n as usize).map(<[u8]>::to_vec)).collect())
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
        let pending = self.run(params, reads, Some(Clock::Each(profile)))?;
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
        self.run(params, &[], Some(Clock::Whole(&mut total)))?;
        Ok(total)
    }

    fn needs_timestamps(&self) -> Result<(), RuntimeError> {
        match self.device.timestamps() {
            true => Ok(()),
            false => Err(RuntimeError::NoTimestamps { adapter: self.device.adapter().name.clone() }),
        }
    }

    fn run(&mut self, params: &Params, reads: &[Read], clock: Option<Clock>) -> Result<Pending, RuntimeError> {
        self.device.check()?;
        let values = self.environments.values(&self.graph, params)?;
        let target = self.device.target();
        let (most, rounds) = (target.max_workgroups, target.max_iterations);
        let dispatches = plan::dispatches(&self.graph, &self.environments, &values, most, rounds)?;
        let staging = self.staging(reads)?;
        self.blocks.write(&self.device, &values);
        let spans = |clock: &Clock| match clock {
            Clock::Each(_) => (Span::Dispatch, dispatches.len()),
            Clock::Whole(_) => (Span::Submit, plan::submits(&self.graph, &dispatches, reads).len()),
        };
        let spans = clock.as_ref().map(spans).filter(|(_, count)| *count > 0);
        let times = spans.map(|(span, count)| Timestamps::new(&self.device, span, count)).transpose()?;
        self.counted = Counters::default();
        let submission = self.submit(&dispatches, reads, staging.as_ref(), times.as_ref())?;
        if let Some(staging) = &staging {
            staging.slice(..reads.iter().map(|r| r.bytes).sum::<u64>()).map_async(wgpu::MapMode::Read, |_| ());
        }

        let traffic = |d: &Dispatch| {
            let capacity = self.stages[d.op][d.shader].capacity;
            plan::traffic(&self.graph.ops[d.op], d, &values[self.environments.of_op[d.op]], capacity)
        };
        let traffic = dispatches.iter().map(traffic).collect::<Result<Vec<_>, _>>()?;
        for (read, written) in &traffic {
            self.counted.bytes_read += read;
            self.counted.bytes_written += written;
        }
        let nanoseconds = times.map(|times| times.read(&self.device)).transpose()?;
        match (clock, nanoseconds) {
            (Some(Clock::Whole(total)), Some(nanoseconds)) => *total = nanoseconds.iter().sum(),
            (Some(Clock::Each(profile)), Some(nanoseconds)) => {
                for ((dispatch, ns), (read, written)) in dispatches.iter().zip(nanoseconds).zip(traffic) {
                    let program = &self.graph.ops[dispatch.op].program;
                    profile.add(&program.kernel, &program.schedule, ns, read + written);
                }
            }
            _ => {}
        }
        Ok(Pending { submission, staging, reads: reads.iter().map(|r| r.bytes).collect() })
    }

    fn submit(
        &mut self,
        dispatches: &[Dispatch],
        reads: &[Read],
        staging: Option<&wgpu::Buffer>,
        times: Option<&Timestamps>,
    ) -> Result<Option<wgpu::SubmissionIndex>, RuntimeError> {
        let submits = plan::submits(&self.graph, dispatches, reads);
        let mut last = None;
        for (i, range) in submits.iter().enumerate() {
            let copies = staging.filter(|_| i + 1 == submits.len()).map(|staging| (reads, staging));
            let commands = self.record(dispatches, (i, range.clone()), copies, times)?;
            let label = dispatches[range.clone()].last().map_or("read back", |d| &self.graph.ops[d.op].label);
            let submission = self.device.submit(label, Some(commands));
            self.counted.submits += 1;
            if self.graph.submission == (Submission::PerOp { wait: true }) {
                self.device.wait_for(Some(submission.clone()))?;
                self.counted.waits += 1;
            }
            last = Some(submission);
        }
        self.device.check()?;
        Ok(last)
    }

    fn record(
        &mut self,
        dispatches: &[Dispatch],
        (submit, range): (usize, Range<usize>),
        copies: Option<(&[Read], &wgpu::Buffer)>,
        times: Option<&Timestamps>,
    ) -> Result<wgpu::CommandBuffer, RuntimeError> {
        let mut encoder = self.device.wgpu().create_command_encoder(&Default::default());
        // A pass of its own for each dispatch is what its timestamps need; else one pass holds them all.
        let passes = match times {
            Some(times) if times.span == Span::Dispatch => 1,
            _ => range.len().max(1),
        };
        for start in range.clone().step_by(passes) {
            let timestamp_writes = times.map(|t| t.writes(if t.span == Span::Dispatch { start } else { submit }));
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
            for dispatch in &dispatches[start..start + passes] {
                let stage = &self.stages[dispatch.op][dispatch.shader];
                pass.set_pipeline(&stage.pipeline.pipeline);
                pass.set_bind_group(0, &stage.bind_group, &[]);
                pass.dispatch_workgroups(dispatch.size[0], dispatch.size[1], 1);
                self.counted.dispatches += 1;
            }
        }
        if let Some((reads, staging)) = copies {
            let mut at = 0;
            for read in reads {
                let source = self.buffers.range(read.buffer, read.offset, read.bytes)?;
                encoder.copy_buffer_to_buffer(source, read.offset, staging, at, read.bytes);
                at += read.bytes;
            }
            self.counted.readback_bytes += at;
        }
        Ok(encoder.finish())
    }

    /// Checks the reads and finds a buffer that they are copied to.
    fn staging(&mut self, reads: &[Read]) -> Result<Option<wgpu::Buffer>, RuntimeError> {
        for read in reads {
            self.buffers.range(read.buffer, read.offset, read.bytes)?;
        }
        let bytes: u64 = reads.iter().map(|r| r.bytes).sum();
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

/// The parameter blocks of all shaders in one uniform buffer: a block for each set of scalars and list of fields.
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
        let bytes = (stride * keys.len().max(1)) as u64;
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

    /// One write of all blocks; the device sees it before the step's first submit.
    fn write(&self, device: &Device, values: &[Params]) {
        if self.keys.is_empty() {
            return;
        }
        let mut words = vec![0u32; self.keys.len() * self.stride / 4];
        for ((environment, fields), block) in self.keys.iter().zip(words.chunks_exact_mut(self.stride / 4)) {
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
