//! GPU times of dispatches, and the table that they become.
//!
//! A timestamp is written at the beginning and at the end of a pass (WebGPU section 20.4 "Timestamp Query"): one that holds a
//! single dispatch for a profile, one that holds a whole submit for its time. Times are the device's own; what the host spends on
//! recording is not in them.

use crate::buffers::{map, staging};
use crate::device::Device;
use crate::error::RuntimeError;

/// Queries of one set, the most that WebGPU allows: two a dispatch.
const SET: usize = 4096;

/// Times by kernel and schedule, summed over steps.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Profile {
    /// In the order of first use.
    pub rows: Vec<ProfileRow>,
}

/// A line of a profile.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileRow {
    /// The kernel.
    pub kernel: String,
    /// Its schedule.
    pub schedule: String,
    /// Dispatches.
    pub calls: u64,
    /// Microseconds of all of them.
    pub us: f64,
    /// Bytes that they read and write, as planned.
    pub bytes: u64,
}

impl ProfileRow {
    /// Gigabytes (10⁹) a second.
    pub fn gb_per_s(&self) -> f64 {
        if self.us > 0.0 { self.bytes as f64 / self.us / 1e3 } else { 0.0 }
    }
}

impl Profile {
    pub(crate) fn add(&mut self, kernel: &str, schedule: &str, nanoseconds: f64, bytes: u64) {
        let known = self.rows.iter().position(|r| r.kernel == kernel && r.schedule == schedule);
        let index = known.unwrap_or(self.rows.len());
        if known.is_none() {
            let (kernel, schedule) = (kernel.to_string(), schedule.to_string());
            self.rows.push(ProfileRow { kernel, schedule, calls: 0, us: 0.0, bytes: 0 });
        }
        let row = &mut self.rows[index];
        row.calls += 1;
        row.us += nanoseconds / 1e3;
        row.bytes += bytes;
    }

    /// The table, longest first; the last column is a share of `copy`, the adapter's copy rate in GB/s.
    pub fn table(&self, copy: Option<f64>) -> String {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by(|a, b| b.us.total_cmp(&a.us));
        let total = ProfileRow {
            kernel: "total".into(),
            schedule: String::new(),
            calls: rows.iter().map(|r| r.calls).sum(),
            us: rows.iter().map(|r| r.us).sum(),
            bytes: rows.iter().map(|r| r.bytes).sum(),
        };
        let width = rows.iter().map(|r| r.schedule.len()).max().unwrap_or(0).max(16);
        let mut out = format!(
            "{:<20} {:<width$} {:>7} {:>12} {:>9} {:>14} {:>9} {:>7}\n",
            "kernel", "schedule", "calls", "µs", "µs each", "bytes", "GB/s", "% copy"
        );
        for row in rows.into_iter().chain([&total]) {
            let rate = row.gb_per_s();
            let share = copy.filter(|c| *c > 0.0).map_or("-".into(), |c| format!("{:.1}", 100.0 * rate / c));
            let (kernel, schedule, calls) = (&row.kernel, &row.schedule, row.calls);
            let (us, bytes) = (row.us, row.bytes);
            let each = us / calls.max(1) as f64;
            out += &format!(
                "{kernel:<20} {schedule:<width$} {calls:>7} {us:>12.1} {each:>9.2} {bytes:>14} {rate:>9.2} {share:>7}\n"
            );
        }
        out
    }
}

/// What the time is taken of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Span {
    /// Each dispatch, in a pass of its own.
    Dispatch,
    /// Each submit as a whole.
    Submit,
}

/// Two queries for each span of a step.
pub(crate) struct Timestamps {
    sets: Vec<wgpu::QuerySet>,
    spans: usize,
    /// What a span is.
    pub(crate) span: Span,
}

impl Timestamps {
    pub(crate) fn new(device: &Device, span: Span, spans: usize) -> Result<Self, RuntimeError> {
        let sizes = (0..2 * spans).step_by(SET).map(|start| (2 * spans - start).min(SET));
        let make = |count: usize| {
            let made = device.scoped(|| {
                device.wgpu().create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("timestamps"),
                    ty: wgpu::QueryType::Timestamp,
                    count: count as u32,
                })
            });
            made.map_err(|e| device.unexpected(&e.to_string()))
        };
        Ok(Timestamps { sets: sizes.map(make).collect::<Result<_, _>>()?, spans, span })
    }

    /// Where the pass of a span writes its times.
    pub(crate) fn writes(&self, span: usize) -> wgpu::ComputePassTimestampWrites<'_> {
        let at = 2 * span;
        wgpu::ComputePassTimestampWrites {
            query_set: &self.sets[at / SET],
            beginning_of_pass_write_index: Some((at % SET) as u32),
            end_of_pass_write_index: Some((at % SET) as u32 + 1),
        }
    }

    /// Waits for the step; nanoseconds of each span.
    pub(crate) fn read(&self, device: &Device) -> Result<Vec<f64>, RuntimeError> {
        let bytes = (self.spans * 2 * 8) as u64;
        let made = device.scoped(|| {
            device.wgpu().create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size: bytes.next_multiple_of(wgpu::QUERY_RESOLVE_BUFFER_ALIGNMENT).max(256),
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        });
        let resolved = made.map_err(|e| device.allocation_error("timestamps", bytes, 0, bytes, e))?;
        let staging = staging(device, bytes)?;
        let mut encoder = device.wgpu().create_command_encoder(&Default::default());
        for (i, set) in self.sets.iter().enumerate() {
            let count = (2 * self.spans - i * SET).min(SET) as u32;
            encoder.resolve_query_set(set, 0..count, &resolved, (i * SET * 8) as u64);
        }
        encoder.copy_buffer_to_buffer(&resolved, 0, &staging, 0, bytes);
        device.submit("timestamps", Some(encoder.finish()));
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&map(device, &staging, bytes)?);
        let period = f64::from(device.queue().get_timestamp_period());
        // A device may reset its clock between the two: such a span counts as 0 and not as centuries.
        Ok(ticks.chunks_exact(2).map(|t| t[1].saturating_sub(t[0]) as f64 * period).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_summed_and_the_longest_is_first() {
        let mut profile = Profile::default();
        profile.add("rmsnorm", "naive", 2_000.0, 4_000);
        profile.add("linear", "coalesced", 500_000.0, 1_000_000);
        profile.add("linear", "coalesced", 500_000.0, 1_000_000);
        let linear = &profile.rows[1];
        assert_eq!((linear.calls, linear.us, linear.bytes), (2, 1_000.0, 2_000_000));
        assert_eq!(linear.gb_per_s(), 2.0);
        let table = profile.table(Some(4.0));
        let lines: Vec<_> = table.lines().collect();
        assert!(lines[1].starts_with("linear") && lines[1].ends_with("50.0"), "{table}");
        assert!(lines[3].starts_with("total") && lines[3].contains("2004000"), "{table}");
    }
}
