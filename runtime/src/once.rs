//! A program run once over tensors of the host: all that trying a kernel takes.
//!
//! Tensors and scalars are given by name and in the types of [`tilewright_dsl::eval::eval`], so that a program and the meaning of
//! its kernel are compared in a few lines. Every call allocates, fills and reads back; whoever runs a program again makes a
//! [`Graph`]. Layouts come from the program alone: rows are padded and narrowed here, and tensors over a binding's limit split.

use crate::buffers::Buffers;
use crate::device::Device;
use crate::error::{GraphFault, RuntimeError};
use crate::executor::Executor;
use crate::graph::{BufferDecl, BufferId, Graph, Op, Params, Read, Role, ScalarSource, Submission};
use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_codegen::program::{Program, TensorLayout};
use tilewright_dsl::eval::{Data, Value};
use tilewright_dsl::ir::Type;
use tilewright_dsl::storage;

impl Device {
    /// Runs a program once: reads `tensors` by the names of the kernel's parameters, and stores what it writes into them.
    ///
    /// A tensor is row-major without padding and has the extents of the program's layout: a run-time extent's capacity.
    /// `scalars` also gives each run-time extent its value, as a u32. Names that the program does not have are left alone.
    ///
    /// ```no_run
    /// use std::collections::BTreeMap;
    /// use tilewright_codegen::{compile, shape::Shape};
    /// use tilewright_dsl::eval::{Data, Value};
    /// use tilewright_dsl::schedule::Schedule;
    /// use tilewright_runtime::{AdapterChoice, Device};
    ///
    /// #[tilewright_dsl::kernel]
    /// fn scale(x: InOut<N>, by: f32) {
    ///     for i in 0..N {
    ///         x[i] = by * x[i];
    ///     }
    /// }
    ///
    /// let device = Device::open(&AdapterChoice::Best, None)?;
    /// let shape = Shape::new().fixed("N", 3);
    /// let program = compile(&scale(), &Schedule::empty("scale"), &shape, device.target())?;
    /// let mut tensors = BTreeMap::from([("x".to_string(), Data::F32(vec![1.0, 2.0, 3.0]))]);
    /// device.run(&program, &BTreeMap::from([("by".to_string(), Value::F32(2.0))]), &mut tensors)?;
    /// assert_eq!(tensors["x"], Data::F32(vec![2.0, 4.0, 6.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RuntimeError::Graph`] where a tensor or scalar is missing, of another type or length, or too large for its storage, and
    /// where the program was compiled for another device; [`RuntimeError::Shader`], out of memory, device loss.
    pub fn run(
        &self,
        program: &Program,
        scalars: &BTreeMap<String, Value>,
        tensors: &mut BTreeMap<String, Data>,
    ) -> Result<(), RuntimeError> {
        let refuse = |fault| RuntimeError::Graph { op: program.kernel.clone(), fault };
        let (mut buffers, mut bindings, mut contents) = (Vec::new(), Vec::new(), Vec::new());
        for layout in &program.tensors {
            let words = pack(layout, tensors.get(&layout.name)).map_err(refuse)?;
            let mut rest = words.as_slice();
            let mut parts = Vec::new();
            for part in 0..layout.parts.len() {
                let bytes = layout.part_bytes(part);
                let own = rest.split_off(..(bytes / 4) as usize).unwrap_or_default();
                let role = if layout.written { Role::Output } else { Role::Input };
                parts.push(BufferId(buffers.len()));
                buffers.push(BufferDecl { name: layout.name.clone(), bytes, role });
                contents.push(own.to_vec());
            }
            bindings.push(parts);
        }
        let allocated = Buffers::allocate(self, &buffers)?;
        let mut uploader = allocated.uploader();
        for (id, words) in contents.iter().enumerate() {
            uploader.write(BufferId(id), 0, bytemuck::cast_slice(words))?;
        }
        uploader.finish()?;
        let written = || program.tensors.iter().zip(&bindings).filter(|(layout, _)| layout.written);
        let whole = |id: &BufferId| Read { buffer: *id, offset: 0, bytes: buffers[id.0].bytes };
        let reads: Vec<Read> = written().flat_map(|(_, ids)| ids).map(whole).collect();
        let op = Op {
            label: program.kernel.clone(),
            group: 0,
            program: Arc::new(program.clone()),
            bindings: bindings.clone(),
            scalars: sources(program, scalars).map_err(refuse)?,
            reads: None,
            writes: None,
        };
        let graph =
            Graph { buffers: buffers.clone(), ops: vec![op], submission: Submission::PerToken, max_dispatches: None };
        let mut back = Executor::new(self, graph, Arc::new(allocated))?.step(&Params::new(), &reads)?.into_iter();
        for (layout, ids) in written() {
            let bytes: Vec<u8> = back.by_ref().take(ids.len()).flatten().collect();
            tensors.insert(layout.name.clone(), unpack(layout, &bytes).map_err(refuse)?);
        }
        Ok(())
    }
}

/// A value for each parameter of the program that is given.
fn sources(program: &Program, scalars: &BTreeMap<String, Value>) -> Result<Vec<(String, ScalarSource)>, GraphFault> {
    for param in program.shaders.iter().flat_map(|s| &s.loops.params) {
        let found = scalars.get(&param.name).map(|value| value.ty());
        if let Some(found) = found.filter(|found| *found != param.ty) {
            return Err(GraphFault::OtherType { name: param.name.clone(), expected: param.ty, found });
        }
    }
    let source = |(name, value): (&String, &Value)| match value {
        Value::F32(x) => Some((name.clone(), ScalarSource::F32(*x))),
        Value::U32(n) => Some((name.clone(), ScalarSource::U32(*n))),
        Value::Bool(_) => None,
    };
    Ok(scalars.iter().filter_map(source).collect())
}

/// Rows of the innermost dimension, and its extent.
fn rows(layout: &TensorLayout) -> (usize, u32) {
    let (inner, outer) = layout.dims.split_last().unwrap_or((&1, &[]));
    (outer.iter().map(|d| *d as usize).product(), *inner)
}

fn pack(layout: &TensorLayout, data: Option<&Data>) -> Result<Vec<u32>, GraphFault> {
    let name = || layout.name.clone();
    let data = data.ok_or_else(|| GraphFault::NoData { tensor: name() })?;
    let (rows, inner) = rows(layout);
    let length = |error| GraphFault::Length { tensor: name(), error };
    match (layout.integer, data) {
        (true, Data::U32(values)) => storage::encode_u32(rows, inner, values).map_err(length),
        (false, Data::F32(values)) => {
            let encoded = storage::encode(layout.storage, rows, inner, values).map_err(length)?;
            match encoded.overflows {
                0 => Ok(encoded.words),
                count => Err(GraphFault::Overflow { tensor: name(), count }),
            }
        }
        (integer, data) => {
            let expected = if integer { Type::U32 } else { Type::F32 };
            Err(GraphFault::OtherType { name: name(), expected, found: data.ty() })
        }
    }
}

fn unpack(layout: &TensorLayout, bytes: &[u8]) -> Result<Data, GraphFault> {
    let words: Vec<u32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
    let (rows, inner) = rows(layout);
    let decoded = match layout.integer {
        true => storage::decode_u32(rows, inner, &words).map(Data::U32),
        false => storage::decode(layout.storage, rows, inner, &words).map(Data::F32),
    };
    decoded.map_err(|error| GraphFault::Length { tensor: layout.name.clone(), error })
}
