//! A key-value cache against computing the whole prefix anew for every token.

use super::{Cell, Lab, Plot, Study, Table, times};
use crate::config::{Config, GenerationDefaults, Rope, RopeScaling};
use crate::engine::{Engine, EngineOptions, Step};
use crate::error::ModelError;
use crate::sampler::hash;
use crate::spread::Spread;
use crate::synth::Synth;

/// The lab's model: 8 layers of 512 with 16 heads and a vocabulary of 4,096, weights by formula.
pub fn model(positions: usize) -> Synth {
    let config = Config {
        vocab_size: 4096,
        hidden_size: 512,
        intermediate_size: 2048,
        num_hidden_layers: 8,
        num_attention_heads: 16,
        num_key_value_heads: 16,
        head_dim: 32,
        max_position_embeddings: positions,
        rms_norm_eps: 1e-6,
        rope: Rope { theta: 1e6, scaling: RopeScaling::None },
        tie_word_embeddings: true,
        eos_token_ids: Vec::new(),
        generation: GenerationDefaults::default(),
    };
    Synth::new(config, 0)
}

/// Any ids, but always the same.
pub fn prompt(count: u32) -> Vec<u32> {
    (0..count).map(|i| hash(i) % 4096).collect()
}

fn token(step: &Step) -> u32 {
    step.token.unwrap_or_default()
}

/// Seconds of `count` tokens behind a prompt, each from the cache.
fn cached(lab: &Lab, engine: &mut Engine, ids: &[u32], count: usize) -> Result<Spread, ModelError> {
    engine.reset();
    let first = token(&engine.prefill(ids)?);
    let start = engine.position();
    lab.seconds(&mut || {
        engine.rollback(start)?;
        engine.decode_on(first, count, &mut |step| Ok::<_, ModelError>(Some(token(&step))))
    })
}

/// Seconds of `count` tokens, each from the whole prefix.
fn anew(lab: &Lab, engine: &mut Engine, ids: &[u32], count: usize) -> Result<Spread, ModelError> {
    // The pipelines are warm from the prompt's own prefill.
    lab.warm(&mut || {
        let mut all = ids.to_vec();
        for _ in 0..count {
            engine.reset();
            let step = engine.prefill(&all)?;
            all.push(token(&step));
        }
        Ok(())
    })
}

/// The study.
pub(super) fn study(lab: &Lab) -> Result<Study, ModelError> {
    let lengths: &[u32] = if lab.quick { &[8, 24] } else { &[512, 1024, 2048, 4096] };
    // Computing anew takes so long on slow adapters that few tokens must do there.
    let (count, again) = if lab.quick { (3, 1) } else { (128, 128) };
    let most = lengths[lengths.len() - 1] as usize + count;
    let synth = model(most);
    let context = u32::try_from(most).ok();
    let options = EngineOptions { context, plain_argmax: true, ..lab.options.clone() };
    let mut engine = Engine::load(synth.config(), &synth, &options, &mut |_, _| ())?;
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    let mut lines = [("cached".to_string(), Vec::new()), ("computed anew".to_string(), Vec::new())];
    for &n in lengths {
        if (lab.stop)() {
            break;
        }
        (lab.tell)(&format!("tokens behind {n}"));
        let ids = prompt(n);
        let speed = |seconds: Spread, count: usize| seconds.map(|s| count as f64 / s);
        let with = cached(lab, &mut engine, &ids, count).map(|s| speed(s, count));
        let without = anew(lab, &mut engine, &ids, again).map(|s| speed(s, again));
        if let (Ok(a), Ok(b)) = (&with, &without) {
            ratios.push((n, a.median / b.median));
        }
        for (line, result) in lines.iter_mut().zip([&with, &without]) {
            line.1.extend(result.as_ref().ok().map(|spread| (n, *spread)));
        }
        let ratio = Cell::ratio(&with, &without);
        rows.push(vec![Cell::Text(n.to_string()), Cell::of(&with), Cell::of(&without), ratio]);
    }
    let mut findings: Vec<String> = ratios
        .iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .into_iter()
        .map(|(n, ratio)| format!("The cache is worth most behind {n} tokens: {}.", times(*ratio)))
        .collect();
    let slower: Vec<String> =
        ratios.iter().filter(|(_, r)| *r < 1.0).map(|(n, r)| format!("{n} ({})", times(*r))).collect();
    findings.push(match slower.is_empty() {
        true => "It is faster at every length measured; there is no crossover here.".into(),
        false => format!("It is slower behind {}.", slower.join(", ")),
    });
    let info = engine.info();
    let head = ["prompt", "cached, tok/s", "computed anew, tok/s", "ratio"].map(String::from).to_vec();
    Ok(Study {
        name: "kv-cache",
        title: "A key-value cache, or the whole prefix at every token",
        about: format!(
            "8 layers of 512, 16 heads of 32, vocabulary 4,096, weights by formula; tier {} ({}). {count} tokens from the cache, and {again} \
             each computed by a prefill of everything before it. The prompt's own prefill is in neither figure.",
            info.tier, info.tier_name
        ),
        tables: vec![Table { head, rows }],
        plots: vec![Plot {
            file: "kv-cache.svg",
            title: "Tokens a second behind a prompt".into(),
            unit: "tokens a second",
            axis: "tokens of the prompt",
            lines: lines.to_vec(),
        }],
        findings,
        silent: vec![
            "The slow side is a baseline: nobody would write a text so. A ratio against it grows with the prompt and says little about the \
             fast side."
                .into(),
            "A small model: a large one spends more of its time on weights, and the ratio is another.".into(),
        ],
    })
}
