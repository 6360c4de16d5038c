//! Words that several messages share.
//!
//! The rule: a message is made where an error is shown, from what the error holds.

use super::ModelError;

/// What of a model is stored in 16 bits, and may overflow them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Narrow {
    /// Some weights.
    pub weights: bool,
    /// The cache of keys and values.
    pub cache: bool,
}

/// A number of things: `1 token`, `2 tokens`.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Why numbers are not finite.
pub(super) fn damaged(narrow: Narrow) -> &'static str {
    match (narrow.weights, narrow.cache) {
        (true, false) => {
            "the weights are damaged, or they overflow their 16 bits: store them in f32, as the schedules of tiers 0 and 1 do"
        }
        (false, false) => "the weights are damaged: download them again",
        (false, true) => {
            "keys or values overflow the 16 bits of the cache: use --kv-store f32; or the weights are damaged"
        }
        (true, true) => {
            "keys or values overflow the 16 bits of the cache: use --kv-store f32; or the weights overflow theirs, or are damaged: store \
             them in f32, as the schedules of tiers 0 and 1 do"
        }
    }
}

/// One `error:` after another.
pub(super) fn one_a_message(errors: &[ModelError]) -> String {
    let messages = errors.iter().map(ModelError::to_string);
    let messages: Vec<_> = messages.map(|m| if m.starts_with("error: ") { m } else { format!("error: {m}") }).collect();
    messages.join("\n")
}
