//! A model on a device, planned: its buffers and the graphs over them, before anything is allocated.
//!
//! Prefill runs a chunk of positions through the layers; `last` turns one row of the residual stream into logits; decode
//! does both for one position, and `far` does so where a tier reads a long cache in another way than a short one. The rule: what
//! a step costs is read off here, and its position alone says which graph it runs. Devices and weights are absent.

mod memory;
mod pool;
mod report;

pub use pool::Pages;
pub use report::PlanReport;

use tilewright_codegen::program::Program;
use tilewright_codegen::target::Target;
use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_runtime::plan::{Counters, counters};
use tilewright_runtime::{BufferDecl, BufferId, Graph, Params, Read, Role};

use super::assembly::{Assembly, Placed, Rows};
use super::sampling::Sampling;
use super::{EngineOptions, TierChoice, limits};
use crate::checkpoint::EMBEDDING;
use crate::config::Config;
use crate::error::{ModelError, Narrow};
use crate::kernels::{self, attention_parts};
use crate::qwen2::{ANGLES, HEADS, IDS, KEY, LOGITS, PAIRS, PARTS, Qwen2, ROW, SEEN, TOKEN, TOKENS};
use crate::sampler::position_key;
use crate::tiers::{self, Tier};
use crate::tune::{Site, Tuning};
use crate::variants::{self, Attention, Kv, KvStore};

/// Which of a plan's graphs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Layers for a chunk of positions.
    Prefill,
    /// Logits of one row of a chunk.
    Last,
    /// Everything for one position.
    Decode,
    /// The same behind so many positions that the tier's split counts.
    Far,
}

impl Stage {
    /// Whether it is a step of one position.
    pub fn decodes(self) -> bool {
        matches!(self, Stage::Decode | Stage::Far)
    }
}

/// Steps of a few positions, of each of which the result comes back.
pub struct Verify {
    /// How many positions.
    pub rows: u32,
    /// The graph behind few positions and, where the tier has one, that behind many.
    pub graphs: Vec<Graph>,
    /// The greedy token of each position, if the device picks it.
    pub tokens: Option<BufferId>,
    /// Bytes from the logits of one position to those of the next.
    pub stride: u64,
}

/// The plan of a model.
pub struct Plan {
    /// The tier that was taken.
    pub tier: &'static Tier,
    /// Which attention its steps run.
    pub attention: variants::Steps,
    /// How keys and values lie in the cache.
    pub cache: KvStore,
    /// What is kept of them.
    pub kv: Kv,
    /// The pool, where they lie in pages.
    pub pages: Option<Pages>,
    /// The attention that was asked for, if one was.
    asked: Option<Attention>,
    /// Query heads of a position.
    heads: u32,
    /// Graphs in the order of [`Stage`]; the last one only where there is a split that some step of the context needs.
    pub graphs: Vec<Graph>,
    /// [`Stage::Prefill`] once more without schedules that narrow to f16, where the first one has some.
    pub plain: Option<Graph>,
    /// Steps of a few positions by decode's schedules, where they were asked for.
    pub verify: Option<Verify>,
    /// Weights in the order of their first use.
    pub weights: Vec<Placed>,
    /// The rotary table.
    pub angles: Placed,
    /// Token ids of a step.
    pub ids: BufferId,
    /// The row that [`Stage::Last`] takes.
    pub row: BufferId,
    /// Logits of one position.
    pub logits: BufferId,
    /// The token, if the device picks it.
    pub token: Option<BufferId>,
    /// How the device samples, if it does.
    pub sampling: Option<Sampling>,
    /// The best logits of one position, if they are what comes back.
    pub pairs: Option<BufferId>,
    /// Positions of a chunk.
    pub chunk: u32,
    /// Positions of the cache.
    pub context: u32,
    /// Ids from here on are never picked.
    pub limit: u32,
    /// Logits of a position.
    pub vocab: u32,
    /// What is to be said of the user's schedules: which are not used, and why.
    pub unused: Vec<String>,
    /// Where schedules are used.
    pub sites: Vec<Site>,
    /// Which tuned schedules were passed over, and why.
    pub passed: Vec<String>,
}

impl Plan {
    /// Plans one tier.
    fn new(
        config: &Config,
        head: &str,
        tier: &'static Tier,
        target: &Target,
        options: &EngineOptions,
    ) -> Result<Self, ModelError> {
        let tuned = match &options.tuned {
            Tuning::Found(found) if options.tier == TierChoice::Auto => Some(&found.tuned),
            _ => None,
        };
        let fitted = variants::fitted(tier, options.attention, options.kv_store);
        let mut a = Assembly::new(target, &fitted, &options.schedules, config.head_dim)
            .tuned(tuned)
            .stores(options.stores.settled(head == EMBEDDING)?)
            .cached(options.kv_store.storage())
            .paged(Pages::of(config, options)?)?;
        let planned = Self::assemble(&mut a, config, head, tier, options);
        let (sites, passed) = a.sites();
        let mut plan = a.finish(planned)?;
        let passed = passed.into_iter().map(|why| format!("a tuned schedule is not used: {why}"));
        (plan.sites, plan.passed) = (sites, passed.collect());
        Ok(plan)
    }

    /// The graphs of a plan.
    fn assemble(
        a: &mut Assembly,
        config: &Config,
        head: &str,
        tier: &'static Tier,
        options: &EngineOptions,
    ) -> Result<Self, ModelError> {
        let context = context(config, options);
        let chunk = tier.chunk.min(context);
        let greedy = tier.device_argmax && (options.plain_argmax || options.wants.is_plain_argmax());
        let sampling = options.wants.on_device(tier).filter(|_| !greedy && options.verify.is_none());
        let token = greedy || sampling.is_some_and(|s| !s.pairs);
        let limit = limit(config, options);
        // Rounds grow with positions in a step and before it, and the context bounds both together.
        let (attention, heads) = (variants::Steps::of(tier, options.attention), config.num_attention_heads as u32);
        let step = |pos: u32, rows: u32| params(attention, heads, pos, rows, limit);
        let longest = |most: u32| (1..=most).rev().map(|rows| step(context - rows, rows)).collect();
        a.begin(Rows::Chunk(chunk), longest(chunk));
        let mut model = Qwen2::new(a, config, context as usize, attention.near);
        let h = model.layers()?;
        model.note(sampling.as_ref())?;
        let prefill = a.end();
        a.begin(Rows::One, longest(1));
        let mut model = Qwen2::new(a, config, context as usize, attention.near);
        let row = model.last_row(&h, chunk as usize)?;
        model.head(&row, head, greedy)?;
        sampling.iter().try_for_each(|sampling| model.sample(sampling))?;
        let mut graphs = vec![prefill, a.end()];
        let near = attention.far.map_or(context, |most| most.min(context));
        let kinds = [(near, attention.near), (context, Attention::Split)];
        let both = || kinds.into_iter().take(if near < context { 2 } else { 1 });
        let whole = |a: &mut Assembly, attention: Attention| {
            let mut model = Qwen2::new(a, config, context as usize, attention);
            let h = model.layers()?;
            model.note(sampling.as_ref())?;
            match greedy {
                true => model.greedy(&h, head)?,
                false => model.head(&h, head, false)?,
            }
            sampling.iter().try_for_each(|sampling| model.sample(sampling))?;
            Ok::<_, ModelError>(a.end())
        };
        for (most, attention) in both() {
            a.begin(Rows::One, vec![step(most - 1, 1)]);
            graphs.push(whole(a, attention)?);
        }
        let mut few = Vec::new();
        for (_, attention) in both().filter(|_| options.verify.is_some()) {
            a.begin(Rows::Few(options.verify.unwrap_or(1)), Vec::new());
            few.push(whole(a, attention)?);
        }

        // Without what overflows f16: for prompts whose activations do.
        let plain = match a.widen() {
            true => {
                a.begin(Rows::Chunk(chunk), longest(chunk));
                let mut model = Qwen2::new(a, config, context as usize, attention.near);
                model.layers()?;
                model.note(sampling.as_ref())?;
                Some(a.end())
            }
            false => None,
        };

        let tokens = a.find(TOKENS).map(|placed| placed.buffers[0]);
        let place = |name: &str| a.find(name).cloned().ok_or_else(|| ModelError::Unplanned { tensor: name.into() });
        Ok(Plan {
            tier,
            attention,
            asked: options.attention,
            cache: options.kv_store,
            kv: options.kv,
            pages: Pages::placed(a, config, options)?,
            heads,
            weights: a.of_role(Role::Weight),
            angles: place(ANGLES)?,
            ids: place(IDS)?.buffers[0],
            row: place(ROW)?.buffers[0],
            logits: place(LOGITS)?.buffers[0],
            token: if token { Some(place(if tier.ahead { IDS } else { TOKEN })?.buffers[0]) } else { None },
            pairs: a.find(PAIRS).map(|placed| placed.buffers[0]),
            sampling,
            chunk,
            context,
            limit,
            vocab: config.vocab_size as u32,
            unused: Vec::new(),
            plain: plain.map(|ops| a.graph(ops)),
            verify: match options.verify {
                Some(rows) => Some(Verify {
                    rows,
                    graphs: few.into_iter().map(|ops| a.graph(ops)).collect(),
                    tokens,
                    stride: place(LOGITS)?.layout.row_bytes(),
                }),
                None => None,
            },
            sites: Vec::new(),
            passed: Vec::new(),
            graphs: graphs.into_iter().map(|ops| a.graph(ops)).collect(),
        })
    }

    /// The best tier that `options` allow and `target` can run, and why better ones were passed over. Without `half`,
    /// tiers with f16 weights are passed over.
    ///
    /// # Errors
    /// An impossible option; a device that is too small; else the asked tier's errors, or those of the best tier where none is
    /// possible.
    pub fn choose(
        config: &Config,
        head: &str,
        target: &Target,
        options: &EngineOptions,
        half: bool,
    ) -> Result<(Self, Vec<String>), ModelError> {
        check(config, options)?;
        options.stores.settled(head == EMBEDDING)?;
        let mut notes = Vec::new();
        let last = tiers::count() - 1;
        let tier = match options.tier {
            TierChoice::Number(found) if found > last => return Err(ModelError::Tier { found, last }),
            TierChoice::Number(n) => {
                let tier = tiers::tier(n);
                let new = |target: &Target| Self::new(config, head, tier, target, options);
                let mut plan = new(target).map_err(|error| match limits::lack(tier, &error, options) {
                    Some(lack) => limits::too_small(vec![lack], target, options, &|other| new(other).is_ok()),
                    None => error,
                })?;
                plan.unused = unused(&plan, options);
                return Ok((plan, notes));
            }
            TierChoice::Auto => last,
        };
        let (mut errors, mut lacks) = (Vec::new(), Some(Vec::new()));
        let tiers = || tiers::all()[..=tier].iter().rev().filter(|t| half || t.weights == Default::default());
        for tier in tiers() {
            match Self::new(config, head, tier, target, options) {
                Ok(mut plan) => {
                    // The tier runs because it has no use for a schedule of the user's: that is no way out.
                    let lost = |e: &ModelError| limits::own_kernel(e, options).is_some_and(|k| !plan.runs(k));
                    if let Some(at) = errors.iter().position(lost) {
                        return Err(errors.swap_remove(at));
                    }
                    plan.unused = unused(&plan, options);
                    notes.extend(plan.passed.iter().cloned());
                    return Ok((plan, notes));
                }
                Err(error) => {
                    lacks = lacks.zip(limits::lack(tier, &error, options)).map(|(mut all, lack)| {
                        all.push(lack);
                        all
                    });
                    notes.push(format!("tier {} ({}) is not possible here: {error}", tier.number, tier.name));
                    errors.push(error);
                }
            }
        }
        match lacks {
            Some(lacks) if !lacks.is_empty() => {
                let runs = |other: &Target| tiers().any(|tier| Self::new(config, head, tier, other, options).is_ok());
                Err(limits::too_small(lacks, target, options, &runs))
            }
            _ => Err(errors.into_iter().next().unwrap_or(ModelError::Tier { found: 0, last })),
        }
    }

    /// All buffers.
    pub fn buffers(&self) -> &[BufferDecl] {
        &self.graphs[0].buffers
    }

    /// Whether an op runs a kernel.
    fn runs(&self, kernel: &str) -> bool {
        self.programs().any(|program| program.kernel == kernel)
    }

    /// Every program, as often as an op uses it.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.graphs.iter().flat_map(|graph| &graph.ops).map(|op| &*op.program)
    }

    /// What is stored in 16 bits.
    pub fn narrow(&self) -> Narrow {
        let weights = self.weights.iter().any(|placed| placed.layout.storage != Storage::F32);
        Narrow { weights, cache: self.cache == KvStore::F16 }
    }

    /// The graph of a stage.
    pub fn graph(&self, stage: Stage) -> &Graph {
        &self.graphs[stage as usize]
    }

    /// The stage of a step of one position behind `pos` others.
    pub fn decode_stage(&self, pos: u32) -> Stage {
        let far = self.attention.far.is_some_and(|most| pos >= most);
        if far && self.graphs.len() > Stage::Far as usize { Stage::Far } else { Stage::Decode }
    }

    /// How many steps of one position from `pos` read the cache as the first of them does.
    pub fn alike(&self, pos: u32) -> u32 {
        match self.attention.far {
            Some(most) if pos < most => most.min(self.context) - pos,
            _ => self.context - pos,
        }
    }

    /// Whether a stage leaves what it makes in a buffer.
    pub fn writes(&self, stage: Stage, id: BufferId) -> bool {
        self.graph(stage).ops.iter().any(|op| {
            let tensors = op.program.tensors.iter().zip(&op.bindings);
            tensors.into_iter().any(|(tensor, ids)| tensor.written && ids.contains(&id))
        })
    }

    /// Parameters of a step of `rows` positions from `pos`.
    pub fn params(&self, pos: u32, rows: u32) -> Params {
        let mut params = params(self.attention, self.heads, pos, rows, self.limit);
        if let Some(sampling) = &self.sampling {
            params.insert(KEY.into(), position_key(sampling.params.seed, pos + rows));
        }
        params
    }

    /// What a step brings back: the token, the best logits, or all of them.
    pub fn reads(&self) -> Read {
        match (self.token, self.pairs, &self.sampling) {
            (Some(buffer), ..) => Read { buffer, offset: 0, bytes: 4 },
            (None, Some(buffer), Some(s)) => Read { buffer, offset: 0, bytes: s.words() as u64 * 4 },
            _ => self.logits_read(),
        }
    }

    /// The logits of one position.
    pub fn logits_read(&self) -> Read {
        Read { buffer: self.logits, offset: 0, bytes: u64::from(self.vocab) * 4 }
    }

    /// What a decode step at position `pos` costs.
    ///
    /// # Errors
    /// None for a graph that was planned here.
    pub fn counters(&self, pos: u32) -> Result<Counters, ModelError> {
        Ok(counters(self.graph(self.decode_stage(pos)), &self.params(pos, 1), &[self.reads()])?)
    }
}

/// Parameters of a step; in how many parts it reads the cache is told where a plan reads it in parts, and the size of a table of
/// scores where it has one.
fn params(attention: variants::Steps, heads: u32, pos: u32, rows: u32, limit: u32) -> Params {
    let seen = pos + rows;
    let parts = attention.runs(Attention::Split).then(|| (PARTS, seen.div_ceil(attention_parts::CHUNK)));
    let table = attention.runs(Attention::Naive).then_some([(SEEN, seen), (HEADS, heads * rows)]);
    let all = [("pos", pos), ("T", rows), ("limit", limit)].into_iter().chain(parts).chain(table.into_iter().flatten());
    all.map(|(name, value)| (name.to_string(), value)).collect()
}

/// Positions of a sequence.
fn context(config: &Config, options: &EngineOptions) -> u32 {
    options.context.unwrap_or(u32::try_from(config.context()).unwrap_or(u32::MAX))
}

/// Ids from here on are never picked.
fn limit(config: &Config, options: &EngineOptions) -> u32 {
    let vocab = config.vocab_size as u32;
    options.vocab_limit.map_or(vocab, |n| n.clamp(1, vocab))
}

fn check(config: &Config, options: &EngineOptions) -> Result<(), ModelError> {
    options.wants.validate()?;
    if !config.head_dim.is_multiple_of(4) {
        return Err(ModelError::HeadDim { found: config.head_dim });
    }
    let most = config.context();
    if let Some(found) = options.context.filter(|c| *c == 0 || *c as usize > most) {
        return Err(ModelError::Context { found, most });
    }
    Pages::of(config, options)?;
    let kernels: Vec<String> = kernels::all().into_iter().map(|e| e.kernel.name).collect();
    let unknown = options.schedules.iter().filter(|s| !kernels.contains(&s.kernel)).map(|s| {
        let at = &s.origin.start;
        let place = match at.file.as_str() {
            "" => String::new(),
            file => format!("{file}:{}:{}: ", at.line, at.column),
        };
        let (schedule, kernel) = (s.name.clone(), s.kernel.clone());
        ModelError::UnknownKernel { place, schedule, kernel, known: kernels.join(", ") }
    });
    let mut unknown: Vec<ModelError> = unknown.collect();
    match unknown.len() {
        0 => Ok(()),
        1 => Err(unknown.swap_remove(0)),
        _ => Err(ModelError::Several(unknown)),
    }
}

/// The user's schedules that do not count: all but the last for a kernel, and those for kernels that the plan does not run.
fn unused(plan: &Plan, options: &EngineOptions) -> Vec<String> {
    let (all, tier) = (&options.schedules, plan.tier.number);
    let note = |(i, own): (usize, &Schedule)| {
        let (name, kernel) = (&own.name, &own.kernel);
        if let Some(later) = all[i + 1..].iter().find(|s| s.kernel == own.kernel) {
            return Some(format!("schedule `{name}` is not used: `{}` for `{kernel}` comes after it", later.name));
        }
        (!plan.runs(kernel))
            .then(|| format!("schedule `{name}` is not used: tier {tier} does not run kernel `{kernel}`"))
    };
    all.iter().enumerate().filter_map(note).collect()
}
