//! Runs loop IR on the CPU: what a shader means, with every mistake that a GPU hides made loud.
//!
//! All invocations of a workgroup advance together, statement by statement, under a mask of the active ones; workgroups run one
//! after another. The subgroup size is chosen by the caller: invocation `i` is lane `i % size` of subgroup `i / size`. Workgroup
//! memory starts unwritten in each workgroup. An access outside an array, a division by zero, and a barrier or shuffle that not
//! all invocations reach are always errors; [`run`] also finds data races and reads of unwritten memory, [`run_unchecked`] is
//! faster. `fma` rounds twice, as software rendering does. There is no order between workgroups, hence none is modelled
//! (WebGPU Shading Language, section 14 "Memory", and 15.2 "Uniformity").

mod compile;
mod lanes;
mod machine;
mod memory;

use crate::loops::LoopIr;
use crate::types::TypeError;
use std::fmt;

/// What a run tells beyond the buffers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// How often each word of each buffer was written (at most 255 is counted), by binding; empty lists of read-only buffers, and
    /// of all buffers in an unchecked run.
    pub written: Vec<Vec<u8>>,
    /// Barriers that were passed, added up over the workgroups.
    pub barriers: u64,
}

/// One invocation of the dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Invocation {
    /// Its workgroup.
    pub workgroup: [u32; 2],
    /// Its index in the workgroup.
    pub lane: u32,
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y] = self.workgroup;
        write!(f, "invocation {} of workgroup ({x}, {y})", self.lane)
    }
}

/// Why a run stopped. Buffers hold what was written until then.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InterpError {
    /// The IR is not well typed.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// A workgroup or a subgroup without invocations.
    #[error("a workgroup and a subgroup have at least one invocation")]
    Empty,
    /// The caller gave other numbers of things than the shader has.
    #[error("the shader has {expected} {what}, but {found} were given")]
    Count {
        /// Buffers or parameters.
        what: &'static str,
        /// How many there are.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// An index is not below the length of its array.
    #[error("index {index} of `{array}`, which has {len}, by {by}: `{statement}`")]
    OutOfBounds {
        /// The buffer, workgroup or private array.
        array: String,
        /// The word or element.
        index: u64,
        /// Its length.
        len: usize,
        /// Who.
        by: Invocation,
        /// The statement.
        statement: String,
    },
    /// Two invocations touch a word, at least one writes it, and no barrier stands between.
    #[error("data race on `{array}[{index}]`: {first} {did}, {second} {does} without a barrier between: `{statement}`")]
    Race {
        /// The buffer or workgroup array.
        array: String,
        /// The word or element.
        index: u64,
        /// Who came first.
        first: Invocation,
        /// Read or wrote.
        did: &'static str,
        /// Who came second.
        second: Invocation,
        /// Reads or writes.
        does: &'static str,
        /// The second statement.
        statement: String,
    },
    /// Workgroup memory is read that this workgroup has not written.
    #[error("`{array}[{index}]` is read before it is written, by {by}: `{statement}`")]
    Unwritten {
        /// The workgroup array.
        array: String,
        /// The element.
        index: u64,
        /// Who.
        by: Invocation,
        /// The statement.
        statement: String,
    },
    /// A barrier or shuffle in divergent control flow.
    #[error("{active} of {all} invocations of workgroup ({}, {}) reach `{statement}`", workgroup[0], workgroup[1])]
    Divergent {
        /// How many get there.
        active: usize,
        /// How many there are.
        all: usize,
        /// The workgroup.
        workgroup: [u32; 2],
        /// The statement.
        statement: String,
    },
    /// A shuffle's partner does not exist, or the mask is not the same in all invocations.
    #[error("shuffle by {mask} at subgroup size {size} has no partner for {by}: `{statement}`")]
    Shuffle {
        /// The mask.
        mask: u32,
        /// The subgroup size.
        size: u32,
        /// Who.
        by: Invocation,
        /// The statement.
        statement: String,
    },
    /// A fragment's place is not the same in all invocations of a subgroup.
    #[error("{by} has another place than its subgroup: `{statement}`")]
    Apart {
        /// Who.
        by: Invocation,
        /// The statement.
        statement: String,
    },
    /// A u32 is divided by zero.
    #[error("division by zero in {by}: `{statement}`")]
    DivisionByZero {
        /// Who.
        by: Invocation,
        /// The statement.
        statement: String,
    },
    /// A loop's counter never reaches its end: the step is zero, or the counter passes 2^32.
    #[error("the loop never ends in {by}: `{statement}`")]
    Endless {
        /// Who.
        by: Invocation,
        /// The loop.
        statement: String,
    },
    /// A store to a buffer that is bound read-only.
    #[error("`{array}` is read-only: `{statement}`")]
    ReadOnly {
        /// The buffer.
        array: String,
        /// The statement.
        statement: String,
    },
}

/// Runs a dispatch of `dispatch` workgroups, with all checks. `params` are the bits of the parameter block's words; `buffers` are
/// in the order of [`LoopIr::buffers`].
///
/// # Errors
/// The first mistake of the shader, in the order of execution.
pub fn run(
    loops: &LoopIr,
    dispatch: [u32; 2],
    params: &[u32],
    buffers: &mut [Vec<u32>],
    subgroup_size: u32,
) -> Result<Stats, InterpError> {
    execute(loops, dispatch, params, buffers, subgroup_size, true)
}

/// The same without looking for races and unwritten memory; unwritten workgroup memory reads as a NaN.
///
/// # Errors
/// As [`run`], apart from [`InterpError::Race`] and [`InterpError::Unwritten`].
pub fn run_unchecked(
    loops: &LoopIr,
    dispatch: [u32; 2],
    params: &[u32],
    buffers: &mut [Vec<u32>],
    subgroup_size: u32,
) -> Result<Stats, InterpError> {
    execute(loops, dispatch, params, buffers, subgroup_size, false)
}

fn execute(
    loops: &LoopIr,
    dispatch: [u32; 2],
    params: &[u32],
    buffers: &mut [Vec<u32>],
    subgroup_size: u32,
    check: bool,
) -> Result<Stats, InterpError> {
    if loops.workgroup == 0 || subgroup_size == 0 {
        return Err(InterpError::Empty);
    }
    for (what, expected, found) in
        [("buffers", loops.buffers.len(), buffers.len()), ("parameters", loops.params.len(), params.len())]
    {
        if expected != found {
            return Err(InterpError::Count { what, expected, found });
        }
    }
    let code = compile::compile(loops)?;
    machine::Machine::new(loops, &code, params, buffers, subgroup_size, check).run(dispatch)
}
