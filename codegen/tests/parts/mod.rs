//! Kernels run one after the other over tensors that they name in common: what a kernel that was put together must equal.

use std::collections::BTreeMap;
use tilewright_dsl::eval::{Data, Value, eval};
use tilewright_dsl::ir::{Kernel, Type};

/// Extents, scalars and tensors by names that several kernels share. Tensors that no kernel has stored to are random.
#[derive(Clone)]
pub struct World {
    extents: BTreeMap<String, u32>,
    scalars: BTreeMap<String, Value>,
    tensors: BTreeMap<String, Data>,
    seed: u64,
}

/// How far two values may be apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Apart {
    /// Not at all: the same operations in the same order.
    Nothing,
    /// Relative to the larger of the value and 1: sums in another order.
    Rounding(f32),
}

/// What sums in another order may differ by, for terms of about 1.
pub const REORDERED: Apart = Apart::Rounding(1e-5);

/// A kernel, and what its names are in the world; names that are not listed stay.
pub type Step<'a> = (&'a Kernel, &'a [(&'a str, &'a str)]);

impl World {
    pub fn new(seed: u64, extents: &[(&str, u32)], scalars: &[(&str, Value)]) -> Self {
        World {
            extents: extents.iter().map(|(n, v)| (n.to_string(), *v)).collect(),
            scalars: scalars.iter().map(|(n, v)| (n.to_string(), *v)).collect(),
            tensors: BTreeMap::new(),
            seed,
        }
    }

    /// Runs kernels one after the other, each over what the ones before it stored.
    pub fn run(mut self, steps: &[Step]) -> Self {
        for (kernel, names) in steps {
            let common = |own: &str| names.iter().find(|(n, _)| *n == own).map_or(own, |(_, c)| *c).to_string();
            let pick = |n: &String| {
                let extent = self.extents.get(&common(n));
                (
                    n.clone(),
                    *extent.unwrap_or_else(|| panic!("`{}` has an extent `{n}` that is not given", kernel.name)),
                )
            };
            let extents: BTreeMap<String, u32> = kernel.extents.iter().map(pick).collect();
            let scalar = |n: &String| (n.clone(), self.scalars[&common(n)]);
            let scalars = kernel.scalars.iter().map(|s| scalar(&s.name)).collect();
            let mut tensors = BTreeMap::new();
            for t in &kernel.tensors {
                let n = t.dims.iter().map(|d| extents[&kernel.extents[d.0 as usize]] as usize).product();
                let data = self.tensors.get(&common(&t.name)).cloned();
                tensors.insert(t.name.clone(), data.unwrap_or_else(|| random(self.seed, &common(&t.name), t.elem, n)));
            }
            eval(kernel, &extents, &scalars, &mut tensors).unwrap_or_else(|e| panic!("{}: {e}", kernel.name));
            self.tensors.extend(tensors.into_iter().map(|(n, data)| (common(&n), data)));
        }
        self
    }

    /// A tensor that a kernel has stored.
    pub fn floats(&self, name: &str) -> &[f32] {
        match self.tensors.get(name) {
            Some(Data::F32(values)) => values,
            other => panic!("`{name}` is {other:?}"),
        }
    }
}

/// One kernel stores the same as several in a row, for several seeds.
pub fn same(
    extents: &[(&str, u32)],
    scalars: &[(&str, Value)],
    whole: Step,
    parts: &[Step],
    out: &[&str],
    apart: Apart,
) {
    for seed in 1..4 {
        let world = World::new(seed, extents, scalars);
        let (one, many) = (world.clone().run(&[whole]), world.run(parts));
        for name in out {
            let (a, b) = (one.floats(name), many.floats(name));
            assert_eq!(a.len(), b.len(), "{name}");
            let moved = a.windows(2).any(|w| w[0] != w[1]);
            assert!(moved || a.len() < 2, "`{name}` of `{}` is the same everywhere: it tells nothing", whole.0.name);
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                let near = match apart {
                    Apart::Nothing => x.to_bits() == y.to_bits(),
                    Apart::Rounding(by) => (x - y).abs() <= by * x.abs().max(y.abs()).max(1.0),
                };
                assert!(near, "`{name}`[{i}] of `{}` at {extents:?}: {x}, and its parts make {y}", whole.0.name);
            }
        }
    }
}

/// Between -1 and 1, the same for a name and a seed.
fn random(seed: u64, name: &str, elem: Type, n: usize) -> Data {
    let mut state = name.bytes().fold(seed, |s, b| (s ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u32
    };
    match elem {
        Type::U32 => Data::U32((0..n).map(|_| next() % 13).collect()),
        _ => Data::F32((0..n).map(|_| next() as f32 / (1 << 23) as f32 - 1.0).collect()),
    }
}
