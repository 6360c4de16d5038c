//! `perplexity`: how well a model foresees a text file.

use std::ops::ControlFlow;
use std::time::Instant;

use serde_json::json;

use super::args::PerplexityArgs;
use super::error::CliError;
use super::interrupt;
use super::model::{self, Folder};
use super::output::{self, Progress};
use crate::perplexity::{Judged, judge};
use crate::tokenizer::Tokenizer;

/// Positions of a window where neither --context nor the model says fewer.
const WINDOW: usize = 2048;

/// Runs the command.
pub fn run(args: &PerplexityArgs) -> Result<(), CliError> {
    model::check_flags(&args.engine)?;
    let text = text(args)?;
    let folder = Folder::open(&args.model)?;
    let room = folder.room(args.engine.context)?;
    let window = if args.engine.context.is_some() { room } else { room.min(WINDOW) };
    let stride = args.stride.map_or(window / 2, |n| n as usize);
    if window < 2 || stride >= window || stride == 0 {
        let message = format!("--stride {stride} is not possible in windows of {window} tokens");
        return Err(CliError::usage(
            message,
            "windows of at least 2 tokens, and a stride that is shorter than they are",
        ));
    }
    let tokenizer = Tokenizer::open(&folder.dir, &folder.config)?;
    let mut ids = tokenizer.encode(&text)?;
    ids.truncate(args.tokens.map_or(usize::MAX, |n| n as usize));
    let file = args.file.display();
    if ids.len() < 2 {
        let message = format!("{file} has {} token, and the first one is not judged", ids.len());
        return Err(CliError::usage(message, "a text of at least two tokens"));
    }
    let options = model::options(&args.engine, args.tier.tier, window.min(ids.len()))?;
    let mut loaded = folder.load(&options)?;
    if args.verbose {
        super::generate::describe(&loaded);
    }
    let (bar, watch, start) = (Progress::tokens("judging"), interrupt::watch(), Instant::now());
    let mut last = 0;
    let judged = judge(&mut loaded.engine, &ids, window, stride, &mut |so_far, total| {
        last = so_far.tokens;
        bar.set(so_far.tokens as u64, total as u64);
        if watch.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    drop(bar);
    let Some(judged) = judged else {
        let message = format!("interrupted after {last} of {} tokens; no perplexity of a part is told", ids.len() - 1);
        return Err(CliError::Interrupted(message));
    };
    let seconds = start.elapsed().as_secs_f64();
    let (perplexity, speed) = (judged.perplexity(), judged.read as f64 / seconds);
    let Judged { tokens, read, surprise } = judged;
    let info = loaded.engine.info();
    output::line(&format!(
        "{file}: {tokens} tokens judged, {read} read in windows of {window} that begin {stride} apart, {speed:.1} tokens/s"
    ));
    if args.json {
        let report = json!({
            "perplexity": perplexity,
            "mean_surprise": surprise / tokens as f64,
            "tokens": tokens,
            "read": read,
            "window": window,
            "stride": stride,
            "seconds": seconds,
            "tokens_per_s": speed,
            "tier": info.tier,
            "adapter": info.adapter,
            "weight_bytes": info.weight_bytes,
            "store": args.engine.store.store.map(|s| s.to_string()),
        });
        return output::out(&format!("{report:#}\n"));
    }
    output::out(&format!("{perplexity:.4}\n"))
}

/// The file's text.
fn text(args: &PerplexityArgs) -> Result<String, CliError> {
    let path = &args.file;
    let bytes = std::fs::read(path).map_err(|source| CliError::Read { path: path.clone(), source })?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let byte = e.utf8_error().valid_up_to();
        CliError::usage(format!("{}: byte {byte} is not UTF-8", path.display()), "a text file in UTF-8")
    })?;
    if text.is_empty() {
        return Err(CliError::usage(format!("{} is empty", path.display()), "a text of at least two tokens"));
    }
    Ok(text)
}
