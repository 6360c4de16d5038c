//! Whether a program does what its kernel says: held against the evaluator at a reduced shape, and at full shape against the
//! schedule that the tier has.
//!
//! The rule: nothing is kept that was not checked both ways. Inputs are made by formula and exact in every storage; the tolerance
//! is a share of the largest value, as everywhere. Absent: a proof, which is `codegen::verify`'s business.

use std::collections::BTreeMap;

use tilewright_codegen::program::{Program, TensorLayout};
use tilewright_codegen::shape::{Extent, Shape};
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, compile};
use tilewright_dsl::eval::{Data, EvalError, Value, eval};
use tilewright_dsl::ir::{Kernel, Type};
use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_dsl::storage::{decode, encode};
use tilewright_runtime::{Device, RuntimeError};

use super::site::Site;
use crate::sampler::hash;

/// How far a value may be off, as a share of the largest: that of the token rule.
pub const TOLERANCE: f32 = 2e-3;

/// Most elements of a tensor of a reduced shape: the evaluator is slow.
const ELEMENTS: u64 = 1 << 17;

/// Positions of a reduced prefill.
const ROWS: u32 = 9;

/// Why a program is not kept.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    /// It gives something else.
    #[error("`{tensor}` is off by {off:.1e} of the largest value; expected at most {TOLERANCE:.0e}")]
    Off {
        /// Which tensor.
        tensor: String,
        /// By how much.
        off: f32,
    },
    /// Numbers that are no numbers, or others than expected.
    #[error("`{tensor}` differs at element {at}")]
    Differs {
        /// Which tensor.
        tensor: String,
        /// Where.
        at: usize,
    },
    /// The schedule does not apply to the reduced shape.
    #[error("at the reduced shape: {0}")]
    Compile(#[from] CompileError),
    /// The kernel has no meaning there.
    #[error("at the reduced shape: {0}")]
    Eval(#[from] EvalError),
    /// The device.
    #[error(transparent)]
    Device(#[from] RuntimeError),
}

/// A site at a reduced shape with what the evaluator says there.
pub struct Reference {
    shape: Shape,
    scalars: BTreeMap<String, Value>,
    inputs: BTreeMap<String, Data>,
    expected: BTreeMap<String, Data>,
}

impl Reference {
    /// Of a site whose scalars are those of `words` and of the longest step.
    ///
    /// # Errors
    /// What the evaluator says.
    pub fn of(site: &Site, target: &Target) -> Result<Self, Wrong> {
        let kernel = &site.kernel;
        let words = site.longest.last().cloned().unwrap_or_default();
        let scalar = |name: &String, ty: Type| {
            let word = words.get(name).copied().unwrap_or(0);
            match ty {
                Type::F32 => Value::F32(f32::from_bits(word)),
                // Positions begin anew; the heads from which on parts begin, and a vocabulary's limit, stay.
                _ if longest_only(site, name) => Value::U32(3),
                _ => Value::U32(word),
            }
        };
        let mut scalars: BTreeMap<String, Value> =
            kernel.scalars.iter().map(|s| (s.name.clone(), scalar(&s.name, s.ty))).collect();
        let mut kept = Vec::new();
        let (shape, inputs, expected) = loop {
            let shape = reduced(site, target, kept.clone());
            let extents: BTreeMap<String, u32> =
                kernel.extents.iter().filter_map(|name| Some((name.clone(), number(&shape, name)?))).collect();
            let inputs = inputs(kernel, &extents, &site.schedule);
            let mut expected = inputs.clone();
            match eval(kernel, &extents, &scalars, &mut expected) {
                Ok(()) => break (shape, inputs, expected),
                // An index that scalars decide: this extent is needed as it is.
                Err(EvalError::OutOfBounds { ref tensor, dim, .. }) if kept.len() < kernel.extents.len() => {
                    let tensor = kernel.tensors.iter().find(|t| t.name == *tensor);
                    let extent = tensor.and_then(|t| t.dims.get(dim)).map(|e| kernel.extents[e.0 as usize].clone());
                    kept.extend(extent);
                }
                Err(error) => return Err(error.into()),
            }
        };
        // An extent of run time is as large as the reduced tensors.
        for name in &kernel.extents {
            if let Some(Extent::Param { capacity }) = shape.get(name) {
                scalars.insert(name.clone(), Value::U32(capacity));
            }
        }
        Ok(Reference { shape, scalars, inputs, expected })
    }

    /// Holds a schedule of the site against it.
    ///
    /// # Errors
    /// How it differs; what the compiler or the device says.
    pub fn check(&self, site: &Site, schedule: &Schedule, device: &Device) -> Result<(), Wrong> {
        let program = compile(&site.kernel, schedule, &self.shape, device.target())?;
        let mut found = self.inputs.clone();
        device.run(&program, &self.scalars, &mut found)?;
        for layout in program.tensors.iter().filter(|t| t.written) {
            match (&self.expected[&layout.name], &found[&layout.name]) {
                (Data::F32(a), Data::F32(b)) => close(&layout.name, a, b)?,
                (a, b) if a == b => {}
                _ => return Err(Wrong::Differs { tensor: layout.name.clone(), at: 0 }),
            }
        }
        Ok(())
    }

    /// The shape at which the evaluator runs.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// Holds what a program made of a model's buffers against what another one made of them.
///
/// # Errors
/// How it differs.
pub fn alike(program: &Program, expected: &[Vec<u8>], found: &[Vec<u8>]) -> Result<(), Wrong> {
    let written = program.tensors.iter().filter(|t| t.written);
    let parts: Vec<&TensorLayout> = written.flat_map(|t| std::iter::repeat_n(t, t.parts.len())).collect();
    for (i, (a, b)) in expected.iter().zip(found).enumerate() {
        let layout = parts[i % parts.len()];
        if layout.integer {
            if let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) {
                return Err(Wrong::Differs { tensor: layout.name.clone(), at: at / 4 });
            }
        } else {
            let words = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, f32>(bytes);
            close(&layout.name, &words(a), &words(b))?;
        }
    }
    Ok(())
}

fn close(tensor: &str, expected: &[f32], found: &[f32]) -> Result<(), Wrong> {
    let largest = expected.iter().filter(|x| x.is_finite()).fold(0.0f32, |m, x| m.max(x.abs()));
    let mut most = 0.0f32;
    for (at, (a, b)) in expected.iter().zip(found).enumerate() {
        let off = (a - b).abs();
        if a.to_bits() != b.to_bits() && !off.is_finite() {
            return Err(Wrong::Differs { tensor: tensor.into(), at });
        }
        most = if off.is_finite() { most.max(off) } else { most };
    }
    let off = if most > 0.0 { most / largest } else { 0.0 };
    if off <= TOLERANCE { Ok(()) } else { Err(Wrong::Off { tensor: tensor.into(), off }) }
}

/// Whether a scalar is the position, or follows it: it differs between the longest steps, or grows with the context.
fn longest_only(site: &Site, name: &str) -> bool {
    name == "pos" || name.ends_with(".at") && site.longest.iter().any(|w| w.get(name) == w.get("pos") && w[name] > 0)
}

fn number(shape: &Shape, name: &str) -> Option<u32> {
    shape.get(name).map(|extent| match extent {
        Extent::Fixed(n) => n,
        Extent::Param { capacity } => capacity,
    })
}

/// The site's shape with its extents but those of `kept` halved, the largest first, as far as the kernel still compiles.
fn reduced(site: &Site, target: &Target, mut kept: Vec<String>) -> Shape {
    let kernel = &site.kernel;
    let mut shape = site.shape.clone();
    if let Some(Extent::Param { capacity }) = shape.get("T") {
        let fewer = shape.clone().param("T", capacity.min(ROWS));
        if applies(kernel, &fewer, target) {
            shape = fewer;
        }
    }
    loop {
        let size = |dims: &[tilewright_dsl::ir::ExtentId]| {
            let of = |e: &tilewright_dsl::ir::ExtentId| {
                u64::from(number(&shape, &kernel.extents[e.0 as usize]).unwrap_or(1))
            };
            dims.iter().map(of).product::<u64>()
        };
        let Some(widest) = kernel.tensors.iter().max_by_key(|t| size(&t.dims)).filter(|t| size(&t.dims) > ELEMENTS)
        else {
            return shape;
        };
        let names = widest.dims.iter().map(|e| &kernel.extents[e.0 as usize]).filter(|n| !kept.contains(n));
        let Some(name) = names.max_by_key(|n| number(&shape, n)).filter(|n| number(&shape, n) > Some(8)) else {
            return shape;
        };
        let fewer = shape.clone().fixed(name, number(&shape, name).unwrap_or(2) / 2);
        match applies(kernel, &fewer, target) {
            true => shape = fewer,
            false => kept.push(name.clone()),
        }
    }
}

fn applies(kernel: &Kernel, shape: &Shape, target: &Target) -> bool {
    let target = Target { max_iterations: None, ..target.clone() };
    compile(kernel, &Schedule::empty(&kernel.name), shape, &target).is_ok()
}

/// Sixty-fourths between -1 and 1, and small whole numbers: exact in every storage of single elements; where a schedule stores codes,
/// what these mean.
fn inputs(kernel: &Kernel, extents: &BTreeMap<String, u32>, schedule: &Schedule) -> BTreeMap<String, Data> {
    let mut all = BTreeMap::new();
    for (n, tensor) in kernel.tensors.iter().enumerate() {
        let count: u32 = tensor.dims.iter().map(|e| extents[&kernel.extents[e.0 as usize]]).product();
        let value = |i: u32| hash(i.wrapping_add(hash(n as u32 + 1)));
        let data = match tensor.elem {
            Type::F32 => {
                let values = (0..count).map(|i| (f32::from((value(i) % 129) as u16) - 64.0) / 64.0).collect();
                let columns = tensor.dims.last().map_or(1, |e| extents[&kernel.extents[e.0 as usize]]);
                Data::F32(stored(values, schedule.storage(&tensor.name), columns))
            }
            _ => Data::U32((0..count).map(|i| value(i) % 4).collect()),
        };
        all.insert(tensor.name.clone(), data);
    }
    all
}

/// Values as a storage of codes gives them back; as they are for others.
fn stored(values: Vec<f32>, storage: Storage, columns: u32) -> Vec<f32> {
    let rows = values.len() / columns.max(1) as usize;
    let there_and_back = || decode(storage, rows, columns, &encode(storage, rows, columns, &values).ok()?.words).ok();
    storage.quantised().then(there_and_back).flatten().unwrap_or(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_held_against_each_other() {
        let shape = Shape::new().fixed("T", 1).fixed("R", 4).fixed("K", 8);
        let linear = crate::kernels::linear::linear();
        let program = compile(&linear, &Schedule::empty("linear"), &shape, &Target::webgpu()).unwrap();
        let bytes = |y: [f32; 4]| vec![bytemuck::cast_slice(&y).to_vec()];
        let expected = bytes([1.0, 2.0, -4.0, 0.0]);
        assert!(alike(&program, &expected, &bytes([1.0, 2.001, -4.0, 0.0])).is_ok());
        let wrong = alike(&program, &expected, &bytes([1.0, 2.0, 4.0, 0.0])).unwrap_err().to_string();
        assert!(wrong.starts_with("`y` is off by 2.0e0"), "{wrong}");
    }

    #[test]
    fn codes_are_held_against_what_they_mean() {
        let shape = Shape::new().fixed("T", 1).fixed("R", 3).fixed("K", 100);
        let linear = crate::kernels::linear::linear();
        let extents = BTreeMap::from([("T".to_string(), 1), ("R".to_string(), 3), ("K".to_string(), 100)]);
        for storage in [Storage::Int8, Storage::Nf4] {
            let schedule = Schedule { stores: vec![("w".into(), storage)], ..Schedule::empty("linear") };
            let program = compile(&linear, &schedule, &shape, &Target::webgpu()).unwrap();
            let given = inputs(&linear, &extents, &schedule);
            let Data::F32(values) = &given["w"] else { panic!("w is real") };
            let again = stored(values.clone(), storage, 100);
            assert_eq!(*values, again, "what codes mean is stored as it is");
            assert_ne!(given, inputs(&linear, &extents, &Schedule::empty("linear")));
            assert_eq!(program.tensors[0].storage, storage);
        }
    }

    #[test]
    fn values_are_close_or_named() {
        let a = [1.0, -8.0, 3.0];
        assert!(close("y", &a, &a).is_ok());
        assert!(close("y", &a, &[1.01, -8.0, 3.0]).is_ok(), "a share of the largest");
        assert!(matches!(close("y", &a, &[1.1, -8.0, 3.0]), Err(Wrong::Off { off, .. }) if off > 1e-2));
        assert!(matches!(close("y", &a, &[1.0, f32::NAN, 3.0]), Err(Wrong::Differs { at: 1, .. })));
        assert!(close("y", &[f32::NAN], &[f32::NAN]).is_ok(), "rows that no step has written yet");
    }
}
