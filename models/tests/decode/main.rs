//! The model against transformers' goldens, on an adapter: every tier, every stage, every variant.

mod goldens;
mod tiers;
