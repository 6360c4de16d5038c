//! Text to token ids and back, from a model's `tokenizer.json`.
//!
//! The `tokenizers` crate encodes; decoding is done here over each token's bytes, so that a stream of tokens can be
//! printed as it grows. The rule: what a [`TextStream`] has given out is never taken back and never ends inside a
//! character, and everything it gave out together is exactly the decoding of all ids at once. Absent: vocabularies
//! that are not byte-level BPE, which no Qwen2 model has.
//! Byte-level BPE: Radford et al. 2019 (GPT-2), section 2.2.

mod bytes;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tokenizers::DecoderWrapper;

use crate::config::Config;
use crate::error::ModelError;
use crate::files::{self, read_json};
use bytes::TokenBytes;

/// A model's tokenizer and the ids that end a text.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    path: PathBuf,
    bytes: TokenBytes,
    eos_ids: Vec<u32>,
}

impl Tokenizer {
    /// Reads `tokenizer.json` in the folder `dir`, and the end token in `tokenizer_config.json` if that is there.
    ///
    /// # Errors
    /// When `tokenizer.json` is missing, malformed, not byte-level, or has ids that the embedding does not.
    pub fn open(dir: &Path, config: &Config) -> Result<Self, ModelError> {
        let path = dir.join("tokenizer.json");
        if !files::exists(&path) {
            return Err(ModelError::NoFile {
                folder: dir.into(),
                file: "tokenizer.json".into(),
                help:
                    "expected the tokenizer beside the weights; download it, or pass token ids with --ids, which needs \
                       none"
                        .into(),
            });
        }
        let contents = files::read(&path)?;
        let wrong =
            |reason: String, help: &str| ModelError::Tokenizer { path: path.clone(), reason, help: help.into() };
        let mut inner = tokenizers::Tokenizer::from_bytes(contents)
            .map_err(|e| wrong(format!("not a tokenizer: {e}"), "download the file again"))?;
        if !matches!(inner.get_decoder(), Some(DecoderWrapper::ByteLevel(_))) {
            let help = "expected the byte-level BPE of Qwen2; use the model's own tokenizer.json";
            return Err(wrong("its decoder is not ByteLevel".into(), help));
        }
        // Settings for training batches; a prompt is neither cut nor filled up.
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|e| wrong(e.to_string(), "download the file again"))?;

        let bytes = TokenBytes::new(&inner);
        if bytes.len() > config.vocab_size {
            return Err(wrong(
                format!(
                    "it has ids up to {}, but config.json says `vocab_size`: {}",
                    bytes.len() - 1,
                    config.vocab_size
                ),
                "expected no id beyond the embedding; tokenizer and weights are of different models",
            ));
        }
        let mut eos_ids = config.eos_token_ids.clone();
        let own = end_token(dir)?.and_then(|token| inner.token_to_id(&token));
        eos_ids.extend(own.filter(|id| !config.eos_token_ids.contains(id)));
        Ok(Self { inner, path, bytes, eos_ids })
    }

    /// The ids of a text. Special tokens written in the text are recognised, and none are added.
    ///
    /// # Errors
    /// When the tokenizer refuses the text.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let encoding = self.inner.encode_fast(text, false).map_err(|e| ModelError::Tokenizer {
            path: self.path.clone(),
            reason: format!("cannot encode the text: {e}"),
            help: "expected a vocabulary that covers every byte; download the file again".into(),
        })?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The text of `ids`. Ids without a token have no text; bytes that are not UTF-8 become U+FFFD.
    pub fn decode(&self, ids: &[u32], special: SpecialTokens) -> String {
        let mut stream = self.stream(special);
        let mut text: String = ids.iter().map(|&id| stream.push(id)).collect();
        text.push_str(&stream.finish());
        text
    }

    /// Decodes token by token.
    pub fn stream(&self, special: SpecialTokens) -> TextStream<'_> {
        TextStream { bytes: &self.bytes, special, pending: Vec::new() }
    }

    /// The ids that end a text: the union of `config.json`, `generation_config.json` and the tokenizer's own.
    pub fn eos_ids(&self) -> &[u32] {
        &self.eos_ids
    }

    /// One more than the highest id that has a token: the embedding may have more rows, which are never sampled.
    pub fn entries(&self) -> usize {
        self.bytes.len()
    }

    /// Where it was read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The first id that stands for something else in another tokenizer.
    pub fn difference(&self, other: &Tokenizer) -> Option<String> {
        let token = |t: &Tokenizer, id| t.token(id).map_or("nothing".into(), |token| format!("`{token}`"));
        let mut ids = 0..self.entries().max(other.entries()) as u32;
        let id = ids.find(|id| self.token(*id) != other.token(*id))?;
        Some(format!("id {id} is {} in one and {} in the other", token(self, id), token(other, id)))
    }

    /// How a token is written in the vocabulary, for messages.
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }
}

/// Whether decoding shows special tokens such as `<|im_end|>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialTokens {
    /// They are part of the text.
    Show,
    /// They have no text.
    Hide,
}

/// Text that grows token by token, in whole characters.
pub struct TextStream<'a> {
    bytes: &'a TokenBytes,
    special: SpecialTokens,
    /// The beginning of a character whose other bytes are still to come.
    pending: Vec<u8>,
}

impl TextStream<'_> {
    /// The text that this token completes; empty while a character is unfinished.
    pub fn push(&mut self, id: u32) -> String {
        if self.special == SpecialTokens::Hide && self.bytes.is_special(id) {
            return String::new();
        }
        self.pending.extend_from_slice(self.bytes.get(id));
        let mut text = String::new();
        loop {
            let (valid, broken) = match std::str::from_utf8(&self.pending) {
                Ok(all) => (all, None),
                Err(e) => (std::str::from_utf8(&self.pending[..e.valid_up_to()]).unwrap_or_default(), e.error_len()),
            };
            text.push_str(valid);
            let done = valid.len() + broken.unwrap_or(0);
            self.pending.drain(..done);
            if broken.is_none() {
                return text;
            }
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// What is left at the end: U+FFFD if the last character was never finished.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.pending).into_owned()
    }
}

/// `eos_token` of `tokenizer_config.json`: a string, or an object with its `content`.
fn end_token(dir: &Path) -> Result<Option<String>, ModelError> {
    let path = dir.join("tokenizer_config.json");
    if !files::exists(&path) {
        return Ok(None);
    }
    let token = token_text(&read_json(&path)?["eos_token"]);
    Ok(token)
}

/// A special token as `tokenizer_config.json` writes it: a string, or an object with its `content`.
pub(crate) fn token_text(value: &Value) -> Option<String> {
    value.as_str().or(value["content"].as_str()).map(Into::into)
}
