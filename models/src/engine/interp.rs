//! Runs graphs with the compiler's interpreter on buffers of the host: slow, and in need of no driver.
//!
//! The rule: the same loop IR runs as on a device, with subgroups of 32. Checks for races are left to the tests of kernels;
//! accesses outside a buffer stop a run all the same.

use tilewright_codegen::interp::run_unchecked;
use tilewright_codegen::program::Shader;
use tilewright_runtime::{BufferId, Graph, Op, Params, Read, ScalarSource};

use super::machine::words;
use super::plan::{Plan, Stage};
use crate::error::ModelError;

/// Invocations of a subgroup.
const SUBGROUP: u32 = 32;

/// Graphs and their buffers.
pub struct Interpreter {
    graphs: Vec<Graph>,
    /// Steps of a few positions.
    few: Vec<Graph>,
    buffers: Vec<Vec<u32>>,
}

impl Interpreter {
    /// Buffers of zeros for a plan's graphs.
    pub fn new(plan: &Plan) -> Self {
        let buffers = plan.buffers().iter().map(|decl| vec![0; words(decl)]).collect();
        let few = plan.verify.as_ref().map(|verify| verify.graphs.clone()).unwrap_or_default();
        Interpreter { graphs: plan.graphs.clone(), few, buffers }
    }

    /// Writes whole words.
    pub fn write(&mut self, id: BufferId, offset: u64, bytes: &[u8]) {
        let at = offset as usize / 4;
        let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        self.buffers[id.0][at..].iter_mut().zip(words).for_each(|(word, new)| *word = new);
    }

    /// Copies whole words inside a buffer.
    pub fn copy(&mut self, id: BufferId, from: u64, to: u64, bytes: u64) {
        let [from, to, words] = [from, to, bytes].map(|n| n as usize / 4);
        self.buffers[id.0].copy_within(from..from + words, to);
    }

    /// Reads whole words.
    pub fn read(&self, read: Read) -> Vec<u8> {
        let at = read.offset as usize / 4;
        self.buffers[read.buffer.0]
            .iter()
            .skip(at)
            .take(read.bytes as usize / 4)
            .flat_map(|w| w.to_le_bytes())
            .collect()
    }

    /// Runs a stage and returns the bytes of each read.
    ///
    /// # Errors
    /// [`ModelError::Interpreter`].
    pub fn step(&mut self, stage: Stage, params: &Params, reads: &[Read]) -> Result<Vec<Vec<u8>>, ModelError> {
        self.lent(|cpu| &mut cpu.graphs[stage as usize], params, reads)
    }

    /// Runs a step of a few positions and returns the bytes of each read.
    ///
    /// # Errors
    /// [`ModelError::Interpreter`].
    pub fn few(&mut self, far: bool, params: &Params, reads: &[Read]) -> Result<Vec<Vec<u8>>, ModelError> {
        self.lent(|cpu| &mut cpu.few[usize::from(far)], params, reads)
    }

    /// Runs a graph of its own.
    fn lent(
        &mut self,
        place: impl Fn(&mut Self) -> &mut Graph,
        params: &Params,
        reads: &[Read],
    ) -> Result<Vec<Vec<u8>>, ModelError> {
        let graph = std::mem::replace(place(self), empty());
        let ran = self.run(&graph, params);
        *place(self) = graph;
        ran?;
        Ok(reads.iter().map(|r| self.read(*r)).collect())
    }

    /// Runs a graph over the buffers.
    ///
    /// # Errors
    /// [`ModelError::Interpreter`].
    pub fn run(&mut self, graph: &Graph, params: &Params) -> Result<(), ModelError> {
        for op in &graph.ops {
            let mut given = Params::new();
            for (name, source) in &op.scalars {
                let word = match source {
                    ScalarSource::Param(name) => params.get(name).copied(),
                    ScalarSource::U32(n) => Some(*n),
                    ScalarSource::F32(x) => Some(x.to_bits()),
                };
                given.insert(name.clone(), word.ok_or_else(|| fault(op, format!("the step gives no `{name}`")))?);
            }
            for shader in &op.program.shaders {
                self.dispatch(op, shader, &given)?;
            }
        }
        Ok(())
    }

    fn dispatch(&mut self, op: &Op, shader: &Shader, given: &Params) -> Result<(), ModelError> {
        let missing = |what: &str| fault(op, format!("no value for `{what}`"));
        let size = |i: usize| shader.dispatch[i].eval(given).ok_or_else(|| missing("the number of workgroups"));
        let size = [size(0)?, size(1)?];
        let params = shader.loops.params.iter();
        let params = params.map(|p| given.get(&p.name).copied().ok_or_else(|| missing(&p.name)));
        let params = params.collect::<Result<Vec<u32>, _>>()?;
        let mut ids = Vec::with_capacity(shader.loops.buffers.len());
        for buffer in &shader.loops.buffers {
            let tensor = op.program.tensors.iter().position(|t| t.name == buffer.tensor);
            let id = tensor.and_then(|t| op.bindings[t].get(buffer.part as usize));
            ids.push(*id.ok_or_else(|| missing(&buffer.tensor))?);
        }
        // A shader writes no buffer that it binds twice, so a buffer bound twice may be copied.
        let mut bound: Vec<Vec<u32>> = Vec::with_capacity(ids.len());
        for (i, id) in ids.iter().enumerate() {
            let before = ids[..i].iter().position(|other| other == id);
            bound.push(match before {
                Some(j) => bound[j].clone(),
                None => std::mem::take(&mut self.buffers[id.0]),
            });
        }
        let ran = run_unchecked(&shader.loops, size, &params, &mut bound, SUBGROUP);
        for (i, (id, words)) in ids.iter().zip(bound).enumerate() {
            if !ids[..i].contains(id) {
                self.buffers[id.0] = words;
            }
        }
        ran.map(|_| ()).map_err(|e| fault(op, e.to_string()))
    }
}

fn fault(op: &Op, reason: String) -> ModelError {
    ModelError::Interpreter { op: op.label.clone(), reason }
}

fn empty() -> Graph {
    let submission = tilewright_runtime::Submission::PerToken;
    Graph { buffers: Vec::new(), ops: Vec::new(), submission, max_dispatches: None }
}
