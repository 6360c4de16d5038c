//! `generate`: a prompt in, text out as it is made.
//!
//! The rule: what has been printed is never taken back and never ends inside a character; every text ends for one of the
//! [`Finish`] reasons. Absent: batches, and stop words other than the model's own end tokens.

mod prompt;

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
use crate::tokenizer::{SpecialTokens, TextStream, Tokenizer};
use prompt::Prompt;

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
    options.plain_argmax = sampling.is_plain_argmax();
    options.vocab_limit = u32::try_from(limit).ok();
    let mut loaded = folder.load(&options)?;
    prompt.notes.iter().for_each(|text| output::note(text));
    if args.verbose {
        describe(&loaded);
        prompt.describe();
        output::line(&format!("sampling: {}", settings(&sampling)));
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
    let run = job.run(&mut loaded.engine, &mut text);
    // An error in the middle leaves the cursor after the text so far; one before any text leaves stdout empty.
    let ended = text.finish(run.is_ok());
    let run = run?;
    ended?;

    if args.json {
        output::out(&format!("{:#}\n", report(&run, &loaded.engine, &prompt, text.all, seed)))?;
    }
    if args.verbose {
        summarise(&run, &loaded.engine, prompt.ids.len());
    }
    if args.profile {
        match loaded.engine.profile() {
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
    fn run(&self, engine: &mut Engine, text: &mut Text) -> Result<Run, CliError> {
        let mut history = self.prompt.ids.clone();
        let start = Instant::now();
        let step = engine.prefill(&history)?;
        let prefill = start.elapsed();
        let mut run =
            Run { ids: Vec::new(), finish: Finish::Length, prefill, decode: Duration::ZERO, decoded: 0, first: None };
        let Some(first) = self.take(&step, &mut history, &mut run, text)? else { return Ok(run) };
        let room = (engine.context() - engine.position()) as usize;
        let most = self.max_tokens - 1;
        let start = Instant::now();
        engine.decode_on(first, most, &mut |step| {
            run.decoded += 1;
            self.take(&step, &mut history, &mut run, text)
        })?;
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
        run.ids.push(id);
        if self.prompt.eos_ids.contains(&id) {
            run.finish = Finish::Eos;
            return Ok(None);
        }
        text.push(id)?;
        run.first.get_or_insert_with(since_start);
        if self.watch.asked() && run.ids.len() < self.max_tokens {
            run.finish = Finish::Interrupted;
            return Ok(None);
        }
        Ok((run.ids.len() < self.max_tokens).then_some(id))
    }

    /// The token that follows `history`: the engine's own choice, or one from its logits.
    fn choose(&self, step: &Step, history: &[u32]) -> Result<u32, ModelError> {
        match (step.token, &step.logits) {
            (Some(id), _) => Ok(id),
            (None, Some(logits)) => self.sampling.sample(logits, history, history.len(), self.limit),
            (None, None) => Err(ModelError::NoCandidates { position: history.len(), logits: 0, limit: self.limit }),
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
    Ok(())
}

/// Settings with those of the flags in their place.
fn sampling(args: &GenerateArgs, mut settings: SamplingParams) -> SamplingParams {
    settings.temperature = args.temperature.unwrap_or(settings.temperature);
    settings.top_k = args.top_k.unwrap_or(settings.top_k);
    settings.top_p = args.top_p.unwrap_or(settings.top_p);
    // Whoever asks for the best token each time means the best logit; the file's penalty belongs to the file's sampling.
    let penalty = if args.temperature == Some(0.0) { 1.0 } else { settings.repetition_penalty };
    settings.repetition_penalty = args.repetition_penalty.unwrap_or(penalty);
    settings
}

fn settings(s: &SamplingParams) -> String {
    if s.is_plain_argmax() {
        return format!("greedy; seed {} (unused)", s.seed);
    }
    let penalty = format!("repetition penalty {}", s.repetition_penalty);
    if s.temperature == 0.0 {
        return format!("greedy, {penalty}; seed {} (unused)", s.seed);
    }
    format!("temperature {}, top-k {}, top-p {}, {penalty}; seed {}", s.temperature, s.top_k, s.top_p, s.seed)
}

/// 32 random bits, few enough to be typed again.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() >> 32
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

fn report(run: &Run, engine: &Engine, prompt: &Prompt, text: String, seed: u64) -> Value {
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
    })
}
