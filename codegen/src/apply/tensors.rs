//! Where each tensor's elements lie, and how a tensor that one binding cannot hold is split by rows.

use super::{AxisPlan, Part, words};
use crate::deps;
use crate::error::ScheduleError;
use crate::program::TensorLayout;
use crate::shape::{Extent, Shape};
use crate::target::Target;
use tilewright_dsl::ir::{AxisId, AxisKind, Expr, ExprId, Kernel, Role, TensorId, Type};
use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_dsl::storage::stride;

/// Layouts of all tensors, and the parts (one shader each).
pub fn layouts(
    kernel: &Kernel,
    schedule: &Schedule,
    shape: &Shape,
    target: &Target,
    axes: &[AxisPlan],
    errors: &mut Vec<ScheduleError>,
) -> (Vec<TensorLayout>, Vec<Option<Part>>) {
    let mut layouts = Vec::new();
    let mut parts = vec![None];
    for (i, tensor) in kernel.tensors.iter().enumerate() {
        let asked = schedule.storage(&tensor.name);
        let dims: Vec<u32> = tensor
            .dims
            .iter()
            .map(|d| match shape.get(&kernel.extents[d.0 as usize]) {
                Some(Extent::Fixed(n) | Extent::Param { capacity: n }) => n,
                None => 1,
            })
            .collect();
        let impossible = match (tensor.elem, tensor.role) {
            (Type::F32, Role::In) => None,
            (Type::F32, Role::Out) if asked == Storage::F16 => None,
            (Type::F32, Role::Out) => Some("what a kernel writes is f32 or f16"),
            (Type::F32, Role::InOut) => Some("it is changed in place, word by word"),
            _ => Some("its elements are integers"),
        };
        let vector = asked.quantised() && tensor.dims.len() < 2;
        let impossible = impossible.or(vector.then_some("it is no matrix, and scales belong to the rows of one"));
        let mut storage = asked;
        if let Some(why) = impossible.filter(|_| asked != Storage::F32) {
            errors.push(ScheduleError::StorageNotPossible { tensor: tensor.name.clone(), storage: asked, why });
            storage = Storage::F32;
        }
        if storage != Storage::F32 && tensor.role == Role::Out {
            let halves = words::check(kernel, schedule, shape, TensorId(i as u32), storage, axes);
            if !halves.is_empty() {
                storage = Storage::F32;
            }
            errors.extend(halves);
        }
        let innermost = dims.last().copied().unwrap_or(1);
        let mut layout = TensorLayout {
            name: tensor.name.clone(),
            written: tensor.role != Role::In,
            integer: tensor.elem == Type::U32,
            stride: stride(storage, innermost),
            parts: vec![dims.first().copied().unwrap_or(1)],
            dims,
            storage,
        };
        let bytes = layout.part_bytes(0);
        // Elements are counted in 32 bits.
        let counted = u64::from(u32::MAX / storage.per_word()) * 4;
        let allowed = target.max_binding_bytes.min(target.max_buffer_bytes).min(counted);
        if bytes > allowed {
            let halves = storage == Storage::F32 && tensor.elem == Type::F32 && tensor.role == Role::In;
            let halved = halves && bytes / 2 <= allowed;
            let mut refuse = |why| {
                let tensor = tensor.name.clone();
                errors.push(ScheduleError::BindingTooLarge { tensor, asked: bytes, allowed, why, halved });
            };
            match split(kernel, TensorId(i as u32), &layout, allowed, axes) {
                Ok(found) if parts == [None] => {
                    layout.parts = found.iter().map(|p| p.rows).collect();
                    parts = found.into_iter().map(Some).collect();
                }
                Ok(_) => refuse("another tensor of this kernel is split already"),
                Err(why) => refuse(why),
            }
        }
        layouts.push(layout);
    }
    if layouts.len() as u32 > target.max_storage_buffers {
        errors.push(ScheduleError::TooManyBuffers {
            asked: layouts.len() as u32,
            allowed: target.max_storage_buffers,
            target: target.name.clone(),
        });
    }
    (layouts, parts)
}

/// Most parts of a tensor: each is a shader of its own.
const MOST_PARTS: u32 = 64;

/// Row blocks that fit a binding. The first index of every load must be one map axis, or one value that is the same
/// everywhere and guards the stores.
fn split(
    kernel: &Kernel,
    tensor: TensorId,
    layout: &TensorLayout,
    allowed: u64,
    axes: &[AxisPlan],
) -> Result<Vec<Part>, &'static str> {
    if layout.written {
        return Err("only tensors that are read can be split");
    }
    if layout.dims.len() < 2 || layout.row_bytes() > allowed {
        return Err("one row alone is too large");
    }
    let mut firsts: Vec<ExprId> = kernel
        .exprs
        .iter()
        .filter_map(|e| match e {
            Expr::Load(t, indices) if *t == tensor => indices.first().copied(),
            _ => None,
        })
        .collect();
    firsts.dedup();
    let [first] = firsts[..] else { return Err("it is read with several first indices") };
    let axis = match kernel.expr(first) {
        Expr::Axis(a) if kernel.axis(*a).kind == AxisKind::Map && whole(kernel, *a, axes, layout.dims[0]) => Some(*a),
        Expr::Load(..) => None,
        _ => return Err("its first index is neither a `for` axis over all rows nor a loaded index"),
    };
    let rows = u32::try_from(allowed / layout.row_bytes()).unwrap_or(u32::MAX);
    // Whole multiples of 1,024 rows keep tiles whole where there is room for them.
    let rows = if rows > 1024 { rows / 1024 * 1024 } else { rows };
    let total = layout.dims[0];
    let parts = total.div_ceil(rows);
    if parts > MOST_PARTS {
        return Err("it would take more than 64 parts, each a shader of its own");
    }
    Ok((0..parts).map(|i| Part { tensor, index: i, start: i * rows, rows: rows.min(total - i * rows), axis }).collect())
}

fn whole(kernel: &Kernel, axis: AxisId, axes: &[AxisPlan], rows: u32) -> bool {
    matches!(kernel.expr(kernel.axis(axis).lo), Expr::U32(0)) && axes[axis.0 as usize].extent == Some(rows)
}

/// Whether the first index of the tensor's loads is loaded itself, and which value it is.
pub fn guard_index(kernel: &Kernel, tensor: TensorId) -> Option<ExprId> {
    kernel.exprs.iter().find_map(|e| match e {
        Expr::Load(t, indices) if *t == tensor => indices.first().copied().filter(|i| deps::is_load(kernel, *i)),
        _ => None,
    })
}
