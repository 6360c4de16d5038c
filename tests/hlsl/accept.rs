//! What DXC must say of every text: it is right as DXIL under wgpu's root signature, it is right as SPIR-V, and in neither may
//! a driver round otherwise than written.

use std::collections::HashSet;
use tilewright_codegen::hlsl::{ENTRY, Registers, print};
use tilewright_codegen::loops::LoopIr;
use tilewright_runtime::Dxc;

/// Checks the HLSL of a shader as DXIL.
pub fn dxil(dxc: &Dxc, ir: &LoopIr) {
    let text = print(ir);
    let container = dxc.dxil(&text, ENTRY, Registers::of(ir)).unwrap_or_else(|e| panic!("as DXIL: {e}\n{text}"));
    let listing = dxc.disassemble(&container).unwrap_or_else(|e| panic!("{e}"));
    let loose: Vec<&str> = listing.lines().filter(|line| free(line)).collect();
    assert!(loose.is_empty(), "a driver may round these otherwise:\n{}\n{text}", loose.join("\n"));
}

/// An instruction with leave to be reordered or contracted: arithmetic marked `fast`, or a multiply-add that is not `precise`.
fn free(line: &str) -> bool {
    let arithmetic = ["fadd", "fsub", "fmul", "fdiv", "frem", "fcmp"];
    let fast = arithmetic.iter().any(|op| line.contains(&format!(" = {op} fast ")));
    fast || (line.contains("; FMad(") && !line.contains("!dx.precise"))
}

/// Checks the HLSL of a shader as SPIR-V.
pub fn spirv(dxc: &Dxc, ir: &LoopIr) {
    let text = print(ir);
    let words = dxc.spirv(&text, ENTRY, Registers::of(ir)).unwrap_or_else(|e| panic!("as SPIR-V: {e}\n{text}"));
    let loose = contractible(&words);
    assert_eq!(loose, 0, "a driver may contract {loose} operations of:\n{text}");
}

/// Operations of f32 arithmetic without the decoration `NoContraction` (SPIR-V 1.3, section 3.20, number 42).
fn contractible(words: &[u32]) -> usize {
    const DECORATE: u32 = 71;
    const NO_CONTRACTION: u32 = 42;
    const EXTENDED: u32 = 12;
    const EXTENDED_FMA: u32 = 50;
    // OpFNegate, OpFAdd, OpFSub, OpFMul, OpFDiv, OpFRem, OpFMod.
    const ARITHMETIC: [u32; 7] = [127, 129, 131, 133, 136, 140, 141];
    let (mut exact, mut results) = (HashSet::new(), Vec::new());
    let mut rest = &words[5..];
    while let Some(head) = rest.first() {
        let (op, long) = (head & 0xffff, (head >> 16) as usize);
        match op {
            DECORATE if rest[2] == NO_CONTRACTION => drop(exact.insert(rest[1])),
            EXTENDED if rest[4] == EXTENDED_FMA => results.push(rest[2]),
            _ if ARITHMETIC.contains(&op) => results.push(rest[2]),
            _ => {}
        }
        rest = &rest[long.max(1)..];
    }
    results.into_iter().filter(|id| !exact.contains(id)).count()
}

#[test]
fn a_text_without_precise_is_found_out() {
    let Some(dxc) = crate::at_hand::dxc() else { return };
    let registers = Registers { read: 1, write: 1, uniform: 0 };
    let text = |precise: &str| {
        format!(
            "ByteAddressBuffer x : register(t0);\nRWByteAddressBuffer y : register(u0);\n[{}(1, 1, 1)]\nvoid main() {{\n    \
             {precise}float a = mad(asfloat(x.Load(0u)), 3.0f, 1.0f) * 2.0f + 0.5f;\n    y.Store(0u, asuint(a));\n}}\n",
            concat!("num", "threads")
        )
    };
    let found = |precise: &str| {
        let text = text(precise);
        let listing = dxc.disassemble(&dxc.dxil(&text, ENTRY, registers).unwrap()).unwrap();
        let spirv = contractible(&dxc.spirv(&text, ENTRY, registers).unwrap());
        (listing.lines().filter(|line| free(line)).count() > 0, spirv > 0)
    };
    assert_eq!((found(""), found("precise ")), ((true, true), (false, false)));
}
