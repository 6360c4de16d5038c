//! The kernel language of tilewright: an algorithm ([`ir::Kernel`]) says what each output element is, a
//! [`schedule::Schedule`] says where and when it is computed.
//!
//! From an author's text, this crate makes two values. [`kernel`] and [`monoid`] expand to calls of [`build::Builder`], which
//! makes a [`ir::Kernel`] that [`check`] accepts; [`schedule!`](macro@schedule) and schedule files make a
//! [`schedule::Schedule`]. [`eval`](mod@eval) says what a kernel means, [`storage`] how tensors lie in buffers,
//! [`diagnostic`] how a mistake in a schedule is shown.
//!
//! The rule: a kernel never says where or when, a schedule never says what, and both are plain data with equality. Shader
//! languages, devices and the application of schedules are deliberately absent. The split of algorithm and schedule is
//! Halide's (Ragan-Kelley et al., PLDI 2013).

pub mod build;
pub mod check;
pub mod diagnostic;
pub mod eval;
pub mod ir;
pub mod schedule;
pub mod storage;

pub use tilewright_dsl_macros::{kernel, monoid, schedule};
