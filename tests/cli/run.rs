//! Running the program, and what came of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What a run left behind.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The program, with a quiet environment and nothing kept from other runs.
pub fn program<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.args(args).stdin(Stdio::null()).env("NODEVICE_SELECT", "1").env("TILEWRIGHT_CACHE", "");
    command
}

/// Runs the program with these arguments.
pub fn run<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Ran {
    ran(program(args).output().expect("the program starts"))
}

/// The outcome in text.
pub fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

impl Ran {
    /// The stdout of a run that went well.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "stderr: {}", self.stderr);
        self.stdout
    }

    /// The JSON on the stdout of a run that went well.
    #[track_caller]
    pub fn json(self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e} in: {text}"))
    }

    /// Asserts that the command line's own parser refuses, whose words are not ours.
    #[track_caller]
    pub fn fails_with(self, code: i32) {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(self.stdout.is_empty() && self.stderr.starts_with("error: "), "{}", self.stderr);
    }

    /// Asserts one error on stderr that has all of these parts, nothing on stdout, and this exit code.
    #[track_caller]
    pub fn fails(self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        let errors = self.stderr.lines().filter(|l| l.starts_with("error: ")).count();
        assert_eq!(errors, 1, "not one error: {}", self.stderr);
        assert!(self.stdout.is_empty(), "an error must not print to stdout: {}", self.stdout);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in: {}", self.stderr);
        }
    }
}

/// A small sound model without a tokenizer: 2 layers, 300 ids, a context of 512.
pub fn small_model() -> TempDir {
    small_model_as("f32")
}

/// The same, stored as `dtype`.
pub fn small_model_as(dtype: &str) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    run(&["synth", "--preset", "tiny-test", "--dtype", dtype, path(dir.path())]).ok();
    dir
}

/// Flags that run `model` on the interpreter.
pub fn interpreted<'a>(command: &'a str, model: &'a Path, rest: &[&'a str]) -> Ran {
    let fixed = [command, "--backend", "interp", "--model", path(model)];
    run(&[&fixed, rest].concat())
}

/// A path as an argument.
pub fn path(p: &Path) -> &str {
    p.to_str().expect("a temporary path is UTF-8")
}

/// The folder of the bundled model.
pub fn bundled() -> PathBuf {
    root().join("models/assets/tiny")
}

/// A folder of goldens.
pub fn goldens(name: &str) -> PathBuf {
    root().join("models/tests/goldens").join(name)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Changes a JSON file in place.
pub fn edit(file: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = read_json(file);
    change(&mut value);
    std::fs::write(file, value.to_string()).expect("the file can be written");
}

/// Changes every value of the f32 tensor `name` of a safetensors file.
pub fn edit_tensor(file: &Path, name: &str, change: impl Fn(f32) -> f32) {
    let mut bytes = std::fs::read(file).expect("the file is there");
    let (length, rest) = bytes.split_first_chunk::<8>().expect("a length");
    let length = u64::from_le_bytes(*length) as usize;
    let header: Value = serde_json::from_slice(&rest[..length]).expect("a header in JSON");
    let offset =
        |i: usize| 8 + length + header[name]["data_offsets"][i].as_u64().expect("the tensor is there") as usize;
    let (start, end) = (offset(0), offset(1));
    for value in bytes[start..end].chunks_exact_mut(4) {
        let x = f32::from_le_bytes(value.try_into().unwrap());
        value.copy_from_slice(&change(x).to_le_bytes());
    }
    std::fs::write(file, bytes).expect("the file can be written");
}

/// A JSON file.
pub fn read_json(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).expect("the file is there")).expect("the file is JSON")
}

/// The f32 tensor `name` of a safetensors file, with its shape, read by hand: a header in JSON after its length.
pub fn tensor(file: &Path, name: &str) -> (Vec<u64>, Vec<f32>) {
    let bytes = std::fs::read(file).expect("the file is there");
    let (length, rest) = bytes.split_first_chunk::<8>().expect("a length");
    let (header, data) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let header: Value = serde_json::from_slice(header).expect("a header in JSON");
    let entry = &header[name];
    assert_eq!(entry["dtype"], "F32");
    let numbers = |v: &Value| v.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>();
    let range = numbers(&entry["data_offsets"]);
    let values = data[range[0] as usize..range[1] as usize].chunks_exact(4);
    (numbers(&entry["shape"]), values.map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect())
}
