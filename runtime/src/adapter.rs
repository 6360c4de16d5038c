//! Which GPUs there are, and which one is meant.
//!
//! Adapters are listed best first (discrete, integrated, virtual, software), so that number 0 is the default. The choice is a
//! pure function of that list. Nothing is opened here.

use crate::device::ShaderLanguage;
use crate::error::RuntimeError;
use crate::ready::ready;
use std::fmt;
use std::str::FromStr;

/// What kind of device an adapter is, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AdapterKind {
    /// A card with memory of its own.
    Discrete,
    /// Shares the processor's memory.
    Integrated,
    /// A slice of a GPU in a virtual machine.
    Virtual,
    /// Not told by the driver.
    Unknown,
    /// The processor itself (lavapipe, WARP).
    Software,
}

/// One adapter as people see it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AdapterSummary {
    /// The driver's name for it.
    pub name: String,
    /// Its kind.
    pub kind: AdapterKind,
    /// `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// Driver and version.
    pub driver: String,
}

impl fmt::Display for AdapterSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            AdapterKind::Discrete => "discrete",
            AdapterKind::Integrated => "integrated",
            AdapterKind::Virtual => "virtual",
            AdapterKind::Unknown => "unknown kind",
            AdapterKind::Software => "software",
        };
        write!(f, "{} ({kind}, {}", self.name, self.backend)?;
        if !self.driver.is_empty() {
            write!(f, ", {}", self.driver)?;
        }
        f.write_str(")")
    }
}

/// Which adapter is meant.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum AdapterChoice {
    /// The best kind there is.
    #[default]
    Best,
    /// A number of the list or part of a name, in any case.
    Matching(String),
}

impl FromStr for AdapterChoice {
    type Err = std::convert::Infallible;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(AdapterChoice::Matching(text.trim().to_string()))
    }
}

impl AdapterChoice {
    /// Index into a list that is sorted best first.
    ///
    /// A number of three digits or more that is no index is part of a name (`4090`). Of several matches the first is taken: the best kind.
    ///
    /// # Errors
    /// [`RuntimeError::NoAdapter`] on an empty list, [`RuntimeError::AdapterNotFound`] without a match.
    pub fn choose(&self, adapters: &[AdapterSummary]) -> Result<usize, RuntimeError> {
        if adapters.is_empty() {
            return Err(RuntimeError::NoAdapter);
        }
        let AdapterChoice::Matching(asked) = self else { return Ok(0) };
        let needle = asked.to_lowercase();
        let named = || adapters.iter().position(|a| !needle.is_empty() && a.name.to_lowercase().contains(&needle));
        let chosen = match asked.parse::<usize>() {
            Ok(index) if index < adapters.len() => Some(index),
            // A short number that is no index is a mistake, even where some name happens to contain it.
            Ok(_) if asked.len() < 3 => None,
            _ => named(),
        };
        chosen.ok_or_else(|| RuntimeError::AdapterNotFound { asked: asked.clone(), found: adapters.to_vec() })
    }
}

/// All adapters of this machine, best first.
pub fn adapters() -> Vec<AdapterSummary> {
    enumerate(&ShaderLanguage::Wgsl).into_iter().map(|(summary, _)| summary).collect()
}

pub(crate) fn enumerate(shaders: &ShaderLanguage) -> Vec<(AdapterSummary, wgpu::Adapter)> {
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        flags: wgpu::InstanceFlags::empty(),
        // Where the driver reports a budget, running out of it is an error at the allocation and not a crash later.
        memory_budget_thresholds: wgpu::MemoryBudgetThresholds {
            for_resource_creation: Some(97),
            for_device_loss: None,
        },
        backend_options: wgpu::BackendOptions { dx12: direct3d(shaders), ..Default::default() },
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let mut found: Vec<_> =
        ready(instance.enumerate_adapters(backends)).into_iter().map(|a| (summarize(&a.get_info()), a)).collect();
    found.sort_by_key(|(summary, _)| summary.kind);
    found
}

/// Direct3D 12 compiles HLSL itself, with the DXC that is given to it. Not run on Windows yet.
fn direct3d(shaders: &ShaderLanguage) -> wgpu::Dx12BackendOptions {
    let shader_compiler = match shaders {
        ShaderLanguage::Wgsl => wgpu::Dx12Compiler::default(),
        ShaderLanguage::Hlsl(dxc) => {
            wgpu::Dx12Compiler::DynamicDxc { dxc_path: dxc.path().to_string_lossy().into_owned() }
        }
    };
    wgpu::Dx12BackendOptions { shader_compiler, ..Default::default() }
}

fn summarize(info: &wgpu::AdapterInfo) -> AdapterSummary {
    AdapterSummary {
        name: info.name.clone(),
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
            wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
            wgpu::DeviceType::Cpu => AdapterKind::Software,
            wgpu::DeviceType::Other => AdapterKind::Unknown,
        },
        backend: info.backend.to_str().to_string(),
        driver: [info.driver.as_str(), info.driver_info.as_str()].join(" ").trim().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> Vec<AdapterSummary> {
        let adapter = |name: &str, kind| AdapterSummary {
            name: name.into(),
            kind,
            backend: "vulkan".into(),
            driver: String::new(),
        };
        vec![
            adapter("NVIDIA RTX 4090", AdapterKind::Discrete),
            adapter("Intel UHD 770", AdapterKind::Integrated),
            adapter("Intel Arc (virtual)", AdapterKind::Virtual),
            adapter("llvmpipe (LLVM 15)", AdapterKind::Software),
        ]
    }

    fn choose(text: &str) -> Result<usize, RuntimeError> {
        let Ok(choice) = text.parse::<AdapterChoice>();
        choice.choose(&list())
    }

    #[test]
    fn numbers_and_parts_of_names() {
        assert_eq!(AdapterChoice::Best.choose(&list()), Ok(0));
        assert_eq!(choose("2"), Ok(2));
        assert_eq!(choose("LLVMpipe"), Ok(3));
        assert_eq!(choose("4090"), Ok(0), "a number that is no index is part of a name");
        assert_eq!(choose("intel"), Ok(1), "the better kind of two matches");
    }

    #[test]
    fn what_is_not_there_is_listed() {
        let text = choose("radeon").unwrap_err().to_string();
        assert!(text.contains("no adapter matches `radeon`"), "{text}");
        assert!(text.contains("1: Intel UHD 770 (integrated, vulkan)"), "{text}");
        assert!(matches!(choose("9"), Err(RuntimeError::AdapterNotFound { .. })));
        assert!(matches!(choose(""), Err(RuntimeError::AdapterNotFound { .. })));
    }

    #[test]
    fn no_adapter_says_what_to_install() {
        let text = AdapterChoice::Best.choose(&[]).unwrap_err().to_string();
        assert!(text.contains("no GPU adapter") && text.contains("mesa-vulkan-drivers"), "{text}");
    }

    #[test]
    fn kinds_rank_software_last() {
        let mut kinds = [AdapterKind::Software, AdapterKind::Virtual, AdapterKind::Discrete, AdapterKind::Integrated];
        kinds.sort();
        assert_eq!(
            kinds,
            [AdapterKind::Discrete, AdapterKind::Integrated, AdapterKind::Virtual, AdapterKind::Software]
        );
    }
}
