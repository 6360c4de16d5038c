//! A model folder and the flags become a loaded engine.
//!
//! The rule: everything that can be refused is refused before the weights go up: the configuration first, then the tokenizer,
//! the prompt, the weights' headers, the device. Absent: any choice of tier or memory, which is the engine's.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tilewright_codegen::CompileError;
use tilewright_codegen::error::ScheduleError;
use tilewright_dsl::schedule::{Schedule, parse_file};
use tilewright_runtime::{Compiling, Dxc, RuntimeError, ShaderLanguage};

use super::args::{BackendArg, EngineArgs, Ids, KvArg, ModelArgs, ShadersArg};
use super::error::CliError;
use super::output::{self, Progress};
use super::slow::Slow;
use crate::bundled::bundled_dir;
use crate::checkpoint::Checkpoint;
use crate::config::Config;
use crate::engine::{Engine, EngineOptions, Progress as Step, TierChoice, Wants};
use crate::error::ModelError;
use crate::files::BUNDLED;

/// Loads a model, which is watched.
type Load<'l> = dyn FnMut(&mut dyn FnMut(Step<'_>)) -> Result<Engine, ModelError> + 'l;

/// A model folder whose configuration has been read.
pub struct Folder {
    /// The folder.
    pub dir: PathBuf,
    /// Its configuration.
    pub config: Config,
    /// Notes on the user's schedules that have been told.
    told: RefCell<HashSet<String>>,
}

impl Folder {
    /// The folder that `--model` names, or the bundled model.
    pub fn open(args: &ModelArgs) -> Result<Self, CliError> {
        let dir = match &args.model {
            Some(dir) => dir.clone(),
            None => bundled_dir()?,
        };
        let config = Config::open(&dir)?;
        Ok(Folder { dir, config, told: RefCell::default() })
    }

    /// The model's name: its folder's.
    pub fn name(&self) -> String {
        match self.dir.file_name() {
            Some(name) if self.dir != Path::new(BUNDLED) => name.to_string_lossy().into_owned(),
            _ => "the bundled model".into(),
        }
    }

    /// The configuration's path, for messages.
    pub fn config_path(&self) -> PathBuf {
        self.dir.join("config.json")
    }

    /// Holds `--ids` against the embedding.
    pub fn check_ids(&self, ids: &Ids) -> Result<(), CliError> {
        let vocab = self.config.vocab_size;
        match ids.0.iter().find(|id| **id as usize >= vocab) {
            Some(&found) => Err(CliError::IdTooLarge { found, vocab, path: self.config_path() }),
            None => Ok(()),
        }
    }

    /// Positions that there may be: `--context`, or the model's own.
    pub fn room(&self, asked: Option<u32>) -> Result<usize, CliError> {
        let most = self.config.context();
        match asked {
            Some(found) if found as usize > most => {
                Err(CliError::ContextTooLong { found, most, path: self.config_path() })
            }
            Some(n) => Ok(n as usize),
            None => Ok(most),
        }
    }

    /// Positions for `count` tokens of `what` and at most `more` after them: `--context`, or as many as are needed and the
    /// model has.
    pub fn context(
        &self,
        asked: Option<u32>,
        what: &'static str,
        count: usize,
        more: usize,
    ) -> Result<usize, CliError> {
        let room = self.room(asked)?;
        if count > room {
            let (because, help) = match asked {
                Some(_) => ("--context", "or raise --context"),
                None => ("the model's own", "or use a model with a longer context"),
            };
            return Err(CliError::TooLong { what, count, room, because, help });
        }
        Ok(if asked.is_some() { room } else { room.min(count + more) })
    }

    /// Maps and checks the weights, says what is odd about them, and loads them by `options`.
    pub fn load(&self, options: &EngineOptions) -> Result<Loaded, CliError> {
        let weights = self.weights()?;
        let start = Instant::now();
        let engine = self.load_from(&weights, options)?;
        Ok(Loaded { engine, stored_bytes: weights.stored_bytes(), took: start.elapsed() })
    }

    /// The weights, mapped and checked.
    pub fn weights(&self) -> Result<Checkpoint, CliError> {
        let weights = Checkpoint::open(&self.dir, &self.config)?;
        weights.notes().iter().for_each(|text| output::note(text));
        Ok(weights)
    }

    /// Loads mapped weights by `options`, and says once which of the user's schedules are not used.
    pub fn load_from(&self, weights: &Checkpoint, options: &EngineOptions) -> Result<Engine, CliError> {
        self.watched(options, &mut |progress| Engine::load_watched(&self.config, weights, options, progress))
    }

    /// The same on the device of another engine.
    pub fn load_beside(&self, engine: &Engine, options: &EngineOptions) -> Result<Engine, CliError> {
        let weights = self.weights()?;
        self.watched(options, &mut |progress| engine.load_beside(&self.config, &weights, options, progress))
    }

    fn watched(&self, options: &EngineOptions, load: &mut Load) -> Result<Engine, CliError> {
        let (mut bar, mut compiling) = (None, None);
        let mut planning = Some(Slow::new(None));
        planning.iter().for_each(|slow| slow.set("generating shaders".into()));
        let loaded = load(&mut |step| match step {
            Step::Compiling(Compiling { kernel, schedule, number, count }) => {
                let what = format!("compiling {kernel}/{schedule} {number} of {count}");
                planning = None;
                compiling.get_or_insert_with(|| Slow::new(Some("the driver takes long: "))).set(what);
            }
            Step::Weights { done, total } => {
                (planning, compiling) = (None, None);
                bar.get_or_insert_with(|| Progress::new("loading")).set(done, total);
            }
        });
        let engine = loaded.map_err(|error| match options.context {
            Some(context) if cache_too_large(&error) => CliError::Cache { context, source: Box::new(error) },
            _ => error.into(),
        })?;
        let mut told = self.told.borrow_mut();
        engine.info().unused.iter().filter(|note| told.insert((*note).clone())).for_each(|note| output::note(note));
        Ok(engine)
    }
}

/// Whether the key-value cache, which grows with the context, is what the device has no room for.
fn cache_too_large(error: &ModelError) -> bool {
    match error {
        ModelError::TooSmall(small) => small.cache(),
        ModelError::Compile(CompileError::Schedule { errors, .. }) => {
            errors.iter().any(|e| matches!(e, ScheduleError::BindingTooLarge { tensor, .. } if tensor == "cache"))
        }
        ModelError::Runtime(RuntimeError::BufferTooLarge { name, .. } | RuntimeError::OutOfMemory { name, .. }) => {
            name.contains("cache")
        }
        _ => false,
    }
}

/// An engine that is ready.
pub struct Loaded {
    /// The engine.
    pub engine: Engine,
    /// Bytes of the weights in their files.
    pub stored_bytes: u64,
    /// How long it took.
    pub took: Duration,
}

/// Flags that are wrong together, whatever the model is.
pub fn check_flags(args: &EngineArgs) -> Result<(), CliError> {
    if args.backend == BackendArg::Interp && args.device.adapter.is_some() {
        let message = "--adapter chooses a GPU; found --backend interp, which uses none";
        return Err(CliError::usage(message, "leave one of the two out"));
    }
    if args.variants.kv_pages.is_some() && args.variants.kv != KvArg::Paged {
        let message = "--kv-pages is the size of a pool, and the cache has no pages";
        return Err(CliError::usage(message, "add --kv paged, or leave --kv-pages out"));
    }
    Ok(())
}

/// The engine's options that flags give; the rest as for a plain greedy run.
pub fn options(args: &EngineArgs, tier: TierChoice, context: usize) -> Result<EngineOptions, CliError> {
    Ok(EngineOptions {
        tier,
        backend: args.backend.into(),
        adapter: args.device.adapter.clone().unwrap_or_default(),
        shaders: shaders(args)?,
        target: args.device.target.clone(),
        schedules: schedules(args.schedules.as_deref())?,
        attention: args.variants.attention.into(),
        kv_store: args.variants.kv_store.into(),
        kv: args.variants.kv.into(),
        kv_pages: args.variants.kv_pages,
        tuned: args.tuned.tuned.clone(),
        stores: args.store.store.unwrap_or_default(),
        context: Some(u32::try_from(context).unwrap_or(u32::MAX)),
        profile: false,
        plain_argmax: false,
        wants: Wants::Logits,
        verify: None,
        vocab_limit: None,
        notice: output::note,
    })
}

/// The language of shaders, with the DXC that HLSL needs.
fn shaders(args: &EngineArgs) -> Result<ShaderLanguage, CliError> {
    match (args.shaders, args.backend) {
        (ShadersArg::Wgsl, _) if args.dxc.is_some() => {
            Err(CliError::usage("--dxc is given, and the shaders are WGSL", "add --shaders hlsl, or leave --dxc out"))
        }
        (ShadersArg::Wgsl, _) => Ok(ShaderLanguage::Wgsl),
        (ShadersArg::Hlsl, BackendArg::Interp) => Err(CliError::usage(
            "--shaders hlsl has no meaning with --backend interp, which runs loop IR",
            "leave one of them out",
        )),
        (ShadersArg::Hlsl, BackendArg::Wgpu) => {
            let dxc = Dxc::find(args.dxc.as_deref()).map_err(RuntimeError::from)?;
            Ok(ShaderLanguage::Hlsl(dxc))
        }
    }
}

/// The schedules of a file.
pub fn schedules(path: Option<&Path>) -> Result<Vec<Schedule>, CliError> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let bytes = std::fs::read(path).map_err(|source| CliError::NoSchedules { path: path.into(), source })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..byte].iter().filter(|b| **b == b'\n').count();
        CliError::NotText { path: path.into(), byte, line }
    })?;
    Ok(parse_file(&path.display().to_string(), &text)?)
}
