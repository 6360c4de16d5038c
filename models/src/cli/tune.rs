//! `tune`: schedules raced on this adapter, and what is found kept.
//!
//! The rule: the file is written after each kernel, as a whole, and never where somebody has edited it; a second call goes on where the
//! first one ended. Absent: any schedule that was not measured and checked here.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tilewright_dsl::schedule::Schedule;
use tilewright_runtime::{self as runtime, Device};

use super::args::TuneArgs;
use super::error::CliError;
use super::interrupt;
use super::model::Folder;
use super::output;
use crate::engine::{EngineOptions, Plan, Stage, TierChoice};
use crate::error::{ModelError, counted};
use crate::kernels;
use crate::tune::file::untouched;
use crate::tune::predict::{Figures, predict};
use crate::tune::race::Verdict;
use crate::tune::rig::Rig;
use crate::tune::search::{Candidate, Event, Search, candidates};
use crate::tune::site::{Phase, fingerprint};
use crate::tune::space::plain;
use crate::tune::{Entry, Site, Tuned, find};

/// Positions of the cache, unless the flag says otherwise: a prompt of 4,096 and a text of 128.
const CONTEXT: usize = 4224;

/// Races after which a site counts as searched though its time was over.
const ENOUGH: usize = 8;

/// Candidates that a dry run lists for each kernel.
const LISTED: usize = 12;

/// Runs the command.
pub fn run(args: &TuneArgs) -> Result<(), CliError> {
    let all: Vec<String> = kernels::all().into_iter().map(|e| e.kernel.name).collect();
    known(args, &all.iter().map(String::as_str).collect::<Vec<_>>(), "there is no such kernel; there are")?;
    let folder = Folder::open(&args.model)?;
    let context = folder.room(args.context)?;
    let context = if args.context.is_some() { context } else { context.min(CONTEXT) };
    let options = EngineOptions {
        tier: TierChoice::Auto,
        adapter: args.device.adapter.clone().unwrap_or_default(),
        target: args.device.target.clone(),
        stores: args.store.store.unwrap_or_default(),
        context: u32::try_from(context).ok(),
        plain_argmax: true,
        ..EngineOptions::default()
    };
    let device = Device::open(&options.adapter, options.target.as_ref())?;
    let figures = Figures::of(
        device.adapter().kind,
        runtime::copy_bandwidth(&device)?,
        runtime::empty_dispatch(&device)?.max(0.1),
    );
    if args.dry_run {
        return dry_run(args, &folder, &device, &options, &figures);
    }
    let mut store = Store::open(args, &device)?;
    drop(device);
    let weights = folder.weights()?;
    let mut engine = folder.load_from(&weights, &options)?;
    // What is compared should be numbers of a text.
    engine.prefill(&[1, 2])?;
    engine.decode(3)?;
    let Some(mut rig) = engine.rig() else { return Ok(()) };
    let mut sites = wanted(args, engine.sites())?;
    sites.retain(|site| rig.ops(site) > 0);
    output::line(&format!(
        "tier {} on {}; {} to {}",
        engine.info().tier,
        engine.info().adapter,
        counted(sites.len(), "kernel and shape", "kernels and shapes"),
        store.path.display()
    ));
    let sites = store.missing(args, sites, &mut rig);
    if sites.is_empty() {
        return Ok(());
    }
    tune(args, &figures, &sites, &mut rig, &mut store)
}

/// The sites that are asked for, decode first, the longest first.
fn wanted(args: &TuneArgs, sites: &[Site]) -> Result<Vec<Site>, CliError> {
    let kernels: Vec<&str> = sites.iter().map(|s| s.kernel.name.as_str()).collect();
    known(args, &kernels, "the plan does not run it; it runs")?;
    let asked = |s: &&Site| args.kernel.is_empty() || args.kernel.contains(&s.kernel.name);
    Ok(sites.iter().filter(asked).cloned().collect())
}

/// Holds `--kernel` against names.
fn known(args: &TuneArgs, names: &[&str], why: &str) -> Result<(), CliError> {
    let Some(unknown) = args.kernel.iter().find(|k| !names.contains(&k.as_str())) else { return Ok(()) };
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    Err(CliError::usage(format!("--kernel {unknown}: {why} {}", names.join(", ")), "name one of those"))
}

/// Searches one site after the other.
fn tune(args: &TuneArgs, figures: &Figures, sites: &[Site], rig: &mut Rig, store: &mut Store) -> Result<(), CliError> {
    let watch = interrupt::watch();
    let mut sites: Vec<&Site> = sites.iter().collect();
    sites.sort_by(|a, b| a.phase.cmp(&b.phase).then(share(b, rig, figures).total_cmp(&share(a, rig, figures))));
    let weights = weights(&sites, rig, figures);
    let before = rig.graphs();
    let start = Instant::now();
    let budget = Duration::from_secs(args.budget.into());
    for (i, site) in sites.iter().enumerate() {
        let left = budget.saturating_sub(start.elapsed());
        if watch.asked() || left.is_zero() {
            let rest = counted(sites.len() - i, "kernel is", "kernels are");
            output::line(&format!("{rest} left; the same command goes on"));
            break;
        }
        let bar = bar(&format!("{} of {}: {}", i + 1, sites.len(), site.key));
        let until = Instant::now() + left.mul_f64(weights[i] / weights[i..].iter().sum::<f64>());
        let stop = || watch.asked();
        let search = Search { site, figures, until, stop: &stop };
        let mut raced = 0;
        let done = search.run(rig, &mut |event| {
            raced += usize::from(matches!(event, Event::Raced { .. }));
            bar.set_message(format!("{raced} raced"));
            if args.verbose {
                bar.suspend(|| output::line(&told(&event)));
            }
        });
        bar.finish_and_clear();
        let done = done?;
        output::line(&format!("{}: {}", site.key, done.entry.note));
        // A search that was cut off before it found anything leaves the site to the next call.
        if done.gain.is_some() || !done.cut || done.raced >= ENOUGH {
            store.put(done.entry, done.gain.is_some())?;
        }
    }
    summary(rig, &before)?;
    if watch.asked() {
        return Err(CliError::Interrupted(format!("interrupted; {} has what was found", store.path.display())));
    }
    Ok(())
}

/// Parts of the budget: twice as much for decode, in a phase by the guessed times, and a little for each.
fn weights(sites: &[&Site], rig: &Rig, figures: &Figures) -> Vec<f64> {
    let shares: Vec<f64> = sites.iter().map(|s| share(s, rig, figures)).collect();
    let total = |phase: Phase| {
        sites.iter().zip(&shares).filter(|(s, _)| s.phase == phase).map(|(_, share)| share).sum::<f64>().max(1e-9)
    };
    let of = |(site, share): (&&Site, &f64)| {
        let part = if site.phase == Phase::Decode { 2.0 } else { 1.0 };
        part * share / total(site.phase) + 0.05
    };
    sites.iter().zip(&shares).map(of).collect()
}

/// How long the ops of a site are guessed to take in a step.
fn share(site: &Site, rig: &Rig, figures: &Figures) -> f64 {
    let (bytes, words) = rig.work(site);
    let guess = predict(&site.program, &words, bytes, figures);
    rig.ops(site) as f64 * guess.map_or(0.0, |g| g.us)
}

/// Whole steps with the schedules as they were and as they are.
fn summary(rig: &Rig, before: &[(Stage, runtime::Graph)]) -> Result<(), CliError> {
    for graph in before {
        let Some(outcome) = rig.compare(graph)? else { continue };
        let step = match graph.0 {
            Stage::Decode | Stage::Last => "a token",
            Stage::Far => "a token of a long text",
            Stage::Prefill => "a chunk of a prompt",
        };
        let sure = match outcome.verdict {
            Verdict::Faster => format!("×{:.3}", outcome.old.median / outcome.new.median),
            Verdict::Slower => "slower".into(),
            Verdict::Alike => "no difference beyond the noise".into(),
        };
        output::line(&format!("{step}: {} µs before, {} µs now: {sure}", outcome.old, outcome.new));
    }
    Ok(())
}

fn told(event: &Event) -> String {
    let head = |c: &Candidate| {
        let text = c.schedule.to_string();
        let lines = text.lines().map(str::trim).filter(|l| l.ends_with(';'));
        let guess = c.guess.map_or("-".into(), |g| format!("{:.1}", g.us));
        format!("guess {guess} µs  {}", lines.collect::<Vec<_>>().join(" "))
    };
    match event {
        Event::Raced { candidate, outcome } => {
            let verdict = match outcome.verdict {
                Verdict::Faster => "faster",
                Verdict::Slower => "slower",
                Verdict::Alike => "alike ",
            };
            format!("  {verdict} {} against {}  {}", outcome.new, outcome.old, head(candidate))
        }
        Event::Refused { candidate, why } => {
            format!("  refused: {}  {}", why.lines().next().unwrap_or_default(), head(candidate))
        }
    }
}

fn bar(what: &str) -> ProgressBar {
    let bar = ProgressBar::hidden();
    if let Ok(style) = ProgressStyle::with_template("{prefix}: {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_prefix(what.to_string());
    if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.enable_steady_tick(Duration::from_millis(250));
    }
    bar
}

/// Lists candidates with their guesses.
fn dry_run(
    args: &TuneArgs,
    folder: &Folder,
    device: &Device,
    options: &EngineOptions,
    figures: &Figures,
) -> Result<(), CliError> {
    let head = if folder.config.tie_word_embeddings { crate::checkpoint::EMBEDDING } else { crate::checkpoint::HEAD };
    let (plan, _) = Plan::choose(&folder.config, head, device.target(), options, true)?;
    let mut sites = wanted(args, &plan.sites)?;
    sites.sort_by_key(|site| site.phase);
    for site in sites {
        let words = site.longest.last().cloned().unwrap_or_default();
        let bytes = plan.graphs.iter().map(|graph| site.bytes(graph, &words)).find(|bytes| *bytes > 0);
        let work = (bytes.unwrap_or_default(), words);
        let mut seen = HashSet::from([plain(&site.schedule)]);
        let all = candidates(&site, &site.schedule, device.target(), figures, &work, &mut seen);
        output::out(&format!("{}: {} legal candidates around `{}`\n", site.key, all.len(), site.schedule.name))?;
        for candidate in all.iter().take(LISTED) {
            let text = candidate.schedule.to_string();
            let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| l.ends_with(';')).collect();
            let guess = candidate.guess.map_or("      -".into(), |g| {
                let size = format!("{} × {}", g.workgroups, g.invocations);
                format!("{:>9.1} µs ({:<6}) {size:>12}", g.us, g.bound.to_string())
            });
            output::out(&format!("  {guess}  {}\n", lines.join(" ")))?;
        }
    }
    Ok(())
}

/// The file.
struct Store {
    path: PathBuf,
    tuned: Tuned,
    force: bool,
}

impl Store {
    /// The file that is asked for, or the adapter's own, with what it holds.
    fn open(args: &TuneArgs, device: &Device) -> Result<Self, CliError> {
        let adapter = device.adapter();
        let path = args
            .output
            .clone()
            .or_else(|| find::place(adapter))
            .ok_or_else(|| CliError::usage("there is no folder for caches here", "name a file with --output"))?;
        let empty = Tuned {
            adapter: adapter.name.clone(),
            driver: adapter.driver.clone(),
            compiler: format!("tilewright {}", env!("CARGO_PKG_VERSION")),
            entries: Vec::new(),
        };
        let mut store = Store { path, tuned: empty, force: args.force };
        store.writable()?;
        if store.path.exists() {
            store.check()?;
            let text = find::read(&store.path).map_err(ModelError::from)?;
            match Tuned::read(&store.path.display().to_string(), &text) {
                Ok(known) if known.adapter == store.tuned.adapter && known.driver == store.tuned.driver => {
                    store.tuned.entries = known.entries;
                }
                Ok(known) => output::note(&format!(
                    "{} is for {} with driver {}; it is begun anew",
                    store.path.display(),
                    known.adapter,
                    known.driver
                )),
                Err(error) if args.force => output::note(&format!("{error}; it is begun anew")),
                Err(error) => return Err(ModelError::from(error).into()),
            }
        }
        Ok(store)
    }

    /// A file that somebody has edited is theirs.
    fn check(&self) -> Result<(), CliError> {
        let text = find::read(&self.path).map_err(ModelError::from)?;
        if self.force || untouched(&text) {
            return Ok(());
        }
        let message =
            format!("{} is not as `tilewright tune` leaves its files: somebody has edited it", self.path.display());
        Err(CliError::usage(
            message,
            "use it with --tuned, write another file with --output, or overwrite it with --force",
        ))
    }

    /// What is found must have a place before anything is measured.
    fn writable(&self) -> Result<(), CliError> {
        let failed = |source| CliError::Write { path: self.path.clone(), source };
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if std::fs::metadata(&self.path).is_ok_and(|found| !found.is_file()) {
            return Err(failed(std::io::Error::other("it is no file")));
        }
        std::fs::create_dir_all(folder).map_err(failed)?;
        let trial = folder.join(format!(".tune.{}", std::process::id()));
        std::fs::File::create(&trial).and_then(|_| std::fs::remove_file(&trial)).map_err(failed)
    }

    /// Sites that the file has nothing for; those that it has something for run by it from here on, and with `--again` are searched
    /// around it.
    fn missing(&self, args: &TuneArgs, sites: Vec<Site>, rig: &mut Rig) -> Vec<Site> {
        let mut known = 0;
        let missing = sites.into_iter().filter_map(|site| {
            let Some(entry) = self.tuned.find(&site.key) else { return Some(site) };
            let stores = site.schedule.stores.clone();
            let schedule = Schedule { stores, ..entry.schedule.clone() };
            match site.compiled(&schedule, rig.target()) {
                Ok(program) if entry.text.is_none_or(|text| text == fingerprint(&program)) => {
                    let program = Arc::new(program);
                    rig.put(&site, &program);
                    known += usize::from(!args.again);
                    args.again.then_some(Site { schedule, program, ..site })
                }
                _ => Some(site),
            }
        });
        let missing = missing.collect();
        if known > 0 {
            let known = counted(known, "of them is in it already", "of them are in it already");
            output::line(&format!("{known}; --again searches them too"));
        }
        missing
    }

    /// Keeps an entry; one that is no `gain` leaves what the file says of the same schedule.
    fn put(&mut self, entry: Entry, gain: bool) -> Result<(), CliError> {
        if !gain && self.tuned.find(&entry.at).is_some_and(|known| known.text == entry.text && !known.note.is_empty()) {
            return Ok(());
        }
        if self.path.exists() {
            self.check()?;
        }
        self.tuned.put(entry);
        let written = runtime::write_whole(&self.path, self.tuned.to_string().as_bytes());
        written.map_err(|source| CliError::Write { path: self.path.clone(), source })
    }
}
