//! Plans as data: what a tier costs, read before anything runs.

use tilewright_codegen::target::Target;
use tilewright_models::checkpoint::Checkpoint;
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, Plan, PlanReport, Progress, Wants};
use tilewright_models::sampler::SamplingParams;
use tilewright_models::tiers;

use crate::goldens::{golden, tier, tiny};

fn plan(config: &Config, target: &Target, number: usize) -> PlanReport {
    let options = EngineOptions { plain_argmax: true, context: Some(2048), ..tier(number) };
    Engine::plan(config, target, &options).unwrap()
}

/// A device whose bindings hold the whole embedding.
fn roomy() -> Target {
    Target { name: "roomy".into(), max_binding_bytes: 1 << 31, max_buffer_bytes: 1 << 31, ..Target::webgpu() }
}

fn half_billion() -> Config {
    Config::open(&golden("shapes/qwen2.5-0.5b")).unwrap()
}

#[test]
fn the_counters_of_the_half_billion() {
    let config = half_billion();
    let counted: Vec<_> = (0..tiers::count())
        .map(|n| {
            let report = plan(&config, &roomy(), n);
            let c = report.decode;
            (c.submits, c.dispatches, c.waits, c.readback_bytes, report.weight_bytes >> 20)
        })
        .collect();
    let logits = 151_936 * 4;
    assert_eq!(logits, 607_744);
    assert_eq!(
        counted,
        [
            (531, 531, 531, logits, 1884),
            (24, 531, 1, logits, 1884),
            (24, 531, 1, logits, 942),
            (24, 531, 1, logits, 942),
            (24, 507, 1, logits, 942),
            (24, 507, 1, logits, 942),
            (24, 508, 1, 4, 942),
            (1, 508, 1, 4, 942),
            (1, 123, 1, 4, 942),
            (1, 123, 1, 4, 942),
            (1, 123, 1, 4, 942),
            (1, 123, 1, 4, 942),
            (1, 123, 1, 4, 942),
        ]
    );
}

/// Up to a part's positions a split costs no dispatch; behind them one a layer. Logits are not written.
#[test]
fn a_split_is_paid_where_there_are_parts() {
    let config = half_billion();
    let head = tilewright_models::checkpoint::EMBEDDING;
    let choose = |number: usize, context: u32| {
        let options = EngineOptions { plain_argmax: true, context: Some(context), ..tier(number) };
        Plan::choose(&config, head, &roomy(), &options, true).unwrap().0
    };
    let (wide, split) = (choose(10, 4096), choose(11, 4096));
    let counted = |plan: &Plan, pos: u32| plan.counters(pos).unwrap();
    for (pos, dispatches) in [(0, 123), (128, 123), (255, 123), (256, 147), (4095, 147)] {
        assert_eq!(counted(&split, pos).dispatches, dispatches, "at {pos}");
        assert_eq!(counted(&wide, pos).dispatches, 123);
    }
    // A logit for each id is written no more, but one and its place for every 64, in rows of whole 16 bytes.
    let less = counted(&wide, 255).bytes_written - counted(&split, 255).bytes_written;
    assert_eq!(less, (151_936 - 2 * 2_376) * 4);
    // 14 heads of 64 columns and two numbers, written and read again, for each part that there is and for no other.
    let part = |parts: u64| 24 * parts * 14 * 66 * 4;
    let far = |pos: u32| counted(&split, pos).bytes_written - counted(&split, 255).bytes_written;
    assert_eq!((far(256), far(512), far(4095)), (part(2), part(3), part(16)));
    // Where no step is that long there is no second graph.
    assert_eq!((choose(11, 256).graphs.len(), choose(11, 257).graphs.len(), wide.graphs.len()), (3, 4, 3));
}

/// Six dispatches pick a token of the best 64, two more penalise; 4 bytes come back, or 524.
#[test]
fn sampling_on_the_device_reads_a_token_back() {
    let config = half_billion();
    let params = SamplingParams { temperature: 0.7, top_k: 50, top_p: 0.8, repetition_penalty: 1.0, seed: 1 };
    let planned = |wants: Wants| {
        let options = EngineOptions { wants, context: Some(2048), ..tier(10) };
        let report = Engine::plan(&config, &roomy(), &options).unwrap();
        (report.decode.submits, report.decode.dispatches, report.decode.readback_bytes)
    };
    let penalised = SamplingParams { repetition_penalty: 1.1, ..params };
    assert_eq!(planned(Wants::Logits), (1, 122, 607_744));
    assert_eq!(planned(Wants::Pairs(params)), (1, 128, 524));
    assert_eq!(planned(Wants::Token(params)), (1, 128, 4));
    assert_eq!(planned(Wants::Token(penalised)), (1, 130, 4));
    assert_eq!(planned(Wants::Token(SamplingParams { temperature: 0.0, ..penalised })), (1, 125, 4));
    assert_eq!(planned(Wants::Token(SamplingParams::GREEDY)), (1, 123, 4));
}

#[test]
fn what_runs_is_what_was_planned() {
    let options = EngineOptions { context: Some(64), ..tier(6) };
    let mut engine = crate::goldens::load(&tiny(), &options);
    engine.prefill(&[5, 6, 7]).unwrap();
    engine.decode(8).unwrap();
    let counted = engine.counted().expect("a device counts");
    let info = engine.info();
    assert_eq!(
        (counted.submits, counted.dispatches, counted.readback_bytes),
        (info.submits, info.dispatches, info.readback_bytes)
    );
}

#[test]
fn loading_tells_of_each_shader_and_then_of_weights() {
    let config = Config::open(&tiny()).unwrap();
    let weights = Checkpoint::open(&tiny(), &config).unwrap();
    let options = EngineOptions { context: Some(16), ..tier(6) };
    let (mut shaders, mut bytes) = (Vec::new(), Vec::new());
    let mut progress = |step: Progress<'_>| match step {
        Progress::Compiling(c) => {
            assert!(bytes.is_empty(), "shaders come first");
            assert!(!c.schedule.is_empty());
            shaders.push((c.kernel.to_string(), c.number, c.count));
        }
        Progress::Weights { done, total } => bytes.push((done, total)),
    };
    let engine = Engine::load_watched(&config, &weights, &options, &mut progress).unwrap();
    let count = shaders.len();
    assert!(shaders.iter().any(|(kernel, ..)| kernel == "linear"), "{shaders:?}");
    assert!(shaders.iter().enumerate().all(|(i, s)| (s.1, s.2) == (i + 1, count)), "{shaders:?}");
    assert_eq!(bytes.last(), Some(&(engine.info().weight_bytes, engine.info().weight_bytes)));
}

#[test]
fn tiers_say_what_they_change() {
    for (number, tier) in tiers::all().iter().enumerate() {
        assert_eq!(tier.number, number);
        assert!(!tier.change.is_empty() && !tier.hypothesis.is_empty() && !tier.risk.is_empty());
    }
    let changed = |n: usize| tiers::changed_lines(tiers::tier(n)).join("\n");
    assert_eq!(changed(0), "");
    assert_eq!(changed(2), "embedding, linear: store w: f16;");
    assert!(changed(3).contains("linear [row] (decode): k: serial, lanes(64), vector(8);"), "{}", changed(3));
    assert!(changed(3).contains("linear [tiled] (prefill): stage w at ko: workgroup;"), "{}", changed(3));
    assert!(changed(5).contains("rmsnorm [row]"), "{}", changed(5));
}
