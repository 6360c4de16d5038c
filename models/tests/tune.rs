//! The parts of tuning that need no clock: sites of real shapes, candidates around them, and what they are held against.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use tilewright_codegen::target::Target;
use tilewright_models::checkpoint::EMBEDDING;
use tilewright_models::config::Config;
use tilewright_models::engine::{EngineOptions, Plan};
use tilewright_models::synth;
use tilewright_models::tune::check::Reference;
use tilewright_models::tune::predict::Figures;
use tilewright_models::tune::search::candidates;
use tilewright_models::tune::site::fingerprint;
use tilewright_models::tune::{Phase, Site, Tuning};
use tilewright_runtime::{AdapterChoice, AdapterKind, AdapterSummary, Device};

fn target() -> Target {
    Target { max_binding_bytes: 2 << 30, max_buffer_bytes: 2 << 30, ..Target::wide() }
}

fn sites(preset: &str, context: u32) -> Vec<Site> {
    let config = synth::preset(preset).unwrap();
    let options = EngineOptions { context: Some(context), plain_argmax: true, ..EngineOptions::default() };
    Plan::choose(&config, EMBEDDING, &target(), &options, true).unwrap().0.sites
}

fn site(all: &[Site], kernel: &str, phase: Phase) -> Site {
    all.iter().find(|s| s.kernel.name == kernel && s.phase == phase).unwrap_or_else(|| panic!("{kernel}")).clone()
}

#[test]
fn sites_are_named_by_what_matters() {
    let (short, long) = (sites("qwen2.5-0.5b", 256), sites("qwen2.5-0.5b", 4224));
    let keys = |all: &[Site]| all.iter().map(|s| s.key.to_string()).collect::<Vec<_>>();
    let parts: Vec<_> = keys(&long).into_iter().filter(|k| k.contains("j.Parts=any")).collect();
    assert_eq!(parts.len(), 2, "kernels that a longer cache adds: {parts:?}");
    let long: Vec<Site> = long.into_iter().filter(|s| !parts.contains(&s.key.to_string())).collect();
    assert_eq!(keys(&short), keys(&long), "the length of the cache is not");
    assert_eq!(short.iter().map(|s| &s.key).collect::<HashSet<_>>().len(), short.len());
    let two: Vec<_> = keys(&short).into_iter().filter(|k| k.starts_with("linear_residual decode ")).collect();
    assert_eq!(two.len(), 2, "one kernel, two shapes: {two:?}");
    let prints = |all: &[Site]| all.iter().map(|s| fingerprint(&s.program)).collect::<Vec<_>>();
    assert_eq!(prints(&short), prints(&long), "numbers are no part of a text's fingerprint");
}

#[test]
fn every_site_has_a_meaning_at_a_reduced_shape() {
    for site in sites("qwen2.5-0.5b", 256) {
        let reference = Reference::of(&site, &target()).unwrap_or_else(|e| panic!("{}: {e}", site.key));
        assert!(!reference.shape().to_string().is_empty());
    }
}

/// The schedules for GPUs that nobody measured apply to the shapes that such GPUs have room for, and each is used.
#[test]
fn integrated_gpus_have_schedules_at_every_shape() {
    let (name, driver) = ("some GPU".to_string(), "some driver".to_string());
    let adapter = AdapterSummary { name, kind: AdapterKind::Integrated, backend: "vulkan".into(), driver };
    let found = Tuning::Auto.found(&adapter).unwrap();
    assert!(found.source.ends_with("this program (not measured)") && found.notes.is_empty(), "{found:?}");
    let mut used = HashSet::new();
    for preset in ["qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-3b", "qwen2.5-7b"] {
        let config = synth::preset(preset).unwrap();
        let tuned = Tuning::Found(Arc::clone(&found));
        let options = EngineOptions { context: Some(4224), plain_argmax: true, tuned, ..EngineOptions::default() };
        let (plan, notes) = Plan::choose(&config, EMBEDDING, &target(), &options, true).unwrap();
        assert_eq!(notes, [""; 0], "{preset}");
        let entries = found.tuned.entries.iter().filter(|e| plan.sites.iter().any(|s| s.uses(e)));
        used.extend(entries.map(|e| e.schedule.name.clone()));
        let most = plan.graphs[2..].iter().flat_map(|g| &g.ops).flat_map(|op| &op.program.shaders);
        assert!(most.map(|s| s.loops.workgroup).max() <= Some(256), "{preset}: workgroups stay small");
    }
    assert_eq!(used.len(), found.tuned.entries.len(), "{used:?}");
}

/// What the adapter gives at the reduced shape is what the evaluator gives, also where extents are known at run time only.
#[test]
fn every_site_is_right_at_its_reduced_shape() {
    let config = Config::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/tiny")).unwrap();
    let device = Device::open(&AdapterChoice::Best, None).expect("an adapter: a software driver will do");
    let options = EngineOptions { context: Some(512), plain_argmax: true, ..EngineOptions::default() };
    let sites = Plan::choose(&config, EMBEDDING, device.target(), &options, true).unwrap().0.sites;
    assert!(sites.iter().any(|s| s.key.to_string().contains("attention_merged decode")), "a context beyond the split");
    for site in sites {
        let reference = Reference::of(&site, device.target()).unwrap();
        reference.check(&site, &site.schedule, &device).unwrap_or_else(|e| panic!("{}: {e}", site.key));
    }
}

#[test]
fn candidates_are_legal_new_and_in_order() {
    let all = sites("qwen2.5-0.5b", 256);
    let figures = Figures::of(AdapterKind::Discrete, 4000.0, 2.0);
    for (kernel, phase) in
        [("linear_residual", Phase::Decode), ("attention", Phase::Decode), ("linear_bias", Phase::Prefill)]
    {
        let site = site(&all, kernel, phase);
        let words = site.longest.last().cloned().unwrap();
        let mut seen = HashSet::new();
        let found = candidates(&site, &site.schedule, &target(), &figures, &(1 << 20, words.clone()), &mut seen);
        assert!(found.len() > 20, "{kernel}: {}", found.len());
        assert!(found.iter().all(|c| c.program.tensors == site.program.tensors), "{kernel}: no storage changes");
        let us: Vec<f64> = found.iter().map(|c| c.guess.map_or(f64::INFINITY, |g| g.us)).collect();
        assert!(us.is_sorted(), "{kernel}: {us:?}");
        let again = candidates(&site, &site.schedule, &target(), &figures, &(1 << 20, words), &mut seen);
        assert!(again.is_empty(), "{kernel}: each is offered once");
    }
}
