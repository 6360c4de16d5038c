//! Every sample prints as HLSL with the registers that a host binds; its text is a snapshot. What DXC says of it is tested where DXC is.
#![allow(missing_docs, reason = "a test")]

mod samples;

use samples::*;
use tilewright_codegen::hlsl::{Registers, print};
use tilewright_codegen::loops::*;
use tilewright_dsl::ir::{Binary, Type};

#[test]
fn samples_read_well() {
    insta::assert_snapshot!("gemv_tree.hlsl", print(&gemv_tree().ir));
    insta::assert_snapshot!("gemv_subgroup.hlsl", print(&gemv_subgroup().ir));
    insta::assert_snapshot!("tiled.hlsl", print(&tiled().ir));
    insta::assert_snapshot!("half.hlsl", print(&half().ir));
}

#[test]
fn registers_and_root_signature_follow_the_bindings() {
    let mut b = Build::new("copy", 1);
    let x = b.buffer("x", Access::Read, Type::F32, 4);
    b.buffer("w", Access::Read, Type::U32, 1);
    let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
    b.push(Stmt::Store(
        y,
        u(3),
        Expr::Component(Box::new(Expr::Load { buffer: x, index: Box::new(u(2)), width: 4 }), 1),
    ));
    let ir = b.finish();
    let registers = Registers::of(&ir);
    assert_eq!(registers, Registers { read: 2, write: 1, uniform: 0 });
    assert_eq!(
        registers.root_signature(),
        "RootFlags(ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT), DescriptorTable(SRV(t0), SRV(t1), UAV(u0)), \
         RootConstants(num32BitConstants=3, b0)"
    );
    let text = print(&ir);
    for line in [
        "ByteAddressBuffer x : register(t0);",
        "ByteAddressBuffer w : register(t1);",
        "RWByteAddressBuffer y : register(u0);",
        "void main() {",
        "    y.Store(12u, asuint(asfloat(x.Load4(32u)).y));",
    ] {
        assert!(text.lines().any(|l| l == line), "no line `{line}` in\n{text}");
    }
}

#[test]
fn a_comment_never_swallows_the_next_line() {
    let mut b = Build::new("k", 1);
    let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
    b.push(Stmt::Comment("a path\\ \\\\".into()));
    b.push(Stmt::Store(y, u(0), bin(Binary::Add, f(1.0), f(2.0))));
    let text = print(&b.finish());
    assert!(
        text.contains("    // a path\n    precise float value = 1.0f + 2.0f;\n    y.Store(0u, asuint(value));\n"),
        "{text}"
    );
}
