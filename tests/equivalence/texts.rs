//! The gates that read a text and run nothing: tint, and DXC to DXIL and to SPIR-V. (naga reads every text when it is compiled.)

use crate::accept;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tilewright_codegen::hlsl;
use tilewright_codegen::program::{Program, Shader};
use tilewright_codegen::wgsl::{Dialect, print};
use tilewright_runtime::Dxc;

/// What is here to read texts, and which it has read.
pub struct Texts {
    dxc: Option<Dxc>,
    tint: bool,
    file: PathBuf,
    read: HashSet<String>,
}

impl Texts {
    /// The readers of this machine, for one of several threads.
    pub fn new(dxc: Option<Dxc>, thread: usize) -> Texts {
        let tint = Command::new("tint").arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
        if !tint {
            eprintln!("SKIPPED: no `tint` on the PATH, so nothing says whether browsers accept the shaders");
        }
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("equivalence-{thread}.wgsl"));
        Texts { dxc, tint, file, read: HashSet::new() }
    }

    /// Lets every reader read each shader of a program; a refusal is a panic. Tells who is here: tint, DXC.
    pub fn check(&mut self, program: &Program) -> [bool; 2] {
        for shader in &program.shaders {
            if self.read.insert(shader.wgsl.clone()) {
                self.shader(shader);
            }
        }
        let told = program.shaders.iter().all(|s| hlsl::inexpressible(&s.loops).is_none());
        [self.tint && told, self.dxc.is_some() && told]
    }

    fn shader(&self, shader: &Shader) {
        if hlsl::inexpressible(&shader.loops).is_some() {
            // Neither DXC nor tint has words for it.
            return;
        }
        if self.tint {
            let text = print(&shader.loops, Dialect::Web);
            std::fs::write(&self.file, &text).expect("the build folder can be written");
            let run = Command::new("tint").arg(&self.file).args(["-f", "wgsl", "-o", "/dev/null"]).output();
            let run = run.expect("tint was found a moment ago");
            assert!(run.status.success(), "tint refuses:\n{}{text}", String::from_utf8_lossy(&run.stderr));
        }
        if let Some(dxc) = &self.dxc {
            accept::dxil(dxc, &shader.loops);
            accept::spirv(dxc, &shader.loops);
        }
    }
}
