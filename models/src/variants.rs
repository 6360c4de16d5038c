//! Ways to run attention and to keep its cache, chosen apart from a tier.
//!
//! The rule: a variant is another plan of the same graph, by texts and schedules that the list of kernels has; what a tier says
//! nothing of runs by schedules in the manner of the tier. All of them give the tokens of the tier's own.
//! Absent: any measure of which is best.
//! Scores in a table: Vaswani et al. 2017 (arXiv:1706.03762); online softmax: Milakov and Gimelshein 2018 (arXiv:1805.02867);
//! parts of a cache: Dao et al. 2023.

use std::fmt;

use tilewright_dsl::schedule::{Schedule, Storage};

use crate::kernels::{
    attention, attention_mix, attention_parts, attention_scores, attention_stats, attention_values, kv_append, qkv,
    rope_append, softmax,
};
use crate::tiers::{Phases, Tier};

/// How attention reads the cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Attention {
    /// A table of all scores, softmax of its rows, and a mix of values: three kernels, and memory that grows with T · P.
    Naive,
    /// Two passes over the cache, some positions at a time, that store two numbers a head.
    Chunked,
    /// A single pass by online softmax.
    Fused,
    /// Parts of the cache side by side by online softmax, and a kernel that merges them.
    Split,
}

impl fmt::Display for Attention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Attention::Naive => "naive",
            Attention::Chunked => "chunked",
            Attention::Fused => "fused",
            Attention::Split => "split",
        })
    }
}

/// How keys and values lie in the cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum KvStore {
    /// In 32 bits.
    #[default]
    F32,
    /// In 16 bits: half the memory, and half of what attention reads.
    F16,
}

impl KvStore {
    /// The storage of a cache's elements.
    pub fn storage(self) -> Storage {
        match self {
            KvStore::F32 => Storage::F32,
            KvStore::F16 => Storage::F16,
        }
    }
}

/// What is kept of keys and values from step to step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kv {
    /// Nothing: every step computes all positions again.
    None,
    /// A row a position.
    #[default]
    Contiguous,
    /// Rows in pages of one pool, which sequences share.
    Paged,
}

/// Which attention a plan's steps run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Prefill, and steps of one position.
    pub near: Attention,
    /// Steps of one position behind so many others split the cache.
    pub far: Option<u32>,
}

impl Steps {
    /// Those of a tier, or the variant asked for at every length.
    pub fn of(tier: &Tier, asked: Option<Attention>) -> Self {
        match asked {
            Some(near) => Steps { near, far: None },
            None => {
                let near = if tier.single_pass { Attention::Fused } else { Attention::Chunked };
                Steps { near, far: tier.split }
            }
        }
    }

    /// Whether some step runs a variant.
    pub fn runs(self, attention: Attention) -> bool {
        self.near == attention || attention == Attention::Split && self.far.is_some()
    }
}

/// A tier with schedules for the variants asked for, where they are not the tier's own.
pub fn fitted(tier: &Tier, asked: Option<Attention>, store: KvStore) -> Tier {
    let tier = match store {
        KvStore::F32 => tier.clone(),
        // Whoever writes a word of the cache makes both of its elements.
        KvStore::F16 => tier.clone().with(
            [kv_append::pairs(), rope_append::row_pairs(), qkv::subgroup_pairs(), qkv::rows_pairs()]
                .map(Phases::both)
                .into(),
        ),
    };
    let own = Steps::of(&tier, None);
    let Some(asked) = asked.filter(|a| !own.runs(*a)) else { return tier };
    // The first tiers have an invocation for each output.
    let alone = tier.number < 3;
    let both = |schedules: &[Schedule]| schedules.iter().cloned().map(Phases::both).collect();
    tier.with(match (asked, alone) {
        (Attention::Naive, true) => both(&[attention_scores::naive(), softmax::naive(), attention_mix::naive()]),
        (Attention::Naive, false) => both(&[attention_scores::vectors(), softmax::row(), attention_mix::shared()]),
        (Attention::Chunked, true) => both(&[attention_stats::naive(), attention_values::naive()]),
        (Attention::Chunked, false) => both(&[attention_stats::positions(), attention_values::columns()]),
        (Attention::Fused, true) => both(&[attention::naive()]),
        (Attention::Fused, false) => both(&[attention::grouped(), attention::grouped_wide(), attention::naive()]),
        (Attention::Split, true) => both(&[attention_parts::naive(), attention_parts::merged_naive()]),
        (Attention::Split, false) => both(&[
            attention_parts::grouped(),
            attention_parts::grouped_wide(),
            attention_parts::naive(),
            attention_parts::merged(),
            attention_parts::merged_wide(),
            attention_parts::merged_naive(),
        ]),
    })
}
