//! The canonical text of schedules and messages about it.

use proptest::prelude::*;
use tilewright_dsl::diagnostic::render;
use tilewright_dsl::schedule::*;

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,4}(\\.[a-z]{1,2})?"
}

/// The names of up to four things, all different.
fn names() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::btree_set(name(), 0..4).prop_map(|names| names.into_iter().collect())
}

fn levels() -> impl Strategy<Value = Vec<Level>> {
    let level = (0..LevelKind::ALL.len(), 1..=u32::MAX, any::<bool>()).prop_map(|(kind, n, open)| {
        let kind = LevelKind::ALL[kind];
        let may_open = matches!(kind, LevelKind::Grid | LevelKind::Serial);
        Level { kind, size: (!open || !may_open).then_some(n), name: None }
    });
    proptest::collection::vec(level, 1..4)
}

/// A value for each of some names.
fn each<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = Vec<(String, T)>> {
    let value = (0..all.len()).prop_map(|i| all[i]);
    (names(), proptest::collection::vec(value, 4)).prop_map(|(names, values)| names.into_iter().zip(values).collect())
}

prop_compose! {
    fn schedules()(
        (name, kernel, workgroup) in (name(), name(), proptest::option::of(1..=u32::MAX)),
        (axes, levels) in (names(), proptest::collection::vec(levels(), 4)),
        (folds, stores, tails) in (each(Fold::ALL), each(Storage::ALL), each(Tail::ALL)),
        (stages, computes, at) in (each(Place::ALL), each(Place::ALL), name()),
        (narrow, ahead) in (proptest::bool::ANY, proptest::bool::ANY),
    ) -> Schedule {
        let mut axes: Vec<_> = axes.into_iter().zip(levels).map(|(axis, levels)| AxisLevels { axis, levels }).collect();
        let serial = axes.iter_mut().flat_map(|a| &mut a.levels).filter(|l| l.kind == LevelKind::Serial);
        serial.enumerate().for_each(|(i, level)| level.name = (i % 2 == 0).then(|| format!("level{i}")));
        let storage = if narrow { Storage::F16 } else { Storage::F32 };
        let stages = stages.into_iter().map(|(tensor, place)| Stage { tensor, at: at.clone(), place, storage, ahead }).collect();
        let computes = computes.into_iter().map(|(value, place)| Compute { value, at: at.clone(), place }).collect();
        Schedule { name, kernel, workgroup, axes, folds, stages, computes, stores, tails, origin: Origin::default() }
    }
}

proptest! {
    #[test]
    fn text_reads_back_to_an_equal_value(s in schedules()) {
        prop_assert_eq!(s.to_string().parse::<Schedule>(), Ok(s.clone()));
        let file = format!("// two of them\n{s}\n{}", Schedule::empty("k"));
        prop_assert_eq!(parse_file("f", &file), Ok(vec![s.clone(), Schedule::empty("k")]));
        let printed = s.printed();
        for (spot, span) in printed.spots {
            let text = &printed.text[span];
            let expected = match spot {
                Spot::Workgroup => s.workgroup.map(|n| n.to_string()),
                Spot::Axis(axis) => Some(axis),
                Spot::Level(axis, i) => s.levels(&axis).map(|l| l[i].to_string()),
                Spot::Fold(axis) => Some(s.fold(&axis).to_string()),
                Spot::Store(tensor) => Some(s.storage(&tensor).to_string()),
                Spot::Tail(axis) => Some(s.tail(&axis).to_string()),
                Spot::Name => Some(s.name.clone()),
                Spot::Stage(tensor, place) => {
                    let stage = s.stages.iter().find(|x| x.tensor == tensor).expect("it is in the schedule");
                    let storage = if stage.storage == Storage::F16 { " f16" } else { "" };
                    let ahead = if stage.ahead { " ahead" } else { "" };
                    Some(format!("stage {tensor} at {}: {place}{storage}{ahead}", stage.at))
                }
                Spot::Compute(value) => {
                    let compute = s.computes.iter().find(|c| c.value == value).expect("it is in the schedule");
                    let tail = if compute.place == Place::Workgroup { ": workgroup" } else { "" };
                    Some(format!("compute {value} at {}{tail}", compute.at))
                }
            };
            prop_assert_eq!(Some(text), expected.as_deref());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(schedule|for|fold|stage|at|as|serial|grid|[a-z.]{1,3}|[0-9]{1,11}|[{}();:,/ \n€]){0,30}") {
        if let Ok(schedules) = parse_file("f", &text) {
            let again: String = schedules.iter().map(Schedule::to_string).collect();
            prop_assert_eq!(parse_file("f", &again), Ok(schedules));
        }
    }
}

const WIDE: &str = "\
schedule wide for linear {
    workgroup 64;
    k: serial as ko, lanes(64), vector(4);
    fold k: tree;
    stage w at ko: workgroup;
    compute s at t;
    compute z at t: workgroup;
    store w: f16;
    tail k: exact;
}
";

#[test]
fn the_canonical_text_has_this_form() {
    assert_eq!(WIDE.parse::<Schedule>().expect("it is canonical").to_string(), WIDE);
}

#[test]
fn a_file_may_derive() {
    let text =
        format!("{WIDE}schedule narrow for linear from wide {{ k: serial as ko, lanes(32); tail k: guard; t: grid; }}");
    let [wide, narrow] = &parse_file("my.schedules", &text).expect("it is well formed")[..] else {
        panic!("two schedules")
    };
    assert_eq!((narrow.workgroup, narrow.fold("k"), narrow.tail("k")), (wide.workgroup, wide.fold("k"), Tail::Guard));
    assert_eq!(narrow.axes.iter().map(|a| (a.axis.as_str(), a.levels.len())).collect::<Vec<_>>(), [("k", 2), ("t", 1)]);
    assert_eq!(narrow.origin.start, Position { file: "my.schedules".into(), line: 11, column: 1 });
    let at = |spot| narrow.origin.of(&spot).map(|p| (p.line, p.column));
    let level = |i| Spot::Level("k".into(), i);
    // What the base says stands where the base stands; what the schedule itself says, in its own line.
    assert_eq!(at(Spot::Workgroup), Some((2, 15)));
    assert_eq!(at(Spot::Fold("k".into())), Some((4, 13)));
    assert_eq!(at(Spot::Stage("w".into(), Place::Workgroup)), Some((5, 5)));
    assert_eq!((at(level(0)), at(level(1)), at(level(2))), (Some((11, 43)), Some((11, 57)), None));
    assert_eq!(at(Spot::Tail("k".into())), Some((11, 76)));
    assert_eq!(at(Spot::Name), Some((11, 10)));
}

#[test]
fn mistakes_say_where_and_what() {
    let error = |text: &str| parse_file("f", text).expect_err(text).to_string();
    insta::assert_snapshot!(
        [
            "schedule a for",
            "schedule a for k { t: grid }",
            "schedule a for k {\n  t: lanes; }",
            "schedule a for k { t: lanes(0); }",
            "schedule a for k { workgroup 4294967296; }",
            "schedule a for k { t: blocks; }",
            "schedule a for k { t: matrix; }",
            "schedule a for k { store w: nf4; }",
            "schedule a for k { store w: nf4(32); }",
            "schedule a for k { store w: int4(channel); }",
            "schedule a for k { merge a with b; }",
            "schedule a for k { fold t: tree; // again\n fold t: tree; }",
            "schedule a for k { t: grid; t: grid; }",
            "schedule a for k { t: serial as s; k: serial as s; stage x at s: workgroup; stage x at t: workgroup; }",
            "schedule a for k { } schedule a for k { }",
            "schedule a for k { # grid first\n t: grid; }",
            "  \n // nothing\n",
            "schedule a for k { stage w: workgroup; }",
            "schedule a for k { stage w at t: thread; }",
            "schedule a for k { compute s at t: thread; }",
            "schedule a for k from b { }",
            "schedule a for k { € }",
            "schedule a. for k { }",
        ]
        .map(error)
        .join("\n")
    );
    assert!("schedule a for k { } }".parse::<Schedule>().is_err());
}

#[test]
fn all_mistakes_of_a_text_come_at_once() {
    let text = "\
schedule a for k {
    workgroup none;
    t: lanes, grid;
    store w: f64
}
schedule b of k { u: blocks; }
schedule c for k from a {
    t: grid;
    v: grid(0);
schedule d for k from z { t: serial }
";
    let SyntaxErrors(errors) = parse_file("f", text).expect_err("it is full of mistakes");
    let at: Vec<_> = errors.iter().map(|e| (e.line, e.column)).collect();
    assert_eq!(at, [(2, 15), (3, 13), (4, 14), (6, 12), (6, 22), (9, 13), (10, 1), (10, 23), (10, 37)], "{errors:#?}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let [s] = &parse_file("f", "\u{feff}schedule a for k { t: grid; }").expect("it is well formed")[..] else {
        panic!("one schedule")
    };
    assert_eq!((s.name.as_str(), s.origin.start.column), ("a", 1));
}

#[test]
fn a_message_points_into_the_text() {
    let mut s: Schedule = WIDE.parse().expect("it is canonical");
    let parts = [(Spot::Level("k".into(), 1), (33, 23)), (Spot::Tail("k".into()), (139, 17))];
    s.origin = Origin::new("models/src/kernels/linear.rs", (31, 1), parts);
    let label = |spot, text: &str| (spot, text.to_string());
    let level = |i| Spot::Level("k".into(), i);
    let message = render(
        "64 × 4 does not divide axis `k` of 896 (kernel `linear`, schedule `wide`)",
        &s,
        &[
            label(level(1), ""),
            label(level(2), "256 a step, and 896 = 3 × 256 + 128"),
            label(Spot::Tail("k".into()), "asserts that it divides"),
        ],
        &["`lanes(32)` divides; or drop `tail k: exact`, and the last step is masked".into()],
    );
    insta::assert_snapshot!(message, @r"
    error: 64 × 4 does not divide axis `k` of 896 (kernel `linear`, schedule `wide`)
      --> models/src/kernels/linear.rs:33:23
     33 |  k: serial as ko, lanes(64), vector(4)
        |                   ^^^^^^^^^  ^^^^^^^^^ 256 a step, and 896 = 3 × 256 + 128
    139 |  tail k: exact
        |          ^^^^^ asserts that it divides
        = help: `lanes(32)` divides; or drop `tail k: exact`, and the last step is masked
    ");
    let labels = [label(level(0), "first"), label(level(1), "second"), label(Spot::Axis("q".into()), "`q` is no axis")];
    insta::assert_snapshot!(render("two", &s, &labels, &[]), @r"
    error: two
      --> models/src/kernels/linear.rs:33:23
    33 |  k: serial as ko, lanes(64), vector(4)
       |     ^^^^^^^^^^^^ first
       |                   ^^^^^^^^^ second
       = note: `q` is no axis
    ");
}
