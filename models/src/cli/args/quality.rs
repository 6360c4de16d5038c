//! Flags of `quantize` and `perplexity`.

use std::path::PathBuf;

use super::values::{count, several, stores};
use super::{EngineArgs, ModelArgs, TierArgs};
use crate::stores::Stores;

const QUANTIZE: &str = "\
Examples:
  A seventh of the bytes of f32, once and for all:
    tilewright quantize --store nf4 ~/Qwen2.5-7B-Instruct ~/Qwen2.5-7B-nf4
    tilewright generate --model ~/Qwen2.5-7B-nf4 --chat \"What is a monad?\"
  Head and embedding in storages of their own:
    tilewright quantize --store nf4,head=int8,embedding=f16 IN OUT

`generate --store nf4` does the same while it loads, and leaves the files as they are.";

/// `quantize`.
#[derive(Debug, clap::Args)]
#[command(after_help = QUANTIZE)]
pub struct QuantizeArgs {
    /// What becomes codes: int8 or nf4 for all matrices, `head=` and `embedding=` for those; what is f32, f16 or bf16
    /// keeps its bytes, and becomes that when it is loaded
    #[arg(long, value_name = "STORAGE", value_parser = stores)]
    pub store: Stores,

    /// The model's folder
    #[arg(value_name = "IN")]
    pub input: PathBuf,

    /// A new or empty folder
    #[arg(value_name = "OUT")]
    pub out: PathBuf,

    /// Print what each matrix lost as one JSON object to stdout
    #[arg(long)]
    pub json: bool,
}

const PERPLEXITY: &str = "\
Examples:
  What nf4 costs in quality:
    tilewright perplexity wiki.txt --model ~/Qwen2.5-0.5B
    tilewright perplexity wiki.txt --model ~/Qwen2.5-0.5B --store nf4

The text is read in windows that begin a stride apart; of each window only tokens that no earlier one
has judged count, so that all but the first window's have at least window - stride tokens before them.";

/// `perplexity`.
#[derive(Debug, clap::Args)]
#[command(after_help = PERPLEXITY)]
pub struct PerplexityArgs {
    /// The text, UTF-8
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// The tier.
    #[command(flatten)]
    pub tier: TierArgs,

    /// The engine; `--context` is the window.
    #[command(flatten)]
    pub engine: EngineArgs,

    /// Tokens from one window to the next [default: half a window]
    #[arg(long, value_name = "N", value_parser = count)]
    pub stride: Option<u32>,

    /// Judge only the first N tokens of the text
    #[arg(long, value_name = "N", value_parser = several)]
    pub tokens: Option<u32>,

    /// Print one JSON object to stdout
    #[arg(long)]
    pub json: bool,

    /// Say which adapter and tier run, and where memory goes
    #[arg(long)]
    pub verbose: bool,
}
