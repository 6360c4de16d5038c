//! Every rule of `verify` has a shader that breaks it, and right shaders break none.
#![allow(missing_docs, reason = "a test")]

mod samples;

use samples::*;
use tilewright_codegen::loops::*;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_codegen::verify::{Violation, verify};
use tilewright_dsl::ir::{Binary, Type};

/// What is wrong with a shader of 32 invocations, with a read-only and a read-write buffer, an array and a parameter.
fn check(target: &Target, body: impl FnOnce(&mut Build)) -> Vec<String> {
    let mut b = Build::new("broken", 32);
    b.buffer("x", Access::Read, Type::U32, 4);
    b.buffer("y", Access::ReadWrite, Type::U32, 1);
    b.shared("tile", Type::U32, 32);
    b.param("n", Type::U32);
    body(&mut b);
    verify(&b.finish(), target).iter().map(Violation::to_string).collect()
}

fn found(body: impl FnOnce(&mut Build)) -> Vec<String> {
    check(&Target::webgpu_subgroups(), body)
}

fn barrier(b: &mut Build) {
    b.push(Stmt::Barrier);
}

fn shuffle(e: Expr, mask: u32) -> Expr {
    Expr::ShuffleXor(Box::new(e), Box::new(u(mask)))
}

const SIZE: Expr = Expr::Builtin(Builtin::SubgroupSize);

#[test]
fn samples_break_no_rule() {
    for s in all() {
        assert_eq!(verify(&s.ir, &Target::webgpu_subgroups()), [], "{}", s.ir.name);
    }
}

#[test]
fn barriers_and_shuffles_need_uniform_flow() {
    let none: [&str; 0] = [];
    let divergent = |what: &str, because: &str| {
        [format!("`{what}` stands in divergent control flow: `{because}` may differ between invocations")]
    };
    assert_eq!(found(|b| b.if_(lt(LANE, u(4)), barrier)), divergent("barrier", "if lane < 4"));
    assert_eq!(found(|b| b.if_(lt(GROUP, Expr::Param(0)), barrier)), none);
    assert_eq!(found(|b| b.for_("k", u(0), LANE, u(1), |b, _| barrier(b))), divergent("barrier", "for k in 0..lane"));
    assert_eq!(found(|b| b.for_("k", u(0), u(9), u(3), |b, _| barrier(b))), none);
    let through_let = |b: &mut Build| {
        let odd = b.let_("odd", U, rem(LANE, u(2)));
        b.if_(bin(Binary::Eq, odd, u(0)), barrier);
    };
    assert_eq!(found(through_let), divergent("barrier", "if odd == 0"));
    let partly = |b: &mut Build| {
        b.if_(lt(LANE, u(4)), |b| {
            b.let_("other", U, shuffle(LANE, 1));
        })
    };
    assert_eq!(found(partly), divergent("let other = shuffle_xor(lane, 1)", "if lane < 4"));
    // What differs may come by way of a register, an assignment in divergent flow, a later round of a loop, or memory.
    let register = |b: &mut Build| {
        let r = b.register("r", U, u(0));
        b.for_("k", u(0), u(4), u(1), |b, _| {
            b.if_(lt(Expr::Var(r), u(1)), barrier);
            b.if_(lt(LANE, u(4)), |b| b.assign(r, u(7)));
        });
    };
    assert_eq!(found(register), divergent("barrier", "if r < 1"));
    for read in [shared(0, u(0)), load(1, u(0), 1), load(0, LANE, 1), shuffle(u(0), 1)] {
        let memory = |b: &mut Build| {
            let v = b.let_("v", U, read);
            b.if_(lt(v, u(1)), barrier);
        };
        assert_eq!(found(memory), divergent("barrier", "if v < 1"));
    }
    assert_eq!(found(|b| b.if_(lt(load(0, GROUP, 1), u(1)), barrier)), none);
    let element = |b: &mut Build| {
        let a = b.array("a", Type::U32, 2);
        b.push(Stmt::SetElement(a, u(0), LANE));
        b.if_(lt(Expr::Element(a, Box::new(u(1))), u(1)), barrier);
    };
    assert_eq!(found(element), divergent("barrier", "if a[1] < 1"));
}

#[test]
fn loops_step_and_run_at_every_subgroup_size() {
    let step = |b: &mut Build| b.for_("k", u(0), u(64), div(u(64), SIZE), |_, _| {});
    assert_eq!(found(step), ["the step may be 0 at subgroup size 128: `for k in 0..64 by 64 / subgroup.size`"]);
    let narrow = Target { subgroups: Some(Subgroups { min: 4, max: 64 }), ..Target::webgpu_subgroups() };
    assert!(check(&narrow, step).is_empty());
    let trips = |b: &mut Build| b.for_("k", u(0), div(u(32), SIZE), u(1), |_, _| {});
    assert_eq!(found(trips).len(), 2, "sizes 64 and 128");
    let guarded = |b: &mut Build| b.if_(lt(SIZE, u(33)), |b| b.for_("k", u(0), div(u(32), SIZE), u(1), |_, _| {}));
    assert!(found(guarded).is_empty());
    assert_eq!(found(|b| b.for_("k", u(4), u(4), u(1), |_, _| {})).len(), 1);
    assert_eq!(found(|b| b.for_("k", u(0), u(4), u(0), |_, _| {})).len(), 1);
    assert!(found(|b| b.for_("k", u(0), Expr::Param(0), u(4), |_, _| {})).is_empty());
}

#[test]
fn limits_are_the_targets() {
    let small = Target {
        max_invocations: 16,
        max_workgroup_bytes: 127,
        max_storage_buffers: 1,
        subgroups: None,
        ..Target::webgpu()
    };
    let found = check(&small, |b| {
        b.let_("v", U, shuffle(LANE, 1));
    });
    let expected = [
        "32 invocations in a workgroup, but the target `webgpu` has 16",
        "128 bytes of workgroup memory, but the target `webgpu` has 127",
        "2 storage buffers, but the target `webgpu` has 1",
        "subgroup operations, but the target `webgpu` has none",
    ];
    assert_eq!(found, expected);
}

#[test]
fn locals_are_declared_once_typed_and_assigned_where_they_may_be() {
    assert_eq!(
        found(|b| b.push(Stmt::StoreShared(0, LANE, f(1.0)))),
        ["`1.0` is f32 where u32 is needed, in `tile[lane] = 1.0`"]
    );
    assert_eq!(found(|b| b.push(Stmt::StoreShared(0, LANE, load(0, LANE, 4)))).len(), 1);
    assert_eq!(found(|b| b.push(Stmt::StoreShared(0, LANE, part(load(0, LANE, 2), 2)))).len(), 1);
    assert_eq!(found(|b| b.push(Stmt::StoreShared(0, LANE, load(1, LANE, 2)))).len(), 1);
    assert_eq!(found(|b| b.if_(LANE, |_| {})).len(), 1);
    let outside = |b: &mut Build| {
        let mut inner = u(0);
        b.if_(lt(LANE, u(4)), |b| inner = b.let_("v", U, u(1)));
        b.push(Stmt::StoreShared(0, LANE, inner));
    };
    assert_eq!(found(outside), ["local `v` is not in scope: `tile[lane] = v`"]);
    let twice = |b: &mut Build| {
        let v = b.register("v", U, u(1));
        b.push(Stmt::Declare(v, u(2)));
    };
    let message = found(twice).join("");
    assert!(message.contains("is declared twice: `var v"), "{message}");
    let constant = |b: &mut Build| {
        let v = b.var("v", Kind::Value(U));
        b.push(Stmt::Let(v, u(1)));
        b.assign(v, u(2));
    };
    assert_eq!(found(constant), ["local `v` is assigned, but no register: `v = 2`"]);
    assert_eq!(
        found(|b| b.for_("k", u(0), u(4), u(1), |b, k| if let Expr::Var(k) = k {
            b.assign(k, u(3));
        }))
        .len(),
        1
    );
    let siblings = |b: &mut Build| {
        let v = b.var("v", Kind::Value(U));
        b.if_(lt(GROUP, u(1)), |b| b.push(Stmt::Let(v, u(1))));
        b.if_(lt(GROUP, u(2)), |b| b.push(Stmt::Let(v, u(2))));
    };
    assert!(found(siblings).join("").contains("is declared twice"));
    let constants = |b: &mut Build| {
        b.let_("a", U, div(LANE, u(0)));
        b.let_("b", U, bin(Binary::Shl, LANE, u(32)));
    };
    assert_eq!(
        found(constants),
        ["division by the constant 0: `let a = lane / 0`", "shift by 32 or more: `let b = lane << 32`"]
    );
    assert_eq!(found(|b| b.push(Stmt::StoreShared(3, LANE, u(1)))).len(), 1);
}

#[test]
fn stores_go_to_whole_words_of_writable_buffers() {
    assert_eq!(found(|b| b.push(Stmt::Store(0, LANE, u(1)))), ["store to `x`, which is read-only: `x[lane] = 1`"]);
    let wide = |b: &mut Build| {
        b.buffer("z", Access::ReadWrite, Type::U32, 4);
        b.push(Stmt::Store(2, LANE, u(1)));
    };
    assert_eq!(found(wide), ["store to `z`, whose elements are wider than a word: `z[lane] = 1`"]);
    // Half of a word is what another invocation may write at the same time.
    let completed = |b: &mut Build| {
        b.buffer("z", Access::ReadWrite, Type::U32, 1);
        let word = Expr::Load { buffer: 2, index: Box::new(LANE), width: 1 };
        let kept = Expr::Component(Box::new(Expr::UnpackF16(Box::new(word))), 0);
        b.push(Stmt::Store(2, LANE, Expr::PackF16(Box::new(kept), Box::new(Expr::F32(1.0)))));
    };
    assert_eq!(found(completed).len(), 1);
    assert!(found(completed)[0].contains("whose word it reads back to write half of it"), "{:?}", found(completed));
    let late = |b: &mut Build| {
        b.buffer("z", Access::Read, Type::U32, 1);
    };
    assert_eq!(found(late), ["`z`: a read-only buffer behind a read-write one"]);
    let both = |b: &mut Build| b.ir.buffers[1].tensor = "x".into();
    assert_eq!(found(both), ["`y`: its tensor is bound both read-only and read-write"]);
    let nothing = |b: &mut Build| {
        b.shared("none", Type::F32, 0);
    };
    assert_eq!(found(nothing).len(), 1);
}
