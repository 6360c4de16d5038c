//! Tensors that a kernel writes in f16: whole words by one invocation each, the values of `eval` rounded to f16.
#![allow(missing_docs, reason = "a test")]

use std::collections::BTreeMap;
use tilewright_codegen::error::ScheduleError;
use tilewright_codegen::interp::{InterpError, run};
use tilewright_codegen::loops::{Expr, LoopIr, Stmt};
use tilewright_codegen::program::Program;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, compile};
use tilewright_dsl::eval::{Data, Value, eval};
use tilewright_dsl::ir::{Binary, Kernel};
use tilewright_dsl::kernel;
use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_dsl::storage::{decode, encode, stride};

/// Both halves of a row from one body, as a rotary embedding has them.
#[kernel]
fn turn(x: Tensor<T, D>, y: Out<P, D>, pos: u32) {
    assert!(D % 2 == 0);
    for t in 0..T {
        for p in 0..D / 2 {
            y[pos + t][p] = x[t][p] * 0.3 - x[t][p + D / 2];
            y[pos + t][p + D / 2] = x[t][p] + x[t][p + D / 2] * 0.7;
        }
    }
}

const ROWS: u32 = 3;
const POS: u32 = 2;

fn schedule(levels: &str) -> Schedule {
    format!("schedule halves for turn {{ t: grid; p: {levels}; store y: f16; }}").parse().expect("it reads")
}

fn program(levels: &str, width: u32) -> Result<Program, Vec<ScheduleError>> {
    let shape = Shape::new().fixed("T", ROWS).fixed("D", width).fixed("P", 8);
    match compile(&turn(), &schedule(levels), &shape, &Target::webgpu()) {
        Ok(program) => Ok(program),
        Err(CompileError::Schedule { errors, .. }) => Err(errors),
        Err(bug) => panic!("{bug}"),
    }
}

fn numbers(n: u32) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as f32 * 0.013 - 0.6).collect()
}

/// What `eval` makes, rounded.
fn wanted(kernel: &Kernel, width: u32) -> Vec<f32> {
    let extents = BTreeMap::from([("T".into(), ROWS), ("D".into(), width), ("P".into(), 8)]);
    let scalars = BTreeMap::from([("pos".into(), Value::U32(POS))]);
    let mut tensors = BTreeMap::from([
        ("x".to_string(), Data::F32(numbers(ROWS * width))),
        ("y".to_string(), Data::F32(vec![7.0; 8 * width as usize])),
    ]);
    eval(kernel, &extents, &scalars, &mut tensors).expect("the reference runs");
    let Data::F32(y) = &tensors["y"] else { panic!("y holds numbers") };
    let words = encode(Storage::F16, 8, width, y).expect("the lengths agree").words;
    decode(Storage::F16, 8, width, &words).expect("the lengths agree")
}

fn found(program: &Program, loops: &LoopIr, width: u32) -> Result<Vec<f32>, InterpError> {
    let x = encode(Storage::F32, ROWS as usize, width, &numbers(ROWS * width)).expect("the lengths agree").words;
    let y = encode(Storage::F16, 8, width, &vec![7.0; 8 * width as usize]).expect("the lengths agree").words;
    let layout = program.tensors.iter().find(|t| t.name == "y").expect("it is written");
    assert_eq!((layout.storage, layout.stride), (Storage::F16, stride(Storage::F16, width)));
    assert_eq!(layout.part_bytes(0), y.len() as u64 * 4);
    let mut buffers = vec![x, y];
    let size = program.shaders[0].dispatch.each_ref().map(|n| n.eval(&BTreeMap::new()).expect("it is fixed"));
    let stats = run(loops, size, &[POS], &mut buffers, 4)?;
    assert!(stats.written[1].iter().all(|n| *n <= 1), "a word is written twice");
    Ok(decode(Storage::F16, 8, width, &buffers[1]).expect("the lengths agree"))
}

#[test]
fn pairs_are_written_as_words() {
    for levels in [
        "serial, unroll(2)",
        "grid, lanes(4), unroll(2)",
        "serial, lanes(2), vector(4)",
        "grid, unroll(2), lanes(2), unroll(2)",
    ] {
        for width in [4, 12, 16, 28, 40] {
            let program = program(levels, width).unwrap_or_else(|e| panic!("{levels} at {width}: {}", e[0]));
            let got = found(&program, &program.shaders[0].loops, width)
                .unwrap_or_else(|e| panic!("{levels} at {width}: {e}"));
            assert_eq!(got, wanted(&turn(), width), "{levels} at {width}");
        }
    }
}

#[test]
fn whoever_makes_one_column_owns_no_word() {
    for levels in ["serial", "grid, lanes(4)", "grid, unroll(3)", "unroll(2), lanes(8)"] {
        let errors = program(levels, 24).expect_err(levels);
        assert_eq!(errors.len(), 1, "{errors:?}");
        let help = errors[0].help(&schedule(levels)).join("");
        assert!(matches!(&errors[0], ScheduleError::HalfWord { tensor, axis, .. } if tensor == "y" && axis == "p"));
        assert!(help.contains("unroll(2)`"), "{help}");
    }
    // Three columns and three more: a word would hold one of each.
    let errors = program("serial, unroll(2)", 6).expect_err("half of a row is odd");
    assert!(matches!(&errors[0], ScheduleError::StorageNotPossible { .. }), "{errors:?}");
}

/// Every store of a shader, changed.
fn damaged(loops: &LoopIr, damage: &dyn Fn(&mut Expr, &mut Expr)) -> LoopIr {
    fn walk(body: &mut [Stmt], damage: &dyn Fn(&mut Expr, &mut Expr)) {
        for stmt in body {
            if let Stmt::Store(_, at, value) = stmt {
                damage(at, value);
            }
            stmt.blocks_mut().into_iter().for_each(|block| walk(block, damage));
        }
    }
    let mut loops = loops.clone();
    walk(&mut loops.body, damage);
    loops
}

#[test]
fn words_that_two_invocations_write_are_caught() {
    let (levels, width) = ("grid, lanes(4), unroll(2)", 16);
    let program = program(levels, width).expect("it applies");
    let loops = &program.shaders[0].loops;
    let shared = damaged(loops, &|at, _| {
        *at = Expr::Binary(Binary::Div, Box::new(at.clone()), Box::new(Expr::U32(2)));
    });
    assert!(matches!(found(&program, &shared, width), Err(InterpError::Race { .. })));
    let swapped = damaged(loops, &|_, value| {
        let halves = match value {
            Expr::PackF16(low, high) => Some(Expr::PackF16(high.clone(), low.clone())),
            _ => None,
        };
        if let Some(halves) = halves {
            *value = halves;
        }
    });
    assert_ne!(found(&program, &swapped, width).expect("it runs"), wanted(&turn(), width));
}
