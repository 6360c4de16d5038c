//! A model's shape and defaults, read from `config.json` and `generation_config.json` of the Hugging Face layout.
//!
//! The rule: after [`Config::open`] every number is possible. Nothing is zero, head counts divide, products of sizes fit,
//! and whatever would change the arithmetic but is not implemented (another architecture, quantised weights, a sliding
//! window that bites, other RoPE scalings) has been refused by name. Fields that do not touch inference are not read.
//! What each field means: transformers' `Qwen2Config`; RoPE scaling: `modeling_rope_utils.py`.

mod fields;
mod scaling;

use std::path::Path;

use serde_json::{Value, json};

use crate::error::ModelError;
use crate::files::{self, read_json};
use fields::Fields;
pub use scaling::{Rope, RopeScaling};

/// The shape of a Qwen2 model, under the names that `config.json` uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Rows of the embedding and of the head, V. The tokenizer may have fewer entries.
    pub vocab_size: usize,
    /// The width of the residual stream.
    pub hidden_size: usize,
    /// The width of the MLP.
    pub intermediate_size: usize,
    /// Decoder layers.
    pub num_hidden_layers: usize,
    /// Query heads.
    pub num_attention_heads: usize,
    /// Key and value heads; divides the query heads.
    pub num_key_value_heads: usize,
    /// The width of one head; even.
    pub head_dim: usize,
    /// The context that the file names, in tokens; see [`Config::context`].
    pub max_position_embeddings: usize,
    /// The epsilon under RMSNorm's root.
    pub rms_norm_eps: f32,
    /// Rotary position embedding.
    pub rope: Rope,
    /// Whether the head shares the embedding's weights; the checkpoint has the last word.
    pub tie_word_embeddings: bool,
    /// Ids that end a text: those of `config.json`, then those that `generation_config.json` adds.
    pub eos_token_ids: Vec<u32>,
    /// Sampling defaults.
    pub generation: GenerationDefaults,
}

/// How the model's authors would sample; transformers' defaults where the files are silent.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationDefaults {
    /// Whether to sample at all; greedy otherwise.
    pub do_sample: bool,
    /// Divides the logits.
    pub temperature: f32,
    /// Keeps this many of the best; 0 keeps all.
    pub top_k: usize,
    /// Keeps the best of this total probability; 1 keeps all.
    pub top_p: f32,
    /// Divides positive logits of tokens already seen, multiplies negative ones; 1 changes nothing.
    pub repetition_penalty: f32,
}

impl Default for GenerationDefaults {
    fn default() -> Self {
        Self { do_sample: false, temperature: 1.0, top_k: 50, top_p: 1.0, repetition_penalty: 1.0 }
    }
}

const LAYERS_MAX: usize = 1 << 10;
const WIDTH_MAX: usize = 1 << 20;
const VOCAB_MAX: usize = 1 << 24;
const CONTEXT_MAX: usize = 1 << 28;

impl Config {
    /// Reads the configuration of the model in the folder `dir`; `generation_config.json` may be absent.
    ///
    /// # Errors
    /// When the folder or `config.json` is missing or malformed, when the model is of another architecture or quantised,
    /// and when a number is impossible.
    pub fn open(dir: &Path) -> Result<Self, ModelError> {
        if !files::is_folder(dir) {
            let found = if files::exists(dir) { "it is not a folder" } else { "nothing is there" };
            return Err(ModelError::NoFolder { path: dir.into(), found: found.into() });
        }
        let path = dir.join("config.json");
        if !files::exists(&path) {
            return Err(ModelError::NoFile {
                folder: dir.into(),
                file: "config.json".into(),
                help: missing_config_help(dir),
            });
        }
        let mut config = Self::from_json(&read_json(&path)?, &path)?;
        let path = dir.join("generation_config.json");
        if files::exists(&path) {
            config.read_generation(&read_json(&path)?, &path)?;
        }
        Ok(config)
    }

    /// Reads a parsed `config.json`; `path` is for messages.
    ///
    /// # Errors
    /// As [`Config::open`].
    pub fn from_json(value: &Value, path: &Path) -> Result<Self, ModelError> {
        let fields = Fields::new(value, path)?;
        refuse_architecture(&fields)?;
        refuse_quantised(&fields)?;
        if let Some(act) = fields.string("hidden_act")?
            && act != "silu"
        {
            return Err(fields.wrong("hidden_act", "\"silu\""));
        }
        let heads = fields.size("num_attention_heads", WIDTH_MAX)?;
        let hidden = fields.size("hidden_size", WIDTH_MAX)?;
        let kv_heads = fields.optional_size("num_key_value_heads", WIDTH_MAX)?.unwrap_or(heads);
        if !heads.is_multiple_of(kv_heads) {
            return Err(
                fields.wrong("num_key_value_heads", format!("a divisor of num_attention_heads, which is {heads}"))
            );
        }
        let max_position_embeddings = fields.optional_size("max_position_embeddings", CONTEXT_MAX)?.unwrap_or(32768);
        let config = Self {
            vocab_size: fields.size("vocab_size", VOCAB_MAX)?,
            hidden_size: hidden,
            intermediate_size: fields.size("intermediate_size", WIDTH_MAX)?,
            num_hidden_layers: fields.size("num_hidden_layers", LAYERS_MAX)?,
            num_attention_heads: heads,
            num_key_value_heads: kv_heads,
            head_dim: head_dim(&fields, hidden, heads)?,
            max_position_embeddings,
            rms_norm_eps: fields.positive("rms_norm_eps")?.unwrap_or(1e-6) as f32,
            rope: Rope::read(&fields, max_position_embeddings)?,
            tie_word_embeddings: fields.boolean("tie_word_embeddings")?.unwrap_or(false),
            eos_token_ids: fields.ids("eos_token_id")?,
            generation: GenerationDefaults::default(),
        };
        refuse_dtype(&fields)?;
        refuse_sliding_window(&fields, &config)?;
        check_ids(&fields, &config.eos_token_ids, config.vocab_size)?;
        Ok(config)
    }

    /// How many positions the model may see: `max_position_embeddings`, or what the RoPE scaling stretches it to.
    pub fn context(&self) -> usize {
        self.max_position_embeddings.max(self.rope.stretched_context())
    }

    /// Query heads that share one key-value head.
    pub fn group(&self) -> usize {
        self.num_attention_heads / self.num_key_value_heads
    }

    /// The width of all query heads together: rows of `q_proj`, columns of `o_proj`.
    pub fn q_width(&self) -> usize {
        self.num_attention_heads * self.head_dim
    }

    /// The width of all key heads together, and of all value heads: rows of `k_proj` and `v_proj`.
    pub fn kv_width(&self) -> usize {
        self.num_key_value_heads * self.head_dim
    }

    /// Parameters in all, each once.
    pub fn parameters(&self) -> u64 {
        let (h, q, kv) = (self.hidden_size, self.q_width(), self.kv_width());
        let attention = (h + 1) * (q + 2 * kv) + q * h;
        let layer = attention + 3 * h * self.intermediate_size + 2 * h;
        let tables = if self.tie_word_embeddings { 1 } else { 2 };
        (tables * self.vocab_size * h + self.num_hidden_layers * layer + h) as u64
    }

    /// This configuration as a `config.json` that transformers reads, for weights stored as `dtype` ("bfloat16", ...).
    pub fn to_json(&self, dtype: &str) -> Value {
        let mut value = json!({
            "architectures": ["Qwen2ForCausalLM"],
            "attention_dropout": 0.0,
            "eos_token_id": self.eos_token_ids,
            "hidden_act": "silu",
            "hidden_size": self.hidden_size,
            "initializer_range": 0.02,
            "intermediate_size": self.intermediate_size,
            "max_position_embeddings": self.max_position_embeddings,
            "max_window_layers": self.num_hidden_layers,
            "model_type": "qwen2",
            "num_attention_heads": self.num_attention_heads,
            "num_hidden_layers": self.num_hidden_layers,
            "num_key_value_heads": self.num_key_value_heads,
            // The shortest decimal of the f32, so that 1e-6 stays 1e-06.
            "rms_norm_eps": self.rms_norm_eps.to_string().parse::<f64>().unwrap_or(1e-6),
            "rope_theta": self.rope.theta,
            "tie_word_embeddings": self.tie_word_embeddings,
            "torch_dtype": dtype,
            "use_cache": true,
            "use_sliding_window": false,
            "vocab_size": self.vocab_size,
        });
        if self.head_dim * self.num_attention_heads != self.hidden_size {
            value["head_dim"] = json!(self.head_dim);
        }
        if let Some(scaling) = self.rope.to_json() {
            value["rope_scaling"] = scaling;
        }
        value
    }

    fn read_generation(&mut self, value: &Value, path: &Path) -> Result<(), ModelError> {
        let fields = Fields::new(value, path)?;
        let ends = fields.ids("eos_token_id")?;
        check_ids(&fields, &ends, self.vocab_size)?;
        for id in ends {
            if !self.eos_token_ids.contains(&id) {
                self.eos_token_ids.push(id);
            }
        }
        let g = &mut self.generation;
        g.do_sample = fields.boolean("do_sample")?.unwrap_or(g.do_sample);
        if let Some(t) = fields.number("temperature")? {
            if t < 0.0 {
                return Err(fields.wrong("temperature", "a number from 0"));
            }
            g.temperature = t as f32;
        }
        if let Some(k) = fields.optional_whole("top_k")? {
            g.top_k = k as usize;
        }
        if let Some(p) = fields.number("top_p")? {
            if !(0.0..=1.0).contains(&p) {
                return Err(fields.wrong("top_p", "a number from 0 to 1"));
            }
            g.top_p = p as f32;
        }
        if let Some(r) = fields.positive("repetition_penalty")? {
            g.repetition_penalty = r as f32;
        }
        Ok(())
    }
}

fn head_dim(fields: &Fields, hidden: usize, heads: usize) -> Result<usize, ModelError> {
    let dim = match fields.optional_size("head_dim", WIDTH_MAX)? {
        Some(dim) => dim,
        None if hidden.is_multiple_of(heads) => hidden / heads,
        None => {
            let expected = format!("a multiple of num_attention_heads, which is {heads}");
            return Err(fields.wrong("hidden_size", expected));
        }
    };
    if !dim.is_multiple_of(2) {
        let expected = format!("an even width of a head for RoPE (the width is {dim})");
        let field = if fields.has("head_dim") { "head_dim" } else { "hidden_size" };
        return Err(fields.wrong(field, expected));
    }
    // Element counts of every tensor then fit 64-bit arithmetic with room for bytes.
    if dim * heads > WIDTH_MAX {
        let expected = format!("at most {WIDTH_MAX} / head_dim, which is {}", WIDTH_MAX / dim);
        return Err(fields.wrong("num_attention_heads", expected));
    }
    Ok(dim)
}

fn refuse_architecture(fields: &Fields) -> Result<(), ModelError> {
    let architectures = fields.strings("architectures")?;
    let model_type = fields.string("model_type")?;
    let found = match (architectures.first(), &model_type) {
        (Some(a), _) if a != "Qwen2ForCausalLM" => a.clone(),
        (_, Some(t)) if t != "qwen2" => t.clone(),
        (None, None) => return Err(fields.wrong("model_type", "\"qwen2\"")),
        _ => return Ok(()),
    };
    Err(ModelError::Architecture {
        path: fields.path().into(),
        found,
        help: "use a Qwen2 or Qwen2.5 text model, for example Qwen2.5-0.5B-Instruct".into(),
    })
}

fn refuse_quantised(fields: &Fields) -> Result<(), ModelError> {
    let Some(quantisation) = fields.get("quantization_config") else {
        return Ok(());
    };
    let method = quantisation["quant_method"].as_str().unwrap_or("quantization_config");
    Err(ModelError::Quantised { path: fields.path().into(), method: method.to_uppercase() })
}

/// Refuses a storage type that no weights are read in; the weights' own headers say which of the others it is.
fn refuse_dtype(fields: &Fields) -> Result<(), ModelError> {
    for name in ["torch_dtype", "dtype"] {
        let found = fields.string(name)?;
        let known = |t: &str| matches!(t.trim_start_matches("torch."), "bfloat16" | "float16" | "float32" | "auto");
        if found.is_some_and(|t| !known(&t)) {
            return Err(fields.wrong(name, "\"bfloat16\", \"float16\" or \"float32\""));
        }
    }
    Ok(())
}

/// Holds the ids that end a text against the embedding.
fn check_ids(fields: &Fields, ids: &[u32], vocab: usize) -> Result<(), ModelError> {
    match ids.iter().any(|id| *id as usize >= vocab) {
        true => Err(fields.wrong("eos_token_id", format!("ids under `vocab_size`, which is {vocab}"))),
        false => Ok(()),
    }
}

/// Refuses a sliding window that some layer uses and that is shorter than the context.
fn refuse_sliding_window(fields: &Fields, config: &Config) -> Result<(), ModelError> {
    let Some(window) = fields.optional_whole("sliding_window")? else {
        return Ok(());
    };
    let used = fields.boolean("use_sliding_window")?.unwrap_or(false);
    let first = fields.optional_whole("max_window_layers")?.unwrap_or(28);
    let named = fields.strings("layer_types")?;
    let some_layer = if named.is_empty() {
        first < config.num_hidden_layers as u64
    } else {
        named.iter().any(|t| t == "sliding_attention")
    };
    if used && some_layer && window < config.context() as u64 {
        return Err(fields.wrong(
            "use_sliding_window",
            format!("false: a window of {window} in a context of {} is not implemented", config.context()),
        ));
    }
    Ok(())
}

fn missing_config_help(dir: &Path) -> String {
    let names = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.file_name());
    let gguf = names.filter_map(|n| n.into_string().ok()).find(|n| n.ends_with(".gguf"));
    match gguf {
        Some(name) => format!(
            "{name} is a GGUF file, which is not supported; download the model in the Hugging Face layout \
             (config.json, tokenizer.json, model.safetensors)"
        ),
        None => {
            "expected the Hugging Face layout (config.json, tokenizer.json, model.safetensors); check the path".into()
        }
    }
}
