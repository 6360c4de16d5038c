//! The extents at which a kernel is reviewed: small enough for one binding, with rows that are known at run time only.

use tilewright_codegen::shape::{Extent, Shape};

use crate::kernels::Entry;

/// The entry's own extents with up to 64 rows, but for the kernels that are clearer at others.
pub fn shape(entry: &Entry) -> Shape {
    let some = Shape::new().param("T", 64);
    match entry.kernel.name.as_str() {
        "embedding" => some.fixed("V", 1000).fixed("D", 896),
        "silu" | "mul" => some.fixed("D", 4864),
        "rope" => some.fixed("S", 14).fixed("H", 14).fixed("D", 64).fixed("P", 2048).fixed("C", 64),
        "kv_append" => some.fixed("S", 2).fixed("G", 2).fixed("D", 64).fixed("P", 2048),
        "qkv" | "rope_append" => {
            let cache = entry.shape.clone().param("T", 64).fixed("P", 2048).fixed("k.C", 2048);
            cache.fixed("q.C", 64)
        }
        "attention" | "attention_stats" | "attention_values" => {
            some.fixed("H", 14).fixed("G", 2).fixed("D", 64).fixed("P", 2048)
        }
        "attention_scores" | "attention_mix" => {
            let heads = some.fixed("H", 14).fixed("G", 2).fixed("D", 64).fixed("P", 2048);
            heads.param("R", 64 * 14).param("C", 2048)
        }
        "softmax" => Shape::new().param("R", 64).fixed("C", 512),
        _ => match entry.shape.get("T") {
            Some(Extent::Fixed(_)) => entry.shape.clone().param("T", 64),
            _ => entry.shape.clone(),
        },
    }
}
