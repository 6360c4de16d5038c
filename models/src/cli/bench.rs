//! `bench`: tiers measured against each other.
//!
//! From token ids that depend on nothing but their number it makes a row a tier: speeds with their spread, what a token costs,
//! and whether the tokens are tier 0's. The rule: always greedy; a warm-up, then medians; tiers whose tokens break the token rule
//! make the command fail. Absent: a choice of the best tier, which `auto` makes from limits and not from a clock.

mod measure;
mod report;
mod rule;
mod table;

use std::io::Write;

use super::args::{BackendArg, BenchArgs};
use super::error::CliError;
use super::model::Folder;
use super::output;
use measure::{Bench, Device, Row};
use rule::Verdict;

/// The report's long prompt, where the context has room for it.
const LONG: usize = 1024;

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    if let Some(path) = &args.report {
        if path.exists() && !args.force {
            return Err(CliError::Exists { flag: "--report", path: path.clone() });
        }
        output::check_parent(path)?;
    }
    let folder = Folder::open(&args.model)?;
    let (short, generate) = (args.prompt_tokens as usize, args.generate as usize);
    let room = folder.room(args.engine.context)?;
    let check = |prompt: usize| folder.context(args.engine.context, "prompt and --generate are", prompt + generate, 0);
    check(short)?;
    let weights = folder.weights()?;
    let device = match args.engine.backend {
        BackendArg::Wgpu => Some(Device::measure(&args.engine.device)?),
        BackendArg::Interp => None,
    };

    let bench = Bench { folder: &folder, weights: &weights, args, prompt: short };
    let rows = bench.run(device.as_ref())?;
    let text = if args.json {
        format!("{:#}\n", table::json(&bench, device.as_ref(), &rows))
    } else if args.markdown {
        table::markdown(&rows)
    } else {
        table::plain(&rows)
    };
    output::out(&text)?;

    if let Some(path) = &args.report {
        let long = args.long_prompt_tokens.map_or((room - generate).min(LONG).max(short), |n| n as usize);
        check(long)?;
        let far = Bench { prompt: long, ..bench };
        let far_rows = far.run(device.as_ref())?;
        let text = report::markdown([(&bench, &rows), (&far, &far_rows)], device.as_ref());
        write_report(path, &text, args.force)?;
        output::line(&format!("wrote {}", path.display()));
        broken(&far_rows)?;
    }
    broken(&rows)
}

/// The first tier whose tokens are wrong.
fn broken(rows: &[Row]) -> Result<(), CliError> {
    for row in rows {
        if let Ok(measured) = &row.result
            && let Verdict::Broken { reference, how } = &measured.verdict
        {
            return Err(CliError::TokenRule { tier: row.tier, reference: *reference, how: how.clone() });
        }
    }
    Ok(())
}

fn write_report(path: &std::path::Path, text: &str, force: bool) -> Result<(), CliError> {
    let mut options = std::fs::File::options();
    let options =
        if force { options.write(true).create(true).truncate(true) } else { options.write(true).create_new(true) };
    let write = || options.open(path)?.write_all(text.as_bytes());
    write().map_err(|source| CliError::Write { path: path.into(), source })
}
