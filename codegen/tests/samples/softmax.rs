//! A row of softmax, as lowering would make it.

use super::*;

/// y = exp(x - max) / sum(exp(x - max)) + max, in place, so that a wrong maximum shows: a workgroup of 8 a row, maximum and sum
/// by trees: 8 rows of 21.
pub fn softmax() -> Sample {
    let (rows, n) = (8usize, 21usize);
    let mut b = Build::new("softmax", 8);
    let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
    let partial = b.shared("max", Type::F32, 8);
    let at = |i: Expr| add(mul(GROUP, u(n as u32)), i);
    let fold = |b: &mut Build, v: Var, op: Binary| {
        b.push(Stmt::StoreShared(partial, LANE, Expr::Var(v)));
        b.push(Stmt::Barrier);
        for half in [4, 2, 1] {
            b.if_(lt(LANE, u(half)), |b| {
                let both = bin(op, shared(partial, LANE), shared(partial, add(LANE, u(half))));
                b.push(Stmt::StoreShared(partial, LANE, both));
            });
            b.push(Stmt::Barrier);
        }
        b.let_("all", F, shared(partial, u(0)))
    };
    let m = b.register("max", F, f(f32::MIN));
    b.for_("i", LANE, u(n as u32), u(8), |b, i| b.assign(m, bin(Binary::Max, Expr::Var(m), load(y, at(i), 1))));
    let max = fold(&mut b, m, Binary::Max);
    b.push(Stmt::Barrier);
    let s = b.register("sum", F, f(0.0));
    let shifted = |i: Expr| un(Unary::Exp, bin(Binary::Sub, load(y, at(i), 1), max.clone()));
    b.for_("i", LANE, u(n as u32), u(8), |b, i| b.assign(s, add(Expr::Var(s), shifted(i))));
    let sum = fold(&mut b, s, Binary::Add);
    b.for_("i", LANE, u(n as u32), u(8), |b, i| {
        b.push(Stmt::Store(y, at(i.clone()), add(div(shifted(i), sum.clone()), max.clone())));
    });
    let mut v = values(11, rows * n);
    // The greatest value of a row: each lane has one, in each of its rounds.
    for (r, at) in [0, 9, 18, 11, 20, 13, 6, 15].into_iter().enumerate() {
        v[r * n + at] = 1.0 + r as f32 / 8.0;
    }
    let row = |r: &[f32]| -> Vec<f32> {
        let top = r.iter().copied().fold(f32::MIN, f32::max);
        let e: Vec<f64> = r.iter().map(|x| f64::from(x - top).exp()).collect();
        let sum: f64 = e.iter().sum();
        e.iter().map(|x| (x / sum) as f32 + top).collect()
    };
    let expected = v.chunks(n).flat_map(row).collect();
    Sample {
        ir: b.finish(),
        dispatch: [rows as u32, 1],
        params: vec![],
        buffers: vec![bits(&v)],
        output: 0,
        expected,
        sizes: vec![1, 8],
    }
}
