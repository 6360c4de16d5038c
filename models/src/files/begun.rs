//! A folder of files in the making.
//!
//! The rule: every file gets its name when all are complete, in the order in which they were begun, so that nothing half written
//! is taken for a model; what was begun in vain is removed. Absent: what is in the files.

use std::path::{Path, PathBuf};

use crate::error::ModelError;

/// Files and folders that are removed again unless all are finished.
pub(crate) struct Begun {
    out: PathBuf,
    /// Those that were made for `out`, the innermost first.
    folders: Vec<PathBuf>,
    names: Vec<String>,
}

impl Begun {
    /// Makes the folder, or accepts an empty one.
    pub(crate) fn claim(out: &Path) -> Result<Self, ModelError> {
        let occupied = |found: String| ModelError::Occupied { path: out.into(), found };
        if out.exists() && !out.is_dir() {
            return Err(occupied("it is a file".into()));
        }
        let missing = |p: &&Path| !p.as_os_str().is_empty() && !p.exists();
        let folders = out.ancestors().take_while(missing).map(PathBuf::from).collect();
        let begun = Begun { out: out.into(), folders, names: Vec::new() };
        std::fs::create_dir_all(out).map_err(|source| ModelError::Write { path: out.into(), source })?;
        let mut entries = std::fs::read_dir(out).map_err(|source| ModelError::Read { path: out.into(), source })?;
        match entries.next() {
            Some(Ok(entry)) => Err(occupied(format!("it holds {}", entry.file_name().to_string_lossy()))),
            Some(Err(source)) => Err(ModelError::Read { path: out.into(), source }),
            None => Ok(begun),
        }
    }

    /// Where to write the file that will have this name.
    pub(crate) fn file(&mut self, name: &str) -> PathBuf {
        self.names.push(name.into());
        self.out.join(unfinished(name))
    }

    /// Gives all files their names, in the order in which they were begun.
    pub(crate) fn finish(mut self) -> Result<(), ModelError> {
        for name in &self.names {
            let path = self.out.join(name);
            std::fs::rename(self.out.join(unfinished(name)), &path)
                .map_err(|source| ModelError::Write { path, source })?;
        }
        self.names.clear();
        self.folders.clear();
        Ok(())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // The error that led here is the one to tell; what cannot be removed stays under a name that says what it is.
        for name in &self.names {
            let _ = std::fs::remove_file(self.out.join(unfinished(name)));
            let _ = std::fs::remove_file(self.out.join(name));
        }
        for folder in &self.folders {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

fn unfinished(name: &str) -> String {
    format!("{name}.unfinished")
}

/// The disk must have room for the weights; where the system does not tell, writing will.
pub(crate) fn check_space(out: &Path, needed: u64) -> Result<(), ModelError> {
    match fs4::available_space(out) {
        Ok(available) if available < needed => Err(ModelError::Space { path: out.into(), needed, available }),
        _ => Ok(()),
    }
}
