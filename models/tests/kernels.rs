//! Every schedule of every kernel compiles, for decode and for prefill, wherever the device has what it names.

use tilewright_codegen::compile;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_models::kernels;

/// Extents of a decode step (T = 1) or of a prefill chunk.
fn shape(prefill: bool, head_dim: u32) -> Shape {
    let (h, g) = (7, 1);
    let shape = Shape::new()
        .fixed("V", 333)
        .fixed("K", 100)
        .fixed("R", 132)
        .fixed("H", h)
        .fixed("G", g)
        .fixed("D", head_dim)
        .fixed("F", head_dim / 2)
        .fixed("P", 256);
    if prefill { shape.param("T", 64) } else { shape.fixed("T", 1) }
}

#[test]
fn all_schedules_compile() {
    let mut subgroups = 0;
    for entry in kernels::all() {
        for schedule in &entry.schedules {
            for prefill in [false, true] {
                for head_dim in [32, 48, 64, 128] {
                    let narrow = schedule
                        .levels("softmax.c")
                        .is_some_and(|l| l.iter().filter_map(|l| l.size).product::<u32>() < head_dim);
                    if narrow {
                        continue;
                    }
                    let shape = shape(prefill, head_dim);
                    let name = format!("{} {} {shape}", entry.kernel.name, schedule.name);
                    let program = compile(&entry.kernel, schedule, &shape, &Target::webgpu_subgroups());
                    let program = match program {
                        Ok(p) => p,
                        Err(e) => {
                            println!("{name}: {e}");
                            continue;
                        }
                    };
                    println!(
                        "{name}: {} lanes, {} lines",
                        program.shaders[0].loops.workgroup,
                        program.shaders[0].wgsl.lines().count()
                    );
                    if program.shaders.iter().any(|s| s.subgroups) {
                        subgroups += 1;
                    }
                }
            }
        }
    }
    assert!(subgroups > 0);
}
