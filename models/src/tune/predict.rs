//! How long a program will take, guessed from the figures of its shaders: good enough to say what is measured first.
//!
//! A dispatch costs what an empty one does, and then the longest of three and a quarter of the other two, which overlap with it in
//! part: the bytes that it must move at the rate of a copy, all loads together at the rate of the caches, and the chain of loads,
//! barriers and arithmetic of one invocation, once for each wave of invocations that the device can hold. The rule: every number is one that a person can follow, and none decides: a clock
//! does. Absent: bank conflicts, registers of the device, clocks.

use std::collections::BTreeMap;
use std::fmt;

use tilewright_codegen::figures::Cost;
use tilewright_codegen::program::Program;
use tilewright_runtime::AdapterKind;

/// What is known of a device.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figures {
    /// Bytes a microsecond that a copy moves.
    pub copy: f64,
    /// Microseconds of an empty dispatch.
    pub dispatch: f64,
    /// Invocations under way at once.
    pub resident: f64,
    /// Microseconds until a load of one invocation is there, less what other invocations hide.
    pub load: f64,
    /// Microseconds of a barrier.
    pub barrier: f64,
    /// Microseconds of an arithmetic operation.
    pub flop: f64,
}

/// How much faster caches are than memory.
const CACHES: f64 = 3.0;

impl Figures {
    /// Of a device of that kind with this copy rate in GB/s and this empty dispatch in microseconds. The rest are orders of
    /// magnitude, the same for all devices of a kind.
    pub fn of(kind: AdapterKind, copy_gb_per_s: f64, dispatch_us: f64) -> Self {
        let (resident, load, barrier, flop) = match kind {
            // Each of a few cores runs one workgroup at a time, eight invocations in step.
            AdapterKind::Software => (16.0, 2e-3, 2e-2, 5e-4),
            AdapterKind::Integrated => (16_384.0, 5e-2, 5e-2, 2e-3),
            _ => (131_072.0, 5e-2, 3e-2, 1e-3),
        };
        Figures { copy: copy_gb_per_s * 1e3, dispatch: dispatch_us, resident, load, barrier, flop }
    }
}

/// A guess and what makes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Guess {
    /// Microseconds.
    pub us: f64,
    /// Of these, what bounds them.
    pub bound: Bound,
    /// Workgroups.
    pub workgroups: f64,
    /// Invocations of a workgroup.
    pub invocations: u32,
}

/// What a program waits for most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Bytes that must come from memory.
    Memory,
    /// Loads that come again and again.
    Caches,
    /// One invocation's own work.
    Chain,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::Memory => "memory",
            Bound::Caches => "caches",
            Bound::Chain => "chain",
        })
    }
}

/// A program's guess, of which `bytes` must be moved however it is written; `words` are its parameters. `None` where a dispatch
/// or a loop depends on something else.
pub fn predict(program: &Program, words: &BTreeMap<String, u32>, bytes: u64, figures: &Figures) -> Option<Guess> {
    let mut total = Guess { us: 0.0, bound: Bound::Memory, workgroups: 0.0, invocations: 0 };
    let mut most = 0.0;
    for (i, shader) in program.shaders.iter().enumerate() {
        let cost = Cost::of(&shader.loops, &shader.dispatch);
        let rounds: Option<Vec<f64>> =
            cost.loops.iter().map(|l| Some(f64::from(l.most.as_ref()?.eval(words)?))).collect();
        let rounds = rounds?;
        let size = |i: usize| shader.dispatch[i].eval(words).map(f64::from);
        let workgroups = size(0)? * size(1)?;
        let invocations = workgroups * f64::from(shader.loops.workgroup);
        let at = |amount: &tilewright_codegen::figures::Amount| amount.at(&rounds);
        let memory = if i == 0 { bytes as f64 / figures.copy } else { 0.0 };
        let caches = invocations * at(&cost.load_bytes) / (figures.copy * CACHES);
        let waves = (invocations / figures.resident).max(1.0);
        let chain =
            at(&cost.loads) * figures.load + at(&cost.barriers) * figures.barrier + at(&cost.flops) * figures.flop;
        let parts = [(Bound::Memory, memory), (Bound::Caches, caches), (Bound::Chain, waves * chain)];
        let (bound, us) = parts.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let others = parts.iter().map(|p| p.1).sum::<f64>() - us;
        total.us += figures.dispatch + us + others / 4.0;
        if us >= most {
            (most, total.bound) = (us, bound);
            (total.workgroups, total.invocations) = (workgroups, shader.loops.workgroup);
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::linear;
    use tilewright_codegen::compile;
    use tilewright_codegen::shape::Shape;
    use tilewright_codegen::target::Target;
    use tilewright_dsl::schedule::Schedule;

    fn guess(schedule: &Schedule, rows: u32) -> Guess {
        let shape = Shape::new().fixed("T", 1).fixed("R", rows).fixed("K", 896);
        let program = compile(&linear::linear(), schedule, &shape, &Target::wide()).unwrap();
        let figures = Figures::of(AdapterKind::Discrete, 4000.0, 2.0);
        predict(&program, &BTreeMap::new(), u64::from(rows) * 896 * 4, &figures).unwrap()
    }

    #[test]
    fn a_lonely_invocation_is_a_chain_and_a_large_matrix_is_memory() {
        assert_eq!(guess(&linear::naive(), 896).bound, Bound::Chain);
        assert!(guess(&linear::naive(), 896).us > 5.0 * guess(&linear::row(), 896).us);
        let large = guess(&linear::row(), 30_000);
        assert_eq!(large.bound, Bound::Memory);
        let bytes = 30_000.0 * 896.0 * 4.0 / 4e6;
        assert!(large.us > 2.0 + bytes && large.us < 2.0 + 1.5 * bytes, "{large:?}");
        assert_eq!(large.workgroups, 30_000.0);
    }
}
