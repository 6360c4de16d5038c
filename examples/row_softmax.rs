//! Softmax of rows, whose lanes share a maximum and a sum: `cargo run --example row_softmax`.

use std::{collections::BTreeMap, error::Error};
use tilewright_codegen::{compile, hlsl, shape::Shape};
use tilewright_dsl::eval::{Data, eval};
use tilewright_dsl::{kernel, schedule};
use tilewright_runtime::{AdapterChoice, Device};

/// y = exp(x - max x) / Σ exp(x - max x), row by row.
#[kernel]
fn row_softmax(x: Tensor<R, C>, y: Out<R, C>) {
    for r in 0..R {
        let top = max(0..C, |i| x[r][i]);
        let total = sum(0..C, |j| exp(x[r][j] - top));
        for c in 0..C {
            y[r][c] = exp(x[r][c] - top) / total;
        }
    }
}

schedule! { rows for row_softmax { r: grid, lanes(64); } }
schedule! { lanes for row_softmax { r: grid; i: serial, lanes(64); j: serial, lanes(64); c: serial, lanes(64); } }
schedule! { ordered for row_softmax from lanes { fold j: serial; } }

/// Prints the shaders of each schedule, and runs them: all must store what the kernel means, up to the order of the sum.
pub fn main() -> Result<(), Box<dyn Error>> {
    let extents = BTreeMap::from([("R".into(), 5), ("C".into(), 150)]);
    let numbers = |step: u32| Data::F32((0..5 * 150).map(|i| (i * step % 101) as f32 / 16.0 - 3.0).collect());
    let inputs = BTreeMap::from([("x".into(), numbers(37)), ("y".into(), numbers(0))]);
    let mut expected = inputs.clone();
    eval(&row_softmax(), &extents, &BTreeMap::new(), &mut expected)?;

    let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6);
    let device = Device::open(&AdapterChoice::Best, None)?;
    for schedule in [rows(), lanes(), ordered()] {
        let shape = Shape::new().fixed("R", 5).fixed("C", 150);
        let program = compile(&row_softmax(), &schedule, &shape, device.target())?;
        for shader in &program.shaders {
            println!("{}\n{}", shader.wgsl, hlsl::print(&shader.loops));
        }
        let mut tensors = inputs.clone();
        device.run(&program, &BTreeMap::new(), &mut tensors)?;
        let same = matches!((&tensors["y"], &expected["y"]), (Data::F32(a), Data::F32(b)) if near(a, b));
        assert!(same, "`{}` on {}: {tensors:?}, and the kernel means {expected:?}", schedule.name, device.adapter());
    }
    Ok(())
}
