//! `report`: all figures that this project is judged by, on one page.
//!
//! The rule: every figure is a run of this same program in a process of its own, and its command line stands beside it, so that
//! whoever doubts it repeats it. What does not run here is told in its place, and the rest goes on. Absent: judgement; figures of
//! others are quoted with what they were measured by.

mod page;
mod peers;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::args::ReportArgs;
use super::error::CliError;
use super::output;
use crate::spread::Spread;

/// Presets of the shapes by formula, with the words by which the report calls them.
const SHAPES: [(&str, &str); 2] = [("qwen2.5-0.5b", "0.5B"), ("qwen2.5-7b", "7B")];

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<(), CliError> {
    let files = args.output.as_deref().map(|folder| places(folder, args.force)).transpose()?;
    let runner = Runner { args, known: RefCell::default() };
    let mut figures = Vec::new();
    let mut tiers = Vec::new();
    let mut contexts = Vec::new();
    for (i, (name, dir)) in models(args)?.into_iter().enumerate() {
        let subject = Subject { runner: &runner, name: &name, dir: &dir };
        for context in args.contexts.0.iter().filter(|c| i == 0 || **c == args.contexts.0[0]) {
            let figure = subject.decode(*context);
            contexts.extend(figure.value.filter(|_| i == 0).map(|spread| (*context, spread)));
            figures.push(figure);
        }
        figures.push(subject.prefill());
        figures.push(subject.cpu(&figures));
        figures.push(subject.head());
        figures.push(subject.start());
        if i == 0 {
            tiers = subject.tiers();
        }
    }
    let page = page::Page { args, device: runner.device(), figures, tiers, contexts };
    output::out(&if args.json { format!("{:#}\n", page.json()) } else { page.markdown() })?;
    for (path, text) in files.into_iter().flatten().zip(page.files()) {
        output::write_file(&path, text.as_bytes(), args.force)?;
        output::line(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// A number with its spread, and how it came about.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// What it is of.
    pub what: String,
    /// The model.
    pub model: String,
    /// Its unit.
    pub unit: &'static str,
    /// The number; none where it could not be had.
    pub value: Option<Spread>,
    /// As a part of what a copy moves.
    pub percent_of_copy: Option<f64>,
    /// The command line.
    pub command: String,
    /// Why there is none.
    pub error: Option<String>,
}

/// A tier's speed.
pub struct Tier {
    /// Its number.
    pub number: u64,
    /// Its name.
    pub name: String,
    /// Tokens a second.
    pub decode: Spread,
}

/// Runs this program.
struct Runner<'a> {
    args: &'a ReportArgs,
    /// What command lines gave.
    known: RefCell<HashMap<Vec<String>, Result<Value, String>>>,
}

impl Runner<'_> {
    /// The JSON that a command line gives, or the first line of its error; each runs once.
    fn json(&self, args: &[String]) -> Result<Value, String> {
        let known = self.known.borrow().get(args).cloned();
        known.unwrap_or_else(|| {
            let found = self.again(args);
            self.known.borrow_mut().insert(args.to_vec(), found.clone());
            found
        })
    }

    /// The same, run anew.
    fn again(&self, args: &[String]) -> Result<Value, String> {
        output::line(&format!("tilewright {}", args.join(" ")));
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        let ran = Command::new(program).args(args).stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
        if !ran.status.success() {
            let text = String::from_utf8_lossy(&ran.stderr);
            let error = text.lines().find_map(|l| l.strip_prefix("error: ")).or(text.lines().last());
            return Err(error.unwrap_or("it ended without a word").to_string());
        }
        serde_json::from_slice(&ran.stdout).map_err(|e| e.to_string())
    }

    /// The lines of `doctor` about the adapter.
    fn device(&self) -> Vec<String> {
        let mut args = vec!["doctor".to_string()];
        args.extend(self.adapter());
        let ran = std::env::current_exe().and_then(|program| Command::new(program).args(&args).output());
        let text = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()).unwrap_or_default();
        let chosen = text.lines().skip_while(|l| !l.starts_with("chosen: "));
        let told = ["chosen: ", "  copy ", "  empty dispatch ", "  subgroups ", "  tuned schedules "];
        let kept = chosen.filter(|l| told.iter().any(|start| l.starts_with(start)));
        kept.map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    fn adapter(&self) -> Vec<String> {
        self.args.adapter.iter().flat_map(|a| ["--adapter".to_string(), a.clone()]).collect()
    }
}

/// A model that is measured.
struct Subject<'a> {
    runner: &'a Runner<'a>,
    name: &'a str,
    dir: &'a Path,
}

impl Subject<'_> {
    fn command(&self, words: &[&str], numbers: &[(&str, u64)]) -> Vec<String> {
        let mut args: Vec<String> = words.iter().map(ToString::to_string).collect();
        args.extend(["--model".into(), self.dir.display().to_string()]);
        args.extend(numbers.iter().flat_map(|(flag, n)| [(*flag).to_string(), n.to_string()]));
        args.extend(self.runner.adapter());
        args
    }

    /// A figure that `read` finds in the JSON of a command.
    fn figure(
        &self,
        (what, unit): (String, &'static str),
        command: &[String],
        read: impl Fn(&Value) -> Option<(Spread, Option<f64>)>,
    ) -> Figure {
        let found = self.runner.json(command).and_then(|json| read(&json).ok_or("it is not told here".to_string()));
        let (value, percent_of_copy, error) = match found {
            Ok((spread, percent)) => (Some(spread), percent, None),
            Err(error) => (None, None, Some(error)),
        };
        let command = format!("tilewright {}", command.join(" "));
        Figure { what, model: self.name.into(), unit, value, percent_of_copy, command, error }
    }

    fn bench(&self, prompt: u32, generate: u32) -> Vec<String> {
        let numbers = [
            ("--prompt-tokens", prompt.into()),
            ("--generate", generate.into()),
            ("--runs", self.runner.args.runs.into()),
        ];
        self.command(&["bench", "--json", "--tiers", "auto"], &numbers)
    }

    fn decode(&self, context: u32) -> Figure {
        let command = self.bench(context, self.runner.args.generate);
        let what = format!("decode after a prompt of {context}");
        self.figure((what, "tok/s"), &command, |json| {
            let row = &json["tiers"][0];
            Some((Spread::read(&row["decode_tokens_per_s"])?, row["percent_of_copy"].as_f64()))
        })
    }

    fn prefill(&self) -> Figure {
        let prompt = self.runner.args.prefill;
        let what = format!("prefill of {prompt}");
        self.figure((what, "tok/s"), &self.bench(prompt, 2), |json| {
            Some((Spread::read(&json["tiers"][0]["prefill_tokens_per_s"])?, None))
        })
    }

    /// Of the same run as the first figure of this model.
    fn cpu(&self, figures: &[Figure]) -> Figure {
        let context = self.runner.args.contexts.0[0];
        let command = self.bench(context, self.runner.args.generate);
        let failed = figures.iter().find(|f| f.model == self.name && f.error.is_some());
        let what = ("CPU time a token while decoding".to_string(), "µs");
        match failed {
            Some(failed) => Figure { what: what.0, unit: what.1, value: None, percent_of_copy: None, ..failed.clone() },
            None => {
                self.figure(what, &command, |json| Some((Spread::read(&json["tiers"][0]["cpu_us_per_token"])?, None)))
            }
        }
    }

    /// The last projection, whose rows are the vocabulary's.
    fn head(&self) -> Figure {
        let ids: Vec<String> = (1..=self.runner.args.contexts.0[0].min(128)).map(|n| n.to_string()).collect();
        let words = ["generate", "--json", "--profile", "--temperature", "0", "--ids", &ids.join(",")];
        // Enough tokens for the device's clock to be what it is at work.
        let command = self.command(&words, &[("--max-tokens", self.runner.args.generate.into())]);
        let mut figure = self.figure(("GPU time of the head".into(), "µs"), &command, |json| {
            let rows = json["profile"]["kernels"].as_array()?;
            let each = |r: &Value| Some(r["bytes"].as_f64()? / r["calls"].as_f64()?);
            let head = rows.iter().max_by(|a, b| each(a).unwrap_or(0.0).total_cmp(&each(b).unwrap_or(0.0)))?;
            let us = head["us"].as_f64()? / head["calls"].as_f64()?;
            Some((Spread { median: us, min: us, max: us }, head["percent_of_copy"].as_f64()))
        });
        figure.command = figure.command.replace(&ids.join(","), &format!("1,2,...,{}", ids.len()));
        figure
    }

    /// From the start of a process to its first token, everything in the page cache.
    fn start(&self) -> Figure {
        let words = ["generate", "--json", "--temperature", "0", "--ids", "1,2,3,4,5"];
        let command = self.command(&words, &[("--max-tokens", 1)]);
        let read = |json: &Value| json["first_token_ms"].as_f64();
        let mut times = Vec::new();
        let mut figure = self.figure(("first token after the start".into(), "ms"), &command, |json| {
            let ms = read(json)?;
            Some((Spread { median: ms, min: ms, max: ms }, None))
        });
        // The first one filled the caches.
        for _ in 0..self.runner.args.runs {
            times.extend(self.runner.again(&command).ok().as_ref().and_then(read));
        }
        times.sort_by(f64::total_cmp);
        if let (Some(value), Some(min), Some(max)) = (&mut figure.value, times.first(), times.last()) {
            *value = Spread { median: times[times.len() / 2], min: *min, max: *max };
        }
        figure
    }

    fn tiers(&self) -> Vec<Tier> {
        let args = self.runner.args;
        let mut list: Vec<String> = args.tiers.tiers.iter().map(ToString::to_string).collect();
        list.extend(args.tiers.auto.then(|| "auto".to_string()));
        let numbers = [
            ("--prompt-tokens", args.contexts.0[0].into()),
            ("--generate", args.generate.into()),
            ("--runs", args.runs.into()),
        ];
        let command = self.command(&["bench", "--json", "--tiers", &list.join(",")], &numbers);
        let json = self.runner.json(&command).unwrap_or_default();
        let tier = |row: &Value| {
            let name = if row["auto"] == true { "auto" } else { row["name"].as_str()? };
            let decode = Spread::read(&row["decode_tokens_per_s"])?;
            Some(Tier { number: row["tier"].as_u64()?, name: name.into(), decode })
        };
        json["tiers"].as_array().into_iter().flatten().filter_map(tier).collect()
    }
}

/// The models, made where they are not there yet.
fn models(args: &ReportArgs) -> Result<Vec<(String, PathBuf)>, CliError> {
    if let Some(dir) = &args.model {
        let name = dir.file_name().map_or("model".into(), |n| n.to_string_lossy().into_owned());
        return Ok(vec![(name, dir.clone())]);
    }
    let folder = args.models.clone().unwrap_or_else(|| std::env::temp_dir().join("tilewright-models"));
    std::fs::create_dir_all(&folder).map_err(|source| CliError::Write { path: folder.clone(), source })?;
    let runner = Runner { args, known: RefCell::default() };
    let mut all = Vec::new();
    for (preset, name) in SHAPES.iter().filter(|(preset, _)| !args.skip_7b || !preset.contains("7b")) {
        let dir = folder.join(preset);
        if !dir.join("config.json").is_file() {
            let words = ["synth", "--preset", preset, &dir.display().to_string()].map(String::from);
            // `synth` prints no JSON; whether it went well shows when the model is loaded.
            let _ = runner.json(&words);
        }
        all.push(((*name).to_string(), dir));
    }
    Ok(all)
}

/// The files of a report, which must not be there yet.
fn places(folder: &Path, force: bool) -> Result<Vec<PathBuf>, CliError> {
    std::fs::create_dir_all(folder).map_err(|source| CliError::Write { path: folder.into(), source })?;
    let files: Vec<PathBuf> = page::FILES.iter().map(|name| folder.join(name)).collect();
    files.iter().try_for_each(|path| output::check_place("--output", path, force))?;
    Ok(files)
}
