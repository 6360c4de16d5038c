//! The flags of the commands that show what the compiler makes: `diff`, `explain` and `shaders export`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::values::shape;
use super::{ModelArgs, ShapeArg, TierArgs, TierList};
use crate::cli::args::values::tier_list;
use crate::export::Form;
use crate::review::Language;

const DIFF: &str = "\
Examples:
  One schedule against another: lines, cost, shader:
    tilewright diff linear coalesced subgroup
  A whole tier against the one before:
    tilewright diff --tiers 3..4 --target hlsl
  What a branch changes, as a page to attach to a pull request:
    tilewright diff --against main --html review.html
  Every shader on one page:
    tilewright diff --html shaders.html

Old shaders of --against are those under snapshots/ in git, plans and explanations too; new ones are made by this program.";

/// `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = DIFF)]
pub struct DiffArgs {
    /// The kernel
    #[arg(value_name = "KERNEL")]
    pub kernel: Option<String>,

    /// The old schedule, by its name
    #[arg(value_name = "OLD")]
    pub old: Option<String>,

    /// The new schedule, by its name
    #[arg(value_name = "NEW")]
    pub new: Option<String>,

    /// Two tiers instead, such as `3..4`: the first and the last of the list
    #[arg(long, value_name = "OLD..NEW", value_parser = tier_list, conflicts_with_all = ["kernel", "against"])]
    pub tiers: Option<TierList>,

    /// Everything that is reviewed (or all of KERNEL) against this git revision
    #[arg(long, value_name = "REV", conflicts_with_all = ["old", "new"])]
    pub against: Option<String>,

    /// Write one self-contained page to this file instead, or to stdout (`-`)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Overwrite the page
    #[arg(long, requires = "html")]
    pub force: bool,

    /// Which shader text; a page shows all three
    #[arg(long, value_name = "wgsl|hlsl|loops", default_value = "wgsl", value_parser = language, conflicts_with = "html")]
    pub target: Language,

    /// Extents by name, as for `shaders show`
    #[arg(long, value_name = "r=896,k=896", value_parser = shape, default_value = "", hide_default_value = true)]
    pub shape: ShapeArg,

    /// Schedules from a file, beside those of the kernel; with OLD and NEW
    #[arg(long, value_name = "FILE")]
    pub schedules: Option<PathBuf>,

    /// The model whose tiers are compared.
    #[command(flatten)]
    pub model: ModelArgs,
}

const EXPLAIN: &str = "\
Examples:
  tilewright explain linear --schedule coalesced --shape t=1,r=896,k=896
  tilewright explain linear --schedules mine.txt --schedule mine --target hlsl";

/// `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXPLAIN)]
pub struct ExplainArgs {
    /// The kernel
    #[arg(value_name = "KERNEL")]
    pub kernel: String,

    /// The schedule, by its name [default: the only one that --schedules has for the kernel, else `empty`]
    #[arg(long, value_name = "NAME")]
    pub schedule: Option<String>,

    /// Schedules from a file, beside those of the kernel
    #[arg(long, value_name = "FILE")]
    pub schedules: Option<PathBuf>,

    /// Extents by name, as for `shaders show`
    #[arg(long, value_name = "r=896,k=896", value_parser = shape, default_value = "", hide_default_value = true)]
    pub shape: ShapeArg,

    /// The language of the shader at the end
    #[arg(long, value_name = "wgsl|hlsl|loops", default_value = "wgsl", value_parser = language)]
    pub target: Language,
}

/// `shaders export`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  tilewright shaders export OUT --model DIR --target wgsl-web --tier 6\n\nThe folder holds \
    a text a shader and manifest.json: entries, bindings with their meaning, dispatch\nsizes as expressions of the run-time \
    parameters, buffers, where weights lie, and the operations of each\nstep. Weights are not copied: the manifest \
    names the tensors of the model's own files."
)]
pub struct ExportArgs {
    /// A new or empty folder, or one of an earlier export
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// The language
    #[arg(long, value_enum, default_value_t = FormArg::WgslWeb)]
    pub target: FormArg,

    /// The tier.
    #[command(flatten)]
    pub tier: TierArgs,

    /// Positions to make room for, prompt included [default: the model's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub context: Option<u32>,

    /// Write into a folder that holds something else
    #[arg(long)]
    pub force: bool,
}

/// `shaders export --target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormArg {
    /// WGSL as wgpu takes it
    Wgsl,
    /// WGSL as browsers take it
    WgslWeb,
    /// HLSL, shader model 6.0
    Hlsl,
}

impl From<FormArg> for Form {
    fn from(arg: FormArg) -> Self {
        match arg {
            FormArg::Wgsl => Form::Wgsl,
            FormArg::WgslWeb => Form::WgslWeb,
            FormArg::Hlsl => Form::Hlsl,
        }
    }
}

/// A language by its files' ending.
fn language(text: &str) -> Result<Language, String> {
    let known = Language::ALL.map(Language::extension);
    let found = Language::ALL.into_iter().find(|l| l.extension() == text);
    found.ok_or_else(|| format!("expected one of {}", known.join(", ")))
}
