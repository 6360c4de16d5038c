//! Every sample prints as WGSL that naga and, where it is installed, tint accept; its text is a snapshot.
#![allow(missing_docs, reason = "a test")]

mod samples;

use samples::*;
use std::process::Command;
use tilewright_codegen::loops::*;
use tilewright_codegen::target::Target;
use tilewright_codegen::wgsl::{Dialect, print};
use tilewright_codegen::{text, usage::uses_subgroups, validate::validate};
use tilewright_dsl::ir::{Binary, Type, Unary};

fn accepted(ir: &LoopIr) {
    let target = if uses_subgroups(ir) { Target::webgpu_subgroups() } else { Target::webgpu() };
    let native = print(ir, Dialect::Native);
    if let Err(message) = validate(&native, &target) {
        panic!("naga refuses {}:\n{message}\n{native}", ir.name);
    }
    let web = print(ir, Dialect::Web);
    let file = |name| std::env::temp_dir().join(format!("tilewright-{}-{name}-{}.wgsl", std::process::id(), ir.name));
    let (input, output) = (file("web"), file("out"));
    std::fs::write(&input, &web).expect("a temporary file");
    match Command::new("tint").arg(&input).args(["-f", "wgsl", "-o"]).arg(&output).output() {
        Ok(run) => {
            let message = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "tint refuses {}:\n{message}\n{web}", ir.name);
        }
        Err(e) => eprintln!("SKIPPED: tint is not on the PATH ({e}); the web dialect of {} is not checked", ir.name),
    }
    for file in [input, output] {
        // Whatever was not written needs no removal.
        let _ = std::fs::remove_file(file);
    }
}

#[test]
fn samples_are_accepted_and_read_well() {
    for sample in all() {
        accepted(&sample.ir);
    }
    insta::assert_snapshot!("gemv_tree.wgsl", print(&gemv_tree().ir, Dialect::Native));
    insta::assert_snapshot!("gemv_subgroup.web.wgsl", print(&gemv_subgroup().ir, Dialect::Web));
    insta::assert_snapshot!("tiled.wgsl", print(&tiled().ir, Dialect::Native));
    insta::assert_snapshot!("half.wgsl", print(&half().ir, Dialect::Native));
    insta::assert_snapshot!("tiled.loops", text::dump(&tiled().ir));
    insta::assert_snapshot!("half.loops", text::dump(&half().ir));
}

#[test]
fn a_shader_with_subgroups_is_refused_without_them() {
    let text = print(&gemv_subgroup().ir, Dialect::Native);
    let message = validate(&text, &Target::webgpu()).expect_err("the target has no subgroups");
    assert!(message.to_lowercase().contains("subgroup"), "{message}");
}

#[test]
fn every_operator_and_literal_is_accepted() {
    let mut b = Build::new("operators", 4);
    let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
    let (i, x) = (b.param("i", Type::U32), b.param("x", Type::F32));
    let mut n = 0;
    let mut store = |b: &mut Build, e: Expr| {
        b.push(Stmt::Store(y, u(n), e));
        n += 1;
    };
    let big = [f32::MIN, f32::MAX, 3.0e38, 1e38, 1e-38, 1e-45, 0.1, -0.0, 1e-6, 16_777_216.0, 1.0 / 3.0];
    for v in big {
        store(&mut b, f(v));
        store(&mut b, bin(Binary::Sub, x.clone(), f(-v)));
        store(&mut b, un(Unary::Neg, f(v)));
    }
    use Unary::*;
    for op in [Neg, Exp, Log, Sqrt, Rsqrt, Tanh, Abs, Floor, ToF32] {
        store(&mut b, un(op, x.clone()));
        store(&mut b, mul(un(op, add(x.clone(), f(1.0))), x.clone()));
    }
    let float = |e| un(ToF32, e);
    store(&mut b, float(un(Bits, x.clone())));
    store(&mut b, float(un(ToU32, x.clone())));
    let numeric = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Min, Binary::Max];
    let integer = [Binary::Rem, Binary::And, Binary::Or, Binary::Xor, Binary::Shl, Binary::Shr];
    let compare = [Binary::Eq, Binary::Ne, Binary::Lt, Binary::Le, Binary::Gt, Binary::Ge];
    for inner in numeric {
        for outer in numeric {
            store(&mut b, bin(outer, bin(inner, x.clone(), x.clone()), bin(inner, f(0.5), x.clone())));
        }
        for outer in compare {
            let cond = bin(outer, bin(inner, x.clone(), x.clone()), x.clone());
            let not = un(Not, bin(Binary::And, cond.clone(), bin(Binary::Or, cond.clone(), Expr::Bool(true))));
            store(&mut b, select(not.clone(), x.clone(), select(bin(Binary::Ne, cond, not), x.clone(), f(1.0))));
        }
    }
    for inner in integer.iter().chain(&numeric) {
        for outer in integer.iter().chain(&numeric) {
            let e = bin(*inner, i.clone(), add(i.clone(), u(3)));
            store(&mut b, float(bin(*outer, e.clone(), e)));
        }
        for outer in compare {
            let cond = bin(outer, bin(*inner, i.clone(), i.clone()), bin(*inner, i.clone(), i.clone()));
            store(&mut b, select(cond.clone(), f(1.0), f(2.0)));
            let bools = select(cond.clone(), cond.clone(), un(Not, cond));
            store(&mut b, select(bools, f(1.0), f(2.0)));
        }
    }
    accepted(&b.finish());
}
