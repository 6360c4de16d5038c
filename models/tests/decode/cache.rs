//! What is kept of keys and values: f16, nothing, pages; sequences that share a beginning.

use std::ops::Range;

use tilewright_models::checkpoint::{Checkpoint, WeightSource};
use tilewright_models::config::Config;
use tilewright_models::engine::{Backend, Engine, EngineOptions, PagesError, Step};
use tilewright_models::error::{ModelError, Narrow};
use tilewright_models::variants::{Attention, Kv, KvStore};

use crate::goldens::{Case, cases, distance, load, scale, tier, tiny};
use crate::rule::{hold, token};

fn prompts() -> Vec<Case> {
    cases("tiny/cases.json", "tiny/last_logits.safetensors")
}

/// Ids that are long enough to cross pages.
fn ids(count: usize) -> Vec<u32> {
    let long = prompts().into_iter().find(|c| c.ids.len() >= count).unwrap();
    long.ids[..count].to_vec()
}

fn with(kv: Kv, number: usize, context: u32) -> EngineOptions {
    EngineOptions { kv, context: Some(context), ..tier(number) }
}

/// Logits of a prompt's last position, and of tokens that follow it one by one.
fn logits(engine: &mut Engine, ids: &[u32], one_by_one: usize) -> Vec<Vec<f32>> {
    let (first, rest) = ids.split_at(ids.len() - one_by_one);
    let mut all = vec![engine.prefill(first).unwrap().logits.unwrap()];
    all.extend(rest.iter().map(|id| engine.decode(*id).unwrap().logits.unwrap()));
    all
}

/// Keys and values of 11 bits keep the token rule, on tiers that append by each of the three kernels and with every attention.
#[test]
fn a_cache_of_halves_keeps_the_token_rule() {
    for (number, attention) in [(3, Some(Attention::Naive)), (8, Some(Attention::Split)), (12, None)] {
        let options = EngineOptions { kv_store: KvStore::F16, context: Some(64), attention, ..tier(number) };
        let mut engine = load(&tiny(), &options);
        for case in prompts().iter().filter(|c| (2..32).contains(&c.ids.len())).take(1) {
            hold(&mut engine, case, 8);
        }
    }
}

#[test]
fn halves_take_half_the_memory_and_are_read_as_such() {
    let config = Config::open(&tiny()).unwrap();
    let target = tilewright_codegen::target::Target::webgpu();
    let plan = |kv_store| {
        let options = EngineOptions { kv_store, context: Some(512), ..tier(11) };
        let head = tilewright_models::checkpoint::EMBEDDING;
        tilewright_models::engine::Plan::choose(&config, head, &target, &options, true).unwrap().0
    };
    let [whole, halves] = [KvStore::F32, KvStore::F16].map(plan);
    let state = |plan: &tilewright_models::engine::Plan| {
        tilewright_runtime::plan::memory(plan.buffers()).bytes(tilewright_runtime::Role::State)
    };
    assert_eq!(state(&whole), 6 * 2 * 512 * 2 * 32 * 4);
    assert_eq!(state(&halves) * 2, state(&whole));
    let read = |plan: &tilewright_models::engine::Plan| plan.counters(511).unwrap().bytes_read;
    // 512 positions of keys and values in six layers.
    assert_eq!(read(&whole) - read(&halves), 6 * 2 * 512 * 2 * 32 * 2);
}

/// The bundled model with what its keys are added to made larger.
struct Louder {
    weights: Checkpoint,
    by: f32,
}

impl WeightSource for Louder {
    fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        self.weights.shape(name)
    }

    fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError> {
        self.weights.rows_f32(name, rows, out)?;
        if name.ends_with("v_proj.weight") {
            out.iter_mut().for_each(|w| *w *= self.by);
        }
        Ok(())
    }

    fn tied(&self) -> bool {
        self.weights.tied()
    }
}

#[test]
fn values_beyond_f16_are_reported_and_not_used() {
    let config = Config::open(&tiny()).unwrap();
    let engine = |kv_store| {
        let weights = Louder { weights: Checkpoint::open(&tiny(), &config).unwrap(), by: 1e7 };
        let options = EngineOptions { kv_store, context: Some(16), ..tier(1) };
        Engine::load(&config, &weights, &options, &mut |_, _| ()).unwrap()
    };
    assert!(engine(KvStore::F32).prefill(&ids(5)).is_ok());
    let error = engine(KvStore::F16).prefill(&ids(5)).unwrap_err();
    let narrow = Narrow { weights: false, cache: true };
    assert!(matches!(error, ModelError::NotFinite { narrow: n, .. } if n == narrow), "{error}");
    assert!(error.to_string().contains("--kv-store f32"), "{error}");
}

/// Without a cache every step computes all positions, by the schedules of prefill.
#[test]
fn nothing_kept_gives_the_logits() {
    let ids = ids(24);
    let kept = logits(&mut load(&tiny(), &with(Kv::Contiguous, 6, 32)), &ids, 4);
    let mut engine = load(&tiny(), &with(Kv::None, 6, 32));
    let again = logits(&mut engine, &ids, 4);
    for (step, (a, b)) in kept.iter().zip(&again).enumerate() {
        let found = distance(a, b) / scale(a);
        assert!(found <= 1e-5, "step {step}: {found} apart");
    }
    assert_eq!((engine.position(), engine.recomputed()), (24, Some(20 + 21 + 22 + 23)));
    // Another text follows.
    engine.reset();
    assert_eq!(engine.prefill_all(&ids[..20]).unwrap().last(), Some(&again[0]));
}

/// Tokens of a prompt, as many as are asked for, by steps that may be handed over ahead.
fn tokens(engine: &mut Engine, ids: &[u32], count: usize) -> Vec<u32> {
    let first = token(&engine.prefill(ids).unwrap());
    let mut found = vec![first];
    let mut take = |step: Step| -> Result<Option<u32>, ModelError> {
        found.push(token(&step));
        Ok((found.len() < count).then(|| token(&step)))
    };
    engine.decode_on(first, count, &mut take).unwrap();
    found
}

/// The same schedules add in the same order, wherever a row lies. The last tier's prefill holds tiles of neighbouring rows, which
/// pages do not have.
#[test]
fn pages_give_the_same_bits() {
    let ids = ids(40);
    for (number, exact) in [(3, true), (11, true), (12, false)] {
        let row = logits(&mut load(&tiny(), &with(Kv::Contiguous, number, 48)), &ids, 8);
        let paged = logits(&mut load(&tiny(), &with(Kv::Paged, number, 48)), &ids, 8);
        for (step, (a, b)) in row.iter().zip(&paged).enumerate() {
            let found = distance(a, b) / scale(a);
            assert!(if exact { a == b } else { found <= 1e-5 }, "tier {number}, step {step}: {found} apart");
        }
    }
}

/// The split graph, steps ahead, halves: pages beneath all of them.
#[test]
fn pages_go_with_every_other_variant() {
    let ids = ids(250);
    let options = |kv| EngineOptions { plain_argmax: true, kv_store: KvStore::F16, ..with(kv, 11, 272) };
    let expected = tokens(&mut load(&tiny(), &options(Kv::Contiguous)), &ids, 16);
    let mut engine = load(&tiny(), &EngineOptions { kv_pages: Some(20), ..options(Kv::Paged) });
    assert_eq!(tokens(&mut engine, &ids, 16), expected);
    let used = engine.pages().unwrap();
    assert_eq!((used.pages, used.saved, used.copied), (20, 0, 0));
    let interp = EngineOptions { backend: Backend::Interp, context: Some(32), ..options(Kv::Paged) };
    let case = &prompts()[1];
    hold(&mut load(&tiny(), &interp), case, 3);
}

#[test]
fn sequences_share_their_beginning() {
    let (ids, context) = (ids(60), 64);
    let alone = |ids: &[u32]| {
        let mut engine = load(&tiny(), &with(Kv::Contiguous, 6, context));
        engine.prefill(&ids[..40]).unwrap();
        engine.prefill(&ids[40..]).unwrap().logits.unwrap()
    };
    let mut other = ids.clone();
    other[40..].reverse();
    let mut engine = load(&tiny(), &EngineOptions { kv_pages: Some(9), ..with(Kv::Paged, 6, context) });
    let first = engine.sequence().unwrap();
    engine.prefill(&ids[..40]).unwrap();
    let one = engine.prefill(&ids[40..]).unwrap().logits.unwrap();
    assert_eq!(one, alone(&ids));
    // The same 40 ids, of which two pages are whole and one is half full: 40 are not computed again.
    let (second, skipped) = engine.open(&other).unwrap();
    assert_eq!((skipped, engine.position()), (40, 40));
    assert_eq!(engine.pages().map(|u| (u.in_use, u.saved, u.copied, u.skipped)), Some((4, 3, 0, 40)));
    let two = engine.prefill(&other[40..]).unwrap().logits.unwrap();
    assert_eq!(two, alone(&other));
    assert_eq!(engine.pages().map(|u| (u.in_use, u.saved, u.copied)), Some((6, 2, 1)));
    // The first one still holds what it held.
    engine.switch(first).unwrap();
    assert_eq!(engine.position(), 60);
    let third = engine.fork().unwrap();
    let next = engine.decode(7).unwrap().logits.unwrap();
    engine.switch(third).unwrap();
    assert_eq!(engine.decode(7).unwrap().logits.unwrap(), next);
    // Two pages of 16 are shared by three, one by two; each end is somebody's own.
    assert_eq!(engine.pages().map(|u| (u.in_use, u.saved, u.copied)), Some((7, 5, 2)));
    engine.release(second).unwrap();
    engine.release(first).unwrap();
    assert_eq!(engine.pages().map(|u| (u.in_use, u.saved)), Some((4, 0)));
    assert!(matches!(engine.switch(first), Err(ModelError::Pages(PagesError::NoSequence { .. }))));
    assert!(matches!(engine.release(third), Err(ModelError::Pages(PagesError::AtHand { .. }))));
}

#[test]
fn a_pool_too_small_is_refused_and_nothing_is_lost() {
    let ids = ids(60);
    let small = EngineOptions { kv_pages: Some(3), ..with(Kv::Paged, 6, 64) };
    let config = Config::open(&tiny()).unwrap();
    let target = tilewright_codegen::target::Target::webgpu();
    let error = Engine::plan(&config, &target, &small).unwrap_err().to_string();
    assert!(error.contains("pool of 3 pages") && error.contains("--kv-pages 4"), "{error}");

    let mut engine = load(&tiny(), &EngineOptions { kv_pages: Some(4), ..with(Kv::Paged, 6, 64) });
    let first = engine.prefill(&ids[..40]).unwrap();
    let (_, skipped) = engine.open(&ids[10..]).unwrap();
    let before = engine.pages();
    // One page is free, and 50 positions take four.
    let refused = engine.prefill(&ids[10..]).unwrap_err();
    assert!(matches!(refused, ModelError::Pages(PagesError::Full { needed: 4, free: 1, pages: 4 })), "{refused}");
    assert_eq!((skipped, engine.position(), engine.pages()), (0, 0, before));
    let (_, skipped) = engine.open(&ids[..40]).unwrap();
    assert_eq!(skipped, 39);
    let again = engine.prefill(&ids[39..40]).unwrap();
    let (a, b) = (first.logits.unwrap(), again.logits.unwrap());
    assert!(distance(&a, &b) <= 1e-5 * scale(&a), "a decode step adds in another order than prefill");
    let contiguous = load(&tiny(), &with(Kv::Contiguous, 6, 64)).fork();
    assert!(matches!(contiguous, Err(ModelError::Pages(PagesError::NotPaged))));
}
