//! Whether an adapter numbers the invocations of a subgroup plainly.
//!
//! Generated subgroup folds rely on local index i being invocation i mod size of its subgroup, which no specification promises.
//! This asks the adapter, for several workgroup sizes, and also lets every invocation fetch its neighbour's index, so that
//! a driver whose shuffles are wrong is found as well. WGSL section 15.6.3 "Subgroup built-in values" leaves the mapping open.

use crate::buffers::Buffers;
use crate::device::Device;
use crate::error::RuntimeError;
use crate::executor::Executor;
use crate::graph::{BufferDecl, BufferId, Graph, Op, Read, Role, Submission};
use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_codegen::loops::{Access, Buffer, Builtin, Expr, Kind, LoopIr, Stmt, Ty, Var, VarDecl};
use tilewright_codegen::program::{Count, Program, Shader, TensorLayout};
use tilewright_codegen::target::Subgroups;
use tilewright_codegen::usage::uses_subgroups;
use tilewright_codegen::wgsl::{Dialect, print};
use tilewright_dsl::ir::{Binary, Type};
use tilewright_dsl::schedule::Storage;

/// Workgroups that each probe dispatches.
pub(crate) const WORKGROUPS: u32 = 4;

/// Numbers that each invocation writes: subgroup size, index in the subgroup, neighbour's local index.
const FACTS: u32 = 3;

/// What is odd about this adapter's subgroups, or `None`.
pub(crate) fn subgroups(device: &Device, sizes: Subgroups) -> Result<Option<String>, RuntimeError> {
    let most = device.target().max_invocations;
    for workgroup in [32, 64, 96, 128, 256].into_iter().filter(|n| *n <= most) {
        let facts = ask(device, workgroup)?;
        if let Some(odd) = oddity(&facts, workgroup, sizes) {
            return Ok(Some(odd));
        }
    }
    Ok(None)
}

/// `facts`: three numbers an invocation, all workgroups one after the other.
fn oddity(facts: &[u32], workgroup: u32, sizes: Subgroups) -> Option<String> {
    facts.chunks_exact(FACTS as usize).enumerate().find_map(|(i, fact)| {
        let local = i as u32 % workgroup;
        let [size, index, neighbour] = *fact else { return None };
        if !size.is_power_of_two() || size < sizes.min || size > sizes.max {
            Some(format!("its subgroups have {size} invocations, and {}..{} were announced", sizes.min, sizes.max))
        } else if index != local % size {
            Some(format!("invocation {local} of {workgroup} is number {index} of its subgroup of {size}"))
        } else if neighbour != local ^ 1 {
            Some(format!("a shuffle gave invocation {local} of {workgroup} the value of {neighbour}"))
        } else {
            None
        }
    })
}

fn ask(device: &Device, workgroup: u32) -> Result<Vec<u32>, RuntimeError> {
    let words = workgroup * WORKGROUPS * FACTS;
    facts(device, "subgroup probe", one_output("subgroup_probe", words, WORKGROUPS, probe(workgroup)), words)
}

/// What a program of [`one_output`] writes.
pub(crate) fn facts(device: &Device, label: &str, program: Program, words: u32) -> Result<Vec<u32>, RuntimeError> {
    let decl = BufferDecl { name: "facts".into(), bytes: u64::from(words) * 4, role: Role::Output };
    let buffers = Arc::new(Buffers::allocate(device, std::slice::from_ref(&decl))?);
    let op = Op {
        label: label.into(),
        group: 0,
        program: Arc::new(program),
        bindings: vec![vec![BufferId(0)]],
        scalars: Vec::new(),
        reads: None,
        writes: None,
    };
    let graph =
        Graph { buffers: vec![decl.clone()], ops: vec![op], submission: Submission::PerToken, max_dispatches: None };
    let read = Read { buffer: BufferId(0), offset: 0, bytes: decl.bytes };
    let bytes = Executor::new(device, graph, buffers)?.step(&BTreeMap::new(), &[read])?;
    Ok(bytes.first().map(|b| bytemuck::pod_collect_to_vec(b)).unwrap_or_default())
}

/// One invocation that writes one word: what an empty dispatch costs is measured with it.
pub(crate) fn least_program() -> Program {
    let body = vec![Stmt::Store(0, Expr::U32(0), Expr::U32(1))];
    one_output("least", 1, 1, loops("least", "one word", 1, Vec::new(), body))
}

/// Words that each invocation of [`copy_program`] copies.
pub(crate) const COPIED: u32 = 8;

/// Copies [`COPIED`] words an invocation from one buffer to another, neighbours by neighbours.
pub(crate) fn copy_program(workgroups: u32, invocations: u32) -> Program {
    let copied = COPIED * invocations;
    let words = workgroups * copied;
    let buffer = |name: &str, access| Buffer {
        name: name.into(),
        access,
        elem: Type::U32,
        width: 1,
        tensor: name.into(),
        part: 0,
    };
    let (x, y) = (buffer("from", Access::Read), buffer("to", Access::ReadWrite));
    let first = Var(0);
    let boxed = |e: Expr| Box::new(e);
    let scaled = Expr::Binary(Binary::Mul, boxed(Expr::Builtin(Builtin::WorkgroupX)), boxed(Expr::U32(copied)));
    let start = Expr::Binary(Binary::Add, boxed(scaled), boxed(Expr::Builtin(Builtin::LocalIndex)));
    let mut vars = vec![VarDecl { name: "first".into(), kind: Kind::Value(Ty { elem: Type::U32, width: 1 }) }];
    let mut body = vec![Stmt::Let(first, start)];
    let at = |i: u32| Expr::Binary(Binary::Add, boxed(Expr::Var(first)), boxed(Expr::U32(i * invocations)));
    // All loads first, so that they are under way together.
    for i in 0..COPIED {
        vars.push(VarDecl { name: "word".into(), kind: Kind::Value(Ty { elem: Type::U32, width: 1 }) });
        body.push(Stmt::Let(Var(1 + i), Expr::Load { buffer: 0, index: boxed(at(i)), width: 1 }));
    }
    body.extend((0..COPIED).map(|i| Stmt::Store(1, at(i), Expr::Var(Var(1 + i)))));
    let head = vec!["copy: each invocation copies eight words".into()];
    let buffers = vec![x, y];
    let loops = LoopIr { name: "copy".into(), head, workgroup: invocations, buffers, vars, body, ..LoopIr::default() };
    by_hand("copy", vec![layout("from", false, words), layout("to", true, words)], workgroups, loops)
}

/// A program of one shader that writes u32 words to one tensor.
pub(crate) fn one_output(kernel: &str, words: u32, workgroups: u32, loops: LoopIr) -> Program {
    by_hand(kernel, vec![layout("facts", true, words)], workgroups, loops)
}

fn layout(name: &str, written: bool, words: u32) -> TensorLayout {
    TensorLayout {
        name: name.into(),
        written,
        integer: true,
        dims: vec![words],
        storage: Storage::F32,
        stride: words.next_multiple_of(4),
        parts: vec![words],
    }
}

fn by_hand(kernel: &str, tensors: Vec<TensorLayout>, workgroups: u32, loops: LoopIr) -> Program {
    let subgroups = uses_subgroups(&loops);
    let wgsl = print(&loops, Dialect::Native);
    Program {
        kernel: kernel.into(),
        schedule: "by hand".into(),
        tensors,
        shaders: vec![Shader {
            loops,
            wgsl,
            dispatch: [Count::Const(workgroups), Count::Const(1)],
            subgroups,
            iterations: None,
        }],
        capacities: BTreeMap::new(),
    }
}

fn loops(name: &str, head: &str, workgroup: u32, vars: Vec<VarDecl>, body: Vec<Stmt>) -> LoopIr {
    let facts = Buffer {
        name: "facts".into(),
        access: Access::ReadWrite,
        elem: Type::U32,
        width: 1,
        tensor: "facts".into(),
        part: 0,
    };
    let head = vec![format!("{name}: {head}")];
    LoopIr { name: name.into(), head, workgroup, buffers: vec![facts], vars, body, ..LoopIr::default() }
}

fn probe(workgroup: u32) -> LoopIr {
    let u32_value = |name: &str| VarDecl { name: name.into(), kind: Kind::Value(Ty { elem: Type::U32, width: 1 }) };
    let boxed = |e: Expr| Box::new(e);
    let binary = |op, a, b| Expr::Binary(op, boxed(a), boxed(b));
    let local = || Expr::Builtin(Builtin::LocalIndex);
    let (place, neighbour) = (Var(0), Var(1));
    let invocation =
        binary(Binary::Add, binary(Binary::Mul, Expr::Builtin(Builtin::WorkgroupX), Expr::U32(workgroup)), local());
    let at = |i| binary(Binary::Add, Expr::Var(place), Expr::U32(i));
    let vars = vec![u32_value("place"), u32_value("neighbour")];
    let body = vec![
        Stmt::Let(place, binary(Binary::Mul, invocation, Expr::U32(FACTS))),
        Stmt::Let(neighbour, Expr::ShuffleXor(boxed(local()), boxed(Expr::U32(1)))),
        Stmt::Store(0, at(0), Expr::Builtin(Builtin::SubgroupSize)),
        Stmt::Store(0, at(1), Expr::Builtin(Builtin::SubgroupInvocation)),
        Stmt::Store(0, at(2), Expr::Var(neighbour)),
    ];
    loops("subgroup_probe", &format!("{workgroup} invocations"), workgroup, vars, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNOUNCED: Subgroups = Subgroups { min: 8, max: 8 };

    fn plain(workgroup: u32, size: u32) -> Vec<u32> {
        (0..workgroup).flat_map(|i| [size, i % size, i ^ 1]).collect()
    }

    #[test]
    fn a_plain_mapping_passes() {
        assert_eq!(oddity(&plain(32, 8), 32, ANNOUNCED), None);
    }

    #[test]
    fn each_oddity_is_named() {
        let mut swapped = plain(32, 8);
        swapped.swap(1, 4);
        assert!(oddity(&swapped, 32, ANNOUNCED).unwrap().contains("invocation 0 of 32 is number 1"));
        assert!(oddity(&plain(32, 16), 32, ANNOUNCED).unwrap().contains("have 16 invocations"));
        let mut shuffled = plain(32, 8);
        shuffled[3 * 5 + 2] = 5;
        assert!(oddity(&shuffled, 32, ANNOUNCED).unwrap().contains("invocation 5 of 32 the value of 5"));
    }
}
