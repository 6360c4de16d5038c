//! Each damage to each sample is caught: by `verify`, by the interpreter's checks, or by another result.
#![allow(missing_docs, reason = "a test")]

mod mutate;
mod samples;

use mutate::{OF_SCALES, kinds, mutants};
use samples::{Sample, all, fragments};
use std::collections::BTreeSet;
use tilewright_codegen::interp::run;
use tilewright_codegen::loops::LoopIr;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_codegen::text;
use tilewright_codegen::usage::uses_fragments;
use tilewright_codegen::verify::verify;

/// How a shader is found out, if it is.
fn caught(s: &Sample, ir: &LoopIr) -> Option<String> {
    let target = match uses_fragments(&s.ir) {
        true => Target { subgroups: Some(Subgroups { min: 4, max: 4 }), fragments: vec![8], ..Target::webgpu() },
        false => Target::webgpu_subgroups(),
    };
    if let Some(violation) = verify(ir, &target).first() {
        return Some(format!("verify: {violation}"));
    }
    for size in &s.sizes {
        let mut buffers = s.buffers.clone();
        let stats = match run(ir, s.dispatch, &s.params, &mut buffers, *size) {
            Ok(stats) => stats,
            Err(e) => return Some(format!("interp: {e}")),
        };
        if stats.written[s.output].iter().any(|n| *n != 1) {
            return Some("a word is not written once".into());
        }
        let differs = |found: &u32, expected: &f32| {
            let found = f32::from_bits(*found);
            found.is_nan() || (found - expected).abs() > 1e-4 * (1.0 + expected.abs())
        };
        if buffers[s.output].iter().zip(&s.expected).any(|(f, e)| differs(f, e)) {
            return Some("another result".into());
        }
    }
    None
}

#[test]
fn every_mutant_is_caught() {
    let mut seen = BTreeSet::new();
    let mut ways = [0; 3];
    let mut missed = Vec::new();
    for s in all().into_iter().chain([fragments()]) {
        assert_eq!(caught(&s, &s.ir), None, "{} is right as it is", s.ir.name);
        for (name, mutant) in mutants(&s.ir) {
            seen.extend(name.split(" #").next().map(str::to_owned));
            match caught(&s, &mutant) {
                Some(how) => {
                    ways[if how.starts_with("verify") { 0 } else { 1 + usize::from(!how.starts_with("interp")) }] += 1
                }
                None => missed.push(format!("{}: {name}\n{}", s.ir.name, text::dump(&mutant))),
            }
        }
    }
    assert!(missed.is_empty(), "{} mutants are not caught:\n{}", missed.len(), missed.join("\n"));
    let all_kinds = kinds().into_iter().filter(|kind| *kind != OF_SCALES);
    let all_kinds: BTreeSet<String> = all_kinds.map(str::to_owned).collect();
    assert_eq!(seen, all_kinds, "each kind applies to some sample");
    assert!(ways.iter().all(|n| *n > 0), "by verify, by interp, by the result: {ways:?}");
    eprintln!("caught by verify, by interp, by the result: {ways:?}");
}
