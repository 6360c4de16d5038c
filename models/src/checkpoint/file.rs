//! One memory-mapped safetensors file and its checked header.
//!
//! The rule: after [`WeightsFile::open`] every tensor's bytes lie inside the file. The header's length, the file's length
//! and every offset are checked, each with a message of its own; the `safetensors` crate then checks the rest. Absent: what
//! the tensors ought to be, which is the checkpoint's business.
//! Format: <https://github.com/huggingface/safetensors#format>.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use safetensors::{SafeTensorError, SafeTensors, tensor::Metadata};

use crate::error::ModelError;
use crate::files::Bytes;

/// A mapped file and where its tensors lie.
#[derive(Debug)]
pub(super) struct WeightsFile {
    pub(super) path: PathBuf,
    map: Bytes,
    pub(super) tensors: HashMap<String, Entry>,
    /// What its header says beside tensors.
    pub(super) metadata: HashMap<String, String>,
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
        let map = Bytes::open(path)?;
        if map.len() < LENGTH_BYTES {
            return Err(header(path, "it is shorter than 8 bytes"));
        }
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
        let metadata = metadata.metadata().clone().unwrap_or_default();
        Ok(Self { path: path.into(), map, tensors, metadata })
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
    let text = &map[LENGTH_BYTES..LENGTH_BYTES + length as usize];
    SafeTensors::read_metadata(map).map_err(|error| match error {
        SafeTensorError::MetadataIncompleteBuffer => {
            let described = described(text).into_iter().map(|(_, end, _)| end).max().unwrap_or(0);
            let expected = LENGTH_BYTES as u64 + length + described;
            ModelError::Length { path: path.into(), found: map.len() as u64, expected }
        }
        SafeTensorError::InvalidOffset(name) => header(path, misplaced(text, &name)),
        SafeTensorError::TensorInvalidInfo => header(path, "a tensor's shape, type and offsets disagree"),
        other => header(path, other.to_string()),
    })
}

/// First byte, end and name of the tensors that a header describes, in the order of their bytes.
fn described(text: &[u8]) -> Vec<(u64, u64, String)> {
    let header: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    let tensors = header.as_object().into_iter().flatten();
    let place = |(name, tensor): (&String, &serde_json::Value)| {
        let at = |i: usize| tensor["data_offsets"][i].as_u64();
        Some((at(0)?, at(1)?, name.clone()))
    };
    let mut all: Vec<_> = tensors.filter_map(place).collect();
    all.sort_unstable();
    all
}

/// Why the tensors do not lie one after the other. The tensor `name` is where it was noticed, which need not be the cause.
fn misplaced(text: &[u8], name: &str) -> String {
    let mut end = 0;
    let mut last = String::new();
    for (start, stop, tensor) in described(text) {
        if stop < start {
            return format!("tensor `{tensor}` ends before it begins, at byte {stop} and {start} of the data");
        }
        if start > end {
            return format!(
                "bytes {end}..{start} of the data, before tensor `{tensor}`, belong to no tensor; the header is damaged or was edited"
            );
        }
        if start < end {
            return format!("tensors `{last}` and `{tensor}` share bytes {start}..{} of the data", end.min(stop));
        }
        (end, last) = (stop, tensor);
    }
    format!("the offsets of tensor `{name}` are impossible")
}

fn header(path: &Path, reason: impl Into<String>) -> ModelError {
    ModelError::Header { path: path.into(), reason: reason.into() }
}
