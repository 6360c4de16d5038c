//! Steps of a few positions are as many steps of one, and a draft changes no token.

use std::path::{Path, PathBuf};

use tilewright_models::checkpoint::Checkpoint;
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, Step};
use tilewright_models::error::ModelError;
use tilewright_models::sampler::SamplingParams;
use tilewright_models::speculative::{Counts, Named, Speculative, SpeculativeError, check};
use tilewright_models::tokenizer::Tokenizer;

use crate::goldens::{Case, cases, golden, load, tier, tiny};

fn draft() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/draft")
}

fn prompts() -> Vec<Case> {
    cases("tiny/cases.json", "tiny/last_logits.safetensors")
}

fn options(number: usize, plain_argmax: bool) -> EngineOptions {
    EngineOptions { plain_argmax, context: Some(272), verify: Some(5), ..tier(number) }
}

/// What single steps give, and a step of all of them, from the same position.
fn both(engine: &mut Engine, prompt: &[u32], ids: &[u32]) -> [Vec<Step>; 2] {
    engine.reset();
    engine.prefill(prompt).unwrap();
    let at = engine.position();
    let single = ids.iter().map(|id| engine.decode(*id).unwrap()).collect();
    engine.rollback(at).unwrap();
    let few = engine.verify(ids).unwrap();
    assert_eq!(engine.position(), at + ids.len() as u32);
    [single, few]
}

#[test]
fn a_few_positions_give_the_bits_of_single_ones() {
    let prompts = prompts();
    let long = prompts.iter().find(|c| c.ids.len() > 280).unwrap();
    for (number, lengths) in [(3, &[7][..]), (8, &[7]), (12, &[130, 258])] {
        let mut engine = load(&tiny(), &options(number, false));
        for n in lengths {
            let [single, few] = both(&mut engine, &long.ids[..*n], &[17, 99, 5, 210, 33]);
            assert_eq!(single, few, "tier {number} behind {n}");
        }
    }
}

#[test]
fn tokens_come_back_where_the_device_picks_them() {
    for number in [8, 12] {
        let mut engine = load(&tiny(), &options(number, true));
        // Fewer than the five that it was planned for.
        let [single, few] = both(&mut engine, &prompts()[1].ids, &[17, 99, 5]);
        assert!(few.iter().all(|step| step.token.is_some()));
        assert_eq!(single, few, "tier {number}");
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let mut engine = load(&tiny(), &options(12, false));
    assert_eq!(engine.verifiable(), 5);
    let error = engine.verify(&[1, 2, 3, 4, 5, 6]).unwrap_err();
    assert!(matches!(error, ModelError::Speculative(SpeculativeError::TooMany { found: 6, most: 5 })), "{error}");
    engine.prefill(&[1; 254]).unwrap();
    assert_eq!(engine.verifiable(), 2, "behind 256 positions the cache is read in another way");
    engine.prefill(&[1; 14]).unwrap();
    assert_eq!(engine.verifiable(), 0, "the context ends at 272");
    let error = engine.rollback(269).unwrap_err();
    assert!(matches!(error, ModelError::Speculative(SpeculativeError::Rollback { found: 269, most: 268 })), "{error}");
}

/// How a token is chosen.
fn choose(sampling: SamplingParams) -> impl Fn(&Step, &[u32]) -> Result<u32, ModelError> {
    move |step, history| match (step.token, &step.logits) {
        (Some(id), _) => Ok(id),
        (None, Some(logits)) => sampling.sample(logits, history, history.len(), 4085),
        (None, None) => unreachable!("a step gives one of them"),
    }
}

/// The target's own text.
fn alone(engine: &mut Engine, prompt: &[u32], count: usize, sampling: SamplingParams) -> Vec<u32> {
    let choose = choose(sampling);
    engine.reset();
    let mut history = prompt.to_vec();
    let mut step = engine.prefill(prompt).unwrap();
    for _ in 0..count {
        history.push(choose(&step, &history).unwrap());
        step = engine.decode(history[history.len() - 1]).unwrap();
    }
    history.split_off(prompt.len())
}

/// The same with a draft.
fn guessed(pair: &mut Speculative, prompt: &[u32], count: usize, sampling: SamplingParams) -> (Vec<u32>, Counts) {
    let choose = choose(sampling);
    pair.reset();
    let mut history = prompt.to_vec();
    let first = choose(&pair.prefill(prompt).unwrap(), &history).unwrap();
    history.push(first);
    let mut told = vec![first];
    pair.decode_on(&mut history, count - 1, &choose, &mut |id| {
        told.push(id);
        Ok::<_, ModelError>(true)
    })
    .unwrap();
    assert_eq!(told, history[prompt.len()..]);
    assert_eq!(pair.target().position() as usize, history.len() - 1, "the last token was not processed");
    (told, pair.counts())
}

fn pair(target: &EngineOptions, gamma: u32) -> Speculative {
    let engine = load(&tiny(), &EngineOptions { verify: Some(gamma + 1), ..target.clone() });
    let config = Config::open(&draft()).unwrap();
    let weights = Checkpoint::open(&draft(), &config).unwrap();
    let draft =
        engine.load_beside(&config, &weights, &EngineOptions { verify: None, ..target.clone() }, &mut |_| ()).unwrap();
    Speculative::new(engine, draft, gamma)
}

#[test]
fn a_draft_changes_no_token() {
    let prompts = prompts();
    for (number, gamma) in [(6, 3), (8, 4)] {
        let options = options(number, true);
        let mut pair = pair(&options, gamma);
        let mut engine = load(&tiny(), &options);
        let mut all = Counts::default();
        for case in prompts.iter().filter(|c| c.ids.len() < 60).take(2) {
            let expected = alone(&mut engine, &case.ids, 24, SamplingParams::GREEDY);
            let (found, counts) = guessed(&mut pair, &case.ids, 24, SamplingParams::GREEDY);
            assert_eq!(found, expected, "tier {number}, {}", case.name);
            assert_eq!(counts.tokens, 23);
            assert!(counts.passes <= 23 && counts.accepted <= counts.guessed);
            (all.guessed, all.accepted) = (all.guessed + counts.guessed, all.accepted + counts.accepted);
        }
        assert!(all.acceptance() > 0.3, "the draft was made from this model: {all:?}");
    }
}

#[test]
fn it_goes_on_over_a_split_and_ends_with_the_context() {
    let prompts = prompts();
    let long = prompts.iter().find(|c| c.ids.len() > 260).unwrap();
    let options = options(12, true);
    let mut engine = load(&tiny(), &options);
    let expected = alone(&mut engine, &long.ids[..250], 22, SamplingParams::GREEDY);
    let (found, _) = guessed(&mut pair(&options, 4), &long.ids[..250], 1000, SamplingParams::GREEDY);
    assert_eq!(found, [&expected[..], &found[22..]].concat());
    assert_eq!(found.len(), 23, "one token behind each of the context's last 22 positions, and the first");
}

#[test]
fn a_draft_changes_no_draw() {
    let options = options(8, false);
    let mut pair = pair(&options, 3);
    let mut engine = load(&tiny(), &options);
    let case = &prompts()[0];
    for seed in [1, 2] {
        let sampling = SamplingParams { temperature: 0.8, top_k: 50, top_p: 0.95, seed, repetition_penalty: 1.1 };
        let expected = alone(&mut engine, &case.ids, 16, sampling);
        let (found, counts) = guessed(&mut pair, &case.ids, 16, sampling);
        assert_eq!(found, expected, "seed {seed}");
        assert!(counts.accepted > 0, "seed {seed}: {counts:?}");
    }
}

#[test]
fn a_draft_that_knows_nothing_costs_time_alone() {
    let random = golden("variants/untied");
    let config = Config::open(&random).unwrap();
    let weights = Checkpoint::open(&random, &config).unwrap();
    let vocab = config.vocab_size as u32;
    let options = EngineOptions { vocab_limit: Some(vocab), ..options(8, true) };
    let prompt: Vec<u32> = prompts()[0].ids.iter().map(|id| id % vocab).collect();
    let expected = alone(&mut load(&tiny(), &options), &prompt, 8, SamplingParams::GREEDY);
    let target = load(&tiny(), &options);
    let options = EngineOptions { verify: None, context: Some(32), ..options };
    let draft = target.load_beside(&config, &weights, &options, &mut |_| ()).unwrap();
    let (found, counts) = guessed(&mut Speculative::new(target, draft, 4), &prompt, 8, SamplingParams::GREEDY);
    assert_eq!(found, expected, "{counts:?}");
    assert!(counts.guessed > counts.accepted, "{counts:?}");
}

#[test]
fn models_that_do_not_belong_together_are_refused() {
    let config = |dir: &Path| Config::open(dir).unwrap();
    let (large, small) = (config(&tiny()), config(&draft()));
    assert_eq!((large.parameters(), small.parameters()), (4_986_368, 918_656));
    let named = |config, name| Named { name, config, tokenizer: None };
    check(named(&large, "tiny"), named(&small, "draft")).unwrap();
    let error = check(named(&small, "draft"), named(&large, "tiny")).unwrap_err().to_string();
    assert!(error.starts_with("the draft tiny has 4986368 parameters and the target draft has 918656"), "{error}");
    let other = Config { vocab_size: 4000, ..small.clone() };
    let error = check(named(&large, "tiny"), named(&other, "other")).unwrap_err().to_string();
    assert!(error.starts_with("the draft other has a vocabulary of 4000, the target tiny one of 4096"), "{error}");

    let tokenizer = Tokenizer::open(&tiny(), &large).unwrap();
    let own = Tokenizer::open(&draft(), &small).unwrap();
    let mut json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(draft().join("tokenizer.json")).unwrap()).unwrap();
    let tokens = json["model"]["vocab"].as_object_mut().unwrap();
    let [a, b] = ["!", "\""].map(|token| tokens[token].clone());
    (tokens["!"], tokens["\""]) = (b, a);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), json.to_string()).unwrap();
    let wrong = Tokenizer::open(folder.path(), &small).unwrap();
    let with = |config, name, tokenizer| Named { name, config, tokenizer: Some(tokenizer) };
    check(with(&large, "tiny", &tokenizer), with(&small, "draft", &own)).unwrap();
    let error = check(with(&large, "tiny", &tokenizer), with(&small, "draft", &wrong)).unwrap_err().to_string();
    assert!(error.contains("is `!` in one and `\"` in the other"), "{error}");
}
