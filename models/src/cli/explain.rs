//! `explain`: the way from a kernel to its shader.

use super::args::ExplainArgs;
use super::error::CliError;
use super::{output, shaders};
use crate::review::explain::explain;

/// Runs the command.
pub fn run(args: &ExplainArgs) -> Result<(), CliError> {
    let entry = shaders::entry(&args.kernel)?;
    let schedule = shaders::chosen(&entry, args.schedules.as_deref(), args.schedule.as_deref())?;
    let shape = shaders::shape(&args.shape, &entry)?;
    let target = shaders::target(&entry.kernel, &schedule, &shape);
    output::out(&explain(&entry.kernel, &schedule, &shape, &target, args.target)?)
}
