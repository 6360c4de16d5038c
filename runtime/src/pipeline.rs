//! Shaders of a program to pipelines, once for each text, in the device's language.
//!
//! Layouts are explicit and follow the order of [`LoopIr::buffers`]: read-only storage, read-write storage, then the uniform
//! block, dense from 0 in group 0. Workgroup memory is not zeroed: generated code writes before it reads.

use crate::adapter::AdapterKind;
use crate::device::{Device, ShaderLanguage};
use crate::error::RuntimeError;
use crate::graph::Graph;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tilewright_codegen::hlsl::{self, Registers};
use tilewright_codegen::loops::{Access, LoopIr};

/// A compiled shader and the layout of its bind groups.
pub(crate) struct Pipeline {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
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
    pub fn compile(&self, graphs: &[Graph], progress: &mut dyn FnMut(Compiling<'_>)) -> Result<(), RuntimeError> {
        graphs.iter().try_for_each(|graph| graph.check(self.target()))?;
        let mut seen = HashSet::new();
        let ops = graphs.iter().flat_map(|graph| &graph.ops);
        let shaders = ops.flat_map(|op| op.program.shaders.iter().map(|shader| (&op.program, shader)));
        let new = |wgsl: &str| !self.pipelines().has(wgsl);
        let wanted: Vec<_> = shaders.filter(|(_, s)| new(&s.wgsl) && seen.insert(&s.wgsl)).collect();
        for (i, (program, shader)) in wanted.iter().enumerate() {
            let owner = Owner { kernel: &program.kernel, schedule: &program.schedule };
            progress(Compiling { kernel: owner.kernel, schedule: owner.schedule, number: i + 1, count: wanted.len() });
            let pipeline = self.pipelines().get(self, owner, &shader.loops, &shader.wgsl)?;
            if self.adapter().kind == AdapterKind::Software {
                self.warm(owner, &pipeline, bindings(&shader.loops).count())?;
            }
        }
        Ok(())
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
            pass.set_bind_group(0, &bind_group, &[]);
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
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = made.get(wgsl) {
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
        let compiled = device.scoped(|| compile(device.wgpu(), owner.kernel, loops, text));
        let pipeline = Arc::new(compiled.map_err(|e| owner.refused(&e))?);
        made.insert(wgsl.to_string(), Arc::clone(&pipeline));
        Ok(pipeline)
    }
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

fn compile(device: &wgpu::Device, label: &str, loops: &LoopIr, text: Text<'_>) -> Pipeline {
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
        cache: None,
    });
    Pipeline { pipeline, layout }
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
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}
