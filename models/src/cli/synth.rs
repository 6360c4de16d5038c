//! `synth`: a model by formula, as files.

use super::args::SynthArgs;
use super::error::CliError;
use super::output::{self, Progress};
use crate::synth::{SHARD_BYTES, Synth, preset, write};

/// Runs the command.
pub fn run(args: &SynthArgs) -> Result<(), CliError> {
    let synth = Synth::new(preset(&args.preset)?, args.seed);
    let progress = Progress::new("writing");
    write(&synth, args.dtype.into(), &args.out, SHARD_BYTES, &mut |done, total| progress.set(done, total))?;
    drop(progress);
    output::line(&format!("wrote {} with seed {} to {}", args.preset, args.seed, args.out.display()));
    Ok(())
}
