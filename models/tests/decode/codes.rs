//! Models whose matrices are codes: what runs is what the codes mean, whichever tier it is, and little is lost.

use std::ops::{ControlFlow, Range};

use tilewright_dsl::schedule::Storage;
use tilewright_dsl::storage::{decode, encode};
use tilewright_models::checkpoint::{Checkpoint, WeightSource};
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, TierChoice};
use tilewright_models::error::ModelError;
use tilewright_models::perplexity::judge;
use tilewright_models::quantise::quantise;
use tilewright_models::stores::{Stores, StoresError};

use crate::goldens::{cases, distance, load, scale, tier, tiny};

/// Logits of the same numbers in another order of sums may differ by this share of the largest.
const ORDER: f32 = 2e-4;

fn stores(text: &str) -> Stores {
    text.parse().unwrap()
}

fn options(number: usize, text: &str) -> EngineOptions {
    EngineOptions { stores: stores(text), context: Some(64), ..tier(number) }
}

/// Weights as the codes of their matrices mean them.
struct Meant(Checkpoint, Storage);

impl WeightSource for Meant {
    fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        self.0.shape(name)
    }
    fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError> {
        self.0.rows_f32(name, rows.clone(), out)?;
        if let [_, columns] = self.shape(name)?[..] {
            let words = encode(self.1, rows.len(), columns as u32, out)?.words;
            out.copy_from_slice(&decode(self.1, rows.len(), columns as u32, &words)?);
        }
        Ok(())
    }
    fn tied(&self) -> bool {
        self.0.tied()
    }
}

fn checkpoint() -> (Config, Checkpoint) {
    let config = Config::open(&tiny()).unwrap();
    let weights = Checkpoint::open(&tiny(), &config).unwrap();
    (config, weights)
}

/// Logits after a prompt and after two more tokens.
fn logits(engine: &mut Engine, ids: &[u32]) -> Vec<f32> {
    engine.reset();
    let steps = [engine.prefill(ids).unwrap(), engine.decode(7).unwrap(), engine.decode(400).unwrap()];
    steps.into_iter().flat_map(|s| s.logits.unwrap()).collect()
}

#[test]
fn a_quantised_model_is_what_its_codes_mean() {
    let (config, _) = checkpoint();
    let ids: Vec<u32> = (0..19).map(|i| 300 + 37 * i).collect();
    for (text, storage) in [("int8", Storage::Int8), ("nf4", Storage::Nf4)] {
        let meant = Meant(checkpoint().1, storage);
        let mut plain = Engine::load(&config, &meant, &options(1, "f32"), &mut |_, _| ()).unwrap();
        let want = logits(&mut plain, &ids);
        for number in [9, 12] {
            let mut engine = load(&tiny(), &options(number, text));
            let found = distance(&logits(&mut engine, &ids), &want);
            // The last tier multiplies f16 where the device can.
            let allowed = if number == 12 { 10.0 * ORDER } else { ORDER } * scale(&want);
            assert!(found <= allowed, "{text} on tier {number}: logits differ by {found}, allowed {allowed}");
        }
    }
}

#[test]
fn int8_keeps_tokens_and_both_keep_the_text() {
    let prompts = cases("tiny/cases.json", "tiny/last_logits.safetensors");
    // Of the largest logit: what rounding every weight to 1/254 of its channel's largest moves.
    let tolerance = 0.02;
    let mut found = Vec::new();
    for text in ["f32", "int8", "nf4"] {
        let mut engine = load(&tiny(), &options(9, text));
        let (mut surprise, mut tokens) = (0.0, 0);
        for case in prompts.iter().filter(|c| c.ids.len() < 30).take(2) {
            let mut all = [&case.ids[..], &case.greedy[..]].concat();
            all.truncate(32);
            let judged = judge(&mut engine, &all, 32, 16, &mut |_, _| ControlFlow::Continue(())).unwrap().unwrap();
            (surprise, tokens) = (surprise + judged.surprise, tokens + judged.tokens);
            if text == "int8" {
                engine.reset();
                let step = engine.prefill(&case.ids).unwrap();
                crate::rule::follow(&mut engine, step, case, tolerance * scale(&case.last), 4);
            }
        }
        assert!(tokens > 40, "only {tokens} tokens are judged");
        found.push((surprise / f64::from(tokens as u32)).exp());
    }
    println!("perplexity in f32, int8, nf4: {found:?}");
    let [plain, int8, nf4] = found[..] else { panic!("three storages") };
    assert!((int8 / plain - 1.0).abs() < 0.01, "int8's perplexity is {int8}, f32's {plain}");
    assert!((nf4 / plain - 1.0).abs() < 0.15, "nf4's perplexity is {nf4}, f32's {plain}");
}

#[test]
fn quantised_files_give_what_quantising_at_load_gives() {
    let (config, weights) = checkpoint();
    let out = tempfile::tempdir().unwrap();
    let parts = stores("nf4,head=int8");
    quantise(&tiny(), &config, &weights, parts, out.path(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let ids = [3, 500, 41];
    let mut there = load(&tiny(), &options(9, "nf4,head=int8"));
    let mut here = load(out.path(), &EngineOptions { stores: Stores::default(), ..options(9, "nf4") });
    assert_eq!(there.info().weight_bytes, here.info().weight_bytes);
    assert!(there.info().lost.len() > 30 && here.info().lost.is_empty());
    let bits = |engine: &mut Engine| logits(engine, &ids).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert!(bits(&mut there) == bits(&mut here), "other bits from the files");
}

#[test]
fn what_cannot_be_stored_is_refused_by_name() {
    let (config, weights) = checkpoint();
    let auto = EngineOptions { tier: TierChoice::Auto, ..options(0, "nf4,head=int8,embedding=f16") };
    match Engine::load(&config, &weights, &auto, &mut |_, _| ()) {
        Err(ModelError::Stores(StoresError::Tied { head: Storage::Int8, embedding: Storage::F16 })) => {}
        other => panic!("{:?}", other.err()),
    }
    struct Infinite(Checkpoint);
    impl WeightSource for Infinite {
        fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError> {
            self.0.shape(name)
        }
        fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError> {
            self.0.rows_f32(name, rows.clone(), out)?;
            if name == "model.layers.1.mlp.up_proj.weight" && rows.start == 0 {
                out[5] = f32::INFINITY;
            }
            Ok(())
        }
        fn tied(&self) -> bool {
            self.0.tied()
        }
    }
    match Engine::load(&config, &Infinite(checkpoint().1), &options(2, "int8"), &mut |_, _| ()) {
        Err(ModelError::Stores(StoresError::NoCode { tensor, count: 1, storage: Storage::Int8 })) => {
            assert_eq!(tensor, "model.layers.1.mlp.up_proj.weight");
        }
        other => panic!("{:?}", other.err()),
    }
}
