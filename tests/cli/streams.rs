//! Pipes that close and Ctrl-C.

use std::io::Read;
use std::process::Stdio;

use crate::run::{program, ran};

fn endless() -> std::process::Child {
    // One id after another of a model that hardly ever ends.
    let args = ["generate", "--backend", "interp", "--max-tokens", "1500", "--seed", "7", "--temperature", "2", "Once"];
    program(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut child = endless();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0]).expect("some text");
    drop(stdout);
    let ran = ran(child.wait_with_output().expect("the program ends"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn the_first_ctrl_c_keeps_the_text() {
    let mut child = endless();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0]).expect("some text");
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill is there").success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("text in whole characters");
    let ran = ran(child.wait_with_output().expect("the program ends"));
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert_eq!(ran.stderr, "note: interrupted\n");
    assert!(rest.ends_with('\n'), "the line is ended: {rest:?}");
}
