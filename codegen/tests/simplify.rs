//! Simplified programs give the same bits, and the text that a reader would write.
#![allow(missing_docs, reason = "a test")]

mod samples;

use proptest::prelude::*;
use samples::*;
use tilewright_codegen::interp::run;
use tilewright_codegen::loops::*;
use tilewright_codegen::simplify::simplify;
use tilewright_codegen::target::Target;
use tilewright_codegen::text;
use tilewright_codegen::verify::verify;
use tilewright_dsl::ir::{Binary, Type, Unary};

const LANES: u32 = 6;

/// u32 expressions of the lane, the group, a parameter, a loop's counter (local 0) and a register (local 1).
fn integers() -> impl Strategy<Value = Expr> {
    let small = prop_oneof![Just(0), Just(1), Just(2), Just(3), Just(4), Just(31), 0u32..200, any::<u32>()];
    let leaf = prop_oneof![
        4 => small.prop_map(Expr::U32),
        3 => Just(LANE),
        1 => Just(GROUP),
        1 => Just(Expr::Param(0)),
        2 => Just(Expr::Var(Var(0))),
        1 => Just(Expr::Var(Var(1))),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        use Binary::*;
        let ops = prop::sample::select(vec![Add, Add, Sub, Mul, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr]);
        prop_oneof![
            6 => (ops, inner.clone(), inner.clone()).prop_map(|(op, a, b)| bin(op, a, b)),
            1 => (conditions(inner.clone()), inner.clone(), inner.clone()).prop_map(|(c, a, b)| select(c, a, b)),
            1 => inner.prop_map(|a| un(Unary::ToU32, a)),
        ]
    })
}

fn conditions(integer: impl Strategy<Value = Expr> + Clone + 'static) -> impl Strategy<Value = Expr> {
    use Binary::*;
    let ops = prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge]);
    let leaf = prop_oneof![
        (ops, integer.clone(), integer).prop_map(|(op, a, b)| bin(op, a, b)),
        any::<bool>().prop_map(Expr::Bool),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        let ops = prop::sample::select(vec![And, Or]);
        prop_oneof![
            (ops, inner.clone(), inner.clone()).prop_map(|(op, a, b)| bin(op, a, b)),
            inner.prop_map(|a| un(Unary::Not, a)),
        ]
    })
}

fn floats() -> impl Strategy<Value = Expr> {
    let constant = prop_oneof![Just(0.0), Just(-0.0), Just(1.0), Just(-1.0), -20f32..20.0, Just(f32::MIN)];
    let leaf =
        prop_oneof![constant.prop_map(Expr::F32), Just(Expr::Param(1)), integers().prop_map(|e| un(Unary::ToF32, e)),];
    leaf.prop_recursive(4, 30, 3, |inner| {
        use {Binary::*, Unary::*};
        let ops = prop::sample::select(vec![Add, Sub, Mul, Div, Min, Max]);
        let unary = prop::sample::select(vec![Neg, Abs, Floor, Tanh, ToF32, Exp, Sqrt]);
        prop_oneof![
            4 => (ops, inner.clone(), inner.clone()).prop_map(|(op, a, b)| bin(op, a, b)),
            2 => (unary, inner.clone()).prop_map(|(op, a)| un(op, if op == Tanh { finite(a) } else { a })),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| fma(a, b, c)),
            1 => (conditions(integers().boxed()), inner.clone(), inner).prop_map(|(c, a, b)| select(c, a, b)),
        ]
    })
}

/// A number within ±30, never a NaN: the clamp that `tanh` gets may make a number of one, as `min` and `max` may.
fn finite(a: Expr) -> Expr {
    bin(Binary::Min, bin(Binary::Max, a, f(-30.0)), f(30.0))
}

/// Writes what the pieces give: in a loop, behind a condition, through a register and a let.
fn program(x: &Expr, y: &Expr, cond: &Expr, bounds: [&Expr; 3]) -> LoopIr {
    let mut b = Build::new("random", LANES);
    let out = b.buffer("out", Access::ReadWrite, Type::U32, 1);
    b.param("n", Type::U32);
    b.param("a", Type::F32);
    let (k, register) = (b.var("k", Kind::Value(U)), b.var("register", Kind::Value(U)));
    let word = |i: u32| add(mul(add(mul(GROUP, u(LANES)), LANE), u(4)), u(i));
    b.push(Stmt::Declare(register, add(LANE, u(5))));
    let inner = b.var("inner", Kind::Value(U));
    let same = b.var("same", Kind::Value(F));
    let part = |stmts: Vec<Stmt>| Stmt::If(cond.clone(), stmts.clone(), stmts);
    let step = |e: &Expr| bin(Binary::Max, bin(Binary::Min, e.clone(), u(1000)), u(1));
    let body = vec![
        Stmt::Let(inner, x.clone()),
        Stmt::Assign(register, add(mul(Expr::Var(register), u(3)), Expr::Var(inner))),
        part(vec![Stmt::Let(same, y.clone()), Stmt::Assign(register, un(Unary::Bits, Expr::Var(same)))]),
    ];
    b.push(Stmt::For {
        var: k,
        start: rem(bounds[0].clone(), u(50)),
        end: rem(bounds[1].clone(), u(50)),
        step: step(bounds[2]),
        body,
    });
    b.push(Stmt::Store(out, word(0), Expr::Var(register)));
    b.for_("k", u(3), u(4), u(1), |b, _| b.push(Stmt::Store(out, word(1), Expr::Var(register))));
    b.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bit_changes(
        x in integers(), y in floats(), cond in conditions(integers().boxed()),
        start in integers(), end in integers(), step in integers(),
    ) {
        let no_counter = |e: &Expr| replace(e, Var(0), &u(7));
        let bounds = [no_counter(&start), no_counter(&end), no_counter(&step)];
        let ir = program(&x, &y, &cond, [&bounds[0], &bounds[1], &bounds[2]]);
        let mut simple = ir.clone();
        simplify(&mut simple);
        let mut again = simple.clone();
        simplify(&mut again);
        prop_assert_eq!(text::dump(&again), text::dump(&simple));
        for (n, a) in [(0, 0.0f32), (1, 1.0), (77, -3.5), (u32::MAX, 1e30)] {
            let go = |ir: &LoopIr| {
                let mut buffers = vec![vec![0; 2 * 4 * LANES as usize]];
                run(ir, [2, 1], &[n, a.to_bits()], &mut buffers, 4).map(|_| buffers)
            };
            // What divides by zero may do anything.
            if let Ok(before) = go(&ir) {
                let after = go(&simple);
                let context = || format!("{}\n{}", text::dump(&ir), text::dump(&simple));
                prop_assert!(after.as_ref().is_ok_and(|b| same(b, &before)), "{:?}\n{:?}\n{}", before, after, context());
            }
        }
    }
}

/// Equal bits; one NaN is as good as another.
fn same(a: &[Vec<u32>], b: &[Vec<u32>]) -> bool {
    let nan = |x: u32| f32::from_bits(x).is_nan();
    a.iter().flatten().zip(b.iter().flatten()).all(|(x, y)| x == y || nan(*x) && nan(*y))
}

fn replace(e: &Expr, v: Var, by: &Expr) -> Expr {
    if *e == Expr::Var(v) {
        return by.clone();
    }
    let mut e = e.clone();
    for x in e.operands_mut() {
        *x = replace(x, v, by);
    }
    e
}

fn simple(e: Expr) -> String {
    let mut b = Build::new("one", 64);
    let float = matches!(&e, Expr::Unary(Unary::Tanh, _) | Expr::Fma(..));
    b.buffer("y", Access::ReadWrite, if float { Type::F32 } else { Type::U32 }, 1);
    b.param("n", Type::U32);
    b.param("a", Type::F32);
    b.push(Stmt::Store(0, LANE, e));
    let mut ir = b.finish();
    simplify(&mut ir);
    match &ir.body[..] {
        [Stmt::Store(_, _, e)] => text::expr(&ir, e),
        other => panic!("{other:?}"),
    }
}

#[test]
fn indices_become_what_a_reader_would_write() {
    let n = || Expr::Param(0);
    let check = |e: Expr, expected: &str| assert_eq!(simple(e), expected);
    check(add(u(0), mul(n(), u(1))), "n");
    check(mul(n(), u(0)), "0");
    check(add(add(n(), u(3)), u(4)), "n + 7");
    check(add(n(), add(LANE, GROUP)), "n + lane + group.x");
    check(add(add(n(), u(3)), LANE), "n + lane + 3");
    check(mul(mul(n(), u(3)), u(4)), "n * 12");
    check(div(LANE, u(64)), "0");
    check(rem(LANE, u(64)), "lane");
    check(rem(LANE, u(32)), "lane % 32");
    check(div(add(mul(rem(LANE, u(8)), u(16)), u(5)), u(16)), "lane % 8");
    check(rem(add(mul(div(LANE, u(8)), u(8)), rem(LANE, u(8))), u(8)), "lane % 8");
    check(bin(Binary::Min, LANE, u(63)), "lane");
    check(bin(Binary::Sub, add(n(), u(9)), u(9)), "n");
    check(bin(Binary::Sub, add(n(), u(9)), u(4)), "n + 5");
    check(bin(Binary::Sub, add(n(), u(4)), u(9)), "n - 5");
    check(select(lt(LANE, u(64)), n(), u(9)), "n");
    check(select(lt(n(), u(64)), u(9), u(9)), "9");
    check(select(bin(Binary::And, lt(LANE, u(64)), lt(n(), u(2))), u(1), u(0)), "select(n < 2, 1, 0)");
    check(un(Unary::Tanh, Expr::Param(1)), "tanh(min(max(a, -10.0), 10.0))");
}

#[test]
fn guards_and_loads_are_told_once() {
    let mut b = Build::new("one", 64);
    b.buffer("x", Access::Read, Type::F32, 1);
    b.buffer("y", Access::ReadWrite, Type::F32, 1);
    let n = b.param("n", Type::U32);
    let inside = || lt(LANE, n.clone());
    let last = || bin(Binary::Min, LANE, bin(Binary::Sub, n.clone(), u(1)));
    for i in 0..3 {
        b.if_(inside(), |b| {
            let value = b.let_("value", F, load(0, last(), 1));
            b.if_(inside(), |b| b.push(Stmt::Store(1, add(LANE, u(64 * i)), value)));
        });
    }
    // Another condition, and one that what stands under it changes.
    b.if_(lt(LANE, u(9)), |b| b.push(Stmt::Store(1, LANE, load(0, last(), 1))));
    let count = b.register("count", U, n.clone());
    for _ in 0..2 {
        b.if_(lt(LANE, Expr::Var(count)), |b| b.assign(count, u(0)));
    }
    b.push(Stmt::Store(1, u(300), un(Unary::ToF32, Expr::Var(count))));
    let mut ir = b.finish();
    simplify(&mut ir);
    let dump = text::dump(&ir);
    let body: Vec<_> = dump.lines().skip(5).map(str::trim).collect();
    let expected = [
        "if lane < n",
        "let value = x[lane]",
        "y[lane] = value",
        "y[lane + 64] = value",
        "y[lane + 128] = value",
        "if lane < 9",
        "y[lane] = x[min(lane, n - 1)]",
        "var count = n",
        "if lane < count",
        "count = 0",
        "if lane < count",
        "count = 0",
        "y[300] = f32(count)",
    ];
    assert_eq!(body, expected, "{dump}");
}

#[test]
fn loops_of_one_step_are_unrolled_and_dead_code_goes() {
    let mut b = Build::new("one", 64);
    b.buffer("y", Access::ReadWrite, Type::F32, 1);
    let sum = b.register("sum", F, f(0.0));
    b.let_("unused", F, load(0, LANE, 1));
    b.for_("k", LANE, u(64), u(64), |b, k| {
        b.if_(lt(k.clone(), u(64)), |b| b.assign(sum, un(Unary::ToF32, k)));
    });
    b.for_("k", u(3), u(3), u(1), |b, _| b.push(Stmt::Barrier));
    b.push(Stmt::Barrier);
    b.push(Stmt::Barrier);
    b.if_(lt(Expr::Builtin(Builtin::WorkgroupX), u(1)), |_| {});
    b.push(Stmt::Store(0, LANE, Expr::Var(sum)));
    b.push(Stmt::Barrier);
    let mut ir = b.finish();
    simplify(&mut ir);
    let dump = text::dump(&ir);
    let body: Vec<_> = dump.lines().skip(3).map(str::trim).collect();
    assert_eq!(body, ["var sum = 0.0", "let k = lane", "sum = f32(k)", "barrier", "y[lane] = sum"]);
}

#[test]
fn ranges_of_counters_are_true() {
    for (start, end, step, c) in
        (0..4).flat_map(|a| (0..7).flat_map(move |b| (1..4).flat_map(move |s| (1..8).map(move |c| (a, b, s, c)))))
    {
        let mut b = Build::new("one", 3);
        b.buffer("y", Access::ReadWrite, Type::U32, 1);
        let sum = b.register("sum", U, u(0));
        b.for_("k", add(u(start), LANE), u(end), u(step), |b, k| {
            let k2 = add(mul(k.clone(), u(2)), LANE);
            let less = select(lt(k.clone(), u(c)), u(1), u(1000));
            let more = select(bin(Binary::Ge, k2.clone(), u(c)), div(k2.clone(), u(c)), rem(k2, u(c)));
            let bounded = bin(Binary::Max, bin(Binary::Min, k.clone(), u(c)), u(start + 1));
            b.assign(sum, add(mul(Expr::Var(sum), u(31)), add(add(less, more), bounded)));
        });
        b.push(Stmt::Store(0, LANE, Expr::Var(sum)));
        let ir = b.finish();
        let mut simple = ir.clone();
        simplify(&mut simple);
        let go = |ir: &LoopIr| {
            let mut buffers = vec![vec![0; 3]];
            run(ir, [1, 1], &[], &mut buffers, 4).expect("it runs");
            buffers
        };
        assert_eq!(go(&ir), go(&simple), "{}\n{}", text::dump(&ir), text::dump(&simple));
    }
}

#[test]
fn a_simplified_sample_is_still_right() {
    for s in all() {
        let mut ir = s.ir.clone();
        simplify(&mut ir);
        assert_eq!(verify(&ir, &Target::webgpu_subgroups()), [], "{}", s.ir.name);
        for size in &s.sizes {
            let (mut before, mut after) = (s.buffers.clone(), s.buffers.clone());
            run(&s.ir, s.dispatch, &s.params, &mut before, *size).expect("a sample runs");
            run(&ir, s.dispatch, &s.params, &mut after, *size).expect("a simplified sample runs");
            assert_eq!(before, after, "{}", s.ir.name);
        }
    }
}
