//! `--shaders hlsl`: the same tokens and logits, and one clear line where DXC is not what it should be.

use crate::at_hand::dxc;
use crate::run::{path, program, ran, run};

const PROMPT: &[&str] = &["--temperature", "0", "--max-tokens", "12", "The capital of France is", "--json"];

#[test]
fn the_same_tokens_in_either_language() {
    let Some(dxc) = dxc() else { return };
    let generate = |shaders: &str, rest: &[&str]| {
        run(&[&["generate", "--tier", "6", "--shaders", shaders], rest, PROMPT].concat()).json()
    };
    let (wgsl, hlsl) = (generate("wgsl", &[]), generate("hlsl", &["--dxc", path(dxc.path())]));
    assert_eq!((&wgsl["shaders"], &hlsl["shaders"]), (&"wgsl".into(), &"hlsl".into()));
    assert_eq!(wgsl["token_ids"], hlsl["token_ids"]);
    assert_eq!(wgsl["text"], hlsl["text"]);
}

#[test]
fn the_variable_names_dxc_and_logits_are_equal_bit_for_bit() {
    let Some(dxc) = dxc() else { return };
    let dir = tempfile::tempdir().unwrap();
    let logits = |name: &str, shaders: &str| {
        let file = dir.path().join(name);
        let args =
            ["logits", "--ids", "5,6,7,8", "--all", "--tier", "3", "--shaders", shaders, "--output", path(&file)];
        ran(program(&args).env("TILEWRIGHT_DXC", dxc.path()).output().unwrap()).ok();
        std::fs::read(file).unwrap()
    };
    assert!(logits("wgsl", "wgsl") == logits("hlsl", "hlsl"), "the files differ");
}

#[test]
fn bench_measures_hlsl() {
    let Some(dxc) = dxc() else { return };
    let args = ["bench", "--tiers", "0,6", "--runs", "1", "--prompt-tokens", "3", "--generate", "2", "--json"];
    let out = run(&[&args[..], &["--shaders", "hlsl", "--dxc", path(dxc.path())]].concat()).json();
    assert_eq!(out["tiers"][0]["shaders"], "hlsl");
    assert_eq!(out["tiers"][1]["token_rule"]["passed"], true);
}

/// The program where no variable names DXC; none lies beside a test's program either.
fn without_dxc(args: &[&str]) -> crate::run::Ran {
    ran(program(args).env_remove("TILEWRIGHT_DXC").output().unwrap())
}

#[test]
fn no_dxc() {
    for command in [&["generate", "hi"][..], &["logits", "--ids", "1", "--output", "/dev/null"], &["bench"]] {
        without_dxc(&[command, &["--shaders", "hlsl"]].concat())
            .fails(1, &["HLSL needs DXC, which is not here", "--dxc PATH", "TILEWRIGHT_DXC", "beside the program"]);
    }
}

#[test]
fn a_dxc_that_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("libdxcompiler.so");
    let generate = || run(&["generate", "hi", "--shaders", "hlsl", "--dxc", path(&file)]);
    generate().fails(1, &[path(&file), "cannot be opened", "expected the file"]);
    std::fs::write(&file, "no library\n").unwrap();
    generate().fails(1, &[path(&file), "not a library that can be loaded here"]);
    let mut named = program(&["generate", "hi", "--shaders", "hlsl"]);
    ran(named.env("TILEWRIGHT_DXC", &file).output().unwrap()).fails(1, &[path(&file), "not a library"]);
    run(&["generate", "hi", "--shaders", "hlsl", "--dxc", path(dir.path())]).fails(1, &[path(dir.path()), "a folder"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_dxc_that_is_cut_off_or_a_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("libdxcompiler.so");
    let generate = || run(&["generate", "hi", "--shaders", "hlsl", "--dxc", path(&file)]);
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    generate().fails(1, &[path(&file), "a pipe"]);
    std::fs::remove_file(&file).unwrap();
    let Some(dxc) = dxc() else { return };
    let whole = std::fs::read(dxc.path()).unwrap();
    for part in [whole.len() / 2, whole.len() - 1, 64, 5] {
        std::fs::write(&file, &whole[..part]).unwrap();
        generate().fails(1, &[path(&file), "cut off", &format!("it has {part}"), "cargo xtask dxc"]);
    }
}

#[test]
fn flags_without_a_meaning() {
    run(&["generate", "hi", "--dxc", "x.so"]).fails(2, &["--dxc is given", "WGSL", "--shaders hlsl"]);
    run(&["generate", "hi", "--shaders", "hlsl", "--backend", "interp"])
        .fails(2, &["--shaders hlsl", "--backend interp"]);
    run(&["generate", "hi", "--shaders", "glsl"]).fails(2, &["glsl", "wgsl", "hlsl"]);
}
