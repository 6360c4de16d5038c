//! Each program's WGSL, HLSL and loop IR equal `snapshots/KERNEL/SCHEDULE.*.snap`, and no file is left over.

use crate::shapes::programs;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tilewright_codegen::hlsl::print;
use tilewright_codegen::program::{Count, Program};
use tilewright_codegen::text::dump;

/// A count as a reader would write it.
fn text(count: &Count) -> String {
    let pair = |a: &Count, op: &str, b: &Count| format!("({} {op} {})", text(a), text(b));
    match count {
        Count::Const(n) => n.to_string(),
        Count::Param(name) => name.clone(),
        Count::Add(a, b) => pair(a, "+", b),
        Count::Sub(a, b) => pair(a, "-", b),
        Count::Mul(a, b) => pair(a, "*", b),
        Count::Div(a, n) => format!("({} / {n})", text(a)),
        Count::DivCeil(a, n) => format!("ceil({} / {n})", text(a)),
        Count::Min(a, b) => format!("min({}, {})", text(a), text(b)),
    }
}

fn loops(program: &Program) -> String {
    let shaders = program.shaders.iter().map(|s| {
        let [x, y] = &s.dispatch;
        let rounds = s.iterations.as_ref().map_or("unknown".into(), text);
        format!("# dispatch {} x {}; rounds of loops at most {rounds}\n{}", text(x), text(y), dump(&s.loops))
    });
    shaders.collect::<Vec<_>>().join("\n")
}

fn hlsl(program: &Program) -> String {
    program.shaders.iter().map(|s| print(&s.loops)).collect::<Vec<_>>().join("\n")
}

fn wgsl(program: &Program) -> String {
    program.shaders.iter().map(|s| s.wgsl.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn shaders_are_as_reviewed() {
    let mut files = BTreeSet::new();
    for program in programs() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(format!("../../snapshots/{}", program.kernel));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        for (kind, text) in [("wgsl", wgsl(&program)), ("hlsl", hlsl(&program)), ("loops", loops(&program))] {
            let name = format!("{}.{kind}", program.schedule);
            settings.bind(|| insta::assert_snapshot!(name.clone(), text));
            assert!(files.insert(PathBuf::from(&program.kernel).join(format!("{name}.snap"))), "{name} comes twice");
        }
    }
    for file in shader_snapshots() {
        assert!(files.contains(&file), "snapshots/{} belongs to no schedule: delete it", file.display());
    }
}

/// Every file of `snapshots/*/` that shows a shader, pending ones included.
fn shader_snapshots() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    let entries = |folder: &Path| fs::read_dir(folder).expect("the snapshots can be read").flatten();
    let mut found = Vec::new();
    for folder in entries(&root).filter(|e| e.path().is_dir()) {
        for file in entries(&folder.path()) {
            let name = file.file_name();
            let shown = name.to_string_lossy();
            if shown.contains(".wgsl.snap") || shown.contains(".hlsl.snap") || shown.contains(".loops.snap") {
                found.push(Path::new(&folder.file_name()).join(&name));
            }
        }
    }
    found
}
