//! Model files against goldens made by transformers, and against files that are wrong on purpose.

mod chat;
mod checkpoint;
mod codes;
mod config;
mod forward;
mod goldens;
mod rope;
mod sampler;
mod synth;
mod tokenizer;
mod topk;
