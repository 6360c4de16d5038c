//! A few positions at once by the schedules of one.
//!
//! The rule: what a step of one position runs, a step of a few runs with another `t` and nothing else changed, so that every sum adds in
//! the same order and logits are equal bit for bit. A kernel's weights are then read once for all positions, where its schedule
//! can hold them all in registers.

use super::*;
use tilewright_dsl::schedule::{AxisLevels, Level, LevelKind};

impl Assembly<'_> {
    /// A kernel at a shape of `rows` positions, by the schedule that it has at one; `weights` says whether it reads matrices that all
    /// positions share.
    pub(super) fn few(
        &self,
        kernel: &Kernel,
        shape: &Shape,
        storage: Storage,
        (rows, weights): (u32, bool),
    ) -> Result<Program, CompileError> {
        let at = Key::new(kernel, Phase::Decode, shape, storage);
        let site = self.sites.iter().find(|site| site.key == at);
        let single = site.map_or_else(|| Schedule::empty(&kernel.name), |site| site.schedule.clone());
        let together = weights.then(|| compile(kernel, &unrolled(&single, rows), shape, self.target));
        match together {
            Some(Ok(program)) => Ok(program),
            _ => compile(kernel, &single, shape, self.target),
        }
    }
}

/// A schedule whose invocations take all positions.
fn unrolled(single: &Schedule, rows: u32) -> Schedule {
    let mut schedule = single.clone();
    let levels = vec![Level { kind: LevelKind::Unroll, size: Some(rows), name: None }];
    schedule.axes.retain(|a| a.axis != "t");
    schedule.axes.insert(0, AxisLevels { axis: "t".into(), levels });
    schedule
}
