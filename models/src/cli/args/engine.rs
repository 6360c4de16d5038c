//! Flags that several commands share: which model, what runs it, and how.

use std::path::PathBuf;

use clap::ValueEnum;
use tilewright_runtime::{AdapterChoice, TargetSpec};

use super::values::{adapter, count, gamma, stores, target, tier};
use super::{TunedArgs, VariantArgs};
use crate::engine::{Backend, TierChoice};
use crate::stores::Stores;

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

    /// How matrices are stored.
    #[command(flatten)]
    pub store: StoreArgs,

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

/// A draft.
#[derive(Debug, clap::Args)]
pub struct DraftArgs {
    /// A smaller model with the same tokens guesses some of them, and the model verifies these in one pass: the text is the same;
    /// `bundled` is the bundled model's own
    #[arg(long, value_name = "DIR")]
    pub draft: Option<PathBuf>,

    /// Tokens that the draft guesses at a time, 1 to 16
    #[arg(long, value_name = "N", requires = "draft", default_value_t = 4, value_parser = gamma)]
    pub gamma: u32,
}

/// `--store`.
#[derive(Debug, clap::Args)]
pub struct StoreArgs {
    /// How matrices lie on the device: f32, f16, bf16, int8 or nf4 for all, and `head=` and `embedding=` for those, such as
    /// `nf4,head=int8,embedding=f16` [default: as the tier says, or as quantised files hold them]
    #[arg(long, value_name = "STORAGE", value_parser = stores)]
    pub store: Option<Stores>,
}

/// Who samples.
#[derive(Debug, clap::Args)]
pub struct SamplerArgs {
    /// What picks the token
    #[arg(long, value_enum, default_value_t = SamplerArg::Auto, value_name = "WHO")]
    pub sampler: SamplerArg,
}

/// `--sampler`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SamplerArg {
    /// The device where it is a GPU and the settings allow it, else the host
    Auto,
    /// The device: 4 bytes come back, and steps run ahead; greedy, or with a top-k of 1 to 128
    Device,
    /// The host, from the best logits alone; with a top-k of 1 to 128
    Pairs,
    /// The host, from all logits
    Host,
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
