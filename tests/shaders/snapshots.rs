//! Each program's texts equal `snapshots/KERNEL/SCHEDULE.*`, each tier's plan equals `snapshots/plans/MODEL-TIER`, some
//! explanations equal `snapshots/explain/`, and no file is left over.

use crate::kept::Kept;
use crate::shapes::programs;
use std::path::{Path, PathBuf};
use tilewright_codegen::target::Target;
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, TierChoice};
use tilewright_models::review::Language;
use tilewright_models::review::explain::explain;
use tilewright_models::{review, tiers};

/// Folders of `snapshots/` that are no kernels.
const OTHERS: [&str; 3] = ["errors", "plans", "explain"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn shaders_are_as_reviewed() {
    let mut kept = Kept::new(&root().join("snapshots"));
    for program in programs() {
        for file in review::files(&program) {
            kept.keep(&format!("{}/{}", program.kernel, file.name), &file.text);
        }
    }
    kept.finish(|folder| !OTHERS.contains(&folder));
}

#[test]
fn plans_are_as_reviewed() {
    let mut kept = Kept::new(&root().join("snapshots"));
    for (model, folder) in
        [("tiny", "models/assets/tiny"), ("qwen2.5-0.5b", "models/tests/goldens/shapes/qwen2.5-0.5b")]
    {
        let config = Config::open(&root().join(folder)).expect("the model's configuration can be read");
        for tier in tiers::all() {
            kept.keep(&format!("plans/{model}-{}", tier.number), &plan(model, &config, tier));
        }
    }
    kept.finish(|folder| folder == "plans");
}

#[test]
fn explanations_are_as_reviewed() {
    let mut kept = Kept::new(&root().join("snapshots"));
    for (kernel, schedule) in [("linear", "coalesced"), ("attention", "grouped"), ("norm_linear", "row")] {
        let found = review::subjects().into_iter().find(|s| s.kernel.name == kernel && s.schedule.name == schedule);
        let s = found.expect("the schedule is reviewed");
        let text = explain(&s.kernel, &s.schedule, &s.shape, &review::target(), Language::Hlsl);
        kept.keep(&format!("explain/{kernel}-{schedule}"), &text.unwrap_or_else(|e| panic!("{e}")));
    }
    kept.finish(|folder| folder == "explain");
}

fn plan(model: &str, config: &Config, tier: &tiers::Tier) -> String {
    let target = Target::webgpu();
    let options = EngineOptions {
        tier: TierChoice::Number(tier.number),
        plain_argmax: true,
        context: Some(2048.min(config.context() as u32)),
        ..EngineOptions::default()
    };
    let report = Engine::plan(config, &target, &options).unwrap_or_else(|e| panic!("{e}"));
    let context = options.context.unwrap_or_default();
    let mut text = format!("model {model}, tier {} ({}), target {}", tier.number, tier.name, target.name);
    text += &format!(", context {context}\nchange: {}\n", tier.change);
    for line in tiers::changed_lines(tier) {
        text += &format!("    {line}\n");
    }
    text + &format!("\nmemory\n{}\n\n{}", report.memory, report.ops)
}

/// Names of files are part of what is reviewed: a schedule's own where it has one shader.
#[test]
fn a_file_a_shader_and_language() {
    let names = |schedule: &str| -> Vec<String> {
        let found = review::subjects().into_iter().find(|s| s.kernel.name == "linear" && s.schedule.name == schedule);
        let program = found.expect("the schedule is reviewed").compile().expect("it compiles");
        let files = review::files(&program);
        files
            .into_iter()
            .map(|f| f.name)
            .filter(|name| Path::new(name).extension().is_some_and(|e| e == "wgsl"))
            .collect()
    };
    assert_eq!(names("coalesced"), ["coalesced.wgsl"]);
    assert_eq!(names("row_f16_head"), ["row_f16_head.0.wgsl", "row_f16_head.1.wgsl", "row_f16_head.2.wgsl"]);
}
