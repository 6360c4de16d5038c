//! Schedules of the user's own, and the shapes that they are shown at.

use std::fs;

use crate::run::{Ran, bundled, interpreted, path, run};

/// `shaders show KERNEL` with more arguments.
fn show(kernel: &str, rest: &[&str]) -> Ran {
    run(&[&["shaders", "show", kernel], rest].concat())
}

#[test]
fn extents_that_do_not_fit_together_are_an_error() {
    for (kernel, shape, demand, given) in [
        ("attention", "h=1,g=4", "`H` must be a multiple of `G`", "H = 1, G = 4"),
        ("attention", "h=5,g=3", "`H` must be a multiple of `G`", "H = 5, G = 3"),
        ("attention_stats", "h=1,g=4", "`H` must be a multiple of `G`", "H = 1, G = 4"),
        ("attention_values", "h=7,g=2", "`H` must be a multiple of `G`", "H = 7, G = 2"),
        ("rope", "d=7", "`D` must be a multiple of `2`", "D = 7"),
    ] {
        show(kernel, &["--schedule", "naive", "--shape", shape]).fails(1, &[demand, given, kernel, "= help: "]);
    }
    show("attention", &["--schedule", "naive", "--shape", "h=6,g=3"]).ok();
    show("rope", &["--schedule", "naive", "--shape", "d=8"]).ok();
}

#[test]
fn a_file_is_refused_with_all_its_mistakes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    let errors = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let ran = show("linear", &["--schedules", path(&file), "--schedule", "mine"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
        let place = format!("error: --schedules {}", path(&file));
        ran.stderr.lines().filter_map(|l| Some(l.strip_prefix(&place)?.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(
        errors(b""),
        [":1:1: expected at least one `schedule NAME for KERNEL { .. }`, found the end of the text"]
    );
    let found = errors(b"schedule mine for linear {\n  t: lanes;\n  r: grid; r: grid;\n  store w: f12;\n}\n");
    let starts = [":2:11: expected `(n)`", ":3:12: a second line for axis `r`", ":4:12: expected `f32` or `f16`"];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    assert!(found.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{found:?}");
    let found = errors(b"schedule mine for linear {\n  t: gr\xffid;\n}\n");
    assert_eq!(found, [": byte 34 (line 2) is not UTF-8; expected text: save the file as UTF-8"]);
}

#[test]
fn a_byte_order_mark_is_read_over() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    fs::write(&file, "\u{feff}schedule mine for linear { t: grid; r: grid; k: serial, lanes(16); }").unwrap();
    let shader = show("linear", &["--schedules", path(&file), "--schedule", "mine"]).ok();
    assert!(shader.contains("schedule mine"), "{shader}");
}

#[test]
fn a_schedule_that_does_not_apply_names_line_and_column() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    fs::write(
        &file,
        "\
schedule base for linear {
    t: grid;
    r: grid;
    k: serial, lanes(48);
}

schedule mine for linear from base {
    r: grid, lanes(2);
}
",
    )
    .unwrap();
    let place = format!("--> {}:4:16", path(&file));
    for name in ["base", "mine"] {
        let parts = ["48 lanes", place.as_str(), " 4 |  k: serial, lanes(48)", name];
        show("linear", &["--schedules", path(&file), "--schedule", name]).fails(1, &parts);
    }
}

#[test]
fn the_only_schedule_of_a_file_is_shown_without_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    let (one, two) = ("schedule one for linear { r: grid; }\n", "schedule two for linear { t: grid; }\n");
    let other = "schedule other for silu { t: grid; }\n";
    let given = |text: &[&str], rest: &[&str]| {
        fs::write(&file, text.concat()).unwrap();
        show("linear", &[&["--schedules", path(&file)], rest].concat())
    };
    for text in [&[one][..], &[other, one]] {
        assert!(given(text, &[]).ok().contains("schedule one"), "{text:?}");
    }
    given(&[one, two], &[]).fails(2, &["mine.txt has 2 schedules for kernel `linear`", "--schedule", "one, two"]);
    given(&[other], &[]).fails(2, &["mine.txt has no schedule for kernel `linear`", "`other` for `silu`"]);
    given(&[other], &["--schedule", "other"]).fails(2, &["`other`", "mine.txt is for kernel `silu`, not for `linear`"]);
    assert!(given(&[other], &["--schedule", "coalesced"]).ok().contains("schedule coalesced"));
}

#[test]
fn a_schedule_that_is_not_used_is_told_by_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    let text = "schedule one for linear { r: grid; }\nschedule two for linear { t: grid; }\n\
                schedule idle for softmax { }\n";
    fs::write(&file, text).unwrap();
    let logits = dir.path().join("l.safetensors");
    let bench = ["--prompt-tokens", "2", "--generate", "2", "--runs", "1", "--tiers", "6"];
    for (command, rest) in [
        ("generate", &["--tier", "6", "--max-tokens", "1", "hi"][..]),
        ("logits", &["--tier", "6", "--ids", "1", "--output", path(&logits)]),
        ("bench", &bench),
    ] {
        let ran = interpreted(command, &bundled(), &[&["--schedules", path(&file)], rest].concat());
        let once = |note: &str| ran.stderr.matches(note).count() == 1;
        assert!(
            once("note: schedule `one` is not used: `two` for `linear` comes after it\n"),
            "{command}: {}",
            ran.stderr
        );
        assert!(once("note: schedule `idle` is not used: tier 6 does not run kernel `softmax`\n"), "{}", ran.stderr);
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
    }
}

#[test]
fn a_file_of_schedules_that_is_not_there_is_named_with_its_flag() {
    for args in [&["generate", "--schedules", "nosuch", "hi"][..], &["bench", "--schedules", "nosuch"]] {
        run(args).fails(1, &["--schedules nosuch", "cannot be read", "check the path", "shaders list"]);
    }
    show("linear", &["--schedules", "nosuch"]).fails(1, &["--schedules nosuch", "check the path"]);
}
