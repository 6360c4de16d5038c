//! What a call's scalars and tensors come to: words of a step, bytes that are read and written.

use super::*;

/// The words of a program's parameters in a step.
pub(super) fn words(scalars: &[(String, ScalarSource)], step: &Params) -> Params {
    let word = |source: &ScalarSource| match source {
        ScalarSource::Param(name) => step.get(name).copied(),
        ScalarSource::U32(n) => Some(*n),
        ScalarSource::F32(x) => Some(x.to_bits()),
    };
    scalars.iter().filter_map(|(name, source)| Some((name.clone(), word(source)?))).collect()
}

/// Words that an op reads and writes, each once.
pub(super) fn traffic(kernel: &Kernel, program: &Program, call: &Call, rows: Rows) -> (Count, Count) {
    let (mut reads, mut writes) = (Count::Const(0), Count::Const(0));
    for (tensor, layout) in kernel.tensors.iter().zip(&program.tensors) {
        let own = kernel.extents[tensor.dims[0].0 as usize] == "T";
        let touched = call.touched.iter().find(|(name, _)| *name == tensor.name).map(|(_, count)| count.clone());
        let words = match touched.or_else(|| own.then(|| rows.count())) {
            Some(count) if layout.dims.len() == 1 => count,
            Some(count) => {
                let words = layout.row_bytes() / 4;
                // Of an inner dimension that a step tells, as much as that is.
                let told = tensor.dims.iter().map(|d| kernel.extents[d.0 as usize].as_str()).zip(&layout.dims).skip(1);
                match told.clone().find(|(name, _)| call.at_run_time(name)) {
                    Some((name, most)) => {
                        let each = words.div_ceil(u64::from(*most).max(1));
                        times(Count::product(count, Count::Param(name.into())), each)
                    }
                    None => times(count, words),
                }
            }
            None => times(Count::Const(1), (0..layout.parts.len()).map(|i| layout.part_bytes(i) / 4).sum()),
        };
        if tensor.role != ir::Role::Out {
            reads = Count::sum(reads, words.clone());
        }
        if tensor.role != ir::Role::In {
            writes = Count::sum(writes, words);
        }
    }
    (reads, writes)
}

/// A count so many times.
pub(crate) fn times(count: Count, n: u64) -> Count {
    Count::product(count, Count::Const(u32::try_from(n).unwrap_or(u32::MAX)))
}
