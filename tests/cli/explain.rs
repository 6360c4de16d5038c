//! The way from a kernel to its shader, as it is told.

use crate::run::{path, run};

#[test]
fn the_chapters_come_in_order() {
    let text = run(&["explain", "linear", "--schedule", "coalesced", "--shape", "t=1,r=896,k=896"]).ok();
    let chapters = [
        "linear by coalesced at K = 896, R = 896, T = 1",
        "\nAlgorithm\n",
        "sum(0..K, |k| w[r][k] * x[t][k]);",
        "\nNest: the schedule as numbers\n",
        "    112 workgroups, 8 values apart\n",
        "    4 copies in registers, 1 value apart\n",
        "\nLoop IR after `lower`\n",
        "\nLoop IR after `simplify`, against `lower`\n",
        "\nWhat each directive does\n",
        "\nr: grid, lanes(2), unroll(4);\n    without it\n",
        "    loads an invocation: 40 -> 14336\n",
        "\nWhat other directives would do\n",
        "refused:\n",
        "`grid` is not possible on axis `k`: a reduction stays in one workgroup\n",
        "possible:\n",
        "fold k: subgroup;\n    workgroup memory: 1024 bytes -> 256 bytes\n",
        "\nShader in WGSL\n",
        "// kernel linear, shape K = 896, R = 896, T = 1, schedule coalesced",
    ];
    let at: Vec<usize> = chapters.iter().map(|c| text.find(c).unwrap_or_else(|| panic!("no {c} in {text}"))).collect();
    assert!(at.is_sorted(), "{at:?} in {text}");
}

#[test]
fn every_kernel_is_explained_without_a_schedule() {
    for kernel in run(&["shaders", "list"]).ok().lines().filter(|l| !l.starts_with(' ')) {
        let name = kernel.split(' ').next().unwrap_or_default();
        let text = run(&["explain", name]).ok();
        assert!(text.contains("there are none: one invocation does everything"), "{text}");
        assert!(text.contains(&format!("fn {name}(")), "{text}");
    }
}

#[test]
fn a_schedule_of_ones_own_in_another_language() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    std::fs::write(&file, "schedule mine for linear {\n    t: grid;\n    r: grid;\n    k: serial, lanes(16);\n}\n")
        .unwrap();
    let explain = || run(&["explain", "linear", "--schedules", path(&file), "--schedule", "mine", "--target", "hlsl"]);
    let text = explain().ok();
    assert!(text.contains("\nShader in HLSL\n") && text.contains("ByteAddressBuffer"), "{text}");
    std::fs::write(&file, "schedule mine for linear {\n    t: grid;\n    r: grid;\n    k: serial, lanes(48);\n}\n")
        .unwrap();
    explain().fails(1, &["48", "power of two"]);
}

#[test]
fn unknown_names_get_the_nearest() {
    run(&["explain", "linaer"]).fails(2, &["no kernel `linaer`", "did you mean `linear`?"]);
    run(&["explain", "linear", "--schedule", "rwo"]).fails(2, &["no schedule `rwo`", "there are empty, naive, row"]);
    run(&["explain", "linear", "--shape", "q=1"]).fails(2, &["--shape", "`q`"]);
}
