//! Runs programs of [`tilewright_codegen`] on wgpu: adapters, buffers, graphs, submission policies, timestamps.
//!
//! From an adapter comes a [`Device`] and its `Target`; from declarations [`Buffers`]; from a [`Graph`] of programs an
//! [`Executor`], which records the same plan again for each step. [`Device::run`] does all of it for one program, once. The rule of
//! this crate: a plan is data, and what it will cost ([`plan::memory`], [`plan::counters`]) is read off it before a device is
//! touched. No kernel, axis or schedule is known here,
//! and no wgpu type leaves the crate. WebGPU's words and limits are those of <https://www.w3.org/TR/webgpu/>.

mod adapter;
mod buffers;
mod bytes;
mod device;
mod dxc;
mod error;
mod executor;
mod folders;
mod graph;
mod measure;
mod once;
mod pipeline;
mod pipeline_cache;
pub mod plan;
mod probe;
mod products;
mod profile;
mod ready;
mod target;

pub use adapter::{AdapterChoice, AdapterKind, AdapterSummary, adapters};
pub use buffers::{Buffers, Uploader};
pub use bytes::Size;
pub use device::{Device, ShaderLanguage};
pub use dxc::{DXC_FILE, DXC_VARIABLE, Dxc, DxcError, OLDEST_DXC};
pub use error::{GraphFault, RuntimeError};
pub use executor::{Executor, Pending, STEPS_AT_ONCE};
pub use folders::{CACHE_VARIABLE, cache_folder, file_name, write_whole};
pub use graph::{BufferDecl, BufferId, Graph, Op, Params, Read, Role, ScalarSource, Submission};
pub use measure::{copy_bandwidth, empty_dispatch};
pub use pipeline::Compiling;
pub use profile::{Profile, ProfileRow};
pub use target::TargetSpec;

/// README.md, whose Rust is compiled: this crate is the first that sees all that a kernel's author does.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
