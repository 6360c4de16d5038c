//! Smaller devices, the interpreter, and equal results by other ways.

use tilewright_codegen::target::Target;
use tilewright_models::engine::{Backend, Engine, EngineOptions, TierChoice};
use tilewright_runtime::TargetSpec;

use crate::goldens::{Case, cases, distance, load, scale, tier, tiny};
use crate::rule::{TOLERANCE, hold, token};

fn prompts() -> Vec<Case> {
    cases("tiny/cases.json", "tiny/last_logits.safetensors")
}

fn short_prompts(engine: &mut Engine) {
    for case in prompts().iter().filter(|c| c.ids.len() < 64) {
        hold(engine, case, 16);
    }
}

#[test]
fn the_least_webgpu_device() {
    let target = TargetSpec::from(&Target::webgpu());
    let options = EngineOptions { target: Some(target), plain_argmax: true, ..EngineOptions::default() };
    let mut engine = load(&tiny(), &options);
    assert_eq!((engine.info().tier, engine.info().notes.len()), (12, 0), "{:?}", engine.info().notes);
    short_prompts(&mut engine);
}

#[test]
fn weights_are_split_where_a_binding_cannot_hold_them() {
    let target = TargetSpec { max_binding_bytes: Some(512 << 10), ..TargetSpec::default() };
    for number in [0, 6] {
        let options = EngineOptions { target: Some(target.clone()), context: Some(512), ..tier(number) };
        let mut engine = load(&tiny(), &options);
        // The embedding is 4096 rows of 256: 8 parts in f32, 4 in f16, one dispatch each for the lookup and the head. The three
        // matrices of the MLP are 640 KiB in f32: two dispatches each.
        let parts = if number == 0 { 8 } else { 4 };
        let layers = if number == 0 { (22 + 3) * 6 } else { 21 * 6 };
        assert_eq!(engine.info().dispatches, layers + 1 + 2 * parts);
        short_prompts(&mut engine);
    }
}

#[test]
fn the_interpreter_gives_the_tokens() {
    let case = &prompts()[1];
    for number in [0, 6, 10, 11] {
        let plain_argmax = number >= 6;
        let options = EngineOptions { backend: Backend::Interp, context: Some(16), plain_argmax, ..tier(number) };
        let mut engine = load(&tiny(), &options);
        hold(&mut engine, case, 3);
    }
}

#[test]
fn auto_takes_the_last_tier() {
    let engine = load(&tiny(), &EngineOptions { plain_argmax: true, context: Some(64), ..EngineOptions::default() });
    assert_eq!((engine.info().tier, engine.info().tier_name), (12, "matrix"));
    let engine = load(&tiny(), &EngineOptions { context: Some(64), ..EngineOptions::default() });
    assert!(engine.info().notes.iter().any(|n| n.contains("read back")), "{:?}", engine.info().notes);
}

/// One pass over all ids, and the same ids one by one after a prompt, give the same logits; where both add in the same order,
/// the same bits.
#[test]
fn cached_and_recomputed() {
    let case = &prompts()[3];
    for number in [1, 6] {
        let mut engine = load(&tiny(), &EngineOptions { tier: TierChoice::Number(number), ..tier(number) });
        let at_once = engine.prefill_all(&case.ids).unwrap();
        engine.reset();
        let mut one_by_one = engine.prefill_all(&case.ids[..5]).unwrap();
        for id in &case.ids[5..] {
            one_by_one.push(engine.decode(*id).unwrap().logits.unwrap());
        }
        for (position, (a, b)) in at_once.iter().zip(&one_by_one).enumerate() {
            if number == 1 {
                assert_eq!(a, b, "position {position}");
            }
            assert!(distance(a, b) <= TOLERANCE * scale(a), "tier {number}, position {position}");
        }
    }
}

#[test]
fn a_reset_forgets() {
    let prompts = prompts();
    let mut engine = load(&tiny(), &EngineOptions { context: Some(128), ..tier(6) });
    let first = engine.prefill(&prompts[0].ids).unwrap();
    engine.decode(token(&first)).unwrap();
    engine.reset();
    engine.prefill(&prompts[4].ids).unwrap();
    engine.reset();
    assert_eq!(engine.position(), 0);
    assert_eq!(engine.prefill(&prompts[0].ids).unwrap(), first);
}
