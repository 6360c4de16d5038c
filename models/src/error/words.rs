//! Phrases that several messages share.

use super::ModelError;

/// A number of things: `1 token`, `2 tokens`.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Why numbers are not finite.
pub(super) fn damaged(narrow: bool) -> &'static str {
    if narrow {
        "the weights are damaged, or they overflow their 16 bits: store them in f32, as the schedules of tiers 0 and 1 do"
    } else {
        "the weights are damaged: download them again"
    }
}

/// One `error:` after another.
pub(super) fn one_a_message(errors: &[ModelError]) -> String {
    let messages = errors.iter().map(ModelError::to_string);
    let messages: Vec<_> = messages.map(|m| if m.starts_with("error: ") { m } else { format!("error: {m}") }).collect();
    messages.join("\n")
}
