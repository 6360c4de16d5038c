//! Every tier of the bundled model on every prompt.

use tilewright_models::engine::{Engine, EngineOptions};
use tilewright_models::kernels::{attention_stats, attention_values};

use crate::goldens::{Case, cases, load, tier, tiny};
use crate::rule::hold;

/// Prompts whose quadratic attention takes long where one invocation does an output's whole work; they are several chunks of a prefill.
const LONG: &str = "long_300";
const LONGEST: &str = "long_1200";

fn prompts() -> Vec<Case> {
    cases("tiny/cases.json", "tiny/last_logits.safetensors")
}

/// Steps of each prompt; where the device picks the token, the engine that reads logits runs the same layers and takes few.
const STEPS: usize = 64;
const FEW: usize = 8;

fn all_prompts(engine: &mut Engine, without: &[&str]) {
    steps_of_all(engine, without, STEPS);
}

fn steps_of_all(engine: &mut Engine, without: &[&str], steps: usize) {
    let prompts = prompts();
    assert_eq!(prompts.len(), 8);
    assert!(without.iter().all(|name| prompts.iter().any(|case| case.name == *name)), "{without:?}");
    for case in prompts.iter().filter(|c| !without.contains(&c.name.as_str())) {
        hold(engine, case, steps);
    }
}

/// Of the tiers that share naive schedules for prefill, one takes a prompt of several chunks.
#[test]
fn tier_0() {
    all_prompts(&mut load(&tiny(), &tier(0)), &[LONGEST]);
}

#[test]
fn tier_1() {
    all_prompts(&mut load(&tiny(), &tier(1)), &[LONG, LONGEST]);
}

#[test]
fn tier_2() {
    all_prompts(&mut load(&tiny(), &tier(2)), &[LONG, LONGEST]);
}

/// The last tier with two passes of attention takes the longest prompt with other schedules of the same two kernels.
#[test]
fn tier_3() {
    all_prompts(&mut load(&tiny(), &tier(3)), &[LONGEST]);
    let schedules = vec![attention_stats::positions(), attention_values::columns()];
    let mut engine = load(&tiny(), &EngineOptions { schedules, ..tier(3) });
    hold(&mut engine, prompts().iter().find(|c| c.name == LONGEST).unwrap(), 8);
}

#[test]
fn tier_4() {
    all_prompts(&mut load(&tiny(), &tier(4)), &[]);
}

#[test]
fn tier_5() {
    all_prompts(&mut load(&tiny(), &tier(5)), &[]);
}

#[test]
fn tier_6_reads_logits_or_the_token() {
    let mut logits = load(&tiny(), &tier(6));
    steps_of_all(&mut logits, &[LONGEST], FEW);
    let plain = EngineOptions { plain_argmax: true, ..tier(6) };
    let mut token = load(&tiny(), &plain);
    all_prompts(&mut token, &[]);
    assert_eq!((logits.info().readback_bytes, token.info().readback_bytes), (4096 * 4, 4));
}

#[test]
fn tier_7() {
    all_prompts(&mut load(&tiny(), &EngineOptions { plain_argmax: true, ..tier(7) }), &[LONGEST]);
}

#[test]
fn tier_8_reads_logits_or_the_token() {
    steps_of_all(&mut load(&tiny(), &tier(8)), &[LONGEST], FEW);
    all_prompts(&mut load(&tiny(), &EngineOptions { plain_argmax: true, ..tier(8) }), &[]);
}

#[test]
fn tier_10_reads_logits_or_the_token() {
    steps_of_all(&mut load(&tiny(), &tier(10)), &[LONGEST], FEW);
    all_prompts(&mut load(&tiny(), &EngineOptions { plain_argmax: true, ..tier(10) }), &[]);
}

#[test]
fn tier_11_reads_logits_or_the_token() {
    steps_of_all(&mut load(&tiny(), &tier(11)), &[LONGEST], FEW);
    all_prompts(&mut load(&tiny(), &EngineOptions { plain_argmax: true, ..tier(11) }), &[]);
}

#[test]
fn tier_12_takes_longer_chunks() {
    all_prompts(&mut load(&tiny(), &tier(12)), &[]);
}

#[test]
fn ids_beyond_the_limit_are_never_picked() {
    let prompts = prompts();
    let case = &prompts[0];
    let first = case.greedy[0];
    let options = EngineOptions { plain_argmax: true, vocab_limit: Some(first), ..tier(6) };
    let found = load(&tiny(), &options).prefill(&case.ids).unwrap().token.unwrap();
    assert_eq!(found, crate::goldens::best(&case.last[..first as usize]));
    // A step of one position keeps the largest of every few ids below the limit.
    let options = EngineOptions { plain_argmax: true, vocab_limit: Some(first), ..tier(11) };
    let mut engine = load(&tiny(), &options);
    let (last, before) = case.ids.split_last().unwrap();
    engine.prefill(before).unwrap();
    assert_eq!(engine.decode(*last).unwrap().token, Some(found));
}
