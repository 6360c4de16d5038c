//! Lowers kernels and schedules of [`tilewright_dsl`] to loop IR and prints it as WGSL or HLSL.
//!
//! [`mod@compile`] is the whole compiler, a list of passes from top to bottom: apply (schedule to numbers, or every error at once),
//! lower (loop IR), simplify, verify, print, validate. Fusion ([`fuse::fuse`]) comes before: it makes one kernel of two. The rule
//! of this crate: limits come from the [`target::Target`], a schedule is never repaired, and a text that a later check refuses is
//! a [`validate::Bug`]. No graphics API is known here.

pub mod apply;
pub mod compile;
mod cost;
pub mod deps;
pub mod error;
pub mod figures;
pub mod fuse;
pub mod hlsl;
pub mod interp;
pub mod iterations;
pub mod loops;
pub mod lower;
pub mod names;
pub mod program;
pub mod shape;
pub mod simplify;
pub mod target;
pub mod text;
pub mod types;
pub mod usage;
pub mod validate;
pub mod verify;
pub mod wgsl;

mod named;
mod precedence;
mod printer;
mod ranges;

pub use compile::{CompileError, check_step, compile, compile_with};
