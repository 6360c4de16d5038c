//! Shaders in HLSL: the same results, and DXC's words where it refuses one.

use crate::at_hand::dxc;
use crate::device;
use crate::saxpy::{decls, op, program, random};
use std::sync::Arc;
use tilewright_codegen::loops::{Expr, Stmt, Var};
use tilewright_codegen::program::Program;
use tilewright_runtime::{
    AdapterChoice, BufferId, Buffers, Device, Executor, Graph, Params, Read, RuntimeError, ShaderLanguage, Submission,
};

const ROW: u32 = 100;

fn run(device: &Device, program: Program) -> Result<Vec<Vec<u8>>, RuntimeError> {
    let graph = Graph {
        buffers: decls(ROW, 1),
        ops: vec![op(&Arc::new(program), 0, 0.3)],
        submission: Submission::PerToken,
        max_dispatches: None,
    };
    let buffers = Arc::new(Buffers::allocate(device, &graph.buffers)?);
    for id in 0..2 {
        let bytes: Vec<u8> = random(id as u64, ROW as usize).iter().flat_map(|v| v.to_le_bytes()).collect();
        buffers.write(BufferId(id), 0, &bytes)?;
    }
    let read = Read { buffer: BufferId(1), offset: 0, bytes: u64::from(ROW) * 4 };
    Executor::new(device, graph, buffers)?.step(&Params::from([("t".to_string(), 77)]), &[read])
}

#[test]
fn hlsl_gives_what_wgsl_gives() {
    let Some(dxc) = dxc() else { return };
    let hlsl = Device::with_shaders(&AdapterChoice::Best, None, ShaderLanguage::Hlsl(dxc)).unwrap();
    assert_eq!(hlsl.target(), device().target(), "the subgroup probe says the same");
    assert_eq!(run(&hlsl, program(ROW, 1)), run(device(), program(ROW, 1)));
}

#[test]
fn a_shader_that_dxc_refuses_names_kernel_and_schedule() {
    let Some(dxc) = dxc() else { return };
    let hlsl = Device::with_shaders(&AdapterChoice::Best, None, ShaderLanguage::Hlsl(dxc)).unwrap();
    let mut broken = program(ROW, 1);
    broken.shaders[0].loops.body.push(Stmt::Assign(Var(9), Expr::U32(1)));
    let message = run(&hlsl, broken).unwrap_err().to_string();
    for part in ["`saxpy`", "`lanes`", "DXC refuses", "undeclared identifier 'missing9'"] {
        assert!(message.contains(part), "no {part} in {message}");
    }
}
