//! What a newcomer types: `cargo xtask demo`, `cargo xtask test` and `cargo xtask bench-report`.
//!
//! Each command does its own set-up on a fresh Debian or Ubuntu and says what to do elsewhere. Every step is printed as the
//! command line that it is, so that it can be repeated by hand. This package has no dependencies, so that it starts at once.

mod browser;
mod driver;
mod dxc;

use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask demo [ARGS]   build tilewright and let the bundled model write; ARGS go to `tilewright generate`
cargo xtask test [ARGS]   format, lints, tests, documentation; ARGS go to the test runner
cargo xtask bench-report [ARGS]   every figure on one page, into target/bench-report; ARGS go to `tilewright report`
cargo xtask dxc           fetches DXC, the compiler of HLSL, and prints where it lies";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next();
    let rest: Vec<String> = args.collect();
    let done = match command.as_deref() {
        Some("demo") => demo(&rest),
        Some("test") => test(&rest),
        Some("bench-report") => bench_report(&rest),
        Some("dxc") => dxc::ensure().map(|library| println!("{}", library.display())),
        _ => Err(format!("expected `demo`, `test`, `bench-report` or `dxc`\n{USAGE}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demo(args: &[String]) -> Result<(), String> {
    driver::ensure();
    run(&mut cargo(&["build", "--release", "--package", "tilewright"]))?;
    let default = ["The capital of France is", "--temperature", "0", "--max-tokens", "48"];
    let mut generate = cargo(&["run", "--quiet", "--release", "--package", "tilewright", "--", "generate"]);
    match args.is_empty() {
        true => generate.args(default),
        false => generate.args(args),
    };
    run(&mut generate)
}

fn bench_report(args: &[String]) -> Result<(), String> {
    driver::ensure();
    run(&mut cargo(&["build", "--release", "--package", "tilewright"]))?;
    let mut report = cargo(&["run", "--quiet", "--release", "--package", "tilewright", "--", "report"]);
    if !args.iter().any(|a| a.starts_with("--output")) {
        report.args(["--output", "target/bench-report", "--force"]);
    }
    run(report.args(args))
}

fn test(args: &[String]) -> Result<(), String> {
    driver::ensure();
    browser::ensure();
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    if has_nextest() {
        let mut tests = cargo(&["nextest", "run", "--workspace"]);
        dxc::name_to(&mut tests);
        run(tests.args(args))?;
        run(&mut cargo(&["test", "--workspace", "--doc"]))?;
    } else {
        let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
        dxc::name_to(&mut tests);
        run(tests.args(args))?;
    }
    run(cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Installs the test runner if need be; `cargo test` runs the same tests, only with less order.
fn has_nextest() -> bool {
    quietly(&mut cargo(&["nextest", "--version"]))
        || run(&mut cargo(&["install", "cargo-nextest", "--locked"])).is_ok()
        || {
            eprintln!("xtask: cargo-nextest cannot be installed; `cargo test` takes its place");
            false
        }
}

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // Mesa's device selection looks for a display and prints an error where there is none.
        command.env("NODEVICE_SELECT", "1");
    }
    command
}

/// Prints a command line and runs it.
fn run(command: &mut Command) -> Result<(), String> {
    let line = shown(command);
    eprintln!("xtask: {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` failed ({status})")),
        Err(error) => Err(format!("`{line}` could not be started: {error}")),
    }
}

/// Whether a command succeeds, without a word.
fn quietly(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_stem().unwrap_or_default();
    let quoted = |word: &std::ffi::OsStr| {
        let word = word.to_string_lossy();
        if word.contains(' ') { format!("'{word}'") } else { word.into_owned() }
    };
    std::iter::once(program).chain(command.get_args()).map(quoted).collect::<Vec<_>>().join(" ")
}
