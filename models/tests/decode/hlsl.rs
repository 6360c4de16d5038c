//! The model on HLSL: the same logits as on WGSL, to the last bit on a software adapter; elsewhere by the token rule.

use tilewright_models::engine::{Engine, EngineOptions};
use tilewright_models::tiers;
use tilewright_runtime::{AdapterChoice, AdapterKind, Device, Dxc, ShaderLanguage};

use crate::at_hand::dxc;
use crate::goldens::{Case, best, cases, load, tier, tiny};
use crate::rule::hold;

fn both(number: usize, dxc: &Dxc, context: u32, plain_argmax: bool) -> [Engine; 2] {
    [ShaderLanguage::Wgsl, ShaderLanguage::Hlsl(dxc.clone())].map(|shaders| {
        let options = EngineOptions { shaders, context: Some(context), plain_argmax, ..tier(number) };
        load(&tiny(), &options)
    })
}

fn exact() -> bool {
    Device::open(&AdapterChoice::Best, None).unwrap().adapter().kind == AdapterKind::Software
}

fn prompts() -> Vec<Case> {
    cases("tiny/cases.json", "tiny/last_logits.safetensors")
}

/// Feeds both engines the same ids, and holds each step's logits against each other.
fn together([wgsl, hlsl]: &mut [Engine; 2], case: &Case, steps: usize) {
    wgsl.reset();
    hlsl.reset();
    let mut pair = [wgsl.prefill(&case.ids).unwrap(), hlsl.prefill(&case.ids).unwrap()];
    for step in 0..steps {
        let [a, b] = &pair;
        let number = wgsl.info().tier;
        let logits = |step: &tilewright_models::engine::Step| {
            step.logits.as_ref().map(|l| l.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        assert_eq!(a.token, b.token, "tier {number}, {}, step {step}", case.name);
        assert!(logits(a) == logits(b), "tier {number}, {}, step {step}: other bits", case.name);
        let next = a.token.unwrap_or_else(|| best(a.logits.as_ref().unwrap()));
        if wgsl.position() == wgsl.context() {
            return;
        }
        pair = [wgsl.decode(next).unwrap(), hlsl.decode(next).unwrap()];
    }
}

fn languages_of([wgsl, hlsl]: &[Engine; 2]) {
    assert_eq!((wgsl.info().shaders, hlsl.info().shaders), ("wgsl", "hlsl"));
}

#[test]
fn every_tier_gives_wgsls_logits() {
    let Some(dxc) = dxc() else { return };
    let prompts = prompts();
    let case = prompts.iter().filter(|c| c.ids.len() > 4).min_by_key(|c| c.ids.len()).unwrap();
    for number in 0..tiers::count() {
        let mut engines = both(number, &dxc, 64, false);
        languages_of(&engines);
        match exact() {
            true => together(&mut engines, case, 8),
            false => hold(&mut engines[1], case, 8),
        }
    }
    // The token that the device picks.
    let mut engines = both(tiers::count() - 1, &dxc, 64, true);
    together(&mut engines, case, 8);
    // A cache that is read in parts.
    let long = prompts.iter().find(|c| (256..310).contains(&c.ids.len())).unwrap();
    for plain_argmax in [true, false] {
        together(&mut both(tiers::count() - 1, &dxc, 320, plain_argmax), long, 4);
    }
}

#[cfg(feature = "whole")]
#[test]
fn every_golden_on_every_tier() {
    let Some(dxc) = dxc() else { return };
    for number in 0..tiers::count() {
        let mut engines = both(number, &dxc, 2048, false);
        // One invocation does an output's whole work below tier 4: hours for the longest prompt.
        for case in prompts().iter().filter(|c| number >= 4 || c.ids.len() < 1000) {
            match exact() {
                true => together(&mut engines, case, 64),
                false => hold(&mut engines[1], case, 64),
            }
            println!("tier {number}, {}: 64 tokens", case.name);
        }
    }
}
