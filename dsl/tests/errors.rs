//! Every kind of `KernelError`, from the smallest kernel or monoid that has it.

use std::collections::HashSet;
use std::mem::discriminant;

use tilewright_dsl::build::{Builder, Elements, MonoidBuilder, sum};
use tilewright_dsl::check::{self, KernelError};
use tilewright_dsl::ir::*;

/// What a builder refuses.
fn built(make: impl FnOnce(&Builder)) -> Vec<KernelError> {
    let b = Builder::new("k");
    make(&b);
    b.finish().expect_err("the kernel has a mistake")
}

/// What the check refuses in a copy of `y[i] = sum(0..N, |j| x[j]) + x[i]`.
fn broken(damage: impl FnOnce(&mut Kernel)) -> Vec<KernelError> {
    let b = Builder::new("k");
    let (x, y) = (b.input::<f32, 1>("x", ["N"]), b.output::<f32, 1>("y", ["N"]));
    b.each("i", 0, b.extent("N"), |i| y.set([i], b.sum("j", 0, b.extent("N"), |j| x.at([j])) + x.at([i])));
    let mut kernel = b.finish().expect("it is well formed");
    damage(&mut kernel);
    check::kernel(&kernel)
}

/// What is wrong with a monoid of these fields, as (name, array), and this merge.
fn monoid(letter: Option<&str>, merge: impl FnOnce(&MonoidBuilder) -> Vec<ExprId>) -> Vec<KernelError> {
    let m = MonoidBuilder::new("M", letter);
    let merge = merge(&m);
    m.finish(merge).expect_err("the monoid has a mistake")
}

/// `for i in 0..N { y[i] = x[i] }` and a body of one's own before it.
fn copy<'b, R>(b: &'b Builder, more: impl FnOnce(&'b Builder) -> R) {
    let (x, y) = (b.input::<f32, 1>("x", ["N"]), b.output::<f32, 1>("y", ["N"]));
    more(b);
    b.each("i", 0, b.extent("N"), |i| y.set([i], x.at([i])));
}

fn find(k: &Kernel, wanted: impl Fn(&Expr) -> bool) -> ExprId {
    ExprId(k.exprs.iter().position(wanted).expect("the kernel has one") as u32)
}

fn all() -> Vec<Vec<KernelError>> {
    let is_reduce = |e: &Expr| matches!(e, Expr::Reduce(_));
    vec![
        built(|b| copy(b, |b| b.scalar::<f32>("2x"))),
        built(|b| copy(b, |b| b.scalar::<f32>("x"))),
        built(|b| {
            let y = b.output::<f32, 5>("y", ["N"; 5]);
            let i = b.u32(0);
            y.set([i; 5], b.f32(1.0));
        }),
        broken(|k| {
            let load = find(k, |e| matches!(e, Expr::Load(..)));
            let Expr::Load(_, at) = &mut k.exprs[load.0 as usize] else { return };
            at.push(at[0]);
        }),
        broken(|k| {
            let add = find(k, |e| matches!(e, Expr::Binary(Binary::Add, ..)));
            k.exprs[add.0 as usize] = Expr::Binary(Binary::Add, add_operand(k, add), ExprId(0));
        }),
        built(|b| copy(b, |b| b.scalar::<bool>("flag"))),
        broken(|k| k.tensors[0].role = Role::Out),
        broken(|k| k.tensors[1].role = Role::In),
        built(|b| copy(b, |b| b.output::<f32, 1>("z", ["N"]))),
        built(|b| copy(b, |b| b.input::<f32, 1>("z", ["N"]))),
        built(|b| {
            let x = b.in_out::<f32, 1>("x", ["N"]);
            b.each("i", 0, b.extent("N"), |i| x.set([i], x.at([b.extent("N") - 1 - i])));
        }),
        built(|b| copy(b, |b| b.each("e", 0, 4, |_| ()))),
        built(|b| {
            let (x, y) = (b.input::<f32, 2>("x", ["N", "N"]), b.output::<f32, 1>("y", ["N"]));
            let mut inner = None;
            b.each("i", 0, b.extent("N"), |i| {
                let s = b.sum("j", 0, b.extent("N"), |j| {
                    inner = Some(j);
                    x.at([i, j])
                });
                y.set([i], s + x.at([i, inner.unwrap_or(i)]));
            });
        }),
        broken(|k| {
            let again = k.body.clone();
            k.body.extend(again);
        }),
        built(|b| {
            let (n, x) = (b.input::<u32, 1>("n", ["M"]), b.input::<f32, 1>("x", ["N"]));
            let y = b.output::<f32, 1>("y", ["M"]);
            b.each("i", 0, b.extent("M"), |i| y.set([i], b.sum("j", 0, n.at([i]), |j| x.at([j]))));
        }),
        built(|b| {
            let few = b.scalar::<u32>("few");
            copy(b, |b| b.assert(b.extent("N").lt(few)));
        }),
        built(|b| {
            copy(b, |b| b.name("s", b.fold(&sum(), "j", 0, 4, None, |_, _| vec![])));
        }),
        built(|b| {
            let m = MonoidBuilder::new("M", Some("C"));
            let v = m.array::<f32>("v", 0.0);
            let merge = vec![(v.a + v.b).id()];
            let m = m.finish(merge).expect("it is well formed");
            copy(b, |b| b.name("s", b.fold(&m, "j", 0, 4, None, |_, _| vec![b.f32(1.0).id()])));
        }),
        built(|b| {
            let z = b.output::<f32, 1>("z", ["N"]);
            copy(b, |b| z.set([b.u32(0)], b.fold(&sum(), "j", 0, 4, None, |_, _| vec![b.f32(1.0).id()]).field(1)));
        }),
        broken(|k| {
            let add = find(k, |e| matches!(e, Expr::Binary(Binary::Add, ..)));
            k.exprs[add.0 as usize] = Expr::Binary(Binary::Add, find(k, is_reduce), add_operand(k, add));
        }),
        broken(|k| {
            let field = find(k, |e| matches!(e, Expr::Field(..)));
            let load = find(k, |e| matches!(e, Expr::Load(..)));
            k.exprs[field.0 as usize] = Expr::Field(load, 0);
        })
        .into_iter()
        .filter(|e| !matches!(e, KernelError::AxisOutOfScope { .. }))
        .collect(),
        built(|b| {
            let z = b.output::<f32, 1>("z", ["N"]);
            copy(b, |b| z.set([b.u32(0)], Elements::each(b.f32(1.0)).at(0)));
        }),
        monoid(None, |m| {
            let v = m.field::<f32>("v", 0.0);
            vec![(v.a + m.exprs().scalar::<f32>("s")).id()]
        }),
        monoid(Some("C"), |m| {
            let (v, e) = (m.field::<f32>("v", 0.0), m.array::<f32>("e", 0.0));
            vec![(v.a + e.b).id(), (e.a + e.b).id()]
        }),
        broken(|k| k.exprs[0] = Expr::Part(Side::A, 0)).into_iter().take(1).collect(),
        broken(|k| k.lets.push(Let { name: "s".into(), value: ExprId(99) })),
    ]
}

/// The right operand of an addition.
fn add_operand(k: &Kernel, add: ExprId) -> ExprId {
    match k.expr(add) {
        Expr::Binary(_, _, b) => *b,
        _ => add,
    }
}

#[test]
fn each_kind_says_what_and_what_to_do() {
    let all = all();
    for errors in &all {
        assert_eq!(errors.len(), 1, "one mistake, one error: {errors:?}");
    }
    let text: Vec<_> = all.iter().map(|e| e[0].to_string()).collect();
    insta::assert_snapshot!(text.join("\n"));
    let kinds: HashSet<_> = all.iter().map(|e| discriminant(&e[0])).collect();
    assert_eq!(kinds.len(), all.len());
}

#[test]
fn all_mistakes_come_at_once() {
    let errors = built(|b| {
        copy(b, |b| {
            b.input::<f32, 1>("z", ["N"]);
            b.scalar::<f32>("x");
            b.each("e", 0, 4, |_| ());
        })
    });
    let kinds: Vec<_> = errors.iter().map(KernelError::to_string).collect();
    insta::assert_snapshot!(kinds.join("\n"));
}

#[test]
fn fields_of_another_count_or_array_are_refused() {
    let ids = |m: &MonoidBuilder| vec![m.field::<f32>("v", 0.0).a.id()];
    assert_eq!(monoid(Some("C"), ids), [KernelError::ArrayExtent { monoid: "M".into(), needed: false }]);
    let none = |m: &MonoidBuilder| {
        m.field::<f32>("v", 0.0);
        vec![]
    };
    assert!(matches!(monoid(None, none)[..], [KernelError::FieldCount { expected: 1, found: 0, .. }]));
    let of_u32 = |m: &MonoidBuilder| vec![m.field::<u32>("v", 0).a.to_f32().id()];
    assert!(matches!(
        monoid(None, of_u32)[..],
        [KernelError::TypeMismatch { found: Type::F32, expected: Type::U32, .. }]
    ));
}
