//! Schedules of the user's own take the place of the tier's.

use tilewright_codegen::CompileError;
use tilewright_dsl::schedule::{Schedule, Storage, parse_file};
use tilewright_models::config::Config;
use tilewright_models::engine::{Engine, EngineOptions, PlanReport, TierChoice};
use tilewright_models::error::ModelError;
use tilewright_models::kernels::{argmax, attention, linear, rmsnorm};

use crate::goldens::{cases, load, tier, tiny};
use crate::rule::hold;

fn planned(schedules: Vec<Schedule>, tier: TierChoice) -> Result<PlanReport, ModelError> {
    let config = Config::open(&tiny()).unwrap();
    let target = tilewright_codegen::target::Target::webgpu();
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
        let options = EngineOptions { schedules, plain_argmax: true, context: Some(128), ..tier(6) };
        let mut engine = load(&tiny(), &options);
        for case in prompts.iter().filter(|c| c.ids.len() < 64) {
            hold(&mut engine, case, 4);
        }
    }
}

#[test]
fn what_does_not_apply_is_an_error() {
    for choice in [TierChoice::Number(5), TierChoice::Auto] {
        let error = refuse(vec![linear::subgroup()], choice);
        assert!(
            matches!(&error, ModelError::Compile(CompileError::Schedule { schedule, .. }) if schedule.kernel == "linear"),
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
    use tilewright_codegen::target::Target;
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
