//! `generate`: a prompt in, text out as it is made.
//!
//! The rule: what has been printed is never taken back and never ends inside a character; every text ends for one of the
//! [`Finish`] reasons. Absent: batches, and stop words other than the model's own end tokens.

mod prompt;
mod settings;
mod writer;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tilewright_runtime::ProfileRow;

use super::args::GenerateArgs;
use super::error::CliError;
use super::interrupt::{self, Watch};
use super::model::{self, Folder, Loaded};
use super::{output, since_start};
use crate::engine::{Engine, Loading, ProfileTable, Step};
use crate::error::{ModelError, counted};
use crate::sampler::SamplingParams;
use crate::stores;
use crate::tokenizer::{SpecialTokens, TextStream, Tokenizer};
use prompt::Prompt;
use settings::{plain, random_seed, sampling, settings, wants, who};
use writer::{Writer, drafted};

/// Runs the command.
pub fn run(args: &GenerateArgs) -> Result<(), CliError> {
    let seed = args.seed.unwrap_or_else(random_seed);
    check_flags(args)?;
    let folder = Folder::open(&args.model)?;
    let sampling = sampling(args, SamplingParams::from_defaults(&folder.config.generation, seed));
    let prompt = Prompt::of(args, &folder)?;
    let context = folder.context(args.engine.context, "the prompt has", prompt.ids.len(), args.max_tokens as usize)?;

    let limit = prompt.tokenizer.as_ref().map_or(folder.config.vocab_size, Tokenizer::entries);
    let mut options = model::options(&args.engine, args.tier.tier, context)?;
    options.profile = args.profile;
    options.plain_argmax = plain(args, &sampling);
    options.wants = wants(args, sampling)?;
    options.vocab_limit = u32::try_from(limit).ok();
    options.verify = args.draft.draft.as_ref().map(|_| args.draft.gamma + 1);
    let draft = drafted(args, &folder, &prompt)?;
    let loaded = folder.load(&options)?;
    prompt.notes.iter().for_each(|text| output::note(text));
    if args.verbose {
        describe(&loaded);
        prompt.describe();
        output::line(&format!("sampling: {}; {}", settings(&sampling), who(&loaded.engine)));
    }

    let mut writer = match &draft {
        Some(draft) => Writer::pair(loaded.engine, draft, &options, args.draft.gamma)?,
        None => Writer::Alone(Box::new(loaded.engine)),
    };
    if args.verbose {
        writer.describe();
    }

    let watch = interrupt::watch();
    let special = SpecialTokens::Hide;
    let mut text = Text {
        stream: prompt.tokenizer.as_ref().map(|t| t.stream(special)),
        all: String::new(),
        quiet: args.json,
        ids: 0,
    };
    let job = Job { prompt: &prompt, sampling, limit, max_tokens: args.max_tokens as usize, watch };
    let run = job.run(&mut writer, &mut text);
    // An error in the middle leaves the cursor after the text so far; one before any text leaves stdout empty.
    let ended = text.finish(run.is_ok());
    let run = run?;
    ended?;

    if args.json {
        output::out(&format!("{:#}\n", report(&run, &writer, &prompt, text.all, seed)))?;
    }
    if args.verbose {
        summarise(&run, writer.engine(), prompt.ids.len());
        writer.summarise();
    }
    if args.profile {
        match writer.engine().profile() {
            Some(table) => output::line(&table.to_string()),
            None => output::note("no profile: this adapter has no timestamp queries"),
        }
    }
    match run.finish {
        Finish::Interrupted => Err(CliError::Interrupted("interrupted".into())),
        _ => Ok(()),
    }
}

/// Why a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finish {
    /// An end token.
    Eos,
    /// `--max-tokens`.
    Length,
    /// The context is full.
    Context,
    /// Ctrl-C.
    Interrupted,
}

impl Finish {
    fn name(self) -> &'static str {
        match self {
            Finish::Eos => "eos",
            Finish::Length => "length",
            Finish::Context => "context",
            Finish::Interrupted => "interrupted",
        }
    }
}

/// What is to be generated.
struct Job<'a> {
    prompt: &'a Prompt,
    sampling: SamplingParams,
    limit: usize,
    max_tokens: usize,
    watch: Watch,
}

/// What was generated.
struct Run {
    ids: Vec<u32>,
    finish: Finish,
    prefill: Duration,
    decode: Duration,
    decoded: usize,
    /// From the start of the process to the first token.
    first: Option<Duration>,
}

impl Job<'_> {
    fn run(&self, writer: &mut Writer, text: &mut Text) -> Result<Run, CliError> {
        let mut history = self.prompt.ids.clone();
        let start = Instant::now();
        let step = writer.prefill(&history)?;
        let prefill = start.elapsed();
        let mut run =
            Run { ids: Vec::new(), finish: Finish::Length, prefill, decode: Duration::ZERO, decoded: 0, first: None };
        let Some(first) = self.take(&step, &mut history, &mut run, text)? else { return Ok(run) };
        let room = (writer.engine().context() - writer.engine().position()) as usize;
        let most = self.max_tokens - 1;
        let start = Instant::now();
        match writer {
            Writer::Alone(engine) => engine.decode_on(first, most, &mut |step| {
                run.decoded += 1;
                self.take(&step, &mut history, &mut run, text)
            })?,
            Writer::Pair(pair) => {
                pair.decode_on(&mut history, most, &|step, history| self.choose(step, history), &mut |id| {
                    run.decoded += 1;
                    self.took(id, &mut run, text)
                })?
            }
        }
        run.decode = start.elapsed();
        if run.finish == Finish::Length && run.decoded == room && room < most {
            run.finish = Finish::Context;
        }
        Ok(run)
    }

    /// Chooses and shows a step's token; `None` where the text ends with it.
    fn take(
        &self,
        step: &Step,
        history: &mut Vec<u32>,
        run: &mut Run,
        text: &mut Text,
    ) -> Result<Option<u32>, CliError> {
        let id = self.choose(step, history)?;
        history.push(id);
        Ok(self.took(id, run, text)?.then_some(id))
    }

    /// Shows a token; whether the text goes on behind it.
    fn took(&self, id: u32, run: &mut Run, text: &mut Text) -> Result<bool, CliError> {
        run.ids.push(id);
        if self.prompt.eos_ids.contains(&id) {
            run.finish = Finish::Eos;
            return Ok(false);
        }
        text.push(id)?;
        run.first.get_or_insert_with(since_start);
        if self.watch.asked() && run.ids.len() < self.max_tokens {
            run.finish = Finish::Interrupted;
            return Ok(false);
        }
        Ok(run.ids.len() < self.max_tokens)
    }

    /// The token that follows `history`: the engine's own choice, or one from its logits.
    fn choose(&self, step: &Step, history: &[u32]) -> Result<u32, ModelError> {
        match (step.token, &step.top, &step.logits) {
            (Some(id), ..) => Ok(id),
            (None, Some(top), _) => self.sampling.sample_pairs(&top.pairs, history.len()),
            (None, None, Some(logits)) => self.sampling.sample(logits, history, history.len(), self.limit),
            (None, None, None) => {
                Err(ModelError::NoCandidates { position: history.len(), logits: 0, limit: self.limit })
            }
        }
    }
}

/// Text on its way to stdout; token ids where there is no tokenizer.
struct Text<'a> {
    stream: Option<TextStream<'a>>,
    all: String,
    quiet: bool,
    ids: usize,
}

impl Text<'_> {
    fn push(&mut self, id: u32) -> Result<(), CliError> {
        let piece = match &mut self.stream {
            Some(stream) => stream.push(id),
            None if self.ids == 0 => id.to_string(),
            None => format!(",{id}"),
        };
        self.ids += 1;
        self.show(&piece)
    }

    /// The rest of an unfinished character, and the end of the line where there is one.
    fn finish(&mut self, complete: bool) -> Result<(), CliError> {
        if let Some(stream) = self.stream.take() {
            self.show(&stream.finish())?;
        }
        if self.quiet || !complete && self.all.is_empty() { Ok(()) } else { output::out("\n") }
    }

    fn show(&mut self, piece: &str) -> Result<(), CliError> {
        self.all.push_str(piece);
        if self.quiet || piece.is_empty() { Ok(()) } else { output::out(piece) }
    }
}

/// Flags that are wrong whatever the model is.
fn check_flags(args: &GenerateArgs) -> Result<(), CliError> {
    model::check_flags(&args.engine)?;
    sampling(args, SamplingParams::GREEDY).validate()?;
    if args.profile && args.engine.backend == super::args::BackendArg::Interp {
        let message = "--profile needs a GPU's clock; found --backend interp";
        return Err(CliError::usage(message, "leave one of the two out"));
    }
    if args.profile && args.draft.draft.is_some() {
        let message = "--profile times steps of one token; found --draft, whose steps are longer";
        return Err(CliError::usage(message, "leave one of the two out"));
    }
    Ok(())
}

/// `--verbose`, before the first token.
pub fn describe(loaded: &Loaded) {
    let info = loaded.engine.info();
    output::line(&format!("adapter: {}, shaders in {}", info.adapter, info.shaders));
    output::line(&format!("tier: {} ({})", info.tier, info.tier_name));
    if info.tuned.sites > 0 {
        let sites = counted(info.tuned.sites, "kernel has a tuned schedule", "kernels have tuned schedules");
        output::line(&format!("tuned: {sites}, from {}", info.tuned.source));
    }
    info.notes.iter().for_each(|text| output::note(text));
    output::line(&format!("memory:\n{}", info.memory));
    output::line(&format!(
        "weights: {} bytes in files, {} on the device, loaded in {:.2} s",
        loaded.stored_bytes,
        info.weight_bytes,
        loaded.took.as_secs_f64()
    ));
    stores::summary(&info.lost).iter().for_each(|text| output::line(text));
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}

/// The parts of loading, in milliseconds.
pub fn loading(parts: &Loading) -> Value {
    json!({
        "device": millis(parts.device),
        "plan": millis(parts.plan),
        "pipelines": millis(parts.pipelines),
        "weights": millis(parts.weights),
    })
}

/// The GPU's time by kernel and schedule.
fn profile(table: &ProfileTable) -> Value {
    let copy = table.copy_gb_per_s;
    let row = |r: &ProfileRow| {
        json!({
            "kernel": r.kernel,
            "schedule": r.schedule,
            "calls": r.calls,
            "us": r.us,
            "bytes": r.bytes,
            "gb_per_s": r.gb_per_s(),
            "percent_of_copy": 100.0 * r.gb_per_s() / copy,
        })
    };
    json!({ "copy_gb_per_s": copy, "kernels": table.profile.rows.iter().map(row).collect::<Vec<_>>() })
}

fn per_second(count: usize, time: Duration) -> Option<f64> {
    let seconds = time.as_secs_f64();
    (count > 0 && seconds > 0.0).then(|| count as f64 / seconds)
}

fn summarise(run: &Run, engine: &Engine, prompt: usize) {
    let info = engine.info();
    let speed = |s: Option<f64>| s.map_or("-".into(), |s| format!("{s:.1}"));
    output::line(&format!(
        "prompt: {} at {} tokens/s; generated: {} at {} tokens/s; ended by {}",
        counted(prompt, "token", "tokens"),
        speed(per_second(prompt, run.prefill)),
        counted(run.ids.len(), "token", "tokens"),
        speed(per_second(run.decoded, run.decode)),
        run.finish.name()
    ));
    if let Some(first) = run.first {
        let l = &info.loading;
        output::line(&format!(
            "first token {:.0} ms after the start: device {:.0}, plan {:.0}, pipelines {:.0}, weights {:.0}, prompt {:.0}",
            millis(first),
            millis(l.device),
            millis(l.plan),
            millis(l.pipelines),
            millis(l.weights),
            millis(run.prefill)
        ));
    }
    if let Some(pages) = engine.pages() {
        output::line(&format!("cache: {pages}"));
    }
    if let Some(again) = engine.recomputed() {
        output::line(&format!("cache: none; {} computed again", counted(again as usize, "position", "positions")));
    }
    output::line(&format!(
        "a token: {} submits, {} dispatches, {} bytes read back",
        info.submits, info.dispatches, info.readback_bytes
    ));
}

fn report(run: &Run, writer: &Writer, prompt: &Prompt, text: String, seed: u64) -> Value {
    let engine = writer.engine();
    let info = engine.info();
    json!({
        "prompt_ids": prompt.ids,
        "token_ids": run.ids,
        "text": prompt.tokenizer.as_ref().map(|_| text),
        "finish_reason": run.finish.name(),
        "seed": seed,
        "tier": info.tier,
        "tuned_kernels": info.tuned.sites,
        "adapter": info.adapter,
        "shaders": info.shaders,
        "first_token_ms": run.first.map(millis),
        "loading_ms": loading(&info.loading),
        "prefill_tokens_per_s": per_second(prompt.ids.len(), run.prefill),
        "decode_tokens_per_s": per_second(run.decoded, run.decode),
        "profile": engine.profile().map(|table| profile(&table)),
        "submits_per_token": info.submits,
        "dispatches_per_token": info.dispatches,
        "readback_bytes_per_token": info.readback_bytes,
        "weight_bytes": info.weight_bytes,
        "speculative": writer.report(),
    })
}
