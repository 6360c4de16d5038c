//! What a graph will cost, read off it before any device runs: bytes of memory, dispatches, submits, traffic.
//!
//! The executor records exactly the dispatches and submits that are listed here, and its own counts are compared with these in tests. Bytes
//! read and written are each tensor's capacity unless the op says better; caches of the device are not modelled.

use crate::bytes::Size;
use crate::error::{GraphFault, RuntimeError};
use crate::graph::{BufferDecl, Graph, Op, Params, Read, Role, ScalarSource, Submission};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::Range;
use tilewright_codegen::program::{Count, Shader};

/// Bytes by role.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryPlan {
    /// Number of buffers and their bytes.
    pub roles: BTreeMap<Role, (usize, u64)>,
    /// The largest buffer: its name and bytes.
    pub largest: Option<(String, u64)>,
}

impl MemoryPlan {
    /// Bytes of all roles.
    pub fn total(&self) -> u64 {
        self.roles.values().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes of one role.
    pub fn bytes(&self, role: Role) -> u64 {
        self.roles.get(&role).map_or(0, |(_, bytes)| *bytes)
    }
}

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (role, (count, bytes)) in &self.roles {
            let name = format!("{role:?}").to_lowercase();
            writeln!(f, "{name:<10} {:>10} in {count} buffer{}", Size(*bytes), if *count == 1 { "" } else { "s" })?;
        }
        write!(f, "{:<10} {:>10}", "total", Size(self.total()))?;
        match &self.largest {
            Some((name, bytes)) => write!(f, "; the largest is `{name}` with {}", Size(*bytes)),
            None => Ok(()),
        }
    }
}

/// Sums declarations by role.
pub fn memory(decls: &[BufferDecl]) -> MemoryPlan {
    let mut plan = MemoryPlan::default();
    for decl in decls {
        let (count, bytes) = plan.roles.entry(decl.role).or_default();
        *count += 1;
        *bytes += decl.bytes;
    }
    plan.largest = decls.iter().rev().max_by_key(|d| d.bytes).map(|d| (d.name.clone(), d.bytes));
    plan
}

/// What a step costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Dispatches of at least one workgroup.
    pub dispatches: u32,
    /// Submits, the read-back copies riding in the last.
    pub submits: u32,
    /// Times that the host waits for the device.
    pub waits: u32,
    /// Bytes that shaders read.
    pub bytes_read: u64,
    /// Bytes that shaders write.
    pub bytes_written: u64,
    /// Bytes copied back to the host.
    pub readback_bytes: u64,
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |n: u32, ending| if n == 1 { "" } else { ending };
        write!(f, "{} dispatch{}, ", self.dispatches, s(self.dispatches, "es"))?;
        write!(f, "{} submit{}, {} wait{}; ", self.submits, s(self.submits, "s"), self.waits, s(self.waits, "s"))?;
        write!(f, "{} bytes read, {} written, ", thousands(self.bytes_read), thousands(self.bytes_written))?;
        write!(f, "{} read back", thousands(self.readback_bytes))
    }
}

/// The cost of a step with these parameters and reads.
///
/// # Errors
/// [`RuntimeError::Graph`] if a parameter is missing.
pub fn counters(graph: &Graph, params: &Params, reads: &[Read]) -> Result<Counters, RuntimeError> {
    let environments = Environments::of(graph);
    let values = environments.values(graph, params)?;
    let dispatches = dispatches(graph, &environments, &values, u32::MAX, None)?;
    let submits = submits(graph, &dispatches, reads);
    let mut counted = Counters { submits: submits.len() as u32, ..Counters::default() };
    counted.waits = waits(graph, submits.len() as u32, reads);
    counted.readback_bytes = reads.iter().map(|r| r.bytes).sum();
    for dispatch in &dispatches {
        let op = &graph.ops[dispatch.op];
        let most = capacity(op, &op.program.shaders[dispatch.shader]);
        let (read, written) = traffic(op, dispatch, &values[environments.of_op[dispatch.op]], most)?;
        counted.dispatches += 1;
        counted.bytes_read += read;
        counted.bytes_written += written;
    }
    Ok(counted)
}

/// The plan as text for review: one line an op; groups that print alike are printed once.
///
/// # Errors
/// [`RuntimeError::Graph`] if a parameter is missing.
pub fn text(graph: &Graph, params: &Params, reads: &[Read]) -> Result<String, RuntimeError> {
    let environments = Environments::of(graph);
    let values = environments.values(graph, params)?;
    let dispatches = dispatches(graph, &environments, &values, u32::MAX, None)?;
    let mut out = format!("{}\n", counters(graph, params, reads)?);
    let given: Vec<_> = params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let _ = writeln!(out, "submitted {}; parameters {}", policy(graph), given.join(", "));

    let mut groups: Vec<(u32, u32, String)> = Vec::new();
    let mut start = 0;
    for ops in graph.ops.chunk_by(|a, b| a.group == b.group) {
        let mut body = String::new();
        for index in start..start + ops.len() {
            write_op(&mut body, graph, index, &dispatches);
        }
        start += ops.len();
        match groups.last_mut() {
            Some((_, last, same)) if *same == body => *last = ops[0].group,
            _ => groups.push((ops[0].group, ops[0].group, body)),
        }
    }
    for (first, last, body) in groups {
        let _ = match first == last {
            true => write!(out, "group {first}\n{body}"),
            false => write!(out, "groups {first} to {last}, each\n{body}"),
        };
    }
    for read in reads {
        let name = graph.buffers.get(read.buffer.0).map_or("?", |b| &b.name);
        let _ = writeln!(out, "read back {} bytes of {name} at {}", thousands(read.bytes), read.offset);
    }
    Ok(out)
}

fn write_op(out: &mut String, graph: &Graph, index: usize, dispatches: &[Dispatch]) {
    let op = &graph.ops[index];
    let sizes: Vec<_> = dispatches.iter().filter(|d| d.op == index).map(|d| size_text(d.size)).collect();
    let sizes = if sizes.is_empty() { "not dispatched".into() } else { sizes.join(" + ") };
    let what = format!("{}[{}]", op.program.kernel, op.program.schedule);
    let tensors = |written: bool| {
        let bound = op.program.tensors.iter().zip(&op.bindings).filter(|(t, _)| t.written == written);
        bound.flat_map(|(t, ids)| buffer_names(graph, &t.name, ids)).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(out, "  {:<16} {what:<32} {sizes:<16} {} -> {}", op.label, tensors(false), tensors(true));
}

/// Weights and state have one buffer a layer, so that their parameter's name reads better than the buffer's.
fn buffer_names(graph: &Graph, tensor: &str, ids: &[crate::graph::BufferId]) -> Vec<String> {
    let name = |id: &crate::graph::BufferId| match graph.buffers.get(id.0) {
        Some(decl) if !matches!(decl.role, Role::Weight | Role::State) => decl.name.clone(),
        _ => tensor.to_string(),
    };
    let mut names: Vec<_> = ids.iter().map(name).collect();
    names.dedup();
    names
}

fn size_text(size: [u32; 2]) -> String {
    if size[1] == 1 { size[0].to_string() } else { format!("{} × {}", size[0], size[1]) }
}

fn policy(graph: &Graph) -> String {
    let unit = match graph.submission {
        Submission::PerOp { wait: true } => "op by op, waiting for each",
        Submission::PerOp { wait: false } => "op by op",
        Submission::PerLayer => "group by group",
        Submission::PerToken => "at once",
    };
    graph.max_dispatches.map_or(unit.to_string(), |n| format!("{unit}, at most {n} dispatches a submit"))
}

/// One dispatch of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dispatch {
    pub(crate) op: usize,
    pub(crate) shader: usize,
    pub(crate) size: [u32; 2],
}

/// The different sets of scalars in a graph: hundreds of ops share a handful.
pub(crate) struct Environments {
    /// An op of each set.
    representative: Vec<usize>,
    /// The set of each op.
    pub(crate) of_op: Vec<usize>,
}

impl Environments {
    pub(crate) fn of(graph: &Graph) -> Self {
        let mut representative: Vec<usize> = Vec::new();
        let mut of_op = Vec::with_capacity(graph.ops.len());
        for (i, op) in graph.ops.iter().enumerate() {
            let known = representative.iter().position(|r| graph.ops[*r].scalars == op.scalars);
            of_op.push(known.unwrap_or(representative.len()));
            if known.is_none() {
                representative.push(i);
            }
        }
        Environments { representative, of_op }
    }

    /// The words of each set under a step's parameters.
    pub(crate) fn values(&self, graph: &Graph, params: &Params) -> Result<Vec<Params>, RuntimeError> {
        self.representative.iter().map(|op| scalars(&graph.ops[*op], params)).collect()
    }
}

fn scalars(op: &Op, params: &Params) -> Result<Params, RuntimeError> {
    let word = |(name, source): &(String, ScalarSource)| Ok((name.clone(), source.word(params)?));
    op.scalars.iter().map(word).collect::<Result<_, _>>().map_err(|fault| op.fault(fault))
}

/// The dispatches of a step in order, without those of no workgroups.
pub(crate) fn dispatches(
    graph: &Graph,
    environments: &Environments,
    values: &[Params],
    max_workgroups: u32,
    max_iterations: Option<u32>,
) -> Result<Vec<Dispatch>, RuntimeError> {
    let mut out = Vec::with_capacity(graph.ops.len());
    for (i, op) in graph.ops.iter().enumerate() {
        let values = &values[environments.of_op[i]];
        for (name, &capacity) in &op.program.capacities {
            if let Some(&found) = values.get(name).filter(|n| **n > capacity) {
                return Err(op.fault(GraphFault::OverCapacity { name: name.clone(), found, capacity }));
            }
        }
        for (s, shader) in op.program.shaders.iter().enumerate() {
            let mut size = [0; 2];
            for (dimension, count) in shader.dispatch.iter().enumerate() {
                let found = count.eval(values);
                let allowed = max_workgroups;
                size[dimension] = found
                    .filter(|n| *n <= allowed)
                    .ok_or_else(|| op.fault(GraphFault::TooManyWorkgroups { dimension, found, allowed }))?;
            }
            if let (Some(allowed), Some(rounds)) = (max_iterations, &shader.iterations) {
                let found = rounds.eval(values);
                if found.is_none_or(|n| n > allowed) {
                    let (kernel, schedule) = (op.program.kernel.clone(), op.program.schedule.clone());
                    return Err(op.fault(GraphFault::TooManyIterations { kernel, schedule, found, allowed }));
                }
            }
            if size.iter().all(|n| *n > 0) {
                out.push(Dispatch { op: i, shader: s, size });
            }
        }
    }
    Ok(out)
}

/// Ranges of `dispatches` that are submitted together, under the graph's policy.
pub(crate) fn submits(graph: &Graph, dispatches: &[Dispatch], reads: &[Read]) -> Vec<Range<usize>> {
    let together = |a: &Dispatch, b: &Dispatch| match graph.submission {
        Submission::PerOp { .. } => a.op == b.op,
        Submission::PerLayer => graph.ops[a.op..=b.op].iter().all(|op| op.group == graph.ops[a.op].group),
        Submission::PerToken => true,
    };
    let most = graph.max_dispatches.map_or(usize::MAX, |n| n.max(1) as usize);
    let mut out = Vec::new();
    let mut start = 0;
    for group in dispatches.chunk_by(together) {
        for piece in group.chunks(most.min(group.len())) {
            out.push(start..start + piece.len());
            start += piece.len();
        }
    }
    if out.is_empty() && !reads.is_empty() {
        out.push(0..0);
    }
    out
}

/// The host waits for each submit if the policy says so, and once for what it reads back.
pub(crate) fn waits(graph: &Graph, submits: u32, reads: &[Read]) -> u32 {
    match graph.submission {
        Submission::PerOp { wait: true } => submits,
        _ => u32::from(!reads.is_empty()),
    }
}

/// Bytes that a shader reads and writes if all of what it binds is touched once.
pub(crate) fn capacity(op: &Op, shader: &Shader) -> (u64, u64) {
    let bytes = |written: bool| {
        let buffers = shader.loops.buffers.iter().filter_map(|buffer| {
            let tensor = op.program.tensors.iter().find(|t| t.name == buffer.tensor && t.written == written)?;
            ((buffer.part as usize) < tensor.parts.len()).then(|| tensor.part_bytes(buffer.part as usize))
        });
        buffers.sum()
    };
    (bytes(false), bytes(true))
}

/// Bytes read and written by one dispatch: an op's own figures count with its first shader, else its capacity counts.
pub(crate) fn traffic(
    op: &Op,
    dispatch: &Dispatch,
    values: &Params,
    capacity: (u64, u64),
) -> Result<(u64, u64), RuntimeError> {
    let bytes = |given: &Option<Count>, capacity: u64| match given {
        None => Ok(capacity),
        Some(_) if dispatch.shader > 0 => Ok(0),
        Some(count) => count
            .eval(values)
            .map(|words| u64::from(words) * 4)
            .ok_or_else(|| op.fault(GraphFault::NoTraffic { count: format!("{count:?}") })),
    };
    Ok((bytes(&op.reads, capacity.0)?, bytes(&op.writes, capacity.1)?))
}

fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}
