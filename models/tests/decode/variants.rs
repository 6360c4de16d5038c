//! Small random models: odd sizes, an untied head, seven heads a group, shards, f16, f32, YaRN. On the first tier, the one that adds
//! workgroups that share a row, and the last.

use tilewright_models::engine::EngineOptions;

use crate::goldens::{cases, golden, load, tier};
use crate::rule::hold;

fn variant(name: &str) {
    let cases =
        cases(&format!("variants/{name}/golden.json"), &format!("variants/{name}/golden_last_logits.safetensors"));
    assert_eq!(cases.len(), 4);
    for number in [0, 3, 6] {
        // The longest prompt crosses the border of a prefill chunk.
        let options = EngineOptions { context: Some(160), plain_argmax: number == 6, ..tier(number) };
        let mut engine = load(&golden(&format!("variants/{name}")), &options);
        for case in &cases {
            hold(&mut engine, case, 8);
        }
    }
}

#[test]
fn f32_weights() {
    variant("f32");
}

#[test]
fn seven_heads_a_group() {
    variant("heads7");
}

#[test]
fn odd_sizes() {
    variant("odd48");
}

#[test]
fn sharded_f16() {
    variant("sharded_f16");
}

#[test]
fn untied_head() {
    variant("untied");
}

#[test]
fn yarn() {
    variant("yarn");
}
