//! Every tier of the bundled model on every prompt.

use tilewright_models::engine::{Engine, EngineOptions};
use tilewright_models::kernels::{attention_stats, attention_values};

use crate::goldens::{Case, cases, load, tier, tiny};
use crate::rule::hold;

/// The prompt whose quadratic attention takes minutes where one invocation does an output's whole work.
const LONGEST: &str = "long_1200";

fn prompts() -> Vec<Case> {
    cases("tiny/cases.json", "tiny/last_logits.safetensors")
}

fn all_prompts(engine: &mut Engine, without: Option<&str>) {
    let prompts = prompts();
    assert_eq!(prompts.len(), 8);
    for case in prompts.iter().filter(|c| Some(c.name.as_str()) != without) {
        hold(engine, case, 64);
    }
}

/// The naive tiers take the longest prompt with other schedules of the same two kernels.
fn naive_tier(number: usize) {
    all_prompts(&mut load(&tiny(), &tier(number)), Some(LONGEST));
    let schedules = vec![attention_stats::positions(), attention_values::columns()];
    let mut engine = load(&tiny(), &EngineOptions { schedules, ..tier(number) });
    hold(&mut engine, prompts().iter().find(|c| c.name == LONGEST).unwrap(), 8);
}

#[test]
fn tier_0() {
    naive_tier(0);
}

#[test]
fn tier_1() {
    naive_tier(1);
}

#[test]
fn tier_2() {
    naive_tier(2);
}

#[test]
fn tier_3() {
    naive_tier(3);
}

#[test]
fn tier_4() {
    all_prompts(&mut load(&tiny(), &tier(4)), None);
}

#[test]
fn tier_5() {
    all_prompts(&mut load(&tiny(), &tier(5)), None);
}

#[test]
fn tier_6_reads_logits_or_the_token() {
    let mut logits = load(&tiny(), &tier(6));
    all_prompts(&mut logits, Some(LONGEST));
    let plain = EngineOptions { plain_argmax: true, ..tier(6) };
    let mut token = load(&tiny(), &plain);
    all_prompts(&mut token, None);
    assert_eq!((logits.info().readback_bytes, token.info().readback_bytes), (4096 * 4, 4));
}

#[test]
fn ids_beyond_the_limit_are_never_picked() {
    let prompts = prompts();
    let case = &prompts[0];
    let first = case.greedy[0];
    let options = EngineOptions { plain_argmax: true, vocab_limit: Some(first), ..tier(6) };
    let found = load(&tiny(), &options).prefill(&case.ids).unwrap().token.unwrap();
    assert_eq!(found, crate::goldens::best(&case.last[..first as usize]));
}
