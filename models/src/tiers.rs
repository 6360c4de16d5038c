//! The optimisation tiers as data: each is the one before with one thing changed.
//!
//! A tier names schedules, storage, a submission policy and which of attention's two texts runs; it holds no kernel and no
//! graph. The rule: tiers differ in these alone, so that equal tokens on all of them say that a change is right, and the
//! time between two neighbours is what one change is worth. Measured figures are absent: `bench` makes them.

use std::sync::LazyLock;

use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_runtime::Submission;

use crate::kernels::{
    argmax, attention, attention_parts, attention_stats, attention_values, bias, embedding, gated, head_parts,
    kv_append, linear, linear_bias, linear_residual, mul, norm_gated, norm_linear, qkv, residual, rmsnorm, rope,
    rope_append, silu,
};

/// One tier.
#[derive(Clone, PartialEq, Debug)]
pub struct Tier {
    /// Its number, from 0.
    pub number: usize,
    /// A short name.
    pub name: &'static str,
    /// What it changes.
    pub change: &'static str,
    /// Why that should be faster.
    pub hypothesis: &'static str,
    /// What may go wrong.
    pub risk: &'static str,
    /// How embedding and projections are stored.
    pub weights: Storage,
    /// When commands are handed to the device.
    pub submission: Submission,
    /// Whether attention is one pass over the cache.
    pub single_pass: bool,
    /// Whether the device picks the greedy token.
    pub device_argmax: bool,
    /// Whether the projections of queries, keys and values are one.
    pub stacked: bool,
    /// Whether the token that the device picks is the next step's input, so that steps are handed over before it is read.
    pub ahead: bool,
    /// Positions that prefill takes at once.
    pub chunk: u32,
    /// Whether a step of one position runs kernels that the compiler made of several.
    pub fused: bool,
    /// Whether reductions that one workgroup would be long at are split: the largest logit of every few rows of the head takes
    /// the place of logits that nobody reads, and attention's cache is read in parts by steps of more positions than these.
    pub split: Option<u32>,
    /// Whether prefill's projections are made with what follows them: bias, gate, residual.
    pub followed: bool,
    /// A schedule a kernel, or several: the first that covers the model's heads and that the device can run is taken.
    pub schedules: Vec<Phases>,
}

/// A kernel's schedules for the two kinds of step.
#[derive(Clone, PartialEq, Debug)]
pub struct Phases {
    /// Many positions at once.
    pub prefill: Schedule,
    /// One position.
    pub decode: Schedule,
}

impl Phases {
    /// One schedule for both.
    pub fn both(schedule: Schedule) -> Self {
        prefill(schedule.clone(), schedule)
    }
}

fn prefill(prefill: Schedule, decode: Schedule) -> Phases {
    Phases { prefill, decode }
}

impl Tier {
    /// The schedules of a kernel for heads of `head_dim` columns, the best first: the first that a device can run is taken.
    pub fn schedules(&self, kernel: &str, prefill: bool, head_dim: u32) -> impl Iterator<Item = &Schedule> {
        let own = self.schedules.iter().filter(move |p| p.decode.kernel == kernel);
        own.map(move |p| if prefill { &p.prefill } else { &p.decode }).filter(move |s| covers(s, head_dim))
    }

    /// This tier with a kernel's schedules replaced.
    #[must_use]
    pub fn with(mut self, phases: Vec<Phases>) -> Self {
        for p in &phases {
            self.schedules.retain(|old| old.decode.kernel != p.decode.kernel);
        }
        self.schedules.extend(phases);
        self
    }
}

/// Whether a schedule's columns reach over a head.
fn covers(schedule: &Schedule, head_dim: u32) -> bool {
    schedule.levels("softmax.c").is_none_or(|levels| {
        let open = levels.iter().any(|l| l.size.is_none());
        open || levels.iter().filter_map(|l| l.size).product::<u32>() >= head_dim
    })
}

/// How many tiers there are.
pub fn count() -> usize {
    TIERS.len()
}

/// All tiers, in order.
pub fn all() -> &'static [Tier] {
    &TIERS
}

/// The tier of that number, or the last one.
pub fn tier(number: usize) -> &'static Tier {
    &TIERS[number.min(TIERS.len() - 1)]
}

/// Lines of schedules that a tier has and the one before has not, each with its kernel and phase.
pub fn changed_lines(tier: &Tier) -> Vec<String> {
    let Some(before) = tier.number.checked_sub(1).map(|n| &TIERS[n]) else { return Vec::new() };
    let mut lines = Vec::new();
    for new in &tier.schedules {
        for (phase, schedule) in [("prefill", &new.prefill), ("decode", &new.decode)] {
            if before.schedules.iter().any(|p| p.prefill == *schedule || p.decode == *schedule) {
                continue;
            }
            let text = schedule.to_string();
            let inner = text.lines().map(str::trim).filter(|l| l.ends_with(';'));
            lines.extend(inner.map(|line| format!("{} [{}] ({phase}): {line}", schedule.kernel, schedule.name)));
        }
    }
    if tier.weights != before.weights {
        lines.push("embedding, linear: store w: f16;".into());
    }
    lines
}

static TIERS: LazyLock<Vec<Tier>> = LazyLock::new(|| {
    let naive = Tier {
        number: 0,
        name: "naive",
        change: "22 dispatches a layer, one invocation an output, f32 weights; each dispatch is submitted and waited for",
        hypothesis: "the baseline: right and easy to follow",
        risk: "none but time",
        weights: Storage::F32,
        submission: Submission::PerOp { wait: true },
        single_pass: false,
        device_argmax: false,
        stacked: false,
        ahead: false,
        fused: false,
        chunk: 128,
        split: None,
        followed: false,
        schedules: [
            embedding::naive(),
            rmsnorm::naive(),
            linear::naive(),
            bias::naive(),
            rope::naive(),
            kv_append::naive(),
            attention_stats::naive(),
            attention_values::naive(),
            silu::naive(),
            mul::naive(),
            residual::naive(),
        ]
        .map(Phases::both)
        .into(),
    };
    let batched = Tier {
        number: 1,
        name: "batched",
        change: "one command list a layer, one wait a token",
        hypothesis: "a submit and a wait cost more than most of these dispatches; 22 dispatches share one",
        risk: "the driver must order dispatches of one list by their buffers",
        submission: Submission::PerLayer,
        ..naive.clone()
    };
    let half = Tier {
        number: 2,
        name: "half",
        change: "weights of the embedding and the projections are f16, unpacked where they are loaded",
        hypothesis: "decode reads every weight once a token; half the bytes are half the time where bandwidth is the limit",
        risk: "f16 holds 11 bits and at most 65,504: logits move a little, and larger weights are refused",
        weights: Storage::F16,
        ..batched.clone()
    };
    let cooperative = Tier {
        number: 3,
        name: "cooperative",
        change: "decode: one workgroup a weight row; prefill: 64 × 64 tiles through workgroup memory",
        hypothesis: "neighbouring invocations read neighbouring words, and a tile is read once for 64 rows",
        risk: "sums are added in another order; 64 partial sums a row meet at barriers",
        ..half.clone().with(vec![prefill(linear::tiled(), linear::row())])
    };
    let single_pass = Tier {
        number: 4,
        name: "single-pass",
        change: "online softmax: attention reads the cache once, in one dispatch of one workgroup a head",
        hypothesis: "scores are computed once instead of once a pass and column, and a dispatch a layer is gone",
        risk: "online softmax rescales its sums as the maximum grows: another rounding",
        single_pass: true,
        ..cooperative.clone().with(vec![
            Phases::both(attention::grouped()),
            Phases::both(attention::grouped_wide()),
            Phases::both(attention::naive()),
        ])
    };
    let norms = Tier {
        number: 5,
        name: "norms",
        change: "one workgroup a row of RMSNorm shares the sum of squares",
        hypothesis: "every output added up the whole row; now each element is read once for the sum",
        risk: "sums are added in another order",
        ..single_pass.clone().with(vec![Phases::both(rmsnorm::row())])
    };
    let argmax = Tier {
        number: 6,
        name: "argmax",
        change: "the device picks the greedy token",
        hypothesis: "4 bytes come back instead of a logit for each token of the vocabulary",
        risk: "ties must go to the lowest index, and a value that is not finite must be noticed",
        device_argmax: true,
        ..norms.clone().with(vec![Phases::both(argmax::vectors())])
    };
    let token = Tier {
        number: 7,
        name: "token",
        change: "one submit a token",
        hypothesis: "the device no longer waits for the host between layers",
        risk: "a driver may reset a device whose submit takes seconds",
        submission: Submission::PerToken,
        ..argmax.clone()
    };
    let fused = Tier {
        number: 8,
        name: "fused",
        change: "norms, biases, rotary embedding, activations and residuals run inside the projections; q, k and v are one",
        hypothesis: "21 dependent dispatches a layer are 5, and what they passed on stays in registers",
        risk: "every workgroup of a projection adds up the norm's squares again",
        stacked: true,
        fused: true,
        ..token.clone().with(vec![
            Phases::both(qkv::subgroup()),
            Phases::both(qkv::rows()),
            Phases::both(norm_gated::subgroup()),
            Phases::both(norm_gated::rows()),
            Phases::both(linear_residual::subgroup()),
            Phases::both(linear_residual::rows()),
            Phases::both(norm_linear::subgroup()),
            Phases::both(norm_linear::coalesced()),
            Phases::both(rope_append::row()),
        ])
    };
    let ahead = Tier {
        number: 9,
        name: "ahead",
        change: "the token stays on the device: steps are handed over before the ones before them are read",
        hypothesis: "the device no longer waits while the host reads a token and records the next step",
        risk: "the end of a text is noticed a few steps late, and their work is lost",
        ahead: true,
        ..fused.clone()
    };
    let wide = Tier {
        number: 10,
        name: "wide",
        change: "attention by workgroups of 512 invocations, argmax of 1,024, projections of 256, where the device has them",
        hypothesis: "one workgroup a head or a row leaves most of the device idle: more invocations hide its latency",
        risk: "partial results take workgroup memory, and more of them meet in the fold",
        ..ahead.clone().with(vec![
            prefill(attention::grouped(), attention::octets()),
            prefill(attention::grouped_wide(), attention::octets_wide()),
            Phases::both(attention::grouped()),
            Phases::both(attention::grouped_wide()),
            Phases::both(attention::naive()),
            Phases::both(argmax::wide()),
            Phases::both(argmax::vectors()),
            Phases::both(norm_gated::eight()),
            Phases::both(norm_gated::rows()),
            Phases::both(linear_residual::wide()),
            Phases::both(linear_residual::rows()),
        ])
    };
    let split = Tier {
        number: 11,
        name: "split",
        change: "attention over more than 256 positions in parts of 256, the greedy token in parts of 64 rows, then merged; an \
                 invocation of attention has two or four positions under way",
        hypothesis: "one workgroup a head walks a long cache alone, and one reads all logits: parts are walked side by side, and \
                     logits that nobody reads are not written. Up to 256 positions there is one part, and nothing to merge; \
                     beyond, a dispatch a layer (about 2 µs) costs less than merging anew in every workgroup of the output \
                     projection (16 parts at 4,096: 25 MB from the cache of a large GPU, 5 µs)",
        risk: "partial results take memory and a dispatch; the order of attention's sum changes with the chunk, not with the length",
        split: Some(attention_parts::CHUNK),
        ..wide.clone().with(vec![
            prefill(attention::grouped(), attention::fours()),
            prefill(attention::grouped_wide(), attention::fours_wide()),
            Phases::both(attention::grouped()),
            Phases::both(attention::grouped_wide()),
            Phases::both(attention::naive()),
            Phases::both(attention_parts::pairs()),
            Phases::both(attention_parts::pairs_wide()),
            Phases::both(attention_parts::grouped()),
            Phases::both(attention_parts::grouped_wide()),
            Phases::both(attention_parts::naive()),
            Phases::both(attention_parts::merged()),
            Phases::both(attention_parts::merged_wide()),
            Phases::both(attention_parts::merged_naive()),
            Phases::both(head_parts::wide()),
            Phases::both(head_parts::coalesced()),
            Phases::both(head_parts::merged_wide()),
            Phases::both(head_parts::merged()),
        ])
    };
    let matrix = Tier {
        number: 12,
        name: "matrix",
        change: "prefill: 512 positions at once, projections by cooperative matrices where the device has them, with what follows \
                 them; 16 queries share each tile of keys and values",
        hypothesis: "fragments of f16 multiply an order of magnitude faster than f32 arithmetic, larger chunks keep all of the \
                     device busy, and a cache that 16 queries read once is no bottleneck",
        risk: "activations are rounded to f16 on their way to a fragment, and overflow above 65,504: prefill then runs again without",
        chunk: 512,
        followed: true,
        ..split.clone().with(vec![
            Phases::both(linear_bias::matrix()),
            Phases::both(linear_bias::tiled()),
            Phases::both(gated::matrix()),
            Phases::both(gated::matrix_small()),
            Phases::both(gated::tiled_wide()),
            Phases::both(gated::tiled()),
            prefill(linear_residual::matrix(), linear_residual::wide()),
            prefill(linear_residual::tiled(), linear_residual::wide()),
            prefill(linear_residual::tiled(), linear_residual::rows()),
            prefill(attention::queries(), attention::fours()),
            prefill(attention::queries_wide(), attention::fours_wide()),
            prefill(attention::grouped(), attention::fours()),
            prefill(attention::grouped_wide(), attention::fours_wide()),
            Phases::both(attention::grouped()),
            Phases::both(attention::grouped_wide()),
            Phases::both(attention::naive()),
        ])
    };
    let all = [naive, batched, half, cooperative, single_pass, norms, argmax, token, fused, ahead, wide, split, matrix];
    all.into_iter().enumerate().map(|(number, tier)| Tier { number, ..tier }).collect()
});
