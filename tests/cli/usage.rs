//! Command lines that are wrong whatever the model and the machine: exit code 2, before anything is opened.

use crate::run::run;

#[test]
fn a_wrong_flag_is_named_with_what_was_found_and_what_is_expected() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["generate", "--tier", "99", "hi"], &["--tier", "`99`", "0 to 12", "auto"]),
        (&["generate", "--tier", "-1", "hi"], &["--tier", "`-1`", "0 to 12"]),
        (&["bench", "--tiers", "0..99"], &["--tiers", "`99`", "0 to 12"]),
        (&["bench", "--tiers", "3..1"], &["--tiers", "3..1", "lower tier first"]),
        (&["generate", "--ids", "1,x"], &["--ids", "`x`", "whole numbers"]),
        (&["generate", "--ids", ""], &["--ids", "whole numbers"]),
        (&["generate", "--ids", "1", "hi"], &["--ids", "PROMPT"]),
        (&["generate", "--ids", "1", "--chat"], &["--ids", "--chat"]),
        (&["generate", "--system", "x", "hi"], &["--chat"]),
        (&["generate", "--temperature", "-1", "hi"], &["--temperature", "-1", "from 0"]),
        (&["generate", "--temperature", "nan", "hi"], &["--temperature", "NaN", "from 0"]),
        (&["generate", "--top-p", "1.5", "hi"], &["--top-p", "1.5", "over 0 and at most 1"]),
        (&["generate", "--top-p", "0", "hi"], &["--top-p", "0", "over 0 and at most 1"]),
        (&["generate", "--top-p", "many", "hi"], &["--top-p", "many", "a number such as 0.7"]),
        (&["generate", "--repetition-penalty", "0", "hi"], &["--repetition-penalty", "is 0", "over 0"]),
        (&["generate", "--max-tokens", "0", "hi"], &["--max-tokens", "0", "from 1 to 4294967295"]),
        (&["generate", "--max-tokens", "-1", "hi"], &["--max-tokens", "'-1'", "from 1 to 4294967295"]),
        (&["generate", "--seed", "-1", "hi"], &["--seed", "'-1'", "from 0 to 18446744073709551615"]),
        (&["generate", "--top-k", "-1", "hi"], &["--top-k", "'-1'", "from 0 to"]),
        (&["generate", "--ids", "-1"], &["--ids", "`-1`", "whole numbers from 0"]),
        (&["generate", "--ids", "-1,2"], &["--ids", "`-1`", "whole numbers from 0"]),
        (&["generate", "--context", "-1", "hi"], &["--context", "'-1'", "from 1 to 4294967295"]),
        (&["bench", "--generate", "1"], &["--generate", "'1'", "from 2 to 4294967295"]),
        (&["bench", "--tiers", "-1..3"], &["--tiers", "`-1`", "0 to 12"]),
        (&["bench", "--runs", "-5"], &["--runs", "'-5'", "from 1 to 4294967295"]),
        (&["synth", "--preset", "tiny-test", "--seed", "-1", "out"], &["--seed", "'-1'", "from 0 to"]),
        (&["generate", "--sampler", "gpu", "hi"], &["--sampler", "gpu", "device", "pairs", "host"]),
        (&["generate", "--backend", "cuda", "hi"], &["--backend", "cuda", "wgpu", "interp"]),
        (&["generate", "--backend", "interp", "--profile", "hi"], &["--profile", "--backend interp"]),
        (&["generate", "--backend", "interp", "--adapter", "0", "hi"], &["--adapter", "--backend interp"]),
        (&["bench", "--backend", "interp", "--adapter", "nosuch"], &["--adapter", "--backend interp"]),
        (
            &["logits", "--ids", "1", "--output", "/dev/null", "--backend", "interp", "--adapter", "x"],
            &["--adapter", "--backend interp"],
        ),
        (&["generate", "--target", "nonsense=1", "hi"], &["--target", "`nonsense` is no limit", "max_binding_bytes"]),
        (&["generate", "--target", "/no/such.json", "hi"], &["--target", "/no/such.json", "JSON file", "no file"]),
        (&["generate", "--target", "foo", "hi"], &["--target", "'foo'", "`webgpu`", "key=value", "max_workgroups"]),
        (
            &["generate", "--target", "max_binding_bytes=0", "hi"],
            &["--target", "`max_binding_bytes` is 0", "from 16384"],
        ),
        (&["doctor", "--target", "max_invocations=0"], &["--target", "`max_invocations` is 0", "from 1"]),
        (&["bench", "--target", "subgroups=maybe"], &["--target", "`subgroups` is `maybe`", "`off`", "4..128"]),
        (&["bench", "--target", "subgroups=on"], &["--target", "`subgroups` is `on`", "`off`", "4..128"]),
        (&["bench", "--target", "max_workgroups=-1"], &["--target", "`max_workgroups` is `-1`", "at most 4294967295"]),
        (&["generate", "--attention", "flash", "hi"], &["--attention", "flash", "naive", "split"]),
        (&["generate", "--kv-store", "f8", "hi"], &["--kv-store", "f8", "f16"]),
        (&["bench", "--kv", "ring"], &["--kv", "ring", "contiguous", "paged"]),
        (&["generate", "--kv-pages", "3", "hi"], &["--kv-pages", "no pages", "--kv paged"]),
        (&["generate", "--kv", "paged", "--kv-pages", "0", "hi"], &["--kv-pages", "'0'", "from 1"]),
        (&["logits", "--ids", "1"], &["--output"]),
        (&["synth", "--preset", "qwen9", "out"], &["--preset", "qwen9", "qwen2.5-0.5b"]),
        (&["synth", "--preset", "tiny-test", "--dtype", "int4", "out"], &["--dtype", "int4", "bf16"]),
        (&["bench", "--force"], &["--report"]),
        (&["bench", "--json", "--markdown"], &["--json", "--markdown"]),
        (&["generat", "hi"], &["generat", "generate"]),
    ];
    for (args, parts) in cases {
        println!("{args:?}");
        let ran = run(args);
        assert!(!ran.stderr.contains("as a value"), "a misleading tip: {}", ran.stderr);
        ran.fails(2, parts);
    }
}

#[test]
fn help_teaches_and_is_no_error() {
    for (args, parts) in [
        (&["--help"][..], &["generate", "doctor", "Exit codes", "1 failed", "2 the command line", "130"][..]),
        (&["generate", "--help"], &["--json", "null where nothing was", "measured"]),
        (&["shaders", "show", "--help"], &["256 invocations", "128 MiB a binding", "4 to 128"]),
        (&["generate", "--help"], &["Examples:", "--temperature", "generation_config.json"]),
        (&["bench", "--help"], &["--report", "tier 0"]),
        (&["shaders", "show", "--help"], &["wgsl-web", "loops"]),
    ] {
        let text = run(args).ok();
        for part in parts {
            assert!(text.contains(part), "no {part:?} in {args:?}: {text}");
        }
        assert!(!text.contains('\u{1b}'), "colours belong on a terminal");
        assert!(!text.contains("[default: \"\"]") && !text.contains("[default: ]"), "{args:?}: {text}");
    }
    assert_eq!(run(&["--version"]).ok(), concat!("tilewright ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn no_command_shows_the_commands() {
    let ran = run::<&str>(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("Usage: tilewright <COMMAND>"), "{}", ran.stderr);
}
