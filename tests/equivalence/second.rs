//! A second opinion on what our HLSL must mean: naga's own HLSL of our WGSL, through the same DXC, on a device opened here.
//!
//! Nothing of our printer and nothing of our runtime takes part, so that a mistake in the registers or in the words of ours
//! cannot hide in both. The device is plain wgpu: one dispatch a shader, waited for.

use crate::cases::Case;
use crate::gates::{Tensors, keep_outputs, pack, params, unpack};
use naga::back::hlsl::{BindTarget, Options, PipelineOptions, ShaderModel, Writer};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tilewright_codegen::hlsl::Registers;
use tilewright_codegen::program::{Program, Shader};
use tilewright_dsl::ir::Kernel;
use tilewright_runtime::{AdapterSummary, Dxc};
use wgpu::util::DeviceExt;

/// A device of this test's own, and the pipelines made so far by their WGSL.
pub struct Second {
    device: wgpu::Device,
    queue: wgpu::Queue,
    dxc: Dxc,
    made: HashMap<String, wgpu::ComputePipeline>,
}

fn ready<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

/// naga's HLSL of a shader, with the registers that ours has.
fn hlsl(shader: &Shader) -> (String, String) {
    let module = naga::front::wgsl::parse_str(&shader.wgsl).expect("it was validated");
    let capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32 | Capabilities::SUBGROUP;
    let info = Validator::new(ValidationFlags::all(), capabilities).validate(&module).expect("it was validated");
    let registers = Registers::of(&shader.loops);
    let mut options = Options {
        shader_model: ShaderModel::V6_0,
        fake_missing_bindings: false,
        zero_initialize_workgroup_memory: false,
        restrict_indexing: false,
        force_loop_bounding: false,
        ..Options::default()
    };
    for binding in 0..registers.read + registers.write + registers.uniform {
        let firsts = [0, registers.read, registers.read + registers.write];
        let first = firsts.into_iter().rev().find(|first| *first <= binding).unwrap_or_default();
        let target = BindTarget { register: binding - first, ..BindTarget::default() };
        options.binding_map.insert(naga::ResourceBinding { group: 0, binding }, target);
    }
    // naga puts every condition into parentheses twice.
    let mut text = String::from("#pragma dxc diagnostic ignored \"-Wparentheses-equality\"\n");
    let pipeline = PipelineOptions::default();
    let written = Writer::new(&mut text, &options, &pipeline).write(&module, &info, None).expect("naga writes it");
    let entry = written.entry_point_names[0].clone().expect("one entry");
    (text, entry)
}

impl Second {
    /// A device on the adapter of that name, with all limits that it has.
    pub fn open(adapter: &AdapterSummary, dxc: Dxc) -> Second {
        let mut all = wgpu::InstanceDescriptor::new_without_display_handle();
        all.backends = wgpu::Backends::VULKAN;
        all.flags = wgpu::InstanceFlags::empty();
        let found = ready(wgpu::Instance::new(all).enumerate_adapters(wgpu::Backends::VULKAN));
        let found = found.into_iter().find(|a| a.get_info().name == adapter.name).expect("the same adapter again");
        let features = found.features() & (wgpu::Features::SUBGROUP | wgpu::Features::PASSTHROUGH_SHADERS);
        let request = wgpu::DeviceDescriptor {
            required_features: features,
            required_limits: found.limits(),
            ..Default::default()
        };
        let (device, queue) = ready(found.request_device(&request)).expect("a device");
        Second { device, queue, dxc, made: HashMap::new() }
    }

    fn pipeline(&mut self, shader: &Shader) -> wgpu::ComputePipeline {
        if let Some(made) = self.made.get(&shader.wgsl) {
            return made.clone();
        }
        let registers = Registers::of(&shader.loops);
        let (text, entry) = hlsl(shader);
        let words = self.dxc.spirv(&text, &entry, registers).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let entries = [wgpu::PassthroughShaderEntryPoint { name: entry.as_str().into(), workgroup_size: (1, 1, 1) }];
        let source = wgpu::ShaderModuleDescriptorPassthrough {
            label: None,
            entry_points: entries.as_slice().into(),
            spirv: Some(words.into()),
            ..Default::default()
        };
        // SAFETY: the text is naga's of a shader that `codegen::verify` accepted.
        let module = unsafe { self.device.create_shader_module_passthrough(source) };
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let kinds = (0..registers.read).map(|_| storage(true)).chain((0..registers.write).map(|_| storage(false)));
        let kinds = kinds.chain((0..registers.uniform).map(|_| wgpu::BufferBindingType::Uniform));
        let entries: Vec<_> = kinds
            .zip(0..)
            .map(|(ty, binding)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
                count: None,
            })
            .collect();
        let layout = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
        let layout = self.device.create_bind_group_layout(&layout);
        let layout =
            wgpu::PipelineLayoutDescriptor { label: None, bind_group_layouts: &[Some(&layout)], immediate_size: 0 };
        let layout = self.device.create_pipeline_layout(&layout);
        let made = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some(&entry),
            compilation_options: Default::default(),
            cache: None,
        });
        self.made.insert(shader.wgsl.clone(), made.clone());
        made
    }

    /// What a program makes of these inputs.
    pub fn run(&mut self, kernel: &Kernel, program: &Program, case: &Case, inputs: &Tensors) -> Tensors {
        use wgpu::BufferUsages as Use;
        let params = params(case);
        let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let buffer = |words: &[u32], usage| {
            let mut contents = bytes(words);
            contents.resize(contents.len().max(16), 0);
            self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: None,
                contents: &contents,
                usage,
            })
        };
        let storage = Use::STORAGE | Use::COPY_SRC;
        let tensors: BTreeMap<&str, Vec<(usize, wgpu::Buffer)>> = program
            .tensors
            .iter()
            .map(|l| {
                let parts = pack(l, &inputs[&l.name]);
                (l.name.as_str(), parts.iter().map(|words| (words.len(), buffer(words, storage))).collect())
            })
            .collect();
        let blocks: Vec<_> = program
            .shaders
            .iter()
            .map(|s| buffer(&s.loops.params.iter().map(|p| params[&p.name]).collect::<Vec<_>>(), Use::UNIFORM))
            .collect();
        for (shader, block) in program.shaders.iter().zip(&blocks) {
            let pipeline = self.pipeline(shader);
            let buffers = shader.loops.buffers.iter().map(|b| &tensors[b.tensor.as_str()][b.part as usize].1);
            let buffers = buffers.chain((!shader.loops.params.is_empty()).then_some(block));
            let entries: Vec<_> = buffers
                .zip(0..)
                .map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
                .collect();
            let layout = pipeline.get_bind_group_layout(0);
            let group = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
            let group = self.device.create_bind_group(&group);
            let mut commands = self.device.create_command_encoder(&Default::default());
            let mut pass = commands.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            let [x, y] = &shader.dispatch;
            pass.dispatch_workgroups(x.eval(&params).expect("x"), y.eval(&params).expect("y"), 1);
            drop(pass);
            self.queue.submit([commands.finish()]);
        }
        let all = program.tensors.iter().map(|l| {
            let words: Vec<u32> =
                tensors[l.name.as_str()].iter().flat_map(|(words, buffer)| self.read(buffer, *words)).collect();
            (l.name.clone(), unpack(l, &words, &inputs[&l.name]))
        });
        keep_outputs(kernel, all.collect())
    }

    fn read(&self, buffer: &wgpu::Buffer, words: usize) -> Vec<u32> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let descriptor = wgpu::BufferDescriptor { label: None, size: buffer.size(), usage, mapped_at_creation: false };
        let staging = self.device.create_buffer(&descriptor);
        let mut commands = self.device.create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.queue.submit([commands.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |_| ());
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
        let view = staging.get_mapped_range(..).expect("it is mapped");
        view.chunks_exact(4).take(words).map(|c| u32::from_le_bytes(c.try_into().expect("four bytes"))).collect()
    }
}
