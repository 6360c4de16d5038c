//! y += a·x, from its text to numbers: `cargo run --example saxpy`.

use std::{collections::BTreeMap, error::Error};
use tilewright_codegen::{compile, hlsl, shape::Shape};
use tilewright_dsl::eval::{Data, Value, eval};
use tilewright_dsl::{kernel, schedule};
use tilewright_runtime::{AdapterChoice, Device};

/// y += a·x.
#[kernel]
fn saxpy(a: f32, x: Tensor<N>, y: InOut<N>) {
    for i in 0..N {
        y[i] = a * x[i] + y[i];
    }
}

schedule! { elements for saxpy { i: grid, lanes(64); } }
schedule! { fours for saxpy { i: grid, lanes(64), vector(4); } }
schedule! { halves for saxpy from fours { store x: f16; } }

/// Prints the shaders of each schedule, and runs them: all must store what the kernel means.
pub fn main() -> Result<(), Box<dyn Error>> {
    let numbers = |step: u32| Data::F32((0..1000).map(|i| (i * step % 31) as f32 / 8.0 - 1.5).collect());
    let inputs = BTreeMap::from([("x".into(), numbers(7)), ("y".into(), numbers(11))]);
    let scalars = BTreeMap::from([("a".into(), Value::F32(0.75))]);
    let mut expected = inputs.clone();
    eval(&saxpy(), &BTreeMap::from([("N".into(), 1000)]), &scalars, &mut expected)?;

    let device = Device::open(&AdapterChoice::Best, None)?;
    for schedule in [elements(), fours(), halves()] {
        let program = compile(&saxpy(), &schedule, &Shape::new().fixed("N", 1000), device.target())?;
        for shader in &program.shaders {
            println!("{}\n{}", shader.wgsl, hlsl::print(&shader.loops));
        }
        let mut tensors = inputs.clone();
        device.run(&program, &scalars, &mut tensors)?;
        assert_eq!(tensors, expected, "`{}` on {}", schedule.name, device.adapter());
    }
    Ok(())
}
