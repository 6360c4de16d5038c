//! Every stage of layer 0 and every layer's output of one prompt.

use tilewright_models::engine::{Engine, Probed};

use crate::goldens::{cases, distance, golden, load, scale, tensors, tier, tiny};
use crate::rule::TOLERANCE;

/// Stages of a layer: the golden's name and the op that leaves it.
const STAGES: [(&str, &str); 9] = [
    ("input_norm", "input_norm"),
    ("q_proj", "q_bias"),
    ("k_proj", "k_bias"),
    ("v_proj", "v_bias"),
    ("q_rope", "q_rope"),
    ("k_rope", "k_rope"),
    ("attn_out", "attn_out"),
    ("post_attn_norm", "post_attn_norm"),
    ("mlp_out", "mlp_out"),
];

fn close(name: &str, found: &[f32], wanted: &[f32]) {
    let (found, allowed) = (distance(found, wanted), TOLERANCE * scale(wanted));
    assert!(found <= allowed, "{name}: {found} apart, allowed {allowed}");
}

fn stages(engine: &mut Engine) {
    let prompts = cases("tiny/cases.json", "tiny/last_logits.safetensors");
    let ids = &prompts[0].ids;
    assert_eq!(prompts[0].name, "ascii_capital");
    let wanted = tensors(&golden("tiny/hidden_ascii_capital.safetensors"));
    let probed = engine.probe(ids).unwrap();
    let find = |label: &str, layer: u32| -> Vec<f32> {
        let here = |p: &&Probed| p.label == label && p.layer == layer;
        probed.iter().find(here).unwrap_or_else(|| panic!("no op {label} in layer {layer}")).rows.concat()
    };
    close("embed", &find("embed", 0), &wanted["embed"]);
    for (name, label) in STAGES {
        close(name, &find(label, 0), &wanted[&format!("layers.0.{name}")]);
    }
    for layer in 0..6 {
        for (name, label) in [("attn_out", "attn_out"), ("mlp_out", "mlp_out"), ("out", "out")] {
            let name = format!("layers.{layer}.{name}");
            close(&name, &find(label, layer), &wanted[&name]);
        }
    }
    engine.reset();
    close("logits", &engine.prefill_all(ids).unwrap().concat(), &wanted["logits"]);
}

#[test]
fn naive_stages() {
    stages(&mut load(&tiny(), &tier(1)));
}

#[test]
fn optimised_stages() {
    stages(&mut load(&tiny(), &tier(6)));
}
