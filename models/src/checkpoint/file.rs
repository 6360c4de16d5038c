//! One memory-mapped safetensors file and its checked header.
//!
//! The rule: after [`WeightsFile::open`] every tensor's bytes lie inside the file. The header's length, the file's length
//! and every offset are checked, each with a message of its own; the `safetensors` crate then checks the rest. Absent: what
//! the tensors ought to be, which is the checkpoint's business.
//! Format: <https://github.com/huggingface/safetensors#format>.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use safetensors::{SafeTensorError, SafeTensors, tensor::Metadata};

use crate::error::ModelError;

/// A mapped file and where its tensors lie.
#[derive(Debug)]
pub(super) struct WeightsFile {
    pub(super) path: PathBuf,
    map: Mmap,
    pub(super) tensors: HashMap<String, Entry>,
}

/// Where one tensor lies.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The type's name in the header: "BF16", ...
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
    bytes: Range<usize>,
}

const LENGTH_BYTES: usize = 8;

impl WeightsFile {
    /// Maps the file and checks its header.
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let read = |source| ModelError::Read { path: path.into(), source };
        let file = File::open(path).map_err(read)?;
        if file.metadata().map_err(read)?.len() < LENGTH_BYTES as u64 {
            return Err(header(path, "it is shorter than 8 bytes"));
        }
        // SAFETY: the map is only read. As with every mapped file, another process that truncates it meanwhile can end
        // this one; nothing here can rule that out.
        let map = unsafe { Mmap::map(&file) }.map_err(read)?;
        let (header_length, metadata) = read_header(path, &map)?;
        let data_start = LENGTH_BYTES + header_length;
        let tensors = metadata
            .tensors()
            .into_iter()
            .map(|(name, info)| {
                let (start, end) = info.data_offsets;
                let entry = Entry {
                    dtype: format!("{:?}", info.dtype),
                    shape: info.shape.clone(),
                    bytes: data_start + start..data_start + end,
                };
                (name, entry)
            })
            .collect();
        Ok(Self { path: path.into(), map, tensors })
    }

    /// A tensor's bytes, little endian and row-major.
    pub(super) fn bytes(&self, entry: &Entry) -> &[u8] {
        &self.map[entry.bytes.clone()]
    }
}

fn read_header(path: &Path, map: &[u8]) -> Result<(usize, Metadata), ModelError> {
    if map.starts_with(b"version https://git-lfs") {
        return Err(header(path, "it is a Git LFS pointer, not the weights (`git lfs pull` fetches them)"));
    }
    let mut length = [0; LENGTH_BYTES];
    length.copy_from_slice(&map[..LENGTH_BYTES]);
    let length = u64::from_le_bytes(length);
    let available = (map.len() - LENGTH_BYTES) as u64;
    if length > available {
        return Err(ModelError::HeaderTooLong { path: path.into(), header: length, file: map.len() as u64 });
    }
    SafeTensors::read_metadata(map).map_err(|error| match error {
        SafeTensorError::MetadataIncompleteBuffer => {
            let text = &map[LENGTH_BYTES..LENGTH_BYTES + length as usize];
            let expected = LENGTH_BYTES as u64 + length + described_length(text);
            ModelError::Length { path: path.into(), found: map.len() as u64, expected }
        }
        SafeTensorError::TensorInvalidInfo => header(path, "a tensor's shape, type and offsets disagree"),
        other => header(path, other.to_string()),
    })
}

/// The end of the last tensor that a header describes.
fn described_length(text: &[u8]) -> u64 {
    let header: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    let tensors = header.as_object().into_iter().flatten();
    tensors.filter_map(|(_, tensor)| tensor["data_offsets"][1].as_u64()).max().unwrap_or(0)
}

fn header(path: &Path, reason: impl Into<String>) -> ModelError {
    ModelError::Header { path: path.into(), reason: reason.into() }
}
