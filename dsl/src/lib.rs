//! The kernel language of tilewright: an algorithm ([`ir::Kernel`]) says what each output element is, a
//! [`schedule::Schedule`] says where and when it is computed.

pub mod build;
pub mod check;
pub mod diagnostic;
pub mod ir;
pub mod schedule;

pub use tilewright_dsl_macros::{kernel, monoid, schedule};
