//! Every operator, literal and conversion gives the same bits through HLSL as through WGSL, on the adapter.

use crate::at_hand;
use crate::samples::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_codegen::loops::{Access, Expr, LoopIr, Stmt, Ty};
use tilewright_codegen::program::{Count, Program, Shader, TensorLayout};
use tilewright_codegen::wgsl::{Dialect, print};
use tilewright_dsl::ir::{Binary, Type, Unary};
use tilewright_dsl::schedule::Storage;
use tilewright_runtime::{
    AdapterChoice, BufferDecl, BufferId, Buffers, Device, Executor, Graph, Op, Read, Role, ShaderLanguage, Submission,
};

/// Inputs, and invocations.
const N: u32 = 256;

/// Expressions of an f32, another f32 and two u32, as u32 words. The last one is apart: see the test.
fn expressions(x: &Expr, z: &Expr, i: &Expr, j: &Expr) -> Vec<Expr> {
    let bits = |e: Expr| un(Unary::Bits, e);
    let choose = |cond: Expr| select(cond, u(1), u(0));
    let mut all = Vec::new();
    for op in [Unary::Neg, Unary::Exp, Unary::Log, Unary::Sqrt, Unary::Rsqrt, Unary::Tanh, Unary::Abs, Unary::Floor] {
        all.push(bits(un(op, x.clone())));
    }
    all.push(un(Unary::ToU32, x.clone()));
    all.push(bits(un(Unary::ToF32, i.clone())));
    all.push(bits(Expr::FromBits(Box::new(bin(Binary::And, i.clone(), u(0x7f7f_ffff))))));
    for op in [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Min, Binary::Max] {
        all.push(bits(bin(op, x.clone(), z.clone())));
        all.push(bin(op, i.clone(), bin(Binary::Or, j.clone(), u(1))));
    }
    // What may be contracted or reordered, and must not be.
    all.push(bits(add(mul(x.clone(), z.clone()), x.clone())));
    all.push(bits(div(mul(x.clone(), f(0.1)), f(0.3))));
    all.push(bits(fma(x.clone(), z.clone(), f(-1.0))));
    all.push(choose(lt(add(mul(x.clone(), z.clone()), f(1.0)), z.clone())));
    for op in [Binary::Rem, Binary::And, Binary::Or, Binary::Xor, Binary::Shl, Binary::Shr] {
        all.push(bin(op, i.clone(), bin(Binary::Or, j.clone(), u(1))));
    }
    for op in [Binary::Eq, Binary::Ne, Binary::Lt, Binary::Le, Binary::Gt, Binary::Ge] {
        all.push(choose(bin(op, x.clone(), z.clone())));
        all.push(choose(bin(op, i.clone(), j.clone())));
        let cond = bin(Binary::And, bin(op, x.clone(), z.clone()), un(Unary::Not, bin(op, i.clone(), j.clone())));
        all.push(choose(bin(Binary::Or, cond, bin(Binary::Eq, j.clone(), u(7)))));
    }
    for literal in [f32::MIN, f32::MAX, 3.0e38, 1e38, 1e-38, 1e-45, 0.1, -0.0, 1e-6, 16_777_216.0, 1.0 / 3.0] {
        all.push(bits(f(literal)));
        all.push(bits(bin(Binary::Max, x.clone(), f(literal))));
    }
    // Looks through what a `precise` around it reaches.
    let cond = lt(fma(x.clone(), z.clone(), f(1.0)), z.clone());
    all.push(bits(select(cond, add(mul(x.clone(), z.clone()), z.clone()), f(0.5))));
    all.push(un(Unary::ToU32, add(mul(x.clone(), z.clone()), f(0.5))));
    all.push(Expr::PackF16(Box::new(add(mul(x.clone(), f(1.5)), z.clone())), Box::new(f(0.5))));
    let pair = Expr::UnpackF16(Box::new(bin(Binary::Add, i.clone(), j.clone())));
    all.push(bits(part(pair.clone(), 0)));
    all.push(bits(part(pair, 1)));
    all.push(Expr::PackF16(Box::new(x.clone()), Box::new(f(0.5))));
    all.push(bits(bin(Binary::Sub, add(x.clone(), z.clone()), x.clone())));
    all
}

/// One store an expression.
fn shader() -> (LoopIr, u32) {
    let mut b = Build::new("operators", 64);
    let (floats, words) = (b.buffer("x", Access::Read, Type::F32, 2), b.buffer("i", Access::Read, Type::U32, 2));
    let y = b.buffer("y", Access::ReadWrite, Type::U32, 1);
    let at = b.let_("at", U, add(mul(GROUP, u(64)), LANE));
    let xz = b.let_("xz", F2, load(floats, at.clone(), 2));
    let ij = Ty { elem: Type::U32, width: 2 };
    let ij = b.let_("ij", ij, load(words, at.clone(), 2));
    let all = expressions(&part(xz.clone(), 0), &part(xz, 1), &part(ij.clone(), 0), &part(ij, 1));
    let count = all.len() as u32;
    for (e, n) in all.into_iter().zip(0..) {
        b.push(Stmt::Store(y, add(at.clone(), u(n * N)), e));
    }
    (b.finish(), count)
}

fn program(loops: LoopIr, count: u32) -> Program {
    let tensor = |name: &str, integer, written, elements| TensorLayout {
        name: name.into(),
        written,
        integer,
        dims: vec![elements],
        storage: Storage::F32,
        stride: elements,
        parts: vec![1],
    };
    let shader = Shader {
        wgsl: print(&loops, Dialect::Native),
        loops,
        dispatch: [Count::Const(N / 64), Count::Const(1)],
        subgroups: false,
        iterations: Some(Count::Const(0)),
    };
    Program {
        kernel: "operators".into(),
        schedule: "by hand".into(),
        tensors: vec![
            tensor("x", false, false, 2 * N),
            tensor("i", true, false, 2 * N),
            tensor("y", true, true, count * N),
        ],
        shaders: vec![shader],
        capacities: BTreeMap::new(),
    }
}

/// Finite floats of every size, small and large integers.
fn inputs() -> [Vec<u32>; 2] {
    let mut state = 1u32;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let float = |word: u32, n: u32| match n % 4 {
        0 => ((word % 2000) as f32 / 100.0 - 10.0).to_bits(),
        1 => word % 256,
        _ if f32::from_bits(word).is_finite() => word,
        _ => 1.5f32.to_bits(),
    };
    let floats =
        (0..2 * N).map(|n| float(next(), n)).map(|word| if f32::from_bits(word).is_subnormal() { 0 } else { word });
    let floats = floats.collect();
    let mut state = 7u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    };
    [floats, (0..2 * N).map(|n| if n % 3 == 0 { next() } else { next() >> 27 }).collect()]
}

fn run(device: &Device, program: &Program) -> Vec<u32> {
    let layouts = &program.tensors;
    let decl = |l: &TensorLayout| BufferDecl { name: l.name.clone(), bytes: l.part_bytes(0), role: Role::Activation };
    let decls: Vec<BufferDecl> = layouts.iter().map(decl).collect();
    let buffers = Buffers::allocate(device, &decls).unwrap();
    for (words, id) in inputs().iter().zip(0..) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        buffers.write(BufferId(id), 0, &bytes).unwrap();
    }
    let op = Op {
        label: "operators".into(),
        group: 0,
        program: Arc::new(program.clone()),
        bindings: (0..3).map(|id| vec![BufferId(id)]).collect(),
        scalars: Vec::new(),
        reads: None,
        writes: None,
    };
    let read = Read { buffer: BufferId(2), offset: 0, bytes: decls[2].bytes };
    let graph = Graph { buffers: decls, ops: vec![op], submission: Submission::PerToken, max_dispatches: None };
    let back = Executor::new(device, graph, Arc::new(buffers)).unwrap().step(&BTreeMap::new(), &[read]).unwrap();
    back[0].chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
}

#[test]
fn every_operator_has_the_same_bits_in_both_languages() {
    let Some(dxc) = at_hand::dxc() else { return };
    let (loops, count) = shader();
    crate::accept::dxil(&dxc, &loops);
    crate::accept::spirv(&dxc, &loops);
    let text = tilewright_codegen::hlsl::print(&loops);
    let program = program(loops, count);
    let open = |shaders| Device::with_shaders(&AdapterChoice::Best, None, shaders).unwrap();
    let (wgsl, hlsl) = (run(&open(ShaderLanguage::Wgsl), &program), run(&open(ShaderLanguage::Hlsl(dxc)), &program));
    let nan = |word: u32| f32::from_bits(word).is_nan();
    let stores: Vec<&str> = text.lines().filter(|l| l.contains("y.Store(")).collect();
    assert_eq!(stores.len() as u32, count);
    let mut wrong = Vec::new();
    let compared = wgsl.len() - N as usize;
    for (at, (a, b)) in
        wgsl.iter().zip(&hlsl).enumerate().take(compared).filter(|(_, (a, b))| a != b && !(nan(**a) && nan(**b)))
    {
        wrong.push(format!(
            "input {}: {a:#x} in WGSL, {b:#x} in HLSL: {}",
            at as u32 % N,
            stores[at / N as usize].trim()
        ));
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), wgsl.len(), wrong.join("\n"));
    // Here a driver takes leave to find z in WGSL, and must not in HLSL.
    let (floats, last) = (&inputs()[0], &hlsl[compared..]);
    for (pair, found) in floats.chunks_exact(2).zip(last) {
        let (x, z) = (f32::from_bits(pair[0]), f32::from_bits(pair[1]));
        let (found, want) = (f32::from_bits(*found), (x + z) - x);
        assert!(found == want || (found.is_nan() && want.is_nan()), "({x:?} + {z:?}) - {x:?} is {found:?}");
    }
    // The test would see nothing if nothing had been written.
    assert!(wgsl.iter().filter(|w| **w != 0).count() * 2 > wgsl.len());
}
