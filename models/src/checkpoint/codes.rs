//! Quantised matrices in files: words of codes and scales, as they lie on the device.
//!
//! A matrix `NAME` is a tensor `NAME.int8` or `NAME.nf4` of U32, a row of the matrix a row of words: other loaders miss `NAME`
//! and say so. The file's metadata holds the version of the format and the storages that `quantize` was given. The rule:
//! what a version or a storage is not known by is refused by name. Absent: making them, which is `quantise`'s.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use tilewright_dsl::schedule::Storage;
use tilewright_dsl::storage::{self, stride};

use super::file::WeightsFile;
use super::layout::TensorSpec;
use crate::error::ModelError;
use crate::stores::{Stores, StoresError, word};

/// The metadata's key of the version.
pub const VERSION_KEY: &str = "tilewright.quantised";
/// The version that is written and read.
pub const VERSION: &str = "1";
/// The metadata's key of the storages.
pub const STORES_KEY: &str = "tilewright.store";

/// A matrix that lies in a file as codes.
#[derive(Debug)]
pub(super) struct Coded {
    /// Its tensor's name.
    pub entry: String,
    /// Its codes.
    pub storage: Storage,
    /// The matrix' shape.
    pub shape: Vec<usize>,
}

/// The name under which a matrix' codes lie in a file.
pub fn entry_name(name: &str, storage: Storage) -> String {
    format!("{name}.{}", word(storage))
}

/// Words of a row of a matrix.
pub fn row_words(storage: Storage, columns: usize) -> usize {
    (stride(storage, u32::try_from(columns).unwrap_or(u32::MAX)) / storage.per_word()) as usize
}

/// The storages that files say, if they were quantised here.
pub(super) fn stores(files: &[WeightsFile]) -> Result<Stores, ModelError> {
    let Some(file) = files.iter().find(|f| f.metadata.contains_key(VERSION_KEY)) else { return Ok(Stores::default()) };
    let version = &file.metadata[VERSION_KEY];
    if version != VERSION {
        let (path, found) = (file.path.clone(), version.clone());
        return Err(StoresError::Version { path, found, known: VERSION }.into());
    }
    let wrong = |reason| StoresError::File { path: file.path.clone(), reason };
    let Some(text) = file.metadata.get(STORES_KEY) else {
        return Err(wrong(format!("its metadata has no `{STORES_KEY}`; quantise the original files again")).into());
    };
    let told = text.parse::<Stores>();
    Ok(told.map_err(|e| wrong(format!("its metadata says `{STORES_KEY}` is `{text}`: {e}")))?)
}

/// Checks a matrix' codes against its shape; `None` where it is stored otherwise.
pub(super) fn check(
    files: &[WeightsFile],
    places: &HashMap<String, usize>,
    listing: &Path,
    spec: &TensorSpec,
    storage: Option<Storage>,
) -> Result<Option<Coded>, ModelError> {
    let (Some(storage), [rows, columns]) = (storage.filter(|s| s.quantised()), &spec.shape[..]) else {
        return Ok(None);
    };
    let entry = entry_name(&spec.name, storage);
    let expected = vec![*rows, row_words(storage, *columns)];
    let Some((file, found)) = places.get(&entry).and_then(|i| Some((&files[*i], files[*i].tensors.get(&entry)?)))
    else {
        let help = format!("its metadata says that matrices are {storage}; quantise the original files again");
        return Err(ModelError::NoTensor { path: listing.into(), tensor: entry, expected, help });
    };
    if found.dtype != "U32" {
        let (path, found) = (file.path.clone(), found.dtype.clone());
        return Err(ModelError::Dtype { path, tensor: entry, found });
    }
    if found.shape != expected {
        let (path, found) = (file.path.clone(), found.shape.clone());
        return Err(ModelError::Shape { path, tensor: entry, found, expected });
    }
    Ok(Some(Coded { entry, storage, shape: spec.shape.clone() }))
}

impl Coded {
    /// Words of some rows; `bytes` are those of all.
    pub fn words(&self, bytes: &[u8], rows: Range<usize>) -> Vec<u32> {
        let row = row_words(self.storage, self.shape[1]) * 4;
        let own = &bytes[rows.start * row..rows.end * row];
        own.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }

    /// What some rows mean.
    pub fn values(&self, bytes: &[u8], rows: Range<usize>) -> Result<Vec<f32>, ModelError> {
        let words = self.words(bytes, rows.clone());
        Ok(storage::decode(self.storage, rows.len(), self.shape[1] as u32, &words)?)
    }
}
