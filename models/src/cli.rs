//! The command line: `generate`, `logits`, `bench`, `report`, `lab`, `tune`, `quantize`, `perplexity`, `synth`, `shaders`, `diff`,
//! `explain`, `doctor`.
//!
//! From arguments and a model folder it makes text on stdout and everything else on stderr, so that stdout can be piped. The rule:
//! exit code 0 on success, 2 where the command line is wrong, in itself or for this model or machine, 1 where anything else is, 130
//! after Ctrl-C; each error is
//! one message that names the file, tensor or flag, what was found and what was expected; colours and progress bars appear on
//! a terminal only. Deliberately absent: a fallback. Whatever was asked for and is not there is an error.

mod args;
mod bench;
mod diff;
mod doctor;
mod error;
mod explain;
mod export;
mod generate;
mod interrupt;
mod lab;
mod logits;
mod model;
mod names;
mod output;
mod perplexity;
mod quantize;
mod report;
mod shaders;
mod slow;
mod synth;
mod tune;

use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use args::{Args, Command};
use error::CliError;

static STARTED: OnceLock<Instant> = OnceLock::new();

/// How long this process has been running.
fn since_start() -> Duration {
    STARTED.get_or_init(Instant::now).elapsed()
}

/// Runs the command line of this process; the program's whole `main`.
pub fn main() -> ExitCode {
    STARTED.get_or_init(Instant::now);
    quiet_loader();
    let args = Args::read();
    let done = match &args.command {
        Command::Generate(args) => generate::run(args),
        Command::Logits(args) => logits::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Report(args) => report::run(args),
        Command::Lab(args) => lab::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Quantize(args) => quantize::run(args),
        Command::Perplexity(args) => perplexity::run(args),
        Command::Synth(args) => synth::run(args),
        Command::Shaders(args) => shaders::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Doctor(args) => doctor::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read stdout has seen enough.
        Err(CliError::Closed) => ExitCode::SUCCESS,
        Err(error) => {
            error.print();
            error.exit_code()
        }
    }
}

/// Without a desktop, Mesa's device-select layer for Vulkan complains about `XDG_RUNTIME_DIR` on stderr each time it is loaded. It
/// only reorders adapters, which are put in order here anyway.
#[cfg(target_os = "linux")]
fn quiet_loader() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: this is the first statement of the program's only thread.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

#[cfg(not(target_os = "linux"))]
fn quiet_loader() {}
