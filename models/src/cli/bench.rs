//! `bench`: tiers measured against each other.
//!
//! From token ids that depend on nothing but their number it makes a row a tier: speeds with their spread, what a token costs,
//! and whether the tokens are tier 0's by its own schedules. The rule: always greedy; a warm-up, then medians; tiers whose tokens break the token rule
//! make the command fail; after Ctrl-C the
//! rows that are complete are printed. Absent: a choice of the best tier, which `auto` makes from limits and not from a clock.

mod measure;
mod report;
mod rule;
mod table;

use super::args::{BackendArg, BenchArgs};
use super::error::CliError;
use super::model::{self, Folder};
use super::{interrupt, output};
use measure::{Bench, Device, Row};
use rule::Verdict;

use crate::engine::TierChoice;
use crate::error::counted;

/// The report's long prompt, where the context has room for it.
const LONG: usize = 1024;

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    model::check_flags(&args.engine)?;
    if let Some(path) = &args.report {
        output::check_place("--report", path, args.force)?;
    }
    let folder = Folder::open(&args.model)?;
    let (short, generate) = (args.prompt_tokens as usize, args.generate as usize);
    let room = folder.room(args.engine.context)?;
    let check = |prompt: usize| folder.context(args.engine.context, "prompt and --generate are", prompt + generate, 0);
    check(short)?;
    let long = args.long_prompt_tokens.map_or((room - generate).min(LONG).max(short), |n| n as usize);
    if args.report.is_some() {
        check(long)?;
    }
    let options = model::options(&args.engine, TierChoice::Auto, room)?;
    let weights = folder.weights()?;
    let device = match args.engine.backend {
        BackendArg::Wgpu => Some(Device::measure(&args.engine.device)?),
        BackendArg::Interp => None,
    };
    if let Some(d) = &device {
        let (copy, empty) = (d.copy_gb_per_s, d.dispatch_us);
        output::line(&format!("{}: a copy moves {copy:.1} GB/s, an empty dispatch takes {empty:.1} µs", d.name));
    }

    let watch = interrupt::watch();
    let bench = Bench { folder: &folder, weights: &weights, args, options: &options, prompt: short, watch: &watch };
    let rows = bench.run(device.as_ref())?;
    let text = if args.json {
        format!("{:#}\n", table::json(&bench, device.as_ref(), &rows))
    } else if args.markdown {
        table::markdown(&rows)
    } else {
        table::plain(&rows)
    };
    if !rows.is_empty() {
        output::out(&text)?;
    }
    bench.check_interrupted(&rows)?;

    if let Some(path) = &args.report {
        let far = Bench { prompt: long, ..bench };
        output::line(&format!("the same after a prompt of {}", counted(long, "token", "tokens")));
        let far_rows = far.run(device.as_ref())?;
        far.check_interrupted(&far_rows)?;
        let text = report::markdown([(&bench, &rows), (&far, &far_rows)], device.as_ref());
        output::write_file(path, text.as_bytes(), args.force)?;
        output::line(&format!("wrote {}", path.display()));
        broken(&far_rows, args)?;
    }
    broken(&rows, args)
}

/// The first tier whose tokens are wrong.
fn broken(rows: &[Row], args: &BenchArgs) -> Result<(), CliError> {
    for row in rows {
        if let Ok(measured) = &row.result
            && let Verdict::Broken { reference, how } = &measured.verdict
        {
            let schedules = args.engine.schedules.clone();
            return Err(CliError::TokenRule { tier: row.tier, reference: *reference, how: how.clone(), schedules });
        }
    }
    Ok(())
}
