//! Attention over long contexts: every 256 positions by workgroups of their own, and what becomes of their results. Made by the
//! compiler from attention's text, not written by hand.
//! Flash-decoding: Dao et al. 2023.

use super::attention::attention;
use tilewright_codegen::fuse::{FuseError, split};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule;

/// Positions of a part: fixed, so that a sum's order follows neither from the length nor from the batch.
pub const CHUNK: u32 = 256;

/// Online softmax over every 256 positions: the largest score, the sum of weights, and the weighted sum of values.
///
/// # Errors
/// None, as long as the text stays what it is.
pub fn attention_parts() -> Result<Kernel, FuseError> {
    let [kernel, _] = split(["attention_parts", "attention_merged"], &attention(), "j", CHUNK)?;
    let doc = "Online softmax over every 256 positions: the largest score, the sum of weights, and the weighted sum of values.";
    Ok(Kernel { doc: doc.into(), ..kernel })
}

/// y = softmax(q·kᵀ)·v from the parts of 256 positions.
///
/// # Errors
/// None, as long as the text stays what it is.
pub fn attention_merged() -> Result<Kernel, FuseError> {
    let [_, kernel] = split(["attention_parts", "attention_merged"], &attention(), "j", CHUNK)?;
    Ok(Kernel { doc: "y = softmax(q·kᵀ)·v from the parts of 256 positions.".into(), ..kernel })
}

schedule! {
    /// One invocation a part of a query head.
    pub naive for "attention_parts" {
        t: grid;
        j.part: grid;
        h: grid, lanes(4);
    }
}

schedule! {
    /// One workgroup of 512 a part of a query head: 64 positions at a time, eight invocations of eight columns each.
    pub octets for "attention_parts" {
        workgroup 512;
        t: grid;
        j.part: grid;
        h: grid;
        j: serial, lanes(64);
        softmax.c: lanes(8), vector(8);
        c: lanes(8), vector(8);
        d: lanes(8), vector(8);
        fold d: subgroup;
    }
}

schedule! {
    /// The same for heads of up to 128 columns.
    pub octets_wide for "attention_parts" from octets {
        j: serial, lanes(32);
        softmax.c: lanes(16), vector(8);
        c: lanes(16), vector(8);
        d: lanes(16), vector(8);
    }
}

schedule! {
    /// As `octets`, with two positions of an invocation under way at once.
    pub pairs for "attention_parts" from octets {
        j: serial, unroll(2), lanes(64);
    }
}

schedule! {
    /// The same for heads of up to 128 columns.
    pub pairs_wide for "attention_parts" from octets_wide {
        j: serial, unroll(2), lanes(32);
    }
}

schedule! {
    /// One workgroup a part of a query head: all of its scores are computed together, then 16 groups of 16 invocations each add
    /// up every sixteenth position, four columns an invocation.
    pub grouped for "attention_parts" {
        workgroup 256;
        t: grid;
        j.part: grid;
        h: grid;
        j: serial as jo, serial(16), lanes(16);
        softmax.c: lanes(16), vector(4);
        c: lanes(16), vector(4);
        d: serial, vector(4);
        compute score at jo: workgroup;
    }
}

schedule! {
    /// The same for heads of up to 128 columns.
    pub grouped_wide for "attention_parts" from grouped {
        j: serial as jo, serial(32), lanes(8);
        softmax.c: lanes(32), vector(4);
        c: lanes(32), vector(4);
    }
}

schedule! {
    /// One invocation a query head.
    pub merged_naive for "attention_merged" {
        t: grid;
        h: grid, lanes(4);
    }
}

schedule! {
    /// One workgroup a query head: 16 parts at a time, 16 invocations of four columns each.
    pub merged for "attention_merged" {
        workgroup 256;
        t: grid;
        h: grid;
        j.part: serial, lanes(16);
        softmax.c: lanes(16), vector(4);
        c: lanes(16), vector(4);
    }
}

schedule! {
    /// The same for heads of up to 128 columns.
    pub merged_wide for "attention_merged" from merged {
        j.part: serial, lanes(8);
        softmax.c: lanes(32), vector(4);
        c: lanes(32), vector(4);
    }
}
