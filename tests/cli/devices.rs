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
    for args in [&["generate", "hi"][..], &["bench"], &["logits", "--ids", "1", "--output", "/dev/null"]] {
        run(&[args, &["--adapter", "no such card"]].concat()).fails(2, &["no such card", "0: "]);
    }
    let doctor = run(&["doctor", "--adapter", "-1"]);
    assert_eq!(doctor.code, Some(2), "{}", doctor.stderr);
    assert!(doctor.stderr.starts_with("error: no adapter matches `-1`"), "{}", doctor.stderr);
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
    assert!(ran.stderr.contains("one check failed") && ran.stderr.contains("\n  no GPU adapter"), "{}", ran.stderr);
}

/// The plan needs nothing but the configuration; what is wrong with the files is read last, and told again by the error.
#[test]
fn doctor_ends_with_what_is_wrong() {
    let model = crate::run::small_model();
    std::fs::remove_file(model.path().join("model.safetensors")).unwrap();
    let ran = run(&["doctor", "--model", crate::run::path(model.path())]);
    assert_eq!(ran.code, Some(1));
    let order = ["\nplan on ", "\nfiles\n", "\n  wrong: "].map(|part| ran.stdout.find(part).expect(part));
    assert!(order.is_sorted(), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("error: 2 checks failed; they are marked `wrong` above:\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("has no model.safetensors") && ran.stderr.contains("has no tokenizer.json"));
    run_doctor_with_a_context_beyond_the_models(model.path());
}

fn run_doctor_with_a_context_beyond_the_models(model: &std::path::Path) {
    let ran = run(&["doctor", "--model", crate::run::path(model), "--context", "513"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("--context is 513; expected at most 512"), "{}", ran.stderr);
}

#[test]
fn doctor_tells_what_there_is() {
    let model = crate::run::bundled();
    let text = run(&["doctor", "--model", crate::run::path(&model)]).ok();
    for part in [
        "0: ",
        "chosen: ",
        "workgroup memory",
        "GB/s",
        "6 layers",
        "chat template: the model's own",
        "tier 12",
        "total",
    ] {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

#[test]
fn a_context_that_does_not_fit() {
    let args = ["generate", "--backend", "interp", "--context", "2048", "--target", "max_binding_bytes=400000", "hi"];
    run(&args).fails(2, &["context of 2048", "524288", "400000", "smaller --context"]);
}

#[test]
fn a_target_larger_than_the_adapter() {
    for backend in ["wgpu", "interp"] {
        run(&["generate", "--backend", backend, "--target", "max_storage_buffers=1000001", "hi"])
            .fails(2, &["max_storage_buffers = 1000001", "allows", "smaller device"]);
    }
}

/// No device is as small as the least values, which must not fail before there is something to say about the model.
#[test]
fn the_least_targets_reach_the_model() {
    for limit in ["max_invocations=1", "max_binding_bytes=16384", "max_storage_buffers=2", "max_workgroups=4"] {
        let ran = run(&["doctor", "--target", limit]);
        assert_eq!(ran.code, Some(0), "{limit}: {}", ran.stderr);
        assert!(ran.stdout.contains("GB/s"), "{limit}: {}", ran.stdout);
    }
}

/// The program's own schedules are not the user's to change, and an adapter is not to blame for limits that are played.
#[test]
fn a_target_that_is_too_small_is_blamed_with_a_value_that_would_do() {
    let generate = |target: &str, tier: &str| {
        run(&[
            "generate",
            "--temperature",
            "0",
            "--max-tokens",
            "2",
            "--target",
            target,
            "--tier",
            tier,
            "The capital of",
        ])
    };
    for (target, says) in [
        ("max_storage_buffers=3", "`max_storage_buffers` is 3"),
        ("max_invocations=32", "64 invocations a workgroup, and `max_invocations` is 32"),
        ("max_buffer_bytes=16384", "a binding has 16384"),
        ("max_workgroups=4", "`max_workgroups` hold 16"),
    ] {
        for tier in ["auto", "0"] {
            let ran = generate(target, tier);
            for part in ["llvmpipe", ".rs:", " lanes that multiply"] {
                assert!(!ran.stderr.contains(part), "{part:?} in: {}", ran.stderr);
            }
            let reasons = ran.stderr.matches("tier ").count();
            assert!(reasons >= if tier == "auto" { 11 } else { 1 }, "{}", ran.stderr);
            let (_, enough) = ran.stderr.split_once("= help: `").expect("what would do");
            let enough = enough.split_once('`').expect("a value").0.to_string();
            ran.fails(2, &["--target is too small", says, "` is enough"]);
            assert_eq!(generate(&enough, tier).code, Some(0), "{enough} on tier {tier}");
        }
    }
    for less in ["3", "5"] {
        let says = ["tier 0 (naive): kernel `", "`max_storage_buffers=6` is enough"];
        generate(&format!("max_storage_buffers={less}"), "0").fails(2, &says);
    }
}
