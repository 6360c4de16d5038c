//! Loop IR written by hand: small programs of the shapes that lowering makes, with inputs and independently computed outputs.
#![allow(dead_code, missing_docs, reason = "each test binary uses a part of it")]

mod softmax;

pub use softmax::softmax;
use tilewright_codegen::loops::*;
use tilewright_dsl::ir::{Binary, Type, Unary};

pub const F: Ty = Ty { elem: Type::F32, width: 1 };
pub const F2: Ty = Ty { elem: Type::F32, width: 2 };
pub const F4: Ty = Ty { elem: Type::F32, width: 4 };
pub const U: Ty = Ty { elem: Type::U32, width: 1 };
pub const U4: Ty = Ty { elem: Type::U32, width: 4 };

/// A program with one dispatch: inputs, and which buffer must hold what afterwards.
pub struct Sample {
    pub ir: LoopIr,
    pub dispatch: [u32; 2],
    pub params: Vec<u32>,
    pub buffers: Vec<Vec<u32>>,
    /// Index of the output and its expected values.
    pub output: usize,
    pub expected: Vec<f32>,
    /// Subgroup sizes it is right for.
    pub sizes: Vec<u32>,
}

pub fn u(x: u32) -> Expr {
    Expr::U32(x)
}
pub fn f(x: f32) -> Expr {
    Expr::F32(x)
}
pub fn bin(op: Binary, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}
pub fn un(op: Unary, a: Expr) -> Expr {
    Expr::Unary(op, Box::new(a))
}
pub fn add(a: Expr, b: Expr) -> Expr {
    bin(Binary::Add, a, b)
}
pub fn mul(a: Expr, b: Expr) -> Expr {
    bin(Binary::Mul, a, b)
}
pub fn div(a: Expr, b: Expr) -> Expr {
    bin(Binary::Div, a, b)
}
pub fn rem(a: Expr, b: Expr) -> Expr {
    bin(Binary::Rem, a, b)
}
pub fn lt(a: Expr, b: Expr) -> Expr {
    bin(Binary::Lt, a, b)
}
pub fn fma(a: Expr, b: Expr, c: Expr) -> Expr {
    Expr::Fma(Box::new(a), Box::new(b), Box::new(c))
}
pub fn select(c: Expr, yes: Expr, no: Expr) -> Expr {
    Expr::Select(Box::new(c), Box::new(yes), Box::new(no))
}
pub fn load(buffer: usize, index: Expr, width: u8) -> Expr {
    Expr::Load { buffer, index: Box::new(index), width }
}
pub fn shared(array: usize, index: Expr) -> Expr {
    Expr::Shared(array, Box::new(index))
}
pub fn part(e: Expr, c: u8) -> Expr {
    Expr::Component(Box::new(e), c)
}
pub const LANE: Expr = Expr::Builtin(Builtin::LocalIndex);
pub const GROUP: Expr = Expr::Builtin(Builtin::WorkgroupX);
pub const GROUP_Y: Expr = Expr::Builtin(Builtin::WorkgroupY);

/// Grows a [`LoopIr`] statement by statement.
pub struct Build {
    pub ir: LoopIr,
    blocks: Vec<Vec<Stmt>>,
}

impl Build {
    pub fn new(name: &str, workgroup: u32) -> Build {
        let ir = LoopIr { name: name.into(), workgroup, head: vec![format!("{name}: by hand")], ..LoopIr::default() };
        Build { ir, blocks: vec![vec![]] }
    }
    pub fn buffer(&mut self, name: &str, access: Access, elem: Type, width: u8) -> usize {
        let (name, tensor) = (name.to_owned(), name.to_owned());
        self.ir.buffers.push(Buffer { name, access, elem, width, tensor, part: 0 });
        self.ir.buffers.len() - 1
    }
    pub fn shared(&mut self, name: &str, elem: Type, len: u32) -> usize {
        self.ir.shared.push(Shared { name: name.into(), elem, len, narrow: false });
        self.ir.shared.len() - 1
    }
    pub fn param(&mut self, name: &str, ty: Type) -> Expr {
        self.ir.params.push(Param { name: name.into(), ty });
        Expr::Param(self.ir.params.len() - 1)
    }
    pub fn var(&mut self, name: &str, kind: Kind) -> Var {
        self.ir.vars.push(VarDecl { name: name.into(), kind });
        Var(self.ir.vars.len() as u32 - 1)
    }
    pub fn push(&mut self, s: Stmt) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(s);
        }
    }
    pub fn let_(&mut self, name: &str, ty: Ty, e: Expr) -> Expr {
        let v = self.var(name, Kind::Value(ty));
        self.push(Stmt::Let(v, e));
        Expr::Var(v)
    }
    pub fn register(&mut self, name: &str, ty: Ty, e: Expr) -> Var {
        let v = self.var(name, Kind::Value(ty));
        self.push(Stmt::Declare(v, e));
        v
    }
    pub fn array(&mut self, name: &str, elem: Type, len: u32) -> Var {
        let v = self.var(name, Kind::Array(elem, len));
        self.push(Stmt::DeclareArray(v));
        v
    }
    pub fn assign(&mut self, v: Var, e: Expr) {
        self.push(Stmt::Assign(v, e));
    }
    fn nested(&mut self, body: impl FnOnce(&mut Build)) -> Vec<Stmt> {
        self.blocks.push(vec![]);
        body(self);
        self.blocks.pop().unwrap_or_default()
    }
    pub fn for_(&mut self, name: &str, start: Expr, end: Expr, step: Expr, body: impl FnOnce(&mut Build, Expr)) {
        let var = self.var(name, Kind::Value(U));
        let body = self.nested(|b| body(b, Expr::Var(var)));
        self.push(Stmt::For { var, start, end, step, body });
    }
    pub fn if_(&mut self, cond: Expr, body: impl FnOnce(&mut Build)) {
        let body = self.nested(body);
        self.push(Stmt::If(cond, body, vec![]));
    }
    pub fn finish(mut self) -> LoopIr {
        self.ir.body = self.blocks.pop().unwrap_or_default();
        self.ir
    }
}

/// Reproducible values in [-1, 1), all different from zero.
pub fn values(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 40) as f32 + 0.5) / (1u32 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

pub fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>() as f32
}

pub fn all() -> Vec<Sample> {
    vec![naive(), gemv_tree(), gemv_subgroup(), tiled(), half(), softmax()]
}

/// y = A Bᵀ by fragments of 8 × 8: a subgroup of 4 for each half of 16 rows, 16 of k in two steps.
pub fn fragments() -> Sample {
    let mut b = Build::new("fragments", 8);
    let left = b.buffer("a", Access::Read, Type::F32, 4);
    let right = b.buffer("b", Access::Read, Type::F32, 4);
    let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
    // Rows of 8 and of padding: three groups of four.
    let tiles = [("a_tile", 16), ("b_tile", 8)].map(|(name, rows)| {
        let array = b.shared(name, Type::F32, rows * 12);
        b.ir.shared[array].narrow = true;
        array
    });
    let sums = b.shared("sums", Type::F32, 128);
    let [sum, a, c] = [("sum", Side::Sum), ("left", Side::Left), ("right", Side::Right)]
        .map(|(name, side)| b.var(name, Kind::Fragment(side, 8)));
    b.push(Stmt::DeclareFragment(sum));
    b.for_("step", u(0), u(2), u(1), |b, step| {
        b.push(Stmt::Barrier);
        for (tile, buffer, rows) in [(tiles[0], left, 16), (tiles[1], right, 8)] {
            b.for_("i", LANE, u(rows * 2), u(8), |b, i| {
                let (row, group) = (div(i.clone(), u(2)), rem(i, u(2)));
                let from = add(add(mul(row.clone(), u(4)), mul(step.clone(), u(2))), group.clone());
                let four = b.let_("four", F4, load(buffer, from, 4));
                let four = Box::new([0, 1, 2, 3].map(|i| part(four.clone(), i)));
                b.push(Stmt::StoreNarrow(tile, add(mul(row, u(3)), group), four));
            });
        }
        b.push(Stmt::Barrier);
        let half = mul(div(LANE, u(4)), u(24));
        b.push(Stmt::LoadFragment(a, Place { array: tiles[0], index: half, stride: 3 }));
        b.push(Stmt::LoadFragment(c, Place { array: tiles[1], index: u(0), stride: 3 }));
        b.push(Stmt::MultiplyAdd(sum, a, c));
    });
    b.push(Stmt::StoreFragment(sum, Place { array: sums, index: mul(div(LANE, u(4)), u(64)), stride: 8 }));
    b.push(Stmt::Barrier);
    b.for_("i", LANE, u(128), u(8), |b, i| b.push(Stmt::Store(y, i.clone(), shared(sums, i))));
    // Numbers that f16 holds.
    let coarse = |seed, n| values(seed, n).into_iter().map(|x| (x * 64.0).round() / 64.0).collect::<Vec<f32>>();
    let (av, bv) = (coarse(21, 256), coarse(22, 128));
    let expected = (0..128).map(|i| dot(&av[i / 8 * 16..][..16], &bv[i % 8 * 16..][..16])).collect();
    Sample {
        ir: b.finish(),
        dispatch: [1, 1],
        params: vec![],
        buffers: vec![bits(&av), bits(&bv), vec![0; 128]],
        output: y,
        expected,
        sizes: vec![4],
    }
}

/// y = W x, one invocation an output, a guard, run-time rows, a bias by scalar: 37 rows of 12.
pub fn naive() -> Sample {
    let (rows, k) = (37, 12);
    let mut b = Build::new("naive", 16);
    let w = b.buffer("w", Access::Read, Type::F32, 1);
    let x = b.buffer("x", Access::Read, Type::F32, 1);
    let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
    let n = b.param("n", Type::U32);
    let bias = b.param("bias", Type::F32);
    let r = b.let_("r", U, add(mul(GROUP, u(16)), LANE));
    b.if_(lt(r.clone(), n), |b| {
        let sum = b.register("sum", F, bias);
        b.for_("k", u(0), u(k), u(1), |b, kk| {
            let a = load(w, add(mul(r.clone(), u(k)), kk.clone()), 1);
            b.assign(sum, fma(a, load(x, kk, 1), Expr::Var(sum)));
        });
        b.push(Stmt::Store(y, r.clone(), Expr::Var(sum)));
    });
    let (wv, xv) = (values(1, rows * k as usize), values(2, k as usize));
    let expected = wv.chunks(k as usize).map(|row| dot(row, &xv) + 0.25).collect();
    Sample {
        ir: b.finish(),
        dispatch: [3, 1],
        params: vec![rows as u32, 0.25f32.to_bits()],
        buffers: vec![bits(&wv), bits(&xv), vec![0; rows]],
        output: 2,
        expected,
        sizes: vec![1, 8],
    }
}

/// y = W x: two rows a workgroup of 64, 32 lanes a row, vectors of 4, partial sums folded by a tree. 10 rows of 384.
pub fn gemv_tree() -> Sample {
    let (rows, k) = (10usize, 384usize);
    let mut b = Build::new("linear", 64);
    let w = b.buffer("w", Access::Read, Type::F32, 4);
    let x = b.buffer("x", Access::Read, Type::F32, 4);
    let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
    let partial = b.shared("partial", Type::F32, 64);
    let r = b.let_("r", U, add(mul(GROUP, u(2)), div(LANE, u(32))));
    let lane = b.let_("k_lane", U, rem(LANE, u(32)));
    let sum = b.register("sum", F, f(0.0));
    b.for_("k", u(0), u(k as u32 / 128), u(1), |b, kk| {
        let i = b.let_("i", U, add(mul(kk, u(32)), lane.clone()));
        let a = b.let_("a", F4, load(w, add(mul(r.clone(), u(k as u32 / 4)), i.clone()), 4));
        let v = b.let_("v", F4, load(x, i, 4));
        for c in 0..4 {
            b.assign(sum, fma(part(a.clone(), c), part(v.clone(), c), Expr::Var(sum)));
        }
    });
    b.push(Stmt::StoreShared(partial, LANE, Expr::Var(sum)));
    b.push(Stmt::Barrier);
    for half in [16, 8, 4, 2, 1] {
        b.if_(lt(lane.clone(), u(half)), |b| {
            let both = add(shared(partial, LANE), shared(partial, add(LANE, u(half))));
            b.push(Stmt::StoreShared(partial, LANE, both));
        });
        // Behind the last step each row's first invocation reads only what it wrote.
        if half > 1 {
            b.push(Stmt::Barrier);
        }
    }
    b.if_(bin(Binary::Eq, lane, u(0)), |b| b.push(Stmt::Store(y, r, shared(partial, LANE))));
    let (wv, xv) = (values(3, rows * k), values(4, k));
    let expected = wv.chunks(k).map(|row| dot(row, &xv)).collect();
    Sample {
        ir: b.finish(),
        dispatch: [5, 1],
        params: vec![],
        buffers: vec![bits(&wv), bits(&xv), vec![0; rows]],
        output: 2,
        expected,
        sizes: vec![1, 8],
    }
}

/// y = W x: a row a workgroup of 32, folded by xor-shuffles within min(32, size), then by the first invocation.
pub fn gemv_subgroup() -> Sample {
    let (rows, k) = (5usize, 96usize);
    let mut b = Build::new("linear", 32);
    let w = b.buffer("w", Access::Read, Type::F32, 1);
    let x = b.buffer("x", Access::Read, Type::F32, 1);
    let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
    let partial = b.shared("partial", Type::F32, 32);
    let size = Expr::Builtin(Builtin::SubgroupSize);
    let sum = b.register("sum", F, f(0.0));
    b.for_("k", LANE, u(k as u32), u(32), |b, kk| {
        let a = load(w, add(mul(GROUP, u(k as u32)), kk.clone()), 1);
        b.assign(sum, fma(a, load(x, kk, 1), Expr::Var(sum)));
    });
    for mask in [1, 2, 4, 8, 16] {
        let fold = |b: &mut Build| {
            let other = Expr::ShuffleXor(Box::new(Expr::Var(sum)), Box::new(u(mask)));
            b.assign(sum, add(Expr::Var(sum), other));
        };
        // Every subgroup has four invocations at least.
        if mask < 4 { fold(&mut b) } else { b.if_(bin(Binary::Gt, size.clone(), u(mask)), fold) }
    }
    b.if_(bin(Binary::Eq, Expr::Builtin(Builtin::SubgroupInvocation), u(0)), |b| {
        b.push(Stmt::StoreShared(partial, div(LANE, size.clone()), Expr::Var(sum)));
    });
    b.push(Stmt::Barrier);
    b.if_(bin(Binary::Eq, LANE, u(0)), |b| {
        let total = b.register("total", F, f(0.0));
        let parts = div(add(u(31), size.clone()), size.clone());
        b.for_("p", u(0), parts, u(1), |b, p| b.assign(total, add(Expr::Var(total), shared(partial, p))));
        b.push(Stmt::Store(y, GROUP, Expr::Var(total)));
    });
    let (wv, xv) = (values(5, rows * k), values(6, k));
    let expected = wv.chunks(k).map(|row| dot(row, &xv)).collect();
    Sample {
        ir: b.finish(),
        dispatch: [rows as u32, 1],
        params: vec![],
        buffers: vec![bits(&wv), bits(&xv), vec![0; rows]],
        output: 2,
        expected,
        sizes: vec![4, 8, 16, 32, 64, 128],
    }
}

/// C = A Bᵀ in 8 × 8 tiles, 4 of k at a time through workgroup memory, 2 × 2 a register tile: 19 × 13, k = 20.
pub fn tiled() -> Sample {
    let (m, n, k) = (19usize, 13usize, 20usize);
    let mut b = Build::new("tiled", 16);
    let a = b.buffer("a", Access::Read, Type::F32, 1);
    let w = b.buffer("b", Access::Read, Type::F32, 1);
    let y = b.buffer("c", Access::ReadWrite, Type::F32, 1);
    let (rows, cols) = (b.param("m", Type::U32), b.param("n", Type::U32));
    let tile_a = b.shared("tile_a", Type::F32, 32);
    let tile_b = b.shared("tile_b", Type::F32, 32);
    let row = b.let_("row", U, add(mul(GROUP_Y, u(8)), mul(div(LANE, u(4)), u(2))));
    let col = b.let_("col", U, add(mul(GROUP, u(8)), mul(rem(LANE, u(4)), u(2))));
    let acc = b.array("acc", Type::F32, 4);
    b.for_("ko", u(0), u(k as u32), u(4), |b, ko| {
        b.for_("e", LANE, u(32), u(16), |b, e| {
            let (r, c) = (div(e.clone(), u(4)), add(ko.clone(), rem(e.clone(), u(4))));
            for (tile, buffer, group, limit) in [(tile_a, a, GROUP_Y, &rows), (tile_b, w, GROUP, &cols)] {
                let i = b.let_("i", U, add(mul(group, u(8)), r.clone()));
                let last = bin(Binary::Sub, limit.clone(), u(1));
                let safe = bin(Binary::Min, i.clone(), last);
                let value = load(buffer, add(mul(safe, u(k as u32)), c.clone()), 1);
                let value = select(lt(i, limit.clone()), value, f(0.0));
                b.push(Stmt::StoreShared(tile, e.clone(), value));
            }
        });
        b.push(Stmt::Barrier);
        b.for_("ki", u(0), u(4), u(1), |b, ki| {
            for i in 0..4 {
                let ra = add(mul(div(LANE, u(4)), u(2)), u(i / 2));
                let rb = add(mul(rem(LANE, u(4)), u(2)), u(i % 2));
                let va = shared(tile_a, add(mul(ra, u(4)), ki.clone()));
                let vb = shared(tile_b, add(mul(rb, u(4)), ki.clone()));
                b.push(Stmt::SetElement(acc, u(i), fma(va, vb, Expr::Element(acc, Box::new(u(i))))));
            }
        });
        b.push(Stmt::Barrier);
    });
    for i in 0..4 {
        let (r, c) = (add(row.clone(), u(i / 2)), add(col.clone(), u(i % 2)));
        let inside = bin(Binary::And, lt(r.clone(), rows.clone()), lt(c.clone(), cols.clone()));
        b.if_(inside, |b| {
            let value = Expr::Element(acc, Box::new(u(i)));
            b.push(Stmt::Store(y, add(mul(r, cols.clone()), c), value));
        });
    }
    let (av, bv) = (values(7, m * k), values(8, n * k));
    let expected = av.chunks(k).flat_map(|x| bv.chunks(k).map(|y| dot(x, y)).collect::<Vec<_>>()).collect();
    Sample {
        ir: b.finish(),
        dispatch: [2, 3],
        params: vec![m as u32, n as u32],
        buffers: vec![bits(&av), bits(&bv), vec![0; m * n]],
        output: 2,
        expected,
        sizes: vec![1, 8],
    }
}

/// y = W x with W in f16, two a word, 128-bit loads, and x in bf16: 6 rows of 32. The loads split 4 and 2 and 1 words.
pub fn half() -> Sample {
    let (rows, k) = (6usize, 32usize);
    let mut b = Build::new("half", 8);
    let w = b.buffer("w", Access::Read, Type::U32, 4);
    let x = b.buffer("x", Access::Read, Type::U32, 4);
    let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
    b.if_(lt(LANE, u(rows as u32)), |b| {
        let sum = b.register("sum", F, f(0.0));
        b.for_("k", u(0), u(k as u32 / 8), u(1), |b, kk| {
            let words = b.let_("words", U4, load(w, add(mul(LANE, u(k as u32 / 8)), kk.clone()), 4));
            for c in 0..4u8 {
                let pair = b.let_("pair", F2, Expr::UnpackF16(Box::new(part(words.clone(), c))));
                let at = add(mul(kk.clone(), u(4)), u(c.into()));
                let word = if c < 2 {
                    load(x, at, 1)
                } else {
                    let two = load(x, add(mul(kk.clone(), u(2)), u(1)), 2);
                    part(two, c - 2)
                };
                let word = b.let_("word", U, word);
                let low = Expr::FromBits(Box::new(bin(Binary::Shl, word.clone(), u(16))));
                let high = Expr::FromBits(Box::new(bin(Binary::And, word, u(0xffff_0000))));
                b.assign(sum, fma(part(pair.clone(), 0), low, Expr::Var(sum)));
                b.assign(sum, fma(part(pair, 1), high, Expr::Var(sum)));
            }
        });
        b.push(Stmt::Store(y, LANE, Expr::Var(sum)));
    });
    // Quarters are exact in f16 and bf16, so that the sum does not depend on the conversion.
    let quarters = |seed, n| -> Vec<f32> { values(seed, n).iter().map(|v| (v * 8.0).round() / 4.0).collect() };
    let (wv, xv) = (quarters(9, rows * k), quarters(10, k));
    let expected = wv.chunks(k).map(|row| dot(row, &xv)).collect();
    let f16 = |v: &[f32]| u32::from(small_f16(v[0])) | u32::from(small_f16(v[1])) << 16;
    let bf16 = |v: &[f32]| v[0].to_bits() >> 16 | v[1].to_bits() & 0xffff_0000;
    Sample {
        ir: b.finish(),
        dispatch: [1, 1],
        params: vec![],
        buffers: vec![wv.chunks(2).map(f16).collect(), xv.chunks(2).map(bf16).collect(), vec![0; rows]],
        output: 2,
        expected,
        sizes: vec![1, 8],
    }
}

/// The f16 bits of a value that f16 holds exactly and normally, or zero.
fn small_f16(v: f32) -> u16 {
    let bits = v.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    if v == 0.0 {
        sign
    } else {
        sign | (((bits >> 23) as i32 - 127 + 15) << 10) as u16 & 0x7c00 | (bits >> 13 & 0x3ff) as u16
    }
}
