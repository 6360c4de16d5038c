//! Lowers kernels and schedules of [`tilewright_dsl`] to loop IR and prints it.

pub mod apply;
pub mod deps;
pub mod error;
pub mod fuse;
pub mod loops;
pub mod lower;
pub mod program;
pub mod shape;
pub mod target;
