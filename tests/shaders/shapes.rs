//! The programs that are reviewed: every kernel by every schedule at the 0.5B's extents, and some with packed weights.

use tilewright_codegen::compile;
use tilewright_codegen::program::Program;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_models::kernels::{self, linear};

/// A kernel's representative shape.
fn shape(kernel: &Kernel) -> Shape {
    let some = Shape::new().param("T", 64);
    match kernel.name.as_str() {
        "embedding" => some.fixed("V", 1000).fixed("D", 896),
        "rmsnorm" | "residual" => some.fixed("D", 896),
        "silu" | "mul" => some.fixed("D", 4864),
        "linear" | "norm_linear" => some.fixed("R", 896).fixed("K", 896),
        "norm_linear_bias" => some.fixed("R", 1152).fixed("K", 896),
        "linear_residual" => some.fixed("D", 896).fixed("K", 4864),
        "norm_gated" => some.fixed("D", 4864).fixed("K", 896),
        "bias" => some.fixed("R", 896),
        "rope" => some.fixed("S", 14).fixed("H", 14).fixed("F", 32).fixed("D", 64).fixed("P", 2048).fixed("C", 64),
        "kv_append" => some.fixed("S", 2).fixed("G", 2).fixed("D", 64).fixed("P", 2048),
        "rope_append" => {
            let heads = some.fixed("S", 18).fixed("D", 64).fixed("P", 2048).fixed("F", 32);
            heads.fixed("q.C", 64).fixed("q.H", 14).fixed("k.C", 2048).fixed("k.H", 2).fixed("v.G", 2)
        }
        "attention" | "attention_stats" | "attention_values" => {
            some.fixed("H", 14).fixed("G", 2).fixed("D", 64).fixed("P", 2048)
        }
        "argmax" => some.fixed("V", 151_936),
        "softmax" => Shape::new().param("R", 64).fixed("C", 512),
        other => panic!("kernel `{other}` has no shape: add a row to tests/shaders/shapes.rs"),
    }
}

/// The schedule with its weights in another storage, under another name.
fn stored(schedule: &Schedule, storage: Storage) -> Schedule {
    let mut new = schedule.clone();
    new.name = format!("{}_{storage}", schedule.name);
    new.stores.push(("w".into(), storage));
    new
}

/// Every reviewed program.
pub fn programs() -> Vec<Program> {
    let target = Target::webgpu_subgroups();
    let mut all = Vec::new();
    let mut add = |kernel: &Kernel, schedule: &Schedule, shape: &Shape| {
        all.push(compile(kernel, schedule, shape, &target).unwrap_or_else(|e| panic!("{e}")));
    };
    for entry in kernels::all() {
        for schedule in &entry.schedules {
            assert_eq!(target.max_invocations, 256);
            add(&entry.kernel, schedule, &shape(&entry.kernel));
        }
    }
    let kernel = linear::linear();
    for schedule in [linear::naive(), linear::coalesced(), linear::tiled()] {
        add(&kernel, &stored(&schedule, Storage::F16), &shape(&kernel));
    }
    add(&kernel, &stored(&linear::row(), Storage::Bf16), &shape(&kernel));
    // The 0.5B's head: too many rows for one dimension of workgroups and for one binding.
    let mut head = stored(&linear::row(), Storage::F16);
    head.name = "row_f16_head".into();
    add(&kernel, &head, &Shape::new().fixed("T", 1).fixed("R", 151_936).fixed("K", 896));
    all
}
