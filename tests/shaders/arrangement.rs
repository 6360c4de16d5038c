//! The arrangement of committed files and insta's twins, step by step in a temporary folder.
//!
//! insta reads its environment once a process, so each step is a run of this test binary of its own.

use crate::kept::Kept;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The folder that a run of its own compares, and the texts that it compares: `NAME=TEXT`, one a line.
const FOLDER: &str = "TILEWRIGHT_KEPT_FOLDER";
const TEXTS: &str = "TILEWRIGHT_KEPT_TEXTS";

#[test]
fn a_folder_is_compared() {
    if let (Some(folder), Ok(texts)) = (std::env::var_os(FOLDER), std::env::var(TEXTS)) {
        let mut kept = Kept::new(Path::new(&folder));
        for (name, text) in texts.lines().filter_map(|line| line.split_once('=')) {
            kept.keep(name, &format!("{text}\n"));
        }
        kept.finish(|folder| folder != "errors");
        return;
    }
    let folder = folder(&[("k/a.wgsl", "one\n")]);
    assert!(run(&folder, &["k/a.wgsl=one"], "auto").is_ok());
    assert!(run(&folder, &["k/a.wgsl=two"], "no").is_err());
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be written");
        fs::write(path, text).expect("the folder can be written");
    }
    folder
}

/// Compares in a process of its own; the message where it fails.
fn run(folder: &TempDir, texts: &[&str], update: &str) -> Result<(), String> {
    let mut command = Command::new(std::env::current_exe().expect("this test has a file"));
    command.args(["--exact", "arrangement::a_folder_is_compared", "--nocapture"]);
    command.env(FOLDER, folder.path()).env(TEXTS, texts.join("\n"));
    command.env("INSTA_UPDATE", update).env("INSTA_FORCE_PASS", "0").env_remove("CI").env_remove("TF_BUILD");
    let output = command.output().expect("the test starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(text) }
}

fn files(folder: &TempDir) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder.path()).expect("the folder is there").flatten() {
        for file in fs::read_dir(entry.path()).expect("a folder").flatten() {
            let path: PathBuf = Path::new(&entry.file_name()).join(file.file_name());
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).expect("the file is there")
}

/// What `cargo insta accept` does.
fn accept(folder: &TempDir, name: &str) {
    let path = |ending: &str| folder.path().join(format!("{name}{ending}"));
    fs::rename(path(".snap.new"), path(".snap")).expect("a change is pending");
}

#[test]
fn a_change_is_pending_until_it_is_accepted_and_then_carried_over() {
    let folder = folder(&[("k/a.wgsl", "one\n"), ("k/b.wgsl", "same\n")]);
    let texts = ["k/a.wgsl=two", "k/b.wgsl=same"];
    let message = run(&folder, &texts, "auto").expect_err("a change must not pass");
    assert!(message.contains("snapshots/k/a.wgsl changes: run `cargo insta review`"), "{message}");
    assert!(message.contains("-one") && message.contains("+two"), "no text diff: {message}");
    assert_eq!(files(&folder), ["k/a.wgsl", "k/a.wgsl.snap", "k/a.wgsl.snap.new", "k/b.wgsl"]);
    assert_eq!(read(&folder, "k/a.wgsl"), "one\n");

    run(&folder, &texts, "auto").expect_err("it is pending still");
    assert_eq!(read(&folder, "k/a.wgsl"), "one\n");

    accept(&folder, "k/a.wgsl");
    run(&folder, &texts, "auto").expect("an accepted change passes");
    assert_eq!(read(&folder, "k/a.wgsl"), "two\n");
    assert_eq!(files(&folder), ["k/a.wgsl", "k/b.wgsl"], "twins are gone when nothing is pending");
    run(&folder, &texts, "no").expect("and in CI");
}

#[test]
fn what_was_accepted_once_is_not_accepted_for_ever() {
    let folder = folder(&[("k/a.wgsl", "one\n")]);
    run(&folder, &["k/a.wgsl=two"], "auto").expect_err("a change must not pass");
    accept(&folder, "k/a.wgsl");
    // The text changed again before the next run: what was accepted is another text.
    let message = run(&folder, &["k/a.wgsl=three"], "auto").expect_err("nobody saw three");
    assert!(message.contains("-one") && message.contains("+three"), "{message}");
    assert_eq!(read(&folder, "k/a.wgsl"), "one\n");
    // Taking the file back from git takes the acceptance back.
    accept(&folder, "k/a.wgsl");
    run(&folder, &["k/a.wgsl=three"], "auto").expect("three was accepted");
    fs::write(folder.path().join("k/a.wgsl"), "one\n").expect("the folder can be written");
    run(&folder, &["k/a.wgsl=three"], "auto").expect_err("the file is the old one again");
    assert_eq!(read(&folder, "k/a.wgsl"), "one\n");
}

#[test]
fn a_new_text_needs_no_line_in_a_test() {
    let folder = folder(&[("k/a.wgsl", "one\n")]);
    let texts = ["k/a.wgsl=one", "new/b.loops=two"];
    run(&folder, &texts, "auto").expect_err("a new file is reviewed too");
    accept(&folder, "new/b.loops");
    run(&folder, &texts, "auto").expect("it was accepted");
    assert_eq!(read(&folder, "new/b.loops"), "two\n");
}

#[test]
fn updating_always_writes_the_plain_files_at_once() {
    let folder = folder(&[("k/a.wgsl", "one\n")]);
    run(&folder, &["k/a.wgsl=two", "k/c.hlsl=three"], "always").expect("everything is accepted");
    assert_eq!((read(&folder, "k/a.wgsl"), read(&folder, "k/c.hlsl")), ("two\n".into(), "three\n".into()));
    assert_eq!(files(&folder), ["k/a.wgsl", "k/c.hlsl"]);
}

#[test]
fn an_orphan_fails() {
    for orphan in ["stray.txt", "k/b.wgsl", "k/b.wgsl.snap", "k/b.wgsl.snap.new", "gone/a.wgsl"] {
        let folder = folder(&[("k/a.wgsl", "one\n"), (orphan, "left\n"), ("errors/x.snap", "not ours\n")]);
        for update in ["auto", "no", "always"] {
            let message = run(&folder, &["k/a.wgsl=one"], update).expect_err("an orphan must not pass");
            assert!(message.contains(&format!("snapshots/{orphan} belongs to nothing: delete it")), "{message}");
            assert!(!message.contains("errors/"), "{message}");
        }
    }
}

#[test]
fn continuous_integration_fails_on_what_is_pending_or_differs() {
    let folder = folder(&[("k/a.wgsl", "one\n")]);
    let message = run(&folder, &["k/a.wgsl=two"], "no").expect_err("a difference must not pass");
    assert!(message.contains("snapshots/k/a.wgsl is not what is generated") && message.contains("+two"), "{message}");
    assert_eq!(files(&folder), ["k/a.wgsl"], "nothing is written");
    let message = run(&folder, &["k/a.wgsl=one", "k/b.wgsl=new"], "no").expect_err("a missing file must not pass");
    assert!(message.contains("snapshots/k/b.wgsl is not what is generated"), "{message}");

    run(&folder, &["k/a.wgsl=two"], "auto").expect_err("a change must not pass");
    let message = run(&folder, &["k/a.wgsl=one"], "no").expect_err("a pending one must not pass");
    assert!(message.contains("snapshots/k/a.wgsl.snap.new is pending"), "{message}");
    // Accepted, and not yet carried over: what is committed is still the old text.
    accept(&folder, "k/a.wgsl");
    run(&folder, &["k/a.wgsl=two"], "no").expect_err("the committed file is the old one");
    assert_eq!(read(&folder, "k/a.wgsl"), "one\n");
}

#[test]
fn a_change_that_is_undone_is_pending_no_more() {
    let folder = folder(&[("k/a.wgsl", "one\n")]);
    run(&folder, &["k/a.wgsl=two"], "auto").expect_err("a change must not pass");
    run(&folder, &["k/a.wgsl=one"], "auto").expect("it was undone");
    assert_eq!(files(&folder), ["k/a.wgsl"]);
}

#[test]
fn the_end_of_a_text_counts() {
    // insta does not look at blank lines at the end; the file has them as they are generated.
    let folder = folder(&[("k/a.wgsl", "one\n\n\n")]);
    run(&folder, &["k/a.wgsl=one"], "no").expect_err("the committed file differs");
    run(&folder, &["k/a.wgsl=one"], "auto").expect("there is nothing to review");
    assert_eq!(read(&folder, "k/a.wgsl"), "one\n");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_one_clear_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&[("k/a.wgsl", "one\n"), ("k/b.wgsl", "one\n")]);
    let inner = folder.path().join("k");
    let allow = |mode: u32| fs::set_permissions(&inner, fs::Permissions::from_mode(mode)).expect("it is ours");
    allow(0o555);
    if fs::write(inner.join("probe"), "").is_ok() {
        // For root no folder is read-only: a folder where the twin would be stops it as well.
        fs::remove_file(inner.join("probe")).expect("it was written");
        fs::create_dir(inner.join("a.wgsl.snap")).expect("root may");
    }
    let message = run(&folder, &["k/a.wgsl=two", "k/b.wgsl=two"], "auto");
    allow(0o755);
    let message = message.expect_err("nothing can be reviewed");
    assert_eq!(message.matches("cannot write").count(), 1, "{message}");
    assert!(message.contains("k/a.wgsl.snap: ") && message.contains("INSTA_UPDATE=no"), "{message}");
    run(&folder, &["k/a.wgsl=one", "k/b.wgsl=one"], "no").expect("comparing needs no writing");
}
