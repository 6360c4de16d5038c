//! The ways to run a kernel: its reference meaning, the interpreter at a subgroup size, the adapter.

use crate::cases::Case;
use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_codegen::interp;
use tilewright_codegen::program::{Program, TensorLayout};
use tilewright_dsl::eval::{Data, Value, eval};
use tilewright_dsl::ir::{Kernel, Role, Type};
use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_dsl::storage::{decode, encode};
use tilewright_runtime::{
    BufferDecl, BufferId, Buffers, Device, Executor, Graph, Op, Read, Role as Use, RuntimeError, ScalarSource,
    Submission,
};

/// Tensors by name, row-major.
pub type Tensors = BTreeMap<String, Data>;

/// Random inputs: multiples of 1/64 below 1, which every storage holds exactly, and ids of which some are out of range.
pub fn inputs(kernel: &Kernel, case: &Case, seed: u32) -> Tensors {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let sizes = kernel.tensors.iter().map(|t| {
        let dims: Vec<u32> = t.dims.iter().map(|d| case.extents[&kernel.extents[d.0 as usize]]).collect();
        (t, dims.iter().product::<u32>())
    });
    sizes
        .map(|(t, n)| {
            let data = match t.elem {
                // No two pages lie at one place.
                Type::U32 if t.name == "table" => Data::U32((0..n).map(|i| (i * 7 + 3) % n).collect()),
                Type::U32 => Data::U32((0..n).map(|_| next() % 13).collect()),
                _ => Data::F32((0..n).map(|_| (next() % 127) as f32 / 64.0 - 63.0 / 64.0).collect()),
            };
            // Ranks are whole numbers, and logits of which the best are kept are sorted.
            let data = match (kernel.name.as_str(), t.name.as_str(), data) {
                ("topk_values" | "topk_first", "rank", Data::F32(v)) => {
                    Data::F32(v.into_iter().map(|x| (x.abs() * 16.0).floor()).collect())
                }
                // Integers are equal or not: the bits of a sum are those of any order where its terms are few bits, or nothing.
                ("topk_pairs", "best", Data::F32(v)) => {
                    Data::F32(v.into_iter().map(|x| if x < 0.5 { -200.0 } else { 0.5 }).collect())
                }
                ("draw", "value", Data::F32(mut v)) => {
                    let columns = case.extents["K"] as usize;
                    v.chunks_mut(columns).for_each(|row| row.sort_by(|a, b| b.total_cmp(a)));
                    Data::F32(v)
                }
                (_, _, data) => data,
            };
            // A sum of weights is positive.
            let data = match (t.name.as_str(), data) {
                ("total" | "j.weight", Data::F32(v)) => Data::F32(v.into_iter().map(|x| x.abs() + 1.0).collect()),
                (_, data) => data,
            };
            (t.name.clone(), data)
        })
        .collect()
}

/// What the codes of quantised tensors mean, in tiles of f16 too.
pub fn meant(kernel: &Kernel, schedule: &Schedule, case: &Case, inputs: &Tensors) -> Tensors {
    let mut meant = inputs.clone();
    for (name, storage) in schedule.stores.iter().filter(|s| s.1.quantised()) {
        let (tensor, data) = (kernel.tensor_named(name).expect("the schedule names it"), meant.get_mut(name));
        let last = kernel.tensor(tensor).dims.last().expect("a tensor has a dimension");
        let inner = case.extents[&kernel.extents[last.0 as usize]];
        let Some(Data::F32(values)) = data else { continue };
        let rows = values.len() / inner as usize;
        let words = encode(*storage, rows, inner, values).expect("the lengths agree").words;
        *values = decode(*storage, rows, inner, &words).expect("the lengths agree");
        if schedule.stages.iter().any(|s| s.tensor == *name && s.storage == Storage::F16) {
            let halves = encode(Storage::F16, 1, values.len() as u32, values).expect("the lengths agree").words;
            *values = decode(Storage::F16, 1, values.len() as u32, &halves).expect("the lengths agree");
        }
    }
    meant
}

/// The reference.
pub fn reference(kernel: &Kernel, case: &Case, inputs: &Tensors) -> Tensors {
    let scalars: BTreeMap<String, Value> = kernel
        .scalars
        .iter()
        .map(|s| {
            let bits = case.scalars[&s.name];
            (s.name.clone(), if s.ty == Type::F32 { Value::F32(f32::from_bits(bits)) } else { Value::U32(bits) })
        })
        .collect();
    let mut tensors = inputs.clone();
    eval(kernel, &case.extents, &scalars, &mut tensors).expect("the reference runs");
    keep_outputs(kernel, tensors)
}

/// Tensors that a schedule keeps in f16.
pub fn narrowed(schedule: &Schedule) -> Vec<&String> {
    schedule.stores.iter().filter(|s| s.1 == Storage::F16).map(|s| &s.0).collect()
}

/// What is kept in f16 holds what f16 holds.
pub fn rounded(schedule: &Schedule, mut tensors: Tensors) -> Tensors {
    for name in narrowed(schedule) {
        if let Some(Data::F32(values)) = tensors.get_mut(name) {
            let n = values.len();
            let words = encode(Storage::F16, 1, n as u32, values).expect("the lengths agree").words;
            *values = decode(Storage::F16, 1, n as u32, &words).expect("the lengths agree");
        }
    }
    tensors
}

pub fn keep_outputs(kernel: &Kernel, mut tensors: Tensors) -> Tensors {
    tensors.retain(|name, _| kernel.tensors.iter().any(|t| t.name == *name && t.role != Role::In));
    tensors
}

pub fn params(case: &Case) -> BTreeMap<String, u32> {
    case.extents.iter().chain(&case.scalars).map(|(n, v)| (n.clone(), *v)).collect()
}

/// Rows of the innermost dimension, at capacity.
fn rows(layout: &TensorLayout) -> usize {
    layout.dims[..layout.dims.len() - 1].iter().map(|d| *d as usize).product()
}

/// The words of a tensor in the layout that the program wants, one list a part. Run-time extents come first in every tensor,
/// so that rows beyond the case's are zeros.
pub fn pack(layout: &TensorLayout, data: &Data) -> Vec<Vec<u32>> {
    let inner = *layout.dims.last().expect("a tensor has a dimension") as usize;
    let stride = layout.stride as usize;
    let mut words = match data {
        Data::U32(v) => {
            let mut words = vec![0; rows(layout) * stride];
            for (i, x) in v.iter().enumerate() {
                words[i / inner * stride + i % inner] = *x;
            }
            words
        }
        Data::F32(v) => {
            let mut padded = v.clone();
            padded.resize(rows(layout) * inner, 0.0);
            encode(layout.storage, rows(layout), inner as u32, &padded).expect("the lengths agree").words
        }
    };
    (0..layout.parts.len())
        .map(|i| {
            let rest = words.split_off((layout.part_bytes(i) / 4) as usize);
            std::mem::replace(&mut words, rest)
        })
        .collect()
}

pub fn unpack(layout: &TensorLayout, words: &[u32], like: &Data) -> Data {
    let inner = *layout.dims.last().expect("a tensor has a dimension") as usize;
    let stride = layout.stride as usize;
    match like {
        Data::U32(v) => Data::U32((0..v.len()).map(|i| words[i / inner * stride + i % inner]).collect()),
        Data::F32(v) => {
            let mut all = decode(layout.storage, rows(layout), inner as u32, words).expect("the lengths agree");
            all.truncate(v.len());
            Data::F32(all)
        }
    }
}

/// The interpreter.
pub fn interpret(
    kernel: &Kernel,
    program: &Program,
    case: &Case,
    inputs: &Tensors,
    subgroup: u32,
) -> Result<Tensors, String> {
    watch(kernel, program, case, inputs, subgroup, 0.0).map(|(tensors, _)| tensors)
}

/// The interpreter, with what it saw of each shader. Words of f32 buffers that hold no element are `padding`.
pub fn watch(
    kernel: &Kernel,
    program: &Program,
    case: &Case,
    inputs: &Tensors,
    subgroup: u32,
    padding: f32,
) -> Result<(Tensors, Vec<interp::Stats>), String> {
    let mut stats = Vec::new();
    let params = params(case);
    let mut parts: BTreeMap<&str, Vec<Vec<u32>>> =
        program.tensors.iter().map(|l| (l.name.as_str(), pack(l, &inputs[&l.name]))).collect();
    for layout in program.tensors.iter().filter(|l| !l.integer && l.storage == Storage::F32) {
        let (Data::F32(elements), Some(parts)) = (&inputs[&layout.name], parts.get_mut(layout.name.as_str())) else {
            continue;
        };
        let (inner, stride) = (layout.dims[layout.dims.len() - 1] as usize, layout.stride as usize);
        let words = parts.iter_mut().flatten().enumerate();
        let empty = words.filter(|(i, _)| i % stride >= inner || i / stride * inner + i % stride >= elements.len());
        empty.for_each(|(_, word)| *word = padding.to_bits());
    }
    for shader in &program.shaders {
        let mut buffers: Vec<Vec<u32>> =
            shader.loops.buffers.iter().map(|b| parts[b.tensor.as_str()][b.part as usize].clone()).collect();
        let values: Vec<u32> = shader.loops.params.iter().map(|p| params[&p.name]).collect();
        let [x, y] = &shader.dispatch;
        let dispatch = [x.eval(&params).expect("x"), y.eval(&params).expect("y")];
        let seen = interp::run(&shader.loops, dispatch, &values, &mut buffers, subgroup)
            .map_err(|e| format!("{e}\n{}", shader.wgsl))?;
        stats.push(seen);
        for (buffer, words) in shader.loops.buffers.iter().zip(buffers) {
            let slot = parts.get_mut(buffer.tensor.as_str()).expect("the binding names a tensor");
            slot[buffer.part as usize] = words;
        }
    }
    let all = program.tensors.iter().map(|l| {
        let words = parts[l.name.as_str()].concat();
        (l.name.clone(), unpack(l, &words, &inputs[&l.name]))
    });
    Ok((keep_outputs(kernel, all.collect()), stats))
}

/// The adapter, through the runtime.
pub fn adapter(
    device: &Device,
    kernel: &Kernel,
    program: &Program,
    case: &Case,
    inputs: &Tensors,
) -> Result<Tensors, RuntimeError> {
    let mut buffers = Vec::new();
    let mut contents = Vec::new();
    let mut bindings = Vec::new();
    for layout in &program.tensors {
        let mut ids = Vec::new();
        for (i, words) in pack(layout, &inputs[&layout.name]).into_iter().enumerate() {
            ids.push(BufferId(buffers.len()));
            let name = format!("{}.{i}", layout.name);
            buffers.push(BufferDecl { name, bytes: layout.part_bytes(i), role: Use::Activation });
            contents.push(words);
        }
        bindings.push(ids);
    }
    let names: Vec<String> = program.shaders.iter().flat_map(|s| &s.loops.params).map(|p| p.name.clone()).collect();
    let mut scalars: Vec<(String, ScalarSource)> =
        names.into_iter().map(|n| (n.clone(), ScalarSource::Param(n))).collect();
    scalars.dedup_by(|a, b| a.0 == b.0);
    scalars.sort_by(|a, b| a.0.cmp(&b.0));
    scalars.dedup_by(|a, b| a.0 == b.0);
    let op = Op {
        label: kernel.name.clone(),
        group: 0,
        program: Arc::new(program.clone()),
        bindings: bindings.clone(),
        scalars,
        reads: None,
        writes: None,
    };
    let allocated = Buffers::allocate(device, &buffers)?;
    for (i, words) in contents.iter().enumerate() {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        allocated.write(BufferId(i), 0, &bytes)?;
    }
    let reads: Vec<Read> =
        buffers.iter().enumerate().map(|(i, b)| Read { buffer: BufferId(i), offset: 0, bytes: b.bytes }).collect();
    let graph = Graph { buffers, ops: vec![op], submission: Submission::PerToken, max_dispatches: None };
    let mut executor = Executor::new(device, graph, Arc::new(allocated))?;
    let back = executor.step(&params(case), &reads)?;
    let all = program.tensors.iter().zip(&bindings).map(|(layout, ids)| {
        let words: Vec<u32> = ids
            .iter()
            .flat_map(|id| back[id.0].chunks_exact(4))
            .map(|c| u32::from_le_bytes(c.try_into().expect("four bytes")))
            .collect();
        (layout.name.clone(), unpack(layout, &words, &inputs[&layout.name]))
    });
    Ok(keep_outputs(kernel, all.collect()))
}

/// Whether two results are equal to the last bit.
pub fn same_bits(a: &Tensors, b: &Tensors) -> bool {
    let bits = |data: &Data| match data {
        Data::U32(v) => v.clone(),
        Data::F32(v) => v.iter().map(|x| x.to_bits()).collect(),
    };
    a.len() == b.len() && a.iter().all(|(name, one)| b.get(name).is_some_and(|other| bits(one) == bits(other)))
}

/// The largest difference of two sets of tensors, relative to 1 or the larger value; integers must be equal.
pub fn difference(a: &Tensors, b: &Tensors) -> f32 {
    let mut worst = 0f32;
    for (name, one) in a {
        match (one, &b[name]) {
            (Data::U32(x), Data::U32(y)) => {
                if x != y {
                    return f32::INFINITY;
                }
            }
            (Data::F32(x), Data::F32(y)) => {
                for (p, q) in x.iter().zip(y) {
                    let d = (p - q).abs() / p.abs().max(q.abs()).max(1.0);
                    worst = if d.is_nan() { f32::INFINITY } else { worst.max(d) };
                }
            }
            _ => return f32::INFINITY,
        }
    }
    worst
}
