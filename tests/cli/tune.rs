//! `tune`, and what it leaves for other commands, on the adapter at hand with next to no time.

use std::fs;

use tilewright_models::tune::Tuned;

use crate::run::{path, program, ran, run, small_model};

/// Seconds that are enough for a kernel of a small model on a software adapter.
const SECONDS: &str = "8";

#[test]
fn what_is_found_is_kept_used_and_gone_on_with() {
    let model = small_model();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    let tune = |rest: &[&str]| {
        let fixed = ["tune", "--model", path(model.path()), "--budget", SECONDS, "--output", path(&file)];
        run(&[&fixed, rest].concat())
    };
    let first = tune(&["--kernel", "argmax_merged", "--verbose"]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("argmax_merged decode v.Parts=5 f32: "), "{}", first.stderr);
    assert!(first.stderr.contains("a token: "), "{}", first.stderr);
    let text = fs::read_to_string(&file).unwrap();
    for part in
        ["// adapter: ", "// driver: ", "// at: argmax_merged decode v.Parts=5 f32\n// text: ", "for argmax_merged {"]
    {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
    let again = tune(&["--kernel", "argmax_merged"]);
    assert!(again.stderr.contains("1 of them is in it already; --again"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "nothing was left to do");

    let generate = |tuned: &str| {
        let fixed = ["generate", "--model", path(model.path()), "--ids", "1,2,3", "--max-tokens", "4"];
        run(&[&fixed[..], &["--temperature", "0", "--json", "--verbose", "--tuned", tuned]].concat())
    };
    let with = generate(path(&file)).json();
    assert_eq!(with["tuned_kernels"], 1);
    assert!(with["first_token_ms"].as_f64().unwrap() > 0.0 && with["loading_ms"]["plan"].is_number(), "{with}");

    // An edit is somebody's own.
    let edited = text.replace("for argmax_merged {", "for argmax_merged {\n    // mine");
    fs::write(&file, &edited).unwrap();
    tune(&["--kernel", "argmax_merged", "--again"]).fails(2, &["mine.txt is not as", "--output", "--force"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), edited);
    let line = text.lines().find(|l| l.starts_with("// text: ")).unwrap();
    fs::write(&file, text.replace(line, "// text: 0123456789abcdef")).unwrap();
    assert_eq!(generate(path(&file)).json()["tuned_kernels"], 1, "an edited file is used as it stands");
    let plain = |tier: &[&str]| {
        let fixed = ["generate", "--model", path(model.path()), "--ids", "1,2,3", "--max-tokens", "4", "--json"];
        run(&[&fixed[..], &["--temperature", "0", "--tuned", path(&file)], tier].concat())
    };
    let told = plain(&["--tier", "12"]);
    assert!(told.stderr.contains("is not used: it counts where the tier is chosen"), "{}", told.stderr);
    // What cannot be used is passed over, aloud, with its place; the tier stays.
    let mut other = Tuned::read("f", &text).unwrap();
    other.entries[0].text = Some(1);
    for (text, told) in [
        (other.to_string(), "`argmax_merged decode v.Parts=5 f32`: the compiler makes another text of it"),
        (text.replace("t: grid;", "t: grid; store v.max: f16;"), "drop `store`"),
        (text.replace("t: grid;", "q: grid;"), "no axis `q`"),
        (text.replace("v.Parts=5", "v.Parts=6"), "none is for a kernel and shape that runs here"),
        (text.replace("// driver: ", "// driver: another "), "was measured with driver another"),
    ] {
        fs::write(&file, text).unwrap();
        let without = plain(&[]);
        assert!(without.stderr.contains(told) && without.stderr.contains("mine.txt"), "{told}: {}", without.stderr);
        let without = without.json();
        assert_eq!((&without["tier"], &without["token_ids"]), (&with["tier"], &with["token_ids"]), "{told}");
    }
}

/// Before anything is measured it is known where the result goes.
#[test]
fn a_place_that_cannot_be_written_is_told_at_once() {
    let model = small_model();
    let file = tempfile::NamedTempFile::new().unwrap();
    let below = file.path().join("mine.txt");
    for place in [path(&below), path(model.path())] {
        let ran = run(&["tune", "--model", path(model.path()), "--output", place]);
        assert!(!ran.stderr.contains("kernels and shapes"), "{}", ran.stderr);
        ran.fails(1, &["cannot write", place]);
    }
}

#[test]
fn a_dry_run_lists_guesses_and_writes_nothing() {
    let model = small_model();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    let args =
        ["tune", "--model", path(model.path()), "--dry-run", "--kernel", "argmax_merged", "--output", path(&file)];
    let text = run(&args).ok();
    assert!(text.starts_with("argmax_merged decode ") && text.contains(" legal candidates around `"), "{text}");
    assert!(text.lines().skip(1).all(|l| l.contains(" µs (") && l.contains("t: grid")), "{text}");
    assert!(!file.exists());
}

#[test]
fn mistakes_are_told_before_anything_is_loaded() {
    let model = small_model();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("broken.txt");
    fs::write(&file, "// adapter: x\nschedule a for linear { t: lanes; }\n").unwrap();
    run(&["tune", "--model", path(model.path()), "--dry-run", "--kernel", "nosuch"])
        .fails(2, &["--kernel nosuch", "norm_linear"]);
    run(&["tune", "--model", path(model.path()), "--output", path(&file)]).fails(2, &["broken.txt is not as"]);
    for (name, told) in [("broken.txt", "broken.txt:2:"), ("none.txt", "cannot be read")] {
        let tuned = dir.path().join(name);
        let args =
            ["generate", "--model", path(model.path()), "--ids", "1", "--max-tokens", "1", "--tuned", path(&tuned)];
        run(&args).fails(1, &["tuned schedules: ", told]);
    }
}

#[test]
fn a_cache_that_is_wrong_costs_a_note() {
    let model = small_model();
    let cache = tempfile::tempdir().unwrap();
    let generate = || {
        let args = ["generate", "--model", path(model.path()), "--ids", "1,2", "--max-tokens", "1", "--verbose"];
        ran(program(&args).env("TILEWRIGHT_CACHE", cache.path()).output().unwrap())
    };
    let first = generate();
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let files = |name: &str| -> Vec<_> {
        fs::read_dir(cache.path().join(name)).into_iter().flatten().flatten().map(|f| f.path()).collect()
    };
    // Not every driver has data to keep.
    for file in files("pipelines") {
        fs::write(file, b"no data of a driver").unwrap();
    }
    let doctor = ran(program(&["doctor"]).env("TILEWRIGHT_CACHE", cache.path()).output().unwrap()).ok();
    // The program may have some of its own for this adapter.
    let tuned = doctor.lines().find_map(|l| l.trim().strip_prefix("tuned schedules ")).unwrap().trim();
    assert!(tuned == "none for this adapter" || tuned.contains("this program"), "{doctor}");
    let adapter = doctor.lines().find_map(|l| l.strip_prefix("chosen: ")).unwrap().to_string();
    assert!(!adapter.is_empty());
    let second = generate();
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert!(!second.stderr.contains("panicked"), "{}", second.stderr);
}
