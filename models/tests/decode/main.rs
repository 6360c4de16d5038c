//! The model against transformers' goldens, on an adapter: every tier, every stage, every variant; and what a plan says before
//! anything runs.

mod ahead;
#[path = "../../../runtime/tests/at_hand/mod.rs"]
mod at_hand;
mod attention;
mod cache;
mod codes;
mod errors;
#[cfg(feature = "whole")]
mod formula;
mod goldens;
mod hlsl;
mod limits;
mod narrow;
mod plans;
mod rule;
mod sampling;
mod schedules;
mod speculative;
mod stages;
mod tiers;
mod variants;
