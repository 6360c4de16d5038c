//! A matrix product in tiles, in registers and in workgroup memory: `cargo run --example tiled_matmul`.

use std::{collections::BTreeMap, error::Error};
use tilewright_codegen::{compile, hlsl, shape::Shape};
use tilewright_dsl::eval::{Data, eval};
use tilewright_dsl::{kernel, schedule};
use tilewright_runtime::{AdapterChoice, Device};

/// c = a·b.
#[kernel]
fn matmul(a: Tensor<M, K>, b: Tensor<K, N>, c: Out<M, N>) {
    for i in 0..M {
        for j in 0..N {
            c[i][j] = sum(0..K, |k| a[i][k] * b[k][j]);
        }
    }
}

schedule! { plain for matmul { i: grid; j: grid, lanes(64); } }
schedule! { registers for matmul { i: grid, unroll(4), lanes(8); j: grid, unroll(4), lanes(8); } }
schedule! { tiled for matmul from registers { k: serial as ko, serial(16); stage a at ko: workgroup; stage b at ko: workgroup; } }

/// Prints the shaders of each schedule, and runs them: all must store what the kernel means. The products and sums are exact.
pub fn main() -> Result<(), Box<dyn Error>> {
    let sizes = [("M", 65), ("K", 33), ("N", 70)];
    let numbers = |n: u32| Data::F32((0..n).map(|i| (i * 13 % 17) as f32 - 8.0).collect());
    let tensors = [("a", numbers(65 * 33)), ("b", numbers(33 * 70)), ("c", numbers(65 * 70))];
    let inputs = tensors.map(|(name, data)| (name.to_string(), data)).into();
    let mut expected: BTreeMap<_, _> = BTreeMap::clone(&inputs);
    eval(&matmul(), &sizes.map(|(name, n)| (name.into(), n)).into(), &BTreeMap::new(), &mut expected)?;

    let device = Device::open(&AdapterChoice::Best, None)?;
    let shape = sizes.iter().fold(Shape::new(), |shape, (name, n)| shape.fixed(name, *n));
    for schedule in [plain(), registers(), tiled()] {
        let program = compile(&matmul(), &schedule, &shape, device.target())?;
        for shader in &program.shaders {
            println!("{}\n{}", shader.wgsl, hlsl::print(&shader.loops));
        }
        let mut tensors = inputs.clone();
        device.run(&program, &BTreeMap::new(), &mut tensors)?;
        assert_eq!(tensors, expected, "`{}` on {}", schedule.name, device.adapter());
    }
    Ok(())
}
