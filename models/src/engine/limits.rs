//! A device that is too small for the program's own schedules: which limit of it, and how much would do.
//!
//! From the errors of tiers it makes one that speaks of the device, or of the target that plays it, and not of schedules, which
//! are not the user's to change. The rule: a value that is said to be enough has been tried. Absent: errors of the user's own
//! schedules, which stay what they are.

use std::fmt;

use tilewright_codegen::CompileError;
use tilewright_codegen::error::ScheduleError;
use tilewright_codegen::target::Target;

use super::EngineOptions;
use crate::error::ModelError;
use crate::tiers::Tier;

/// Why no tier that was asked for runs on a device.
#[derive(Clone, Debug)]
pub struct TooSmall {
    /// The device's name.
    pub device: String,
    /// Whether `--target` made it as small as it is.
    pub by_target: bool,
    /// What each tier that was tried lacks, the best tier first; at least one.
    pub tiers: Vec<Lack>,
    /// A value of one limit with which a tier runs, as `key=value`, where one is known.
    pub enough: Option<String>,
}

/// What a device lacks for a tier.
#[derive(Clone, Debug)]
pub struct Lack {
    /// The tier.
    pub tier: usize,
    /// Its name.
    pub name: &'static str,
    /// The kernel that does not run.
    pub kernel: String,
    /// Its errors, all of them limits of the device.
    pub errors: Vec<ScheduleError>,
}

impl TooSmall {
    /// Whether the key-value cache, which grows with the context, is what some tier has no room for.
    pub fn cache(&self) -> bool {
        let cache = |e: &ScheduleError| matches!(e, ScheduleError::BindingTooLarge { tensor, .. } if tensor == "cache");
        self.tiers.iter().flat_map(|lack| &lack.errors).any(cache)
    }
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.by_target {
            true => f.write_str("--target is too small for ")?,
            false => write!(f, "device `{}` is too small for ", self.device)?,
        }
        match &self.tiers[..] {
            [one] => write!(f, "{one}")?,
            all => {
                f.write_str("every tier")?;
                all.iter().try_for_each(|lack| write!(f, "\n  {lack}"))?;
            }
        }
        match (&self.enough, self.by_target) {
            (Some(enough), _) => write!(f, "\n  = help: `{enough}` is enough"),
            (None, true) => f.write_str("\n  = help: raise these limits"),
            (None, false) => f.write_str("\n  = help: use another adapter, or `--backend interp`"),
        }
    }
}

impl std::error::Error for TooSmall {}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons: Vec<String> = self.errors.iter().filter_map(|e| Some(limit(e)?.1)).collect();
        write!(f, "tier {} ({}): kernel `{}` takes {}", self.tier, self.name, self.kernel, reasons.join("; "))
    }
}

/// The kernel whose schedule is the user's and does not apply, where that is the error.
pub fn own_kernel<'e>(error: &'e ModelError, options: &EngineOptions) -> Option<&'e str> {
    let ModelError::Compile(CompileError::Schedule { schedule, .. }) = error else { return None };
    options.schedules.iter().any(|s| s.kernel == schedule.kernel).then_some(&schedule.kernel)
}

/// The tier's lack, if limits of the device are all that is wrong, and with a schedule of the program's own.
pub fn lack(tier: &Tier, error: &ModelError, options: &EngineOptions) -> Option<Lack> {
    let ModelError::Compile(CompileError::Schedule { schedule, errors }) = error else { return None };
    let limits = own_kernel(error, options).is_none() && errors.iter().all(|e| limit(e).is_some());
    limits.then(|| Lack { tier: tier.number, name: tier.name, kernel: schedule.kernel.clone(), errors: errors.clone() })
}

/// The error of tiers that all lack something; `runs` says whether one of them runs on another target.
pub fn too_small(
    tiers: Vec<Lack>,
    target: &Target,
    options: &EngineOptions,
    runs: &dyn Fn(&Target) -> bool,
) -> ModelError {
    let enough = options.target.as_ref().and_then(|_| enough(&tiers, target, runs));
    let (device, by_target) = (target.name.clone(), options.target.is_some());
    ModelError::TooSmall(Box::new(TooSmall { device, by_target, tiers, enough }))
}

/// The key of the limit that an error is about, and what is said of it.
fn limit(error: &ScheduleError) -> Option<(&'static str, String)> {
    Some(match error {
        ScheduleError::WorkgroupTooLarge { asked, allowed, .. } => {
            ("max_invocations", format!("{asked} invocations a workgroup, and `max_invocations` is {allowed}"))
        }
        ScheduleError::WorkgroupMemory { asked, allowed, .. } => (
            "max_workgroup_bytes",
            format!("{asked} bytes of workgroup memory, and `max_workgroup_bytes` is {allowed}"),
        ),
        ScheduleError::TooManyBuffers { asked, allowed, .. } => {
            ("max_storage_buffers", format!("{asked} storage buffers, and `max_storage_buffers` is {allowed}"))
        }
        ScheduleError::BindingTooLarge { tensor, asked, allowed, why, .. } => (
            "max_binding_bytes",
            format!("{asked} bytes of `{tensor}`, a binding has {allowed}, and it cannot be split: {why}"),
        ),
        ScheduleError::TooManyWorkgroups { asked, allowed, .. } => {
            ("max_workgroups", format!("{asked} workgroups, and two dimensions of `max_workgroups` hold {allowed}"))
        }
        ScheduleError::NoSubgroups { .. } => ("subgroups", "subgroup operations, and `subgroups` is off".into()),
        _ => return None,
    })
}

/// A value of one limit that is enough, if raising one of those in question is: the least of a count, a power of two of bytes.
fn enough(tiers: &[Lack], target: &Target, runs: &dyn Fn(&Target) -> bool) -> Option<String> {
    let mut keys: Vec<&str> = tiers.iter().flat_map(|l| &l.errors).filter_map(|e| Some(limit(e)?.0)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().find_map(|key| {
        let from = of(key, target)?;
        let least = |n: u64| runs(&raised(key, n, target));
        let mut most = from.saturating_add(1).next_power_of_two();
        while !least(most) {
            most = most.checked_mul(2).filter(|n| *n <= MOST)?;
        }
        let mut above = from.max(most / 2);
        while !key.ends_with("_bytes") && above + 1 < most {
            let middle = above + (most - above) / 2;
            if least(middle) { most = middle } else { above = middle }
        }
        // A buffer is never smaller than a binding.
        let key = if key == "max_binding_bytes" && target.max_buffer_bytes == from { "max_buffer_bytes" } else { key };
        Some(format!("{key}={most}"))
    })
}

/// Where the search ends: no limit of a device is larger.
const MOST: u64 = 1 << 31;

/// The number of a limit.
fn of(key: &str, target: &Target) -> Option<u64> {
    Some(match key {
        "max_invocations" => target.max_invocations.into(),
        "max_workgroup_bytes" => target.max_workgroup_bytes.into(),
        "max_binding_bytes" => target.max_binding_bytes,
        "max_storage_buffers" => target.max_storage_buffers.into(),
        "max_workgroups" => target.max_workgroups.into(),
        _ => return None,
    })
}

/// The target with one limit raised.
fn raised(key: &str, n: u64, target: &Target) -> Target {
    let mut target = target.clone();
    let count = u32::try_from(n).unwrap_or(u32::MAX);
    match key {
        "max_invocations" => target.max_invocations = count,
        "max_workgroup_bytes" => target.max_workgroup_bytes = count,
        "max_storage_buffers" => target.max_storage_buffers = count,
        "max_workgroups" => target.max_workgroups = count,
        _ => {
            target.max_binding_bytes = n;
            target.max_buffer_bytes = target.max_buffer_bytes.max(n);
        }
    }
    target
}
