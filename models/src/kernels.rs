//! The operations of Qwen2.5, one kernel text each, with the schedules that it may run by.
//!
//! A file holds an algorithm and then its schedules. The rule: an operation has one text, whatever the batch, the storage or
//! the device; attention alone has three, because a table of scores, two passes and online softmax are other algorithms.
//! Storage of weights is absent from the schedules here: a tier adds it.
//! Qwen2.5: arXiv:2412.15115; the arithmetic is that of transformers' `modeling_qwen2.py`.

pub mod argmax;
pub mod attention;
pub mod attention_mix;
pub mod attention_parts;
pub mod attention_scores;
pub mod attention_stats;
pub mod attention_values;
pub mod bias;
pub mod draw;
pub mod embedding;
pub mod gated;
pub mod head_parts;
pub mod kv_append;
pub mod linear;
pub mod linear_bias;
pub mod linear_residual;
pub mod mul;
pub mod norm_gated;
pub mod norm_linear;
pub mod paged;
pub mod penalty;
pub mod qkv;
pub mod residual;
pub mod rmsnorm;
pub mod rope;
pub mod rope_append;
pub mod silu;
pub mod softmax;
pub mod topk;

use tilewright_codegen::shape::Shape;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::Schedule;

/// A kernel with its schedules.
pub struct Entry {
    /// The algorithm.
    pub kernel: Kernel,
    /// How it may run, the plainest first.
    pub schedules: Vec<Schedule>,
    /// Extents of a decode step of Qwen2.5-0.5B, for whoever wants to see a shader.
    pub shape: Shape,
}

/// Every kernel, in the order in which a forward pass meets them.
pub fn all() -> Vec<Entry> {
    let entry = |kernel: Kernel, schedules: Vec<Schedule>| Entry { shape: typical(&kernel), kernel, schedules };
    let mut entries = vec![
        entry(embedding::embedding(), vec![embedding::naive()]),
        entry(rmsnorm::rmsnorm(), vec![rmsnorm::naive(), rmsnorm::row(), rmsnorm::wide(), rmsnorm::subgroup()]),
        entry(
            linear::linear(),
            vec![
                linear::naive(),
                linear::row(),
                linear::row_subgroup(),
                linear::coalesced(),
                linear::subgroup(),
                linear::tiled(),
                linear::tiled_wide(),
                linear::tiled_short(),
                linear::matrix(),
                linear::matrix_small(),
            ],
        ),
        entry(bias::bias(), vec![bias::naive()]),
        entry(rope::rope(), vec![rope::naive()]),
        entry(kv_append::kv_append(), vec![kv_append::naive(), kv_append::pairs()]),
        entry(
            attention_stats::attention_stats(),
            vec![attention_stats::naive(), attention_stats::positions(), attention_stats::subgroup()],
        ),
        entry(attention_values::attention_values(), vec![attention_values::naive(), attention_values::columns()]),
        entry(
            attention::attention(),
            vec![
                attention::naive(),
                attention::columns(),
                attention::columns_wide(),
                attention::grouped(),
                attention::grouped_wide(),
                attention::queries(),
                attention::queries_wide(),
                attention::tree(),
                attention::subgroup(),
                attention::octets(),
                attention::octets_wide(),
                attention::fours(),
                attention::fours_wide(),
            ],
        ),
        entry(attention_scores::attention_scores(), vec![attention_scores::naive(), attention_scores::vectors()]),
        entry(attention_mix::attention_mix(), vec![attention_mix::naive(), attention_mix::shared()]),
        entry(silu::silu(), vec![silu::naive()]),
        entry(mul::mul(), vec![mul::naive()]),
        entry(residual::residual(), vec![residual::naive()]),
        entry(
            argmax::argmax(),
            vec![argmax::naive(), argmax::tree(), argmax::vectors(), argmax::subgroup(), argmax::wide()],
        ),
        entry(penalty::first_seen(), vec![penalty::tokens()]),
        entry(penalty::penalise(), vec![penalty::elements()]),
        entry(topk::topk_chunks(), vec![topk::chunks()]),
        entry(topk::topk_rank(), vec![topk::ranks()]),
        entry(topk::topk_values(), vec![topk::values()]),
        entry(topk::topk_first(), vec![topk::places()]),
        entry(topk::topk_pairs(), vec![topk::row()]),
        entry(draw::draw(), vec![draw::row()]),
        entry(softmax::softmax(), vec![softmax::naive(), softmax::row(), softmax::wide(), softmax::subgroup()]),
    ];
    let fused = [
        (
            norm_linear::norm_linear(),
            vec![norm_linear::coalesced(), norm_linear::subgroup(), norm_linear::row(), norm_linear::row_subgroup()],
        ),
        (qkv::qkv(), vec![qkv::rows(), qkv::subgroup(), qkv::rows_pairs(), qkv::subgroup_pairs()]),
        (norm_gated::norm_gated(), vec![norm_gated::rows(), norm_gated::subgroup(), norm_gated::eight()]),
        (linear_bias::linear_bias(), vec![linear_bias::naive(), linear_bias::tiled(), linear_bias::matrix()]),
        (
            gated::gated(),
            vec![gated::naive(), gated::tiled(), gated::tiled_wide(), gated::matrix(), gated::matrix_small()],
        ),
        (
            linear_residual::linear_residual(),
            vec![
                linear_residual::rows(),
                linear_residual::subgroup(),
                linear_residual::wide(),
                linear_residual::tiled(),
                linear_residual::matrix(),
            ],
        ),
        (rope_append::rope_append(), vec![rope_append::row(), rope_append::heads(), rope_append::row_pairs()]),
        (
            attention_parts::attention_parts(),
            vec![
                attention_parts::naive(),
                attention_parts::octets(),
                attention_parts::octets_wide(),
                attention_parts::pairs(),
                attention_parts::pairs_wide(),
                attention_parts::grouped(),
                attention_parts::grouped_wide(),
            ],
        ),
        (
            attention_parts::attention_merged(),
            vec![attention_parts::merged_naive(), attention_parts::merged(), attention_parts::merged_wide()],
        ),
        (head_parts::head_parts(), vec![head_parts::coalesced(), head_parts::subgroup(), head_parts::wide()]),
        (head_parts::argmax_merged(), vec![head_parts::merged(), head_parts::merged_wide()]),
    ];
    entries.extend(fused.into_iter().filter_map(|(kernel, schedules)| Some(entry(kernel.ok()?, schedules))));
    entries
}

/// The schedule of a kernel where a tier names none: that of a sampler's step, which all tiers run alike, or the empty one.
pub fn usual(kernel: &str) -> Schedule {
    let all = [
        penalty::tokens(),
        penalty::elements(),
        topk::chunks(),
        topk::ranks(),
        topk::values(),
        topk::places(),
        topk::row(),
        draw::row(),
    ];
    all.into_iter().find(|s| s.kernel == kernel).unwrap_or_else(|| Schedule::empty(kernel))
}

/// Extents of a decode step of Qwen2.5-0.5B: heads where the kernel has heads, rows elsewhere.
fn typical(kernel: &Kernel) -> Shape {
    let heads = kernel.extents.iter().any(|e| matches!(e.rsplit('.').next(), Some("H" | "G")));
    let extent = |name: &str| match name {
        "K" if kernel.name == "draw" || kernel.name.starts_with("topk") => 64,
        "N" => 151_936 / topk::CHUNK,
        "C" if kernel.name == "topk_values" => topk::CHUNK,
        "F" => 64,
        "M" => 64 * topk::CHUNK,
        "W" => 2 * 64 + 3,
        "C" if kernel.name == "softmax" => 512,
        "C" if ["attention_scores", "attention_mix"].contains(&kernel.name.as_str()) => 512,
        "R" if ["attention_scores", "attention_mix"].contains(&kernel.name.as_str()) => 14,
        "T" | "C" | "q.C" => 1,
        // As many as one binding of the least device holds in f32.
        "V" if kernel.name == "head_parts" => 32_768,
        "V" => 151_936,
        "H" | "q.H" => 14,
        "G" | "k.H" | "v.G" => 2,
        "S" => 18,
        "R" if heads => 1152,
        "D" if heads => 64,
        "D" if ["gated", "norm_gated"].contains(&kernel.name.as_str()) => 4864,
        "K" if kernel.name == "linear_residual" => 4864,
        "P" | "k.C" => 4096,
        "j.Parts" => 4096 / attention_parts::CHUNK,
        "v.Parts" if kernel.name == "head_parts" => 32_768 / head_parts::CHUNK,
        "v.Parts" => 151_936 / head_parts::CHUNK,
        _ => 896,
    };
    kernel.extents.iter().fold(Shape::new(), |shape, name| shape.fixed(name, extent(name)))
}

/// The kernel of that name, with its schedules.
pub fn named(name: &str) -> Option<Entry> {
    all().into_iter().find(|e| e.kernel.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fused_kernels_say_what_their_functions_say() {
        let files = [
            ("norm_linear", include_str!("kernels/norm_linear.rs")),
            ("qkv", include_str!("kernels/qkv.rs")),
            ("norm_gated", include_str!("kernels/norm_gated.rs")),
            ("linear_bias", include_str!("kernels/linear_bias.rs")),
            ("gated", include_str!("kernels/gated.rs")),
            ("linear_residual", include_str!("kernels/linear_residual.rs")),
            ("rope_append", include_str!("kernels/rope_append.rs")),
            ("attention_parts", include_str!("kernels/attention_parts.rs")),
            ("attention_merged", include_str!("kernels/attention_parts.rs")),
            ("head_parts", include_str!("kernels/head_parts.rs")),
            ("argmax_merged", include_str!("kernels/head_parts.rs")),
        ];
        for (name, file) in files {
            let doc = named(name).expect("it is in the list").kernel.doc;
            assert!(file.contains(&format!("\n/// {doc}")), "{name}: {doc}");
        }
    }
}
