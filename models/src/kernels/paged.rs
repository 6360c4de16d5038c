//! The kernels of the cache, with a table of pages between them and its rows. Made by the compiler from their texts.
//! Paged attention: Kwon et al. 2023 (arXiv:2309.06180).

use tilewright_codegen::fuse::{FuseError, through};
use tilewright_dsl::ir::Kernel;

/// Positions of a page.
pub const PAGE: u32 = 16;

/// The table's name in a kernel.
pub const TABLE: &str = "table";

/// Kernels of the cache, and which of their tensors are keys or values.
pub const CACHES: [(&str, &[&str]); 9] = [
    ("kv_append", &["cache"]),
    ("rope_append", &["k.y", "v.cache"]),
    ("qkv", &["k.y", "v.cache"]),
    ("attention", &["k", "v"]),
    ("attention_stats", &["k"]),
    ("attention_values", &["k", "v"]),
    ("attention_parts", &["k", "v"]),
    ("attention_scores", &["k"]),
    ("attention_mix", &["v"]),
];

/// A kernel of the cache that finds rows by a table; none of one that sees no cache.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn paged(kernel: &Kernel) -> Result<Option<Kernel>, FuseError> {
    let caches = CACHES.iter().find(|(name, _)| *name == kernel.name);
    caches.map(|(_, tensors)| through(kernel, tensors, TABLE, PAGE)).transpose()
}
