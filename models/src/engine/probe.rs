//! Every op's result, one op at a time: what tests and people hold against another implementation's stages.
//!
//! The rule: the same programs run on the same buffers as in a step; only the reading between them is new. It is slow, and
//! it leaves the engine at position 0.

use tilewright_runtime::{Graph, Read, Role, Submission};

use super::Engine;
use super::plan::Stage;
use crate::error::ModelError;

/// What an op wrote.
#[derive(Clone, PartialEq, Debug)]
pub struct Probed {
    /// The op's label.
    pub label: String,
    /// Its group: the layer.
    pub layer: u32,
    /// The tensor's name in the kernel.
    pub tensor: String,
    /// A row a position, without padding.
    pub rows: Vec<Vec<f32>>,
}

impl Engine {
    /// Runs `ids` (at most a chunk of prefill, two or more) from position 0 and gives every f32 tensor that an op wrote a row a
    /// position; caches are left out.
    ///
    /// # Errors
    /// As [`Engine::prefill`].
    pub fn probe(&mut self, ids: &[u32]) -> Result<Vec<Probed>, ModelError> {
        self.reset();
        let ids = &ids[..ids.len().min(self.plan.chunk as usize)];
        self.check(ids)?;
        self.machine.write(self.plan.ids, ids)?;
        let count = ids.len() as u32;
        self.make_room(0, count)?;
        let params = self.plan.params(0, count);
        let graph = self.plan.graph(Stage::Prefill).clone();
        let mut all = Vec::new();
        for op in graph.ops {
            let submission = Submission::PerToken;
            let (label, layer, program, bindings) =
                (op.label.clone(), op.group, op.program.clone(), op.bindings.clone());
            self.machine.once(
                Graph { buffers: graph.buffers.clone(), ops: vec![op], submission, max_dispatches: None },
                &params,
            )?;
            for (tensor, ids) in program.tensors.iter().zip(&bindings) {
                let cache = graph.buffers[ids[0].0].role == Role::State;
                if !tensor.written || tensor.integer || cache {
                    continue;
                }
                let bytes = tensor.row_bytes() * u64::from(count);
                let bytes = self.machine.read(Read { buffer: ids[0], offset: 0, bytes })?;
                let words: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
                let innermost = tensor.dims[tensor.dims.len() - 1] as usize;
                let row = |row: &[f32]| {
                    row.chunks_exact(tensor.stride as usize).flat_map(|r| r[..innermost].to_vec()).collect()
                };
                let rows = words.chunks_exact(tensor.row_bytes() as usize / 4).map(row).collect();
                all.push(Probed { label: label.clone(), layer, tensor: tensor.name.clone(), rows });
            }
        }
        Ok(all)
    }
}
