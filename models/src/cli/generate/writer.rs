//! What writes a text: a model alone, or with a draft.

use std::path::Path;

use serde_json::{Value, json};

use super::super::args::{GenerateArgs, ModelArgs};
use super::super::error::CliError;
use super::super::model::Folder;
use super::super::output;
use super::millis;
use super::prompt::Prompt;
use crate::bundled::bundled_draft_dir;
use crate::engine::{Engine, EngineOptions, Step};
use crate::error::{ModelError, counted};
use crate::files;
use crate::speculative::{Named, Speculative, check};
use crate::tokenizer::Tokenizer;

/// A model, alone or with a draft.
pub enum Writer {
    /// Alone.
    Alone(Box<Engine>),
    /// With a draft.
    Pair(Box<Speculative>),
}

/// The draft's folder, once it is known to fit.
pub fn drafted(args: &GenerateArgs, folder: &Folder, prompt: &Prompt) -> Result<Option<Folder>, CliError> {
    let Some(dir) = &args.draft.draft else { return Ok(None) };
    let dir = &if dir == Path::new("bundled") { bundled_draft_dir()? } else { dir.clone() };
    let draft = Folder::open(&ModelArgs { model: Some(dir.clone()) })?;
    let tokenizer = match files::exists(&dir.join("tokenizer.json")) {
        true => Some(Tokenizer::open(dir, &draft.config)?),
        false => None,
    };
    let name = |dir: &Path| dir.display().to_string();
    let (target, own) = (name(&folder.dir), name(dir));
    check(
        Named { name: &target, config: &folder.config, tokenizer: prompt.tokenizer.as_ref() },
        Named { name: &own, config: &draft.config, tokenizer: tokenizer.as_ref() },
    )
    .map_err(ModelError::from)?;
    Ok(Some(draft))
}

impl Writer {
    /// Loads a draft beside its target.
    pub fn pair(target: Engine, draft: &Folder, options: &EngineOptions, gamma: u32) -> Result<Self, CliError> {
        let most = u32::try_from(draft.config.context()).unwrap_or(u32::MAX);
        let options = EngineOptions { verify: None, context: Some(target.context().min(most)), ..options.clone() };
        let draft = draft.load_beside(&target, &options)?;
        Ok(Writer::Pair(Box::new(Speculative::new(target, draft, gamma))))
    }

    /// The model itself.
    pub fn engine(&self) -> &Engine {
        match self {
            Writer::Alone(engine) => engine,
            Writer::Pair(pair) => pair.target(),
        }
    }

    /// Appends a prompt.
    pub fn prefill(&mut self, ids: &[u32]) -> Result<Step, ModelError> {
        match self {
            Writer::Alone(engine) => engine.prefill(ids),
            Writer::Pair(pair) => pair.prefill(ids),
        }
    }

    /// `--verbose`, before the first token.
    pub fn describe(&self) {
        if let Writer::Pair(pair) = self {
            let info = pair.draft().info();
            let bytes = info.weight_bytes;
            output::line(&format!(
                "draft: tier {} ({}), {bytes} bytes of weights on the device",
                info.tier, info.tier_name
            ));
        }
    }

    /// `--verbose`, behind the last token.
    pub fn summarise(&self) {
        if let Writer::Pair(pair) = self {
            let c = pair.counts();
            output::line(&format!(
                "draft: {} of {} right ({:.0} %), {:.2} tokens a pass; {:.1} ms guessing, {:.1} ms verifying in {}",
                c.accepted,
                counted(c.guessed as usize, "guess", "guesses"),
                100.0 * c.acceptance(),
                c.tokens_a_pass(),
                millis(c.drafting),
                millis(c.verifying),
                counted(c.passes as usize, "pass", "passes"),
            ));
        }
    }

    /// For `--json`; null without a draft.
    pub fn report(&self) -> Value {
        let Writer::Pair(pair) = self else { return Value::Null };
        let c = pair.counts();
        json!({
            "passes": c.passes,
            "guessed": c.guessed,
            "accepted": c.accepted,
            "acceptance": c.acceptance(),
            "tokens_a_pass": c.tokens_a_pass(),
            "drafting_ms": millis(c.drafting),
            "verifying_ms": millis(c.verifying),
        })
    }
}
