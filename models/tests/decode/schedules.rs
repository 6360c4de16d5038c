//! Schedules of the user's own take the place of the tier's.

use tilewright_codegen::CompileError;
use tilewright_dsl::schedule::Schedule;
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, TierChoice};
use tilewright_models::error::ModelError;
use tilewright_models::kernels::{argmax, attention, linear, rmsnorm};

use crate::goldens::{cases, load, tier, tiny};
use crate::rule::hold;

fn refuse(schedules: Vec<Schedule>, tier: TierChoice) -> ModelError {
    let config = Config::open(&tiny()).unwrap();
    let target = tilewright_codegen::target::Target::webgpu();
    let options = EngineOptions { schedules, tier, ..EngineOptions::default() };
    Engine::plan(&config, &target, &options).unwrap_err()
}

#[test]
fn other_schedules_give_the_same_tokens() {
    let prompts = cases("tiny/cases.json", "tiny/last_logits.safetensors");
    for schedules in [
        vec![linear::coalesced(), rmsnorm::wide(), attention::naive(), argmax::vectors()],
        vec![linear::tiled_short(), attention::columns_wide(), argmax::naive()],
        vec![linear::subgroup(), rmsnorm::subgroup(), attention::subgroup(), argmax::subgroup()],
        vec![linear::row_subgroup(), attention::tree(), Schedule::empty("rope"), Schedule::empty("silu")],
    ] {
        let options = EngineOptions { schedules, plain_argmax: true, context: Some(128), ..tier(6) };
        let mut engine = load(&tiny(), &options);
        for case in prompts.iter().filter(|c| c.ids.len() < 64) {
            hold(&mut engine, case, 4);
        }
    }
}

#[test]
fn what_does_not_apply_is_an_error() {
    for choice in [TierChoice::Number(5), TierChoice::Auto] {
        let error = refuse(vec![linear::subgroup()], choice);
        assert!(
            matches!(&error, ModelError::Compile(CompileError::Schedule { schedule, .. }) if schedule.kernel == "linear"),
            "{error}"
        );
        assert!(error.to_string().contains("subgroup"), "{error}");
    }
}

#[test]
fn an_unknown_kernel_is_named() {
    let error = refuse(vec![Schedule::empty("conv")], TierChoice::Number(0)).to_string();
    assert!(error.contains("`conv`") && error.contains("rmsnorm"), "{error}");
}

#[test]
fn one_tensor_has_one_storage() {
    use tilewright_dsl::schedule::Storage;
    let mut half = linear::naive();
    half.stores.push(("w".into(), Storage::F16));
    let error = refuse(vec![half], TierChoice::Number(1)).to_string();
    assert!(error.contains("model.embed_tokens.weight") && error.contains("f16") && error.contains("f32"), "{error}");
}

#[test]
fn a_schedule_that_a_tier_does_not_run_is_named() {
    use tilewright_codegen::target::Target;
    use tilewright_models::kernels::softmax;

    let config = Config::open(&tiny()).unwrap();
    let notes = |schedules, number| {
        let options = EngineOptions { schedules, ..tier(number) };
        Engine::plan(&config, &Target::webgpu(), &options).unwrap().notes
    };
    let said = notes(vec![softmax::row()], 6).join("\n");
    assert!(said.contains("`row` is not used") && said.contains("tier 6") && said.contains("`softmax`"), "{said}");
    assert!(notes(vec![linear::coalesced()], 6).is_empty());
}
