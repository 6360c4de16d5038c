//! One tier of a model against another: settings, what a decode step costs, and every shader that differs.
//!
//! Both tiers are planned for a wide device, which can run every schedule; nothing runs. Beside it every tier's plan as it is
//! reviewed. The rule: a shader is paired with the one
//! of the same kernel and extents, and of those that change alike only the first is shown, the others being named with it.

use std::fmt::Write;

use tilewright_codegen::program::Program;
use tilewright_codegen::target::Target;
use tilewright_dsl::schedule::Schedule;
use tilewright_runtime::Submission;
use tilewright_runtime::plan::Counters;

use super::compare::{Comparison, Documents, Pair, Texts, figures, lines};
use super::head::Head;
use super::{Language, size};
use crate::config::Config;
use crate::engine::{Engine, EngineOptions, Plan, PlanReport, TierChoice, Wants};
use crate::error::ModelError;
use crate::files::BUNDLED;
use crate::sampler::SamplingParams;
use crate::synth::preset;
use crate::tiers::{self, Tier};
use crate::tune::{Phase, Site};

/// Positions that both plans make room for, if the model has as many.
const CONTEXT: usize = 2048;

/// Every tier's plan of two models, as it is reviewed: by its place under `snapshots/`, for the least device there is, and for a
/// wide one where that has another plan; the last tier's also where tokens are sampled.
///
/// # Errors
/// A tier that is not possible there.
pub fn texts() -> Result<Documents, ModelError> {
    let mut found = Documents::new();
    for (model, config) in [("tiny", Config::open(BUNDLED.as_ref())?), ("qwen2.5-0.5b", preset("qwen2.5-0.5b")?)] {
        for tier in tiers::all() {
            let [least, wide] = [Target::webgpu(), Target::wide()].map(|target| text(model, &config, tier, &target));
            let (least, wide) = (least?, wide?);
            // The first line names the target.
            let rest = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_string());
            if rest(&wide) != rest(&least) {
                found.insert(format!("plans/{model}-{}-{}", tier.number, Target::wide().name), wide);
            }
            found.insert(format!("plans/{model}-{}", tier.number), least);
        }
        let last = tiers::tier(tiers::count() - 1);
        for (name, wants) in [("pairs", Wants::Pairs(SAMPLED)), ("sampled", Wants::Token(SAMPLED))] {
            let options = EngineOptions { wants, plain_argmax: false, ..options(&config, last.number) };
            let text = planned(model, &config, last, &Target::wide(), &options)?;
            found.insert(format!("plans/{model}-{}-{name}", last.number), text);
        }
    }
    Ok(found)
}

/// Settings that plans are reviewed with where tokens are sampled.
const SAMPLED: SamplingParams =
    SamplingParams { temperature: 0.7, top_k: 50, top_p: 0.8, repetition_penalty: 1.05, seed: 0 };

fn text(model: &str, config: &Config, tier: &Tier, target: &Target) -> Result<String, ModelError> {
    planned(model, config, tier, target, &options(config, tier.number))
}

fn planned(
    model: &str,
    config: &Config,
    tier: &Tier,
    target: &Target,
    options: &EngineOptions,
) -> Result<String, ModelError> {
    let report = Engine::plan(config, target, options)?;
    let context = options.context.unwrap_or_default();
    let mut text = format!("model {model}, tier {} ({}), target {}", tier.number, tier.name, target.name);
    text += &format!(", context {context}\nchange: {}\n", tier.change);
    for line in tiers::changed_lines(tier) {
        text += &format!("    {line}\n");
    }
    Ok(text + &format!("\nmemory\n{}\n\n{}", report.memory, report.ops))
}

fn options(config: &Config, number: usize) -> EngineOptions {
    EngineOptions {
        tier: TierChoice::Number(number),
        plain_argmax: true,
        context: Some(config.context().min(CONTEXT) as u32),
        ..EngineOptions::default()
    }
}

/// A shader of a plan.
struct Shader {
    kernel: String,
    subject: String,
    schedule: String,
    name: String,
    texts: Texts,
}

/// Compares two tiers of a model.
///
/// # Errors
/// A tier that is not possible on the target.
pub fn tiers(config: &Config, head: &str, model: &str, old: usize, new: usize) -> Result<Comparison, ModelError> {
    let (old_side, new_side) = (plan(config, head, old)?, plan(config, head, new)?);
    let (old, new) = (tiers::tier(old), tiers::tier(new));
    let between: Vec<&Tier> = tiers::all().iter().filter(|t| t.number > old.number && t.number <= new.number).collect();
    let change = |t: &&Tier| format!("tier {} ({}): {}", t.number, t.name, t.change);
    Ok(Comparison {
        title: format!("{model}: tier {} ({}) -> tier {} ({})", old.number, old.name, new.number, new.name),
        old: format!("tier {}", old.number),
        new: format!("tier {}", new.number),
        notes: between.iter().map(change).chain([format!("both are planned for {}", size(&Target::wide()))]).collect(),
        settings: lines(&settings(old, &old_side.sites), &settings(new, &new_side.sites)),
        plan: figures(&costs(&old_side.report), &costs(&new_side.report)),
        pairs: pairs(&old_side.shaders, &new_side.shaders),
        documents: Vec::new(),
    })
}

/// One tier's plan, as far as it is compared.
struct Planned {
    report: PlanReport,
    shaders: Vec<Shader>,
    sites: Vec<Site>,
}

fn plan(config: &Config, head: &str, number: usize) -> Result<Planned, ModelError> {
    let (plan, notes) = Plan::choose(config, head, &Target::wide(), &options(config, number), true)?;
    let mut shaders: Vec<Shader> = Vec::new();
    for program in plan.programs() {
        for shader in of_program(program) {
            if !shaders
                .iter()
                .any(|s| s.kernel == shader.kernel && s.subject == shader.subject && s.name == shader.name)
            {
                shaders.push(shader);
            }
        }
    }
    Ok(Planned { report: plan.report(notes)?, shaders, sites: plan.sites })
}

fn of_program(program: &Program) -> Vec<Shader> {
    let part = |i: usize| if program.shaders.len() == 1 { String::new() } else { format!(" part {i}") };
    let shader = |(i, shader): (usize, &tilewright_codegen::program::Shader)| {
        let texts: Texts = Language::ALL.into_iter().map(|language| (language, language.print(shader))).collect();
        let head = texts.first_key_value().map(|(language, text)| Head::read(text, *language)).unwrap_or_default();
        Shader {
            kernel: program.kernel.clone(),
            subject: head.subject().to_string() + &part(i),
            schedule: head.schedule,
            name: program.schedule.clone() + &part(i),
            texts,
        }
    };
    program.shaders.iter().enumerate().map(shader).collect()
}

/// Shaders of equal kernel and extents; a change that comes again at other extents is noted only.
fn pairs(old: &[Shader], new: &[Shader]) -> Vec<Pair> {
    let partner =
        |side: &'_ [Shader], s: &Shader| side.iter().position(|o| o.kernel == s.kernel && o.subject == s.subject);
    let both = new.iter().map(|n| (partner(old, n).map(|i| &old[i]), Some(n)));
    let gone = old.iter().filter(|o| partner(new, o).is_none()).map(|o| (Some(o), None));
    let mut found: Vec<(Pair, [Option<String>; 2], Vec<String>)> = Vec::new();
    for (old, new) in both.chain(gone) {
        let Some(any) = new.or(old) else { continue };
        let schedules = [old, new].map(|side| side.map(|s| s.schedule.clone()));
        if let Some((_, _, shapes)) = found.iter_mut().find(|(pair, s, _)| pair.kernel == any.kernel && *s == schedules)
        {
            shapes.push(any.subject.clone());
            continue;
        }
        let name = match (old, new) {
            (Some(old), Some(new)) if old.name != new.name => format!("{} -> {}", old.name, new.name),
            _ => any.name.clone(),
        };
        let [old, new] = [old, new].map(|side| side.map(|s| s.texts.clone()));
        found.push((Pair { kernel: any.kernel.clone(), name, note: String::new(), old, new }, schedules, Vec::new()));
    }
    let noted = |(mut pair, _, shapes): (Pair, _, Vec<String>)| {
        if !shapes.is_empty() {
            let shapes: Vec<&str> =
                shapes.iter().filter_map(|s| s.split_once(", shape ").map(|(_, shape)| shape)).collect();
            pair.note = format!("likewise at {}", shapes.join("; "));
        }
        pair
    };
    found.into_iter().map(noted).collect()
}

/// Everything that a tier sets, as text; of its schedules those that the plan runs, in the phases in which it runs them.
fn settings(tier: &Tier, sites: &[Site]) -> String {
    let runs = |s: &Schedule, prefill: bool| {
        let here = |site: &&Site| site.kernel.name == s.kernel && site.program.schedule == s.name;
        sites.iter().filter(here).any(|site| (site.phase == Phase::Prefill) == prefill)
    };
    let submission = match tier.submission {
        Submission::PerOp { wait: true } => "op by op, waiting for each",
        Submission::PerOp { wait: false } => "op by op",
        Submission::PerLayer => "layer by layer",
        Submission::PerToken => "a token at once",
    };
    let mut text = format!("weights: {}\nsubmitted: {submission}\n", tier.weights);
    let _ = writeln!(text, "attention: {}", if tier.single_pass { "one pass" } else { "two passes" });
    let _ = writeln!(text, "greedy token: {}", if tier.device_argmax { "on the device" } else { "on the host" });
    // By name, so that a replaced schedule stands beside the one that it replaces.
    let mut schedules: Vec<_> = tier.schedules.iter().collect();
    schedules.sort_by(|a, b| a.decode.kernel.cmp(&b.decode.kernel));
    let mut idle = Vec::new();
    for phases in schedules {
        let both = phases.prefill == phases.decode;
        let told = match (runs(&phases.prefill, true), runs(&phases.decode, false)) {
            (true, true) if both => vec![("prefill and decode", &phases.prefill)],
            (prefill, decode) => {
                let asked = [("prefill", &phases.prefill, prefill), ("decode", &phases.decode, decode)];
                // A schedule that either phase takes is not idle, whichever it is that falls back on it.
                let never = |s: &Schedule| !runs(s, true) && !runs(s, false);
                let left = asked.iter().filter(|(_, s, runs)| !runs && never(s));
                let left = left.take(if both { 1 } else { 2 });
                idle.extend(left.map(|(phase, s, _)| match both {
                    true => format!("{} {} (prefill and decode)", s.kernel, s.name),
                    false => format!("{} {} ({phase})", s.kernel, s.name),
                }));
                asked.into_iter().filter(|a| a.2).map(|(phase, s, _)| (phase, s)).collect()
            }
        };
        for (phase, schedule) in told {
            let line = format!("{phase}: {schedule}");
            // What is listed for a phase twice is told once.
            if !text.contains(&line) {
                text += &line;
            }
        }
    }
    if !idle.is_empty() {
        let _ = writeln!(text, "not run at this model's extents on this device: {}", idle.join(", "));
    }
    text
}

fn costs(report: &PlanReport) -> Vec<(String, String)> {
    let Counters { dispatches, submits, waits, bytes_read, bytes_written, readback_bytes } = report.decode;
    let row = |name: &str, value: u64| (name.to_string(), value.to_string());
    vec![
        row("dispatches of a decode step", dispatches.into()),
        row("submits", submits.into()),
        row("waits", waits.into()),
        row("bytes read", bytes_read),
        row("bytes written", bytes_written),
        row("bytes read back", readback_bytes),
        row("bytes of weights", report.weight_bytes),
        row("bytes of all buffers", report.memory_bytes),
    ]
}
