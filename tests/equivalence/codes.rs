//! Quantised matrices: every way to read codes and scales, by each kernel of the model that has one, at odd shapes.
//!
//! The reference gets what the codes mean, so that rounding to codes is no part of the tolerance.

use crate::cases::{Case, family};
use tilewright_dsl::ir::{Kernel, Role};
use tilewright_dsl::schedule::{Schedule, Storage, parse_file};
use tilewright_models::kernels;

/// Lines that no shipped schedule has: 128 bits of codes a load, less than a word, several words, scales of copies.
const TEXT: &str = "
schedule pairs for linear { r: grid, lanes(4); k: serial, lanes(8), vector(2); }
schedule fours for linear { t: grid, unroll(2); r: grid, lanes(3); k: serial, lanes(8), unroll(2), vector(4); fold k: serial; }
schedule wide_16 for linear { t: grid; r: grid, lanes(2), unroll(2); k: serial, lanes(4), vector(16); }
schedule wide_32 for linear { t: grid, unroll(2); r: grid, lanes(2), unroll(4); k: serial, lanes(32), vector(32); }
schedule ahead for linear {
    workgroup 16;
    t: grid, unroll(2), lanes(4);
    r: grid, unroll(4), lanes(4);
    k: serial as ko, serial(16);
    stage w at ko: workgroup ahead;
    stage x at ko: workgroup ahead;
}
schedule thin_tile for linear {
    t: grid, lanes(4);
    r: grid, lanes(4);
    k: serial as ko, serial(6);
    stage w at ko: workgroup;
}
schedule vectors for embedding { t: grid; i: serial, lanes(4), vector(8); }
";

/// Shapes by kernel, beyond what its family has at rest.
const SHAPES: &[(&str, &[(&str, u32)])] = &[
    ("linear", &[("T", 3), ("R", 21), ("K", 37)]),
    ("linear", &[("T", 5), ("R", 9), ("K", 200)]),
    ("linear", &[("T", 1), ("R", 1), ("K", 1)]),
    ("linear", &[("T", 2), ("R", 6), ("K", 1088)]),
    ("embedding", &[("D", 37)]),
    ("embedding", &[("D", 130)]),
    ("norm_linear", &[("K", 136)]),
    ("qkv", &[("K", 136)]),
    ("norm_gated", &[("K", 136)]),
    ("linear_bias", &[("K", 37)]),
    ("gated", &[("K", 136)]),
    ("linear_residual", &[("K", 136)]),
    ("head_parts", &[("K", 136)]),
];

/// The matrices of a kernel that a model has weights for.
fn matrices(kernel: &Kernel) -> impl Iterator<Item = &str> {
    let last = |name: &str| name.rsplit('.').next() == Some("w");
    let found = kernel.tensors.iter().filter(move |t| t.role == Role::In && t.dims.len() == 2 && last(&t.name));
    found.map(|t| t.name.as_str())
}

/// Each kernel by each of its schedules, at each of its shapes, in both storages.
pub fn runs() -> Vec<(Kernel, Schedule, Case)> {
    let own = parse_file("codes", TEXT).expect("the schedules can be read");
    let mut all = Vec::new();
    for (i, (name, shape)) in SHAPES.iter().enumerate() {
        // A kernel's first shape is for all schedules, the others for those that are here for them.
        let first = SHAPES.iter().position(|s| s.0 == *name) == Some(i);
        let entry = kernels::named(name).expect("a kernel of the model");
        let empty = Schedule::empty(name);
        let shipped = entry.schedules.iter().chain(std::iter::once(&empty)).filter(|_| first);
        let schedules = own.iter().filter(|s| s.kernel == *name).chain(shipped);
        for schedule in schedules {
            for storage in [Storage::Int8, Storage::Nf4] {
                let mut schedule = schedule.clone();
                schedule.name = format!("{}_{}", schedule.name, storage.per_word());
                schedule.stores = matrices(&entry.kernel).map(|m| (m.to_string(), storage)).collect();
                all.push((entry.kernel.clone(), schedule, case(name, shape)));
            }
        }
    }
    all
}

fn case(kernel: &str, shape: &[(&str, u32)]) -> Case {
    let family = family(kernel);
    let named = |all: &[(&str, u32)]| all.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let mut case = Case { extents: named(family.base), scalars: named(family.scalars) };
    case.extents.extend(shape.iter().map(|(n, v)| (n.to_string(), *v)));
    (family.settle)(&mut case.extents);
    case
}
