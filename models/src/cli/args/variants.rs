//! Flags for ways to run attention and to keep its cache.

use clap::ValueEnum;

use super::values::count;
use crate::variants::{Attention, Kv, KvStore};

/// How attention runs.
#[derive(Debug, clap::Args)]
pub struct VariantArgs {
    /// How attention reads the cache: `auto` as the tier does, and by the schedules that it has; the tokens are the same
    #[arg(long, value_enum, default_value_t = AttentionArg::Auto)]
    pub attention: AttentionArg,

    /// How keys and values lie in the cache: `f16` takes half the memory, and rounds them to 11 bits
    #[arg(long, value_enum, default_value_t = KvStoreArg::F32)]
    pub kv_store: KvStoreArg,

    /// What is kept of keys and values from token to token
    #[arg(long, value_enum, default_value_t = KvArg::Contiguous)]
    pub kv: KvArg,

    /// Pages of the pool of --kv paged, of 16 positions each [default: those of one context]
    #[arg(long, value_name = "N", value_parser = count)]
    pub kv_pages: Option<u32>,
}

/// `--kv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KvArg {
    /// Nothing: the whole text is computed again for each token
    None,
    /// A row a position
    Contiguous,
    /// Rows in pages of one pool, which a table finds
    Paged,
}

impl From<KvArg> for Kv {
    fn from(arg: KvArg) -> Self {
        match arg {
            KvArg::None => Kv::None,
            KvArg::Contiguous => Kv::Contiguous,
            KvArg::Paged => Kv::Paged,
        }
    }
}

/// `--kv-store`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KvStoreArg {
    /// In 32 bits
    F32,
    /// In 16 bits
    F16,
}

impl From<KvStoreArg> for KvStore {
    fn from(arg: KvStoreArg) -> Self {
        match arg {
            KvStoreArg::F32 => KvStore::F32,
            KvStoreArg::F16 => KvStore::F16,
        }
    }
}

/// `--attention`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AttentionArg {
    /// As the tier does
    Auto,
    /// A table of all scores, softmax, a mix of values: three kernels, and memory that grows with prompt times context
    Naive,
    /// Two passes over the cache, some positions at a time
    Chunked,
    /// One pass, by online softmax
    Fused,
    /// Parts of 256 positions side by side, then merged, at every length
    Split,
}

impl From<AttentionArg> for Option<Attention> {
    fn from(arg: AttentionArg) -> Self {
        match arg {
            AttentionArg::Auto => None,
            AttentionArg::Naive => Some(Attention::Naive),
            AttentionArg::Chunked => Some(Attention::Chunked),
            AttentionArg::Fused => Some(Attention::Fused),
            AttentionArg::Split => Some(Attention::Split),
        }
    }
}
