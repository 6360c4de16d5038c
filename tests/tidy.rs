//! The house rules that a machine can check: shader words stay in the printers, files stay readable, nothing is left lying about.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of the project, but for build output.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("the project's folders can be read").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).expect("a source file is UTF-8");
                found.push((path.strip_prefix(root()).unwrap_or(&path).to_path_buf(), text));
            }
        }
    }
    assert!(found.len() > 20, "the walk found only {} files", found.len());
    found
}

#[test]
fn shader_words_stand_in_printers_alone() {
    let words = ["@compute", "var<workgroup>", "workgroupBarrier", "groupshared", "@workgroup_size", "numthreads"];
    let printers =
        ["codegen/src/wgsl.rs", "codegen/src/hlsl.rs", "codegen/src/names.rs", "tests/tidy.rs"].map(Path::new);
    let mut seen = [false; 2];
    for (path, text) in sources() {
        let printer = printers.contains(&path.as_path());
        for word in words.iter().filter(|w| text.contains(**w)) {
            for (seen, printer) in seen.iter_mut().zip(printers) {
                *seen |= path == printer;
            }
            assert!(printer, "{} says `{word}`: shader text belongs to the printers", path.display());
        }
    }
    assert_eq!(seen, [true; 2], "a printer says none of the words: the test looks at the wrong file");
}

#[test]
fn files_fit_a_reader() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= 500, "{} has {lines} lines; the limit is 500", path.display());
    }
}

#[test]
fn nothing_is_left_lying_about() {
    // Put together here, so that this file does not say them itself.
    let left = [["TO", "DO"], ["FIX", "ME"], ["todo", "!("], ["unimplemented", "!("], ["dbg", "!("], ["#[ig", "nore"]];
    for (path, text) in sources() {
        for word in left.map(|p| p.concat()) {
            assert!(!text.contains(&word), "{} says `{word}`", path.display());
        }
    }
}

#[test]
fn every_module_says_what_it_is() {
    for (path, text) in sources() {
        let documented =
            text.starts_with("//!") || path.starts_with("dsl/tests/ui") || path.starts_with("dsl/tests/trybuild");
        assert!(documented, "{} does not begin with a module comment", path.display());
    }
}
