//! `synth`: a model by formula, as files.

use std::ops::ControlFlow;

use super::args::SynthArgs;
use super::error::CliError;
use super::interrupt;
use super::output::{self, Progress};
use crate::error::ModelError;
use crate::synth::{SHARD_BYTES, Synth, preset, write};

/// Runs the command.
pub fn run(args: &SynthArgs) -> Result<(), CliError> {
    let synth = Synth::new(preset(&args.preset)?, args.seed);
    let (bar, watch) = (Progress::new("writing"), interrupt::watch());
    let written = write(&synth, args.dtype.into(), &args.out, SHARD_BYTES, &mut |done, total| {
        bar.set(done, total);
        if watch.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    drop(bar);
    if let Err(ModelError::Stopped { path }) = written {
        return Err(CliError::Interrupted(format!("interrupted; what was begun in {} is removed", path.display())));
    }
    written?;
    output::line(&format!("wrote {} with seed {} to {}", args.preset, args.seed, args.out.display()));
    Ok(())
}
