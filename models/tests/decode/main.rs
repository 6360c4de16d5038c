//! The model against transformers' goldens, on an adapter: every tier, every stage, every variant; and what a plan says before
//! anything runs.

mod errors;
#[cfg(feature = "whole")]
mod formula;
mod goldens;
mod limits;
mod plans;
mod rule;
mod schedules;
mod stages;
mod tiers;
mod variants;
