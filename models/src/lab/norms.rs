//! RMSNorm and softmax as one kernel each against the same arithmetic as a chain of small ones.
//!
//! The small kernels are what a framework runs that dispatches each operation of a formula: every one of them reads its input from memory
//! and writes its output there.

use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{Fold, Schedule};
use tilewright_dsl::{kernel, schedule};
use tilewright_runtime::copy_bandwidth;

use super::chain::{Chain, Link};
use super::{Cell, Lab, Plot, Study, Table};
use crate::error::ModelError;
use crate::kernels::{mul, rmsnorm, softmax};
use crate::spread::Spread;

/// m = Σ x / D, row by row.
#[kernel]
pub fn row_mean(x: Tensor<T, D>, m: Out<T>) {
    for t in 0..T {
        m[t] = sum(0..D, |j| x[t][j]) / D as f32;
    }
}

/// r = 1 / sqrt(m + eps), element by element.
#[kernel]
pub fn inverse_root(m: Tensor<T>, r: Out<T>, eps: f32) {
    for t in 0..T {
        r[t] = rsqrt(m[t] + eps);
    }
}

/// y = x · r, a factor a row.
#[kernel]
pub fn scale_rows(x: Tensor<T, D>, r: Tensor<T>, y: Out<T, D>) {
    for t in 0..T {
        for i in 0..D {
            y[t][i] = x[t][i] * r[t];
        }
    }
}

/// y = x · w, a factor a column.
#[kernel]
pub fn scale_columns(x: Tensor<T, D>, w: Tensor<D>, y: Out<T, D>) {
    for t in 0..T {
        for i in 0..D {
            y[t][i] = x[t][i] * w[i];
        }
    }
}

/// m = max x, row by row.
#[kernel]
pub fn row_max(x: Tensor<T, D>, m: Out<T>) {
    for t in 0..T {
        m[t] = max(0..D, |j| x[t][j]);
    }
}

/// y = exp(x - m), a difference a row.
#[kernel]
pub fn exp_below(x: Tensor<T, D>, m: Tensor<T>, y: Out<T, D>) {
    for t in 0..T {
        for i in 0..D {
            y[t][i] = exp(x[t][i] - m[t]);
        }
    }
}

/// s = Σ x, row by row.
#[kernel]
pub fn row_sum(x: Tensor<T, D>, s: Out<T>) {
    for t in 0..T {
        s[t] = sum(0..D, |j| x[t][j]);
    }
}

/// y = x / s, a divisor a row.
#[kernel]
pub fn divide_rows(x: Tensor<T, D>, s: Tensor<T>, y: Out<T, D>) {
    for t in 0..T {
        for i in 0..D {
            y[t][i] = x[t][i] / s[t];
        }
    }
}

schedule! {
    /// One workgroup a row, four neighbours a load, folded by subgroup operations.
    pub whole_mean for row_mean {
        t: grid;
        j: serial, lanes(256), vector(4);
        fold j: subgroup;
    }
}

schedule! {
    /// The same.
    pub whole_max for row_max {
        t: grid;
        j: serial, lanes(256), vector(4);
        fold j: subgroup;
    }
}

schedule! {
    /// The same.
    pub whole_sum for row_sum {
        t: grid;
        j: serial, lanes(256), vector(4);
        fold j: subgroup;
    }
}

schedule! {
    /// An invocation a row.
    pub elements for inverse_root {
        t: grid, lanes(64);
    }
}

schedule! {
    /// One workgroup a row: its 256 invocations read it twice, the second time from a cache.
    pub whole_norm for "rmsnorm" {
        t: grid;
        j: serial, lanes(256), vector(4);
        i: serial, lanes(256), vector(4);
        fold j: subgroup;
    }
}

schedule! {
    /// One workgroup a row: its 256 invocations read it three times, the last two from a cache.
    pub whole_softmax for "softmax" {
        r: grid;
        i: serial, lanes(256), vector(4);
        j: serial, lanes(256), vector(4);
        c: serial, lanes(256), vector(4);
        fold i: subgroup;
        fold j: subgroup;
    }
}

schedule! {
    /// Four neighbours an invocation.
    pub fours for "scale_rows" {
        t: grid;
        i: grid, lanes(256), vector(4);
    }
}

/// The same for another kernel of one element an output.
fn fours_for(kernel: &str) -> Schedule {
    Schedule { kernel: kernel.into(), ..fours() }
}

/// The schedule, and once more without subgroup operations for devices that have none.
fn anywhere(schedule: Schedule) -> Vec<Schedule> {
    let mut tree = schedule.clone();
    tree.folds.retain(|(_, fold)| *fold != Fold::Subgroup);
    vec![schedule, tree]
}

fn link(kernel: Kernel, schedules: Vec<Schedule>, tensors: &[&'static str]) -> Link {
    Link { kernel, schedules, tensors: tensors.to_vec(), scalars: Vec::new() }
}

const EPS: (&str, f32) = ("eps", 1e-6);

/// RMSNorm from `x` and `w` to `y`: one kernel, or five.
pub fn rmsnorm_links(fused: bool) -> Vec<Link> {
    if fused {
        let one = link(rmsnorm::rmsnorm(), anywhere(whole_norm()), &["x", "w", "y"]);
        return vec![Link { scalars: vec![EPS], ..one }];
    }
    let root = link(inverse_root(), vec![elements()], &["mean", "root"]);
    vec![
        link(mul::mul(), vec![fours_for("mul")], &["x", "x", "square"]),
        link(row_mean(), anywhere(whole_mean()), &["square", "mean"]),
        Link { scalars: vec![EPS], ..root },
        link(scale_rows(), vec![fours_for("scale_rows")], &["x", "root", "scaled"]),
        link(scale_columns(), vec![fours_for("scale_columns")], &["scaled", "w", "y"]),
    ]
}

/// Softmax from `x` to `y`: one kernel, or four.
pub fn softmax_links(fused: bool) -> Vec<Link> {
    if fused {
        return vec![link(softmax::softmax(), anywhere(whole_softmax()), &["x", "y"])];
    }
    vec![
        link(row_max(), anywhere(whole_max()), &["x", "max"]),
        link(exp_below(), vec![fours_for("exp_below")], &["x", "max", "exp"]),
        link(row_sum(), anywhere(whole_sum()), &["exp", "sum"]),
        link(divide_rows(), vec![fours_for("divide_rows")], &["exp", "sum", "y"]),
    ]
}

/// The extents of `rows` rows of `columns`, by the names that either kernel has for them.
pub fn extents(rows: u32, columns: u32) -> [(&'static str, u32); 4] {
    [("T", rows), ("D", columns), ("R", rows), ("C", columns)]
}

/// Microseconds and bytes of a chain.
fn measured(lab: &Lab, chain: Result<Chain, ModelError>) -> (Result<Spread, ModelError>, u64) {
    match chain {
        Ok(mut chain) => (chain.time(4 * lab.runs + 1), chain.bytes),
        Err(error) => (Err(error), 0),
    }
}

/// The study.
pub(super) fn study(lab: &Lab) -> Result<Study, ModelError> {
    let device = lab.device()?;
    let copy = copy_bandwidth(&device)?;
    let rows = if lab.quick { 256 } else { 4096 };
    let columns: &[u32] = if lab.quick { &[512, 1024, 2048] } else { &[1024, 2048, 4096, 8192] };
    let (mut tables, mut plots, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    type Links = fn(bool) -> Vec<Link>;
    let both: [(&str, &str, Links); 2] =
        [("RMSNorm", "rmsnorm.svg", rmsnorm_links), ("softmax", "softmax.svg", softmax_links)];
    for (name, file, links) in both {
        let mut table = Vec::new();
        let mut lines = [("one kernel".to_string(), Vec::new()), ("a kernel an operation".to_string(), Vec::new())];
        for &n in columns {
            if (lab.stop)() {
                break;
            }
            (lab.tell)(&format!("{name} of {rows} rows of {n}"));
            let run = |fused: bool| measured(lab, Chain::new(&device, &links(fused), &extents(rows, n)));
            let ((one, bytes), (many, _)) = (run(true), run(false));
            let share = one
                .as_ref()
                .map_or(String::new(), |t| format!("{:.0}", 100.0 * bytes as f64 / (t.median * 1e3) / copy));
            for (line, result) in lines.iter_mut().zip([&one, &many]) {
                line.1.extend(result.as_ref().ok().map(|spread| (n, *spread)));
            }
            let ratio = Cell::ratio(&many, &one);
            table.push(vec![Cell::Text(n.to_string()), Cell::of(&one), Cell::Text(share), Cell::of(&many), ratio]);
        }
        let worst =
            lines[0].1.iter().zip(&lines[1].1).map(|(a, b)| b.1.median / a.1.median).fold(f64::INFINITY, f64::min);
        if worst.is_finite() {
            let count = links(false).len();
            findings
                .push(format!("{name} as one kernel is at least {} as fast as {count} kernels.", super::times(worst)));
        }
        let head = ["columns", &format!("{name}, one kernel, µs"), "% of copy", "a kernel an operation, µs", "ratio"];
        tables.push(Table { head: head.map(String::from).to_vec(), rows: table });
        let title = format!("{name} of {rows} rows");
        plots.push(Plot { file, title, unit: "µs", axis: "columns", lines: lines.to_vec() });
    }
    Ok(Study {
        name: "norm-softmax",
        title: "RMSNorm and softmax, fused and not",
        about: format!(
            "{rows} rows in f32. One kernel holds a row in one workgroup; the chain runs a kernel for each operation of the formula, with \
             every intermediate result in memory. The copy rate here is {copy:.0} GB/s, and the bytes of the share are those of input, \
             weights and output, each once."
        ),
        tables,
        plots,
        findings,
        silent: vec![
            "Frameworks fuse parts of these chains themselves; the chain is the plain way, not a rival.".into(),
            "Rows that no cache holds would be read twice and three times by the one kernel.".into(),
        ],
    })
}
