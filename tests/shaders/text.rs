//! What a reader should not have to read: guards that cannot fail, loads one by one, and heads that look alike.

use tilewright_models::review;

/// The WGSL of a reviewed program's shaders.
fn texts(kernel: &str, schedule: &str) -> Vec<String> {
    let found = review::subjects().into_iter().find(|s| s.kernel.name == kernel && s.schedule.name == schedule);
    let program = found.expect("the schedule is reviewed").compile().unwrap_or_else(|e| panic!("{e}"));
    program.shaders.into_iter().map(|s| s.wgsl).collect()
}

#[test]
fn whole_vectors_are_neither_guarded_nor_clamped_one_by_one() {
    // D = 896 is 224 vectors of 4: where the first of four is inside, all are.
    let text = &texts("rmsnorm", "subgroup")[0];
    let stores = &text[text.find("for (var i").expect("the loop of the stores")..];
    assert_eq!(stores.matches("y[").count(), 4);
    assert!(!stores.contains("if ") && !stores.contains("min("), "{stores}");
}

#[test]
fn vectors_stay_vectors_where_the_end_is_known_at_run_time_only() {
    // 4 copies of 4 values: four loads, and for each value but the first one guard.
    for (schedule, copies) in [("vectors", 4), ("wide", 2)] {
        let text = &texts("argmax", schedule)[0];
        assert_eq!(text.matches("= x[").count(), copies, "{text}");
        assert!(!text.contains(">> 2u"), "no word of a vector is loaded alone:\n{text}");
        for i in 1..copies * 4 {
            assert_eq!(text.matches(&format!("if v + {i}u < v_end")).count(), 1, "value {i}:\n{text}");
        }
    }
}

#[test]
fn each_part_says_which_it_is() {
    let texts = texts("linear", "row_f16_head");
    let parts: Vec<&str> = texts.iter().filter_map(|t| t.lines().find(|l| l.starts_with("// part "))).collect();
    assert_eq!(parts.len(), 3);
    let number = |text: &str| text.replace(',', "").parse::<u32>().unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut next = 0;
    for (i, part) in parts.iter().enumerate() {
        let rows = part.strip_prefix(&format!("// part {} of 3: rows ", i + 1)).and_then(|p| p.strip_suffix(" of w"));
        let (first, last) = rows.and_then(|r| r.split_once(" to ")).unwrap_or_else(|| panic!("{part}"));
        assert_eq!(number(first), next, "{part}");
        next = number(last) + 1;
    }
    assert_eq!(next, 151_936);
    assert!(parts[1].contains(','), "{}", parts[1]);
}

#[test]
fn heads_count_one_as_one() {
    for text in review::subjects().iter().filter_map(|s| s.compile().ok()).flat_map(|p| p.shaders) {
        let size = text.wgsl.lines().find(|l| l.starts_with("// dispatch ")).expect("a size").to_owned();
        assert!(!size.starts_with("// dispatch 1 workgroups") && !size.ends_with(" of 1 invocations"), "{size}");
        assert!(!text.wgsl.contains("4294967295"), "bits are written in sixteens:\n{}", text.wgsl);
    }
}
