//! Adapters that are not there, and limits that a model does not fit.

use crate::run::{program, ran, run};

/// The program on a machine without a driver.
fn without_driver(args: &[&str]) -> crate::run::Ran {
    let mut command = program(args);
    // Either name tells the Vulkan loader where drivers are, by its version.
    command.env("VK_DRIVER_FILES", "/no/such/driver").env("VK_ICD_FILENAMES", "/no/such/driver");
    ran(command.output().expect("the program starts"))
}

#[test]
fn an_adapter_that_is_not_there() {
    run(&["generate", "--adapter", "no such card", "hi"]).fails(1, &["no such card", "0: "]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_adapter_at_all() {
    for args in [&["generate", "hi"][..], &["bench"], &["logits", "--ids", "1", "--output", "/dev/null"]] {
        without_driver(args).fails(1, &["no GPU adapter found", "mesa-vulkan-drivers", "--backend interp"]);
    }
    let told_to =
        ["generate", "--backend", "interp", "--temperature", "0", "--max-tokens", "2", "The capital of France is"];
    assert_eq!(without_driver(&told_to).ok(), " Paris.\n");
}

#[cfg(target_os = "linux")]
#[test]
fn doctor_goes_on_without_an_adapter() {
    let model = crate::run::bundled();
    let ran = without_driver(&["doctor", "--model", crate::run::path(&model)]);
    assert_eq!(ran.code, Some(1));
    for part in
        ["wrong: no GPU adapter found", "all tensors there", "4082 <|im_end|>", "plan on the least WebGPU device"]
    {
        assert!(ran.stdout.contains(part), "no {part:?} in: {}", ran.stdout);
    }
    assert!(ran.stderr.contains("one check failed"), "{}", ran.stderr);
}

#[test]
fn doctor_tells_what_there_is() {
    let model = crate::run::bundled();
    let text = run(&["doctor", "--model", crate::run::path(&model)]).ok();
    for part in
        ["0: ", "chosen: ", "workgroup memory", "GB/s", "6 layers", "chat template: the model's own", "tier 6", "total"]
    {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

#[test]
fn a_context_that_does_not_fit() {
    let args = ["generate", "--backend", "interp", "--context", "2048", "--target", "max_binding_bytes=400000", "hi"];
    run(&args).fails(1, &["context of 2048", "524288", "400000", "smaller --context"]);
}

#[test]
fn a_target_larger_than_the_adapter() {
    run(&["generate", "--target", "max_storage_buffers=1000000", "hi"])
        .fails(1, &["max_storage_buffers = 1000000", "allows", "smaller device"]);
}
