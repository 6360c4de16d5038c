//! Lowers kernels and schedules of [`tilewright_dsl`] to loop IR and prints it.

pub mod loops;
pub mod program;
pub mod target;
