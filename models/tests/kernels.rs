//! Every schedule of every kernel applies, for one position and for many, wherever the device has what it names.

use tilewright_codegen::error::ScheduleError;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, compile};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{Fold, LevelKind, Schedule};
use tilewright_models::kernels;

/// Extents that no tile divides, with seven query heads a key-value head.
fn shape(kernel: &Kernel, prefill: bool, head_dim: u32) -> Shape {
    kernel.extents.iter().fold(Shape::new(), |shape, name| match name.as_str() {
        "T" if prefill => shape.param("T", 64),
        "T" | "G" | "k.H" | "v.G" => shape.fixed(name, 1),
        "H" | "q.H" => shape.fixed(name, 7),
        "D" => shape.fixed(name, head_dim),
        // A row a position and head.
        "R" if kernel.name.starts_with("attention_") => shape.fixed(name, 64 * 7),
        // As many parts as reach over 101 values.
        "v.Parts" => shape.fixed(name, 2),
        "j.Parts" => shape.fixed(name, 1),
        // Values of a chunk, and a row of 101 pairs and three numbers.
        "C" if kernel.name == "topk_values" => shape.fixed(name, 64),
        "W" => shape.fixed(name, 2 * 101 + 3),
        _ => shape.fixed(name, 101),
    })
}

fn uses_matrices(schedule: &Schedule) -> bool {
    schedule.axes.iter().any(|axis| axis.levels.iter().any(|level| level.kind == LevelKind::Matrix))
}

fn uses_subgroups(schedule: &Schedule) -> bool {
    uses_matrices(schedule) || schedule.folds.iter().any(|(_, fold)| *fold == Fold::Subgroup)
}

/// Columns of a head that a schedule of `attention` covers.
fn columns(schedule: &Schedule) -> u32 {
    let levels = schedule.levels("softmax.c");
    levels.map_or(u32::MAX, |levels| levels.iter().filter_map(|l| l.size).product())
}

#[test]
fn all_schedules_apply_where_they_can() {
    for entry in kernels::all() {
        for schedule in &entry.schedules {
            for (prefill, head_dim) in [(false, 32), (false, 64), (false, 128), (true, 32), (true, 48), (true, 128)] {
                let shape = shape(&entry.kernel, prefill, head_dim);
                let name = format!("{} [{}] {shape}", entry.kernel.name, schedule.name);
                let plain = compile(&entry.kernel, schedule, &shape, &Target::webgpu());
                let target = if uses_matrices(schedule) { Target::matrix() } else { Target::wide() };
                let rich = compile(&entry.kernel, schedule, &shape, &target);
                if columns(schedule) < head_dim {
                    let refused = |e: &ScheduleError| matches!(e, ScheduleError::NotCovered { .. });
                    assert!(
                        matches!(&rich, Err(CompileError::Schedule { errors, .. }) if errors.iter().any(refused)),
                        "{name}"
                    );
                    continue;
                }
                let program = rich.unwrap_or_else(|e| panic!("{name}: {e}"));
                assert_eq!(program.shaders.iter().any(|s| s.subgroups), uses_subgroups(schedule), "{name}");
                let refused = |e: &ScheduleError| {
                    use ScheduleError::{NoFragments, NoSubgroups, WorkgroupMemory, WorkgroupTooLarge};
                    matches!(
                        e,
                        NoFragments { .. } | NoSubgroups { .. } | WorkgroupMemory { .. } | WorkgroupTooLarge { .. }
                    )
                };
                match plain {
                    Ok(_) => assert!(!uses_subgroups(schedule), "{name}"),
                    Err(CompileError::Schedule { errors, .. }) => {
                        assert!(errors.iter().all(refused), "{name}: {errors:?}")
                    }
                    Err(bug) => panic!("{name}: {bug}"),
                }
            }
        }
    }
}

#[test]
fn the_heavy_kernels_have_four_schedules() {
    for name in ["linear", "rmsnorm", "attention", "argmax"] {
        assert!(kernels::named(name).is_some_and(|e| e.schedules.len() >= 4), "{name}");
    }
}
