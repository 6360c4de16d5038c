//! Mistakes in `#[kernel]`, `#[monoid]` and `schedule!`: one error each, under the user's token.

#[test]
fn mistakes_are_errors_under_the_token() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
