//! The interpreter gives what the samples must give, and each mistake has its error.
#![allow(missing_docs, reason = "a test")]

mod samples;

use samples::*;
use tilewright_codegen::interp::{InterpError, Stats, run, run_unchecked};
use tilewright_codegen::loops::*;
use tilewright_dsl::ir::{Binary, Type, Unary};

fn output(s: &Sample, buffers: &[Vec<u32>]) -> Vec<f32> {
    buffers[s.output].iter().map(|b| f32::from_bits(*b)).collect()
}

#[test]
fn samples_give_the_expected_values_at_every_subgroup_size() {
    for s in all() {
        for size in &s.sizes {
            let mut buffers = s.buffers.clone();
            let stats = run(&s.ir, s.dispatch, &s.params, &mut buffers, *size);
            let stats = stats.unwrap_or_else(|e| panic!("{} at subgroup size {size}: {e}", s.ir.name));
            for (i, (found, expected)) in output(&s, &buffers).iter().zip(&s.expected).enumerate() {
                let near = (found - expected).abs() <= 1e-5 * (1.0 + expected.abs());
                assert!(near, "{} at subgroup size {size}, element {i}: {found}, expected {expected}", s.ir.name);
            }
            assert!(stats.written[s.output].iter().all(|n| *n == 1), "{}: {:?}", s.ir.name, stats.written[s.output]);
            let mut unchecked = s.buffers.clone();
            run_unchecked(&s.ir, s.dispatch, &s.params, &mut unchecked, *size).expect("it ran with checks");
            assert_eq!(unchecked, buffers, "{}", s.ir.name);
        }
    }
}

/// One workgroup of 8 with an output of 64 words, one shared array of 8, and a read-only input of 8.
fn fails(size: u32, body: impl FnOnce(&mut Build)) -> InterpError {
    let mut b = Build::new("broken", 8);
    b.buffer("x", Access::Read, Type::U32, 1);
    b.buffer("y", Access::ReadWrite, Type::U32, 1);
    b.shared("tile", Type::U32, 8);
    b.param("zero", Type::U32);
    body(&mut b);
    let ir = b.finish();
    let mut buffers = vec![(0..8).collect(), vec![0; 64]];
    run(&ir, [2, 1], &[0], &mut buffers, size).expect_err("a mistake")
}

fn reads(index: Expr) -> impl FnOnce(&mut Build) {
    |b| {
        b.push(Stmt::Store(1, add(mul(GROUP, u(8)), LANE), index));
    }
}

#[test]
fn accesses_outside_an_array_are_found() {
    let message = fails(8, reads(load(0, add(LANE, u(1)), 1))).to_string();
    let expected =
        "index 8 of `x`, which has 8, by invocation 7 of workgroup (0, 0): `y[group.x * 8 + lane] = x[lane + 1]`";
    assert_eq!(message, expected);
    let tile = |b: &mut Build| b.push(Stmt::StoreShared(0, mul(LANE, u(2)), u(1)));
    assert!(matches!(fails(8, tile), InterpError::OutOfBounds { array, index: 8, len: 8, .. } if array == "tile"));
    let store = |b: &mut Build| b.push(Stmt::Store(1, add(mul(GROUP, u(64)), LANE), u(1)));
    assert!(matches!(fails(8, store), InterpError::OutOfBounds { array, index: 64, len: 64, .. } if array == "y"));
    let huge = |b: &mut Build| {
        b.buffer("wide", Access::ReadWrite, Type::U32, 4);
        b.let_("v", U4, load(2, u(u32::MAX), 4));
    };
    assert!(matches!(fails(8, huge), InterpError::Count { what: "buffers", expected: 3, found: 2 }));
    let private = |b: &mut Build| {
        let a = b.array("a", Type::U32, 4);
        b.push(Stmt::SetElement(a, LANE, u(0)));
    };
    assert!(matches!(fails(8, private), InterpError::OutOfBounds { index: 4, len: 4, .. }));
}

#[test]
fn an_inactive_invocation_may_hold_any_index() {
    let mut b = Build::new("guarded", 8);
    b.buffer("y", Access::ReadWrite, Type::U32, 1);
    b.if_(lt(LANE, u(3)), |b| b.push(Stmt::Store(0, LANE, add(load(0, LANE, 1), u(7)))));
    let mut buffers = vec![vec![1; 3]];
    let stats = run(&b.finish(), [1, 1], &[], &mut buffers, 8).expect("it is right");
    assert_eq!(stats, Stats { written: vec![vec![1; 3]], barriers: 0 });
    assert_eq!(buffers[0], [8, 8, 8]);
}

fn race(e: InterpError) -> (String, String, u64) {
    match e {
        InterpError::Race { array, index, did, does, .. } => (array, format!("{did} {does}"), index),
        other => panic!("no race: {other}"),
    }
}

#[test]
fn races_on_workgroup_memory_are_found() {
    let neighbour = |barrier: bool| {
        move |b: &mut Build| {
            b.push(Stmt::StoreShared(0, LANE, LANE));
            if barrier {
                b.push(Stmt::Barrier);
            }
            let next = rem(add(LANE, u(1)), u(8));
            b.push(Stmt::StoreShared(0, LANE, shared(0, next)));
        }
    };
    assert_eq!(race(fails(8, neighbour(false))), ("tile".into(), "wrote reads".into(), 1));
    assert_eq!(race(fails(8, neighbour(true))), ("tile".into(), "read writes".into(), 0));
    let same = |b: &mut Build| b.push(Stmt::StoreShared(0, div(LANE, u(2)), u(5)));
    assert_eq!(race(fails(8, same)), ("tile".into(), "wrote writes".into(), 0));
    let own = |b: &mut Build| {
        b.push(Stmt::StoreShared(0, u(0), LANE));
    };
    let e = fails(8, own).to_string();
    assert!(e.starts_with("data race on `tile[0]`: invocation 0 of workgroup (0, 0) wrote, invocation 1 of"), "{e}");
}

#[test]
fn races_on_buffers_are_found_within_and_across_workgroups() {
    let across = |b: &mut Build| b.push(Stmt::Store(1, LANE, u(1)));
    assert_eq!(race(fails(8, across)), ("y".into(), "wrote writes".into(), 0));
    // A barrier orders workgroup memory, not buffers.
    let within = |b: &mut Build| {
        b.push(Stmt::Store(1, add(mul(GROUP, u(8)), LANE), u(1)));
        b.push(Stmt::Barrier);
        b.let_("other", U, load(1, add(mul(GROUP, u(8)), bin(Binary::Xor, LANE, u(1))), 1));
    };
    assert_eq!(race(fails(8, within)), ("y".into(), "wrote reads".into(), 1));
    let earlier = |b: &mut Build| {
        b.let_("all", U, load(1, LANE, 1));
        b.if_(bin(Binary::Eq, GROUP, u(1)), |b| b.push(Stmt::Store(1, LANE, u(1))));
    };
    assert_eq!(race(fails(8, earlier)), ("y".into(), "read writes".into(), 0));
}

#[test]
fn workgroup_memory_starts_unwritten_in_every_workgroup() {
    assert!(matches!(fails(8, reads(shared(0, LANE))), InterpError::Unwritten { index: 0, .. }));
    let first_only = |b: &mut Build| {
        b.if_(bin(Binary::Eq, GROUP, u(0)), |b| b.push(Stmt::StoreShared(0, LANE, LANE)));
        b.let_("v", U, shared(0, LANE));
    };
    let e = fails(8, first_only);
    assert!(matches!(&e, InterpError::Unwritten { by, .. } if by.workgroup == [1, 0]), "{e}");
}

#[test]
fn barriers_and_shuffles_need_all_invocations() {
    let shuffle = |mask: Expr| Expr::ShuffleXor(Box::new(LANE), Box::new(mask));
    let barrier = |b: &mut Build| b.if_(lt(LANE, u(5)), |b| b.push(Stmt::Barrier));
    assert!(matches!(fails(8, barrier), InterpError::Divergent { active: 5, all: 8, .. }));
    let in_loop = |b: &mut Build| b.for_("k", u(0), LANE, u(1), |b, _| b.push(Stmt::Barrier));
    assert!(matches!(fails(8, in_loop), InterpError::Divergent { active: 7, .. }));
    let divergent = |b: &mut Build| {
        b.if_(lt(LANE, u(4)), |b| {
            b.let_("v", U, Expr::ShuffleXor(Box::new(LANE), Box::new(u(1))));
        })
    };
    assert!(matches!(fails(8, divergent), InterpError::Divergent { active: 4, .. }));
    assert!(matches!(fails(4, reads(shuffle(u(4)))), InterpError::Shuffle { mask: 4, size: 4, .. }));
    assert!(matches!(fails(16, reads(shuffle(u(8)))), InterpError::Shuffle { mask: 8, size: 16, .. }));
    assert!(matches!(fails(8, reads(shuffle(rem(LANE, u(2))))), InterpError::Shuffle { mask: 1, .. }));
}

#[test]
fn loops_end_and_divisors_are_not_zero() {
    let still = |b: &mut Build| b.for_("k", u(0), u(4), Expr::Param(0), |_, _| {});
    assert!(matches!(fails(8, still), InterpError::Endless { .. }));
    let wraps = |b: &mut Build| b.for_("k", u(u32::MAX - 1), u(u32::MAX), u(2), |_, _| {});
    assert!(matches!(fails(8, wraps), InterpError::Endless { .. }));
    assert!(matches!(fails(8, reads(div(LANE, Expr::Param(0)))), InterpError::DivisionByZero { .. }));
    let write = |b: &mut Build| b.push(Stmt::Store(0, LANE, u(0)));
    assert!(matches!(fails(8, write), InterpError::ReadOnly { array, .. } if array == "x"));
    assert!(matches!(fails(8, reads(f(1.0))), InterpError::Type(_)));
    assert!(matches!(fails(8, reads(Expr::Var(Var(9)))), InterpError::Type(_)));
}

/// Values of one expression of `lane` (u32), by lane.
fn evaluate(e: Expr) -> Vec<u32> {
    let mut b = Build::new("one", 4);
    b.buffer("y", Access::ReadWrite, Type::U32, 1);
    b.push(Stmt::Store(0, LANE, e));
    let mut buffers = vec![vec![0; 4]];
    run(&b.finish(), [1, 1], &[], &mut buffers, 4).expect("it is right");
    buffers.swap_remove(0)
}

#[test]
fn operators_mean_what_the_shading_language_says() {
    let bits = |e| un(Unary::Bits, e);
    let x = || un(Unary::ToF32, LANE);
    assert_eq!(evaluate(bin(Binary::Sub, LANE, u(1))), [u32::MAX, 0, 1, 2]);
    assert_eq!(evaluate(bin(Binary::Shl, u(1), LANE)), [1, 2, 4, 8]);
    assert_eq!(evaluate(un(Unary::ToU32, f(-3.5))), [0; 4]);
    assert_eq!(evaluate(un(Unary::ToU32, f(1e20))), [4_294_967_040; 4]);
    assert_eq!(evaluate(bits(un(Unary::Rsqrt, add(x(), f(1.0)))))[3], 0.5f32.to_bits());
    assert_eq!(evaluate(bits(select(lt(LANE, u(2)), f(1.0), f(2.0)))), [1f32, 1.0, 2.0, 2.0].map(f32::to_bits));
    let packed = Expr::PackF16(Box::new(f(1.0)), Box::new(f(-2.0)));
    assert_eq!(evaluate(packed.clone()), [0xc000_3c00; 4]);
    let high = part(Expr::UnpackF16(Box::new(packed)), 1);
    assert_eq!(evaluate(bits(high)), [(-2f32).to_bits(); 4]);
    // Half of the last place rounds to even: 1 + 2^-11 to 1, 1 + 3 * 2^-11 to 1 + 2^-9.
    let tie = |k: f32| evaluate(Expr::PackF16(Box::new(f(1.0 + k / 2048.0)), Box::new(f(0.0))))[0];
    assert_eq!((tie(1.0), tie(3.0)), (0x3c00, 0x3c02));
    // (1 + e)(1 - e) - 1 is -e² unrounded, 0 rounded twice.
    let e = f32::EPSILON;
    assert_eq!(evaluate(bits(fma(f(1.0 + e), f(1.0 - e), f(-1.0))))[0], ((1.0 + e) * (1.0 - e) - 1.0f32).to_bits());
}
