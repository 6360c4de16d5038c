//! The web dialect of each program is accepted by tint, the WGSL compiler of browsers.

use crate::shapes::programs;
use std::fs;
use std::path::Path;
use std::process::Command;
use tilewright_codegen::usage::uses_fragments;
use tilewright_codegen::wgsl::{Dialect, print};

#[test]
fn browsers_accept_every_shader() {
    if Command::new("tint").arg("--help").output().is_err() {
        eprintln!("SKIPPED: no `tint` on the PATH, so nothing says whether browsers accept the shaders");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tint");
    fs::create_dir_all(&folder).expect("the build folder can be written");
    let mut refused = Vec::new();
    for program in programs() {
        // Browsers have no cooperative matrices.
        for (i, shader) in program.shaders.iter().enumerate().filter(|(_, s)| !uses_fragments(&s.loops)) {
            let name = format!("{}.{}.{i}.wgsl", program.kernel, program.schedule);
            let file = folder.join(&name);
            let text = print(&shader.loops, Dialect::Web);
            fs::write(&file, &text).expect("the build folder can be written");
            let run = Command::new("tint").arg(&file).args(["-f", "wgsl", "-o", "/dev/null"]).output();
            let run = run.expect("tint was found a moment ago");
            if !run.status.success() {
                refused.push(format!("{name}:\n{}{text}", String::from_utf8_lossy(&run.stderr)));
            }
        }
    }
    assert!(refused.is_empty(), "tint refuses {} shaders:\n{}", refused.len(), refused.join("\n"));
}
