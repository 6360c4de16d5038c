//! What goes wrong at run time is one clear error.

use std::ops::Range;

use tilewright_models::checkpoint::{Checkpoint, WeightSource};
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, TierChoice, Wants};
use tilewright_models::error::ModelError;
use tilewright_models::sampler::SamplingParams;

use crate::goldens::{load, tier, tiny};

/// Weights with one value of a tensor replaced.
struct Damaged {
    weights: Checkpoint,
    tensor: &'static str,
    value: f32,
}

impl WeightSource for Damaged {
    fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        self.weights.shape(name)
    }
    fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError> {
        self.weights.rows_f32(name, rows.clone(), out)?;
        if name == self.tensor && rows.contains(&3) {
            let columns = out.len() / rows.len();
            out[(3 - rows.start) * columns] = self.value;
        }
        Ok(())
    }
    fn tied(&self) -> bool {
        self.weights.tied()
    }
}

fn damaged(tensor: &'static str, value: f32, options: &EngineOptions) -> Result<Engine, ModelError> {
    let config = Config::open(&tiny()).unwrap();
    let weights = Damaged { weights: Checkpoint::open(&tiny(), &config).unwrap(), tensor, value };
    Engine::load(&config, &weights, options, &mut |_, _| ())
}

#[test]
fn no_room_no_ids_no_such_id() {
    let mut engine = load(&tiny(), &EngineOptions { context: Some(8), ..tier(6) });
    assert!(matches!(engine.prefill(&[]), Err(ModelError::NoTokens)));
    assert!(matches!(engine.prefill(&[1, 4096]), Err(ModelError::TokenTooLarge { found: 4096, vocab: 4096 })));
    engine.prefill(&[1; 7]).unwrap();
    engine.decode(1).unwrap();
    let error = engine.decode(1).unwrap_err();
    assert!(matches!(error, ModelError::ContextFull { position: 8, asked: 1, context: 8 }), "{error}");
    assert_eq!(engine.position(), 8);
    engine.reset();
    assert!(matches!(engine.prefill(&[1; 9]), Err(ModelError::ContextFull { position: 0, asked: 9, context: 8 })));
}

#[test]
fn impossible_options() {
    let config = Config::open(&tiny()).unwrap();
    let plan = |options| Engine::plan(&config, &tilewright_codegen::target::Target::webgpu(), &options).unwrap_err();
    assert!(matches!(plan(tier(99)), ModelError::Tier { found: 99, last: 12 }));
    for context in [0, 2049] {
        let options = EngineOptions { context: Some(context), ..tier(0) };
        assert!(matches!(plan(options), ModelError::Context { most: 2048, .. }));
    }
}

#[test]
fn a_logit_that_is_not_finite_names_its_position() {
    for (number, plain_argmax) in [(1, false), (6, false), (6, true)] {
        let options = EngineOptions { context: Some(16), plain_argmax, ..tier(number) };
        let mut engine = damaged("model.layers.2.input_layernorm.weight", f32::NAN, &options).unwrap();
        let error = engine.prefill(&[5, 6, 7]).unwrap_err();
        assert!(matches!(error, ModelError::NotFinite { position: 2, .. }), "tier {number}: {error}");
    }
}

#[test]
fn a_step_that_leaves_no_logits_names_the_one_that_is_not_finite() {
    let options = EngineOptions { context: Some(16), plain_argmax: true, ..tier(11) };
    let mut engine = damaged("model.layers.2.input_layernorm.weight", f32::NAN, &options).unwrap();
    assert!(matches!(engine.prefill(&[5, 6, 7]).unwrap_err(), ModelError::NotFinite { position: 2, .. }));
    let error = engine.decode(8).unwrap_err();
    assert!(matches!(error, ModelError::NotFinite { position: 3, token: 0, .. }), "{error}");
    assert_eq!(engine.position(), 4);
}

#[test]
fn nothing_is_sampled_of_logits_that_are_not_finite() {
    let params = SamplingParams { temperature: 0.7, top_k: 20, top_p: 0.8, repetition_penalty: 1.05, seed: 1 };
    for wants in
        [Wants::Token(params), Wants::Pairs(params), Wants::Token(SamplingParams { temperature: 0.0, ..params })]
    {
        let options = EngineOptions { context: Some(16), wants, ..tier(11) };
        let mut engine = damaged("model.layers.2.input_layernorm.weight", f32::NAN, &options).unwrap();
        assert!(matches!(engine.prefill(&[5, 6, 7]).unwrap_err(), ModelError::NotFinite { position: 2, .. }));
        let error = engine.decode(8).unwrap_err();
        assert!(matches!(error, ModelError::NotFinite { position: 3, token: 0, .. }), "{wants:?}: {error}");
        let ahead = engine.decode_on(8, 4, &mut |_| -> Result<Option<u32>, ModelError> { panic!("there is no token") });
        let told = matches!(ahead, Err(ModelError::NotFiniteToken { .. } | ModelError::NotFinite { .. }));
        assert!(told, "{wants:?}: {ahead:?}");
    }
}

#[test]
fn weights_beyond_f16() {
    let tensor = "model.layers.1.mlp.up_proj.weight";
    let small = EngineOptions { context: Some(16), ..tier(2) };
    match damaged(tensor, 7e4, &small) {
        Err(ModelError::HalfOverflow { tensor: found, count: 1 }) => assert_eq!(found, tensor),
        other => panic!("{:?}", other.err()),
    }
    let auto = EngineOptions { tier: TierChoice::Auto, ..small };
    let engine = damaged(tensor, 7e4, &auto).unwrap();
    assert_eq!(engine.info().tier, 1);
    assert!(engine.info().notes[0].contains(tensor), "{:?}", engine.info().notes);
}
