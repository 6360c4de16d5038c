//! The examples, as `cargo run --example NAME` runs them: each holds its shaders against its kernel's meaning on the adapter.

#[path = "../examples/row_softmax.rs"]
mod row_softmax;
#[path = "../examples/saxpy.rs"]
mod saxpy;
#[path = "../examples/tiled_matmul.rs"]
mod tiled_matmul;

use std::process::Command;

/// Each example with its schedules.
const ALL: [(&str, &str, [&str; 3]); 3] = [
    ("row_softmax", include_str!("../examples/row_softmax.rs"), ["rows", "lanes", "ordered"]),
    ("saxpy", include_str!("../examples/saxpy.rs"), ["elements", "fours", "halves"]),
    ("tiled_matmul", include_str!("../examples/tiled_matmul.rs"), ["plain", "registers", "tiled"]),
];

#[test]
fn row_softmax() {
    row_softmax::main().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn saxpy() {
    saxpy::main().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn tiled_matmul() {
    tiled_matmul::main().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn each_prints_its_schedules_in_both_languages() {
    for (name, _, schedules) in ALL {
        // What the test of that name prints is what the example prints.
        let this = std::env::current_exe().expect("a test knows its program");
        let done = Command::new(this).args(["--exact", name, "--nocapture"]).output().expect("it runs again");
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{name}: {text}");
        let shaders = |word: &str| text.lines().filter(|l| l.contains(word)).count();
        for schedule in schedules {
            assert_eq!(shaders(&format!("schedule {schedule}, target ")), 2, "{name} by {schedule}:\n{text}");
        }
        assert_eq!([shaders("var<storage, read_write>"), shaders("register(u0)")], [3, 3], "{name}:\n{text}");
    }
}

#[test]
fn each_is_short_and_needs_three_crates() {
    for (name, text, _) in ALL {
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//"));
        assert!(lines.clone().count() < 40, "{name} has {} lines", lines.count());
        assert!(!text.contains("tilewright_models"), "{name}");
    }
}
