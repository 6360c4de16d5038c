//! Ways to run attention and to keep its cache: the text is the same, and what is chosen is told.

use crate::run::{bundled, interpreted, run};

fn greedy(rest: &[&str]) -> crate::run::Ran {
    let plain = ["--temperature", "0", "--max-tokens", "3", "--ids", "286,297,283,2113,272"];
    interpreted("generate", &bundled(), &[&plain[..], rest].concat())
}

#[test]
fn the_tokens_are_the_same() {
    let expected = greedy(&["--json"]).json()["token_ids"].clone();
    for rest in [
        &["--attention", "naive", "--kv", "none"][..],
        &["--attention", "chunked", "--kv-store", "f16"],
        &["--attention", "split", "--kv", "paged", "--kv-store", "f16"],
    ] {
        assert_eq!(greedy(&[rest, &["--json"]].concat()).json()["token_ids"], expected, "{rest:?}");
    }
}

#[test]
fn what_a_variant_costs_is_told() {
    let told = greedy(&["--attention", "naive", "--kv", "paged", "--verbose"]);
    assert!(told.stderr.contains("attention  naive:") && told.stderr.contains("`scores`"), "{}", told.stderr);
    assert!(told.stderr.contains("cache: 1 of 1 pages of 16 positions in use"), "{}", told.stderr);
    let told = greedy(&["--kv", "none", "--verbose"]);
    assert!(told.stderr.contains("cache: none; 11 positions computed again"), "{}", told.stderr);
}

#[test]
fn a_pool_too_small_is_refused_before_anything_runs() {
    let args = ["generate", "--kv", "paged", "--kv-pages", "1", "--max-tokens", "40", "--ids", "1,2,3"];
    run(&args).fails(2, &["pool of 1 pages of 16 positions", "context of 43", "--kv-pages 3"]);
}
