//! DXC on a machine that has none: the library out of a wheel of the Python package index, by its checksum.
//!
//! Linux on x86-64 alone: elsewhere DXC comes with the Vulkan SDK or from Microsoft's releases. It is a tool for tests and for
//! `--shaders hlsl`, lies in the build folder, and is never part of what is built.

use crate::{driver, quietly, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PACKAGE: &str = "compushady-lrtu==0.18.0";
const SHA256: &str = "b76371972f2543a1e83034a86c83cfad678dabf66be0b50b7d78edbcb1c98243";
const INSIDE: &str = "compushady/backends/libdxcompiler_x86_64.so";
const VARIABLE: &str = "TILEWRIGHT_DXC";

/// The library's path: what the variable names, or the one in the build folder, which is fetched if need be.
pub fn ensure() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Ok(named.into());
    }
    let folder = target().join("dxc");
    let library = folder.join("libdxcompiler.so");
    if !library.is_file() {
        fetch(&folder, &library)?;
    }
    Ok(library)
}

/// Names the library to the tests, or says why they will go without.
pub fn name_to(command: &mut Command) {
    match ensure() {
        Ok(library) => drop(command.env(VARIABLE, library)),
        Err(reason) => eprintln!("xtask: no DXC, so nothing checks HLSL: {reason}"),
    }
}

/// The build folder, as cargo finds it.
fn target() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    named.unwrap_or_else(|| root.join("target"))
}

fn fetch(folder: &Path, library: &Path) -> Result<(), String> {
    let elsewhere = format!("install DXC 1.8 or later and set {VARIABLE} to its library");
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(format!("it can be fetched on Linux for x86-64 alone; {elsewhere}"));
    }
    let has_pip = quietly(Command::new("python3").args(["-m", "pip", "--version"]));
    if !has_pip && driver::install(&["python3-pip"]).is_err() {
        return Err(format!("python3 with pip fetches it, which is not here; install python3-pip, or {elsewhere}"));
    }
    let wheels = folder.join("wheel");
    // What an interrupted run left here would be taken for the wheel.
    let _ = fs::remove_dir_all(&wheels);
    fs::create_dir_all(&wheels).map_err(|e| format!("{} cannot be made: {e}", wheels.display()))?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]);
    pip.args(["--implementation", "cp", "--python-version", "3.11", "--abi", "cp311"]);
    run(pip.args(["--platform", "manylinux_2_28_x86_64", "-d"]).arg(&wheels).arg(PACKAGE))?;
    let found = fs::read_dir(&wheels).ok().and_then(|mut files| files.next()?.ok());
    let wheel = found.ok_or_else(|| format!("pip left no file in {}", wheels.display()))?.path();
    check(&wheel)?;
    unpack(&wheel, library)?;
    let _ = fs::remove_dir_all(&wheels);
    Ok(())
}

fn check(wheel: &Path) -> Result<(), String> {
    let output = Command::new("sha256sum").arg(wheel).stderr(Stdio::inherit()).output();
    let output = output.map_err(|e| format!("sha256sum could not be started: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.split_whitespace().next() {
        Some(SHA256) => Ok(()),
        found => {
            Err(format!("{} has the SHA-256 {}; expected {SHA256}", wheel.display(), found.unwrap_or("of nothing")))
        }
    }
}

/// Takes the one file out of the wheel, which is a zip archive; a half-written library never gets the name.
fn unpack(wheel: &Path, library: &Path) -> Result<(), String> {
    let half = library.with_extension("half");
    let script = "import sys, zipfile; open(sys.argv[2], 'wb').write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[3]))";
    run(Command::new("python3").args(["-c", script]).arg(wheel).arg(&half).arg(INSIDE))?;
    fs::rename(&half, library).map_err(|e| format!("{} cannot be written: {e}", library.display()))
}
