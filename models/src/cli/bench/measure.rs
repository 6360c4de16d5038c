//! One tier's numbers, from several runs of the same tokens.

use std::time::{Duration, Instant};

use tilewright_runtime as runtime;

use super::super::args::{BenchArgs, DeviceArgs};
use super::super::error::CliError;
use super::super::interrupt::Watch;
use super::super::model::Folder;
use super::super::output;
use super::rule::{self, Verdict};
use super::table;
use crate::checkpoint::Checkpoint;
use crate::engine::{Engine, EngineInfo, EngineOptions, Step, TierChoice};
use crate::error::{ModelError, counted};
use crate::sampler::{SamplingParams, hash};
use crate::spread::Spread;
use crate::tiers;
use crate::variants::{Kv, KvStore};

/// What is measured.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// The model.
    pub folder: &'a Folder,
    /// Its weights.
    pub weights: &'a Checkpoint,
    /// The flags.
    pub args: &'a BenchArgs,
    /// The engine's options, but for tier and context.
    pub options: &'a EngineOptions,
    /// Tokens of the prompt.
    pub prompt: usize,
    /// Ctrl-C.
    pub watch: &'a Watch,
}

/// Two numbers of the adapter that others are held against.
pub struct Device {
    /// The adapter.
    pub name: String,
    /// Gigabytes a second that a copy moves, each byte read and written.
    pub copy_gb_per_s: f64,
    /// Microseconds of a dispatch with next to no work.
    pub dispatch_us: f64,
}

impl Device {
    /// Opens the adapter and measures it.
    pub fn measure(args: &DeviceArgs) -> Result<Self, CliError> {
        let device = runtime::Device::open(&args.adapter.clone().unwrap_or_default(), args.target.as_ref())?;
        Ok(Device {
            name: device.adapter().to_string(),
            copy_gb_per_s: runtime::copy_bandwidth(&device)?,
            dispatch_us: runtime::empty_dispatch(&device)?,
        })
    }
}

/// A tier, and what came of it.
pub struct Row {
    /// The tier.
    pub tier: usize,
    /// Whether it was the automatic choice, tuned schedules included.
    pub auto: bool,
    /// Its numbers, or why it does not run here.
    pub result: Result<Measured, CliError>,
}

/// A tier's numbers.
pub struct Measured {
    /// What the engine says about itself.
    pub info: EngineInfo,
    /// Tokens a second of the prompt.
    pub prefill: Spread,
    /// Tokens a second after it.
    pub decode: Spread,
    /// Microseconds of all this process' threads for a token, where the system tells.
    pub cpu_us: Option<Spread>,
    /// From the beginning of loading to the first token, the first time.
    pub first_token: Duration,
    /// Bytes that a token moves, as a part of what a copy moves in the same time.
    pub of_copy: Option<f64>,
    /// Its dispatches, if they were empty, as a part of its time.
    pub of_dispatch: Option<f64>,
    /// The tokens.
    pub tokens: Vec<u32>,
    /// What the token rule says.
    pub verdict: Verdict,
}

/// What one run gave.
struct Once {
    tokens: Vec<u32>,
    prefill: Duration,
    decode: Duration,
    cpu: Option<Duration>,
}

/// How long the threads of this process have been running: Linux tells it in nanoseconds, proc(5).
fn busy() -> Option<Duration> {
    let one = |task: std::fs::DirEntry| -> Option<u64> {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    tasks.flatten().map(one).sum::<Option<u64>>().map(Duration::from_nanos)
}

impl Bench<'_> {
    /// All rows, or those before Ctrl-C; an error where not a single tier runs.
    pub fn run(&self, device: Option<&Device>) -> Result<Vec<Row>, CliError> {
        let mut rows: Vec<Row> = Vec::new();
        let reference = self.reference()?;
        let numbers = self.args.tiers.tiers.iter().map(|n| TierChoice::Number(*n));
        for choice in numbers.chain(self.args.tiers.auto.then_some(TierChoice::Auto)) {
            let mut result = self.measure(choice, device);
            if self.watch.asked() {
                return Ok(rows);
            }
            if let Ok(measured) = &mut result {
                let tokens = reference.as_ref().or_else(|| tokens_of_tier_0(&rows));
                measured.verdict = self.verdict(choice, measured, tokens.map(Vec::as_slice))?;
            }
            let tier = match (choice, &result) {
                (TierChoice::Number(n), _) => n,
                (TierChoice::Auto, Ok(measured)) => measured.info.tier,
                (TierChoice::Auto, Err(_)) => tiers::count() - 1,
            };
            let row = Row { tier, auto: choice == TierChoice::Auto, result };
            output::line(&table::in_short(&row));
            rows.push(row);
        }
        if rows.iter().all(|row| row.result.is_err())
            && let Some(Row { result: Err(error), .. }) = rows.drain(..).next()
        {
            return Err(error);
        }
        Ok(rows)
    }

    /// The end of a command that Ctrl-C cut short, after these rows.
    pub fn check_interrupted(&self, rows: &[Row]) -> Result<(), CliError> {
        if !self.watch.asked() {
            return Ok(());
        }
        let report = if self.args.report.is_some() { ", and no report is written" } else { "" };
        let all = self.args.tiers.tiers.len() + usize::from(self.args.tiers.auto);
        let done = rows.len();
        let what = format!(
            "interrupted after {done} of {all} tiers on a prompt of {}{report}",
            counted(self.prompt, "token", "tokens")
        );
        Err(CliError::Interrupted(what))
    }

    /// The options of a tier's engine.
    pub fn options(&self, tier: TierChoice, plain_argmax: bool) -> EngineOptions {
        let context = self.prompt + self.args.generate as usize;
        let context = Some(u32::try_from(context).unwrap_or(u32::MAX));
        EngineOptions { tier, context, plain_argmax, ..self.options.clone() }
    }

    /// The same for the engine that tiers are held against: tier 0 by its own schedules.
    pub fn reference_options(&self, plain_argmax: bool) -> EngineOptions {
        EngineOptions {
            schedules: Vec::new(),
            attention: None,
            kv_store: KvStore::F32,
            kv: Kv::Contiguous,
            kv_pages: None,
            ..self.options(TierChoice::Number(0), plain_argmax)
        }
    }

    /// Tokens of tier 0 by its own schedules, where the user's take their place in every row; none where it does not run here.
    fn reference(&self) -> Result<Option<Vec<u32>>, CliError> {
        let plain = self.options.attention.is_none()
            && (self.options.kv_store, self.options.kv) == (KvStore::F32, Kv::Contiguous);
        if self.options.schedules.is_empty() && plain {
            return Ok(None);
        }
        match self.folder.load_from(self.weights, &self.reference_options(true)) {
            Ok(mut engine) => Ok(Some(self.once(&mut engine, &self.ids())?.tokens)),
            Err(_) => Ok(None),
        }
    }

    /// Ids of the prompt: any, but always the same.
    pub fn ids(&self) -> Vec<u32> {
        let vocab = self.folder.config.vocab_size as u32;
        (0..self.prompt as u32).map(|i| hash(i) % vocab).collect()
    }

    fn measure(&self, choice: TierChoice, device: Option<&Device>) -> Result<Measured, CliError> {
        let start = Instant::now();
        let mut engine = self.folder.load_from(self.weights, &self.options(choice, true))?;
        let loaded = start.elapsed();
        let tier = engine.info().tier;
        let ids = self.ids();
        let Once { tokens, prefill: first, .. } = self.once(&mut engine, &ids)?;
        let first_token = loaded + first;
        let (mut prefill, mut decode, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.args.runs {
            let run = self.once(&mut engine, &ids)?;
            let (again, rest) = (run.tokens, run.decode);
            if self.watch.asked() {
                return Err(CliError::Interrupted("interrupted".into()));
            }
            if again != tokens {
                let how = "two runs of it gave different tokens".into();
                return Err(CliError::TokenRule {
                    tier,
                    reference: tier,
                    how,
                    schedules: self.args.engine.schedules.clone(),
                });
            }
            let speed = |count: usize, time: Duration| count as f64 / time.as_secs_f64().max(1e-9);
            prefill.push(speed(ids.len(), run.prefill));
            decode.push(speed(again.len().saturating_sub(1), rest));
            cpu.extend(run.cpu.map(|time| time.as_secs_f64() * 1e6 / again.len().saturating_sub(1).max(1) as f64));
        }
        let (info, decode) = (engine.info().clone(), Spread::of(decode));
        let bytes = (info.bytes_read + info.bytes_written) as f64;
        let of_copy = device.map(|d| bytes * decode.median / 1e9 / d.copy_gb_per_s);
        let of_dispatch = device.map(|d| f64::from(info.dispatches) * d.dispatch_us * decode.median / 1e6);
        let cpu_us = (!cpu.is_empty()).then(|| Spread::of(cpu));
        let (prefill, verdict) = (Spread::of(prefill), Verdict::Reference);
        Ok(Measured { info, prefill, decode, cpu_us, first_token, of_copy, of_dispatch, tokens, verdict })
    }

    /// One run.
    fn once(&self, engine: &mut Engine, ids: &[u32]) -> Result<Once, ModelError> {
        let count = self.args.generate as usize;
        let limit = self.folder.config.vocab_size;
        engine.reset();
        let mut tokens = Vec::with_capacity(count);
        let start = Instant::now();
        let step = engine.prefill(ids)?;
        let prefill = start.elapsed();
        let (start, busy) = (Instant::now(), busy());
        let mut take = |step: Step| -> Result<Option<u32>, ModelError> {
            let position = ids.len() + tokens.len();
            let id = match (step.token, &step.logits) {
                (Some(id), _) => id,
                (None, logits) => {
                    SamplingParams::GREEDY.sample(logits.as_deref().unwrap_or_default(), &[], position, limit)?
                }
            };
            tokens.push(id);
            Ok((!self.watch.asked()).then_some(id))
        };
        if let Some(first) = take(step)? {
            engine.decode_on(first, count - 1, &mut take)?;
        }
        let cpu = busy.zip(self::busy()).map(|(before, after)| after.saturating_sub(before));
        Ok(Once { tokens, prefill, decode: start.elapsed(), cpu })
    }

    /// Holds a tier's tokens against those of tier 0.
    fn verdict(&self, choice: TierChoice, measured: &Measured, reference: Option<&[u32]>) -> Result<Verdict, CliError> {
        let Some(theirs) = reference else {
            let itself = choice == TierChoice::Number(0) && self.options.schedules.is_empty();
            return Ok(if itself { Verdict::Reference } else { Verdict::Unchecked });
        };
        let ours = &measured.tokens;
        match theirs.iter().zip(ours).position(|(a, b)| a != b) {
            None => Ok(Verdict::Equal { tokens: theirs.len() }),
            Some(step) => {
                let prefix = [&self.ids()[..], &theirs[..step]].concat();
                let forced = &theirs[step..];
                let reference = rule::forced_logits(self, &self.reference_options(false), &prefix, forced)?;
                let logits = rule::forced_logits(self, &self.options(choice, false), &prefix, forced)?;
                Ok(rule::judge(step, &reference, &logits, forced[0], ours[step]))
            }
        }
    }
}

/// The tokens of the first row, if it is tier 0's.
fn tokens_of_tier_0(rows: &[Row]) -> Option<&Vec<u32>> {
    match rows.first() {
        Some(Row { tier: 0, auto: false, result: Ok(measured) }) => Some(&measured.tokens),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]), Spread { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(Spread::of(vec![4.0, 1.0, 2.0, 3.0]).median, 2.0);
        assert_eq!(Spread::of(vec![5.0]), Spread { median: 5.0, min: 5.0, max: 5.0 });
    }
}
