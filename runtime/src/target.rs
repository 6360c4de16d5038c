//! An adapter's limits as a [`Target`], and overrides that play a smaller device.
//!
//! An override comes from `--target`: a JSON file, the word `webgpu`, or `key=value,...`. It may only lower limits; the device
//! is then opened with the lowered ones, so that wgpu itself refuses what the smaller device would refuse.

use crate::error::RuntimeError;
use crate::probe::WORKGROUPS as PROBED_WORKGROUPS;
use serde_json::{Map, Value};
use std::io::ErrorKind;
use std::path::Path;
use tilewright_codegen::target::{Subgroups, Target};

/// The keys of an override.
pub(crate) const KEYS: [&str; 8] = [
    "max_invocations",
    "max_workgroup_bytes",
    "max_binding_bytes",
    "max_buffer_bytes",
    "max_storage_buffers",
    "max_workgroups",
    "subgroups",
    "matrix",
];

/// The smallest buffer that a device may be limited to: the probe of its subgroups and the measurement of its copy rate fit in it.
pub(crate) const LEAST_BYTES: u64 = 16 << 10;

/// Limits to lower; what is not named stays the adapter's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TargetSpec {
    /// Most invocations in a workgroup, from 1.
    pub max_invocations: Option<u32>,
    /// Most bytes of workgroup memory, from 1.
    pub max_workgroup_bytes: Option<u32>,
    /// Most bytes of one storage buffer binding, from 16,384.
    pub max_binding_bytes: Option<u64>,
    /// Most bytes of one buffer, from 16,384.
    pub max_buffer_bytes: Option<u64>,
    /// Most storage buffers of one shader, from 2.
    pub max_storage_buffers: Option<u32>,
    /// Most workgroups along one dimension, from 4.
    pub max_workgroups: Option<u32>,
    /// `"off"`, a size (`"32"`) or a range (`"4..128"`) that covers the adapter's sizes.
    pub subgroups: Option<String>,
    /// `"off"`, or a side of the fragments that the adapter multiplies (`"16"`).
    pub matrix: Option<String>,
}

impl TargetSpec {
    /// Reads `webgpu`, `key=value,...`, or the JSON file of that name.
    ///
    /// # Errors
    /// [`RuntimeError::TargetSyntax`] with the reason; a value that no device has is one.
    pub fn read(text: &str) -> Result<Self, RuntimeError> {
        let fault = |reason: String| RuntimeError::TargetSyntax { text: text.to_string(), reason };
        if text == "webgpu" {
            return Ok(TargetSpec::from(&Target::webgpu()));
        }
        let file = Path::new(text);
        let map = if file.is_file() || !text.contains('=') { from_file(file) } else { from_pairs(text) };
        let spec = map.and_then(|map| Self::from_map(&map)).map_err(fault)?;
        spec.check().map_err(fault)?;
        Ok(spec)
    }

    /// The target with these limits lowered.
    ///
    /// # Errors
    /// [`RuntimeError::TargetTooLarge`] names the first key that asks for more than `target` has; [`RuntimeError::TargetSyntax`] if
    /// `subgroups` cannot be read or a limit is smaller than any device's.
    pub fn lower(&self, mut target: Target) -> Result<Target, RuntimeError> {
        let fault = |reason| RuntimeError::TargetSyntax { text: "limits".into(), reason };
        self.check().map_err(fault)?;
        lower("max_invocations", self.max_invocations, &mut target.max_invocations)?;
        lower("max_workgroup_bytes", self.max_workgroup_bytes, &mut target.max_workgroup_bytes)?;
        lower("max_binding_bytes", self.max_binding_bytes, &mut target.max_binding_bytes)?;
        lower("max_buffer_bytes", self.max_buffer_bytes, &mut target.max_buffer_bytes)?;
        lower("max_storage_buffers", self.max_storage_buffers, &mut target.max_storage_buffers)?;
        lower("max_workgroups", self.max_workgroups, &mut target.max_workgroups)?;
        target.max_binding_bytes = target.max_binding_bytes.min(target.max_buffer_bytes);
        if let Some(asked) = self.sizes().map_err(fault)? {
            target.subgroups = cover(asked, target.subgroups)?;
        }
        if let Some(asked) = self.side().map_err(fault)? {
            let allowed = target.fragments.iter().map(u32::to_string).collect::<Vec<_>>().join(" or ");
            target.fragments.retain(|side| Some(*side) == asked);
            if asked.is_some() && target.fragments.is_empty() {
                let allowed = if allowed.is_empty() { "off".into() } else { allowed };
                let asked = asked.unwrap_or_default().to_string();
                return Err(RuntimeError::TargetTooLarge { key: "matrix", asked, allowed });
            }
        }
        Ok(target)
    }

    fn from_map(map: &Map<String, Value>) -> Result<Self, String> {
        let mut spec = TargetSpec::default();
        for (key, value) in map {
            match key.as_str() {
                "max_invocations" => spec.max_invocations = Some(whole(key, value)?),
                "max_workgroup_bytes" => spec.max_workgroup_bytes = Some(whole(key, value)?),
                "max_binding_bytes" => spec.max_binding_bytes = Some(whole(key, value)?),
                "max_buffer_bytes" => spec.max_buffer_bytes = Some(whole(key, value)?),
                "max_storage_buffers" => spec.max_storage_buffers = Some(whole(key, value)?),
                "max_workgroups" => spec.max_workgroups = Some(whole(key, value)?),
                "subgroups" => spec.subgroups = Some(value.as_str().map_or_else(|| value.to_string(), String::from)),
                "matrix" => spec.matrix = Some(value.as_str().map_or_else(|| value.to_string(), String::from)),
                _ => return Err(format!("`{key}` is no limit")),
            }
        }
        Ok(spec)
    }

    /// What is wrong with these limits on every device.
    fn check(&self) -> Result<(), String> {
        let least = [
            ("max_invocations", self.max_invocations.map(u64::from), 1),
            ("max_workgroup_bytes", self.max_workgroup_bytes.map(u64::from), 1),
            ("max_binding_bytes", self.max_binding_bytes, LEAST_BYTES),
            ("max_buffer_bytes", self.max_buffer_bytes, LEAST_BYTES),
            ("max_storage_buffers", self.max_storage_buffers.map(u64::from), 2),
            ("max_workgroups", self.max_workgroups.map(u64::from), u64::from(PROBED_WORKGROUPS)),
        ];
        for (key, asked, least) in least {
            if let Some(asked) = asked.filter(|asked| *asked < least) {
                return Err(format!("`{key}` is {asked}; expected a whole number from {least}"));
            }
        }
        self.side()?;
        self.sizes().map(|_| ())
    }

    /// `matrix`, where it is given: `None` inside for `off`.
    fn side(&self) -> Result<Option<Option<u32>>, String> {
        match self.matrix.as_deref() {
            None => Ok(None),
            Some("off") => Ok(Some(None)),
            Some("8") => Ok(Some(Some(8))),
            Some("16") => Ok(Some(Some(16))),
            Some(text) => Err(format!("`matrix` is `{text}`; expected `off`, 8 or 16")),
        }
    }

    /// `subgroups`, where it is given: `None` inside for `off`.
    fn sizes(&self) -> Result<Option<Option<Subgroups>>, String> {
        let Some(text) = &self.subgroups else { return Ok(None) };
        if text == "off" {
            return Ok(Some(None));
        }
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        match (min.parse::<u32>(), max.parse::<u32>()) {
            (Ok(min), Ok(max)) if min.is_power_of_two() && max.is_power_of_two() && min <= max => {
                Ok(Some(Some(Subgroups { min, max })))
            }
            _ => Err(format!(
                "`subgroups` is `{text}`; expected `off`, a size such as 32, or a range such as 4..128, in powers of two"
            )),
        }
    }
}

/// The limits of a JSON file.
fn from_file(path: &Path) -> Result<Map<String, Value>, String> {
    let json = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => {
            "it is neither `webgpu` nor `key=value,...`, and there is no file of that name".to_string()
        }
        _ => format!("the file cannot be read: {e}"),
    })?;
    match serde_json::from_str(&json) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err("the file holds no object of limits".into()),
        Err(error) => Err(format!("the file is not valid JSON: {error}")),
    }
}

/// The limits of `key=value,...`.
fn from_pairs(text: &str) -> Result<Map<String, Value>, String> {
    let mut map = Map::new();
    for item in text.split(',').filter(|item| !item.trim().is_empty()) {
        let (key, value) = item.split_once('=').ok_or_else(|| format!("`{item}` is not `key=value`"))?;
        let (key, value) = (key.trim(), value.trim());
        let value = value.parse::<u64>().map_or_else(|_| Value::from(value), Value::from);
        if map.insert(key.to_string(), value).is_some() {
            return Err(format!("`{key}` is given twice"));
        }
    }
    Ok(map)
}

/// A limit's number.
fn whole<N: TryFrom<u64>>(key: &str, value: &Value) -> Result<N, String> {
    let most = if size_of::<N>() == size_of::<u32>() { u64::from(u32::MAX) } else { u64::MAX };
    let number = value.as_u64().and_then(|n| N::try_from(n).ok());
    number.ok_or_else(|| {
        let found = value.as_str().map_or_else(|| value.to_string(), String::from);
        format!("`{key}` is `{found}`; expected a whole number of at most {most}")
    })
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
            matrix: Some(target.fragments.first().map_or("off".into(), u32::to_string)),
        }
    }
}

pub(crate) fn from_adapter(
    info: &wgpu::AdapterInfo,
    features: wgpu::Features,
    limits: &wgpu::Limits,
    cooperative: &[wgpu::CooperativeMatrixProperties],
) -> Target {
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
        fragments: sides(features, cooperative),
        subgroups: (features.contains(wgpu::Features::SUBGROUP) && sizes_known).then_some(Subgroups { min, max }),
    }
}

/// What generated fragments need beside the shapes themselves.
pub(crate) const FRAGMENTS: wgpu::Features =
    wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX.union(wgpu::Features::SHADER_F16);

/// The square fragments of f16 factors and f32 sums that an adapter multiplies.
fn sides(features: wgpu::Features, cooperative: &[wgpu::CooperativeMatrixProperties]) -> Vec<u32> {
    use wgpu::CooperativeScalarType::{F16, F32};
    let square = |p: &&wgpu::CooperativeMatrixProperties| {
        p.m_size == p.n_size && p.n_size == p.k_size && (p.ab_type, p.cr_type) == (F16, F32)
    };
    let mut sides: Vec<u32> = match features.contains(FRAGMENTS) {
        true => cooperative.iter().filter(square).map(|p| p.m_size).filter(|n| matches!(n, 8 | 16)).collect(),
        false => Vec::new(),
    };
    sides.sort_unstable();
    sides.dedup();
    sides
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
    N: Copy + PartialOrd + ToString,
{
    let Some(asked) = asked else { return Ok(()) };
    if asked > *limit {
        return Err(RuntimeError::TargetTooLarge { key, asked: asked.to_string(), allowed: limit.to_string() });
    }
    *limit = asked;
    Ok(())
}

/// A wider range of sizes than the adapter's is a *smaller* device: schedules must then be right at more sizes.
fn cover(asked: Option<Subgroups>, adapter: Option<Subgroups>) -> Result<Option<Subgroups>, RuntimeError> {
    let Some(sizes) = asked else { return Ok(None) };
    match adapter {
        Some(has) if sizes.min <= has.min && has.max <= sizes.max => Ok(asked),
        _ => Err(RuntimeError::TargetTooLarge {
            key: "subgroups",
            asked: format!("{}..{}", sizes.min, sizes.max),
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
            fragments: vec![16],
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
        assert_eq!(
            lower("matrix=8"),
            RuntimeError::TargetTooLarge { key: "matrix", asked: "8".into(), allowed: "16".into() }
        );
        assert_eq!(TargetSpec::read("matrix=16").unwrap().lower(big()).unwrap(), big());
        assert!(TargetSpec::read("matrix=off").unwrap().lower(big()).unwrap().fragments.is_empty());
        let without = Target { subgroups: None, ..big() };
        let error = TargetSpec::read("subgroups=32").unwrap().lower(without).unwrap_err();
        assert!(matches!(error, RuntimeError::TargetTooLarge { key: "subgroups", .. }));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (text, expected) in [
            ("max_invocation=3", "`max_invocation` is no limit"),
            ("max_invocations=many", "`max_invocations` is `many`; expected a whole number of at most 4294967295"),
            ("max_invocations=4294967296", "at most 4294967295"),
            ("max_binding_bytes=-1", "`max_binding_bytes` is `-1`"),
            ("max_invocations=1,max_invocations=2", "given twice"),
            ("max_invocations=1,2", "`2` is not `key=value`"),
            ("/no/such/target.json", "neither `webgpu` nor `key=value,...`, and there is no file"),
            ("subgroups=maybe", "`subgroups` is `maybe`; expected `off`, a size such as 32"),
            ("subgroups=12", "in powers of two"),
            ("matrix=32", "`matrix` is `32`; expected `off`, 8 or 16"),
            ("subgroups=8..4", "in powers of two"),
        ] {
            let error = TargetSpec::read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            for form in ["a JSON file", "`webgpu`", "max_storage_buffers"] {
                assert!(error.contains(form), "{text}: {error}");
            }
        }
    }

    #[test]
    fn limits_smaller_than_any_devices_are_refused() {
        for (key, least) in [
            ("max_invocations", 1),
            ("max_workgroup_bytes", 1),
            ("max_binding_bytes", 16_384),
            ("max_buffer_bytes", 16_384),
            ("max_storage_buffers", 2),
            ("max_workgroups", 4),
        ] {
            let error = TargetSpec::read(&format!("{key}={}", least - 1)).unwrap_err().to_string();
            let says = format!("`{key}` is {}; expected a whole number from {least}", least - 1);
            assert!(error.contains(&says), "{error}");
            assert!(TargetSpec::read(&format!("{key}={least}")).unwrap().lower(big()).is_ok(), "{key}");
        }
        let by_hand = TargetSpec { max_workgroups: Some(0), ..TargetSpec::default() };
        assert!(matches!(by_hand.lower(big()), Err(RuntimeError::TargetSyntax { .. })));
    }

    #[test]
    fn files_that_hold_no_limits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a=b.json");
        for (text, expected) in
            [("[1]", "no object of limits"), ("{", "not valid JSON"), (r#"{"subgroups": 12}"#, "`subgroups` is `12`")]
        {
            std::fs::write(&path, text).unwrap();
            let error = TargetSpec::read(path.to_str().unwrap()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_json_file_says_the_same_as_pairs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target.json");
        std::fs::write(&path, r#"{"max_storage_buffers": 8, "subgroups": "off"}"#).unwrap();
        let from_file = TargetSpec::read(path.to_str().unwrap()).unwrap();
        assert_eq!(from_file, TargetSpec::read("max_storage_buffers=8,subgroups=off").unwrap());
    }
}
