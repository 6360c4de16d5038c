//! Flags of `tune`, and of what uses its results.

use std::path::PathBuf;

use super::values::{count, tuning};
use super::{DeviceArgs, ModelArgs, StoreArgs};
use crate::tune::Tuning;

const TUNE: &str = "\
Examples:
  Two minutes on the bundled model, kept in your cache:
    tilewright tune
  One kernel of your own model, for longer:
    tilewright tune --model DIR --kernel attention --budget 300
  What would be tried, and how long each is guessed to take:
    tilewright tune --model DIR --dry-run

For each kernel and shape that the best tier runs, schedules a move or two away from its own
are compiled; those that are legal are raced against it on the adapter, the best guess first.
One takes the other's place only where the clock is sure (99 %) and its results are right.
What is found is written after each kernel, so that Ctrl-C keeps it and the next call goes
on. `generate`, `bench` and `logits` use it where they choose the tier (--tuned).";

/// `tune`.
#[derive(Debug, clap::Args)]
#[command(after_help = TUNE)]
pub struct TuneArgs {
    /// The model, whose shapes count.
    #[command(flatten)]
    pub model: ModelArgs,

    /// Only this kernel; may be given again
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Vec<String>,

    /// Seconds to spend, loading aside
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = count)]
    pub budget: u32,

    /// Positions of the cache: attention is timed at its end as well [default: 4224, at most the model's own]
    #[arg(long, value_name = "N", value_parser = count)]
    pub context: Option<u32>,

    /// The file to go on with and to write [default: one for this adapter and driver in your cache]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Search what the file has already, too
    #[arg(long)]
    pub again: bool,

    /// Overwrite the file although somebody has edited it
    #[arg(long)]
    pub force: bool,

    /// Measure nothing: list the candidates with their guessed times
    #[arg(long)]
    pub dry_run: bool,

    /// Tell each race
    #[arg(long, short)]
    pub verbose: bool,

    /// How matrices are stored.
    #[command(flatten)]
    pub store: StoreArgs,

    /// The device.
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// `--tuned`.
#[derive(Debug, clap::Args)]
pub struct TunedArgs {
    /// Measured schedules, used where the tier is chosen automatically: `auto` (yours, then those of this program), `off`, or a
    /// file that `tilewright tune` wrote
    #[arg(long, value_name = "auto|off|FILE", default_value = "auto", value_parser = tuning)]
    pub tuned: Tuning,
}
