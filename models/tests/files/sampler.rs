//! Sampling: kept probabilities against transformers', and the distribution of the draws.

use tilewright_models::checkpoint::Checkpoint;
use tilewright_models::config::GenerationDefaults;
use tilewright_models::sampler::{SamplingParams, gumbel, hash, position_key};

use crate::forward::last_logits;
use crate::goldens::{assert_says, asset, config, golden, ids, json};

const GREEDY: SamplingParams = SamplingParams::GREEDY;

fn warm() -> SamplingParams {
    SamplingParams { temperature: 1.0, ..GREEDY }
}

/// The tokens that transformers' processors keep, and their probabilities.
#[test]
fn filters_are_those_of_transformers() {
    let dir = asset("tiny");
    let config = config(&dir);
    let weights = Checkpoint::open(&dir, &config).unwrap();
    let cases = json(&golden("tiny/sampling.json"));
    assert_eq!(cases.as_array().unwrap().len(), 16);
    let mut logits: (Vec<u32>, Vec<f32>) = Default::default();
    for case in cases.as_array().unwrap() {
        let (history, s) = (ids(&case["ids"]), &case["settings"]);
        if logits.0 != history {
            logits = (history.clone(), last_logits(&config, &weights, &history));
        }
        let number = |name: &str| s[name].as_f64().unwrap() as f32;
        let params = SamplingParams {
            temperature: number("temperature"),
            top_k: s["top_k"].as_u64().unwrap() as usize,
            top_p: number("top_p"),
            repetition_penalty: number("repetition_penalty"),
            seed: 0,
        };
        let kept = params.kept(&logits.1, &history, history.len(), config.vocab_size).unwrap();
        assert_eq!(kept.len() as u64, case["n_kept"].as_u64().unwrap(), "{case}");
        for pair in case["probs"].as_array().unwrap() {
            let (id, probability) = (pair[0].as_u64().unwrap() as u32, pair[1].as_f64().unwrap());
            let ours = kept.iter().find(|c| c.id == id).unwrap().probability;
            assert!((ours - probability).abs() < 1e-4, "{id}: {ours}, {probability}");
        }
    }
}

#[test]
fn each_filter_by_hand() {
    let logits = [1.0, 3.0, 3.0, -1.0, 2.0];
    let kept = |params: SamplingParams, history: &[u32]| -> Vec<u32> {
        params.kept(&logits, history, 0, 5).unwrap().iter().map(|c| c.id).collect()
    };
    assert_eq!(kept(warm(), &[]), [1, 2, 4, 0, 3]);
    assert_eq!(kept(SamplingParams { top_k: 3, ..warm() }, &[]), [1, 2, 4]);
    // Ties with the last one that is kept are kept.
    assert_eq!(kept(SamplingParams { top_k: 1, ..warm() }, &[]), [1, 2]);
    // Probabilities: 0.3995 twice, 0.1470, 0.0541, 0.0073 (and a rest by rounding).
    assert_eq!(kept(SamplingParams { top_p: 0.79, ..warm() }, &[]), [1, 2]);
    assert_eq!(kept(SamplingParams { top_p: 0.80, ..warm() }, &[]), [1, 2, 4]);
    assert_eq!(kept(SamplingParams { top_p: 0.0, ..warm() }, &[]), [1]);
    // A penalty halves positive logits and doubles negative ones, once an id.
    let penalised = SamplingParams { repetition_penalty: 2.0, ..warm() };
    let kept = penalised.kept(&logits, &[1, 3, 3, 900], 0, 5).unwrap();
    let mut by_id: Vec<_> = kept.iter().map(|c| (c.id, c.logit)).collect();
    by_id.sort_unstable_by_key(|c| c.0);
    assert_eq!(by_id, [(0, 1.0), (1, 1.5), (2, 3.0), (3, -2.0), (4, 2.0)]);
}

#[test]
fn greedy_takes_the_lowest_of_equal_ids_and_stays_under_the_limit() {
    let logits = [1.0, 3.0, 3.0, 9.0];
    assert_eq!(GREEDY.sample(&logits, &[], 0, 3).unwrap(), 1);
    assert_eq!(GREEDY.sample(&logits, &[], 0, 4).unwrap(), 3);
    assert_eq!(GREEDY.sample(&logits, &[], 0, 900).unwrap(), 3);
    let penalised = SamplingParams { repetition_penalty: 1.5, ..GREEDY };
    assert_eq!(penalised.sample(&logits, &[1], 0, 3).unwrap(), 2);
    assert!(GREEDY.is_plain_argmax() && !penalised.is_plain_argmax() && !warm().is_plain_argmax());
    // What lies beyond the limit is not even looked at.
    assert_eq!(warm().sample(&[0.0, f32::NAN], &[], 0, 1).unwrap(), 0);
}

#[test]
fn bad_logits_and_bad_settings_are_errors() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let message = GREEDY.sample(&[0.0, bad], &[], 17, 2).unwrap_err().to_string();
        assert_says(&message, &["token 1", "position 17", &bad.to_string(), "finite", "damaged"]);
    }
    assert_says(&warm().sample(&[], &[], 3, 5).unwrap_err().to_string(), &["position 3", "0 logits"]);
    assert_says(&warm().sample(&[1.0], &[], 3, 0).unwrap_err().to_string(), &["limit of 0"]);

    let says = |params: SamplingParams, parts: &[&str]| {
        assert_says(&params.validate().unwrap_err().to_string(), parts);
    };
    says(SamplingParams { temperature: -0.5, ..GREEDY }, &["--temperature is -0.5", "from 0"]);
    says(SamplingParams { temperature: f32::NAN, ..GREEDY }, &["--temperature is NaN"]);
    says(SamplingParams { top_p: 1.5, ..GREEDY }, &["--top-p is 1.5", "over 0 and at most 1"]);
    says(SamplingParams { top_p: 0.0, ..GREEDY }, &["--top-p is 0", "over 0 and at most 1"]);
    says(SamplingParams { repetition_penalty: 0.0, ..GREEDY }, &["--repetition-penalty is 0", "over 0"]);
    assert!(GREEDY.validate().is_ok() && warm().validate().is_ok());
}

/// A tiny temperature, and logits near the end of f32, neither overflow nor lose the best token.
#[test]
fn extremes() {
    let cold = SamplingParams { temperature: 1e-30, ..GREEDY };
    assert_eq!(cold.sample(&[1.0, 2.0, -3.0], &[], 0, 3).unwrap(), 1);
    let steep = SamplingParams { temperature: 0.5, repetition_penalty: 1e-3, ..GREEDY };
    let kept = steep.kept(&[3e38, -3e38, 0.0], &[0, 1], 0, 3).unwrap();
    assert!(kept.iter().all(|c| c.logit.is_finite() && c.probability.is_finite()));
    assert_eq!(kept[0].id, 0);
}

#[test]
fn defaults_of_the_model() {
    let defaults =
        GenerationDefaults { do_sample: true, temperature: 0.7, top_k: 20, top_p: 0.8, repetition_penalty: 1.05 };
    let params = SamplingParams::from_defaults(&defaults, 9);
    assert_eq!((params.temperature, params.top_k, params.top_p, params.seed), (0.7, 20, 0.8, 9));
    assert_eq!(SamplingParams::from_defaults(&GenerationDefaults::default(), 9).temperature, 0.0);
}

/// Pearson's statistic against expected shares.
fn chi_square(counts: &[u32], shares: &[f64]) -> f64 {
    let total: f64 = counts.iter().map(|&n| f64::from(n)).sum();
    counts.iter().zip(shares).map(|(&n, p)| (f64::from(n) - total * p).powi(2) / (total * p)).sum()
}

/// Draws follow the softmax, over positions, over seeds, and from one position to the next. Limits are the 0.999 999
/// quantiles of chi-square with 5 and 35 degrees of freedom; the draws are fixed, so that this never fails by chance.
#[test]
fn draws_have_the_right_distribution() {
    let shares = [0.4, 0.3, 0.15, 0.1, 0.04, 0.01];
    let temperature = 0.7;
    let logits: Vec<f32> = shares.iter().map(|p: &f64| (p.ln() * temperature) as f32 + 5.0).collect();
    let draw = |seed: u64, position: usize| {
        let params = SamplingParams { temperature: temperature as f32, seed, ..GREEDY };
        params.sample(&logits, &[], position, 6).unwrap() as usize
    };
    let count = |draws: &mut dyn Iterator<Item = usize>| {
        let mut counts = [0; 6];
        draws.for_each(|id| counts[id] += 1);
        counts
    };
    for seed in [0, 1, 42, u64::MAX] {
        let along = count(&mut (0..60_000).map(|position| draw(seed, position)));
        assert!(chi_square(&along, &shares) < 36.0, "{along:?}");
        let mut pairs = [0; 36];
        for position in 0..30_000 {
            pairs[6 * draw(seed, 2 * position) + draw(seed, 2 * position + 1)] += 1;
        }
        let pair_shares: Vec<f64> = shares.iter().flat_map(|a| shares.map(|b| a * b)).collect();
        assert!(chi_square(&pairs, &pair_shares) < 90.0, "{pairs:?}");
    }
    for shift in [0, 32] {
        let across = count(&mut (0..60_000u64).map(|n| draw(n << shift, 11)));
        assert!(chi_square(&across, &shares) < 36.0, "{across:?}");
    }
}

/// Values by an independent writing of the hash, in Python: a shader must make the same.
#[test]
fn noise_is_pinned() {
    assert_eq!([hash(0), hash(1), hash(0xffff_ffff)], PINNED_HASHES);
    assert_eq!([position_key(0, 0), position_key(42, 7), position_key(u64::MAX, 32_767)], PINNED_KEYS);
    for (key, id, expected) in PINNED_NOISE {
        assert!((gumbel(key, id) - expected).abs() < 2e-6 * expected.abs().max(1.0), "{}", gumbel(key, id));
    }
}

const PINNED_HASHES: [u32; 3] = [0x0000_0000, 0x6889_90c0, 0x6768_824a];
const PINNED_KEYS: [u32; 3] = [0x944f_b554, 0xc2aa_a9b6, 0x2e3a_c817];
const PINNED_NOISE: [(u32, u32, f32); 4] = [
    (0x944f_b554, 0, -0.304728),
    (0x944f_b554, 151935, 2.018414),
    (0xc2aa_a9b6, 3, -0.419155),
    (0x2e3a_c817, 4096, 0.318546),
];

/// At a temperature so small that every quotient overflows, the best token is still the best.
#[test]
fn a_vanishing_temperature_is_greedy() {
    let logits = [1.0, 9.0, 8.5, -3.0];
    for temperature in [1e-40, 1e-38, 1e-30] {
        let params = SamplingParams { temperature, ..GREEDY };
        assert_eq!(params.sample(&logits, &[], 0, 4).unwrap(), 1, "{temperature}");
    }
}
