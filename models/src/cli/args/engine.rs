//! Flags that several commands share: which model, what runs it, and how.

use std::path::PathBuf;

use clap::ValueEnum;
use tilewright_runtime::{AdapterChoice, TargetSpec};

use super::values::{adapter, count, target, tier};
use super::{TunedArgs, VariantArgs};
use crate::engine::{Backend, TierChoice};

/// Which model.
#[derive(Debug, clap::Args)]
pub struct ModelArgs {
    /// A folder in the Hugging Face layout: config.json, tokenizer.json, model.safetensors or shards [default: the bundled
    /// model]
    #[arg(long, value_name = "DIR")]
    pub model: Option<PathBuf>,
}

/// Where it runs.
#[derive(Debug, clap::Args)]
pub struct DeviceArgs {
    /// The adapter, by its number in `tilewright doctor` or by a part of its name [default: the best]
    #[arg(long, value_name = "NUMBER|NAME", value_parser = adapter)]
    pub adapter: Option<AdapterChoice>,

    /// Play a smaller device: `webgpu` (the least that every WebGPU device has), `key=value,...` such as
    /// `max_binding_bytes=134217728,subgroups=off`, or a JSON file of those keys; a wrong key lists them all
    #[arg(long, value_name = "LIMITS", value_parser = target)]
    pub target: Option<TargetSpec>,
}

/// How it runs.
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    /// What executes the kernels
    #[arg(long, value_enum, default_value_t = BackendArg::Wgpu)]
    pub backend: BackendArg,

    /// The language in which kernels reach the adapter: the tokens are the same
    #[arg(long, value_enum, default_value_t = ShadersArg::Wgsl)]
    pub shaders: ShadersArg,

    /// The DXC that compiles HLSL: the file of its library [default: what TILEWRIGHT_DXC names, or the one beside this program]
    #[arg(long, value_name = "PATH")]
    pub dxc: Option<PathBuf>,

    /// Schedules from a file of canonical text take the place of the tier's own for the same kernels
    #[arg(long, value_name = "FILE")]
    pub schedules: Option<PathBuf>,

    /// Measured schedules.
    #[command(flatten)]
    pub tuned: TunedArgs,

    /// Variants.
    #[command(flatten)]
    pub variants: VariantArgs,

    /// Positions to make room for, prompt included [default: what the command needs, at most the model's own]
    #[arg(long, value_name = "N", value_parser = count)]
    pub context: Option<u32>,

    /// The device.
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// `--tier`.
#[derive(Debug, clap::Args)]
pub struct TierArgs {
    /// The optimisation tier, a number from 0, or `auto`: the best that this adapter allows
    #[arg(long, value_name = "TIER", default_value = "auto", value_parser = tier)]
    pub tier: TierChoice,
}

/// `--backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackendArg {
    /// The GPU, through Vulkan, Metal or DirectX 12
    Wgpu,
    /// The loop IR on the CPU: slow, needs no GPU, and reports races
    Interp,
}

impl From<BackendArg> for Backend {
    fn from(arg: BackendArg) -> Self {
        match arg {
            BackendArg::Wgpu => Backend::Wgpu,
            BackendArg::Interp => Backend::Interp,
        }
    }
}

/// `--shaders`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShadersArg {
    /// WGSL, through naga
    Wgsl,
    /// HLSL, through DXC: to SPIR-V for Vulkan, as it is for Direct3D 12
    Hlsl,
}
