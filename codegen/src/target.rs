//! What a device can do, as plain numbers: every limit that a pass obeys comes from here, never from a constant in a pass.
//!
//! The runtime makes a [`Target`] from an adapter; tests and `--target FILE` make one by hand to play a smaller device. No
//! graphics API is known here. Names and defaults follow the WebGPU specification, section 3.6 "Limits".

/// Subgroup sizes that a device may use; powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Subgroups {
    /// The smallest.
    pub min: u32,
    /// The largest.
    pub max: u32,
}

/// The limits and features of a device.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// A name for messages.
    pub name: String,
    /// Most invocations in a workgroup.
    pub max_invocations: u32,
    /// Most bytes of workgroup memory.
    pub max_workgroup_bytes: u32,
    /// Most bytes of one storage buffer binding.
    pub max_binding_bytes: u64,
    /// Most bytes of one buffer.
    pub max_buffer_bytes: u64,
    /// Most storage buffers that one shader may use.
    pub max_storage_buffers: u32,
    /// Most workgroups along one dimension of a dispatch.
    pub max_workgroups: u32,
    /// Most rounds of all loops of one invocation, where the device ends loops without a word (software adapters).
    pub max_iterations: Option<u32>,
    /// Subgroup operations, where the device has them *and* numbers invocations plainly.
    pub subgroups: Option<Subgroups>,
    /// Sides of the square fragments of cooperative matrices, with f16 factors and f32 sums, that the device multiplies.
    pub fragments: Vec<u32>,
}

impl Target {
    /// The least that every WebGPU device has: no subgroups, 256 invocations, 16 KiB, 128 MiB bindings.
    pub fn webgpu() -> Self {
        Target {
            name: "webgpu".into(),
            max_invocations: 256,
            max_workgroup_bytes: 16 << 10,
            max_binding_bytes: 128 << 20,
            max_buffer_bytes: 256 << 20,
            max_storage_buffers: 8,
            max_workgroups: 65_535,
            max_iterations: None,
            subgroups: None,
            fragments: vec![],
        }
    }
    /// The same with subgroups of any size from 4 to 128: what portable subgroup schedules are compiled for.
    pub fn webgpu_subgroups() -> Self {
        Target { name: "webgpu-subgroups".into(), subgroups: Some(Subgroups { min: 4, max: 128 }), ..Target::webgpu() }
    }
    /// The same with what Direct3D 12 asks of every device: 1,024 invocations and 32 KiB of workgroup memory.
    pub fn wide() -> Self {
        Target {
            name: "wide".into(),
            max_invocations: 1024,
            max_workgroup_bytes: 32 << 10,
            ..Target::webgpu_subgroups()
        }
    }
    /// The same with cooperative matrices of 16 × 16 fragments, subgroups of 32, and the 48 KiB of workgroup memory that devices
    /// with such matrices have: what schedules with `matrix(16)` need.
    pub fn matrix() -> Self {
        Target {
            name: "matrix".into(),
            subgroups: Some(Subgroups { min: 32, max: 32 }),
            fragments: vec![16],
            max_workgroup_bytes: 48 << 10,
            ..Target::wide()
        }
    }
}
