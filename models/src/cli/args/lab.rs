//! Flags of `lab`.

use std::path::PathBuf;

use super::values::{count, study};
use super::{DeviceArgs, TunedArgs};

const LAB: &str = "\
Examples:
  All studies in a few minutes, sized for a software adapter:
    tilewright lab all --quick
  What a key-value cache is worth here:
    tilewright lab kv-cache
  All at full size, with plots, into a folder named after the adapter:
    tilewright lab all --output docs/results

Both sides of each ratio are measured in this process, by turns. What is slower is told like
what is faster, and each study says what its figures do not say. With --output: lab.md,
lab.json and a plot a study in DIR/ADAPTER/lab.";

/// `lab`.
#[derive(Debug, clap::Args)]
#[command(after_help = LAB)]
pub struct LabArgs {
    /// Which study: `all` or a name; a wrong one lists them
    #[arg(value_name = "STUDY", value_parser = study)]
    pub study: String,

    /// Fewer and smaller sizes
    #[arg(long)]
    pub quick: bool,

    /// Measured runs of each figure, after one to warm up [default: 5, with --quick 2]
    #[arg(long, value_name = "N", value_parser = count)]
    pub runs: Option<u32>,

    /// Measured schedules.
    #[command(flatten)]
    pub tuned: TunedArgs,

    /// The device.
    #[command(flatten)]
    pub device: DeviceArgs,

    /// Write the page, its JSON and its plots into the adapter's folder in this one
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Overwrite what is there
    #[arg(long, requires = "output")]
    pub force: bool,

    /// Print JSON instead of Markdown
    #[arg(long)]
    pub json: bool,
}
