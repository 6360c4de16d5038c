//! Messages to a prompt, through the chat template that comes with a model.
//!
//! Templates are Jinja as transformers renders it: blocks trimmed, `tojson` as Python's `json.dumps`, `raise_exception`,
//! `strftime_now`, Python's string and dictionary methods. The rule: where the model has a template, it is that one
//! which renders, or an error; where it has none, the built-in ChatML does it and a note says so. Absent: images and other contents than text.
//! Reference: transformers `chat_template_utils.py`.

mod clock;
mod json;

use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, Value as Jinja};
use serde_json::{Map, Value};

use crate::error::ModelError;
use crate::files::{self, read_json, read_text};
use crate::tokenizer::token_text;

/// The template of the bundled model: ChatML with tools, in Qwen2.5's manner.
const BUILT_IN: &str = include_str!("../assets/scripts/chat_template.jinja");

/// Marks the errors that a template raises itself.
const RAISED: &str = "raised by the template: ";

/// One message: `role`, `content`, and whatever else its template reads (`tool_calls`, ...).
#[derive(Debug, Clone, PartialEq)]
pub struct Message(Map<String, Value>);

impl Message {
    /// A message of plain text from `role`: `system`, `user`, `assistant` or `tool`.
    pub fn new(role: &str, content: &str) -> Self {
        let fields = [("role", role), ("content", content)];
        Self(fields.map(|(k, v)| (k.to_string(), Value::from(v))).into_iter().collect())
    }

    /// A message from JSON, with all its fields.
    ///
    /// # Errors
    /// When it is not an object with a string `role`.
    pub fn from_json(value: &Value) -> Result<Self, ModelError> {
        match value {
            Value::Object(fields) if value["role"].is_string() => Ok(Self(fields.clone())),
            _ => Err(ModelError::Chat {
                reason: format!("a message is {value}; expected an object with a string `role`"),
            }),
        }
    }
}

/// A prompt, and what there is to say about how it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The text to encode.
    pub text: String,
    /// That the model has no template and the built-in one made it, if so.
    pub note: Option<String>,
}

/// A model's chat template.
#[derive(Debug)]
pub struct ChatTemplate {
    plain: String,
    /// Used instead when tools are given, where a model has two templates.
    with_tools: Option<String>,
    /// `bos_token` and its like, which templates may print.
    special_tokens: Vec<(String, String)>,
    missing: Option<String>,
    /// The file that holds it.
    path: PathBuf,
}

impl ChatTemplate {
    /// Reads `chat_template.jinja`, or else `chat_template` of `tokenizer_config.json`, in the folder `dir`.
    ///
    /// # Errors
    /// When a file is there but cannot be read as text or JSON.
    pub fn open(dir: &Path) -> Result<Self, ModelError> {
        let config_path = dir.join("tokenizer_config.json");
        let config = if files::exists(&config_path) { read_json(&config_path)? } else { Value::Null };
        let own_file = dir.join("chat_template.jinja");
        let named = |name: &str| {
            let all = config["chat_template"].as_array()?;
            let found = all.iter().find(|t| t["name"] == name)?;
            Some(found["template"].as_str()?.to_string())
        };
        let (plain, with_tools, path) = if files::exists(&own_file) {
            (Some(read_text(&own_file)?), None, own_file)
        } else if let Some(template) = config["chat_template"].as_str() {
            (Some(template.to_string()), None, config_path)
        } else {
            (named("default"), named("tool_use"), config_path)
        };
        let special_tokens = ["bos_token", "eos_token", "pad_token", "unk_token"];
        let special_tokens = special_tokens.iter().filter_map(|n| Some((n.to_string(), token_text(&config[*n])?)));
        let missing = match plain {
            Some(_) => None,
            None => Some(format!("{} has no chat template; using the built-in ChatML", dir.display())),
        };
        Ok(Self {
            plain: plain.unwrap_or_else(|| BUILT_IN.into()),
            with_tools,
            special_tokens: special_tokens.collect(),
            missing,
            path,
        })
    }

    /// Renders a conversation. `tools` are JSON descriptions of functions; with `add_generation_prompt` the prompt ends where
    /// the assistant's answer begins.
    ///
    /// # Errors
    /// When there is no message, when the template itself refuses the messages, or when it does not render.
    pub fn render(
        &self,
        messages: &[Message],
        tools: &[Value],
        add_generation_prompt: bool,
    ) -> Result<Prompt, ModelError> {
        if messages.is_empty() {
            return Err(ModelError::Chat { reason: "there are none; expected at least one message".into() });
        }
        let template = match &self.with_tools {
            Some(template) if !tools.is_empty() => template,
            _ => &self.plain,
        };
        let context = self.context(messages, tools, add_generation_prompt);
        match render(template, &context) {
            Ok(text) => Ok(Prompt { text, note: self.missing.clone() }),
            Err(error) => match raised(&error) {
                Some(reason) => Err(ModelError::Chat { reason: format!("the model's template says: {reason}") }),
                None => Err(ModelError::ChatTemplate { path: self.path.clone(), reason: error.to_string() }),
            },
        }
    }

    fn context(&self, messages: &[Message], tools: &[Value], add_generation_prompt: bool) -> Jinja {
        let messages: Vec<Jinja> = messages.iter().map(|m| json::object_to_jinja(&m.0)).collect();
        let tools = match tools {
            [] => Jinja::from(()),
            some => some.iter().map(json::to_jinja).collect(),
        };
        let fixed = [
            ("messages", Jinja::from(messages)),
            ("tools", tools),
            ("documents", Jinja::from(())),
            ("add_generation_prompt", Jinja::from(add_generation_prompt)),
        ];
        let special = self.special_tokens.iter();
        let special = special.map(|(name, token)| (name.as_str(), Jinja::from(token.as_str())));
        Jinja::from_pairs(special.chain(fixed))
    }
}

/// The template's own words, if it raised this error, however deep inside macros.
fn raised(error: &minijinja::Error) -> Option<String> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        let detail = error.downcast_ref::<minijinja::Error>().and_then(|e| e.detail());
        if let Some(reason) = detail.and_then(|d| d.strip_prefix(RAISED)) {
            return Some(reason.into());
        }
        next = error.source();
    }
    None
}

fn render(template: &str, context: &Jinja) -> Result<String, minijinja::Error> {
    let template = without_generation_tags(template);
    let mut env = Environment::new();
    env.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    env.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    env.set_formatter(|out, state, value| match python_constant(value) {
        Some(text) => out.write_str(text).map_err(minijinja::Error::from),
        None => minijinja::escape_formatter(out, state, value),
    });
    env.add_filter("tojson", json::tojson);
    env.add_function("strftime_now", |format: String| clock::strftime_now(&format));
    env.add_function("raise_exception", |message: String| -> Result<Jinja, minijinja::Error> {
        Err(minijinja::Error::new(ErrorKind::InvalidOperation, format!("{RAISED}{message}")))
    });
    env.template_from_str(&template)?.render(context.clone())
}

/// How Python prints the constants that this engine prints in lower case.
fn python_constant(value: &Jinja) -> Option<&'static str> {
    if value.is_none() {
        return Some("None");
    }
    match value.kind() {
        minijinja::value::ValueKind::Bool => Some(if value.is_true() { "True" } else { "False" }),
        _ => None,
    }
}

/// Replaces `{% generation %}` blocks, which mark the assistant's own tokens for training, by blocks that do nothing.
fn without_generation_tags(template: &str) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("{%") {
        let Some(length) = rest[start..].find("%}") else {
            break;
        };
        let (before, tag) = (&rest[..start], &rest[start..start + length + 2]);
        out.push_str(before);
        match tag[2..tag.len() - 2].trim_matches(['-', '+']).trim() {
            "generation" => out.push_str(&tag.replace("generation", "if true")),
            "endgeneration" => out.push_str(&tag.replace("endgeneration", "endif")),
            _ => out.push_str(tag),
        }
        rest = &rest[start + length + 2..];
    }
    out.push_str(rest);
    out
}
