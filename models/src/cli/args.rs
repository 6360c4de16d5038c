//! Flags and their meaning, as `--help` tells them.
//!
//! The rule: whatever can be judged without a file or a device is judged here, so that it ends with exit code 2 before
//! anything is opened. Absent: defaults that a model's own files set.

mod engine;
mod lab;
mod quality;
mod read;
mod report;
mod review;
mod tune;
mod values;
mod variants;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::checkpoint::Dtype;
use crate::synth::PRESETS;
pub use engine::{
    BackendArg, DeviceArgs, DraftArgs, EngineArgs, ModelArgs, SamplerArg, SamplerArgs, ShadersArg, StoreArgs, TierArgs,
};
pub use lab::LabArgs;
pub use quality::{PerplexityArgs, QuantizeArgs};
pub use report::ReportArgs;
pub use review::{DiffArgs, ExplainArgs, ExportArgs};
pub use tune::{TuneArgs, TunedArgs};
pub use values::{Ids, Rungs, ShapeArg, TierList};
use values::{count, ids, number, rungs, seed, several, shape, size};
pub use variants::{KvArg, VariantArgs};

const OVERVIEW: &str = "\
Examples:
  Let the bundled model write, which needs nothing else:
    tilewright generate \"The capital of France is\"
  Ask a model of your own:
    tilewright generate --model ~/Qwen2.5-0.5B-Instruct --chat \"What is a monad?\"
  See what each optimisation tier is worth here:
    tilewright bench --tiers 0..10
  Read the shader that a schedule gives:
    tilewright shaders show linear --schedule coalesced
  See what one schedule changes against another:
    tilewright diff linear coalesced subgroup
  See which GPU is used, and what it can do:
    tilewright doctor

Exit codes: 0 done; 1 failed: a file, a device, a schedule; 2 the command line is wrong:
a flag, or a value that this model or this machine does not have (an id, a context, an
adapter, a limit of --target); 130 interrupted.";

/// Runs Qwen2.5 on GPU kernels that this program's own compiler generates.
#[derive(Debug, Parser)]
#[command(name = "tilewright", version, arg_required_else_help = true, after_help = OVERVIEW, max_term_width = 110)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Continue a prompt, or answer it with --chat
    Generate(GenerateArgs),
    /// Write the logits of some tokens to a file, to compare with another implementation
    Logits(LogitsArgs),
    /// Measure tiers against each other, and write the optimisation report
    Bench(BenchArgs),
    /// Measure everything that this project is judged by, beside figures of others, with plots
    Report(ReportArgs),
    /// Measure each pillar of inference against the plain way: cache, draft, fused kernels
    Lab(LabArgs),
    /// Search faster schedules for this adapter by measuring, and keep them
    Tune(TuneArgs),
    /// Write a model's matrices as int8 or nf4 codes
    Quantize(QuantizeArgs),
    /// Judge how well a model foresees a text file, such as by --store
    Perplexity(PerplexityArgs),
    /// Write a model of any Qwen2.5 shape by formula, to measure speed without downloading weights
    Synth(SynthArgs),
    /// List kernels with their schedules, or show the shader of one
    #[command(subcommand)]
    Shaders(ShadersCommand),
    /// Compare schedules, tiers or revisions: their lines, their cost, their shaders
    Diff(DiffArgs),
    /// Show the way from a kernel to its shader: nest, loop IR, what each directive does, why others are refused
    Explain(ExplainArgs),
    /// Say which adapters there are, what they can do, and whether a model fits
    Doctor(DoctorArgs),
}

const GENERATE: &str = "\
Examples:
  Greedy, the same text every time:
    tilewright generate --temperature 0 \"The capital of France is\"
  The prompt from stdin, less one newline at its end:
    echo \"Tell me a joke\" | tilewright generate --chat -
  Token ids, which need no tokenizer, and the result as JSON:
    tilewright generate --ids 286,297,283,2113,272 --json
  A small model guesses for a large one, which takes nothing on trust:
    tilewright generate --draft bundled --verbose \"The capital of France is\"
  The slowest tier, and what it costs a token:
    tilewright generate --tier 0 --verbose \"Hello\"

Text goes to stdout, everything else to stderr. Sampling settings that are not given
come from the model's generation_config.json, except that --temperature 0 alone means
the best token each time, with no penalty. Ctrl-C stops and keeps what is there.";

/// `generate`.
#[derive(Debug, clap::Args)]
#[command(after_help = GENERATE)]
pub struct GenerateArgs {
    /// The text to continue, or `-` to read it from stdin
    #[arg(value_name = "PROMPT", conflicts_with = "ids")]
    pub prompt: Option<OsString>,

    /// Token ids instead of text, separated by commas; works without a tokenizer
    #[arg(long, value_name = "1,2,3", value_parser = ids, allow_hyphen_values = true)]
    pub ids: Option<Ids>,

    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// The tier.
    #[command(flatten)]
    pub tier: TierArgs,

    /// The engine.
    #[command(flatten)]
    pub engine: EngineArgs,

    /// The draft.
    #[command(flatten)]
    pub draft: DraftArgs,

    /// Stop after this many tokens
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = count)]
    pub max_tokens: u32,

    /// Divide the logits by this; 0 is greedy: the best token each time
    #[arg(long, value_name = "T", value_parser = number)]
    pub temperature: Option<f32>,

    /// Sample from this many of the best tokens; 0 for all
    #[arg(long, value_name = "K", value_parser = size)]
    pub top_k: Option<usize>,

    /// Sample from the best tokens that together have this probability, over 0; 1 for all
    #[arg(long, value_name = "P", value_parser = number)]
    pub top_p: Option<f32>,

    /// Make tokens that were there already less likely; 1 changes nothing
    #[arg(long, value_name = "R", value_parser = number)]
    pub repetition_penalty: Option<f32>,

    /// The sampler.
    #[command(flatten)]
    pub sampler: SamplerArgs,

    /// Of the same seed, model and settings comes the same text [default: random; --verbose and --json tell it]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,

    /// Put the prompt into the model's chat template, as the user's message
    #[arg(long, conflicts_with = "ids")]
    pub chat: bool,

    /// The system message of the chat
    #[arg(long, value_name = "TEXT", requires = "chat")]
    pub system: Option<String>,

    /// Print one JSON object at the end instead of text: prompt_ids, token_ids (with the one that ended the text), text,
    /// finish_reason (eos, length, context; interrupted after Ctrl-C), seed, tier, adapter, shaders, speeds (null where nothing
    /// was measured: the first token belongs to the prompt, so --max-tokens 1 decodes none) and costs
    #[arg(long)]
    pub json: bool,

    /// Print the GPU's time by kernel and schedule at the end
    #[arg(long)]
    pub profile: bool,

    /// Say which adapter, tier, memory, seed and settings, and how fast it was
    #[arg(long, short)]
    pub verbose: bool,
}

const LOGITS: &str = "\
Example:
  tilewright logits --model DIR --ids 9707,11,1879 --output logits.safetensors

The file holds one f32 tensor `logits`: [V] for the last position, or [T, V] with --all.
No tokenizer is needed.";

/// `logits`.
#[derive(Debug, clap::Args)]
#[command(after_help = LOGITS)]
pub struct LogitsArgs {
    /// Token ids, separated by commas
    #[arg(long, value_name = "1,2,3", value_parser = ids, allow_hyphen_values = true)]
    pub ids: Ids,

    /// The file to write
    #[arg(long, short, value_name = "FILE.safetensors")]
    pub output: PathBuf,

    /// The logits of every position, not only of the last
    #[arg(long)]
    pub all: bool,

    /// Overwrite the file
    #[arg(long)]
    pub force: bool,

    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// The tier.
    #[command(flatten)]
    pub tier: TierArgs,

    /// The engine.
    #[command(flatten)]
    pub engine: EngineArgs,

    /// Say which adapter, tier and memory
    #[arg(long, short)]
    pub verbose: bool,
}

const BENCH: &str = "\
Examples:
  Every tier on the bundled model:
    tilewright bench
  Two tiers on another, as a table for a pull request:
    tilewright bench --model DIR --tiers 0,6 --prompt-tokens 512 --generate 128 --markdown
  What each tier changes, costs and gains, as a document:
    tilewright bench --model DIR --report docs/tiers.md

Always greedy, on token ids that depend on nothing but their number. Each tier warms up
once, then runs --runs times; speeds are tokens a second: the median, and the least and
the most. Each tier's tokens are held against tier 0's by its own schedules, also where
--schedules replaces them: they may differ only where the logits are closer than rounding
can tell. Rows are told on stderr as they get ready; Ctrl-C prints those measured so far.";

/// `bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = BENCH)]
pub struct BenchArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// Tokens of the prompt
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = count)]
    pub prompt_tokens: u32,

    /// Tokens to generate
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = several)]
    pub generate: u32,

    /// The tiers: a number, a list such as `0,3,6`, a range such as `0..10` with both ends, or `all`; `auto` in the list is what
    /// `generate` takes, tuned schedules included
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = rungs, allow_hyphen_values = true)]
    pub tiers: Rungs,

    /// Measured runs of each tier, after one to warm up
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count)]
    pub runs: u32,

    /// Print one JSON object
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,

    /// Print a Markdown table
    #[arg(long)]
    pub markdown: bool,

    /// Also write the optimisation report: for each tier baseline, hypothesis, change, check, gain and risk, at a short and at
    /// a long context
    #[arg(long, value_name = "FILE.md")]
    pub report: Option<PathBuf>,

    /// The report's long prompt [default: what the context leaves beside --generate, at most 1024]
    #[arg(long, value_name = "N", requires = "report", value_parser = count)]
    pub long_prompt_tokens: Option<u32>,

    /// Overwrite the report
    #[arg(long, requires = "report")]
    pub force: bool,

    /// The engine.
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// `synth`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  tilewright synth --preset qwen2.5-0.5b --dtype bf16 --seed 0 /tmp/half-billion\n\nThe \
    model has no meaning, only the shape and the speed of the real one. Its weights are exact\nin each dtype."
)]
pub struct SynthArgs {
    /// The shape
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(PRESETS))]
    pub preset: String,

    /// How weights are stored
    #[arg(long, value_enum, default_value_t = DtypeArg::Bf16)]
    pub dtype: DtypeArg,

    /// Chooses the weights
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    pub seed: u64,

    /// A new or empty folder
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
}

/// `shaders`.
#[derive(Debug, Subcommand)]
pub enum ShadersCommand {
    /// Every kernel with its axes, named values, tensors, extents and schedules; of one kernel, its schedules' text
    List {
        /// The kernel whose schedules are printed, as a file for --schedules would have them
        #[arg(value_name = "KERNEL")]
        kernel: Option<String>,
    },
    /// The text that a kernel becomes by a schedule
    #[command(after_help = "Whatever the adapter here, the text is for the least WebGPU device (256 invocations, \
        16 KiB of\nworkgroup memory, 128 MiB a binding, 8 storage buffers) with subgroups of 4 to 128. What \
        only a wider\none can run is compiled for `wide` (1,024 invocations, 32 KiB), and a note on stderr says so.\n\nExamples:\n  tilewright shaders show linear\n  tilewright shaders show linear --schedule \
        coalesced --shape r=4864,k=896 --target loops\n  tilewright shaders show linear --schedules mine.txt --schedule mine")]
    Show(ShowArgs),
    /// Write every shader of a model's plan into a folder, with a manifest that lets another host run them
    Export(ExportArgs),
}

/// `shaders show`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The kernel
    #[arg(value_name = "KERNEL")]
    pub kernel: String,

    /// The schedule, by its name [default: the only one that --schedules has for the kernel, else `empty`]
    #[arg(long, value_name = "NAME")]
    pub schedule: Option<String>,

    /// Schedules from a file, beside those of the kernel
    #[arg(long, value_name = "FILE")]
    pub schedules: Option<PathBuf>,

    /// Extents by name, in any case: `r=896` fixes one, `t<=64` leaves it to run time; those that are not given are those of
    /// Qwen2.5-0.5B when it decodes
    #[arg(long, value_name = "r=896,k=896", value_parser = shape, default_value = "", hide_default_value = true)]
    pub shape: ShapeArg,

    /// Which text
    #[arg(long, value_enum, default_value_t = TextArg::Wgsl)]
    pub target: TextArg,
}

/// `doctor`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tilewright doctor\n  tilewright doctor --model ~/Qwen2.5-7B-Instruct --context 8192"
)]
pub struct DoctorArgs {
    /// Check this model's files too, and whether it fits
    #[arg(long, value_name = "DIR")]
    pub model: Option<PathBuf>,

    /// Positions to make room for [default: the model's own]
    #[arg(long, value_name = "N", requires = "model", value_parser = count)]
    pub context: Option<u32>,

    /// How matrices are stored.
    #[command(flatten)]
    pub store: StoreArgs,

    /// The device.
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// `--dtype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DtypeArg {
    /// The upper half of an f32, as Qwen2.5 is published
    Bf16,
    /// IEEE half precision
    F16,
    /// Single precision
    F32,
}

impl From<DtypeArg> for Dtype {
    fn from(arg: DtypeArg) -> Self {
        match arg {
            DtypeArg::Bf16 => Dtype::Bf16,
            DtypeArg::F16 => Dtype::F16,
            DtypeArg::F32 => Dtype::F32,
        }
    }
}

/// `shaders show --target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextArg {
    /// What this program gives to the driver
    Wgsl,
    /// The dialect of browsers
    WgslWeb,
    /// HLSL, for Direct3D 12 and for DXC
    Hlsl,
    /// The loop IR that every text is printed from
    Loops,
}
