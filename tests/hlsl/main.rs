//! HLSL as DXC reads it: every reviewed program is accepted and keeps its rounding, every name is legal, every operator means
//! what it means in WGSL. Without DXC these tests say loudly that they checked nothing, and fail where nothing may be skipped.

#[path = "../../runtime/tests/at_hand/mod.rs"]
mod at_hand;
#[path = "../../codegen/tests/samples/mod.rs"]
mod samples;
#[path = "../shaders/shapes.rs"]
mod shapes;

mod accept;
mod names;
mod operators;

use std::collections::BTreeMap;
use tilewright_codegen::hlsl;

#[test]
fn dxc_accepts_every_program() {
    let Some(dxc) = at_hand::dxc() else { return };
    let mut kernels: BTreeMap<String, u32> = BTreeMap::new();
    let mut inexpressible: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for program in shapes::programs() {
        for shader in &program.shaders {
            if let Some(why) = hlsl::inexpressible(&shader.loops) {
                inexpressible.entry(why).or_default().push(format!("{} {}", program.kernel, program.schedule));
                continue;
            }
            accept::dxil(&dxc, &shader.loops);
            accept::spirv(&dxc, &shader.loops);
            *kernels.entry(program.kernel.clone()).or_default() += 1;
        }
    }
    println!("shaders that DXC accepts as DXIL and as SPIR-V: {kernels:?}; not expressible: {inexpressible:?}");
    assert!(kernels.len() >= 15, "only {kernels:?}");
}

#[test]
fn dxc_accepts_every_sample() {
    let Some(dxc) = at_hand::dxc() else { return };
    for sample in samples::all() {
        accept::dxil(&dxc, &sample.ir);
        accept::spirv(&dxc, &sample.ir);
    }
}
