//! Command lines that are wrong whatever the model and the machine: exit code 2, before anything is opened.

use crate::run::run;

#[test]
fn a_wrong_flag_is_named_with_what_was_found_and_what_is_expected() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["generate", "--tier", "9", "hi"], &["--tier", "`9`", "0 to 6", "auto"]),
        (&["generate", "--tier", "-1", "hi"], &["--tier", "`-1`", "0 to 6"]),
        (&["bench", "--tiers", "0..9"], &["--tiers", "`9`", "0 to 6"]),
        (&["bench", "--tiers", "3..1"], &["--tiers", "3..1", "lower tier first"]),
        (&["generate", "--ids", "1,x"], &["--ids", "`x`", "whole numbers"]),
        (&["generate", "--ids", ""], &["--ids", "whole numbers"]),
        (&["generate", "--ids", "1", "hi"], &["--ids", "PROMPT"]),
        (&["generate", "--ids", "1", "--chat"], &["--ids", "--chat"]),
        (&["generate", "--system", "x", "hi"], &["--chat"]),
        (&["generate", "--temperature", "-1", "hi"], &["--temperature", "-1", "from 0"]),
        (&["generate", "--temperature", "nan", "hi"], &["--temperature", "NaN", "from 0"]),
        (&["generate", "--top-p", "1.5", "hi"], &["--top-p", "1.5", "0 to 1"]),
        (&["generate", "--repetition-penalty", "0", "hi"], &["--repetition-penalty", "is 0", "over 0"]),
        (&["generate", "--max-tokens", "0", "hi"], &["--max-tokens", "0", "1.."]),
        (&["generate", "--backend", "cuda", "hi"], &["--backend", "cuda", "wgpu", "interp"]),
        (&["generate", "--backend", "interp", "--profile", "hi"], &["--profile", "--backend interp"]),
        (&["generate", "--target", "nonsense=1", "hi"], &["--target", "nonsense", "max_binding_bytes"]),
        (&["generate", "--target", "/no/such.json", "hi"], &["--target", "/no/such.json", "JSON file"]),
        (&["logits", "--ids", "1"], &["--output"]),
        (&["synth", "--preset", "qwen9", "out"], &["--preset", "qwen9", "qwen2.5-0.5b"]),
        (&["synth", "--preset", "tiny-test", "--dtype", "int4", "out"], &["--dtype", "int4", "bf16"]),
        (&["bench", "--force"], &["--report"]),
        (&["bench", "--json", "--markdown"], &["--json", "--markdown"]),
        (&["generat", "hi"], &["generat", "generate"]),
    ];
    for (args, parts) in cases {
        println!("{args:?}");
        run(args).fails(2, parts);
    }
}

#[test]
fn help_teaches_and_is_no_error() {
    for (args, parts) in [
        (&["--help"][..], &["generate", "doctor", "Exit codes"][..]),
        (&["generate", "--help"], &["Examples:", "--temperature", "generation_config.json"]),
        (&["bench", "--help"], &["--report", "tier 0"]),
        (&["shaders", "show", "--help"], &["wgsl-web", "loops"]),
    ] {
        let text = run(args).ok();
        for part in parts {
            assert!(text.contains(part), "no {part:?} in {args:?}: {text}");
        }
        assert!(!text.contains('\u{1b}'), "colours belong on a terminal");
    }
    assert_eq!(run(&["--version"]).ok(), concat!("tilewright ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn no_command_shows_the_commands() {
    let ran = run::<&str>(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("Usage: tilewright <COMMAND>"), "{}", ran.stderr);
}
