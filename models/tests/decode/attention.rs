//! Variants of attention: the same logits on every kind of tier, and the memory that each takes.

use tilewright_codegen::target::Target;
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, Plan};
use tilewright_models::error::ModelError;
use tilewright_models::variants::Attention;
use tilewright_runtime::Role;

use crate::goldens::{Case, cases, distance, load, scale, tier, tiny};

/// Logits of two variants may differ by this share of the largest one's magnitude.
const APART: f32 = 1e-4;

const ALL: [Attention; 4] = [Attention::Naive, Attention::Chunked, Attention::Fused, Attention::Split];

fn prompts() -> Vec<Case> {
    cases("tiny/cases.json", "tiny/last_logits.safetensors")
}

fn options(number: usize, attention: Attention, context: u32) -> EngineOptions {
    EngineOptions { attention: Some(attention), context: Some(context), ..tier(number) }
}

/// Logits of a prompt's last position, and of a few more tokens.
fn logits(options: &EngineOptions, ids: &[u32], more: &[u32]) -> Vec<Vec<f32>> {
    let mut engine = load(&tiny(), options);
    let mut all = vec![engine.prefill(ids).unwrap().logits.unwrap()];
    all.extend(more.iter().map(|id| engine.decode(*id).unwrap().logits.unwrap()));
    all
}

fn equal_on(number: usize, positions: usize) {
    let long = prompts().into_iter().find(|c| c.ids.len() >= positions).unwrap();
    let (ids, more) = long.ids[..positions].split_at(positions - 3);
    let naive = logits(&options(number, Attention::Naive, positions as u32), ids, more);
    assert_eq!(naive.len(), 4);
    for attention in &ALL[1..] {
        let other = logits(&options(number, *attention, positions as u32), ids, more);
        for (position, (a, b)) in naive.iter().zip(&other).enumerate() {
            let found = distance(a, b) / scale(a);
            assert!(found <= APART, "tier {number}, {attention}, step {position}: {found} apart");
        }
    }
}

#[test]
fn variants_agree_on_a_tier_of_single_invocations() {
    equal_on(1, 24);
}

#[test]
fn variants_agree_on_a_tier_of_workgroups() {
    equal_on(6, 40);
}

#[test]
fn variants_agree_on_the_last_tier() {
    equal_on(12, 40);
}

fn plan(config: &Config, attention: Attention, context: u32) -> Result<Plan, ModelError> {
    let target = Target { max_binding_bytes: 1 << 30, max_buffer_bytes: 1 << 30, ..Target::webgpu() };
    let head = tilewright_models::checkpoint::EMBEDDING;
    Ok(Plan::choose(config, head, &target, &options(12, attention, context), true)?.0)
}

/// On the tier that takes 512 positions at once, a prompt of the whole context is one step: T = P.
#[test]
fn memory_grows_with_the_prompt_or_with_its_square() {
    let config = Config::open(&tiny()).unwrap();
    for attention in ALL {
        let bytes = |context: u32| {
            let plan = plan(&config, attention, context).unwrap();
            assert_eq!(plan.chunk, context);
            let activations = tilewright_runtime::plan::memory(plan.buffers()).bytes(Role::Activation);
            (plan.between(), activations)
        };
        let [(b1, a1), (b2, a2), (b4, a4)] = [128, 256, 512].map(bytes);
        let heads = config.num_attention_heads as u64;
        match attention {
            // Two tables of a row a position and head.
            Attention::Naive => {
                assert_eq!([b1, b2, b4], [128, 256, 512].map(|n: u64| 2 * heads * n * n * 4));
                assert!(a4 - a2 > 3 * (a2 - a1), "{a1} {a2} {a4}");
            }
            // A state a part: one up to 256 positions, then two.
            Attention::Split => assert!(b2 == 2 * b1 && b4 > 2 * b2 && b4 < 4 * b2, "{b1} {b2} {b4}"),
            // Everything is a row a position.
            Attention::Chunked | Attention::Fused => {
                assert_eq!((a4 - a2, b4), (2 * (a2 - a1), 4 * b1), "{attention}");
                assert_eq!(b1 == 0, attention == Attention::Fused);
            }
        }
    }
}

#[test]
fn a_report_says_what_a_variant_keeps() {
    let config = Config::open(&tiny()).unwrap();
    let report = |attention| Engine::plan(&config, &Target::webgpu(), &options(6, attention, 128)).unwrap();
    let naive = report(Attention::Naive);
    let heads = config.num_attention_heads as u64;
    assert_eq!(naive.attention_bytes, 2 * heads * 128 * 128 * 4);
    assert!(naive.memory.contains("attention  naive:") && naive.memory.contains("`scores`"), "{}", naive.memory);
    assert!(naive.ops.contains("softmax[row]"), "{}", naive.ops);
    let fused = report(Attention::Fused);
    assert!(fused.memory.ends_with("fused: 0 B of activations between its kernels: nothing"), "{}", fused.memory);
}

/// A table that no binding holds is refused by its name.
#[test]
fn a_table_too_large_is_refused_by_name() {
    let config = Config::open(&tiny()).unwrap();
    let target = Target { max_binding_bytes: 8 << 20, max_buffer_bytes: 8 << 20, ..Target::webgpu() };
    let error = Engine::plan(&config, &target, &options(12, Attention::Naive, 1024)).unwrap_err().to_string();
    assert!(error.contains("`attention_scores`") && error.contains("of `scores`"), "{error}");
    Engine::plan(&config, &target, &options(12, Attention::Fused, 1024)).unwrap();
}
