//! DXC: what it makes of texts, and one clear line for each way in which it is not there.

mod at_hand;

use at_hand::dxc;
use std::path::{Path, PathBuf};
use std::process::Command;
use tilewright_codegen::hlsl::Registers;
use tilewright_runtime::{Dxc, DxcError};

const COPY: Registers = Registers { read: 1, write: 1, uniform: 0 };

/// A text of one statement that copies words, in the form of every generated one.
fn copying(statement: &str) -> String {
    format!(
        "ByteAddressBuffer x : register(t0);\nRWByteAddressBuffer y : register(u0);\n[{GROUP}(64, 1, 1)]\nvoid main(uint lane : SV_GroupIndex) {{\n    {statement}\n}}\n"
    )
}

/// Apart, because shader words stay in the printers.
const GROUP: &str = concat!("num", "threads");

fn refused(result: Result<impl Sized, DxcError>) -> String {
    match result.err().expect("the text is wrong") {
        DxcError::Refused { messages } => messages,
        other => panic!("{other}"),
    }
}

#[test]
fn it_makes_spirv_and_dxil() {
    let Some(dxc) = dxc() else { return };
    let text = copying("y.Store(lane * 4u, x.Load(lane * 4u));");
    let words = dxc.spirv(&text, "main", COPY).unwrap();
    assert_eq!(words[0], 0x0723_0203, "SPIR-V's magic number");
    // OpDecorate (71, four words long) of a Binding (33): one of each number, in set 0.
    let bindings: Vec<u32> = words.windows(4).filter(|w| w[0] == 71 | 4 << 16 && w[2] == 33).map(|w| w[3]).collect();
    assert_eq!(bindings, [0, 1]);
    let dxil = dxc.dxil(&text, "main", COPY).unwrap();
    assert_eq!(&dxil[..4], b"DXBC");
    let listing = dxc.disassemble(&dxil).unwrap();
    assert!(
        listing.contains("define void @main()") && listing.contains("rawBufferLoad") | listing.contains("bufferLoad"),
        "{listing}"
    );
    assert!(format!("{dxc:?}").starts_with("DXC 1."), "{dxc:?}");
}

#[test]
fn it_refuses_what_is_wrong() {
    let Some(dxc) = dxc() else { return };
    let unknown = copying("y.Store(lane * 4u, z);");
    assert!(refused(dxc.spirv(&unknown, "main", COPY)).contains("undeclared identifier 'z'"));
    assert!(refused(dxc.dxil(&unknown, "main", COPY)).contains("undeclared identifier 'z'"));
    let warned = copying("float2 v = asfloat(x.Load4(0u)); y.Store(lane * 4u, asuint(v.x));");
    for message in [refused(dxc.spirv(&warned, "main", COPY)), refused(dxc.dxil(&warned, "main", COPY))] {
        assert!(message.contains("implicit truncation"), "{message}");
    }
    // What the validator of DXIL alone finds, and no word about signatures beside it.
    let right = copying("y.Store(lane * 4u, x.Load(lane * 4u));");
    let message = refused(dxc.dxil(&right, "main", Registers { read: 0, ..COPY }));
    assert!(message.contains("not fully bound in root signature") && !message.contains("signing"), "{message}");
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dxc");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A library made of Rust text.
fn library(name: &str, text: &str) -> PathBuf {
    let (source, path) = (folder().join(format!("{name}.rs")), folder().join(format!("{name}.so")));
    std::fs::write(&source, text).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    let run = command.args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-o"]).arg(&path).arg(&source);
    let run = run.output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    path
}

/// A DXC whose one object answers every question with itself and tells `version` as its own.
fn pretender(name: &str, version: &str) -> PathBuf {
    let text = format!(
        r#"
        use std::ffi::c_void;
        struct Object(&'static [usize; 4]);
        extern "C" fn query(this: *mut c_void, _: *const c_void, out: *mut *mut c_void) -> i32 {{
            unsafe {{ *out = this }};
            0
        }}
        extern "C" fn count(_: *mut c_void) -> u32 {{ 1 }}
        extern "C" fn version(_: *mut c_void, major: *mut u32, minor: *mut u32) -> i32 {{
            {version}
            0
        }}
        #[unsafe(no_mangle)]
        pub extern "C" fn DxcCreateInstance(_: *const c_void, _: *const c_void, out: *mut *mut c_void) -> i32 {{
            let table = Box::leak(Box::new([query as *const () as usize, count as *const () as usize, count as *const () as usize, version as *const () as usize]));
            unsafe {{ *out = Box::leak(Box::new(Object(table))) as *mut Object as *mut c_void }};
            0
        }}"#
    );
    library(name, &text)
}

fn fails(path: &Path) -> String {
    let message = Dxc::open(path).expect_err("it is no DXC that will do").to_string();
    assert!(message.contains(&path.display().to_string()), "no file is named: {message}");
    assert!(message.lines().count() <= 2, "more than a line and its help: {message}");
    message
}

#[test]
fn a_file_that_is_no_dxc_says_so() {
    let missing = folder().join("missing.so");
    assert!(fails(&missing).contains("cannot be opened: No such file"));
    let text = folder().join("text.so");
    std::fs::write(&text, "this is not a library\n").unwrap();
    assert!(fails(&text).contains("not a library that can be loaded here"));
    assert!(fails(&folder()).contains("not a library that can be loaded here"));
    let other = library("other", "#[unsafe(no_mangle)] pub extern \"C\" fn something() {}");
    assert!(fails(&other).contains("it has no `DxcCreateInstance`"));
    let failing = "#[unsafe(no_mangle)] pub extern \"C\" fn DxcCreateInstance(_: usize, _: usize, _: usize) -> i32 { -2147467262 }";
    assert!(fails(&library("failing", failing)).contains("is broken: its compiler gives 0x80004002"));
    let empty = "#[unsafe(no_mangle)] pub extern \"C\" fn DxcCreateInstance(_: usize, _: usize, _: usize) -> i32 { 0 }";
    assert!(fails(&library("empty", empty)).contains("is broken: its compiler gives no object"));
}

#[test]
fn an_old_dxc_is_refused_and_a_new_one_is_not() {
    let old = pretender("old", "unsafe { (*major, *minor) = (1, 7) };");
    assert!(fails(&old).contains("is version 1.7; expected 1.8 or later"));
    let silent = pretender("silent", "let _ = (major, minor);");
    assert!(fails(&silent).contains("tells no version, as old ones do; expected 1.8 or later"));
    for (name, version) in [("least", (1, 8)), ("later", (2, 0))] {
        let path = pretender(name, &format!("unsafe {{ (*major, *minor) = {version:?} }};"));
        assert_eq!(Dxc::open(&path).unwrap().version(), version);
    }
}

#[test]
fn a_named_one_is_taken_and_never_passed_over() {
    let missing = folder().join("named.so");
    assert!(matches!(Dxc::find(Some(&missing)), Err(DxcError::Missing { path, .. }) if path == missing));
    let least = pretender("given", "unsafe { (*major, *minor) = (1, 8) };");
    assert_eq!(Dxc::find(Some(&least)).unwrap().path(), least);
    let nothing = DxcError::NotFound.to_string();
    for way in ["--dxc", "TILEWRIGHT_DXC", "beside the program", "cargo xtask dxc"] {
        assert!(nothing.contains(way), "{nothing}");
    }
}
