//! A model that runs: weights on a device, a key-value cache, and steps that turn ids into logits or a token.
//!
//! The rule: a step is a planned graph with new parameters; nothing is compiled or allocated after loading. Sampling and
//! text are absent: they belong to whoever holds the engine.

mod ahead;
pub mod assembly;
mod cache;
mod conflict;
mod info;
mod interp;
mod limits;
mod machine;
mod options;
mod pages;
mod plan;
mod probe;
pub mod sampling;
mod step;
mod verify;

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use tilewright_codegen::target::Target;
use tilewright_dsl::schedule::Storage;
use tilewright_runtime::plan::Counters;
use tilewright_runtime::{Device, Read};

use crate::checkpoint::{EMBEDDING, HEAD, Stacked, WeightSource};
use crate::config::Config;
use crate::error::ModelError;
use crate::rope::RopeTables;
use crate::stores::{Lost, Stores};
use crate::tune::rig::Rig;
use crate::tune::{Site, Tuning};
use crate::upload;
use cache::Cache;
pub use cache::SequenceId;
pub use conflict::{StorageConflict, Use};
pub use info::{EngineInfo, Loading, TunedUse};
pub use limits::{Lack, TooSmall};
use machine::Machine;
pub use options::{Backend, EngineOptions, TierChoice};
pub use pages::{PAGE, PagesError, PagesUse};
pub use plan::{Plan, PlanReport, Stage};
pub use probe::Probed;
pub use sampling::{Top, Wants};
pub use step::{ProfileTable, Progress, Step};

/// Positions of rotary tables that are made at once.
const TABLE_ROWS: usize = 4096;

/// A model on a device.
pub struct Engine {
    plan: Plan,
    machine: Machine,
    info: EngineInfo,
    position: u32,
    cache: Cache,
    /// Whether prefill runs without schedules that narrow to f16, since activations were too large for it.
    plain: bool,
    notice: fn(&str),
}

impl Engine {
    /// Plans, allocates and fills a model; `progress` hears of bytes of weights, done and in all.
    ///
    /// # Errors
    /// Impossible options, errors of schedules, of the device and of the weights.
    pub fn load(
        config: &Config,
        weights: &dyn WeightSource,
        options: &EngineOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Engine, ModelError> {
        Self::load_watched(config, weights, options, &mut |step| {
            if let Progress::Weights { done, total } = step {
                progress(done, total);
            }
        })
    }

    /// The same; `progress` hears of shaders too.
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn load_watched(
        config: &Config,
        weights: &dyn WeightSource,
        options: &EngineOptions,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Engine, ModelError> {
        let start = Instant::now();
        let device = match options.backend {
            Backend::Wgpu => {
                let shaders = options.shaders.clone();
                Some(Device::with_shaders(&options.adapter, options.target.as_ref(), shaders)?)
            }
            Backend::Interp => None,
        };
        Self::load_on(device, start, config, weights, options, progress)
    }

    /// Another model on the device of this one.
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn load_beside(
        &self,
        config: &Config,
        weights: &dyn WeightSource,
        options: &EngineOptions,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Engine, ModelError> {
        let device = self.machine.device().map(|(device, _)| device.clone());
        Self::load_on(device, Instant::now(), config, weights, options, progress)
    }

    /// Loads a model on a device that was opened from `clock` on, or on the host.
    fn load_on(
        device: Option<Device>,
        mut clock: Instant,
        config: &Config,
        weights: &dyn WeightSource,
        options: &EngineOptions,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Engine, ModelError> {
        let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed();
        let target = match &device {
            Some(device) => device.target().clone(),
            None => interpreted(options)?,
        };
        let tuned = match &device {
            Some(device) => options.tuned.found(device.adapter())?,
            None => Arc::default(),
        };
        let opened = lap();
        let told = tuned.notes.clone();
        let asked = match &options.tuned {
            Tuning::File(path) => Some(path.as_path()),
            _ => None,
        };
        let stores = options.stores.over(weights.stores())?;
        let wants = options.wants.settled(device.as_ref().map(|d| d.adapter().kind));
        let options = &EngineOptions { tuned: Tuning::Found(Arc::clone(&tuned)), stores, wants, ..options.clone() };
        let (mut plan, mut notes) = Plan::choose(config, weights.head(), &target, options, true)?;
        notes.extend(told);
        let planned = lap();
        let mut machine = Machine::new(device.as_ref(), &plan, options.profile, progress)?;
        let made = lap();
        let filled = fill(&mut machine, &plan, config, weights, progress);
        let half = plan.tier.weights == Storage::F16 && options.stores == Stores::default();
        let lost = match filled {
            Err(error @ ModelError::HalfOverflow { .. }) if options.tier == TierChoice::Auto && half => {
                drop(machine);
                let tier = plan.tier;
                notes.push(format!("tier {} ({}) is not possible here: {error}", tier.number, tier.name));
                let (again, more) = Plan::choose(config, weights.head(), &target, options, false)?;
                notes.extend(more);
                plan = again;
                machine = Machine::new(device.as_ref(), &plan, options.profile, progress)?;
                fill(&mut machine, &plan, config, weights, progress)?
            }
            other => other?,
        };
        let loading = Loading { device: opened, plan: planned, pipelines: made, weights: lap() };
        if let Some(device) = &device {
            // What a device has and does not do rightly.
            device.notes().iter().for_each(|note| (options.notice)(note));
            notes.extend(device.notes().iter().cloned());
        }
        if options.profile && machine.profile().is_none() {
            notes.push("no times are taken: the adapter has no timestamps".into());
        }
        if plan.tier.device_argmax && plan.token.is_none() && plan.pairs.is_none() {
            notes.push("sampling needs all logits: they are read back, and the host picks the token".into());
        }
        let adapter = device.map_or("interpreter".to_string(), |d| d.adapter().to_string());
        let shaders = if options.backend == Backend::Interp { "loops" } else { options.shaders.name() };
        let used = plan.sites.iter().filter(|site| tuned.tuned.find(&site.key).is_some_and(|e| site.uses(e)));
        let used = TunedUse { sites: used.count(), source: tuned.source.clone() };
        tuned.told(asked, options.tier, used.sites, &plan.passed).iter().for_each(|note| (options.notice)(note));
        let info = EngineInfo { loading, tuned: used, lost, ..info::info(plan.report(notes)?, adapter, shaders) };
        let cache = Cache::new(&plan);
        Ok(Engine { plan, machine, info, position: 0, cache, plain: false, notice: options.notice })
    }

    /// Plans a model for a device that need not be there.
    ///
    /// # Errors
    /// Impossible options and errors of schedules.
    pub fn plan(config: &Config, target: &Target, options: &EngineOptions) -> Result<PlanReport, ModelError> {
        let head = if config.tie_word_embeddings { EMBEDDING } else { HEAD };
        let (plan, notes) = Plan::choose(config, head, target, options, true)?;
        plan.report(notes)
    }

    /// Appends ids after the current position; the result is for the last of them.
    ///
    /// # Errors
    /// No ids or no room, ids beyond the embedding, the device's errors, logits that are not finite.
    pub fn prefill(&mut self, ids: &[u32]) -> Result<Step, ModelError> {
        self.check(ids)?;
        let start = self.position;
        let step = self.append(ids);
        if self.widen(start, ids, &step) { self.append(ids) } else { step }
    }

    fn append_ids(&mut self, ids: &[u32]) -> Result<Step, ModelError> {
        self.make_room(self.position, ids.len() as u32)?;
        let read = self.plan.reads();
        let mut bytes = Vec::new();
        let count = ids.len().div_ceil(self.plan.chunk as usize);
        for (i, chunk) in ids.chunks(self.plan.chunk as usize).enumerate() {
            let last = chunk.len() as u32 - 1;
            let rows = if i + 1 == count { last..last + 1 } else { 0..0 };
            bytes = self.run(chunk, rows, read)?;
        }
        let bytes = bytes.pop().unwrap_or_default();
        let found = match (&self.plan.sampling, self.plan.token) {
            (Some(sampling), None) => {
                sampling.top(&bytes, self.plan.limit).map(|top| Step { top: Some(top), ..Step::default() })
            }
            (_, Some(_)) => {
                let token = bytes.first_chunk().map(|b| u32::from_le_bytes(*b)).filter(|t| *t < self.plan.limit);
                token.map(|token| Step { token: Some(token), ..Step::default() })
            }
            (None, None) => {
                let logits = self.logits(&bytes, self.position - 1)?;
                Some(Step { logits: Some(logits), ..Step::default() })
            }
        };
        match found {
            Some(step) => Ok(step),
            None => {
                // Once more for the last id, with its logits, which say which of them it is.
                self.position -= 1;
                let logits = self.plan.logits_read();
                let bytes = self.run(&ids[ids.len() - 1..], 0..1, logits)?.pop().unwrap_or_default();
                self.logits(&bytes, self.position - 1)?;
                let (position, narrow) = (self.position as usize - 1, self.plan.narrow());
                Err(ModelError::NotFiniteToken { position, narrow })
            }
        }
    }

    /// Appends ids and gives the logits of each.
    ///
    /// # Errors
    /// As [`Engine::prefill`].
    pub fn prefill_all(&mut self, ids: &[u32]) -> Result<Vec<Vec<f32>>, ModelError> {
        self.check(ids)?;
        let start = self.position;
        let all = self.append_all(ids);
        if self.widen(start, ids, &all) { self.append_all(ids) } else { all }
    }

    fn append_all(&mut self, ids: &[u32]) -> Result<Vec<Vec<f32>>, ModelError> {
        let count = ids.len();
        let ids = &self.ids_to_run(ids)[..];
        self.make_room(self.position, ids.len() as u32)?;
        let read = self.plan.logits_read();
        let mut all = Vec::with_capacity(count);
        // What was computed before gives no logits again.
        let mut known = (ids.len() - count) as u32;
        for chunk in ids.chunks(self.plan.chunk as usize) {
            let rows = chunk.len() as u32;
            let first = known.min(rows);
            known -= first;
            for bytes in self.run(chunk, first..rows, read)? {
                let position = all.len() as u32 + self.position - chunk.len() as u32;
                all.push(self.logits(&bytes, position)?);
            }
        }
        Ok(all)
    }

    /// Appends one id.
    ///
    /// # Errors
    /// As [`Engine::prefill`].
    pub fn decode(&mut self, id: u32) -> Result<Step, ModelError> {
        self.prefill(&[id])
    }

    /// Forgets all positions.
    pub fn reset(&mut self) {
        self.clear();
    }

    /// Positions in use.
    pub fn position(&self) -> u32 {
        self.position
    }

    /// Positions there are.
    pub fn context(&self) -> u32 {
        self.plan.context
    }

    /// What is known of the loaded model.
    pub fn info(&self) -> &EngineInfo {
        &self.info
    }

    /// What the last step of one position really did, where a device runs it.
    pub fn counted(&self) -> Option<Counters> {
        self.machine.counted()
    }

    /// Where schedules are used.
    pub fn sites(&self) -> &[Site] {
        &self.plan.sites
    }

    /// What schedules are raced on; none without a device.
    pub fn rig(&self) -> Option<Rig> {
        let (device, buffers) = self.machine.device()?;
        Some(Rig::new(device, buffers, &self.plan))
    }

    /// Times so far, if they are taken.
    pub fn profile(&self) -> Option<ProfileTable> {
        let (profile, copy) = self.machine.profile()?;
        Some(ProfileTable { profile: profile.clone(), copy_gb_per_s: *copy })
    }

    /// Runs at most a chunk of ids, and brings back `read` for each of these rows of it.
    fn run(&mut self, ids: &[u32], rows: Range<u32>, read: Read) -> Result<Vec<Vec<u8>>, ModelError> {
        let count = ids.len() as u32;
        let params = self.plan.params(self.position, count);
        self.make_room(self.position, count)?;
        self.machine.write(self.plan.ids, ids)?;
        let mut bytes = Vec::with_capacity(rows.len());
        let single = self.plan.decode_stage(self.position);
        // Where the device picks the token, a step of one position may leave no logits.
        if count == 1 && (rows.is_empty() || self.plan.writes(single, read.buffer)) {
            let reads = if rows.is_empty() { &[][..] } else { &[read] };
            bytes = self.machine.step(single, &params, reads)?;
        } else {
            match self.plan.plain.as_ref().filter(|_| self.plain) {
                Some(plain) => self.machine.once(plain.clone(), &params)?,
                None => drop(self.machine.step(Stage::Prefill, &params, &[])?),
            }
            for row in rows {
                self.machine.write(self.plan.row, &[row])?;
                bytes.extend(self.machine.step(Stage::Last, &params, &[read])?);
            }
        }
        self.cache.fed(self.position, ids);
        self.position += count;
        Ok(bytes)
    }

    /// Whether a prefill is to run again from `start` without schedules that narrow: logits that are not finite may come from
    /// activations beyond f16.
    fn widen<T>(&mut self, start: u32, ids: &[u32], done: &Result<T, ModelError>) -> bool {
        let infinite = matches!(done, Err(ModelError::NotFinite { .. } | ModelError::NotFiniteToken { .. }));
        let again = infinite && ids.len() > 1 && !self.plain && self.plan.plain.is_some();
        if again {
            (self.plain, self.position) = (true, start);
            (self.notice)("activations are too large for f16: prefill goes on in f32, which is slower");
        }
        again
    }

    fn check(&self, ids: &[u32]) -> Result<(), ModelError> {
        let (position, asked, context) = (self.position as usize, ids.len(), self.plan.context as usize);
        if asked == 0 {
            return Err(ModelError::NoTokens);
        }
        if position + asked > context {
            return Err(ModelError::ContextFull { position, asked, context });
        }
        match ids.iter().find(|id| **id >= self.plan.vocab) {
            Some(&found) => Err(ModelError::TokenTooLarge { found, vocab: self.plan.vocab as usize }),
            None => Ok(()),
        }
    }

    /// Logits of a position from their bytes.
    fn logits(&self, bytes: &[u8], position: u32) -> Result<Vec<f32>, ModelError> {
        let logits: Vec<f32> = bytemuck::pod_collect_to_vec(bytes);
        match logits.iter().position(|l| !l.is_finite()) {
            None => Ok(logits),
            Some(at) => {
                let (token, value) = (at as u32, logits[at]);
                let narrow = self.plan.narrow();
                Err(ModelError::NotFinite { position: position as usize, token, value, narrow })
            }
        }
    }
}

/// Sends weights and rotary tables.
fn fill(
    machine: &mut Machine,
    plan: &Plan,
    config: &Config,
    weights: &dyn WeightSource,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Lost>, ModelError> {
    let mut lost = Vec::new();
    machine.fill(&mut |sink| {
        let context = plan.context as usize;
        for first in (0..context).step_by(TABLE_ROWS) {
            let table = RopeTables::new(config, first..context.min(first + TABLE_ROWS)).rows();
            let words = upload::encode(&plan.angles.layout, &table)?.words;
            let offset = first as u64 * plan.angles.layout.row_bytes();
            sink(plan.angles.buffers[0], offset, bytemuck::cast_slice(&words))?;
        }
        lost = upload::weights(&Stacked(weights), &plan.weights, sink, &mut |done, total| {
            progress(Progress::Weights { done, total })
        })?;
        Ok(())
    })?;
    Ok(lost)
}

/// What the interpreter's programs are compiled for.
fn interpreted(options: &EngineOptions) -> Result<Target, ModelError> {
    let target = Target { name: "interpreter".into(), ..Target::matrix() };
    Ok(match &options.target {
        Some(spec) => spec.lower(target)?,
        None => target,
    })
}
