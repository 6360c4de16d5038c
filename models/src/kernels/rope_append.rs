//! What happens to the heads of a position before attention, in one: laid beside each other by the compiler.

use super::{kv_append::kv_append, rope::rope};
use tilewright_codegen::fuse::{FuseError, beside};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// Queries and keys rotated, keys and values appended to the cache, all from the heads of one stacked projection.
///
/// # Errors
/// None, as long as the texts stay what they are.
pub fn rope_append() -> Result<Kernel, FuseError> {
    let shared = ["t", "x", "angles", "pos", "T", "S", "D", "P"];
    let kernel = beside("rope_append", &[("q", &rope()), ("k", &rope()), ("v", &kv_append())], &shared)?;
    let doc = "Queries and keys rotated, keys and values appended to the cache, all from the heads of one stacked projection.";
    Ok(Kernel { doc: doc.into(), ..kernel })
}

schedule! {
    /// One workgroup a position.
    pub row for "rope_append" {
        workgroup 256;
        t: grid;
        q.h: serial, lanes(8);
        q.p: serial, lanes(32);
        k.h: serial, lanes(8);
        k.p: serial, lanes(32);
        v.g: serial, lanes(4);
        v.d: serial, lanes(64);
    }
}

schedule! {
    /// Workgroups of 32 for a head's pairs, or for as many of its columns.
    pub heads for "rope_append" {
        t: grid;
        q.h: grid;
        q.p: grid, lanes(32);
        k.h: grid;
        k.p: grid, lanes(32);
        v.g: grid;
        v.d: grid, lanes(32);
    }
}

schedule! {
    /// As `row`, two neighbours of the cache an invocation, which are one word where it is f16.
    pub row_pairs for "rope_append" from row {
        k.h: serial, lanes(16);
        k.p: serial, lanes(16), unroll(2);
        v.g: serial, lanes(8);
        v.d: serial, lanes(32), unroll(2);
    }
}
