//! Shapes that a kernel must be right at: 1, a prime, one more and one less than a tile, for each extent.

use std::collections::BTreeMap;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{LevelKind, Schedule};

/// What is fixed about a kernel's cases.
pub struct Family {
    /// Extents at rest.
    pub base: &'static [(&'static str, u32)],
    /// Extents that are run-time parameters.
    pub run_time: &'static [&'static str],
    /// Extents that vary, each alone; the others follow by `settle`.
    pub varied: &'static [&'static str],
    /// Scalars, as bits.
    pub scalars: &'static [(&'static str, u32)],
    /// Makes extents that depend on others agree with them.
    pub settle: fn(&mut BTreeMap<String, u32>),
}

/// One shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// Extents.
    pub extents: BTreeMap<String, u32>,
    /// Scalars, as bits.
    pub scalars: BTreeMap<String, u32>,
}

const EPS: u32 = 0x3586_37bd; // 1e-6
const SCALE: u32 = 0x3e80_0000; // 0.25

const TOP_P: u32 = 0x3f66_6666; // 0.9
const PENALTY: u32 = 0x3f8c_cccd; // 1.1

fn nothing(_: &mut BTreeMap<String, u32>) {}

fn set(extents: &mut BTreeMap<String, u32>, name: &str, value: u32) {
    extents.insert(name.into(), value);
}

/// Three query heads a group, and a row of the table for each of them at each position that there can be: two more than there are.
fn table(extents: &mut BTreeMap<String, u32>) {
    let heads = 3 * extents["G"];
    let rows = heads * (extents["T"] + 2);
    set(extents, "H", heads);
    set(extents, "R", rows);
}

/// The family of a kernel.
pub fn family(kernel: &str) -> Family {
    let none: &[(&str, u32)] = &[];
    let family = |base, run_time, varied, scalars, settle| Family { base, run_time, varied, scalars, settle };
    match kernel {
        "linear" => family(&[("T", 3), ("R", 21), ("K", 40)], &["T"], &["T", "R", "K"], none, nothing),
        "norm_linear" => {
            family(&[("T", 3), ("R", 21), ("K", 40)], &["T"], &["T", "R", "K"], &[("norm.eps", EPS)], nothing)
        }
        "qkv" => family(
            &[
                ("T", 3),
                ("D", 16),
                ("P", 80),
                ("q.C", 70),
                ("q.H", 3),
                ("k.C", 80),
                ("k.H", 1),
                ("v.G", 1),
                ("R", 80),
                ("K", 40),
            ],
            &["T"],
            &["T", "q.H", "k.H", "D", "K"],
            &[("pos", 5), ("q.from", 0), ("q.at", 0), ("k.from", 3), ("k.at", 5), ("v.from", 4), ("in.norm.eps", EPS)],
            |e| {
                let (queries, groups, columns) = (e["q.H"], e["k.H"], e["D"].next_multiple_of(2));
                set(e, "D", columns);
                set(e, "v.G", groups);
                set(e, "R", queries.max(4 + groups) * columns);
            },
        ),
        "norm_gated" => {
            family(&[("T", 3), ("D", 21), ("K", 40)], &["T"], &["T", "D", "K"], &[("norm.eps", EPS)], nothing)
        }
        "linear_bias" => family(&[("T", 3), ("R", 21), ("K", 40)], &["T"], &["T", "R", "K"], none, nothing),
        "gated" => family(&[("T", 3), ("D", 21), ("K", 40)], &["T"], &["T", "D", "K"], none, nothing),
        "linear_residual" => family(&[("T", 3), ("D", 21), ("K", 40)], &["T"], &["T", "D", "K"], none, nothing),
        "rmsnorm" => family(&[("T", 3), ("D", 40)], &["T"], &["T", "D"], &[("eps", EPS)], nothing),
        "softmax" => family(&[("R", 3), ("C", 40)], &["R"], &["R", "C"], none, nothing),
        "embedding" => family(&[("T", 3), ("V", 11), ("D", 40)], &["T"], &["T", "V", "D"], none, nothing),
        "bias" => family(&[("T", 3), ("R", 21)], &["T"], &["T", "R"], none, nothing),
        "silu" => family(&[("T", 3), ("D", 40)], &["T"], &["T", "D"], none, nothing),
        "mul" => family(&[("T", 3), ("D", 40)], &["T"], &["T", "D"], none, nothing),
        "residual" => family(&[("T", 3), ("D", 40)], &["T"], &["T", "D"], none, nothing),
        "argmax" => family(&[("T", 3), ("V", 40)], &["T"], &["T", "V"], &[("limit", 1000)], nothing),
        "rope" => family(
            &[("T", 3), ("H", 3), ("P", 80), ("D", 16), ("S", 5), ("C", 90)],
            &["T"],
            &["T", "H", "D"],
            &[("pos", 5), ("from", 1), ("at", 2)],
            |e| {
                let (columns, heads) = (e["D"].next_multiple_of(2), e["H"]);
                set(e, "D", columns);
                set(e, "S", heads + 2);
            },
        ),
        "kv_append" => family(
            &[("T", 3), ("G", 2), ("D", 12), ("P", 90), ("S", 4)],
            &["T"],
            &["T", "G", "D"],
            &[("pos", 5), ("from", 1)],
            |e| {
                let heads = e["G"];
                set(e, "S", heads + 2);
            },
        ),
        "rope_append" => family(
            &[("T", 3), ("S", 5), ("D", 16), ("P", 80), ("q.C", 70), ("q.H", 3), ("k.C", 80), ("k.H", 1), ("v.G", 1)],
            &["T"],
            &["T", "q.H", "k.H", "D"],
            &[("pos", 5), ("q.from", 0), ("q.at", 0), ("k.from", 2), ("k.at", 5), ("v.from", 3)],
            |e| {
                let (queries, groups, columns) = (e["q.H"], e["k.H"], e["D"].next_multiple_of(2));
                set(e, "D", columns);
                set(e, "v.G", groups);
                set(e, "S", queries.max(3 + groups));
            },
        ),
        "kv_append_paged" => family(
            &[("T", 3), ("G", 2), ("D", 12), ("P", 90), ("S", 4), ("Pages", 6), ("Rows", 96)],
            &["T"],
            &["T", "G", "D", "pos"],
            &[("pos", 5), ("from", 1)],
            |e| {
                let heads = e["G"];
                set(e, "S", heads + 2);
            },
        ),
        "attention_paged" | "attention_values_paged" => family(
            &[("T", 2), ("H", 6), ("G", 2), ("D", 32), ("P", 150), ("Pages", 10), ("Rows", 160)],
            &["T"],
            &["T", "G", "D", "pos"],
            &[("pos", 5), ("scale", SCALE)],
            |e| {
                let groups = e["G"];
                set(e, "H", 3 * groups);
            },
        ),
        "attention" | "attention_stats" | "attention_values" => family(
            &[("T", 2), ("H", 6), ("G", 2), ("D", 32), ("P", 150)],
            &["T"],
            &["T", "G", "D", "pos"],
            &[("pos", 5), ("scale", SCALE)],
            |e| {
                let groups = e["G"];
                set(e, "H", 3 * groups);
            },
        ),
        "attention_scores" => family(
            &[("T", 2), ("H", 6), ("G", 2), ("D", 32), ("P", 150), ("R", 12), ("C", 137)],
            &["T", "R"],
            &["T", "G", "D", "pos"],
            &[("pos", 5), ("scale", SCALE)],
            table,
        ),
        "attention_mix" => family(
            &[("T", 2), ("H", 6), ("G", 2), ("D", 32), ("P", 150), ("R", 12), ("C", 137)],
            &["T", "R"],
            &["T", "G", "D", "pos"],
            &[("pos", 5)],
            table,
        ),
        "attention_parts" => family(
            &[("T", 2), ("H", 6), ("G", 2), ("D", 32), ("P", 400), ("j.Parts", 2)],
            &["T"],
            &["T", "G", "D", "pos"],
            &[("pos", 255), ("scale", SCALE)],
            |e| {
                let groups = e["G"];
                set(e, "H", 3 * groups);
            },
        ),
        "attention_merged" => family(
            &[("T", 2), ("H", 6), ("G", 2), ("D", 32), ("j.Parts", 3)],
            &["T"],
            &["T", "G", "D", "j.Parts"],
            none,
            |e| {
                let groups = e["G"];
                set(e, "H", 3 * groups);
            },
        ),
        "head_parts" => family(
            &[("T", 2), ("V", 130), ("K", 40), ("v.Parts", 3)],
            &["T"],
            &["T", "V", "K"],
            &[("limit", 120), ("head.norm.eps", EPS)],
            |e| {
                let parts = e["V"].div_ceil(64);
                set(e, "v.Parts", parts);
            },
        ),
        "argmax_merged" => family(&[("T", 3), ("v.Parts", 40)], &["T"], &["T", "v.Parts"], none, nothing),
        "first_seen" => family(&[("T", 3), ("V", 40)], &["T"], &["T", "V"], &[("pos", 5)], nothing),
        "penalise" => family(&[("T", 3), ("V", 40)], &["T"], &["T", "V"], &[("penalty", PENALTY)], nothing),
        "topk_chunks" => family(&[("T", 2), ("V", 130), ("N", 3)], &["T"], &["T", "V"], &[("limit", 120)], |e| {
            // One chunk more than there are values for.
            let chunks = e["V"].div_ceil(64) + 1;
            set(e, "N", chunks);
        }),
        "topk_rank" => family(&[("T", 2), ("M", 40)], &["T"], &["T", "M"], none, nothing),
        "topk_values" => family(
            &[("T", 2), ("V", 130), ("N", 3), ("F", 2), ("C", 64)],
            &["T"],
            &["T", "V", "N", "F", "C"],
            &[("limit", 120)],
            |e| {
                let columns = e["C"].min(64);
                set(e, "C", columns);
            },
        ),
        "topk_first" => family(&[("T", 2), ("M", 40), ("K", 8)], &["T"], &["T", "M", "K"], none, nothing),
        "topk_pairs" => family(&[("T", 2), ("K", 8), ("N", 40), ("W", 19)], &["T"], &["T", "K", "N"], none, |e| {
            let words = 2 * e["K"] + 3;
            set(e, "W", words);
        }),
        "draw" => family(
            &[("T", 2), ("K", 8), ("N", 40)],
            &["T"],
            &["T", "K", "N"],
            &[("keep", 6), ("temperature", SCALE), ("top_p", TOP_P), ("seed", 77), ("limit", 12)],
            nothing,
        ),
        other => panic!("no cases for kernel `{other}`: add its family to tests/equivalence/cases.rs"),
    }
}

/// All cases of a kernel by a schedule.
pub fn cases(kernel: &Kernel, schedule: &Schedule) -> Vec<Case> {
    let family = family(&kernel.name);
    let mut found: Vec<Case> = Vec::new();
    for name in family.varied {
        for value in values(kernel, schedule, name) {
            let mut extents: BTreeMap<String, u32> = family.base.iter().map(|(n, v)| (n.to_string(), *v)).collect();
            let mut scalars: BTreeMap<String, u32> = family.scalars.iter().map(|(n, v)| (n.to_string(), *v)).collect();
            if scalars.contains_key(*name) {
                scalars.insert(name.to_string(), value);
            } else {
                extents.insert(name.to_string(), value);
            }
            (family.settle)(&mut extents);
            let case = Case { extents, scalars };
            if !found.contains(&case) {
                found.push(case);
            }
        }
    }
    found
}

/// 1, a prime, and the neighbours of every tile along axes that end at this extent.
fn values(kernel: &Kernel, schedule: &Schedule, extent: &str) -> Vec<u32> {
    // Few heads and short contexts are enough where no tile ends.
    match extent {
        "G" => return vec![1, 2],
        "pos" if kernel.name == "attention_parts" => return vec![0, 254, 256, 300],
        "pos" if kernel.name == "kv_append_paged" => return vec![0, 13, 15, 16, 62],
        "pos" => return vec![0, 63, 64, 70, 127],
        "D" if kernel.name.starts_with("attention") => return array_values(schedule),
        _ => {}
    }
    let mut values = vec![1, 7];
    for axis in &kernel.axes {
        let ends_here = matches!(
            kernel.expr(axis.hi),
            tilewright_dsl::ir::Expr::Extent(e) if kernel.extents[e.0 as usize] == extent
        );
        let Some(levels) = schedule.levels(&axis.name).filter(|_| ends_here) else { continue };
        let sized: u32 = levels.iter().filter_map(|l| l.size).product();
        let unit: u32 = levels
            .iter()
            .filter(|l| matches!(l.kind, LevelKind::Lanes | LevelKind::Unroll | LevelKind::Vector | LevelKind::Matrix))
            .filter_map(|l| l.size)
            .product();
        for tile in [sized, unit] {
            values.extend([tile.saturating_sub(1), tile, tile + 1].into_iter().filter(|n| *n > 0 && *n < 600));
        }
    }
    values.sort_unstable();
    values.dedup();
    values
}

/// Head widths: what the schedule's columns hold at most bounds them.
fn array_values(schedule: &Schedule) -> Vec<u32> {
    let most = schedule.levels("softmax.c").filter(|l| l.iter().all(|l| l.size.is_some()));
    let most = most.map_or(64, |l| l.iter().filter_map(|l| l.size).product());
    [1, 7, 32, 48, 63, 64].into_iter().filter(|n| *n <= most).collect()
}
