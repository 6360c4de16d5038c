//! What is known of a loaded model, for people and scripts.
//!
//! The rule: it is read off the plan and a clock; nothing here decides anything.

use std::time::Duration;

use super::PlanReport;
use crate::stores::Lost;

/// How long the parts of loading took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Loading {
    /// Opening the device.
    pub device: Duration,
    /// Making every shader's text, and the plan.
    pub plan: Duration,
    /// Buffers, and the driver's work on shaders.
    pub pipelines: Duration,
    /// Sending the weights.
    pub weights: Duration,
}

/// Which tuned schedules are in use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TunedUse {
    /// How many sites have one.
    pub sites: usize,
    /// Where they come from.
    pub source: String,
}

/// What is known of a loaded model.
#[derive(Clone, PartialEq, Debug)]
pub struct EngineInfo {
    /// The tier.
    pub tier: usize,
    /// Its name.
    pub tier_name: &'static str,
    /// The adapter.
    pub adapter: String,
    /// What it was given: `wgsl` or `hlsl`; `loops` for the interpreter.
    pub shaders: &'static str,
    /// Why better tiers were passed over, and whatever else is worth a line.
    pub notes: Vec<String>,
    /// What is to be said of the user's schedules: which are not used, and why.
    pub unused: Vec<String>,
    /// How long loading took.
    pub loading: Loading,
    /// Tuned schedules in use.
    pub tuned: TunedUse,
    /// What matrices lost that were quantised while they were loaded.
    pub lost: Vec<Lost>,
    /// The memory plan as text.
    pub memory: String,
    /// Bytes of all buffers.
    pub memory_bytes: u64,
    /// Bytes of weights.
    pub weight_bytes: u64,
    /// Submits of a decode step.
    pub submits: u32,
    /// Dispatches of a decode step.
    pub dispatches: u32,
    /// Bytes that a decode step copies back.
    pub readback_bytes: u64,
    /// Bytes that the kernels of a decode step read, at position 128 or in the middle of a shorter context.
    pub bytes_read: u64,
    /// Bytes that they write.
    pub bytes_written: u64,
}

/// What a plan's report says of a loaded model.
pub(super) fn info(report: PlanReport, adapter: String, shaders: &'static str) -> EngineInfo {
    EngineInfo {
        tier: report.tier,
        tier_name: report.tier_name,
        adapter,
        shaders,
        notes: report.notes,
        unused: report.unused,
        loading: Loading::default(),
        tuned: TunedUse::default(),
        lost: Vec::new(),
        memory: report.memory,
        memory_bytes: report.memory_bytes,
        weight_bytes: report.weight_bytes,
        submits: report.decode.submits,
        dispatches: report.decode.dispatches,
        readback_bytes: report.decode.readback_bytes,
        bytes_read: report.decode.bytes_read,
        bytes_written: report.decode.bytes_written,
    }
}
