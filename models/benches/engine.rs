//! What the host does: compiling all shaders of a model, loading it, recording a token.
//!
//! The rule: no figure here depends on how fast the device computes, so that a change of one is a change of this code.
//! `cargo bench -p tilewright-models` compares with the run before.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::Criterion;
use tilewright_codegen::target::Target;
use tilewright_models::bundled::bundled_dir;
use tilewright_models::checkpoint::Checkpoint;
use tilewright_models::config::Config;
use tilewright_models::engine::{Backend, Engine, EngineOptions};
use tilewright_models::synth;

/// Every shader of Qwen2.5-0.5B at the best tier: from kernels and schedules to validated WGSL.
fn compile(c: &mut Criterion) {
    let Ok(config) = synth::preset("qwen2.5-0.5b") else { return };
    let options = EngineOptions { context: Some(4224), plain_argmax: true, ..EngineOptions::default() };
    // What desktop devices have: nothing is split because of a binding's limit.
    let target = Target { max_binding_bytes: 2 << 30, max_buffer_bytes: 2 << 30, ..Target::wide() };
    c.bench_function("compile all of qwen2.5-0.5b", |b| {
        b.iter(|| Engine::plan(black_box(&config), &target, &options).map(|plan| plan.weight_bytes))
    });
}

fn bundled() -> Option<(Config, Checkpoint)> {
    let dir = bundled_dir().ok()?;
    let config = Config::open(&dir).ok()?;
    let weights = Checkpoint::open(Path::new(&dir), &config).ok()?;
    Some((config, weights))
}

/// The bundled model, from its mapped file to an engine that is ready.
fn load(c: &mut Criterion) {
    let Some((config, weights)) = bundled() else { return };
    for (name, backend) in [("load on the adapter", Backend::Wgpu), ("load on the interpreter", Backend::Interp)] {
        let options = EngineOptions { backend, context: Some(512), ..EngineOptions::default() };
        if Engine::load(&config, &weights, &options, &mut |_, _| ()).is_ok() {
            c.bench_function(name, |b| {
                b.iter(|| Engine::load(&config, &weights, &options, &mut |_, _| ()).map(|e| e.context()))
            });
        }
    }
}

/// A step of one position, recorded and handed over; what the device then does is waited for and not counted.
fn record(c: &mut Criterion) {
    let Some((config, weights)) = bundled() else { return };
    let options = EngineOptions { context: Some(512), plain_argmax: true, ..EngineOptions::default() };
    let engine = Engine::load(&config, &weights, &options, &mut |_, _| ());
    let Some(mut step) = engine.ok().and_then(|e| e.rig()).and_then(|rig| rig.decode().ok()) else { return };
    c.bench_function("record a token", |b| {
        b.iter_custom(|count| (0..count).map(|_| step.record().unwrap_or_default()).sum::<Duration>())
    });
}

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    compile(&mut criterion);
    load(&mut criterion);
    record(&mut criterion);
    criterion.final_summary();
}
