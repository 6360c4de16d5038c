//! Each program's texts equal `snapshots/KERNEL/SCHEDULE.*`, each tier's plan equals `snapshots/plans/MODEL-TIER`, some
//! explanations equal `snapshots/explain/`, and no file is left over.

use crate::kept::Kept;
use crate::shapes::programs;
use std::path::{Path, PathBuf};
use tilewright_models::review;

/// Folders of `snapshots/` that are no kernels.
const OTHERS: [&str; 3] = ["errors", review::DOCUMENTS[0], review::DOCUMENTS[1]];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn shaders_are_as_reviewed() {
    let mut kept = Kept::new(&root().join("snapshots"));
    for program in programs() {
        for file in review::files(&program) {
            kept.keep(&format!("{}/{}", program.kernel, file.name), &file.text);
        }
    }
    kept.finish(|folder| !OTHERS.contains(&folder));
}

#[test]
fn plans_and_explanations_are_as_reviewed() {
    let mut kept = Kept::new(&root().join("snapshots"));
    for (name, text) in review::documents().unwrap_or_else(|e| panic!("{e}")) {
        kept.keep(&name, &text);
    }
    kept.finish(|folder| review::DOCUMENTS.contains(&folder));
}

/// Names of files are part of what is reviewed: a schedule's own where it has one shader.
#[test]
fn a_file_a_shader_and_language() {
    let names = |schedule: &str| -> Vec<String> {
        let found = review::subjects().into_iter().find(|s| s.kernel.name == "linear" && s.schedule.name == schedule);
        let program = found.expect("the schedule is reviewed").compile().expect("it compiles");
        let files = review::files(&program);
        files
            .into_iter()
            .map(|f| f.name)
            .filter(|name| Path::new(name).extension().is_some_and(|e| e == "wgsl"))
            .collect()
    };
    assert_eq!(names("coalesced"), ["coalesced.wgsl"]);
    assert_eq!(names("row_f16_head"), ["row_f16_head.0.wgsl", "row_f16_head.1.wgsl", "row_f16_head.2.wgsl"]);
}
