//! What can be wrong with a model's files and with what a user asks of them, as one typed enum.
//!
//! Every message says which file, tensor or setting; what was found; what was expected; and what to do. Errors of devices
//! and schedules are those of the crates below, passed on as they are.

mod words;

use std::path::PathBuf;

use tilewright_runtime::Size;

use crate::engine::{StorageConflict, TooSmall};
use crate::speculative::SpeculativeError;
pub use words::Narrow;
pub(crate) use words::counted;
use words::{damaged, one_a_message};

/// Everything that can go wrong between a model folder and the numbers that the kernels are fed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The model folder is missing, or is not a folder.
    #[error(
        "no model folder at {path}: {found}; expected a folder with config.json and model.safetensors; check the path"
    )]
    NoFolder {
        /// The path that was asked for.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },

    /// A file that every model has is not in its folder.
    #[error("{folder} has no {file}; {help}")]
    NoFile {
        /// The model folder.
        folder: PathBuf,
        /// The missing file's name.
        file: String,
        /// What to do.
        help: String,
    },
    /// How matrices are stored.
    #[error(transparent)]
    Stores(#[from] crate::stores::StoresError),
    /// A file of tuned schedules.
    #[error("tuned schedules: {0}")]
    Tuned(#[from] crate::tune::FileError),
    /// The operating system refused to read a file.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason given by the operating system.
        source: std::io::Error,
    },
    /// The operating system refused to write a file.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason given by the operating system.
        source: std::io::Error,
    },

    /// A file is not the JSON that it should be.
    #[error("{path} is not valid JSON: {reason}; download the file again")]
    Json {
        /// The file.
        path: PathBuf,
        /// The parser's complaint, with line and column.
        reason: String,
    },

    /// A field of a configuration file is missing, of the wrong type, or impossible.
    #[error("{path}: `{field}` is {found}; expected {expected}")]
    Field {
        /// The file.
        path: PathBuf,
        /// The field's name, with its parents.
        field: String,
        /// What the file says.
        found: String,
        /// What would be accepted.
        expected: String,
    },

    /// The folder holds a model of another architecture.
    #[error("{path}: this is a `{found}` model; expected `Qwen2ForCausalLM` (model_type `qwen2`); {help}")]
    Architecture {
        /// The configuration file.
        path: PathBuf,
        /// The architecture found.
        found: String,
        /// What to do.
        help: String,
    },

    /// The checkpoint is quantised.
    #[error(
        "{path}: the checkpoint is quantised ({method}); expected bf16, f16 or f32 weights; use the base model that it \
         was made from, the one without -AWQ, -GPTQ or the like in its name"
    )]
    Quantised {
        /// The file that says so.
        path: PathBuf,
        /// The method's name, or the tensor that gave it away.
        method: String,
    },

    /// A safetensors header claims more bytes than its file has.
    #[error(
        "{path}: the header claims {header} bytes, but the file has {file}; expected a safetensors file; the download is \
         broken or this is another format: download the file again"
    )]
    HeaderTooLong {
        /// The weights file.
        path: PathBuf,
        /// The claimed length of the header.
        header: u64,
        /// The length of the file.
        file: u64,
    },

    /// A weights file is shorter or longer than its header says.
    #[error(
        "{path}: the file has {found} bytes, but its header describes {expected}; {}: download the file again",
        if found < expected { "the download is broken" } else { "the last bytes belong to no tensor, so the header is damaged or edited" }
    )]
    Length {
        /// The weights file.
        path: PathBuf,
        /// The length of the file.
        found: u64,
        /// The length that the header describes.
        expected: u64,
    },

    /// A safetensors header is malformed.
    #[error("{path}: not a sound safetensors file: {reason}; download the file again")]
    Header {
        /// The weights file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// The shard index names a file that is not in the folder.
    #[error(
        "{index}: names {shard} for {tensors} tensors, but {found}; expected every shard beside the index; download the missing shard"
    )]
    NoShard {
        /// The index file.
        index: PathBuf,
        /// The shard's name.
        shard: String,
        /// How many tensors the index places there.
        tensors: usize,
        /// What was found there.
        found: String,
    },

    /// A shard does not hold a tensor which the index places in it.
    #[error(
        "{index}: places tensor `{tensor}` in {shard}, which does not hold it; the index and the shards are of different downloads: download all again"
    )]
    NotInShard {
        /// The index file.
        index: PathBuf,
        /// The tensor.
        tensor: String,
        /// The shard that should hold it.
        shard: PathBuf,
    },

    /// A tensor that the configuration asks for is in no file.
    #[error("{path}: tensor `{tensor}` is missing; expected shape {expected:?} for this config.json; {help}")]
    NoTensor {
        /// The weights file, or the index.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The shape that it should have.
        expected: Vec<usize>,
        /// What to do.
        help: String,
    },

    /// The files hold more layers than the configuration asks for.
    #[error(
        "{path}: holds tensors of layer {layer} such as `{tensor}`, but config.json says `num_hidden_layers`: {layers} (0 to {}); are \
         weights and config.json of the same model?", layers - 1
    )]
    ExtraLayer {
        /// The weights file, or the index.
        path: PathBuf,
        /// The last layer in the files.
        layer: usize,
        /// A tensor of it.
        tensor: String,
        /// Layers of the configuration.
        layers: usize,
    },

    /// A tensor's shape is not what the configuration implies.
    #[error(
        "{path}: tensor `{tensor}` has shape {found:?}; expected {expected:?} for this config.json; are weights and config.json of the same model?"
    )]
    Shape {
        /// The weights file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape that the configuration implies.
        expected: Vec<usize>,
    },

    /// A tensor is stored in a type that is not a weight type.
    #[error(
        "{path}: tensor `{tensor}` is stored as {found}; expected BF16, F16 or F32; convert the checkpoint, or use the base model"
    )]
    Dtype {
        /// The weights file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The type in the file.
        found: String,
    },

    /// Rows were asked for that a tensor does not have, or the buffer for them has another size.
    #[error("tensor `{tensor}` has {rows} rows of {columns}; {asked}")]
    Rows {
        /// The tensor.
        tensor: String,
        /// Its rows: the first dimension.
        rows: usize,
        /// Its elements a row.
        columns: usize,
        /// What was asked.
        asked: String,
    },

    /// The tokenizer is there but cannot be used.
    #[error("{path}: {reason}; {help}")]
    Tokenizer {
        /// The tokenizer's file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// What to do.
        help: String,
    },

    /// A chat could not be made into a prompt.
    #[error("cannot make a prompt of the messages: {reason}")]
    Chat {
        /// The template's complaint.
        reason: String,
    },

    /// The model's own chat template cannot be rendered.
    #[error(
        "{path}: the chat template does not render: {reason}; mend it, or give the whole prompt as text without --chat"
    )]
    ChatTemplate {
        /// The file that holds the template.
        path: PathBuf,
        /// The template engine's complaint.
        reason: String,
    },

    /// A sampling setting is out of its range.
    #[error("{setting} is {found}; expected {expected}")]
    Setting {
        /// The setting, spelled as the command-line flag.
        setting: &'static str,
        /// The value given.
        found: String,
        /// The range.
        expected: &'static str,
    },

    /// The model produced a logit that is not a finite number.
    #[error(
        "the logit of token {token} at position {position} is {value}; expected finite numbers; {}", damaged(*.narrow)
    )]
    NotFinite {
        /// The position in the sequence, from 0.
        position: usize,
        /// The token id.
        token: u32,
        /// The value found.
        value: f32,
        /// What is stored in 16 bits.
        narrow: Narrow,
    },

    /// There was nothing to choose a token from.
    #[error(
        "no logits to choose from at position {position}: found {logits} logits and a limit of {limit} token ids; expected at least one of each"
    )]
    NoCandidates {
        /// The position in the sequence, from 0.
        position: usize,
        /// How many logits there were.
        logits: usize,
        /// Ids from here on are never sampled.
        limit: usize,
    },

    /// The device's argmax met a logit that is not a finite number, and the logits could not tell which.
    #[error(
        "a logit at position {position} is not a finite number; expected finite numbers; {}", damaged(*.narrow)
    )]
    NotFiniteToken {
        /// The position in the sequence, from 0.
        position: usize,
        /// What is stored in 16 bits.
        narrow: Narrow,
    },

    /// More positions than the cache has.
    #[error(
        "{} at position {position} {} not fit a context of {context}; use a shorter prompt, fewer new tokens or a longer context",
        counted(*asked, "more token", "more tokens"), if *asked == 1 { "does" } else { "do" }
    )]
    ContextFull {
        /// Positions in use.
        position: usize,
        /// Tokens to be added.
        asked: usize,
        /// Positions there are.
        context: usize,
    },

    /// A context that the model does not have.
    #[error("a context of {found} positions; expected 1 to {most}, which this model was made for")]
    Context {
        /// Asked for.
        found: u32,
        /// The model's own.
        most: usize,
    },

    /// There is nothing to run.
    #[error("no token ids were given; expected at least one")]
    NoTokens,

    /// A token id beyond the embedding.
    #[error("token id {found} is not in the embedding; expected ids below {vocab}")]
    TokenTooLarge {
        /// The id.
        found: u32,
        /// Rows of the embedding.
        vocab: usize,
    },

    /// Weights beyond the largest f16.
    #[error(
        "{count} values of `{tensor}` are too large for f16, which ends at 65,504; store them in f32, as the schedules of tiers 0 and 1 do"
    )]
    HalfOverflow {
        /// The tensor.
        tensor: String,
        /// How many of its values.
        count: u64,
    },

    /// A tier that does not exist.
    #[error("there is no tier {found}; expected 0 to {last}")]
    Tier {
        /// Asked for.
        found: usize,
        /// The last one.
        last: usize,
    },

    /// Heads whose rows would be padded.
    #[error("head_dim is {found}; expected a multiple of 4, so that heads lie side by side in 128-bit words")]
    HeadDim {
        /// The model's.
        found: usize,
    },

    /// A schedule for a kernel that no model has.
    #[error("{place}schedule `{schedule}` is for kernel `{kernel}`; expected one of {known}")]
    UnknownKernel {
        /// Where the schedule stands, `FILE:LINE:COLUMN: `; empty if that is unknown.
        place: String,
        /// The schedule.
        schedule: String,
        /// The kernel that it names.
        kernel: String,
        /// The kernels there are.
        known: String,
    },

    /// Two kernels want one tensor in different layouts.
    #[error(transparent)]
    Storage(#[from] Box<StorageConflict>),

    /// The device, or the target that plays one, is too small for the program's own schedules.
    #[error(transparent)]
    TooSmall(Box<TooSmall>),

    /// Several schedules of the user's are wrong: all that is wrong with them, at least two things.
    #[error("{}", one_a_message(.0))]
    Several(Vec<ModelError>),

    /// A tensor that no op of a plan uses.
    #[error("no op of the plan uses `{tensor}`; this is a fault of the program, please report it")]
    Unplanned {
        /// The tensor.
        tensor: String,
    },

    /// The interpreter found a fault in a shader.
    #[error("the interpreter stopped in `{op}`: {reason}; this is a fault of the compiler, please report it")]
    Interpreter {
        /// The op's label.
        op: String,
        /// What it found.
        reason: String,
    },

    /// A weight source gave parts of rows.
    #[error(transparent)]
    Encoding(#[from] tilewright_dsl::storage::LengthError),

    /// A schedule, or the compiler's own mistake.
    #[error(transparent)]
    Compile(#[from] tilewright_codegen::CompileError),

    /// The device, or what it was asked to do.
    #[error(transparent)]
    Runtime(#[from] tilewright_runtime::RuntimeError),

    /// A draft that does not fit its target, or steps that were not planned.
    #[error(transparent)]
    Speculative(#[from] SpeculativeError),
    /// Pages of the cache.
    #[error(transparent)]
    Pages(#[from] crate::engine::PagesError),

    /// Texts that no longer go together.
    #[error(transparent)]
    Fuse(#[from] tilewright_codegen::fuse::FuseError),

    /// A folder to be written already holds something.
    #[error("{path} is not an empty folder ({found}); expected a new or empty one; choose another, or remove it first")]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// Something that is there.
        found: String,
    },

    /// There is no preset of this name.
    #[error("no preset `{name}`; expected one of {known}")]
    Preset {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },

    /// The bundled model is not where the environment says.
    #[error(
        "TILEWRIGHT_ASSETS is {assets}, where there is no tiny/config.json; expected the folder that holds `tiny`; unset it to take the model \
         inside this program, or pass --model DIR"
    )]
    NoBundle {
        /// The variable's value.
        assets: PathBuf,
    },

    /// A folder's disk is too small for what is to be written.
    #[error("{path} has {} of free space, and {} are needed; choose another disk, or a smaller preset", Size(*available), Size(*needed))]
    Space {
        /// The folder.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        available: u64,
    },

    /// Whoever watches the progress asked for an end; nothing is left of what was begun.
    #[error("stopped before {path} was complete; what was begun is removed")]
    Stopped {
        /// The folder.
        path: PathBuf,
    },
}
