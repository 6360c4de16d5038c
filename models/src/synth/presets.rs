//! The shapes of the Qwen2.5 family, and a small one for tests.

use crate::config::{Config, GenerationDefaults, Rope, RopeScaling};
use crate::error::ModelError;

/// The presets' names.
pub const PRESETS: [&str; 8] = [
    "tiny-test",
    "qwen2.5-0.5b",
    "qwen2.5-1.5b",
    "qwen2.5-3b",
    "qwen2.5-7b",
    "qwen2.5-14b",
    "qwen2.5-32b",
    "qwen2.5-72b",
];

/// The shape of a preset.
///
/// # Errors
/// When there is none of this name.
pub fn preset(name: &str) -> Result<Config, ModelError> {
    // Width, MLP width, layers, heads, key-value heads, rows of the embedding, tied head.
    let shape = match name {
        "tiny-test" => (64, 128, 2, 4, 2, 300, true),
        "qwen2.5-0.5b" => (896, 4864, 24, 14, 2, 151_936, true),
        "qwen2.5-1.5b" => (1536, 8960, 28, 12, 2, 151_936, true),
        "qwen2.5-3b" => (2048, 11_008, 36, 16, 2, 151_936, true),
        "qwen2.5-7b" => (3584, 18_944, 28, 28, 4, 152_064, false),
        "qwen2.5-14b" => (5120, 13_824, 48, 40, 8, 152_064, false),
        "qwen2.5-32b" => (5120, 27_648, 64, 40, 8, 152_064, false),
        "qwen2.5-72b" => (8192, 29_568, 80, 64, 8, 152_064, false),
        _ => {
            return Err(ModelError::Preset { name: name.into(), known: PRESETS.join(", ") });
        }
    };
    let (hidden_size, intermediate_size, layers, heads, kv_heads, vocab_size, tied) = shape;
    let small = name == "tiny-test";
    Ok(Config {
        vocab_size,
        hidden_size,
        intermediate_size,
        num_hidden_layers: layers,
        num_attention_heads: heads,
        num_key_value_heads: kv_heads,
        head_dim: hidden_size / heads,
        max_position_embeddings: if small { 512 } else { 32_768 },
        rms_norm_eps: 1e-6,
        rope: Rope { theta: 1e6, scaling: RopeScaling::None },
        tie_word_embeddings: tied,
        eos_token_ids: if small { vec![1] } else { vec![151_645, 151_643] },
        generation: GenerationDefaults::default(),
    })
}
