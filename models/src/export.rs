//! A model's shaders for another host: every text of a plan, and a manifest that says how to run them.
//!
//! From a [`Plan`] it makes a [`Manifest`] and files. The rule: what the runtime here knows about a plan stands in the manifest, so
//! that a host needs nothing else but the model's weights; each text is one shader with one entry. Absent: weights, and any
//! opinion about how commands are submitted.

mod manifest;

use std::collections::BTreeSet;
use std::sync::Arc;

use tilewright_codegen::figures::Cost;
use tilewright_codegen::hlsl;
use tilewright_codegen::loops::Access;
use tilewright_codegen::names::Names;
use tilewright_codegen::program::{Program, Shader, TensorLayout};
use tilewright_codegen::target::Target;
use tilewright_codegen::wgsl::{self, Dialect};
use tilewright_runtime::{Graph, Op, Role, ScalarSource};

use crate::checkpoint::Stacked;
use crate::config::Config;
use crate::engine::assembly::Placed;
use crate::engine::{Plan, Stage};
use crate::kernels::attention_parts;
use crate::qwen2::PARTS;
use crate::review::{Language, head::Head};
use crate::rope::{attention_factor, inverse_frequencies};
pub use manifest::{
    Binding, Buffer, Device, Dispatch, EXPRESSIONS, FORMAT, Field, Input, Kernel, Layout, Manifest, Operation, Output,
    Part, RULES, Rotary, Scalar, Step, Tensor, Text, Tokens,
};

/// The language of exported texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// WGSL as wgpu takes it.
    Wgsl,
    /// WGSL as browsers take it.
    WgslWeb,
    /// HLSL, shader model 6.0.
    Hlsl,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Wgsl => "wgsl",
            Form::WgslWeb => "wgsl-web",
            Form::Hlsl => "hlsl",
        }
    }

    fn extension(self) -> &'static str {
        if self == Form::Hlsl { "hlsl" } else { "wgsl" }
    }

    fn text(self, shader: &Shader) -> String {
        match self {
            Form::Wgsl => shader.wgsl.clone(),
            Form::WgslWeb => wgsl::print(&shader.loops, Dialect::Web),
            Form::Hlsl => hlsl::print(&shader.loops),
        }
    }
}

/// A file to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Its name in the folder.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// DXC's profile for the HLSL here.
const PROFILE: &str = "cs_6_0";
/// DXC's other flags.
const FLAGS: [&str; 4] = ["-HV", "2018", "-Ges", "-WX"];

/// The manifest of a model's plan for a target, and the texts that it names.
pub fn export(model: &str, config: &Config, target: &Target, plan: &Plan, form: Form) -> (Manifest, Vec<File>) {
    let mut programs: Vec<Arc<Program>> = Vec::new();
    for op in plan.graphs.iter().flat_map(|graph| &graph.ops) {
        if !programs.iter().any(|p| Arc::ptr_eq(p, &op.program)) {
            programs.push(op.program.clone());
        }
    }
    let mut files: Vec<File> = Vec::new();
    let kernels = programs.iter().map(|program| kernel(program, form, &mut files)).collect();
    let step = |name, meaning, stage| step(name, meaning, plan.graph(stage), &programs);
    let mut manifest = Manifest {
        format: FORMAT.into(),
        model: model.into(),
        tier: plan.tier.number,
        language: form.name().into(),
        device: device(target, form),
        rules: RULES.map(String::from).to_vec(),
        expressions: EXPRESSIONS.into(),
        tokens: Tokens { vocab: plan.vocab, end: config.eos_token_ids.clone() },
        rotary: rotary(config),
        checkpoint: checkpoint(model),
        context: plan.context,
        parameters: parameters(plan),
        inputs: inputs(plan),
        outputs: outputs(plan),
        buffers: plan
            .buffers()
            .iter()
            .map(|b| Buffer { name: b.name.clone(), bytes: b.bytes.next_multiple_of(4).max(16), role: role(b.role) })
            .collect(),
        weights: plan.weights.iter().map(tensor).collect(),
        kernels,
        steps: vec![
            step(
                "prefill",
                "T positions from `pos`: fills the cache; the residual stream of all of them stays in a buffer",
                Stage::Prefill,
            ),
            step("last", "behind prefill: the logits of row `row` of it", Stage::Last),
        ],
    };
    let gives = if writes(plan, plan.logits) { "logits" } else { "token" };
    let decode = |more: &str| format!("one position, `pos`{more}: fills the cache and gives its {gives}; T is 1");
    match plan.tier.split.filter(|most| plan.decode_stage(*most) == Stage::Far) {
        Some(most) => manifest.steps.extend([
            step("decode", &decode(&format!(" under {most}")), Stage::Decode),
            step("decode_far", &decode(&format!(", {most} or more")), Stage::Far),
        ]),
        None => manifest.steps.push(step("decode", &decode(""), Stage::Decode)),
    }
    (manifest, files)
}

/// Whether a decode step leaves what it makes in a buffer.
fn writes(plan: &Plan, id: tilewright_runtime::BufferId) -> bool {
    plan.writes(Stage::Decode, id)
}

fn device(target: &Target, form: Form) -> Device {
    let hlsl = form == Form::Hlsl;
    Device {
        target: target.name.clone(),
        invocations: target.max_invocations,
        workgroup_bytes: target.max_workgroup_bytes,
        binding_bytes: target.max_binding_bytes,
        storage_buffers: target.max_storage_buffers,
        subgroup_sizes: target.subgroups.map(|sizes| [sizes.min, sizes.max]),
        profile: hlsl.then(|| PROFILE.into()),
        flags: if hlsl { FLAGS.map(String::from).to_vec() } else { Vec::new() },
    }
}

fn rotary(config: &Config) -> Rotary {
    Rotary {
        theta: config.rope.theta,
        scaling: config.rope.to_json(),
        frequencies: inverse_frequencies(config),
        factor: attention_factor(&config.rope.scaling),
        formula: "row p, column i: cos(p * frequencies[i]) * factor, and behind all cosines of the row the sines likewise; the product \
                  with p is rounded to f32"
            .into(),
    }
}

/// Where a host finds the weights.
fn checkpoint(model: &str) -> String {
    format!(
        "not in this folder: the tensors that `weights` names as sources, of model.safetensors or the shards of \
         model.safetensors.index.json in the folder of {model}; the bundled model's is models/assets/tiny in the sources of the \
         exporting program, and `tilewright synth --preset NAME DIR` writes one of any shape"
    )
}

fn parameters(plan: &Plan) -> Vec<Input> {
    let parameter = |name: &str, meaning: String| Input { name: name.into(), meaning };
    let parts = plan.tier.split.map(|_| {
        let least = attention_parts::CHUNK;
        parameter(
            PARTS,
            format!("ceil((pos + T) / {least}): in how many parts a step behind many positions reads the cache"),
        )
    });
    let all = [
        parameter("T", format!("positions of the step, 1 to {}", plan.chunk)),
        parameter("pos", format!("the first of them, from 0; pos + T is at most {}", plan.context)),
        parameter("limit", format!("ids from here on are never picked, 1 to {}", plan.vocab)),
    ];
    all.into_iter().chain(parts).collect()
}

/// Buffers that the host fills besides weights.
fn inputs(plan: &Plan) -> Vec<Input> {
    let name = |id: tilewright_runtime::BufferId| plan.buffers()[id.0].name.clone();
    let input = |name: String, meaning: &str| Input { name, meaning: meaning.into() };
    let angles = &plan.angles.layout;
    let columns = angles.dims.last().copied().unwrap_or_default();
    let half = columns / 2;
    let rows = format!(
        "once: row p of [{}, {columns}] is made by the formula of `rotary` with its frequencies 0 to {}; f32, rows {} elements apart",
        plan.context,
        half.saturating_sub(1),
        angles.stride
    );
    vec![
        input(name(plan.ids), "before a step: its T token ids, u32"),
        input(name(plan.row), "before `last`: one u32, the row of the prefill that is asked for, 0 to T - 1"),
        input(name(plan.angles.buffers[0]), &rows),
    ]
}

fn outputs(plan: &Plan) -> Vec<Output> {
    let output = |id: tilewright_runtime::BufferId, bytes, meaning: &str| Output {
        buffer: id.0,
        name: plan.buffers()[id.0].name.clone(),
        bytes,
        meaning: meaning.into(),
    };
    let after = if writes(plan, plan.logits) { "after `last` and `decode`" } else { "after `last`" };
    let logits = output(plan.logits, u64::from(plan.vocab) * 4, &format!("{after}: a logit for each id, f32"));
    let token = plan.token.map(|id| {
        output(id, 4, "after `last` and `decode`: the largest logit's id, u32; 4294967295 where a logit is not finite")
    });
    std::iter::once(logits).chain(token).collect()
}

fn role(role: Role) -> String {
    format!("{role:?}").to_lowercase()
}

fn tensor(placed: &Placed) -> Tensor {
    let parts = placed.buffers.iter().zip(&placed.layout.parts);
    Tensor {
        name: placed.name.clone(),
        sources: Stacked::sources(&placed.name),
        layout: layout(&placed.layout),
        parts: parts.map(|(id, rows)| Part { buffer: id.0, rows: *rows }).collect(),
    }
}

fn layout(layout: &TensorLayout) -> Layout {
    Layout {
        dims: layout.dims.clone(),
        element: if layout.integer { "u32".into() } else { layout.storage.to_string() },
        row_stride: layout.stride,
    }
}

fn kernel(program: &Program, form: Form, files: &mut Vec<File>) -> Kernel {
    let head =
        program.shaders.first().map(|s| Head::read(&Language::Wgsl.print(s), Language::Wgsl)).unwrap_or_default();
    let stem = stem(program, &head, files);
    let shader = |(i, shader): (usize, &Shader)| {
        let part = if program.shaders.len() == 1 { String::new() } else { format!("-{i}") };
        let name = format!("{stem}{part}.{}", form.extension());
        files.push(File { name: name.clone(), text: form.text(shader) });
        text(name, shader, form)
    };
    let shaders = program.shaders.iter().enumerate().map(shader).collect();
    Kernel {
        kernel: program.kernel.clone(),
        schedule: head.schedule.clone(),
        shape: head.subject().split_once(", shape ").map(|(_, shape)| shape.to_string()).unwrap_or_default(),
        tensors: program.tensors.iter().map(|t| (t.name.clone(), layout(t))).collect(),
        shaders,
    }
}

/// A file name that says kernel, schedule and extents, and is not taken.
fn stem(program: &Program, head: &Head, files: &[File]) -> String {
    let shape = head.subject().split_once(", shape ").map(|(_, shape)| shape).unwrap_or_default();
    let slug: String = shape.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let stem = format!("{}-{}-{slug}", program.kernel, program.schedule);
    let taken: BTreeSet<&str> = files.iter().filter_map(|f| f.name.split('.').next()).collect();
    let free = |stem: &str| !taken.contains(stem) && !taken.contains(format!("{stem}-0").as_str());
    let numbered = (2..).map(|i| format!("{stem}-v{i}"));
    std::iter::once(stem.clone()).chain(numbered).find(|s| free(s)).unwrap_or(stem)
}

fn text(file: String, shader: &Shader, form: Form) -> Text {
    let loops = &shader.loops;
    let mut registers = [0u32; 2];
    let mut bindings: Vec<Binding> = Vec::new();
    for (i, buffer) in loops.buffers.iter().enumerate() {
        let written = buffer.access == Access::ReadWrite;
        let register = format!("{}{}", if written { 'u' } else { 't' }, registers[usize::from(written)]);
        registers[usize::from(written)] += 1;
        bindings.push(Binding {
            binding: i as u32,
            kind: if written { "read-write storage" } else { "read-only storage" }.into(),
            register: (form == Form::Hlsl).then_some(register),
            tensor: Some(buffer.tensor.clone()),
            part: Some(buffer.part),
            fields: Vec::new(),
        });
    }
    if !loops.params.is_empty() {
        let fields = loops.params.iter().enumerate();
        bindings.push(Binding {
            binding: loops.buffers.len() as u32,
            kind: "uniform".into(),
            register: (form == Form::Hlsl).then(|| "b0".into()),
            tensor: None,
            part: None,
            fields: fields
                .map(|(i, p)| Field { name: p.name.clone(), element: p.ty.to_string(), offset: i as u32 * 4 })
                .collect(),
        });
    }
    let [x, y] = &shader.dispatch;
    Text {
        file,
        entry: if form == Form::Hlsl { hlsl::ENTRY.into() } else { Names::new(loops).entry },
        workgroup: loops.workgroup,
        workgroup_bytes: Cost::of(loops, &shader.dispatch).workgroup_bytes,
        subgroups: shader.subgroups,
        dispatch: Dispatch { x: x.to_string(), y: y.to_string() },
        bindings,
    }
}

fn step(name: &str, meaning: &str, graph: &Graph, programs: &[Arc<Program>]) -> Step {
    let operation = |op: &Op| Operation {
        label: op.label.clone(),
        kernel: programs.iter().position(|p| Arc::ptr_eq(p, &op.program)).unwrap_or_default(),
        buffers: {
            let tensors = op.program.tensors.iter().map(|t| t.name.clone());
            tensors.zip(op.bindings.iter().map(|ids| ids.iter().map(|id| id.0).collect())).collect()
        },
        scalars: op.scalars.iter().map(|(name, source)| (name.clone(), scalar(source))).collect(),
    };
    Step { name: name.into(), meaning: meaning.into(), operations: graph.ops.iter().map(operation).collect() }
}

fn scalar(source: &ScalarSource) -> Scalar {
    match source {
        ScalarSource::Param(name) => Scalar::Parameter(name.clone()),
        ScalarSource::U32(n) => Scalar::U32(*n),
        ScalarSource::F32(x) => Scalar::F32Bits(x.to_bits()),
    }
}
