//! Another host: it knows WebGPU, JSON and safetensors, and of an exported folder only what its manifest says.

use half::f16;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Numbers by name.
pub type Numbers = BTreeMap<String, u32>;

/// An exported folder on a device.
pub struct Host {
    device: wgpu::Device,
    queue: wgpu::Queue,
    manifest: Value,
    buffers: Vec<wgpu::Buffer>,
    /// For each kernel, its pipelines.
    pipelines: Vec<Vec<wgpu::ComputePipeline>>,
}

fn ready<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        std::thread::yield_now();
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("no list `{key}` in {value}"))
}

fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or_else(|| panic!("{value} is no u32"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

impl Host {
    /// Opens a folder: buffers, and a pipeline for each shader file.
    pub fn open(folder: &Path) -> Host {
        let manifest = fs::read(folder.join("manifest.json")).expect("the manifest is there");
        let manifest: Value = serde_json::from_slice(&manifest).expect("the manifest is JSON");
        assert_eq!(manifest["format"], "tilewright shaders, version 1");
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = ready(instance.request_adapter(&Default::default())).expect("an adapter (a software one counts)");
        let shaders = list(&manifest, "kernels").iter().flat_map(|k| list(k, "shaders"));
        let subgroups = shaders.into_iter().any(|s| s["subgroups"] == true);
        let required_features = if subgroups { wgpu::Features::SUBGROUP } else { wgpu::Features::empty() };
        let request =
            wgpu::DeviceDescriptor { required_features, required_limits: adapter.limits(), ..Default::default() };
        let (device, queue) = ready(adapter.request_device(&request)).expect("a device");
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let buffer = |b: &Value| {
            let size = b["bytes"].as_u64().expect("a size");
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let buffers = list(&manifest, "buffers").iter().map(buffer).collect();
        let pipeline = |shader: &Value| {
            let source = fs::read_to_string(folder.join(text(&shader["file"]))).expect("the file is there");
            let source = wgpu::ShaderSource::Wgsl(source.into());
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
            // What a shader does not use is bound all the same, so the layout is the manifest's and not made from the text.
            let entries: Vec<_> = list(shader, "bindings").iter().map(entry).collect();
            let group = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
            let group = device.create_bind_group_layout(&group);
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&group)],
                immediate_size: 0,
            });
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(text(&shader["file"])),
                layout: Some(&layout),
                module: &module,
                entry_point: Some(text(&shader["entry"])),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            })
        };
        let kernels = list(&manifest, "kernels").iter();
        let pipelines = kernels.map(|k| list(k, "shaders").iter().map(pipeline).collect()).collect();
        Host { device, queue, manifest, buffers, pipelines }
    }

    /// The manifest.
    pub fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// Sends a model's tensors, f32 in a safetensors file, as the manifest says that they lie.
    pub fn weights(&self, file: &Path) {
        let bytes = fs::read(file).expect("the weights are there");
        let (length, rest) = bytes.split_first_chunk::<8>().expect("a length");
        let (header, data) = rest.split_at(u64::from_le_bytes(*length) as usize);
        let header: Value = serde_json::from_slice(header).expect("a header in JSON");
        for tensor in list(&self.manifest, "weights") {
            let source = |name: &Value| {
                let entry = &header[text(name)];
                assert_eq!(entry["dtype"], "F32");
                let range: Vec<usize> = list(entry, "data_offsets").iter().map(|n| number(n) as usize).collect();
                let words = data[range[0]..range[1]].chunks_exact(4);
                words.map(|b| f32::from_le_bytes(b.try_into().expect("4 bytes"))).collect::<Vec<f32>>()
            };
            let values: Vec<f32> = list(tensor, "sources").iter().flat_map(source).collect();
            let dims: Vec<usize> = list(tensor, "dims").iter().map(|n| number(n) as usize).collect();
            assert_eq!(dims.iter().product::<usize>(), values.len());
            let rows: Vec<&[f32]> = values.chunks(*dims.last().expect("a dimension")).collect();
            let mut first = 0;
            for part in list(tensor, "parts") {
                let count = if dims.len() == 1 { 1 } else { number(&part["rows"]) as usize };
                let bytes: Vec<u8> = rows[first..first + count].iter().flat_map(|row| lay(row, tensor)).collect();
                self.queue.write_buffer(&self.buffers[number(&part["buffer"]) as usize], 0, &bytes);
                first += count;
            }
        }
    }

    /// Fills an input by its name.
    pub fn write(&self, name: &str, words: &[u32]) {
        assert!(list(&self.manifest, "inputs").iter().any(|i| i["name"] == name), "`{name}` is no input");
        let index = list(&self.manifest, "buffers").iter().position(|b| b["name"] == name);
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.queue.write_buffer(&self.buffers[index.expect("an input is a buffer")], 0, &bytes);
    }

    /// Runs the operations of a step.
    pub fn step(&self, name: &str, parameters: &Numbers) {
        for parameter in list(&self.manifest, "parameters") {
            assert!(parameters.contains_key(text(&parameter["name"])), "no {parameter}");
        }
        let step = list(&self.manifest, "steps").iter().find(|s| s["name"] == name).expect("the step is there");
        for operation in list(step, "operations") {
            let index = number(&operation["kernel"]) as usize;
            let kernel = &self.manifest["kernels"][index];
            let scalars = operation["scalars"].as_object().expect("scalars by name");
            let scalars: Numbers = scalars.iter().map(|(name, s)| (name.clone(), scalar(s, parameters))).collect();
            for (i, shader) in list(kernel, "shaders").iter().enumerate() {
                self.dispatch(operation, shader, &self.pipelines[index][i], &scalars);
            }
        }
    }

    fn dispatch(&self, operation: &Value, shader: &Value, pipeline: &wgpu::ComputePipeline, scalars: &Numbers) {
        let mut resources = Vec::new();
        for binding in list(shader, "bindings") {
            let at = number(&binding["binding"]);
            let buffer = match text(&binding["kind"]) {
                "uniform" => self.uniform(list(binding, "fields"), scalars),
                _ => {
                    let parts = &operation["buffers"][text(&binding["tensor"])];
                    self.buffers[number(&parts[number(&binding["part"]) as usize]) as usize].clone()
                }
            };
            resources.push((at, buffer));
        }
        let entries: Vec<wgpu::BindGroupEntry> = resources
            .iter()
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding: *binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = pipeline.get_bind_group_layout(0);
        let group = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
        let group = self.device.create_bind_group(&group);
        let [x, y] = ["x", "y"].map(|d| value(text(&shader["dispatch"][d]), scalars));
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(x, y, 1);
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }

    fn uniform(&self, fields: &[Value], scalars: &Numbers) -> wgpu::Buffer {
        let mut bytes = vec![0u8; (fields.len() * 4).next_multiple_of(16)];
        for field in fields {
            let offset = number(&field["offset"]) as usize;
            bytes[offset..offset + 4].copy_from_slice(&scalars[text(&field["name"])].to_le_bytes());
        }
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let size = bytes.len() as u64;
        let made = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&made);
        self.queue.write_buffer(&buffer, 0, &bytes);
        buffer
    }

    /// The words of an output.
    pub fn read(&self, name: &str) -> Vec<u32> {
        let output = list(&self.manifest, "outputs").iter().find(|o| o["name"] == name).expect("the output is there");
        let size = output["bytes"].as_u64().expect("a size");
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let made = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let staging = self.device.create_buffer(&made);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&self.buffers[number(&output["buffer"]) as usize], 0, &staging, 0, size);
        self.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(wgpu::MapMode::Read, |_| ());
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device ends");
        let view = staging.slice(..).get_mapped_range().expect("it is mapped");
        view.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes"))).collect()
    }
}

/// A binding of the manifest as WebGPU's layouts have it.
fn entry(binding: &Value) -> wgpu::BindGroupLayoutEntry {
    let ty = match text(&binding["kind"]) {
        "read-only storage" => wgpu::BufferBindingType::Storage { read_only: true },
        "read-write storage" => wgpu::BufferBindingType::Storage { read_only: false },
        "uniform" => wgpu::BufferBindingType::Uniform,
        other => panic!("{other} is not known here"),
    };
    wgpu::BindGroupLayoutEntry {
        binding: number(&binding["binding"]),
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

/// A row as a layout wants it.
fn lay(row: &[f32], layout: &Value) -> Vec<u8> {
    let stride = number(&layout["row_stride"]) as usize;
    let padded = row.iter().copied().chain(std::iter::repeat(0.0)).take(stride);
    match text(&layout["element"]) {
        "f32" => padded.flat_map(f32::to_le_bytes).collect(),
        "f16" => padded.flat_map(|x| f16::from_f32(x).to_le_bytes()).collect(),
        other => panic!("{other} is not known here"),
    }
}

fn scalar(source: &Value, parameters: &Numbers) -> u32 {
    let (kind, value) = source.as_object().and_then(|o| o.iter().next()).expect("one kind");
    match kind.as_str() {
        "parameter" => parameters[text(value)],
        "u32" | "f32_bits" => number(value),
        other => panic!("{other} is not known here"),
    }
}

/// The value of an expression, by the grammar that the manifest states.
pub fn value(expression: &str, numbers: &Numbers) -> u32 {
    let mut words = words(expression);
    words.reverse();
    let value = sum(&mut words, numbers);
    assert!(words.is_empty(), "{expression} goes on with {words:?}");
    value
}

fn words(expression: &str) -> Vec<String> {
    let spaced = expression.chars().flat_map(|c| if "()+-*/,".contains(c) { vec![' ', c, ' '] } else { vec![c] });
    spaced.collect::<String>().split_whitespace().map(String::from).collect()
}

fn sum(words: &mut Vec<String>, numbers: &Numbers) -> u32 {
    let mut left = product(words, numbers);
    while let Some(sign) = words.pop_if(|w| w == "+" || w == "-") {
        let right = product(words, numbers);
        left = if sign == "+" { left + right } else { left.saturating_sub(right) };
    }
    left
}

fn product(words: &mut Vec<String>, numbers: &Numbers) -> u32 {
    let mut left = atom(words, numbers);
    while let Some(sign) = words.pop_if(|w| w == "*" || w == "/") {
        let right = atom(words, numbers);
        left = if sign == "*" { left * right } else { left / right };
    }
    left
}

fn atom(words: &mut Vec<String>, numbers: &Numbers) -> u32 {
    let word = words.pop().expect("an expression goes on");
    match word.as_str() {
        "(" => {
            let value = sum(words, numbers);
            assert_eq!(words.pop().as_deref(), Some(")"));
            value
        }
        "min" => {
            assert_eq!(words.pop().as_deref(), Some("("));
            let one = sum(words, numbers);
            assert_eq!(words.pop().as_deref(), Some(","));
            let other = sum(words, numbers);
            assert_eq!(words.pop().as_deref(), Some(")"));
            one.min(other)
        }
        "ceil" => {
            assert_eq!(words.pop().as_deref(), Some("("));
            let above = product_but_last(words, numbers);
            let below = atom(words, numbers);
            assert_eq!(words.pop().as_deref(), Some(")"));
            above.div_ceil(below)
        }
        name => name.parse().unwrap_or_else(|_| numbers[name]),
    }
}

/// What stands above the last `/` inside `ceil(a / n)`.
fn product_but_last(words: &mut Vec<String>, numbers: &Numbers) -> u32 {
    let mut left = atom(words, numbers);
    loop {
        let sign = words.pop().expect("ceil divides");
        let ends = words.get(words.len().saturating_sub(2)).is_some_and(|w| w == ")");
        match sign.as_str() {
            "/" if ends => return left,
            "/" => left /= atom(words, numbers),
            "*" => left *= atom(words, numbers),
            other => panic!("`{other}` inside ceil needs parentheses"),
        }
    }
}

/// The parameters of a step.
pub fn parameters(t: u32, pos: u32, limit: u32) -> Numbers {
    [("T", t), ("pos", pos), ("limit", limit), ("parts", (pos + t).div_ceil(256))]
        .map(|(name, n)| (name.to_string(), n))
        .into()
}

/// The kinds of a shader's bindings, in order.
pub fn kinds(shader: &Value) -> Value {
    json!(list(shader, "bindings").iter().map(|b| b["kind"].clone()).collect::<Vec<_>>())
}
