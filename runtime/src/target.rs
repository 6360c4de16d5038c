//! An adapter's limits as a [`Target`], and overrides that play a smaller device.
//!
//! An override comes from `--target`: a JSON file, the word `webgpu`, or `key=value,...`. It may only lower limits; the device
//! is then opened with the lowered ones, so that wgpu itself refuses what the smaller device would refuse.

use crate::error::RuntimeError;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;
use tilewright_codegen::target::{Subgroups, Target};

/// The keys of an override.
pub(crate) const KEYS: [&str; 7] = [
    "max_invocations",
    "max_workgroup_bytes",
    "max_binding_bytes",
    "max_buffer_bytes",
    "max_storage_buffers",
    "max_workgroups",
    "subgroups",
];

/// Limits to lower; what is not named stays the adapter's.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSpec {
    /// Most invocations in a workgroup.
    pub max_invocations: Option<u32>,
    /// Most bytes of workgroup memory.
    pub max_workgroup_bytes: Option<u32>,
    /// Most bytes of one storage buffer binding.
    pub max_binding_bytes: Option<u64>,
    /// Most bytes of one buffer.
    pub max_buffer_bytes: Option<u64>,
    /// Most storage buffers of one shader.
    pub max_storage_buffers: Option<u32>,
    /// Most workgroups along one dimension.
    pub max_workgroups: Option<u32>,
    /// `"off"`, a size (`"32"`) or a range (`"4..128"`) that covers the adapter's sizes.
    pub subgroups: Option<String>,
}

impl TargetSpec {
    /// Reads `webgpu`, `key=value,...`, or the JSON file of that name.
    ///
    /// # Errors
    /// [`RuntimeError::TargetSyntax`] with the reason.
    pub fn read(text: &str) -> Result<Self, RuntimeError> {
        let fault = |reason: String| RuntimeError::TargetSyntax { text: text.to_string(), reason };
        if text == "webgpu" {
            return Ok(TargetSpec::from(&Target::webgpu()));
        }
        if !text.contains('=') {
            let json = std::fs::read_to_string(Path::new(text)).map_err(|e| fault(e.to_string()))?;
            return serde_json::from_str(&json).map_err(|e| fault(e.to_string()));
        }
        let mut map = Map::new();
        for item in text.split(',').filter(|item| !item.trim().is_empty()) {
            let (key, value) = item.split_once('=').ok_or_else(|| fault(format!("`{item}` is not `key=value`")))?;
            let (key, value) = (key.trim(), value.trim());
            let value = match value.parse::<u64>() {
                Ok(number) if key != "subgroups" => Value::from(number),
                _ => Value::from(value),
            };
            if map.insert(key.to_string(), value).is_some() {
                return Err(fault(format!("`{key}` is given twice")));
            }
        }
        serde_json::from_value(Value::Object(map)).map_err(|e| fault(e.to_string()))
    }

    /// The target with these limits lowered.
    ///
    /// # Errors
    /// [`RuntimeError::TargetTooLarge`] names the first key that asks for more than `target` has; [`RuntimeError::TargetSyntax`] if
    /// `subgroups` cannot be read or a limit is 0.
    pub fn lower(&self, mut target: Target) -> Result<Target, RuntimeError> {
        lower("max_invocations", self.max_invocations, &mut target.max_invocations)?;
        lower("max_workgroup_bytes", self.max_workgroup_bytes, &mut target.max_workgroup_bytes)?;
        lower("max_binding_bytes", self.max_binding_bytes, &mut target.max_binding_bytes)?;
        lower("max_buffer_bytes", self.max_buffer_bytes, &mut target.max_buffer_bytes)?;
        lower("max_storage_buffers", self.max_storage_buffers, &mut target.max_storage_buffers)?;
        lower("max_workgroups", self.max_workgroups, &mut target.max_workgroups)?;
        target.max_binding_bytes = target.max_binding_bytes.min(target.max_buffer_bytes);
        if let Some(text) = &self.subgroups {
            target.subgroups = subgroups(text, target.subgroups)?;
        }
        Ok(target)
    }
}

impl From<&Target> for TargetSpec {
    fn from(target: &Target) -> Self {
        TargetSpec {
            max_invocations: Some(target.max_invocations),
            max_workgroup_bytes: Some(target.max_workgroup_bytes),
            max_binding_bytes: Some(target.max_binding_bytes),
            max_buffer_bytes: Some(target.max_buffer_bytes),
            max_storage_buffers: Some(target.max_storage_buffers),
            max_workgroups: Some(target.max_workgroups),
            subgroups: Some(target.subgroups.map_or("off".into(), |s| format!("{}..{}", s.min, s.max))),
        }
    }
}

pub(crate) fn from_adapter(info: &wgpu::AdapterInfo, features: wgpu::Features, limits: &wgpu::Limits) -> Target {
    let (min, max) = (info.subgroup_min_size, info.subgroup_max_size);
    let sizes_known = min.is_power_of_two() && max.is_power_of_two() && min <= max;
    Target {
        name: info.name.clone(),
        max_invocations: limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x),
        max_workgroup_bytes: limits.max_compute_workgroup_storage_size,
        max_binding_bytes: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
        max_buffer_bytes: limits.max_buffer_size,
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
        max_workgroups: limits.max_compute_workgroups_per_dimension,
        max_iterations: loops_end_early(info).then_some(LLVMPIPE_ITERATIONS),
        subgroups: (features.contains(wgpu::Features::SUBGROUP) && sizes_known).then_some(Subgroups { min, max }),
    }
}

/// Mesa's llvmpipe ends all loops of an invocation after this many rounds together, without a word
/// (`LP_MAX_TGSI_LOOP_ITERATIONS`).
const LLVMPIPE_ITERATIONS: u32 = 65_535;

fn loops_end_early(info: &wgpu::AdapterInfo) -> bool {
    info.device_type == wgpu::DeviceType::Cpu && format!("{} {}", info.name, info.driver).contains("llvmpipe")
}

pub(crate) fn apply_to_limits(target: &Target, limits: &mut wgpu::Limits) {
    limits.max_compute_invocations_per_workgroup = target.max_invocations;
    limits.max_compute_workgroup_size_x = limits.max_compute_workgroup_size_x.min(target.max_invocations);
    limits.max_compute_workgroup_size_y = limits.max_compute_workgroup_size_y.min(target.max_invocations);
    limits.max_compute_workgroup_size_z = limits.max_compute_workgroup_size_z.min(target.max_invocations);
    limits.max_compute_workgroup_storage_size = target.max_workgroup_bytes;
    limits.max_storage_buffer_binding_size = target.max_binding_bytes;
    limits.max_buffer_size = target.max_buffer_bytes;
    limits.max_storage_buffers_per_shader_stage = target.max_storage_buffers;
    limits.max_compute_workgroups_per_dimension = target.max_workgroups;
}

fn lower<N>(key: &'static str, asked: Option<N>, limit: &mut N) -> Result<(), RuntimeError>
where
    N: Copy + PartialOrd + Default + ToString,
{
    let Some(asked) = asked else { return Ok(()) };
    if asked == N::default() {
        return Err(RuntimeError::TargetSyntax { text: format!("{key}=0"), reason: "a limit is at least 1".into() });
    }
    if asked > *limit {
        return Err(RuntimeError::TargetTooLarge { key, asked: asked.to_string(), allowed: limit.to_string() });
    }
    *limit = asked;
    Ok(())
}

/// A wider range of sizes than the adapter's is a *smaller* device: schedules must then be right at more sizes.
fn subgroups(text: &str, adapter: Option<Subgroups>) -> Result<Option<Subgroups>, RuntimeError> {
    if text == "off" {
        return Ok(None);
    }
    let fault = || RuntimeError::TargetSyntax {
        text: format!("subgroups={text}"),
        reason: "expected `off`, a size, or `min..max`, powers of two".into(),
    };
    let (min, max) = text.split_once("..").unwrap_or((text, text));
    let (min, max) = (min.parse::<u32>().map_err(|_| fault())?, max.parse::<u32>().map_err(|_| fault())?);
    if !min.is_power_of_two() || !max.is_power_of_two() || min > max {
        return Err(fault());
    }
    match adapter {
        Some(has) if min <= has.min && has.max <= max => Ok(Some(Subgroups { min, max })),
        _ => Err(RuntimeError::TargetTooLarge {
            key: "subgroups",
            asked: text.to_string(),
            allowed: adapter.map_or("off".into(), |s| format!("{}..{} or a wider range", s.min, s.max)),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big() -> Target {
        Target {
            name: "big".into(),
            max_invocations: 1024,
            max_workgroup_bytes: 48 << 10,
            max_binding_bytes: 2_147_483_644,
            max_buffer_bytes: 4_292_870_144,
            max_storage_buffers: 1 << 20,
            max_workgroups: 65_535,
            max_iterations: None,
            subgroups: Some(Subgroups { min: 32, max: 32 }),
        }
    }

    #[test]
    fn webgpu_plays_the_least_device() {
        let target = TargetSpec::read("webgpu").unwrap().lower(big()).unwrap();
        assert_eq!(target, Target { name: "big".into(), ..Target::webgpu() });
    }

    #[test]
    fn pairs_lower_what_they_name() {
        let target = TargetSpec::read("max_buffer_bytes=268435456, subgroups=4..128").unwrap().lower(big()).unwrap();
        assert_eq!(target.max_buffer_bytes, 256 << 20);
        assert_eq!(target.max_binding_bytes, 256 << 20, "a binding is never larger than a buffer");
        assert_eq!(target.subgroups, Some(Subgroups { min: 4, max: 128 }));
        assert_eq!(target.max_invocations, 1024);
    }

    #[test]
    fn more_than_the_adapter_has_is_refused() {
        let lower = |text: &str| TargetSpec::read(text).unwrap().lower(big()).unwrap_err();
        assert_eq!(
            lower("max_invocations=2048"),
            RuntimeError::TargetTooLarge { key: "max_invocations", asked: "2048".into(), allowed: "1024".into() }
        );
        assert!(matches!(lower("subgroups=16"), RuntimeError::TargetTooLarge { key: "subgroups", .. }));
        let without = Target { subgroups: None, ..big() };
        let error = TargetSpec::read("subgroups=32").unwrap().lower(without).unwrap_err();
        assert!(matches!(error, RuntimeError::TargetTooLarge { key: "subgroups", .. }));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (text, expected) in [
            ("max_invocation=3", "unknown field `max_invocation`"),
            ("max_invocations=many", "invalid type"),
            ("max_invocations=1,max_invocations=2", "given twice"),
            ("/no/such/target.json", "No such file"),
        ] {
            let error = TargetSpec::read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for text in ["subgroups=12", "subgroups=8..4", "max_workgroups=0"] {
            let error = TargetSpec::read(text).unwrap().lower(big()).unwrap_err();
            assert!(matches!(error, RuntimeError::TargetSyntax { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn a_json_file_says_the_same_as_pairs() {
        let path = std::env::temp_dir().join(format!("tilewright-target-{}.json", std::process::id()));
        std::fs::write(&path, r#"{"max_storage_buffers": 8, "subgroups": "off"}"#).unwrap();
        let from_file = TargetSpec::read(path.to_str().unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(from_file, TargetSpec::read("max_storage_buffers=8,subgroups=off").unwrap());
    }
}
