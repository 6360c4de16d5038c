//! `doctor`: what there is, and what would happen.
//!
//! The rule: every check is made, also after one that failed, and the exit code is 1 if any failed. A command line that is wrong for
//! this machine or model ends it at once. Nothing is loaded and nothing is
//! changed. Absent: guesses; what a driver does not tell is not printed.

use tilewright_codegen::target::Target;
use tilewright_runtime::{self as runtime, AdapterKind, Device, ShaderLanguage, Size};

use super::args::{DoctorArgs, ModelArgs};
use super::error::{CliError, asks_too_much};
use super::model::Folder;
use super::output;
use crate::chat::ChatTemplate;
use crate::checkpoint::{Checkpoint, WeightSource};
use crate::engine::{Backend, Engine, EngineOptions, TierChoice};
use crate::error::ModelError;
use crate::tokenizer::Tokenizer;
use crate::tune::Tuning;
use crate::variants::{Kv, KvStore};

/// Runs the command.
pub fn run(args: &DoctorArgs) -> Result<(), CliError> {
    let mut findings = Findings::default();
    output::out(&format!("tilewright {}\n", env!("CARGO_PKG_VERSION")))?;
    let target = device(args, &mut findings)?;
    if args.model.is_some() {
        let target = target.unwrap_or_else(|| Target { name: "the least WebGPU device".into(), ..Target::webgpu() });
        model(args, &target, &mut findings)?;
    }
    let failed = match findings.wrong.len() {
        0 => return Ok(()),
        1 => "one check failed; it is marked `wrong` above".to_string(),
        n => format!("{n} checks failed; they are marked `wrong` above"),
    };
    Err(CliError::Unwell(format!("{failed}:\n  {}", findings.wrong.join("\n  "))))
}

#[derive(Default)]
struct Findings {
    /// First lines of what is wrong.
    wrong: Vec<String>,
}

impl Findings {
    fn wrong(&mut self, error: &dyn std::fmt::Display) -> Result<(), CliError> {
        let text = error.to_string();
        // Rendered schedule errors begin with the word already.
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        self.wrong.extend(text.lines().next().map(String::from));
        output::out(&format!("  wrong: {text}\n"))
    }

    /// Prints the fine words of a value, or what is wrong.
    fn check<T, E: std::fmt::Display>(
        &mut self,
        result: Result<T, E>,
        fine: impl FnOnce(&T) -> String,
    ) -> Result<Option<T>, CliError> {
        match result {
            Ok(value) => {
                let text = fine(&value);
                if !text.is_empty() {
                    output::out(&format!("  {text}\n"))?;
                }
                Ok(Some(value))
            }
            Err(error) => {
                self.wrong(&error)?;
                Ok(None)
            }
        }
    }
}

fn device(args: &DoctorArgs, findings: &mut Findings) -> Result<Option<Target>, CliError> {
    let adapters = runtime::adapters();
    output::out("\nadapters, best first\n")?;
    for (number, adapter) in adapters.iter().enumerate() {
        output::out(&format!("  {number}: {adapter}\n"))?;
    }
    let choice = args.device.adapter.clone().unwrap_or_default();
    let opened = Device::open(&choice, args.device.target.as_ref());
    if let Err(error) = &opened
        && asks_too_much(error)
    {
        return Err(error.clone().into());
    }
    let Some(device) = findings.check(opened, |_| String::new())? else {
        return Ok(None);
    };

    output::out(&format!("\nchosen: {}\n{}", device.adapter(), limits(device.target())))?;
    let timestamps = if device.timestamps() { "yes" } else { "no: --profile does not work" };
    output::out(&format!("  GPU timestamps          {timestamps}\n"))?;
    for note in device.notes() {
        output::out(&format!("  note: {note}\n"))?;
    }
    findings.check(runtime::copy_bandwidth(&device), |gb| {
        format!("copy                    {gb:.1} GB/s, read and written")
    })?;
    findings.check(runtime::empty_dispatch(&device), |us| format!("empty dispatch          {us:.1} µs"))?;
    findings.check(Tuning::Auto.found(device.adapter()), |found| {
        let (count, notes) = (found.tuned.entries.len(), found.notes.iter().map(|n| format!("\n  note: {n}")));
        let none = "none for this adapter: `tilewright tune` makes them".to_string();
        let text = if count == 0 { none } else { format!("{count}, from {}", found.source) };
        format!("tuned schedules         {text}{}", notes.collect::<String>())
    })?;
    if device.adapter().kind == AdapterKind::Software {
        output::out(&format!("  hint: this is the processor, not a GPU; {DRIVERS}\n"))?;
    }
    Ok(Some(device.target().clone()))
}

#[cfg(target_os = "linux")]
const DRIVERS: &str = "if the machine has one, install its Vulkan driver (NVIDIA: the driver package with its Vulkan part; AMD and \
    Intel: mesa-vulkan-drivers), and see that you may open /dev/dri (group `render`)";
#[cfg(not(target_os = "linux"))]
const DRIVERS: &str = "if the machine has one, install its vendor's driver";

fn limits(target: &Target) -> String {
    let subgroups = match target.subgroups {
        Some(s) if s.min == s.max => format!("{} lanes", s.min),
        Some(s) => format!("{} to {} lanes", s.min, s.max),
        None => "none".into(),
    };
    let sides: Vec<String> = target.fragments.iter().map(|n| format!("{n} × {n}")).collect();
    let matrices = if sides.is_empty() { "none".into() } else { format!("f16 fragments of {}", sides.join(" and ")) };
    let lines = [
        ("workgroup", format!("at most {} invocations", target.max_invocations)),
        ("workgroup memory", Size(target.max_workgroup_bytes.into()).to_string()),
        ("binding", format!("at most {}", Size(target.max_binding_bytes))),
        ("buffer", format!("at most {}", Size(target.max_buffer_bytes))),
        ("storage buffers", format!("at most {} a shader", target.max_storage_buffers)),
        ("workgroups", format!("at most {} a dimension", target.max_workgroups)),
        ("subgroups", subgroups),
        ("cooperative matrices", matrices),
    ];
    lines.iter().map(|(name, value)| format!("  {name:<23} {value}\n")).collect()
}

fn model(args: &DoctorArgs, target: &Target, findings: &mut Findings) -> Result<(), CliError> {
    let named = ModelArgs { model: args.model.clone() };
    output::out("\nmodel\n")?;
    let folder = findings.check(Folder::open(&named), |folder| {
        let c = &folder.config;
        format!(
            "{}: {} layers, width {}, MLP {}, {} heads of {} with {} key-value heads, vocabulary {}, context {}",
            folder.dir.display(),
            c.num_hidden_layers,
            c.hidden_size,
            c.intermediate_size,
            c.num_attention_heads,
            c.head_dim,
            c.num_key_value_heads,
            c.vocab_size,
            c.context()
        )
    })?;
    let Some(folder) = folder else { return Ok(()) };
    let context = folder.room(args.context)?;
    plan(args, target, &folder, context, findings)?;
    files(&folder, findings)
}

/// What of the model goes where; its configuration is enough to know.
fn plan(
    args: &DoctorArgs,
    target: &Target,
    folder: &Folder,
    context: usize,
    findings: &mut Findings,
) -> Result<(), CliError> {
    // What is wrong with the files is told last, with them.
    let held = Checkpoint::open(&folder.dir, &folder.config).map(|w| w.stores()).unwrap_or_default();
    let stores = args.store.store.unwrap_or_default().over(held).map_err(ModelError::from)?;
    let options = EngineOptions {
        tier: TierChoice::Auto,
        backend: Backend::Wgpu,
        adapter: args.device.adapter.clone().unwrap_or_default(),
        shaders: ShaderLanguage::Wgsl,
        target: args.device.target.clone(),
        schedules: Vec::new(),
        attention: None,
        kv_store: KvStore::F32,
        kv: Kv::Contiguous,
        kv_pages: None,
        tuned: Tuning::Off,
        stores,
        context: u32::try_from(context).ok(),
        profile: false,
        plain_argmax: true,
        vocab_limit: None,
        notice: output::note,
        ..EngineOptions::default()
    };
    output::out(&format!("\nplan on {} with a context of {context}\n", target.name))?;
    let plan = findings.check(Engine::plan(&folder.config, target, &options), |plan| {
        let best = if plan.notes.is_empty() { ": the best there is" } else { "" };
        format!("tier {} ({}){best}\n  {}", plan.tier, plan.tier_name, plan.memory.replace('\n', "\n  "))
    })?;
    for note in plan.iter().flat_map(|plan| &plan.notes) {
        output::out(&format!("  note: {note}\n"))?;
    }
    Ok(())
}

/// The model's files, last, so that what is wrong with them is next to the end.
fn files(Folder { dir, config, .. }: &Folder, findings: &mut Findings) -> Result<(), CliError> {
    output::out("\nfiles\n")?;
    let weights = findings.check(Checkpoint::open(dir, config), |w| {
        let codes = if w.stores().quantises() { format!(", quantised as {}", w.stores()) } else { String::new() };
        format!("weights: {} in files{codes}, all tensors there", Size(w.stored_bytes()))
    })?;
    for note in weights.iter().flat_map(|w| w.notes()) {
        output::out(&format!("  note: {note}\n"))?;
    }
    findings.check(Tokenizer::open(dir, config), |t| {
        let name = |id: &u32| format!("{id} {}", t.token(*id).unwrap_or_default());
        let ends: Vec<String> = t.eos_ids().iter().map(name).collect();
        format!("tokenizer: {} entries; a text ends at {}", t.entries(), ends.join(", "))
    })?;
    let message = [crate::chat::Message::new("user", "Hello")];
    let rendered = ChatTemplate::open(dir).and_then(|template| template.render(&message, &[], true));
    findings.check(rendered, |prompt| match &prompt.note {
        Some(note) => format!("chat template: {note}"),
        None => "chat template: the model's own".into(),
    })?;
    Ok(())
}
