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
        "    values that are 4 apart along it are 32 invocations apart\n",
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
    // The only one of the file needs no name.
    assert_eq!(run(&["explain", "linear", "--schedules", path(&file), "--target", "hlsl"]).ok(), text);
    std::fs::write(&file, "schedule mine for linear {\n    t: grid;\n    r: grid;\n    k: serial, lanes(48);\n}\n")
        .unwrap();
    explain().fails(1, &["48", "power of two"]);
}

/// Equal figures are no equal shader.
#[test]
fn what_changes_the_shader_alone_is_told() {
    let text = run(&["explain", "linear", "--schedule", "naive"]).ok();
    assert!(text.contains("\nstore w: f16;\n    "), "{text}");
    let mut lines = text.lines().skip_while(|l| *l != "store w: f16;").skip(1);
    let said = lines.next().unwrap_or_default();
    assert!(said != "    nothing changes at this shape", "{text}");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    let own = run(&["shaders", "list", "linear"]).ok();
    let naive = own.split("schedule ").find(|s| s.starts_with("naive ")).expect("it is listed");
    let mine =
        format!("schedule {}", naive.replace("naive", "mine").trim_end().replace("\n}", "\n    store w: f16;\n}"));
    std::fs::write(&file, mine).unwrap();
    let text = run(&["diff", "linear", "naive", "mine", "--schedules", path(&file)]).ok();
    assert!(!text.contains("the shaders are equal"), "{text}");
}

#[test]
fn extents_that_are_none() {
    run(&["explain", "linear", "--shape", ","]).fails(2, &["--shape", "``", "NAME=NUMBER"]);
}

#[test]
fn unknown_names_get_the_nearest() {
    run(&["explain", "linaer"]).fails(2, &["no kernel `linaer`", "did you mean `linear`?"]);
    run(&["explain", "linear", "--schedule", "rwo"]).fails(2, &["no schedule `rwo`", "there are empty, naive, row"]);
    run(&["explain", "linear", "--shape", "q=1"]).fails(2, &["--shape", "`q`"]);
}
