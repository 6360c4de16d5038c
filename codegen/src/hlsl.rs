//! HLSL's spellings for the shared printer: one text for Direct3D 12 and, through DXC's SPIR-V, for Vulkan.
//!
//! Buffers are byte-address buffers, because a host binds storage as raw views; every access is a load or store of whole words
//! at a byte address. Registers follow the bindings, dense and by class: `t0..` read-only, `u0..` read-write, `b0` the
//! parameters; scalars alone, so that the block lies alike under each layout rule. The hard part is rounding: a compiler of
//! HLSL may contract and reorder whatever is not `precise`, so each result of float arithmetic is a `precise` local (`named`
//! makes them) and multiply-accumulate an explicit `mad`. Absent: 16-bit types; halves are unpacked from words. Direct3D HLSL
//! reference, shader model 6.0.

use crate::loops::{Access, Builtin, Expr, LoopIr, Stmt, Ty, Var};
use crate::named::{named, rounds};
use crate::names::{LOCAL_INDEX, Names, PARAMS, PARAMS_TYPE, WORKGROUP, nth};
use crate::precedence::{Piece, infix};
use crate::printer::{self, Language, Printer, call, prefix_or_call};
use crate::usage::uses_fragments;
use tilewright_dsl::ir::{Binary, Type, Unary};

/// The entry point of every shader.
pub const ENTRY: &str = "main";

const INEXPRESSIBLE: &str = "HLSL of shader model 6 has no cooperative matrices";

/// Why a shader has no HLSL, if it has none; [`print()`] then gives a text that no compiler takes.
pub fn inexpressible(ir: &LoopIr) -> Option<&'static str> {
    uses_fragments(ir).then_some(INEXPRESSIBLE)
}

/// The text of a shader.
pub fn print(ir: &LoopIr) -> String {
    let ir = named(ir);
    printer::print(&ir, Names::hlsl(&ir), Hlsl)
}

/// Registers that a shader uses of each class, all from 0 and in space 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Registers {
    /// `t`: read-only buffers.
    pub read: u32,
    /// `u`: read-write buffers.
    pub write: u32,
    /// `b`: the parameter block, 0 or 1.
    pub uniform: u32,
}

impl Registers {
    /// Those of a shader.
    pub fn of(ir: &LoopIr) -> Registers {
        let read = ir.buffers.iter().filter(|b| b.access == Access::Read).count() as u32;
        Registers { read, write: ir.buffers.len() as u32 - read, uniform: u32::from(!ir.params.is_empty()) }
    }

    /// The root signature that wgpu 30 builds for these bindings in one group: a table in their order, and three words of its
    /// own at the next `b`.
    pub fn root_signature(self) -> String {
        let class = |letter: &'static str, n: u32| (0..n).map(move |i| format!("{letter}{i})"));
        let table = class("SRV(t", self.read).chain(class("UAV(u", self.write)).chain(class("CBV(b", self.uniform));
        let table = table.collect::<Vec<_>>().join(", ");
        let table = if table.is_empty() { table } else { format!("DescriptorTable({table}), ") };
        let own = format!("RootConstants(num32BitConstants=3, b{})", self.uniform);
        format!("RootFlags(ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT), {table}{own}")
    }
}

struct Hlsl;

impl Language for Hlsl {
    const BARRIER: &'static str = "GroupMemoryBarrierWithGroupSync();";
    const FROM_BITS: &'static str = "asfloat";
    const FMA: &'static str = "mad";

    fn head(p: &mut Printer<'_, Self>) {
        let ir = p.ir;
        for text in &ir.head {
            p.comment(0, text);
        }
        p.blank();
        bindings(p);
        p.line(0, &format!("[numthreads({}, 1, 1)]", ir.workgroup));
        let mut builtins = Vec::new();
        if p.used.builtin(Builtin::LocalIndex) {
            builtins.push(format!("uint {LOCAL_INDEX} : SV_GroupIndex"));
        }
        if p.used.builtin(Builtin::WorkgroupX) || p.used.builtin(Builtin::WorkgroupY) {
            builtins.push(format!("uint3 {WORKGROUP} : SV_GroupID"));
        }
        p.line(0, &format!("void {ENTRY}({}) {{", builtins.join(", ")));
    }

    fn define(p: &Printer<'_, Self>, v: Var, register: bool, value: &Expr) -> String {
        let of = p.ty(v);
        // What a register will hold is not known here, so every one of floats is.
        let precise = if rounds(p.ir, value) || (register && of.elem == Type::F32) { "precise " } else { "" };
        format!("{precise}{} {} = {};", ty(of), p.var(v), p.text(value))
    }

    fn bound(name: &str, value: &str) -> String {
        format!("uint {name} = {value};")
    }

    fn counter(name: &str, start: &str) -> String {
        format!("uint {name} = {start}")
    }

    fn array(name: &str, elem: Type, len: u32) -> String {
        let precise = if elem == Type::F32 { "precise " } else { "" };
        let elem = scalar(elem);
        format!("{precise}{elem} {name}[{len}] = ({elem}[{len}])0;")
    }

    fn branch(condition: &str) -> String {
        format!("if ({condition}) {{")
    }

    fn store(p: &Printer<'_, Self>, buffer: usize, index: &Expr, value: &Expr) -> String {
        let float = p.ir.buffers.get(buffer).is_some_and(|b| b.elem == Type::F32);
        let value = if float { call("asuint", vec![p.piece(value)]) } else { p.piece(value) };
        let address = p.piece(&bytes(index, 4));
        format!("{};", call(&format!("{}.Store", nth(&p.names.buffers, buffer)), vec![address, value]).text)
    }

    fn f32(x: f32) -> String {
        if x.is_finite() { format!("{x:?}f") } else { format!("asfloat({:#x}u)", x.to_bits()) }
    }

    fn builtin(b: Builtin) -> String {
        match b {
            Builtin::LocalIndex => LOCAL_INDEX.to_owned(),
            Builtin::WorkgroupX => format!("{WORKGROUP}.x"),
            Builtin::WorkgroupY => format!("{WORKGROUP}.y"),
            Builtin::SubgroupSize => "WaveGetLaneCount()".to_owned(),
            Builtin::SubgroupInvocation => "WaveGetLaneIndex()".to_owned(),
        }
    }

    fn load(p: &Printer<'_, Self>, buffer: usize, index: &Expr, width: u8) -> Piece {
        let many = if width == 1 { String::new() } else { width.to_string() };
        let load = format!("{}.Load{many}", nth(&p.names.buffers, buffer));
        let words = call(&load, vec![p.piece(&bytes(index, 4 * u32::from(width)))]);
        let float = p.ir.buffers.get(buffer).is_some_and(|b| b.elem == Type::F32);
        if float { call("asfloat", vec![words]) } else { words }
    }

    fn unary(op: Unary, a: Piece) -> Piece {
        prefix_or_call(
            Err(match op {
                Unary::Neg => return prefix_or_call(Ok('-'), a),
                Unary::Not => return prefix_or_call(Ok('!'), a),
                // The largest f32 below 2^32: what lies beyond a u32 ends at its last value, as WGSL says.
                Unary::ToU32 => {
                    return call(
                        "uint",
                        vec![call("clamp", vec![a, Piece::atom("0.0f"), Piece::atom("4294967040.0f")])],
                    );
                }
                Unary::Exp => "exp",
                Unary::Log => "log",
                Unary::Sqrt => "sqrt",
                Unary::Rsqrt => "rsqrt",
                Unary::Tanh => "tanh",
                Unary::Abs => "abs",
                Unary::Floor => "floor",
                Unary::Bits => "asuint",
                Unary::ToF32 => "float",
            }),
            a,
        )
    }

    fn select(cond: Piece, yes: Piece, no: Piece) -> Piece {
        Piece::conditional(cond, yes, no)
    }

    fn unpack_f16(word: Piece) -> Piece {
        let high = infix(Binary::Shr, false, word.clone(), Piece::atom("16u"));
        call("float2", vec![call("f16tof32", vec![word]), call("f16tof32", vec![high])])
    }

    fn pack_f16(low: Piece, high: Piece) -> Piece {
        let high = infix(Binary::Shl, false, call("f32tof16", vec![high]), Piece::atom("16u"));
        infix(Binary::Or, false, call("f32tof16", vec![low]), high)
    }

    fn fragments(_: &Printer<'_, Self>, _: &Stmt) -> String {
        format!("#error {INEXPRESSIBLE}")
    }

    fn shuffle_xor(a: Piece, mask: Piece) -> Piece {
        let from = infix(Binary::Xor, false, Piece::atom("WaveGetLaneIndex()"), mask);
        call("WaveReadLaneAt", vec![a, from])
    }
}

fn bindings(p: &mut Printer<'_, Hlsl>) {
    let ir = p.ir;
    if !ir.params.is_empty() {
        p.line(0, &format!("struct {PARAMS_TYPE} {{"));
        for (i, param) in ir.params.iter().enumerate() {
            let field = format!("{} {};", scalar(param.ty), p.names.params[i]);
            p.line(1, &field);
        }
        p.line(0, "};\n");
    }
    let (mut read, mut write) = (0, 0);
    for (i, b) in ir.buffers.iter().enumerate() {
        let (class, letter, next) = match b.access {
            Access::Read => ("ByteAddressBuffer", 't', &mut read),
            Access::ReadWrite => ("RWByteAddressBuffer", 'u', &mut write),
        };
        let text = format!("{class} {} : register({letter}{next});", p.names.buffers[i]);
        *next += 1;
        p.line(0, &text);
    }
    if !ir.params.is_empty() {
        p.line(0, &format!("ConstantBuffer<{PARAMS_TYPE}> {PARAMS} : register(b0);"));
    }
    for (i, s) in ir.shared.iter().enumerate() {
        let text = format!("groupshared {} {}[{}];", scalar(s.elem), p.names.shared[i], s.len);
        p.line(0, &text);
    }
    if !(ir.buffers.is_empty() && ir.shared.is_empty()) {
        p.blank();
    }
}

/// The byte address of element `index`, of `size` bytes each. Buffers are smaller than 4 GiB, so that nothing wraps.
fn bytes(index: &Expr, size: u32) -> Expr {
    let times = |x: &Expr, n: u32| Expr::Binary(Binary::Mul, Box::new(x.clone()), Box::new(Expr::U32(n)));
    match index {
        Expr::U32(x) => Expr::U32(x.wrapping_mul(size)),
        Expr::Binary(Binary::Mul, a, b) => match (&**a, &**b) {
            (x, Expr::U32(c)) | (Expr::U32(c), x) => match c.checked_mul(size) {
                Some(n) => times(x, n),
                None => times(index, size),
            },
            _ => times(index, size),
        },
        _ => times(index, size),
    }
}

fn scalar(elem: Type) -> &'static str {
    match elem {
        Type::F32 => "float",
        Type::U32 => "uint",
        Type::Bool => "bool",
    }
}

fn ty(t: Ty) -> String {
    if t.width == 1 { scalar(t.elem).into() } else { format!("{}{}", scalar(t.elem), t.width) }
}
