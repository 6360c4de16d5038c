//! Two numbers of an adapter that make others readable: how fast it copies, and what an empty dispatch costs.
//!
//! Both are medians of several runs on the host's clock, less what a submit without work takes.

use crate::adapter::AdapterKind;
use crate::buffers::Buffers;
use crate::device::Device;
use crate::error::RuntimeError;
use crate::executor::Executor;
use crate::graph::{BufferDecl, BufferId, Graph, Op, Params, Role, Submission};
use crate::probe;
use std::sync::Arc;
use std::time::Instant;

/// Measured runs of each number.
const RUNS: usize = 5;

/// Gigabytes (10⁹) a second that a copy from buffer to buffer moves: each byte counts twice, read and written.
///
/// # Errors
/// Out of memory, device loss.
pub fn copy_bandwidth(device: &Device) -> Result<f64, RuntimeError> {
    let wished = if device.adapter().kind == AdapterKind::Software { 64 << 20 } else { 256 << 20 };
    let bytes: u64 = device.target().max_binding_bytes.min(wished) & !15;
    let decl = |name: &str| BufferDecl { name: name.into(), bytes, role: Role::Scratch };
    let buffers = Buffers::allocate(device, &[decl("copy from"), decl("copy to")])?;
    let (from, to) = (buffers.range(BufferId(0), 0, bytes)?, buffers.range(BufferId(1), 0, bytes)?);
    let copies = |count: usize| {
        let mut encoder = device.wgpu().create_command_encoder(&Default::default());
        for _ in 0..count {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, bytes);
        }
        let start = Instant::now();
        device.submit("copy", Some(encoder.finish()));
        device.wait()?;
        Ok(start.elapsed().as_secs_f64())
    };
    copies(1)?;
    let once = copies(1)?;
    // Enough copies for 20 ms, so that the submit's own time is small against them.
    let count = (0.02 / once.max(1e-5)).clamp(2.0, 64.0) as usize;
    let idle = median(|| copies(0))?;
    let busy = median(|| copies(count))?;
    Ok(2.0 * bytes as f64 * count as f64 / (busy - idle).max(1e-9) / 1e9)
}

/// Microseconds that each of many dispatches in one pass takes, each waiting for the one before, with next to no work.
///
/// # Errors
/// Device loss.
pub fn empty_dispatch(device: &Device) -> Result<f64, RuntimeError> {
    const MANY: usize = 256;
    let program = Arc::new(probe::least_program());
    let decl = BufferDecl { name: "word".into(), bytes: 16, role: Role::Scratch };
    let buffers = Arc::new(Buffers::allocate(device, std::slice::from_ref(&decl))?);
    let op = Op {
        label: "empty dispatch".into(),
        group: 0,
        program,
        bindings: vec![vec![BufferId(0)]],
        scalars: Vec::new(),
        reads: None,
        writes: None,
    };
    let timed = |count: usize| {
        let ops = vec![op.clone(); count];
        let graph = Graph { buffers: vec![decl.clone()], ops, submission: Submission::PerToken, max_dispatches: None };
        let mut executor = Executor::new(device, graph, Arc::clone(&buffers))?;
        let mut run = || {
            let start = Instant::now();
            executor.step(&Params::new(), &[])?;
            device.wait()?;
            Ok(start.elapsed().as_secs_f64())
        };
        run()?;
        median(run)
    };
    let (one, many) = (timed(1)?, timed(MANY + 1)?);
    Ok((many - one).max(0.0) / MANY as f64 * 1e6)
}

fn median(mut run: impl FnMut() -> Result<f64, RuntimeError>) -> Result<f64, RuntimeError> {
    let mut times = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}
