//! Kernels and schedules by name.

use crate::run::{path, run};

#[test]
fn every_kernel_and_schedule_that_is_listed_can_be_shown() {
    let text = run(&["shaders", "list"]).ok();
    let (mut kernel, mut shown) = ("", 0);
    for line in text.lines() {
        let Some(names) = line.strip_prefix("  schedules ") else {
            kernel = line.split(' ').next().filter(|name| !name.is_empty()).unwrap_or(kernel);
            continue;
        };
        for schedule in names.split(", ") {
            let shader = run(&["shaders", "show", kernel, "--schedule", schedule]).ok();
            assert!(shader.starts_with(&format!("// kernel {kernel}, shape ")), "{shader}");
            assert!(shader.contains(&format!("schedule {schedule}")), "{shader}");
            shown += 1;
        }
    }
    assert!(shown >= 25, "only {shown} in: {text}");
}

#[test]
fn the_list_says_what_a_schedule_has_to_know() {
    let text = run(&["shaders", "list"]).ok();
    let of = |kernel: &str| {
        let (_, rest) = text.split_once(&format!("\n{kernel}  ")).expect(kernel);
        rest.split("\n  ").take(6).collect::<Vec<_>>().join("\n")
    };
    let linear = of("linear");
    assert!(linear.contains("\naxes t (run-time length), r, k (reduction)\n") && !linear.contains("lets"), "{linear}");
    assert!(of("rmsnorm").contains("\nlets s, scale\n"), "{}", of("rmsnorm"));
    // Docs are whole sentences, and those of fused kernels say what they compute.
    for (kernel, doc) in [
        ("norm_gated", "y = silu(n·Gᵀ) · n·Uᵀ with n = rmsnorm(x)."),
        (
            "rope",
            "Rotates each pair of H heads by its position's angle; a row of `angles` holds the D/2 cosines of a position and then its sines.",
        ),
    ] {
        assert!(text.contains(&format!("\n{kernel}  {doc}\n")), "{text}");
    }
    for line in text.lines().filter(|l| !l.starts_with(' ')) {
        assert!(line.ends_with('.') && !line.contains("inside"), "{line}");
    }
    let attention = of("attention");
    assert!(attention.contains("(reduction, run-time length)"), "{attention}");
    assert!(attention.contains("softmax.c (array of a monoid)"), "{attention}");
}

#[test]
fn the_schedules_of_a_kernel_read_back_as_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("linear.txt");
    let text = run(&["shaders", "list", "linear"]).ok();
    assert!(text.contains("schedule coalesced for linear {"), "{text}");
    std::fs::write(&file, text.replace("coalesced", "mine")).unwrap();
    let show = |rest: &[&str]| run(&[&["shaders", "show", "linear", "--schedule"], rest].concat()).ok();
    let (theirs, mine) = (show(&["coalesced"]), show(&["mine", "--schedules", path(&file)]));
    assert_eq!(theirs.replace("coalesced", "mine"), mine);
    run(&["shaders", "list", "lin"]).fails(2, &["no kernel `lin`", "linear"]);
}

#[test]
fn four_texts_of_one_shader() {
    let show = |rest: &[&str]| run(&[&["shaders", "show", "linear", "--schedule", "subgroup"], rest].concat()).ok();
    let native = show(&["--shape", "r=100,k=64"]);
    assert!(native.contains("K = 64, R = 100, T = 1"), "{native}");
    let web = show(&["--target", "wgsl-web"]);
    assert!(web.contains("enable subgroups;") && !native.contains("enable subgroups;"), "{web}");
    let hlsl = show(&["--target", "hlsl"]);
    assert!(hlsl.contains("ByteAddressBuffer w : register(t0);") && hlsl.contains("WaveReadLaneAt("), "{hlsl}");
    let loops = show(&["--target", "loops"]);
    assert!(loops.contains("linear: workgroup 64") && !loops.contains('@'), "{loops}");
}

#[test]
fn unknown_names_get_the_nearest() {
    run(&["shaders", "show", "linaer"]).fails(2, &["no kernel `linaer`", "did you mean `linear`?", "rmsnorm"]);
    run(&["shaders", "show", "linear", "--schedule", "coalesed"])
        .fails(2, &["no schedule `coalesed`", "did you mean `coalesced`?"]);
    run(&["shaders", "show", "linear", "--shape", "q=1"]).fails(2, &["--shape", "`q`", "there are R, K, T"]);
    run(&["shaders", "show", "linear", "--shape", "r=0"]).fails(2, &["--shape", "`r=0`", "over 0"]);
}

#[test]
fn a_schedule_of_ones_own() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    std::fs::write(&file, "schedule mine for linear {\n    t: grid;\n    r: grid;\n    k: serial, lanes(16);\n}\n")
        .unwrap();
    let show = || run(&["shaders", "show", "linear", "--schedules", path(&file), "--schedule", "mine"]);
    assert!(show().ok().contains("schedule mine"));
    std::fs::write(&file, "schedule mine for linear {\n    t: grid;\n    r: grid;\n    k: serial, lanes(48);\n}\n")
        .unwrap();
    show().fails(1, &["48", "k", "mine"]);
}
