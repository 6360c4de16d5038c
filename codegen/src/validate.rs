//! Parses and validates printed WGSL with naga, with the capabilities of the target: our own output is not trusted.
//!
//! A refusal is a [`Bug`] of the compiler, never the author's mistake, and carries everything needed to report it. naga does not
//! check that barriers stand in uniform control flow; `verify` does.

use crate::target::Target;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// The compiler's own mistake: a pass made something that a later check refuses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("bug in the compiler, pass `{pass}`, kernel `{kernel}`:\n{schedule}{message}\n{text}")]
pub struct Bug {
    /// The pass whose check failed.
    pub pass: &'static str,
    /// The kernel.
    pub kernel: String,
    /// The schedule, as its canonical text.
    pub schedule: String,
    /// What is wrong.
    pub message: String,
    /// The shader's text, WGSL or loop IR.
    pub text: String,
}

/// Checks a shader in the native dialect.
///
/// # Errors
/// naga's message, rendered with the lines that it is about.
pub fn validate(wgsl: &str, target: &Target) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))?;
    // unpack2x16float and pack2x16float need no f16 feature, but naga counts them as a capability.
    let mut capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    if target.subgroups.is_some() {
        capabilities |= Capabilities::SUBGROUP;
    }
    if !target.fragments.is_empty() {
        capabilities |= Capabilities::SHADER_FLOAT16 | Capabilities::COOPERATIVE_MATRIX;
    }
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    validator.validate(&module).map_err(|e| e.emit_to_string(wgsl))?;
    Ok(())
}
