//! The user's folder for what can be made again: compiled pipelines, measured schedules.
//!
//! The rule: nothing there is needed, so that a folder that cannot be found, read or written costs time and nothing else.
//! Linux: <https://specifications.freedesktop.org/basedir-spec>; elsewhere the system's own place.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The environment variable that names the folder; empty, there is none.
pub const CACHE_VARIABLE: &str = "TILEWRIGHT_CACHE";

/// The folder, which need not exist: `$TILEWRIGHT_CACHE`, or `tilewright` in the system's folder for caches.
pub fn cache_folder() -> Option<PathBuf> {
    choose(&|name| std::env::var_os(name))
}

fn choose(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(own) = variable(CACHE_VARIABLE) {
        return (!own.is_empty()).then(|| own.into());
    }
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let system = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Caches"))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    };
    system.map(|folder| folder.join("tilewright"))
}

/// Letters, digits and dashes of a name: a file name for it.
pub fn file_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// Writes a file as a whole or not at all, and makes its folder: readers see the old contents or the new ones.
///
/// # Errors
/// The system's.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    let written = std::fs::File::create(&new).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    let moved = written.and_then(|()| std::fs::rename(&new, path));
    if moved.is_err() {
        // What is half written is of no use to anybody, and neither is a second error.
        let _ = std::fs::remove_file(&new);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_comes_first() {
        let with = |set: &'static [(&str, &str)]| {
            choose(&move |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        assert_eq!(with(&[("TILEWRIGHT_CACHE", "here"), ("HOME", "/home/me")]), Some("here".into()));
        assert_eq!(with(&[("TILEWRIGHT_CACHE", ""), ("HOME", "/home/me")]), None);
        if cfg!(target_os = "linux") {
            assert_eq!(with(&[("HOME", "/home/me")]), Some("/home/me/.cache/tilewright".into()));
            assert_eq!(with(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]), Some("/c/tilewright".into()));
            assert_eq!(with(&[("XDG_CACHE_HOME", "relative")]), None);
        }
    }

    #[test]
    fn names() {
        assert_eq!(file_name("llvmpipe (LLVM 15.0.6, 256 bits)"), "llvmpipe-llvm-15-0-6-256-bits");
    }

    #[test]
    fn files_are_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.txt");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
        assert!(write_whole(&path.join("c"), b"x").is_err());
    }
}
