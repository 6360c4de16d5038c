//! An opened adapter: what it can do, what has been submitted, and whether it is still there.
//!
//! Features are asked for only where the adapter has them, and limits are the adapter's own, lowered by an override. Whatever
//! the device reports on its own (loss, uncaptured errors) is kept and returned by the next call as a [`RuntimeError`]; this
//! crate never panics over it. Deliberately absent: f16 arithmetic, immediates.

use crate::adapter::{AdapterChoice, AdapterKind, AdapterSummary, enumerate};
use crate::dxc::Dxc;
use crate::error::RuntimeError;
use crate::pipeline::Pipelines;
use crate::pipeline_cache::PipelineCache;
use crate::ready::ready;
use crate::target::{FRAGMENTS, TargetSpec, apply_to_limits, from_adapter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tilewright_codegen::target::Target;

/// In which language shaders reach the driver.
#[derive(Clone, Debug, Default)]
pub enum ShaderLanguage {
    /// WGSL, through naga.
    #[default]
    Wgsl,
    /// HLSL: on Vulkan as the SPIR-V that DXC makes of it, on Direct3D 12 as it is.
    Hlsl(Dxc),
}

impl ShaderLanguage {
    /// `wgsl` or `hlsl`.
    pub fn name(&self) -> &'static str {
        match self {
            ShaderLanguage::Wgsl => "wgsl",
            ShaderLanguage::Hlsl(_) => "hlsl",
        }
    }
}

/// A device and its queue; clones are the same device.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
    target: Arc<Target>,
    notes: Arc<[String]>,
}

struct Inner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    adapter: AdapterSummary,
    shaders: ShaderLanguage,
    timestamps: bool,
    health: Arc<Mutex<Health>>,
    pipelines: Pipelines,
    cache: Option<PipelineCache>,
}

#[derive(Default)]
struct Health {
    last: String,
    lost: Option<String>,
    error: Option<String>,
}

impl Device {
    /// Opens the chosen adapter, with its own limits or those of `lowered`, and probes its subgroups.
    ///
    /// # Errors
    /// [`RuntimeError`]: no adapter, no such adapter, an override above the adapter's limits, or the driver's refusal.
    pub fn open(choice: &AdapterChoice, lowered: Option<&TargetSpec>) -> Result<Self, RuntimeError> {
        Device::with_shaders(choice, lowered, ShaderLanguage::Wgsl)
    }

    /// The same, with shaders in the given language.
    ///
    /// # Errors
    /// Those of [`Device::open`], and [`RuntimeError::NoHlsl`] where the adapter takes no HLSL.
    pub fn with_shaders(
        choice: &AdapterChoice,
        lowered: Option<&TargetSpec>,
        shaders: ShaderLanguage,
    ) -> Result<Self, RuntimeError> {
        let mut found = enumerate(&shaders);
        let summaries: Vec<_> = found.iter().map(|(summary, _)| summary.clone()).collect();
        let (adapter, handle) = found.swap_remove(choice.choose(&summaries)?);

        let mut limits = handle.limits();
        let cooperative = handle.cooperative_matrix_properties();
        let mut target = from_adapter(&handle.get_info(), handle.features(), &limits, &cooperative);
        if let ShaderLanguage::Hlsl(_) = shaders {
            // HLSL has no words for them.
            target.fragments.clear();
        }
        if let Some(spec) = lowered {
            target = spec.lower(target)?;
            apply_to_limits(&target, &mut limits);
        }
        let wished = wgpu::Features::SUBGROUP | wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::PIPELINE_CACHE;
        let mut features = handle.features() & wished;
        features.set(wgpu::Features::SUBGROUP, target.subgroups.is_some());
        features.set(FRAGMENTS, !target.fragments.is_empty());
        let experimental_features = match target.fragments.is_empty() {
            true => wgpu::ExperimentalFeatures::disabled(),
            // SAFETY: an experimental feature may have defects in wgpu; what is generated for this one is validated by naga, and
            // a device whose products are wrong is found by `without_wrong_products` before any other shader relies on them.
            false => unsafe { wgpu::ExperimentalFeatures::enabled() },
        };
        if let ShaderLanguage::Hlsl(_) = shaders {
            let takes_hlsl = ["vulkan", "dx12"].contains(&adapter.backend.as_str());
            if !takes_hlsl || !handle.features().contains(wgpu::Features::PASSTHROUGH_SHADERS) {
                return Err(RuntimeError::NoHlsl { adapter });
            }
            features |= wgpu::Features::PASSTHROUGH_SHADERS;
        }
        let timestamps = features.contains(wgpu::Features::TIMESTAMP_QUERY);
        let request = wgpu::DeviceDescriptor {
            label: Some("tilewright"),
            required_features: features,
            experimental_features,
            required_limits: limits,
            // Weights are few and large: the other hint reserves blocks of hundreds of MiB.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let (device, queue) = ready(handle.request_device(&request))
            .map_err(|e| RuntimeError::AdapterRefused { adapter: adapter.name.clone(), reason: e.to_string() })?;

        let health = Arc::new(Mutex::new(Health::default()));
        let on_loss = Arc::clone(&health);
        device.set_device_lost_callback(move |reason, message| {
            lock(&on_loss).lost.get_or_insert(if message.is_empty() { format!("{reason:?}") } else { message });
        });
        let on_error = Arc::clone(&health);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&on_error).error.get_or_insert(error.to_string());
        }));

        let pipelines = Pipelines::default();
        let caches = features.contains(wgpu::Features::PIPELINE_CACHE);
        let cache = caches.then(|| PipelineCache::open(&device, &handle.get_info())).flatten();
        let inner = Arc::new(Inner { device, queue, adapter, shaders, timestamps, health, pipelines, cache });
        let opened = Device { inner, target: Arc::new(target), notes: Arc::new([]) };
        opened.without_odd_subgroups()?.without_wrong_products()
    }

    /// The adapter it was opened on.
    pub fn adapter(&self) -> &AdapterSummary {
        &self.inner.adapter
    }

    /// What kernels may be compiled for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What was found out at opening and is worth a line in `doctor` and `--verbose`.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether a profile can be taken.
    pub fn timestamps(&self) -> bool {
        self.inner.timestamps
    }

    /// Waits for everything submitted so far.
    ///
    /// # Errors
    /// [`RuntimeError::DeviceLost`] or [`RuntimeError::Device`].
    pub fn wait(&self) -> Result<(), RuntimeError> {
        self.wait_for(None)
    }

    /// Gives the device up: everything after this is [`RuntimeError::DeviceLost`].
    pub fn destroy(&self) {
        self.inner.device.destroy();
    }

    /// The device's own complaint, if it has one.
    pub(crate) fn check(&self) -> Result<(), RuntimeError> {
        let mut health = lock(&self.inner.health);
        let last = health.last.clone();
        if let Some(reason) = health.lost.clone() {
            return Err(RuntimeError::DeviceLost { last, reason });
        }
        match health.error.take() {
            Some(reason) => Err(RuntimeError::Device { last, reason }),
            None => Ok(()),
        }
    }

    pub(crate) fn wait_for(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<(), RuntimeError> {
        let wait = wgpu::PollType::Wait { submission_index: submission, timeout: None };
        // wgpu panics when a wait finds the device lost, and a lost device is an error that a caller can handle.
        let waited = catch_unwind(AssertUnwindSafe(|| self.inner.device.poll(wait)));
        if lock(&self.inner.health).error.is_some() {
            // A lost device also refuses what it is asked for, and only a wait for everything tells of the loss itself.
            let _ = catch_unwind(AssertUnwindSafe(|| self.inner.device.poll(wgpu::PollType::wait_indefinitely())));
        }
        self.check()?;
        let last = || lock(&self.inner.health).last.clone();
        match waited {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(RuntimeError::Device { last: last(), reason: error.to_string() }),
            Err(_) => Err(RuntimeError::DeviceLost { last: last(), reason: "the wait for it failed".into() }),
        }
    }

    pub(crate) fn submit(&self, label: &str, commands: Option<wgpu::CommandBuffer>) -> wgpu::SubmissionIndex {
        label.clone_into(&mut lock(&self.inner.health).last);
        self.inner.queue.submit(commands)
    }

    /// Runs `make` and returns the first error that the device reports about it.
    pub(crate) fn scoped<T>(&self, make: impl FnOnce() -> T) -> Result<T, wgpu::Error> {
        let filters = [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation];
        let scopes = filters.map(|filter| self.inner.device.push_error_scope(filter));
        let made = make();
        // Every scope is closed, innermost first, before an error is returned.
        let errors: Vec<_> = scopes.into_iter().rev().filter_map(|scope| ready(scope.pop())).collect();
        errors.into_iter().next().map_or(Ok(made), Err)
    }

    pub(crate) fn wgpu(&self) -> &wgpu::Device {
        &self.inner.device
    }

    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.inner.queue
    }

    pub(crate) fn shaders(&self) -> &ShaderLanguage {
        &self.inner.shaders
    }

    pub(crate) fn pipelines(&self) -> &Pipelines {
        &self.inner.pipelines
    }

    pub(crate) fn cache(&self) -> Option<&PipelineCache> {
        self.inner.cache.as_ref()
    }

    /// What an allocation's failure means.
    pub(crate) fn allocation_error(
        &self,
        name: &str,
        needed: u64,
        allocated: u64,
        planned: u64,
        error: wgpu::Error,
    ) -> RuntimeError {
        let name = name.to_string();
        match error {
            wgpu::Error::OutOfMemory { .. } => {
                RuntimeError::OutOfMemory { name, needed, allocated, planned, available: self.available_bytes() }
            }
            other => self.unexpected(&format!("buffer `{name}`: {other}")),
        }
    }

    /// Bytes that are free for buffers, where the system tells: a software adapter uses the machine's own memory.
    pub(crate) fn available_bytes(&self) -> Option<u64> {
        if self.inner.adapter.kind != AdapterKind::Software {
            return None;
        }
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
    }

    pub(crate) fn unexpected(&self, reason: &str) -> RuntimeError {
        RuntimeError::Device { last: lock(&self.inner.health).last.clone(), reason: reason.to_string() }
    }

    fn without_odd_subgroups(self) -> Result<Self, RuntimeError> {
        let Some(sizes) = self.target.subgroups else { return Ok(self) };
        let Some(odd) = crate::probe::subgroups(&self, sizes)? else { return Ok(self) };
        let target = Target { subgroups: None, fragments: Vec::new(), ..Target::clone(&self.target) };
        let note = format!("subgroup operations are not used: {odd}");
        Ok(Device { target: Arc::new(target), notes: Arc::new([note]), ..self })
    }

    fn without_wrong_products(self) -> Result<Self, RuntimeError> {
        let Some(sizes) = self.target.subgroups.filter(|s| s.min == s.max) else { return Ok(self) };
        let (mut right, mut notes) = (Vec::new(), self.notes.to_vec());
        for side in self.target.fragments.iter().copied() {
            let wrong = match crate::products::wrong(&self, side, sizes.min) {
                Err(RuntimeError::Shader { reason, .. }) => Some(reason),
                tried => tried?,
            };
            match wrong {
                None => right.push(side),
                Some(wrong) => notes.push(format!("cooperative matrices of {side} × {side} are not used: {wrong}")),
            }
        }
        let target = Target { fragments: right, ..Target::clone(&self.target) };
        Ok(Device { target: Arc::new(target), notes: notes.into(), ..self })
    }
}

/// The state behind the lock is valid after every statement, so a panic elsewhere does not spoil it.
fn lock(health: &Mutex<Health>) -> MutexGuard<'_, Health> {
    health.lock().unwrap_or_else(PoisonError::into_inner)
}
