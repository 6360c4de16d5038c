//! An exported folder is enough for another host: one that reads nothing but the folder and the weights runs the whole model.

mod host;

use host::{Host, Numbers, kinds, parameters, value};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn tilewright(args: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tilewright")).args(args).env("NODEVICE_SELECT", "1").output();
    let output = output.expect("the program starts");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn ok(args: &[&str]) {
    let (done, stderr) = tilewright(args);
    assert!(done, "{stderr}");
}

/// The one error of a run that fails, which has all of these parts.
fn fails(args: &[&str], parts: &[&str]) {
    let (done, stderr) = tilewright(args);
    assert!(!done && stderr.matches("error: ").count() == 1 && !stderr.contains("panicked"), "{stderr}");
    parts.iter().for_each(|part| assert!(stderr.contains(part), "no {part} in {stderr}"));
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a temporary path is UTF-8")
}

/// A small model by formula, and its folder.
fn model() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let model = dir.path().join("model");
    ok(&["synth", "--preset", "tiny-test", "--dtype", "f32", text(&model)]);
    (dir, model)
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("the file is there")).expect("the file is JSON")
}

/// The rows of the tensor `logits` of a safetensors file.
fn logits(path: &Path, vocab: usize) -> Vec<Vec<f32>> {
    let bytes = fs::read(path).expect("the file is there");
    let header = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let values = bytes[8 + header..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("4 bytes")));
    values.collect::<Vec<_>>().chunks(vocab).map(<[f32]>::to_vec).collect()
}

fn close(found: &[u32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0f32, |m, x| m.max(x.abs()));
    for (i, (found, expected)) in found.iter().map(|w| f32::from_bits(*w)).zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-5 * largest, "logit {i}: {found}, not {expected}");
    }
}

#[test]
fn another_host_runs_the_whole_model() {
    let (dir, model) = model();
    for (tier, form) in [("0", "wgsl"), ("3", "wgsl"), ("6", "wgsl-web"), ("10", "wgsl"), ("11", "wgsl")] {
        let (out, file) = (dir.path().join(format!("tier{tier}")), dir.path().join(format!("tier{tier}.safetensors")));
        ok(&[
            "shaders",
            "export",
            text(&out),
            "--model",
            text(&model),
            "--context",
            "64",
            "--tier",
            tier,
            "--target",
            form,
        ]);
        ok(&[
            "logits",
            "--model",
            text(&model),
            "--tier",
            tier,
            "--ids",
            "5,6,7,8,9",
            "--all",
            "--output",
            text(&file),
        ]);
        let host = Host::open(&out);
        assert_eq!(host.manifest()["language"], form);
        let vocab = host.manifest()["tokens"]["vocab"].as_u64().expect("a number");
        let expected = logits(&file, vocab as usize);
        let angles = angles(&host.manifest()["rotary"], 64);
        host.weights(&model.join("model.safetensors"));
        host.write("angles", &angles);
        host.write("ids", &[5, 6, 7]);
        host.step("prefill", &parameters(3, 0, vocab as u32));
        for row in [0, 2] {
            host.write("row", &[row]);
            host.step("last", &parameters(3, 0, vocab as u32));
            close(&host.read("logits"), &expected[row as usize]);
        }
        for (pos, id) in [(3, 8), (4, 9)] {
            host.write("ids", &[id]);
            host.step("decode", &parameters(1, pos, vocab as u32));
            // The last tier's step leaves the token alone, where the next step reads its input.
            match tier {
                "11" => assert_eq!(host.read("ids")[0], best(&expected[pos as usize])),
                _ => close(&host.read("logits"), &expected[pos as usize]),
            }
        }
        // On later tiers the token is the next step's input.
        if tier == "6" {
            assert_eq!(host.read("token"), [best(&expected[4])]);
        }
    }
}

/// The place of the largest.
fn best(row: &[f32]) -> u32 {
    (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).expect("a logit") as u32
}

/// The rotary table by the manifest's formula.
fn angles(rotary: &Value, positions: u32) -> Vec<u32> {
    let float = |value: &Value| value.as_f64().expect("a number") as f32;
    let frequencies: Vec<f32> = rotary["frequencies"].as_array().expect("a list").iter().map(float).collect();
    let factor = float(&rotary["factor"]);
    let row = |p: u32| {
        let turned = move |f: fn(f64) -> f64, w: f32| (f(f64::from(p as f32 * w)) as f32 * factor).to_bits();
        let halves = [f64::cos as fn(f64) -> f64, f64::sin];
        halves.into_iter().flat_map(|f| frequencies.iter().map(move |w| turned(f, *w))).collect::<Vec<_>>()
    };
    (0..positions).flat_map(row).collect()
}

/// What a host cannot see in the texts, and what the runtime here does about it.
#[test]
fn the_manifest_says_what_the_texts_do_not() {
    let (dir, model) = model();
    let export = |tier: &str, form: &str| {
        let out = dir.path().join(format!("{form}{tier}"));
        ok(&["shaders", "export", text(&out), "--model", text(&model), "--tier", tier, "--target", form]);
        json(&out.join("manifest.json"))
    };
    let hlsl = export("6", "hlsl");
    let device = &hlsl["device"];
    assert_eq!((&device["profile"], &device["target"]), (&"cs_6_0".into(), &"webgpu-subgroups".into()));
    assert_eq!(device["subgroup_sizes"], serde_json::json!([4, 128]));
    // The flags are those by which the texts are compiled here.
    let flags = device["flags"].as_array().expect("a list").iter();
    let words = ["-T", "cs_6_0"].into_iter().chain(flags.map(|f| f.as_str().expect("a flag")));
    let list = words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    assert!(include_str!("../../runtime/src/dxc.rs").contains(&format!("&[{list}]")), "{list}");
    let wgsl = export("0", "wgsl");
    assert!(wgsl["device"]["profile"].is_null() && wgsl["device"]["flags"].is_null(), "{wgsl}");

    let rules =
        wgsl["rules"].as_array().expect("a list").iter().map(|r| r.as_str().expect("a rule")).collect::<Vec<_>>();
    for part in ["group 0", "lower half", "row_stride counts elements", "one after the other", "begin as zeros"] {
        assert!(rules.iter().any(|rule| rule.contains(part)), "no {part} in {rules:?}");
    }
    let config = json(&model.join("config.json"));
    assert_eq!(wgsl["tokens"]["vocab"], config["vocab_size"]);
    assert_eq!(wgsl["tokens"]["end"], config["eos_token_id"]);
    assert_eq!(wgsl["rotary"]["theta"], config["rope_theta"]);
    assert_eq!(wgsl["rotary"]["frequencies"].as_array().map(Vec::len), Some(8));
    let checkpoint = wgsl["checkpoint"].as_str().expect("text");
    assert!(checkpoint.contains("model.safetensors") && checkpoint.contains("models/assets/tiny"), "{checkpoint}");
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("models/assets/tiny/config.json").is_file());
}

#[test]
fn expressions_mean_what_the_manifest_says() {
    let numbers = Numbers::from([("T".to_string(), 65), ("pos".to_string(), 10)]);
    for (expression, expected) in [
        ("112", 112),
        ("T * 112", 7280),
        ("ceil(T / 64) * 14", 28),
        ("ceil(T * 14 / 64)", 15),
        ("(pos + T + 64) / 64 * 3", 6),
        ("min(T, pos) - 20", 0),
        ("T - pos - 5", 50),
        ("ceil((T + pos) / 64)", 2),
        ("ceil(min(T, 100) / 4)", 17),
    ] {
        assert_eq!(value(expression, &numbers), expected, "{expression}");
    }
}

#[test]
fn registers_follow_the_bindings_in_hlsl() {
    let (dir, model) = model();
    let out = dir.path().join("out");
    ok(&["shaders", "export", text(&out), "--model", text(&model), "--tier", "6", "--target", "hlsl"]);
    let manifest = json(&out.join("manifest.json"));
    let shaders =
        manifest["kernels"].as_array().expect("kernels").iter().flat_map(|k| k["shaders"].as_array().expect("shaders"));
    let mut seen = 0;
    for shader in shaders {
        let source = fs::read_to_string(out.join(shader["file"].as_str().expect("a file"))).expect("the file is there");
        assert!(source.contains(&format!("void {}(", shader["entry"].as_str().expect("an entry"))), "{source}");
        for binding in shader["bindings"].as_array().expect("bindings") {
            let register = binding["register"].as_str().expect("a register");
            let line = source
                .lines()
                .find(|l| l.contains(&format!("register({register})")))
                .unwrap_or_else(|| panic!("no {register} in {source}"));
            let kind = match binding["kind"].as_str().expect("a kind") {
                "read-only storage" => line.starts_with("ByteAddressBuffer "),
                "read-write storage" => line.starts_with("RWByteAddressBuffer "),
                _ => !line.contains("Address"),
            };
            assert!(kind, "{line} is not {binding}");
            seen += 1;
        }
        let kinds = kinds(shader);
        let order = ["read-only storage", "read-write storage", "uniform"];
        let ranks: Vec<_> =
            kinds.as_array().expect("kinds").iter().map(|k| order.iter().position(|o| k == o)).collect();
        assert!(ranks.is_sorted() && !ranks.contains(&None), "{kinds}");
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn only_what_was_exported_is_overwritten() {
    let (dir, model) = model();
    let out = dir.path().join("out");
    let export = |more: &[&'static str]| [&["shaders", "export", text(&out), "--model", text(&model)], more].concat();
    let names = || -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&out)
            .expect("the folder")
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    fs::create_dir(&out).expect("the folder can be made");
    ok(&export(&["--tier", "0"]));
    let zero = names();
    assert!(zero.iter().any(|n| n.starts_with("attention_stats-")), "{zero:?}");
    // A later export takes the place of an earlier one, and nothing else goes.
    fs::write(out.join("notes.txt"), "mine").expect("the folder can be written");
    ok(&export(&["--tier", "6"]));
    assert!(!names().iter().any(|n| n.starts_with("attention_stats-")), "{:?}", names());
    assert!(names().iter().any(|n| n.starts_with("attention-")) && out.join("notes.txt").exists());

    // A folder of somebody else's, whether or not it has a manifest.
    for (file, content) in [("notes.txt", "mine"), ("manifest.json", "{\"name\": \"an app\"}")] {
        let other = dir.path().join(file.split('.').next().expect("a stem"));
        fs::create_dir(&other).expect("the folder can be made");
        fs::write(other.join(file), content).expect("the folder can be written");
        let args = ["shaders", "export", text(&other), "--model", text(&model)];
        fails(&args, &[text(&other), &format!("`{file}`"), "--force"]);
        assert_eq!(fs::read_to_string(other.join(file)).expect("the file is there"), content);
        ok(&[&args[..], &["--force"]].concat());
        assert!(json(&other.join("manifest.json"))["format"].as_str().is_some_and(|f| f.starts_with("tilewright")));
    }
    assert_eq!(fs::read_to_string(dir.path().join("notes/notes.txt")).expect("it stays"), "mine");

    // A manifest that names a file elsewhere does not make it go.
    let outside = dir.path().join("outside.wgsl");
    fs::write(&outside, "mine").expect("the folder can be written");
    let manifest = fs::read_to_string(out.join("manifest.json")).expect("the file is there");
    let from = manifest.split("\"file\": \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a file");
    fs::write(out.join("manifest.json"), manifest.replace(from, "../outside.wgsl")).expect("the folder can be written");
    ok(&export(&["--tier", "0"]));
    assert_eq!(fs::read_to_string(&outside).expect("it stays"), "mine");
}

#[test]
fn what_cannot_be_exported() {
    let (dir, model) = model();
    let file = dir.path().join("file");
    fs::write(&file, "mine").expect("the folder can be written");
    fails(&["shaders", "export", text(&file), "--model", text(&model)], &["cannot read", text(&file)]);
    let out = dir.path().join("out");
    fails(&["shaders", "export", text(&out), "--model", "/nowhere"], &["/nowhere"]);
    fails(
        &["shaders", "export", text(&out), "--model", text(&model), "--context", "9999"],
        &["--context", "9999", "512"],
    );
    assert!(!out.exists(), "nothing is written before everything is known");
}
