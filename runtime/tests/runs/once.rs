//! Programs that are run once over tensors of the host.

use crate::device;
use std::collections::BTreeMap;
use tilewright_codegen::compile;
use tilewright_codegen::program::Program;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_dsl::eval::{Data, Value, eval};
use tilewright_dsl::ir::Type;
use tilewright_dsl::{kernel, schedule};
use tilewright_runtime::{GraphFault, RuntimeError};

/// Rows of a table by their numbers, scaled, on top of what is there.
#[kernel]
fn gathered(ids: Tensor<u32, T>, table: Tensor<V, D>, y: InOut<T, D>, last: Out<u32, T>, by: f32, first: u32) {
    for t in 0..T {
        for i in 0..D {
            y[t][i] = by * table[ids[t] + first][i] + y[t][i];
        }
        last[t] = ids[t] + first;
    }
}

schedule! { lanes for gathered { t: grid; i: serial, lanes(32); } }
schedule! { halves for gathered from lanes { store table: f16; } }

const EXTENTS: [(&str, u32); 3] = [("T", 3), ("V", 9), ("D", 13)];

fn inputs() -> BTreeMap<String, Data> {
    let eighths = |n: u32, step: u32| Data::F32((0..n).map(|i| (i * step % 29) as f32 / 8.0 - 1.0).collect());
    let tensors = [
        ("ids", Data::U32(vec![5, 0, 3])),
        ("table", eighths(9 * 13, 7)),
        ("y", eighths(3 * 13, 11)),
        ("last", Data::U32(vec![0; 3])),
    ];
    tensors.map(|(name, data)| (name.to_string(), data)).into()
}

fn scalars() -> BTreeMap<String, Value> {
    [("by", Value::F32(0.5)), ("first", Value::U32(2))].map(|(name, value)| (name.to_string(), value)).into()
}

fn fixed() -> Shape {
    EXTENTS.iter().fold(Shape::new(), |shape, (name, n)| shape.fixed(name, *n))
}

fn program(shape: &Shape, target: &Target) -> Program {
    compile(&gathered(), &lanes(), shape, target).unwrap_or_else(|e| panic!("{e}"))
}

/// What the kernel means.
fn meaning() -> BTreeMap<String, Data> {
    let mut tensors = inputs();
    let extents = EXTENTS.map(|(name, n)| (name.to_string(), n)).into();
    eval(&gathered(), &extents, &scalars(), &mut tensors).expect("the kernel has a meaning");
    tensors
}

#[test]
fn tensors_are_read_and_written_by_name() {
    let in_halves = compile(&gathered(), &halves(), &fixed(), device().target()).unwrap_or_else(|e| panic!("{e}"));
    for program in [program(&fixed(), device().target()), in_halves] {
        let mut tensors = inputs();
        tensors.insert("other".into(), Data::U32(vec![7]));
        device().run(&program, &scalars(), &mut tensors).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(tensors.remove("other"), Some(Data::U32(vec![7])), "a name of nobody's");
        assert_eq!(tensors, meaning(), "{}", program.schedule);
        assert_ne!(tensors["y"], inputs()["y"]);
    }
}

#[test]
fn a_run_time_extent_is_a_scalar() {
    let shape = Shape::new().param("T", 5).fixed("V", 9).fixed("D", 13);
    let program = program(&shape, device().target());
    let mut tensors = inputs();
    let longer = |data: &mut Data, n: usize| match data {
        Data::F32(values) => values.resize(n, 0.25),
        Data::U32(values) => values.resize(n, 1),
    };
    for (name, n) in [("ids", 5), ("last", 5), ("y", 5 * 13)] {
        longer(tensors.get_mut(name).expect("it is an input"), n);
    }
    let mut given = scalars();
    let missing = device().run(&program, &given, &mut tensors).expect_err("T is not given");
    assert!(missing.to_string().contains("parameter `T`"), "{missing}");
    given.insert("T".into(), Value::U32(3));
    device().run(&program, &given, &mut tensors).unwrap_or_else(|e| panic!("{e}"));
    // The device's own checks are off: what the program has no room for is never begun.
    for found in [6, 60_000, u32::MAX] {
        let beyond = set_to(&given, "T", Value::U32(found));
        let before = tensors.clone();
        match device().run(&program, &beyond, &mut tensors) {
            Err(RuntimeError::Graph { fault, .. }) => {
                assert_eq!(fault, GraphFault::OverCapacity { name: "T".into(), found, capacity: 5 });
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(tensors, before);
    }
    // Rows beyond T stay.
    let mut expected = meaning();
    for (name, n) in [("ids", 5), ("last", 5), ("y", 5 * 13)] {
        longer(expected.get_mut(name).expect("it is an output"), n);
    }
    assert_eq!(tensors, expected);
}

#[kernel]
fn totals(x: Tensor<R, C>, y: Out<R>) {
    for r in 0..R {
        y[r] = sum(0..C, |c| x[r][c]);
    }
}

schedule! { plain for totals { r: grid; } }

#[test]
fn a_tensor_may_lie_in_parts() {
    let target = Target { max_binding_bytes: 4096, ..device().target().clone() };
    let shape = Shape::new().fixed("R", 150).fixed("C", 13);
    let program = compile(&totals(), &plain(), &shape, &target).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.tensors[0].parts, [64, 64, 22]);
    let x = Data::F32((0..150 * 13).map(|i| i as f32).collect());
    let mut tensors = BTreeMap::from([("x".to_string(), x), ("y".to_string(), Data::F32(vec![0.0; 150]))]);
    device().run(&program, &BTreeMap::new(), &mut tensors).unwrap_or_else(|e| panic!("{e}"));
    // Thirteen numbers from 13 r on.
    assert_eq!(tensors["y"], Data::F32((0..150).map(|r| (13 * (13 * r + 6)) as f32).collect()));
}

fn set_to<T: Clone>(given: &BTreeMap<String, T>, name: &str, value: T) -> BTreeMap<String, T> {
    let mut changed = given.clone();
    set(&mut changed, name, value);
    changed
}

fn set<T>(given: &mut BTreeMap<String, T>, name: &str, value: T) {
    given.insert(name.into(), value);
}

type Change<'c> = &'c dyn Fn(&mut BTreeMap<String, Data>, &mut BTreeMap<String, Value>);

#[test]
fn what_does_not_fit_the_program_is_named() {
    let program = program(&fixed(), device().target());
    let fault = |program: &Program, change: Change| {
        let (mut tensors, mut given) = (inputs(), scalars());
        change(&mut tensors, &mut given);
        match device().run(program, &given, &mut tensors) {
            Err(RuntimeError::Graph { op, fault }) if op == "gathered" => fault,
            other => panic!("{other:?}"),
        }
    };
    let missing = fault(&program, &|t, _| t.retain(|name, _| name != "table"));
    assert_eq!(missing, GraphFault::NoData { tensor: "table".into() });
    let other = fault(&program, &|t, _| set(t, "ids", Data::F32(vec![0.0; 3])));
    assert_eq!(other, GraphFault::OtherType { name: "ids".into(), expected: Type::U32, found: Type::F32 });
    let short = fault(&program, &|t, _| set(t, "y", Data::F32(vec![0.0; 12])));
    assert_eq!(short.to_string(), "tensor `y`: 3 rows of 13 make 39 elements, but there are 12");
    let scalar = fault(&program, &|_, s| set(s, "by", Value::U32(1)));
    assert_eq!(scalar, GraphFault::OtherType { name: "by".into(), expected: Type::F32, found: Type::U32 });
    let scalar = fault(&program, &|_, s| s.retain(|name, _| name != "first"));
    assert_eq!(scalar, GraphFault::NoScalar { name: "first".into() });
    let in_halves = compile(&gathered(), &halves(), &fixed(), device().target()).unwrap_or_else(|e| panic!("{e}"));
    let large = fault(&in_halves, &|t, _| set(t, "table", Data::F32(vec![1e6; 9 * 13])));
    assert_eq!(large, GraphFault::Overflow { tensor: "table".into(), count: 9 * 13 });
}
