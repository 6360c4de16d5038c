//! A model's files: in a folder, or part of this program.
//!
//! Whoever reads a model asks here, by path. The rule: under the folders [`BUNDLED`] and [`BUNDLED_DRAFT`], whose names no other folders
//! have, lie the bundled model and its draft, embedded in the program, so that they are there wherever the program lies; every other path
//! is a regular file of the file system's, or a link to one.
//! Nothing is unpacked. What is written is a whole folder or nothing (`begun`).

mod begun;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::error::ModelError;
pub(crate) use begun::{Begun, check_space};

/// The folder of the bundled model.
pub const BUNDLED: &str = "<bundled model>";

/// The folder of the bundled model's draft.
pub const BUNDLED_DRAFT: &str = "<bundled draft>";

type Files = [(&'static str, &'static [u8])];

/// The embedded folders with their names, and those that they have in the assets.
static FOLDERS: [(&str, &str, &Files); 2] = [(BUNDLED, "tiny", &TINY), (BUNDLED_DRAFT, "draft", &DRAFT)];

static TINY: [(&str, &[u8]); 5] = [
    ("config.json", include_bytes!("../assets/tiny/config.json")),
    ("generation_config.json", include_bytes!("../assets/tiny/generation_config.json")),
    ("model.safetensors", include_bytes!("../assets/tiny/model.safetensors")),
    ("tokenizer.json", include_bytes!("../assets/tiny/tokenizer.json")),
    ("tokenizer_config.json", include_bytes!("../assets/tiny/tokenizer_config.json")),
];

// Tokens are those of the model that it is the draft of.
static DRAFT: [(&str, &[u8]); 5] = [
    ("config.json", include_bytes!("../assets/draft/config.json")),
    ("generation_config.json", TINY[1].1),
    ("model.safetensors", include_bytes!("../assets/draft/model.safetensors")),
    ("tokenizer.json", TINY[3].1),
    ("tokenizer_config.json", TINY[4].1),
];

/// The embedded file of that path, if the path is of an embedded folder.
fn embedded(path: &Path) -> Option<io::Result<&'static [u8]>> {
    let inside = |(folder, _, files): &(&str, &str, &'static Files)| Some((path.strip_prefix(folder).ok()?, *files));
    let (name, files) = FOLDERS.iter().find_map(inside)?;
    let found = files.iter().find(|(file, _)| Path::new(file) == name);
    Some(found.map(|(_, bytes)| *bytes).ok_or_else(|| ErrorKind::NotFound.into()))
}

/// Whether there is a folder of this name.
pub(crate) fn is_folder(dir: &Path) -> bool {
    FOLDERS.iter().any(|(folder, ..)| dir == Path::new(folder)) || dir.is_dir()
}

/// Whether anything has this name.
pub(crate) fn exists(path: &Path) -> bool {
    embedded(path).map_or_else(|| path.exists(), |found| found.is_ok())
}

/// Refuses what is no regular file before it is opened: to open a pipe is to wait for whoever writes into it.
fn regular(path: &Path) -> io::Result<()> {
    let found = std::fs::metadata(path)?.file_type();
    if found.is_file() {
        return Ok(());
    }
    let what = if found.is_dir() { "it is a folder" } else { "it is a pipe or a device" };
    Err(io::Error::other(format!("{what}; expected a regular file")))
}

/// A file's bytes.
pub(crate) fn read(path: &Path) -> Result<Cow<'static, [u8]>, ModelError> {
    let from_disk = || {
        regular(path)?;
        std::fs::read(path).map(Cow::Owned)
    };
    let bytes = embedded(path).map_or_else(from_disk, |found| found.map(Cow::Borrowed));
    bytes.map_err(|source| ModelError::Read { path: path.into(), source })
}

/// A small file as text.
pub(crate) fn read_text(path: &Path) -> Result<String, ModelError> {
    String::from_utf8(read(path)?.into_owned()).map_err(|e| ModelError::Json {
        path: path.into(),
        reason: format!("byte {} is not UTF-8", e.utf8_error().valid_up_to()),
    })
}

/// A small file as JSON.
pub(crate) fn read_json(path: &Path) -> Result<serde_json::Value, ModelError> {
    serde_json::from_str(&read_text(path)?).map_err(|e| ModelError::Json { path: path.into(), reason: e.to_string() })
}

/// A large file's bytes, of which only those that are looked at are read.
#[derive(Debug)]
pub(crate) enum Bytes {
    /// Of the file system.
    Mapped(Mmap),
    /// Of the program.
    Embedded(&'static [u8]),
}

impl Bytes {
    /// Maps the file.
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        let read = |source| ModelError::Read { path: path.into(), source };
        if let Some(found) = embedded(path) {
            return found.map(Bytes::Embedded).map_err(read);
        }
        regular(path).map_err(read)?;
        let file = File::open(path).map_err(read)?;
        // SAFETY: the map is only read. As with every mapped file, another process that truncates it meanwhile can end
        // this one; nothing here can rule that out.
        unsafe { Mmap::map(&file) }.map(Bytes::Mapped).map_err(read)
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Embedded(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_holds_the_folders_of_the_assets() {
        for (folder, name, files) in FOLDERS {
            let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name);
            for (name, bytes) in files {
                assert_eq!(std::fs::read(assets.join(name)).unwrap(), *bytes, "{folder}/{name}");
                let path = Path::new(folder).join(name);
                assert!(exists(&path) && *read(&path).unwrap() == **bytes && *Bytes::open(&path).unwrap() == **bytes);
            }
        }
        let other = Path::new(BUNDLED).join("chat_template.jinja");
        assert!(!exists(&other) && is_folder(Path::new(BUNDLED)));
        let message = read(&other).unwrap_err().to_string();
        assert!(
            message.contains(BUNDLED) && message.contains("chat_template.jinja") && message.contains("not found"),
            "{message}"
        );
    }
}
