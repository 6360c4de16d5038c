//! Schedules of the user's own take the place of the tier's.

use tilewright_codegen::CompileError;
use tilewright_codegen::target::Target;
use tilewright_dsl::schedule::{Schedule, Storage, parse_file};
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, PlanReport, TierChoice};
use tilewright_models::error::ModelError;
use tilewright_models::kernels::{argmax, attention, linear, rmsnorm};

use crate::goldens::{cases, load, tier, tiny};
use crate::rule::hold;

fn planned(schedules: Vec<Schedule>, tier: TierChoice) -> Result<PlanReport, ModelError> {
    let config = Config::open(&tiny()).unwrap();
    let target = Target::webgpu();
    let options = EngineOptions { schedules, tier, ..EngineOptions::default() };
    Engine::plan(&config, &target, &options)
}

fn plan(schedules: Vec<Schedule>, number: usize) -> Result<PlanReport, ModelError> {
    planned(schedules, TierChoice::Number(number))
}

fn refuse(schedules: Vec<Schedule>, tier: TierChoice) -> ModelError {
    planned(schedules, tier).unwrap_err()
}

/// The norms' weights in 16 bits too.
fn half_norms() -> Schedule {
    let mut schedule = rmsnorm::row();
    schedule.stores.push(("w".into(), Storage::F16));
    schedule
}

#[test]
fn other_schedules_give_the_same_tokens() {
    let prompts = cases("tiny/cases.json", "tiny/last_logits.safetensors");
    for schedules in [
        vec![linear::coalesced(), rmsnorm::wide(), attention::naive(), argmax::vectors()],
        vec![linear::tiled_short(), attention::columns_wide(), argmax::naive(), half_norms()],
        vec![linear::subgroup(), rmsnorm::subgroup(), attention::subgroup(), argmax::subgroup()],
        vec![linear::row_subgroup(), attention::tree(), Schedule::empty("rope"), Schedule::empty("silu")],
    ] {
        let options = EngineOptions { schedules, plain_argmax: true, context: Some(72), ..tier(6) };
        let mut engine = load(&tiny(), &options);
        for case in prompts.iter().filter(|c| c.ids.len() < 64) {
            hold(&mut engine, case, 4);
        }
    }
}

#[test]
fn what_does_not_apply_is_an_error() {
    for (choice, schedule) in [(TierChoice::Number(5), linear::subgroup()), (TierChoice::Auto, attention::subgroup())] {
        let error = refuse(vec![schedule.clone()], choice);
        assert!(
            matches!(&error, ModelError::Compile(CompileError::Schedule { schedule: s, .. }) if s.kernel == schedule.kernel),
            "{error}"
        );
        assert!(error.to_string().contains("subgroup"), "{error}");
    }
}

#[test]
fn an_unknown_kernel_is_named() {
    let error = refuse(vec![Schedule::empty("conv")], TierChoice::Number(0)).to_string();
    assert!(error.contains("`conv`") && error.contains("rmsnorm"), "{error}");
}

/// The error of a schedule file on a tier.
fn refuse_file(text: &str, number: usize) -> ModelError {
    let schedules = parse_file("mine.txt", text).expect("the text is well formed");
    refuse(schedules, TierChoice::Number(number))
}

#[test]
fn one_tensor_has_one_storage() {
    let text = "schedule half for linear {\n    t: grid;\n    store w: f16;\n}\n";
    let error = refuse_file(text, 1).to_string();
    for part in [
        "`model.embed_tokens.weight`",
        "f16 rows",
        "f32 rows",
        "--> mine.txt:3:14",
        "write `store w: f16` into a schedule for `embedding` too, or drop `store w: f16` here",
    ] {
        assert!(error.contains(part), "no {part:?} in: {error}");
    }
    // The advice is right.
    let both = format!("{text}schedule half for embedding {{ t: grid; store w: f16; }}");
    plan(parse_file("mine.txt", &both).unwrap(), 1).unwrap();
}

#[test]
fn what_a_kernel_writes_is_stored_in_f32() {
    for (line, number, tensor, writer) in [
        ("linear { store x: f16; }", 0, "normed", "rmsnorm"),
        ("rmsnorm { store x: bf16; }", 6, "h", "embedding"),
        ("attention { store k: f16; }", 6, "keys 0", "kv_append"),
        ("attention { store v: f16; }", 6, "values 0", "kv_append"),
        ("attention { store q: f16; }", 6, "q_rope", "rope"),
        ("attention_values { store total: f16; }", 3, "total", "attention_stats"),
        ("kv_append { store x: f16; }", 6, "k_rope", "rope"),
    ] {
        let error = refuse_file(&format!("schedule mine for {line}"), number);
        let ModelError::Storage(conflict) = &error else { panic!("{line}: {error}") };
        assert_eq!(conflict.tensor, tensor);
        let error = error.to_string();
        let store = line.split(['{', ';']).nth(1).unwrap().trim();
        assert!(error.contains(&format!("kernel `{writer}` writes this tensor, `{tensor}`, in f32")), "{error}");
        assert!(error.contains("--> mine.txt:1:") && error.contains(&format!(" 1 |  {store}\n")), "{error}");
        assert!(error.contains(&format!("drop the line `{store}`")), "{error}");
    }
}

/// The error of a schedule file on a tier, which must be about storages alone: the titles of its messages, and its text.
fn conflicts(text: &str, number: usize) -> (Vec<String>, String) {
    let error = refuse_file(text, number);
    let all = match &error {
        ModelError::Several(all) => all.iter().collect(),
        one => vec![one],
    };
    assert!(all.iter().all(|e| matches!(e, ModelError::Storage(_))), "{error}");
    (all.iter().map(|e| e.to_string().lines().next().unwrap_or_default().to_string()).collect(), error.to_string())
}

#[test]
fn advice_on_storages_is_about_the_users_own_line() {
    for (kernel, line, number) in [
        ("qkv", "store in.linear.w: bf16", 10),
        ("norm_gated", "store gate.w: bf16", 10),
        ("norm_gated", "store up.w: bf16", 10),
        ("norm_linear", "store w: bf16", 10),
        ("linear", "store w: bf16", 6),
        ("linear", "store w: f32", 6),
        ("embedding", "store w: f32", 10),
    ] {
        let own = format!("schedule mine for {kernel} {{\n    {line};\n}}\n");
        let (titles, text) = conflicts(&own, number);
        assert_eq!(titles.len(), 1, "{text}");
        for part in [
            "would be stored in two ways",
            &format!("(kernel `{kernel}`, schedule `mine`)"),
            &format!("--> mine.txt:2:{}\n", 5 + line.find(": ").unwrap() + 2),
            &format!(" 2 |  {line}\n"),
            &format!("or drop `{line}` here"),
        ] {
            assert!(text.contains(part), "no {part:?} in: {text}");
        }
        // Both ways of the advice are right.
        plan(parse_file("mine.txt", &own.replace(line, "").replace("    ;\n", "")).unwrap(), number).unwrap();
        let advice = text.lines().find_map(|l| l.trim().strip_prefix("= help: write ")).expect("a help");
        let advice = advice.split(" too, or drop").next().unwrap_or_default();
        let mut all = own.clone();
        let words: Vec<&str> = advice.split('`').skip(1).step_by(2).collect();
        assert!(words.len().is_multiple_of(2) && !words.is_empty(), "{advice}");
        let mut lines = std::collections::BTreeMap::<&str, String>::new();
        for pair in words.chunks(2) {
            lines.entry(pair[1]).or_default().push_str(&format!("{}; ", pair[0]));
        }
        let same = lines.remove(kernel).unwrap_or_default();
        all = all.replace(&format!("{line};"), &format!("{line}; {same}"));
        for (kernel, stores) in lines {
            all.push_str(&format!("schedule theirs for {kernel} {{ {stores}}}\n"));
        }
        plan(parse_file("mine.txt", &all).unwrap(), number).unwrap_or_else(|e| panic!("{all}{e}"));
    }
    // Where the user wrote both lines, the other one's place is told.
    let both = "schedule a for linear { store w: f16; }\nschedule b for embedding { store w: bf16; }";
    let (titles, text) = conflicts(both, 1);
    assert_eq!(titles.len(), 1, "{text}");
    assert!(text.contains("mine.txt:1:34") && text.contains("mine.txt:2:37"), "{text}");
}

#[test]
fn all_mistakes_of_storages_come_at_once() {
    let (titles, text) = conflicts("schedule mine for attention { store k: f16; store v: bf16; store q: f16; }", 6);
    let mut lines: Vec<&str> = titles.iter().filter_map(|t| t.split('`').nth(1)).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["store k: f16", "store q: f16", "store v: bf16"], "{text}");
    // Beside what is wrong with the schedules themselves.
    for (text, number, titles) in [
        (
            "schedule a for linear_residual { store linear.x: bf16; store h: f16; } schedule b for qkv { store in.norm.x: f16; }",
            10,
            &["`store h: f16`", "`store linear.x: bf16`", "`store in.norm.x: f16`"][..],
        ),
        (
            "schedule a for bias { store x: f16; tail r: exact; r: grid, lanes(7); }",
            6,
            &["7 does not divide", "`store x: f16`"],
        ),
        (
            "schedule a for attention { h: grid, lanes(3000); store k: f16; tail c: exact; c: serial, serial(7); }",
            6,
            &["3000 invocations", "7 does not divide", "`store k: f16`"],
        ),
    ] {
        let error = refuse_file(text, number).to_string();
        for title in titles {
            let told = error.lines().filter(|l| l.starts_with("error: ") && l.contains(title)).count();
            assert_eq!(told, 1, "{title} in: {error}");
        }
        assert_eq!(error.lines().filter(|l| l.starts_with("error: ")).count(), titles.len(), "{error}");
    }
}

#[test]
fn steps_that_a_device_would_not_finish_are_refused_before_they_run() {
    let config = Config::open(&tiny()).unwrap();
    let target = Target { max_iterations: Some(65_535), ..Target::webgpu() };
    let plan = |text: &str, number| {
        let schedules = parse_file("mine.txt", text).unwrap();
        let plain_argmax = number >= 6;
        let options = EngineOptions { schedules, context: Some(69), plain_argmax, ..tier(number) };
        Engine::plan(&config, &target, &options)
    };
    for (text, number, parts) in [
        (
            "schedule a for linear { }",
            10,
            ["in a step with T = 69", "kernel `linear`, schedule `a`", "--> mine.txt:1:10", "r: grid;"],
        ),
        (
            "schedule a for argmax { t: serial, serial(32); }",
            6,
            [
                "in a step with limit = 4096",
                "kernel `argmax`, schedule `a`",
                "has no line for `v` (a loop of 4096 rounds)",
                "v: serial, lanes(32);",
            ],
        ),
        (
            "schedule a for attention { d: serial; }",
            6,
            ["pos = 0", "kernel `attention`, schedule `a`", "--> mine.txt:1:", "= help: share the work"],
        ),
    ] {
        let error = plan(text, number).map(|_| ()).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "no {part:?} in: {error}");
        }
        assert_eq!(error.lines().filter(|l| l.starts_with("error: ")).count(), 1, "{error}");
        // Lines that are offered are right.
        let Some(lines) = error.lines().find_map(|l| l.trim().strip_prefix("= help: write `")) else { continue };
        let (kernel, lines) = (text.split(' ').nth(3).unwrap(), lines.trim_end_matches('`').replace("` and `", " "));
        plan(&format!("schedule a for {kernel} {{ {lines} }}"), number).unwrap_or_else(|e| panic!("{lines}: {e}"));
    }
}

#[test]
fn weights_that_are_no_matrices_may_be_stored_in_16_bits() {
    let report = |text: &str| plan(parse_file("mine.txt", text).unwrap(), 6).unwrap();
    let (norms, plain) =
        (report("schedule mine for rmsnorm { store w: bf16; }"), report("schedule mine for rmsnorm { }"));
    assert!(norms.weight_bytes < plain.weight_bytes, "{} and {}", norms.weight_bytes, plain.weight_bytes);
}

#[test]
fn all_schedules_of_a_file_are_checked() {
    let text = "\
schedule one for linear { k: serial, lanes(48); }
schedule two for linear { t: grid; r: grid; k: serial, lanes(32); }
schedule three for rmsnorm { q: grid; }
schedule four for attention { store k: f16; }
";
    let error = refuse_file(text, 6);
    let ModelError::Several(errors) = &error else { panic!("{error}") };
    assert!(matches!(&errors[..], [ModelError::Compile(_), ModelError::Compile(_), ModelError::Storage(_)]), "{error}");
    let error = error.to_string();
    for place in ["mine.txt:1:38", "mine.txt:3:30", "mine.txt:4:40"] {
        assert!(error.contains(&format!("--> {place}\n")), "no {place} in: {error}");
    }
    assert_eq!(error.lines().filter(|l| l.starts_with("error: ")).count(), 3, "{error}");
    let unknown = refuse_file("schedule a for conv { }\nschedule b for pool { }", 0).to_string();
    assert!(
        unknown.contains("error: mine.txt:1:1: schedule `a`") && unknown.contains("error: mine.txt:2:1: "),
        "{unknown}"
    );
}

#[test]
fn a_schedule_that_a_tier_does_not_run_is_named() {
    use tilewright_models::kernels::softmax;

    let config = Config::open(&tiny()).unwrap();
    let unused = |schedules, number| {
        let options = EngineOptions { schedules, ..tier(number) };
        Engine::plan(&config, &Target::webgpu(), &options).unwrap().unused
    };
    let said = unused(vec![softmax::row()], 6).join("\n");
    assert!(said.contains("`row` is not used") && said.contains("tier 6") && said.contains("`softmax`"), "{said}");
    assert!(unused(vec![linear::coalesced()], 6).is_empty());
}
