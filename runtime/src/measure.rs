//! Two numbers of an adapter that make others readable: how fast it copies, and what an empty dispatch costs.
//!
//! Both are medians of several runs on the host's clock, less what a submit of one dispatch takes.

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

/// Gigabytes (10⁹) a second that a kernel moves which copies one buffer to another: each byte counts twice, read and written.
/// A kernel, because the copy command of some drivers runs on an engine that is slower than the memory.
///
/// # Errors
/// Out of memory, device loss.
pub fn copy_bandwidth(device: &Device) -> Result<f64, RuntimeError> {
    let wished = if device.adapter().kind == AdapterKind::Software { 64 << 20 } else { 512 << 20 };
    let target = device.target();
    let bytes = target.max_binding_bytes.min(target.max_buffer_bytes).min(wished);
    let invocations = target.max_invocations.min(256);
    let copied = u64::from(probe::COPIED * invocations);
    let workgroups = (bytes / 4 / copied).min(u64::from(target.max_workgroups)) as u32;
    let bytes = u64::from(workgroups) * copied * 4;
    let decl = |name: &str| BufferDecl { name: name.into(), bytes, role: Role::Scratch };
    let decls = vec![decl("copy from"), decl("copy to")];
    let op = Op {
        label: "copy".into(),
        group: 0,
        program: Arc::new(probe::copy_program(workgroups, invocations)),
        bindings: vec![vec![BufferId(0)], vec![BufferId(1)]],
        scalars: Vec::new(),
        reads: None,
        writes: None,
    };
    let seconds = |count: usize| per_op(device, &decls, &op, count);
    let once = seconds(1)?;
    // Enough copies for 20 ms, so that the submit's own time is small against them.
    let count = (0.02 / once.max(1e-5)).clamp(2.0, 64.0) as usize;
    Ok(2.0 * bytes as f64 / seconds(count)?.max(1e-12) / 1e9)
}

/// Microseconds that each of many dispatches in one pass takes, each waiting for the one before, with next to no work; by the
/// device's clock where it has one.
///
/// # Errors
/// Device loss.
pub fn empty_dispatch(device: &Device) -> Result<f64, RuntimeError> {
    const MANY: usize = 256;
    let decl = BufferDecl { name: "word".into(), bytes: 16, role: Role::Scratch };
    let op = Op {
        label: "empty dispatch".into(),
        group: 0,
        program: Arc::new(probe::least_program()),
        bindings: vec![vec![BufferId(0)]],
        scalars: Vec::new(),
        reads: None,
        writes: None,
    };
    Ok(per_op(device, &[decl], &op, MANY)? * 1e6)
}

/// Seconds that an op takes as one of many in a submit.
fn per_op(device: &Device, decls: &[BufferDecl], op: &Op, many: usize) -> Result<f64, RuntimeError> {
    let buffers = Arc::new(Buffers::allocate(device, decls)?);
    let timed = |count: usize| {
        let ops = vec![op.clone(); count];
        let graph = Graph { buffers: decls.to_vec(), ops, submission: Submission::PerToken, max_dispatches: None };
        let mut executor = Executor::new(device, graph, Arc::clone(&buffers))?;
        let mut run = || {
            if device.timestamps() {
                return Ok(executor.timed_step(&Params::new())? / 1e9);
            }
            let start = Instant::now();
            executor.step(&Params::new(), &[])?;
            device.wait()?;
            Ok(start.elapsed().as_secs_f64())
        };
        run()?;
        median(run)
    };
    let (one, all) = (timed(1)?, timed(many + 1)?);
    Ok((all - one).max(0.0) / many as f64)
}

fn median(mut run: impl FnMut() -> Result<f64, RuntimeError>) -> Result<f64, RuntimeError> {
    let mut times = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}
