//! Buffers of a graph: planned in bytes, allocated once, shared by all graphs that declare the same ones.
//!
//! Nothing is allocated before every declared size has been held against the device's limits, and each allocation is checked
//! on its own, so that running out of memory names the buffer. New buffers hold zeros. Uploads go in pieces that are
//! waited for, so that the host holds a few pieces and never a whole file.

use crate::device::Device;
use crate::error::RuntimeError;
use crate::graph::{BufferDecl, BufferId};
use crate::plan::memory;
use tilewright_codegen::target::Target;

/// Largest piece of one upload, and bytes of pieces that may wait for the device.
const PIECE: usize = 16 << 20;
const IN_FLIGHT: usize = 4 * PIECE;

/// Allocated buffers, in the order of their declarations.
pub struct Buffers {
    device: Device,
    decls: Vec<BufferDecl>,
    handles: Vec<wgpu::Buffer>,
}

impl Buffers {
    /// Allocates all of `decls`, filled with zeros.
    ///
    /// # Errors
    /// [`RuntimeError::BufferTooLarge`] before anything is allocated; [`RuntimeError::OutOfMemory`]; device loss.
    pub fn allocate(device: &Device, decls: &[BufferDecl]) -> Result<Self, RuntimeError> {
        for decl in decls {
            within_limits(decl, device.target())?;
        }
        let planned = memory(decls).total();
        if let Some(available) = device.available_bytes().filter(|available| planned > *available) {
            let largest = decls.iter().max_by_key(|d| d.bytes);
            let (name, needed) = largest.map_or((String::new(), 0), |d| (d.name.clone(), d.bytes));
            return Err(RuntimeError::OutOfMemory { name, needed, allocated: 0, planned, available: Some(available) });
        }
        let mut handles = Vec::with_capacity(decls.len());
        let mut allocated = 0;
        for decl in decls {
            device.check()?;
            let made = device.scoped(|| {
                device.wgpu().create_buffer(&wgpu::BufferDescriptor {
                    label: Some(&decl.name),
                    size: physical_bytes(decl),
                    usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: false,
                })
            });
            handles.push(made.map_err(|e| device.allocation_error(&decl.name, decl.bytes, allocated, planned, e))?);
            allocated += physical_bytes(decl);
        }
        device.check()?;
        Ok(Buffers { device: device.clone(), decls: decls.to_vec(), handles })
    }

    /// The declarations.
    pub fn decls(&self) -> &[BufferDecl] {
        &self.decls
    }

    /// Writes a few bytes (inputs of a step); seen by the steps that follow.
    ///
    /// # Errors
    /// [`RuntimeError::OutOfRange`].
    pub fn write(&self, id: BufferId, offset: u64, bytes: &[u8]) -> Result<(), RuntimeError> {
        let buffer = self.range(id, offset, bytes.len() as u64)?;
        self.device.queue().write_buffer(buffer, offset, bytes);
        Ok(())
    }

    /// Reads bytes back and waits for them; a step's own reads are cheaper.
    ///
    /// # Errors
    /// [`RuntimeError::OutOfRange`], out of memory, device loss.
    pub fn read(&self, id: BufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, RuntimeError> {
        let source = self.range(id, offset, bytes)?;
        let mut out = Vec::with_capacity(bytes as usize);
        let staging = staging(&self.device, bytes.min(PIECE as u64))?;
        for start in (0..bytes).step_by(PIECE) {
            let piece = (bytes - start).min(PIECE as u64);
            let mut encoder = self.device.wgpu().create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(source, offset + start, &staging, 0, piece);
            self.device.submit("read back", Some(encoder.finish()));
            out.extend_from_slice(&map(&self.device, &staging, piece)?);
        }
        Ok(out)
    }

    /// Copies bytes inside buffers, for the steps that follow: buffer, from, to, how many. They pass through a buffer of their
    /// own, because none may be a copy's source and destination (WebGPU specification, "copyBufferToBuffer").
    ///
    /// # Errors
    /// [`RuntimeError::OutOfRange`], out of memory.
    pub fn copy_within(&self, copies: &[(BufferId, u64, u64, u64)]) -> Result<(), RuntimeError> {
        let total: u64 = copies.iter().map(|copy| copy.3).sum();
        if total == 0 {
            return Ok(());
        }
        for (id, from, to, bytes) in copies {
            self.range(*id, *from, *bytes)?;
            self.range(*id, *to, *bytes)?;
        }
        let made = self.device.scoped(|| {
            self.device.wgpu().create_buffer(&wgpu::BufferDescriptor {
                label: Some("copies"),
                size: total,
                usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        });
        let between = made.map_err(|e| self.device.allocation_error("copies", total, 0, total, e))?;
        let mut encoder = self.device.wgpu().create_command_encoder(&Default::default());
        let mut at = 0;
        for (id, from, _, bytes) in copies {
            encoder.copy_buffer_to_buffer(&self.handles[id.0], *from, &between, at, *bytes);
            at += bytes;
        }
        at = 0;
        for (id, _, to, bytes) in copies {
            encoder.copy_buffer_to_buffer(&between, at, &self.handles[id.0], *to, *bytes);
            at += bytes;
        }
        self.device.submit("copies", Some(encoder.finish()));
        Ok(())
    }

    /// Starts uploads of many bytes.
    pub fn uploader(&self) -> Uploader<'_> {
        Uploader { buffers: self, pending: 0 }
    }

    pub(crate) fn handle(&self, id: BufferId) -> Option<&wgpu::Buffer> {
        self.handles.get(id.0)
    }

    /// The buffer, if it holds these bytes and they are whole words.
    pub(crate) fn range(&self, id: BufferId, offset: u64, bytes: u64) -> Result<&wgpu::Buffer, RuntimeError> {
        let (name, size) = self.decls.get(id.0).map_or((format!("#{}", id.0), 0), |d| (d.name.clone(), d.bytes));
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= size);
        let whole = offset.is_multiple_of(4) && bytes.is_multiple_of(4);
        match self.handles.get(id.0) {
            Some(handle) if inside && whole => Ok(handle),
            _ => Err(RuntimeError::OutOfRange { name, size, offset, bytes }),
        }
    }
}

/// Uploads in pieces; the host's copies of pieces stay under 64 MiB.
pub struct Uploader<'a> {
    buffers: &'a Buffers,
    pending: usize,
}

impl Uploader<'_> {
    /// Sends bytes to a buffer.
    ///
    /// # Errors
    /// [`RuntimeError::OutOfRange`], device loss.
    pub fn write(&mut self, id: BufferId, offset: u64, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.buffers.range(id, offset, bytes.len() as u64)?;
        for (i, piece) in bytes.chunks(PIECE).enumerate() {
            self.buffers.write(id, offset + (i * PIECE) as u64, piece)?;
            self.pending += piece.len();
            if self.pending >= IN_FLIGHT {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Waits until everything is there.
    ///
    /// # Errors
    /// Device loss.
    pub fn finish(mut self) -> Result<(), RuntimeError> {
        self.flush()
    }

    fn flush(&mut self) -> Result<(), RuntimeError> {
        self.pending = 0;
        let submission = self.buffers.device.submit("upload", None);
        self.buffers.device.wait_for(Some(submission))
    }
}

/// A buffer for reading `bytes` back.
pub(crate) fn staging(device: &Device, bytes: u64) -> Result<wgpu::Buffer, RuntimeError> {
    let made = device.scoped(|| {
        device.wgpu().create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size: bytes.max(16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    });
    made.map_err(|e| device.allocation_error("read back", bytes, 0, bytes, e))
}

/// Waits for the last submit and copies the first `bytes` of a staging buffer out.
pub(crate) fn map(device: &Device, staging: &wgpu::Buffer, bytes: u64) -> Result<Vec<u8>, RuntimeError> {
    if bytes > 0 {
        staging.slice(..bytes).map_async(wgpu::MapMode::Read, |_| ());
    }
    device.wait()?;
    if bytes == 0 { Ok(Vec::new()) } else { mapped(device, staging, bytes) }
}

/// Copies the first `bytes` of a staging buffer out, whose mapping was asked for and waited for.
pub(crate) fn mapped(device: &Device, staging: &wgpu::Buffer, bytes: u64) -> Result<Vec<u8>, RuntimeError> {
    let copied = staging.slice(..bytes).get_mapped_range().map(|view| view.to_vec());
    staging.unmap();
    copied.map_err(|e| device.unexpected(&e.to_string()))
}

fn within_limits(decl: &BufferDecl, target: &Target) -> Result<(), RuntimeError> {
    let limits = [("max_buffer_bytes", target.max_buffer_bytes), ("max_binding_bytes", target.max_binding_bytes)];
    match limits.into_iter().find(|(_, allowed)| decl.bytes > *allowed) {
        Some((limit, allowed)) => {
            Err(RuntimeError::BufferTooLarge { name: decl.name.clone(), needed: decl.bytes, limit, allowed })
        }
        None => Ok(()),
    }
}

/// Bindings are arrays of up to 16-byte elements and have at least one.
fn physical_bytes(decl: &BufferDecl) -> u64 {
    decl.bytes.next_multiple_of(4).max(16)
}
