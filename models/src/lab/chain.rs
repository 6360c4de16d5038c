//! Kernels one after the other over named tensors, timed as one step.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use tilewright_codegen::compile;
use tilewright_codegen::shape::Shape;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::Schedule;
use tilewright_runtime::{
    BufferDecl, BufferId, Buffers, Device, Executor, Graph, Op, Params, Role, ScalarSource, Submission,
};

use crate::error::ModelError;
use crate::sampler::hash;
use crate::spread::Spread;

/// A kernel with the tensors that it is given.
pub struct Link {
    /// The kernel.
    pub kernel: Kernel,
    /// How it may run: the first schedule that the device can run is taken.
    pub schedules: Vec<Schedule>,
    /// A name for each of its tensors.
    pub tensors: Vec<&'static str>,
    /// Its real scalars.
    pub scalars: Vec<(&'static str, f32)>,
}

/// A chain that is ready to run.
pub struct Chain {
    device: Device,
    executor: Executor,
    names: BTreeMap<&'static str, usize>,
    /// Bytes that its kernels read and write, each tensor of each kernel once.
    pub bytes: u64,
    /// Its dispatches.
    pub dispatches: usize,
}

impl Chain {
    /// Compiles the links for a shape, and fills all tensors with numbers between -2 and 2, always the same.
    ///
    /// # Errors
    /// Those of the last schedule of a link that cannot run; those of the device.
    pub fn new(device: &Device, links: &[Link], extents: &[(&str, u32)]) -> Result<Self, ModelError> {
        let (mut names, mut buffers, mut ops) = (BTreeMap::new(), Vec::<BufferDecl>::new(), Vec::new());
        let (mut bytes, mut dispatches) = (0, 0);
        for link in links {
            let own = extents.iter().filter(|(name, _)| link.kernel.extents.iter().any(|e| e == name));
            let shape = own.fold(Shape::new(), |shape, (name, n)| shape.fixed(name, *n));
            let mut tried = link.schedules.iter().map(|s| compile(&link.kernel, s, &shape, device.target()));
            let mut program = tried
                .next()
                .unwrap_or_else(|| compile(&link.kernel, &Schedule::empty(&link.kernel.name), &shape, device.target()));
            for other in tried {
                if program.is_ok() {
                    break;
                }
                program = other;
            }
            let program = program?;
            let mut bindings = Vec::with_capacity(link.tensors.len());
            for (name, layout) in link.tensors.iter().zip(&program.tensors) {
                let size: u64 = (0..layout.parts.len()).map(|part| layout.part_bytes(part)).sum();
                bytes += size;
                let at = *names.entry(*name).or_insert_with(|| {
                    buffers.push(BufferDecl { name: (*name).into(), bytes: 0, role: Role::Activation });
                    buffers.len() - 1
                });
                buffers[at].bytes = buffers[at].bytes.max(size);
                bindings.push(vec![BufferId(at)]);
            }
            dispatches += program.shaders.len();
            let scalars = link.scalars.iter().map(|(name, x)| ((*name).to_string(), ScalarSource::F32(*x))).collect();
            let (label, program) = (link.kernel.name.clone(), Arc::new(program));
            ops.push(Op { label, group: 0, program, bindings, scalars, reads: None, writes: None });
        }
        let graph = Graph { buffers: buffers.clone(), ops, submission: Submission::PerToken, max_dispatches: None };
        let held = Arc::new(Buffers::allocate(device, &buffers)?);
        let mut uploader = held.uploader();
        for (i, decl) in buffers.iter().enumerate() {
            let number = |n: u32| (hash(n) >> 8) as f32 / (1 << 22) as f32 - 2.0;
            let values: Vec<f32> = (0..(decl.bytes / 4) as u32).map(number).collect();
            uploader.write(BufferId(i), 0, bytemuck::cast_slice(&values))?;
        }
        uploader.finish()?;
        let executor = Executor::new(device, graph, held)?;
        Ok(Chain { device: device.clone(), executor, names, bytes, dispatches })
    }

    /// Microseconds of a step, by the device's clock where it has one, after some to warm up.
    ///
    /// # Errors
    /// Those of the device.
    pub fn time(&mut self, runs: usize) -> Result<Spread, ModelError> {
        let mut times = Vec::with_capacity(runs);
        for i in 0..runs + 2 {
            let us = if self.device.timestamps() {
                self.executor.timed_step(&Params::new())? / 1e3
            } else {
                let start = Instant::now();
                self.executor.step(&Params::new(), &[])?;
                self.device.wait()?;
                start.elapsed().as_secs_f64() * 1e6
            };
            if i >= 2 {
                times.push(us);
            }
        }
        Ok(Spread::of(times))
    }

    /// The f32 values of a tensor, padding included.
    ///
    /// # Errors
    /// Those of the device.
    pub fn values(&self, name: &str) -> Result<Vec<f32>, ModelError> {
        let at = self.names.get(name).copied().unwrap_or_default();
        let bytes = self.executor.graph().buffers[at].bytes;
        Ok(bytemuck::pod_collect_to_vec(&self.executor.buffers().read(BufferId(at), 0, bytes & !3)?))
    }
}
