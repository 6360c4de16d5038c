//! What the driver made of shaders, kept from one process to the next.
//!
//! The data are the driver's own and for one adapter and driver: wgpu holds their head against the device, and a sum of this module
//! guards the rest, since drivers trust what they are given. The rule: data that are missing, damaged, foreign or too many are as
//! none, and a folder that cannot be written is no error. Vulkan alone has such data (`PIPELINE_CACHE`).

use crate::folders::{cache_folder, file_name, write_whole};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Most bytes that are kept: what a driver has collected beyond that is begun anew.
const MOST: u64 = 64 << 20;

/// A device's cache and its file.
pub(crate) struct PipelineCache {
    cache: wgpu::PipelineCache,
    path: PathBuf,
    /// The sum of what the file holds.
    stored: Mutex<u64>,
}

impl PipelineCache {
    /// The cache of a device that has the feature; none without a folder for it.
    pub(crate) fn open(device: &wgpu::Device, info: &wgpu::AdapterInfo) -> Option<Self> {
        let key = wgpu::util::pipeline_cache_key(info)?;
        let driver = file_name(&format!("{} {} {}", info.name, info.driver, info.driver_info));
        let path = cache_folder()?.join("pipelines").join(format!("{}-{driver}.bin", file_name(&key)));
        let data = read(&path);
        let stored = data.as_deref().map_or(0, sum);
        let descriptor =
            wgpu::PipelineCacheDescriptor { label: Some("tilewright"), data: data.as_deref(), fallback: true };
        // SAFETY: the data come from `get_data` of this adapter and driver, which the file's name and wgpu's own head say, and
        // their sum is right.
        let cache = unsafe { device.create_pipeline_cache(&descriptor) };
        Some(PipelineCache { cache, path, stored: Mutex::new(stored) })
    }

    /// For a pipeline's descriptor.
    pub(crate) fn handle(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Writes what the driver has collected, if that is something new.
    pub(crate) fn save(&self) {
        let Some(data) = self.cache.get_data() else { return };
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let new = sum(&data);
        if new != *stored {
            let file = [&new.to_le_bytes()[..], &data].concat();
            // Without the file the next start is as slow as this one; nothing else depends on it.
            if write_whole(&self.path, &file).is_ok() {
                *stored = new;
            }
        }
    }
}

/// The data of a file whose sum is right.
fn read(path: &Path) -> Option<Vec<u8>> {
    let length = std::fs::metadata(path).ok()?.len();
    let file = (length <= MOST).then(|| std::fs::read(path).ok()).flatten()?;
    let (head, data) = file.split_first_chunk::<8>()?;
    (u64::from_le_bytes(*head) == sum(data)).then(|| data.to_vec())
}

/// FNV-1a over words of eight bytes.
fn sum(data: &[u8]) -> u64 {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |w, b| w << 8 | u64::from(*b));
    let mix = |h: u64, w: u64| (h ^ w).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    data.chunks(8).map(word).fold(0xcbf2_9ce4_8422_2325 ^ data.len() as u64, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.bin");
        assert_eq!(read(&path), None);
        let data: Vec<u8> = (0..1001u32).map(|i| (i * 7) as u8).collect();
        let file = [&sum(&data).to_le_bytes()[..], &data].concat();
        std::fs::write(&path, &file).unwrap();
        assert_eq!(read(&path), Some(data));
        for at in [0, 8, 500, file.len() - 1] {
            let mut wrong = file.clone();
            wrong[at] ^= 1;
            std::fs::write(&path, &wrong).unwrap();
            assert_eq!(read(&path), None, "byte {at}");
        }
        for shorter in [0, 7, 8, file.len() - 1] {
            std::fs::write(&path, &file[..shorter]).unwrap();
            assert_eq!(read(&path).filter(|d| !d.is_empty()), None, "{shorter} bytes");
        }
    }
}
