//! Qwen2.5 on generated kernels: model files, kernels, tiers and the command line.

pub mod bundled;
pub mod chat;
pub mod checkpoint;
pub mod cli;
pub mod config;
pub mod engine;
pub mod error;
pub mod export;
pub mod files;
pub mod kernels;
pub mod qwen2;
pub mod review;
pub mod rope;
pub mod sampler;
pub mod synth;
pub mod tiers;
pub mod tokenizer;
pub mod tune;
pub mod upload;
pub mod variants;
