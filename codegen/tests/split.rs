//! Tensors that one binding cannot hold: split by rows, or refused.

use tilewright_codegen::CompileError;
use tilewright_codegen::compile;
use tilewright_codegen::error::ScheduleError;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_dsl::build::Builder;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::Schedule;

/// y = w, row by row.
fn rows() -> Kernel {
    let b = Builder::new("rows");
    let w = b.input::<f32, 2>("w", ["R", "K"]);
    let y = b.output::<f32, 1>("y", ["R"]);
    b.each("r", 0, b.extent("R"), |r| y.set([r], b.sum("k", 0, b.extent("K"), |k| w.at([r, k]))));
    b.finish().unwrap()
}

#[test]
fn a_tensor_is_split_into_as_many_parts_as_it_needs() {
    let target = Target { max_binding_bytes: 4096, ..Target::webgpu() };
    let shape = Shape::new().fixed("R", 300).fixed("K", 16);
    let program = compile(&rows(), &Schedule::empty("rows"), &shape, &target).unwrap();
    // 64 rows of 64 bytes fit a binding.
    assert_eq!(program.tensors[0].parts, [64, 64, 64, 64, 44]);
    assert_eq!(program.shaders.len(), 5);
}

#[test]
fn hundreds_of_parts_are_refused() {
    let shape = Shape::new().fixed("R", 1_000_000).fixed("K", 1_000_000);
    let error = compile(&rows(), &Schedule::empty("rows"), &shape, &Target::webgpu()).unwrap_err();
    let CompileError::Schedule { errors, .. } = &error else { panic!("{error}") };
    assert!(matches!(&errors[..], [ScheduleError::BindingTooLarge { tensor, .. }] if tensor == "w"), "{error}");
    assert!(error.to_string().contains("64 parts"), "{error}");
}
