//! Kernels written by hand with the builder.

use tilewright_dsl::build::{Builder, MonoidBuilder, argmax};
use tilewright_dsl::check::{self, KernelError};
use tilewright_dsl::ir::*;

fn linear() -> Kernel {
    let b = Builder::new("linear");
    let (w, x) = (b.input::<f32, 2>("w", ["R", "K"]), b.input::<f32, 2>("x", ["T", "K"]));
    let y = b.output::<f32, 2>("y", ["T", "R"]);
    b.each("t", 0, b.extent("T"), |t| {
        b.each("r", 0, b.extent("R"), |r| {
            y.set([t, r], b.sum("k", 0, b.extent("K"), |k| w.at([r, k]) * x.at([t, k])));
        });
    });
    b.finish().expect("linear")
}

#[test]
fn linear_has_its_parts_in_the_order_of_the_text() {
    let k = linear();
    assert_eq!(k.extents, ["R", "K", "T"]);
    assert_eq!(k.axes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(), ["t", "r", "k"]);
    assert_eq!(k.tensor(TensorId(2)).role, Role::Out);
    let [Stmt::For(t, outer)] = &k.body[..] else { panic!("{:?}", k.body) };
    let [Stmt::For(r, inner)] = &outer[..] else { panic!("{outer:?}") };
    let [Stmt::Store(y, _, value)] = &inner[..] else { panic!("{inner:?}") };
    assert_eq!((*t, *r, *y), (AxisId(0), AxisId(1), TensorId(2)));
    let Expr::Field(reduce, 0) = k.expr(*value) else { panic!("{:?}", k.expr(*value)) };
    assert!(matches!(k.expr(*reduce), Expr::Reduce(Reduce { axis: AxisId(2), array: None, .. })));
    assert_eq!(k.type_of(*value), Type::F32);
}

#[test]
fn equal_expressions_are_one() {
    let b = Builder::new("twice");
    let x = b.input::<f32, 1>("x", ["N"]);
    let y = b.output::<f32, 1>("y", ["N"]);
    b.each("i", 0, b.extent("N"), |i| {
        let (first, second) = (x.at([i]) * 2.0, x.at([i]) * 2.0);
        assert_eq!(first.id(), second.id());
        y.set([i], first + second);
    });
    assert!(b.finish().is_ok());
}

#[test]
fn online_softmax_has_an_array_axis() {
    let m = MonoidBuilder::new("Softmax", Some("C"));
    let (top, weight, value) = (m.field("max", LOWEST), m.field("weight", 0.0), m.array("value", 0.0));
    let larger = top.a.max(top.b);
    let (wa, wb) = ((top.a - larger).exp(), (top.b - larger).exp());
    let merge = vec![larger.id(), (weight.a * wa + weight.b * wb).id(), (value.a * wa + value.b * wb).id()];
    let softmax = m.finish(merge).expect("the monoid is well formed");

    let b = Builder::new("mix");
    let (s, v) = (b.input::<f32, 1>("s", ["N"]), b.input::<f32, 2>("v", ["N", "D"]));
    let y = b.output::<f32, 1>("y", ["D"]);
    let n = b.extent("N");
    let mixed = b.fold(&softmax, "j", 0, n, Some(b.extent("D")), |j, c| {
        let c = c.expect("the monoid has an array field");
        vec![s.at([j]).id(), b.f32(1.0).id(), v.at([j, c]).id()]
    });
    b.name("mixed", mixed);
    b.each("d", 0, b.extent("D"), |d| y.set([d], mixed.elements(2).at(d) / mixed.field::<f32>(1)));
    let k = b.finish().expect("the kernel is well formed");
    let axis = k.axis(k.axis_named("softmax.c").expect("the array axis"));
    assert_eq!(
        (axis.kind, k.expr(axis.lo), k.expr(axis.hi)),
        (AxisKind::Array, &Expr::U32(0), &Expr::Extent(ExtentId(1)))
    );
    assert!(matches!(k.expr(k.lets[0].value), Expr::Reduce(_)));
}

#[test]
fn the_known_monoids_are_well_formed() {
    for m in [argmax(), tilewright_dsl::build::sum(), tilewright_dsl::build::max()] {
        assert_eq!(check::monoid(&m), []);
    }
}

#[test]
fn an_axis_does_not_leave_its_loop() {
    let b = Builder::new("leak");
    let x = b.input::<f32, 1>("x", ["N"]);
    let y = b.output::<f32, 1>("y", ["N"]);
    let mut leaked = None;
    b.each("i", 0, b.extent("N"), |i| {
        leaked = Some(i);
        y.set([i], x.at([i]));
    });
    b.each("j", 0, b.extent("N"), |j| y.set([j], x.at([leaked.unwrap_or(j)])));
    let place = "the store to `y`".to_string();
    assert_eq!(b.finish().unwrap_err(), [KernelError::AxisOutOfScope { axis: "i".into(), place }]);
}
