//! Lowers kernels and schedules of [`tilewright_dsl`] to loop IR and prints it.

pub mod interp;
pub mod loops;
pub mod names;
pub mod program;
pub mod simplify;
pub mod target;
pub mod text;
pub mod types;
pub mod usage;
pub mod validate;
pub mod verify;
pub mod wgsl;

mod precedence;
mod ranges;
