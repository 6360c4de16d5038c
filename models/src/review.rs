//! What a reviewer reads: every kernel by every schedule at a stated shape, as text in each language.
//!
//! From the list of kernels it makes subjects, and of a subject's program files for `snapshots/KERNEL/`; beside them plans of
//! every tier and some explanations. The rule: whatever is
//! listed in [`kernels::all`] is here without another line, and two fixed targets serve all, so that a text changes only where the
//! compiler, a kernel or a schedule does. Absent: adapters, and where the files lie.

mod algorithm;
pub mod compare;
pub mod explain;
pub mod head;
mod highlight;
pub mod page;
pub mod plans;
pub mod report;
pub mod revision;
mod shapes;

use tilewright_codegen::program::{Program, Shader};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::wgsl::{self, Dialect};
use tilewright_codegen::{CompileError, compile, hlsl, text};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{Schedule, Storage};

use self::compare::{Documents, Folder};
use crate::error::ModelError;
use crate::kernels::{self, linear};
use crate::stores::word;

/// A kernel, a schedule and a shape.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The algorithm.
    pub kernel: Kernel,
    /// The schedule.
    pub schedule: Schedule,
    /// Extents.
    pub shape: Shape,
}

impl Subject {
    /// Its program for the target that [`target_of`] names.
    ///
    /// # Errors
    /// Those of [`compile()`].
    pub fn compile(&self) -> Result<Program, CompileError> {
        compile(&self.kernel, &self.schedule, &self.shape, &target_of(&self.kernel, &self.schedule, &self.shape))
    }
}

/// A form in which a program is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Language {
    /// WGSL as browsers take it.
    Wgsl,
    /// HLSL.
    Hlsl,
    /// The loop IR.
    Loops,
}

impl Language {
    /// Every one.
    pub const ALL: [Language; 3] = [Language::Wgsl, Language::Hlsl, Language::Loops];

    /// The ending of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Wgsl => "wgsl",
            Language::Hlsl => "hlsl",
            Language::Loops => "loops",
        }
    }

    /// What begins a comment.
    pub fn comment(self) -> &'static str {
        match self {
            Language::Wgsl | Language::Hlsl => "//",
            Language::Loops => "#",
        }
    }

    /// A shader in this language.
    pub fn print(self, shader: &Shader) -> String {
        match self {
            Language::Wgsl => wgsl::print(&shader.loops, Dialect::Web),
            Language::Hlsl => hlsl::print(&shader.loops),
            Language::Loops => text::dump(&shader.loops),
        }
    }
}

/// A text of a program and its file's name in the kernel's folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// `coalesced.wgsl`; where a program has several shaders, `row.0.wgsl`, `row.1.wgsl`.
    pub name: String,
    /// The language.
    pub language: Language,
    /// The text.
    pub text: String,
}

/// A program's texts: one file a shader and language, so that each is a shader file for other tools.
pub fn files(program: &Program) -> Vec<File> {
    let mut files = Vec::new();
    for language in Language::ALL {
        for (i, shader) in program.shaders.iter().enumerate() {
            if language == Language::Hlsl && hlsl::inexpressible(&shader.loops).is_some() {
                continue;
            }
            let part = if program.shaders.len() == 1 { String::new() } else { format!(".{i}") };
            let name = format!("{}{part}.{}", program.schedule, language.extension());
            files.push(File { name, language, text: language.print(shader) });
        }
    }
    files
}

/// The texts of everything that is reviewed.
///
/// # Errors
/// Those of [`compile()`], which would be a defect of a kernel's own schedules.
pub fn folder() -> Result<Folder, CompileError> {
    let mut folder = Folder::new();
    for subject in subjects() {
        let program = subject.compile()?;
        for File { name, language, text } in files(&program) {
            let stem = name.strip_suffix(language.extension()).unwrap_or(&name).trim_end_matches('.').to_string();
            folder.entry((program.kernel.clone(), stem)).or_default().insert(language, text);
        }
    }
    Ok(folder)
}

/// Folders of `snapshots/` whose texts are no shaders.
pub const DOCUMENTS: [&str; 2] = ["plans", "explain"];

/// Schedules whose explanation is reviewed.
const EXPLAINED: [(&str, &str); 3] = [("linear", "coalesced"), ("attention", "grouped"), ("norm_linear", "row")];

/// Reviewed texts that are no shaders, by their place under `snapshots/`: `plans/tiny-3`, `explain/linear-coalesced`.
///
/// # Errors
/// A tier that is not possible on the least device, or a schedule that does not apply: defects, both.
pub fn documents() -> Result<Documents, ModelError> {
    let mut found = plans::texts()?;
    let explained = |s: &Subject| EXPLAINED.contains(&(s.kernel.name.as_str(), s.schedule.name.as_str()));
    for s in subjects().into_iter().filter(explained) {
        let text = explain::explain(&s.kernel, &s.schedule, &s.shape, &target(), Language::Hlsl)?;
        found.insert(format!("explain/{}-{}", s.kernel.name, s.schedule.name), text);
    }
    Ok(found)
}

/// What reviewed plans are made for, and programs where they can be: the least WebGPU device with subgroups of any size.
pub fn target() -> Target {
    Target::webgpu_subgroups()
}

/// What a program is reviewed for: [`target`], or a wide device, or one with cooperative matrices, for a schedule that only that can
/// run.
pub fn target_of(kernel: &Kernel, schedule: &Schedule, shape: &Shape) -> Target {
    choice(kernel, schedule, shape).0
}

/// The target of [`target_of`], and where it is the wide one, why: a line to be read.
pub fn choice(kernel: &Kernel, schedule: &Schedule, shape: &Shape) -> (Target, Option<String>) {
    let least = target();
    let run = |target: &Target| compile(kernel, schedule, shape, target);
    let Err(error) = run(&least) else { return (least, None) };
    match [Target::wide(), Target::matrix()].into_iter().find(|other| run(other).is_ok()) {
        Some(other) => {
            let why = format!(
                "`{}` of {} is compiled for {}: the least WebGPU device cannot run it: {}",
                schedule.name,
                kernel.name,
                size(&other),
                reason(&error)
            );
            (other, Some(why))
        }
        None => (least, None),
    }
}

/// A target's name and what a workgroup may have there: wide (1,024 invocations, 32 KiB).
fn size(target: &Target) -> String {
    let count = target.max_invocations;
    let count = if count < 1000 { count.to_string() } else { format!("{},{:03}", count / 1000, count % 1000) };
    format!("`{}` ({count} invocations, {} KiB)", target.name, target.max_workgroup_bytes >> 10)
}

/// The first line of an error, without the place that it points to.
fn reason(error: &CompileError) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first.split(" (kernel `").next().unwrap_or(first).to_string()
}

/// Everything that is reviewed: every kernel by every schedule, and some with packed weights.
pub fn subjects() -> Vec<Subject> {
    let mut all = Vec::new();
    for entry in kernels::all() {
        let shape = shapes::shape(&entry);
        for schedule in entry.schedules {
            all.push(Subject { kernel: entry.kernel.clone(), schedule, shape: shape.clone() });
        }
    }
    let kernel = linear::linear();
    let of = |schedule: Schedule, shape: Shape| Subject { kernel: kernel.clone(), schedule, shape };
    let projection = Shape::new().param("T", 64).fixed("R", 896).fixed("K", 896);
    for schedule in [linear::naive(), linear::coalesced(), linear::tiled()] {
        all.push(of(stored(&schedule, Storage::F16), projection.clone()));
    }
    all.push(of(stored(&linear::row(), Storage::Bf16), projection.clone()));
    for (schedule, storage) in [(linear::subgroup(), Storage::Int8), (linear::subgroup(), Storage::Nf4)] {
        all.push(of(stored(&schedule, storage), projection.clone()));
    }
    all.push(of(stored(&linear::tiled(), Storage::Nf4), projection));
    // The 0.5B's head: too many rows for one dimension of workgroups and for one binding.
    let head = Schedule { name: "row_f16_head".into(), ..stored(&linear::row(), Storage::F16) };
    all.push(of(head, Shape::new().fixed("T", 1).fixed("R", 151_936).fixed("K", 896)));
    all
}

/// The schedule with its weights in another storage, under another name.
fn stored(schedule: &Schedule, storage: Storage) -> Schedule {
    let mut new = schedule.clone();
    new.name = format!("{}_{}", schedule.name, word(storage));
    new.stores.push(("w".into(), storage));
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_target_says_why() {
        let all = subjects();
        let of = |kernel: &str, schedule: &str| {
            let found = all.iter().find(|s| s.kernel.name == kernel && s.schedule.name == schedule);
            let s = found.expect("it is reviewed");
            choice(&s.kernel, &s.schedule, &s.shape)
        };
        assert_eq!(of("linear", "coalesced"), (target(), None));
        let (target, why) = of("argmax", "wide");
        let why = why.expect("the least device cannot run it");
        assert_eq!(target, Target::wide());
        assert!(
            why.starts_with("`wide` of argmax is compiled for `wide` (1,024 invocations, 32 KiB): the least"),
            "{why}"
        );
        assert!(why.contains("256") && !why.contains('\n'), "{why}");
    }
}
