//! Which tensors a Qwen2 model has, from its [`Config`] alone.
//!
//! The rule: one list serves reading, checking and making checkpoints, in the order in which a forward pass meets the
//! tensors. Absent: how they are stored.

use crate::config::Config;

/// The name of the embedding's tensor, and of a tied head's.
pub const EMBEDDING: &str = "model.embed_tokens.weight";
/// The name of an untied head's tensor.
pub const HEAD: &str = "lm_head.weight";
/// The name of the final norm's tensor.
pub const FINAL_NORM: &str = "model.norm.weight";

/// A tensor's name and shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// The name in the checkpoint.
    pub name: String,
    /// The dimensions, outermost first: outputs × inputs of a linear layer, one of a norm or a bias.
    pub shape: Vec<usize>,
}

impl TensorSpec {
    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.shape.iter().map(|&n| n as u64).product()
    }
}

/// The name of a tensor of layer `layer`: `part` is `self_attn.q_proj.weight` or the like.
pub fn layer_tensor(layer: usize, part: &str) -> String {
    format!("model.layers.{layer}.{part}")
}

/// The layer that a tensor belongs to by its name.
pub(super) fn layer_of(name: &str) -> Option<usize> {
    name.strip_prefix("model.layers.")?.split('.').next()?.parse().ok()
}

/// Every tensor of the model. The head is listed when `config.tie_word_embeddings` is false.
pub fn expected_tensors(config: &Config) -> Vec<TensorSpec> {
    let (h, f) = (config.hidden_size, config.intermediate_size);
    let (q, kv) = (config.q_width(), config.kv_width());
    let embedding = [config.vocab_size, h];
    let spec = |name: String, shape: &[usize]| TensorSpec { name, shape: shape.to_vec() };

    let mut all = vec![spec(EMBEDDING.into(), &embedding)];
    for layer in 0..config.num_hidden_layers {
        let parts: [(&str, &[usize]); 12] = [
            ("input_layernorm.weight", &[h]),
            ("self_attn.q_proj.weight", &[q, h]),
            ("self_attn.q_proj.bias", &[q]),
            ("self_attn.k_proj.weight", &[kv, h]),
            ("self_attn.k_proj.bias", &[kv]),
            ("self_attn.v_proj.weight", &[kv, h]),
            ("self_attn.v_proj.bias", &[kv]),
            ("self_attn.o_proj.weight", &[h, q]),
            ("post_attention_layernorm.weight", &[h]),
            ("mlp.gate_proj.weight", &[f, h]),
            ("mlp.up_proj.weight", &[f, h]),
            ("mlp.down_proj.weight", &[h, f]),
        ];
        all.extend(parts.map(|(part, shape)| spec(layer_tensor(layer, part), shape)));
    }
    all.push(spec(FINAL_NORM.into(), &[h]));
    if !config.tie_word_embeddings {
        all.push(spec(HEAD.into(), &embedding));
    }
    all
}
