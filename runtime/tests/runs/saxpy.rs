//! `y = a x + y` as loop IR written by hand, over one or more parts.

use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_codegen::loops::{Access, Buffer, Builtin, Expr, Kind, LoopIr, Param, Shared, Stmt, Ty, Var, VarDecl};
use tilewright_codegen::program::{Count, Program, Shader, TensorLayout};
use tilewright_codegen::wgsl::{Dialect, print};
use tilewright_dsl::ir::{Binary, Type};
use tilewright_dsl::schedule::Storage;
use tilewright_runtime::{BufferDecl, BufferId, Op, Role, ScalarSource};

/// Invocations a workgroup.
pub const WORKGROUP: u32 = 32;

/// A program over `parts` rows of `row` elements, each row in a buffer of its own; the first `n` of a row are computed.
pub fn program(row: u32, parts: u32) -> Program {
    let tensor = |name: &str, written| TensorLayout {
        name: name.into(),
        written,
        integer: false,
        dims: vec![parts, row],
        storage: Storage::F32,
        stride: row.next_multiple_of(4),
        parts: vec![1; parts as usize],
    };
    Program {
        kernel: "saxpy".into(),
        schedule: "lanes".into(),
        tensors: vec![tensor("x", false), tensor("y", true)],
        shaders: (0..parts).map(shader).collect(),
        capacities: BTreeMap::from([("n".into(), row)]),
    }
}

fn shader(part: u32) -> Shader {
    let loops = loops(part);
    Shader {
        wgsl: print(&loops, Dialect::Native),
        loops,
        dispatch: [Count::DivCeil(Box::new(Count::Param("n".into())), WORKGROUP), Count::Const(1)],
        subgroups: false,
        iterations: None,
    }
}

fn loops(part: u32) -> LoopIr {
    let buffer =
        |name: &str, access| Buffer { name: name.into(), access, elem: Type::F32, width: 1, tensor: name.into(), part };
    let boxed = |e: Expr| Box::new(e);
    let load = |buffer| Expr::Load { buffer, index: boxed(Expr::Var(Var(0))), width: 1 };
    let start = Expr::Binary(Binary::Mul, boxed(Expr::Builtin(Builtin::WorkgroupX)), boxed(Expr::U32(WORKGROUP)));
    let place = Expr::Binary(Binary::Add, boxed(start), boxed(Expr::Builtin(Builtin::LocalIndex)));
    let inside = Expr::Binary(Binary::Lt, boxed(Expr::Var(Var(0))), boxed(Expr::Param(0)));
    let value = Expr::Fma(boxed(Expr::Param(1)), boxed(load(0)), boxed(load(1)));
    LoopIr {
        name: "saxpy".into(),
        head: vec!["saxpy".into()],
        workgroup: WORKGROUP,
        buffers: vec![buffer("x", Access::Read), buffer("y", Access::ReadWrite)],
        params: vec![Param { name: "n".into(), ty: Type::U32 }, Param { name: "a".into(), ty: Type::F32 }],
        vars: vec![VarDecl { name: "i".into(), kind: Kind::Value(Ty { elem: Type::U32, width: 1 }) }],
        body: vec![
            Stmt::Let(Var(0), place),
            Stmt::If(inside, vec![Stmt::Store(1, Expr::Var(Var(0)), value)], Vec::new()),
        ],
        ..LoopIr::default()
    }
}

/// The same with `bytes` of workgroup memory, which it touches.
pub fn with_workgroup_memory(row: u32, bytes: u32) -> Program {
    let mut program = program(row, 1);
    let shader = &mut program.shaders[0];
    shader.loops.shared = vec![Shared { name: "tile".into(), elem: Type::F32, len: bytes / 4, narrow: false }];
    shader.loops.body.push(Stmt::StoreShared(0, Expr::U32(bytes / 4 - 1), Expr::F32(1.0)));
    shader.wgsl = print(&shader.loops, Dialect::Native);
    program
}

/// Buffers `x0, y0, x1, y1, ...` for `parts` rows.
pub fn decls(row: u32, parts: u32) -> Vec<BufferDecl> {
    let bytes = u64::from(row.next_multiple_of(4)) * 4;
    let decl = |name: String, role| BufferDecl { name, bytes, role };
    (0..parts).flat_map(|i| [decl(format!("x{i}"), Role::Input), decl(format!("y{i}"), Role::Activation)]).collect()
}

/// `y += a x` with `n` from the step's parameter `t`.
pub fn op(program: &Arc<Program>, group: u32, a: f32) -> Op {
    let parts = program.shaders.len();
    let row = |first: usize| (0..parts).map(|i| BufferId(2 * i + first)).collect();
    Op {
        label: "saxpy".into(),
        group,
        program: Arc::clone(program),
        bindings: vec![row(0), row(1)],
        scalars: vec![("n".into(), ScalarSource::Param("t".into())), ("a".into(), ScalarSource::F32(a))],
        reads: None,
        writes: None,
    }
}

/// Numbers in [-1, 1), different for each seed.
pub fn random(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}
