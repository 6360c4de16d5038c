//! Speculative decoding: what a draft is worth, measured where there is one, and where it would break even for pairs of real shapes.
//!
//! With acceptance a, a round of γ guesses gives (1 - a^(γ+1)) / (1 - a) tokens on average (Leviathan et al. 2023, equation 1) for γ steps
//! of the draft and one pass of the target over γ + 1 positions.

use std::path::Path;

use super::{Cell, Lab, Plot, Study, Table, times};
use crate::bundled::{bundled_dir, bundled_draft_dir};
use crate::checkpoint::{Checkpoint, WeightSource};
use crate::config::Config;
use crate::engine::{Engine, EngineOptions, Step};
use crate::error::ModelError;
use crate::sampler::hash;
use crate::speculative::Speculative;
use crate::spread::Spread;
use crate::synth::{Synth, preset};

/// Texts that the bundled pair goes on with.
const PROMPT: u32 = 24;

fn token(step: &Step) -> u32 {
    step.token.unwrap_or_default()
}

/// A model with its weights.
struct Model {
    config: Config,
    weights: Box<dyn WeightSource>,
}

impl Model {
    fn open(dir: &Path) -> Result<Self, ModelError> {
        let config = Config::open(dir)?;
        let weights = Checkpoint::open(dir, &config)?;
        Ok(Model { config, weights: Box::new(weights) })
    }

    fn by_formula(name: &str) -> Result<Self, ModelError> {
        let synth = Synth::new(preset(name)?, 0);
        Ok(Model { config: synth.config().clone(), weights: Box::new(synth) })
    }
}

/// The target, planned to verify, and the draft beside it.
fn load(lab: &Lab, target: &Model, draft: &Model, gamma: u32) -> Result<[Engine; 2], ModelError> {
    let limit = target.config.vocab_size.min(draft.config.vocab_size);
    let options = EngineOptions {
        plain_argmax: true,
        context: Some(if lab.quick { 96 } else { 512 }),
        vocab_limit: u32::try_from(limit).ok(),
        verify: Some(gamma + 1),
        ..lab.options.clone()
    };
    let engine = Engine::load(&target.config, &*target.weights, &options, &mut |_, _| ())?;
    let options = EngineOptions { verify: None, ..options };
    let draft = engine.load_beside(&draft.config, &*draft.weights, &options, &mut |_| ())?;
    Ok([engine, draft])
}

/// Seconds of single steps behind a prompt, a step.
fn steps(lab: &Lab, engine: &mut Engine, ids: &[u32], count: usize) -> Result<Spread, ModelError> {
    engine.reset();
    let first = token(&engine.prefill(ids)?);
    let start = engine.position();
    let all = lab.seconds(&mut || {
        engine.rollback(start)?;
        engine.decode_on(first, count, &mut |step| Ok::<_, ModelError>(Some(token(&step))))
    })?;
    Ok(all.map(|s| s / count as f64))
}

/// What a pair's passes take, in seconds.
struct Passes {
    target: Spread,
    draft: Spread,
    verify: Spread,
}

impl Passes {
    fn measure(lab: &Lab, engines: &mut [Engine; 2], gamma: u32) -> Result<Self, ModelError> {
        let ids: Vec<u32> = (0..PROMPT).map(|i| hash(i) % 4096).collect();
        let count = if lab.quick { 8 } else { 64 };
        let [target, draft] = engines;
        let drafted = steps(lab, draft, &ids, count)?;
        let single = steps(lab, target, &ids, count)?;
        let start = target.position();
        let guesses: Vec<u32> = (0..=gamma).map(|i| hash(i + 99) % 4096).collect();
        let verify = lab.seconds(&mut || {
            for _ in 0..4 {
                target.rollback(start.min(target.position()))?;
                target.verify(&guesses)?;
            }
            Ok(())
        })?;
        Ok(Passes { target: single, draft: drafted, verify: verify.map(|s| s / 4.0) })
    }

    /// How much faster the pair is than the target alone, at an acceptance.
    fn gain(&self, gamma: u32, acceptance: f64) -> f64 {
        let tokens: f64 = (0..=gamma).map(|i| acceptance.powi(i as i32)).sum();
        tokens * self.target.median / (f64::from(gamma) * self.draft.median + self.verify.median)
    }

    /// The acceptance from which on the pair is the faster one.
    fn break_even(&self, gamma: u32) -> Option<f64> {
        let mut range = (0.0, 1.0);
        if self.gain(gamma, range.1) < 1.0 {
            return None;
        }
        for _ in 0..40 {
            let mid = f64::midpoint(range.0, range.1);
            if self.gain(gamma, mid) < 1.0 { range.0 = mid } else { range.1 = mid }
        }
        Some(range.1)
    }
}

/// What the bundled pair really does on its own prompts.
fn real(lab: &Lab, engines: [Engine; 2], gamma: u32) -> Result<(Spread, Spread, Speculative), ModelError> {
    let [mut target, draft] = engines;
    let ids: Vec<u32> = [286, 297, 283, 2113, 272].to_vec();
    let count = if lab.quick { 12 } else { 64 };
    let alone = steps(lab, &mut target, &ids, count)?.map(|s| 1.0 / s);
    let mut pair = Speculative::new(target, draft, gamma);
    let both = lab.seconds(&mut || {
        pair.reset();
        let mut history = ids.clone();
        history.push(token(&pair.prefill(&ids)?));
        let choose = |step: &Step, _: &[u32]| Ok(token(step));
        pair.decode_on(&mut history, count, &choose, &mut |_| Ok::<_, ModelError>(true))
    })?;
    Ok((alone, both.map(|s| count as f64 / s), pair))
}

/// The study.
pub(super) fn study(lab: &Lab) -> Result<Study, ModelError> {
    let gammas: &[u32] = if lab.quick { &[2, 4] } else { &[2, 4, 8] };
    let (tiny, small) = (Model::open(&bundled_dir()?)?, Model::open(&bundled_draft_dir()?)?);
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    let mut lines = vec![("with the draft".to_string(), Vec::new()), ("alone".to_string(), Vec::new())];
    for &gamma in gammas {
        if (lab.stop)() {
            break;
        }
        (lab.tell)(&format!("the bundled pair, {gamma} guesses"));
        let (alone, both, pair) = real(lab, load(lab, &tiny, &small, gamma)?, gamma)?;
        let counts = pair.counts();
        lines[0].1.push((gamma, both));
        lines[1].1.push((gamma, alone));
        findings.push(format!(
            "The bundled pair with γ = {gamma}: {} of the target alone, {:.0} % of the guesses right.",
            times(both.median / alone.median),
            100.0 * counts.acceptance()
        ));
        rows.push(vec![
            Cell::Text(gamma.to_string()),
            Cell::Measured(alone),
            Cell::Measured(both),
            Cell::Text(times(both.median / alone.median)),
            Cell::Text(format!("{:.0} %", 100.0 * counts.acceptance())),
            Cell::Text(format!("{:.2}", counts.tokens_a_pass())),
        ]);
    }
    let head = ["γ", "alone, tok/s", "with the draft, tok/s", "ratio", "acceptance", "tokens a pass"];
    let mut tables = vec![Table { head: head.map(String::from).to_vec(), rows }];
    let pairs: &[(&str, &str)] =
        if lab.quick { &[] } else { &[("qwen2.5-1.5b", "qwen2.5-0.5b"), ("qwen2.5-7b", "qwen2.5-0.5b")] };
    let mut rows = Vec::new();
    for (target, draft) in pairs {
        let models = [Model::by_formula(target)?, Model::by_formula(draft)?];
        for &gamma in gammas {
            if (lab.stop)() {
                break;
            }
            (lab.tell)(&format!("{target} with {draft}, {gamma} guesses"));
            let [large, small] = &models;
            let passes = load(lab, large, small, gamma).and_then(|mut pair| Passes::measure(lab, &mut pair, gamma));
            rows.push(row(target, draft, gamma, passes));
        }
    }
    if !rows.is_empty() {
        let head = [
            "pair",
            "γ",
            "target's step, ms",
            "draft's step, ms",
            "verifying, ms",
            "at 60 %",
            "at 80 %",
            "at 90 %",
            "breaks even at",
        ];
        tables.push(Table { head: head.map(String::from).to_vec(), rows });
    }
    Ok(Study {
        name: "speculative",
        title: "A draft guesses, the target verifies",
        about: "Greedy; the text is the target's own in every row. The first table is the bundled model with the bundled draft, which was \
                trained on its answers. The second has weights by formula, whose guesses mean nothing: passes are measured, and the gain \
                follows from an acceptance that is assumed."
            .into(),
        tables,
        plots: vec![Plot {
            file: "speculative.svg",
            title: "The bundled pair".into(),
            unit: "tokens a second",
            axis: "guesses a round",
            lines,
        }],
        findings,
        silent: vec![
            "Acceptance belongs to a text: that of the bundled pair is of one prompt that it knows.".into(),
            "The gains of the second table assume that guesses are right independently of each other.".into(),
        ],
    })
}

fn row(target: &str, draft: &str, gamma: u32, passes: Result<Passes, ModelError>) -> Vec<Cell> {
    let pair = Cell::Text(format!("{target} + {draft}"));
    let gamma_cell = Cell::Text(gamma.to_string());
    match passes {
        Err(error) => vec![pair, gamma_cell, Cell::of(&Err(error))],
        Ok(p) => {
            let ms = |s: Spread| Cell::Measured(s.map(|s| s * 1e3));
            let at = |acceptance: f64| Cell::Text(times(p.gain(gamma, acceptance)));
            let even = p.break_even(gamma).map_or("never".into(), |a| format!("{:.0} %", 100.0 * a));
            vec![pair, gamma_cell, ms(p.target), ms(p.draft), ms(p.verify), at(0.6), at(0.8), at(0.9), Cell::Text(even)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_breaks_even_where_it_gains_nothing() {
        let one = |median: f64| Spread { median, min: median, max: median };
        let passes = Passes { target: one(1.0), draft: one(0.1), verify: one(1.2) };
        assert!((passes.gain(4, 0.0) - 1.0 / 1.6).abs() < 1e-12, "one token a round");
        assert!((passes.gain(4, 1.0) - 5.0 / 1.6).abs() < 1e-12, "five tokens a round");
        let even = passes.break_even(4).unwrap();
        assert!((passes.gain(4, even) - 1.0).abs() < 1e-9, "{even}");
        let hopeless = Passes { target: one(1.0), draft: one(1.0), verify: one(1.5) };
        assert_eq!(hopeless.break_even(2), None);
    }
}
