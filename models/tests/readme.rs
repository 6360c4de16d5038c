//! What README.md shows as the project's own is the project's own. That its Rust compiles is a documentation test of the runtime.

use tilewright_dsl::schedule::Schedule;
use tilewright_models::kernels::linear;

const README: &str = include_str!("../../README.md");

/// The text between two markers, of which the second is the first one after it.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("README.md has no `{from}`"));
    rest.split_once(to).unwrap_or_else(|| panic!("README.md has no `{to}` after `{from}`")).0
}

#[test]
fn its_kernel_is_linear() {
    let shown = between(README, "use tilewright_dsl::{kernel, schedule};\n\n", "\nschedule! {");
    assert!(shown.contains("#[kernel]\npub fn linear("), "{shown}");
    assert!(
        include_str!("../src/kernels/linear.rs").contains(shown),
        "models/src/kernels/linear.rs does not hold\n{shown}"
    );
}

#[test]
fn its_schedule_is_coalesced() {
    let block = between(README, "\nschedule! {\n", "\n}\n```");
    let text = format!("schedule {}", between(block, "pub ", "\n    }")) + "\n}";
    let shown: Schedule = text.parse().unwrap_or_else(|e| panic!("{text}\n{e}"));
    assert_eq!(shown, linear::coalesced());
}

#[test]
fn its_fusion_is_that_of_qkv() {
    let (_, kernel) = include_str!("../src/kernels/qkv.rs").split_once("pub fn qkv()").expect("qkv is a function");
    let text = format!("let{}", between(README, "```rust,ignore\nlet", "```"));
    let shown: Vec<&str> = text.lines().map(str::trim).collect();
    assert!(shown.len() > 5, "{shown:?}");
    let left = kernel.lines().map(str::trim).filter(|line| shown.contains(line)).collect::<Vec<_>>();
    assert_eq!(left, shown, "lines of models/src/kernels/qkv.rs and README.md's, in their order");
}
