//! Schedules, tiers and revisions against each other, as text and as a file.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{goldens, path, program, ran, run};

#[test]
fn one_schedule_against_another() {
    let text = run(&["diff", "linear", "coalesced", "subgroup"]).ok();
    let order = ["linear: coalesced -> subgroup", "\nschedule\n", "+    fold k: subgroup;\n", "\ncost\n", "\nwgsl\n"];
    let at: Vec<usize> =
        order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"))).collect();
    assert!(at.is_sorted(), "{text}");
    let row = |name: &str| -> Vec<&str> {
        let line = text.lines().find(|l| l.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
        line[name.len()..].split_whitespace().collect()
    };
    assert_eq!(row("workgroup memory"), ["1024", "bytes", "256", "bytes"]);
    assert_eq!(row("barriers"), ["5", "1"]);
    assert!(text.contains("\n-var<") && text.contains("equal lines @@"), "{text}");
    assert_eq!(text.matches("coalesced -> subgroup").count(), 1, "one title: {text}");
    assert_eq!(row("target"), ["webgpu-subgroups", "webgpu-subgroups"]);
    assert!(!text.contains('\x1b'), "no colours where stdout is no terminal");
}

#[test]
fn the_loop_ir_and_other_extents() {
    let text = run(&["diff", "linear", "row", "coalesced", "--target", "loops", "--shape", "r=100,t<=8"]).ok();
    assert!(text.contains("K = 896, R = 100, T <= 8") && text.contains("\nloops\n"), "{text}");
    assert!(text.contains("\n+  shared fold: f32[256]\n"), "{text}");
    let text = run(&["diff", "linear", "row", "row"]).ok();
    assert!(text.ends_with("no shader differs\n"), "{text}");
}

#[test]
fn a_schedule_of_ones_own() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    std::fs::write(&file, "schedule mine for linear {\n    t: grid;\n    r: grid;\n    k: serial, lanes(16);\n}\n")
        .unwrap();
    let text = run(&["diff", "linear", "row", "mine", "--schedules", path(&file)]).ok();
    assert!(text.contains("-    k: serial, lanes(64), vector(8);\n+    k: serial, lanes(16);"), "{text}");
}

#[test]
fn one_tier_against_another() {
    let text = run(&["diff", "--tiers", "3..4"]).ok();
    assert!(text.starts_with("the bundled model: tier 3 (cooperative) -> tier 4 (single-pass)\n"), "{text}");
    let order = ["\nschedules\n", "+attention: one pass", "\nplan\n", "dispatches of a decode step", "\nattention "];
    let at: Vec<usize> =
        order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"))).collect();
    assert!(at.is_sorted(), "{text}");
    assert!(text.contains("attention_stats naive (gone)"), "{text}");
    assert!(text.contains("\nboth are planned for `wide` (1,024 invocations, 32 KiB)\n"), "{text}");
    let settings = text.split("\nplan\n").next().unwrap();
    let idle = settings.lines().find(|l| l.starts_with("+not run at this model's extents")).expect("some are not run");
    let named: Vec<&str> = idle.split(": ").nth(1).unwrap().split(", ").collect();
    assert!(!named.is_empty());
    for name in named {
        let words: Vec<&str> = name.split(' ').collect();
        assert!(!settings.contains(&format!("+decode: schedule {} for {} ", words[1], words[0])), "{name}: {settings}");
    }
    assert!(!text.contains("\nlinear "), "linear is the same on both");
    let half = goldens("shapes/qwen2.5-0.5b");
    let text = run(&["diff", "--tiers", "2..3", "--model", path(&half)]).ok();
    assert!(text.contains("qwen2.5-0.5b: tier 2") && text.contains("likewise at "), "{text}");
}

/// A fallback is told of for the phase alone in which it runs, and each schedule of a phase once.
#[test]
fn schedules_are_told_of_where_they_run() {
    let text = run(&["diff", "--tiers", "9..10"]).ok();
    let settings = text.split("\nplan\n").next().unwrap();
    let told = |phase: &str, schedule: &str| {
        let line = format!("{phase}: schedule {schedule} for attention ");
        settings.lines().filter(|l| l.get(1..).is_some_and(|l| l.starts_with(&line))).count()
    };
    assert_eq!(told("prefill and decode", "grouped"), 1, "tier 9 runs it in both: {settings}");
    assert_eq!(told("decode", "octets"), 1, "{settings}");
    assert_eq!(told("prefill", "grouped") + told("decode", "grouped"), 1, "{settings}");
}

/// A repository with an older snapshot of one shader.
fn repository(dir: &Path) {
    let git = |args: &[&str]| {
        let fixed = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let output = Command::new("git").args(fixed).args(args).current_dir(dir).output().expect("git starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q"]);
    std::fs::write(dir.join("README.md"), "nothing yet\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "empty"]);
    git(&["tag", "empty"]);
    std::fs::create_dir_all(dir.join("snapshots/silu")).unwrap();
    std::fs::write(dir.join("snapshots/silu-naive.snap"), "a shader\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "otherwise"]);
    git(&["tag", "otherwise"]);
    std::fs::remove_file(dir.join("snapshots/silu-naive.snap")).unwrap();
    let now = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots/silu/naive.wgsl")).unwrap();
    assert!(now.contains("exp("), "{now}");
    std::fs::write(dir.join("snapshots/silu/naive.wgsl"), now.replace("exp(", "old_exp(")).unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "older"]);
}

#[test]
fn against_a_revision() {
    let dir = tempfile::tempdir().unwrap();
    repository(dir.path());
    let diff = |rest: &[&str]| {
        let args = [&["diff"], rest].concat();
        // A folder inside the repository does as well as its top.
        ran(program(&args).current_dir(dir.path().join("snapshots")).output().expect("the program starts"))
    };
    let text = diff(&["silu", "--against", "HEAD"]).ok();
    assert!(text.contains("Shaders of kernel silu against HEAD") && text.contains("old_exp("), "{text}");
    let text = diff(&["--against", "HEAD"]).ok();
    assert!(text.contains("linear coalesced (new)"), "{text}");
    assert!(text.contains("\nsnapshots/plans/tiny-0 (new)\n"), "{text}");
    assert!(text.contains("\nsnapshots/explain/linear-coalesced (new)\n"), "{text}");
    diff(&["--against", "nothing"]).fails(1, &["--against", "no revision `nothing`", "HEAD~1"]);
    diff(&["--against", "--all"]).fails_with(2);
    diff(&["--against=--all"]).fails(1, &["no revision `--all`"]);
    diff(&["--against", "empty"]).fails(1, &["`empty` has no shaders under snapshots/"]);
    diff(&["--against", "otherwise"]).fails(1, &["`otherwise` keeps its shaders", "in an older layout"]);
    diff(&["sliu", "--against", "HEAD"]).fails(2, &["no kernel `sliu`", "did you mean `silu`?"]);
}

#[test]
fn without_a_repository_or_without_git() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = program(&["diff", "--against", "HEAD"]);
    ran(command.current_dir(dir.path()).env("GIT_CEILING_DIRECTORIES", dir.path()).output().unwrap())
        .fails(1, &["no git repository", "`HEAD`", "checkout"]);
    let mut command = program(&["diff", "--against", "HEAD"]);
    ran(command.current_dir(dir.path()).env("PATH", dir.path()).output().unwrap())
        .fails(1, &["cannot run git", "`HEAD`"]);
}

#[test]
fn a_page_is_one_new_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("page.html");
    let write = |more: &[&str]| run(&[&["diff", "linear", "row", "coalesced", "--html", path(&file)], more].concat());
    assert_eq!(write(&[]).ok(), "");
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("linear: row -&gt; coalesced") && page.ends_with("</html>\n"), "{page}");
    std::fs::write(&file, "mine").unwrap();
    write(&[]).fails(1, &["--html", path(&file), "exists", "--force"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    write(&["--force"]).ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), page);
    let gone = dir.path().join("gone/page.html");
    run(&["diff", "--html", path(&gone)]).fails(1, &["cannot write", "gone"]);
}

#[test]
fn what_cannot_be_compared() {
    run(&["diff"]).fails(2, &["nothing to compare", "--tiers"]);
    run(&["diff", "linear"]).fails(2, &["needs two schedules", "coalesced"]);
    run(&["diff", "linaer", "row", "row"]).fails(2, &["no kernel `linaer`", "did you mean `linear`?"]);
    run(&["diff", "linear", "row", "coalesed"]).fails(2, &["no schedule `coalesed`", "did you mean `coalesced`?"]);
    run(&["diff", "linear", "row", "coalesced", "--shape", "q=1"]).fails(2, &["--shape", "`q`"]);
    run(&["diff", "--tiers", "3"]).fails(2, &["--tiers", "two"]);
    run(&["diff", "--tiers", "3..4", "--shape", "r=1"]).fails(2, &["--shape", "--tiers"]);
    run(&["diff", "--tiers", "0..1", "--model", "/nowhere"]).fails(1, &["/nowhere"]);
    run(&["diff", "linear", "row", "coalesced", "--target", "glsl"]).fails_with(2);
    run(&["diff", "linear", "row"]).fails(2, &["`diff linear row` needs two schedules", "coalesced"]);
    run(&["diff", "linear", "rwo"]).fails(2, &["no schedule `rwo`"]);
    run(&["diff", "LINEAR"]).fails(2, &["no kernel `LINEAR`", "did you mean `linear`?"]);
}

#[test]
fn flags_without_a_meaning_are_refused() {
    run(&["diff", "linear", "coalesced", "subgroup", "--model", "nope"]).fails(2, &["--model", "--tiers"]);
    run(&["diff", "--against", "HEAD", "--model", "nope"]).fails(2, &["--model", "--tiers"]);
    for with in [&["linear", "--against", "HEAD"][..], &["--tiers", "3..4"], &["--html", "-"], &["linear"]] {
        run(&[&["diff"], with, &["--schedules", "/no/such"]].concat()).fails(2, &["--schedules", "two schedules"]);
    }
}

#[test]
fn a_page_on_stdout() {
    let text = run(&["diff", "linear", "row", "coalesced", "--html", "-"]).ok();
    assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"), "{text}");
    assert!(!Path::new("-").exists());
}

#[test]
fn a_wider_target_is_told() {
    let ran = run(&["diff", "argmax", "tree", "wide"]);
    let why = "note: `wide` of argmax is compiled for `wide` (1,024 invocations, 32 KiB): the least WebGPU device cannot run it: ";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    let text = ran.ok();
    let row = text.lines().find(|l| l.starts_with("target ")).expect("a target");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["target", "webgpu-subgroups", "wide"]);
    for args in [&["shaders", "show", "argmax", "--schedule", "wide"], &["explain", "argmax", "--schedule", "wide"]]
        as [&[&str]; 2]
    {
        let ran = run(args);
        assert!(ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
        ran.ok();
    }
    assert!(!run(&["shaders", "show", "argmax", "--schedule", "tree"]).stderr.contains("wide"));
}

/// A repository with every snapshot as it is, but for what a change makes of it.
fn changed(dir: &Path, change: &dyn Fn(&Path)) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    for folder in std::fs::read_dir(&from).unwrap().flatten() {
        let to = dir.join("snapshots").join(folder.file_name());
        std::fs::create_dir_all(&to).unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
            std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    change(&dir.join("snapshots"));
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "older"]] {
        let fixed = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let output = Command::new("git").args(fixed).args(args).current_dir(dir).output().expect("git starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Every reviewed file counts, in every language, heads and all.
#[test]
fn no_change_of_a_reviewed_file_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let edit = |file: PathBuf, from: &str, to: &str| {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(&file, text.replace(from, to)).unwrap();
    };
    changed(dir.path(), &|snapshots| {
        edit(snapshots.join("plans/tiny-3"), "tier 3", "tier three");
        edit(snapshots.join("explain/linear-coalesced"), "Algorithm", "Text");
        edit(snapshots.join("silu/naive.hlsl"), "exp(", "old_exp(");
        for ending in ["wgsl", "hlsl", "loops"] {
            edit(snapshots.join(format!("mul/naive.{ending}")), "target webgpu-subgroups", "target other");
        }
        std::fs::write(snapshots.join("residual/naive.wgsl"), "").unwrap();
        std::fs::write(snapshots.join("bias/naive.wgsl"), "<<<<<<< ours\n").unwrap();
    });
    let diff = |rest: &[&str]| {
        let args = [&["diff", "--against", "HEAD"], rest].concat();
        ran(program(&args).current_dir(dir.path()).output().expect("the program starts"))
    };
    let ran = diff(&[]);
    for fault in ["snapshots/residual/naive.wgsl is empty", "snapshots/bias/naive.wgsl is without a head"] {
        assert!(ran.stderr.contains(&format!("note: HEAD: {fault}")), "{}", ran.stderr);
    }
    let text = ran.ok();
    let part = |heading: &str| {
        let rest = text.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading} in {text}")).1;
        rest.split("\nkernel ").next().unwrap().to_string()
    };
    assert!(part("snapshots/plans/tiny-3").contains("-model tiny, tier three"), "{text}");
    assert!(part("snapshots/explain/linear-coalesced").contains("-Text\n"), "{text}");
    let of = |kernel: &str| {
        text.split_once(&format!("\n{kernel} naive\n")).unwrap_or_else(|| panic!("{kernel} in {text}")).1
    };
    assert!(of("silu").contains("\nwgsl\nthe shaders are equal\nhlsl differs: --target hlsl shows it\n"), "{text}");
    let target = of("mul").lines().find(|l| l.starts_with("target ")).expect("a target");
    assert_eq!(target.split_whitespace().collect::<Vec<_>>(), ["target", "other", "webgpu-subgroups"]);
    assert!(text.contains("\nHEAD: snapshots/residual/naive.wgsl is empty\n"), "{text}");
    assert!(diff(&["silu", "--target", "hlsl"]).ok().contains("old_exp("));
}

#[test]
fn git_says_why_it_refuses() {
    let dir = tempfile::tempdir().unwrap();
    repository(dir.path());
    let mut command = program(&["diff", "--against", "HEAD"]);
    let nowhere = dir.path().join("none");
    command.current_dir(dir.path()).env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    command.env("GIT_CONFIG_GLOBAL", &nowhere).env("GIT_CONFIG_SYSTEM", &nowhere);
    ran(command.output().unwrap()).fails(1, &["--against", "git cannot read revision `HEAD`", "dubious ownership"]);
    std::fs::write(dir.path().join(".git/config"), "[[[\n").unwrap();
    let mut command = program(&["diff", "--against", "HEAD"]);
    ran(command.current_dir(dir.path()).output().unwrap()).fails(1, &["git cannot read revision `HEAD`", "bad config"]);
}
