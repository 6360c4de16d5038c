//! Flags of `report`.

use std::path::PathBuf;

use super::values::{Rungs, counts, rungs};
use super::values::{count, several};

const REPORT: &str = "\
Examples:
  Everything, for both shapes, into a folder:
    tilewright report --output docs/results/mine
  Only the small shape, where memory is short:
    tilewright report --skip-7b
  A model of your own, on a software adapter:
    tilewright report --model DIR --contexts 16,64 --prefill 64 --generate 8 --runs 1 --tiers 6,10

Each figure comes from a run of this program of its own, whose command line stands beside it.
Decoding is at the automatic tier with tuned schedules; what does not run here is told in its
place. With --output: report.md, report.json, tiers.svg and context.svg.";

/// `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = REPORT)]
pub struct ReportArgs {
    /// A model instead of the shapes of Qwen2.5-0.5B and 7B by formula
    #[arg(long, value_name = "DIR")]
    pub model: Option<PathBuf>,

    /// Leave the 7B shape out: it takes 15 GB of disk and of memory
    #[arg(long)]
    pub skip_7b: bool,

    /// Where the shapes by formula are kept, and made if they are not there [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub models: Option<PathBuf>,

    /// Prompts after which decoding is measured; the first is the one that tiers are compared at
    #[arg(long, value_name = "LIST", default_value = "128,512,1024,2048,4096", value_parser = counts)]
    pub contexts: Counts,

    /// The prompt whose own speed is measured
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = count)]
    pub prefill: u32,

    /// Tokens to generate
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = several)]
    pub generate: u32,

    /// The tiers of the first plot, as `bench --tiers` has them
    #[arg(long, value_name = "LIST", default_value = "all,auto", value_parser = rungs)]
    pub tiers: Rungs,

    /// Measured runs of each figure, after one to warm up
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count)]
    pub runs: u32,

    /// The adapter, as elsewhere
    #[arg(long, value_name = "NUMBER|NAME")]
    pub adapter: Option<String>,

    /// Write the report and its plots into this folder
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Overwrite what is there
    #[arg(long, requires = "output")]
    pub force: bool,

    /// Print JSON instead of Markdown
    #[arg(long)]
    pub json: bool,
}

/// Numbers from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts(pub Vec<u32>);
