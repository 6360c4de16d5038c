//! Steps that are handed over ahead give the tokens of one step after the other.

use tilewright_models::engine::{Engine, EngineOptions, Step};
use tilewright_models::error::ModelError;

use crate::goldens::{Case, cases, load, tier, tiny};
use crate::rule::token;

fn prompts() -> Vec<Case> {
    cases("tiny/cases.json", "tiny/last_logits.safetensors")
}

fn ahead(number: usize) -> Engine {
    load(&tiny(), &EngineOptions { plain_argmax: true, context: Some(128), ..tier(number) })
}

/// Tokens one step after the other.
fn in_turn(engine: &mut Engine, ids: &[u32], count: usize) -> Vec<u32> {
    engine.reset();
    let mut found = vec![token(&engine.prefill(ids).unwrap())];
    while found.len() < count {
        found.push(token(&engine.decode(found[found.len() - 1]).unwrap()));
    }
    found
}

/// The same from one call, that ends when `count` are there.
fn at_once(engine: &mut Engine, ids: &[u32], count: usize, most: usize) -> Vec<u32> {
    let first = first(engine, ids);
    let mut found = vec![first];
    let mut take = |step: Step| -> Result<Option<u32>, ModelError> {
        found.push(token(&step));
        Ok((found.len() < count).then(|| token(&step)))
    };
    engine.decode_on(first, most, &mut take).unwrap();
    found
}

/// The token that follows a prompt.
fn first(engine: &mut Engine, ids: &[u32]) -> u32 {
    engine.reset();
    token(&engine.prefill(ids).unwrap())
}

#[test]
fn tokens_are_those_of_single_steps() {
    for number in [9, 11] {
        let mut engine = ahead(number);
        for case in prompts().iter().filter(|c| c.ids.len() < 60).take(3) {
            let expected = in_turn(&mut engine, &case.ids, 20);
            assert_eq!(at_once(&mut engine, &case.ids, 20, 100), expected, "tier {number}, {}", case.name);
            assert_eq!(engine.position() as usize, case.ids.len() + 19, "what was begun beyond the end does not count");
        }
    }
}

/// Steps under way at once belong to two graphs where a split begins.
#[test]
fn tokens_go_on_where_a_split_begins() {
    let prompts = prompts();
    let long = prompts.iter().find(|c| c.ids.len() > 260).unwrap();
    let ids = &long.ids[..250];
    let engine =
        |number: usize| load(&tiny(), &EngineOptions { plain_argmax: true, context: Some(300), ..tier(number) });
    let mut split = engine(11);
    let expected = in_turn(&mut split, ids, 20);
    assert_eq!(at_once(&mut split, ids, 20, 100), expected);
    assert_eq!(at_once(&mut engine(10), ids, 20, 100), expected);
    assert_eq!(split.counted().map(|c| c.dispatches), Some(split.info().dispatches + 6), "a dispatch a layer more");
}

#[test]
fn the_number_of_steps_and_the_context_end_it() {
    let mut engine = ahead(10);
    let case = &prompts()[0];
    assert_eq!(at_once(&mut engine, &case.ids, 1000, 5).len(), 6);
    let room = 128 - case.ids.len();
    assert_eq!(at_once(&mut engine, &case.ids, 1000, 1000).len(), 1 + room);
    assert_eq!(engine.position(), 128);
    let full = engine.decode_on(1, 3, &mut |_| -> Result<Option<u32>, ModelError> { panic!("there is no room") });
    assert!(full.is_ok());
}

#[test]
fn another_text_may_follow_what_was_cut_off() {
    let mut engine = ahead(10);
    let prompts = prompts();
    let expected = in_turn(&mut engine, &prompts[4].ids, 12);
    at_once(&mut engine, &prompts[0].ids, 3, 100);
    assert_eq!(in_turn(&mut engine, &prompts[4].ids, 12), expected);
}

#[test]
fn whoever_takes_another_token_gets_what_follows_it() {
    let ids = &prompts()[0].ids;
    let forced = [17, 99, 5, 210, 33, 8];
    let follow = |number: usize| {
        let mut engine = ahead(number);
        let first = first(&mut engine, ids);
        let (mut found, mut at) = (Vec::new(), 0);
        let mut take = |step: Step| -> Result<Option<u32>, ModelError> {
            found.push(token(&step));
            at += 1;
            Ok(forced.get(at - 1).copied())
        };
        engine.decode_on(first, 50, &mut take).unwrap();
        found
    };
    assert_eq!(follow(10), follow(6));
}

#[test]
fn an_error_of_the_caller_ends_it() {
    let mut engine = ahead(10);
    let first = first(&mut engine, &prompts()[0].ids);
    let ended = engine.decode_on(first, 50, &mut |_| Err::<Option<u32>, _>(ModelError::NoTokens));
    assert!(matches!(ended, Err(ModelError::NoTokens)));
    let expected = in_turn(&mut engine, &prompts()[1].ids, 5);
    assert_eq!(expected, in_turn(&mut ahead(6), &prompts()[1].ids, 5));
}
