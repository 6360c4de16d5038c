//! The prompt: text, chat or ids, from the command line or stdin.

use std::ffi::OsStr;
use std::io::Read;

use super::super::args::GenerateArgs;
use super::super::error::CliError;
use super::super::model::Folder;
use super::super::output;
use crate::chat::{ChatTemplate, Message};
use crate::error::counted;
use crate::files;
use crate::tokenizer::Tokenizer;

/// What the model continues.
pub struct Prompt {
    /// Its tokens, at least one.
    pub ids: Vec<u32>,
    /// The tokenizer; a prompt of ids may lack one.
    pub tokenizer: Option<Tokenizer>,
    /// Ids that end the text.
    pub eos_ids: Vec<u32>,
    /// What is worth a line once nothing else is wrong.
    pub notes: Vec<String>,
}

impl Prompt {
    /// The prompt that the flags give.
    pub fn of(args: &GenerateArgs, folder: &Folder) -> Result<Self, CliError> {
        if let Some(ids) = &args.ids {
            folder.check_ids(ids)?;
            let (mut tokenizer, mut notes) = (None, Vec::new());
            if files::exists(&folder.dir.join("tokenizer.json")) {
                tokenizer = Some(Tokenizer::open(&folder.dir, &folder.config)?);
            } else {
                notes.push("no tokenizer.json in the model's folder: token ids are printed instead of text".into());
            }
            let eos_ids = match &tokenizer {
                Some(t) => t.eos_ids().to_vec(),
                None => folder.config.eos_token_ids.clone(),
            };
            return Ok(Prompt { ids: ids.0.clone(), tokenizer, eos_ids, notes });
        }

        let prompt = args.prompt.as_deref().ok_or_else(|| empty("there is no PROMPT and no --ids"))?;
        let text = text_of(prompt)?;
        let tokenizer = Tokenizer::open(&folder.dir, &folder.config)?;
        let (text, note) = if args.chat { chat(args, folder, &text)? } else { (text, None) };
        let ids = tokenizer.encode(&text)?;
        if ids.is_empty() {
            return Err(empty("the prompt has no tokens"));
        }
        let eos_ids = tokenizer.eos_ids().to_vec();
        Ok(Prompt { ids, tokenizer: Some(tokenizer), eos_ids, notes: note.into_iter().collect() })
    }

    /// `--verbose`.
    pub fn describe(&self) {
        let name = |id: &u32| match self.tokenizer.as_ref().and_then(|t| t.token(*id)) {
            Some(token) => format!("{id} {token}"),
            None => id.to_string(),
        };
        let ends: Vec<String> = self.eos_ids.iter().map(name).collect();
        output::line(&format!(
            "prompt: {}; the text ends at {}",
            counted(self.ids.len(), "token", "tokens"),
            ends.join(", ")
        ));
    }
}

fn text_of(prompt: &OsStr) -> Result<String, CliError> {
    let text = if prompt == "-" {
        from_stdin()?
    } else {
        let found = prompt.as_encoded_bytes();
        prompt.to_str().map(String::from).ok_or_else(|| not_utf8("PROMPT", found))?
    };
    if text.is_empty() {
        return Err(empty(if prompt == "-" { "stdin is empty" } else { "PROMPT is empty" }));
    }
    Ok(text)
}

fn from_stdin() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|source| CliError::Read { path: "stdin".into(), source })?;
    let mut text = String::from_utf8(bytes).map_err(|e| not_utf8("stdin", e.as_bytes()))?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

fn not_utf8(what: &str, bytes: &[u8]) -> CliError {
    let at = std::str::from_utf8(bytes).err().map_or(0, |e| e.valid_up_to());
    CliError::usage(
        format!("{what} is not UTF-8 at byte {at}; expected text in UTF-8"),
        "convert it, for example with `iconv`",
    )
}

fn empty(found: &str) -> CliError {
    CliError::usage(
        format!("{found}; expected at least one token to continue"),
        "tilewright generate \"The capital of France is\"",
    )
}

/// The text in the model's template, and what there is to say about it.
fn chat(args: &GenerateArgs, folder: &Folder, text: &str) -> Result<(String, Option<String>), CliError> {
    let system = args.system.iter().map(|text| Message::new("system", text));
    let messages: Vec<Message> = system.chain([Message::new("user", text)]).collect();
    let prompt = ChatTemplate::open(&folder.dir)?.render(&messages, &[], true)?;
    Ok((prompt.text, prompt.note))
}
