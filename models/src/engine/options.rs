//! How a model is to run, as whoever loads it says.

use tilewright_dsl::schedule::Schedule;
use tilewright_runtime::{AdapterChoice, ShaderLanguage, TargetSpec};

use super::Wants;
use crate::stores::Stores;
use crate::tune::Tuning;
use crate::variants::{Attention, Kv, KvStore};

/// What runs the generated kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// A GPU through wgpu.
    Wgpu,
    /// The compiler's interpreter: no adapter, and slow.
    Interp,
}

/// Which tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TierChoice {
    /// The best that the adapter and the weights allow.
    Auto,
    /// This one.
    Number(usize),
}

/// How a model is to run.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The tier.
    pub tier: TierChoice,
    /// What runs the kernels.
    pub backend: Backend,
    /// Which adapter.
    pub adapter: AdapterChoice,
    /// In which language kernels reach the adapter.
    pub shaders: ShaderLanguage,
    /// Limits of a smaller device to be played.
    pub target: Option<TargetSpec>,
    /// Schedules that take the place of the tier's, by their kernel.
    pub schedules: Vec<Schedule>,
    /// How attention reads the cache; as the tier does, if not given.
    pub attention: Option<Attention>,
    /// How keys and values lie in the cache.
    pub kv_store: KvStore,
    /// What is kept of keys and values from step to step.
    pub kv: Kv,
    /// Pages of a paged cache; those of one sequence of the context, if not given.
    pub kv_pages: Option<u32>,
    /// Measured schedules, which take the tier's place where [`TierChoice::Auto`] chooses it.
    pub tuned: Tuning,
    /// How matrices are stored, where that is not the tier's to say.
    pub stores: Stores,
    /// Positions of the cache; the model's context if not given.
    pub context: Option<u32>,
    /// Whether to take times of decode steps.
    pub profile: bool,
    /// Whether the caller wants the largest logit's token and nothing else, so that the device may pick it.
    pub plain_argmax: bool,
    /// Plans steps of so many positions by decode's schedules, for [`super::Engine::verify`].
    pub verify: Option<u32>,
    /// What the caller takes of a step where it samples.
    pub wants: Wants,
    /// Ids from here on are never picked by the device.
    pub vocab_limit: Option<u32>,
    /// Hears what a user should know of a run, each thing once.
    pub notice: fn(&str),
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            tier: TierChoice::Auto,
            backend: Backend::Wgpu,
            adapter: AdapterChoice::Best,
            shaders: ShaderLanguage::default(),
            target: None,
            schedules: Vec::new(),
            attention: None,
            kv_store: KvStore::F32,
            kv: Kv::Contiguous,
            kv_pages: None,
            tuned: Tuning::Off,
            stores: Stores::default(),
            context: None,
            profile: false,
            plain_argmax: false,
            verify: None,
            wants: Wants::Logits,
            vocab_limit: None,
            notice: |_| (),
        }
    }
}
