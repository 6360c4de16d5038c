//! Shaders of a program to pipelines, once for each text, in the device's language.
//!
//! Layouts are explicit and follow the order of [`LoopIr::buffers`]: read-only storage, read-write storage, then the uniform
//! block, dense from 0 in group 0. Workgroup memory is not zeroed: generated code writes before it reads.

use crate::adapter::AdapterKind;
use crate::device::{Device, ShaderLanguage};
use crate::error::RuntimeError;
use crate::graph::Graph;
use crate::pipeline_cache::PipelineCache;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use tilewright_codegen::hlsl::{self, Registers};
use tilewright_codegen::loops::{Access, LoopIr};
use tilewright_codegen::program::Program;

/// A compiled shader and the layout of its bind groups.
pub(crate) struct Pipeline {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
    /// Whether a bind group needs the offset of a step's parameters.
    pub(crate) dynamic: bool,
}

/// A shader that the driver is about to compile, which may take it tens of seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compiling<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// The schedule.
    pub schedule: &'a str,
    /// Which of `count`, from 1.
    pub number: usize,
    /// Shaders to be compiled in all.
    pub count: usize,
}

impl Device {
    /// Compiles the shaders of `graphs` which this device has not compiled yet, each text once; `progress` hears of each before it
    /// begins. An [`Executor`](crate::Executor) of these graphs then finds all of them ready.
    ///
    /// # Errors
    /// [`RuntimeError::Graph`], [`RuntimeError::Shader`], device loss.
    pub fn compile(&self, graphs: &[&Graph], progress: &mut dyn FnMut(Compiling<'_>)) -> Result<(), RuntimeError> {
        graphs.iter().try_for_each(|graph| graph.check(self.target()))?;
        let mut seen = HashSet::new();
        let ops = graphs.iter().flat_map(|graph| &graph.ops);
        let shaders = ops.flat_map(|op| op.program.shaders.iter().map(|shader| (&op.program, shader)));
        let new = |wgsl: &str| !self.pipelines().has(wgsl);
        let wanted: Vec<_> = shaders.filter(|(_, s)| new(&s.wgsl) && seen.insert(&s.wgsl)).collect();
        let count = wanted.len();
        let told =
            |i: usize| Compiling { kernel: &wanted[i].0.kernel, schedule: &wanted[i].0.schedule, number: i + 1, count };
        let make = |i: usize| {
            let (program, shader) = wanted[i];
            let owner = Owner { kernel: &program.kernel, schedule: &program.schedule };
            self.pipelines().get(self, owner, &shader.loops, &shader.wgsl).map(|pipeline| (owner, pipeline))
        };
        if self.adapter().kind == AdapterKind::Software {
            for (i, (_, shader)) in wanted.iter().enumerate() {
                progress(told(i));
                let (owner, pipeline) = make(i)?;
                self.warm(owner, &pipeline, bindings(&shader.loops).count())?;
            }
        } else {
            together(count, &mut |i| progress(told(i)), &|i| make(i).map(|_| ()))?;
        }
        if let Some(cache) = self.cache().filter(|_| count > 0) {
            cache.save();
        }
        Ok(())
    }

    /// Compiles the shaders of programs on all cores as far as they compile, for whoever is about to try them one after the other.
    pub fn prepare(&self, programs: &[Arc<Program>]) {
        let shaders: Vec<_> = programs.iter().flat_map(|p| p.shaders.iter().map(move |s| (p, s))).collect();
        let make = |i: usize| {
            let (program, shader) = shaders[i];
            let owner = Owner { kernel: &program.kernel, schedule: &program.schedule };
            // Whoever uses it hears of the error.
            let _ = self.pipelines().get(self, owner, &shader.loops, &shader.wgsl);
            Ok::<(), RuntimeError>(())
        };
        let _ = together(shaders.len(), &mut |_| (), &make);
    }

    /// Runs no workgroup of a pipeline, on buffers of its own: software adapters leave the slow part of compiling to the first dispatch.
    fn warm(&self, owner: Owner<'_>, pipeline: &Pipeline, bindings: usize) -> Result<(), RuntimeError> {
        /// At least what a block of parameters has.
        const BYTES: u64 = 1024;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::UNIFORM;
        let commands = self.scoped(|| {
            let descriptor = wgpu::BufferDescriptor { label: None, size: BYTES, usage, mapped_at_creation: false };
            let buffers: Vec<_> = (0..bindings).map(|_| self.wgpu().create_buffer(&descriptor)).collect();
            let bound = buffers.iter().zip(0..);
            let entries: Vec<_> =
                bound.map(|(b, binding)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() }).collect();
            let bind_group = self.wgpu().create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.layout,
                entries: &entries,
            });
            let mut encoder = self.wgpu().create_command_encoder(&Default::default());
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(0, &bind_group, &vec![0; usize::from(pipeline.dynamic)]);
            pass.dispatch_workgroups(0, 1, 1);
            drop(pass);
            encoder.finish()
        });
        let commands = commands.map_err(|e| owner.refused(&e))?;
        let submission = self.submit(owner.kernel, Some(commands));
        self.wait_for(Some(submission))
    }
}

/// Compiled shaders by their WGSL, which names them in every language.
#[derive(Default)]
pub(crate) struct Pipelines {
    made: Mutex<HashMap<String, Arc<Pipeline>>>,
}

/// Who asks for a pipeline, for the message when the device refuses.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) schedule: &'a str,
}

impl Owner<'_> {
    fn refused(&self, error: &dyn std::error::Error) -> RuntimeError {
        let (kernel, schedule) = (self.kernel.to_string(), self.schedule.to_string());
        RuntimeError::Shader { kernel, schedule, reason: error.to_string() }
    }
}

impl Pipelines {
    fn has(&self, wgsl: &str) -> bool {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).contains_key(wgsl)
    }

    pub(crate) fn get(
        &self,
        device: &Device,
        owner: Owner<'_>,
        loops: &LoopIr,
        wgsl: &str,
    ) -> Result<Arc<Pipeline>, RuntimeError> {
        if let Some(pipeline) = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(wgsl) {
            return Ok(Arc::clone(pipeline));
        }
        device.check()?;
        let text = match device.shaders() {
            ShaderLanguage::Wgsl => Text::Wgsl(wgsl),
            ShaderLanguage::Hlsl(_) if device.adapter().backend == "dx12" => Text::Hlsl(hlsl::print(loops)),
            ShaderLanguage::Hlsl(dxc) => {
                let words = dxc.spirv(&hlsl::print(loops), hlsl::ENTRY, Registers::of(loops));
                Text::SpirV(words.map_err(|e| owner.refused(&e))?)
            }
        };
        let compiled = device.scoped(|| compile(device, owner.kernel, loops, text));
        let pipeline = Arc::new(compiled.map_err(|e| owner.refused(&e))?);
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(wgsl.to_string(), Arc::clone(&pipeline));
        Ok(pipeline)
    }
}

/// Bytes of a compiling thread's stack: shaders are walked in depth.
const STACK: usize = 16 << 20;

/// Makes `count` things on all cores, in about their order; `begun` hears of each on this thread. The first error ends it.
fn together<E: Send>(
    count: usize,
    begun: &mut dyn FnMut(usize),
    make: &(dyn Fn(usize) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let (tell, hear) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (tell, next, failed) = (tell.clone(), &next, &failed);
            let work = move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count || tell.send(i).is_err() {
                        break;
                    }
                    if let Err(error) = make(i) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        next.store(count, Ordering::Relaxed);
                    }
                }
            };
            // Where the system has no thread to give, this one does the work.
            let started = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work.clone());
            if started.is_err() {
                work();
            }
        }
        drop(tell);
        hear.iter().for_each(begun);
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// What the driver is given.
enum Text<'a> {
    Wgsl(&'a str),
    /// For Vulkan.
    SpirV(Vec<u32>),
    /// For Direct3D 12, which compiles it when the pipeline is made. Not run on Windows yet.
    Hlsl(String),
}

fn module(device: &wgpu::Device, label: &str, loops: &LoopIr, text: Text<'_>) -> wgpu::ShaderModule {
    let (spirv, hlsl) = match text {
        Text::Wgsl(wgsl) => {
            let source = wgpu::ShaderSource::Wgsl(wgsl.into());
            let source = wgpu::ShaderModuleDescriptor { label: Some(label), source };
            // SAFETY: `codegen::apply` refuses a kernel whose indices leave their tensors at the given extents, and `lower` clamps
            // those that are loaded and masks what levels cover too much; `codegen::verify` refuses divisors and steps of 0, and
            // `Executor::new` buffers that do not hold the extents. So every access lies in its buffer, and every loop ends. The
            // injected checks would only cost (a bounded loop cannot be unrolled by drivers).
            return unsafe { device.create_shader_module_trusted(source, wgpu::ShaderRuntimeChecks::unchecked()) };
        }
        Text::SpirV(words) => (Some(words.into()), None),
        Text::Hlsl(text) => (None, Some(text.into())),
    };
    let entry = wgpu::PassthroughShaderEntryPoint { name: hlsl::ENTRY.into(), workgroup_size: (loops.workgroup, 1, 1) };
    let entry_points = vec![entry].into();
    let source =
        wgpu::ShaderModuleDescriptorPassthrough { label: Some(label), entry_points, spirv, hlsl, ..Default::default() };
    // SAFETY: the text is printed from the same loop IR, and its registers are the layout's bindings.
    unsafe { device.create_shader_module_passthrough(source) }
}

fn compile(on: &Device, label: &str, loops: &LoopIr, text: Text<'_>) -> Pipeline {
    let device = on.wgpu();
    let module = module(device, label, loops, text);
    let entries: Vec<_> = bindings(loops).enumerate().map(|(i, ty)| entry(i as u32, ty)).collect();
    let layout =
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(label),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: on.cache().map(PipelineCache::handle),
    });
    Pipeline { pipeline, layout, dynamic: !loops.params.is_empty() }
}

fn bindings(loops: &LoopIr) -> impl Iterator<Item = wgpu::BufferBindingType> + '_ {
    let storage =
        loops.buffers.iter().map(|b| wgpu::BufferBindingType::Storage { read_only: b.access == Access::Read });
    storage.chain((!loops.params.is_empty()).then_some(wgpu::BufferBindingType::Uniform))
}

fn entry(binding: u32, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        // Parameters: one buffer has those of several steps.
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: ty == wgpu::BufferBindingType::Uniform,
            min_binding_size: None,
        },
        count: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_made_once_or_the_first_error_told() {
        let made = Mutex::new(Vec::new());
        let mut begun = Vec::new();
        let make = |i: usize| -> Result<(), usize> {
            made.lock().unwrap().push(i);
            Ok(())
        };
        assert_eq!(together(40, &mut |i| begun.push(i), &make), Ok(()));
        let mut made = made.into_inner().unwrap();
        made.sort_unstable();
        begun.sort_unstable();
        assert_eq!(made, (0..40).collect::<Vec<_>>());
        assert_eq!(begun, made);
        assert_eq!(together(40, &mut |_| (), &|i| if i == 7 { Err(i) } else { Ok(()) }), Err(7));
        assert_eq!(together(0, &mut |_| (), &|i| Err(i)), Ok(()));
    }
}
