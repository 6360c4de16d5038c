//! Committed texts under review: plain files that other tools read, with insta's diff and acceptance.
//!
//! `snapshots/linear/row.wgsl` is what is committed. Where the generated text differs, a twin `row.wgsl.snap` is written from
//! it, which git ignores, and insta asserts on the twin: so `cargo insta review` shows a text diff of `row.wgsl.snap.new`. An
//! accepted twin is one that insta wrote, which is seen by its header: the next run carries it over to the plain file and
//! deletes it. Where nothing may be written (`INSTA_UPDATE=no`, or `CI`), files are compared and pending ones are refused.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Stands in the header of a twin that was written here, and not by insta.
const COPY: &str = "description: a copy of the file without .snap";

/// A folder of committed texts, while they are compared.
pub struct Kept {
    root: PathBuf,
    writes: bool,
    files: BTreeSet<PathBuf>,
    problems: Vec<String>,
    blocked: bool,
}

impl Kept {
    /// The texts under `root`, to be compared as the environment says.
    pub fn new(root: &Path) -> Self {
        Kept { root: root.into(), writes: writes(), files: BTreeSet::new(), problems: Vec::new(), blocked: false }
    }

    /// Compares a generated text with the file of this name, `linear/row.wgsl`.
    pub fn keep(&mut self, name: &str, text: &str) {
        let new = self.files.insert(name.into());
        assert!(new, "two texts are called {name}");
        if self.blocked {
            return;
        }
        if let Err((path, error)) = self.compare(name, text) {
            self.blocked = true;
            self.problems.push(format!(
                "cannot write {}: {error}\n  = help: review needs a folder that can be written; `INSTA_UPDATE=no` compares only",
                path.display()
            ));
        }
    }

    fn compare(&mut self, name: &str, text: &str) -> Result<(), (PathBuf, io::Error)> {
        let plain = self.root.join(name);
        let twin = with(&plain, ".snap");
        let pending = with(&plain, ".snap.new");
        let committed = fs::read_to_string(&plain).ok();
        let equal = committed.as_deref() == Some(text);
        if !self.writes {
            if !equal {
                let difference = difference(committed.as_deref().unwrap_or_default(), text);
                self.problems.push(format!("snapshots/{name} is not what is generated:\n{difference}"));
            } else if pending.exists() {
                self.problems.push(format!("snapshots/{name}.snap.new is pending: run `cargo insta review`"));
            }
            return Ok(());
        }
        if equal {
            remove(&twin)?;
            return remove(&pending);
        }
        if !accepted(&twin, text) {
            match &committed {
                Some(committed) => write(&twin, &format!("---\n{COPY}\n---\n{committed}"))?,
                None => remove(&twin)?,
            }
            if catch_unwind(AssertUnwindSafe(|| self.assert(&plain, text))).is_err() {
                self.problems.push(format!("snapshots/{name} changes: run `cargo insta review`, then the test again"));
                return Ok(());
            }
        }
        // With INSTA_FORCE_PASS the change is only pending.
        let only_ending = committed.as_deref().is_some_and(|old| old.trim_end() == text.trim_end());
        if only_ending || accepted(&twin, text) {
            write(&plain, text)?;
            remove(&twin)?;
            remove(&pending)?;
        }
        Ok(())
    }

    fn assert(&self, plain: &Path, text: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(plain.parent().unwrap_or(&self.root));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let name = plain.file_name().unwrap_or_default().to_string_lossy().into_owned();
        settings.bind(|| insta::assert_snapshot!(name, text));
    }

    /// Ends the comparison: every other file of the folders that `ours` accepts is an orphan.
    ///
    /// # Panics
    /// With everything that is wrong.
    pub fn finish(mut self, ours: impl Fn(&str) -> bool) {
        // No text lies beside the folders.
        for file in entries(&self.root).into_iter().filter(|name| !self.root.join(name).is_dir()) {
            self.problems.push(format!("snapshots/{file} belongs to nothing: delete it"));
        }
        for folder in entries(&self.root).into_iter().filter(|name| self.root.join(name).is_dir() && ours(name)) {
            for file in entries(&self.root.join(&folder)) {
                let stem = file.strip_suffix(".new").unwrap_or(&file);
                let stem = stem.strip_suffix(".snap").unwrap_or(stem);
                if !self.files.contains(&Path::new(&folder).join(stem)) {
                    self.problems.push(format!("snapshots/{folder}/{file} belongs to nothing: delete it"));
                }
            }
        }
        assert!(self.problems.is_empty(), "{}", self.problems.join("\n"));
    }
}

/// Whether this run may write, by insta's own rule.
fn writes() -> bool {
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    match set("INSTA_UPDATE").as_str() {
        "no" => false,
        "" | "auto" => matches!(set("CI").as_str(), "" | "0" | "false") && set("TF_BUILD").is_empty(),
        _ => true,
    }
}

/// Whether insta wrote this twin, and with this text.
fn accepted(twin: &Path, text: &str) -> bool {
    let Ok(found) = fs::read_to_string(twin) else { return false };
    let Some((header, body)) = found.strip_prefix("---\n").and_then(|rest| rest.split_once("---\n")) else {
        return false;
    };
    !header.contains(COPY) && body.trim_end() == text.trim_end()
}

/// The lines that differ, with a little around them.
fn difference(old: &str, new: &str) -> String {
    similar::TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(2)
        .header("committed", "generated")
        .to_string()
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn write(path: &Path, text: &str) -> Result<(), (PathBuf, io::Error)> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(path, text)).map_err(|error| (path.into(), error))
}

fn remove(path: &Path) -> Result<(), (PathBuf, io::Error)> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err((path.into(), error)),
        _ => Ok(()),
    }
}

fn entries(folder: &Path) -> Vec<String> {
    let found = fs::read_dir(folder).unwrap_or_else(|e| panic!("cannot read {}: {e}", folder.display()));
    let mut names: Vec<String> = found.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
