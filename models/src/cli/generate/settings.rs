//! How a text is sampled: settings of the model and of flags, and who picks the token.

use super::super::args::{GenerateArgs, SamplerArg};
use super::super::error::CliError;
use crate::engine::sampling::{MOST, fits};
use crate::engine::{Engine, Wants};
use crate::sampler::SamplingParams;

/// What a step is to leave for a sampler.
pub fn wants(args: &GenerateArgs, sampling: SamplingParams) -> Result<Wants, CliError> {
    let refuse = |why: String, help: &str| {
        let name = if args.sampler.sampler == SamplerArg::Pairs { "pairs" } else { "device" };
        Err(CliError::usage(format!("--sampler {name} {why}"), help))
    };
    let pairs = match args.sampler.sampler {
        SamplerArg::Host => return Ok(Wants::Logits),
        SamplerArg::Auto if args.draft.draft.is_some() => return Ok(Wants::Logits),
        SamplerArg::Auto => return Ok(Wants::Faster(sampling)),
        SamplerArg::Device => false,
        SamplerArg::Pairs => true,
    };
    if args.draft.draft.is_some() {
        return refuse("does not go with --draft, whose tokens the host accepts".into(), "leave one of the two out");
    }
    if !fits(&sampling) && (pairs || sampling.temperature != 0.0) {
        let why = format!("keeps at most {MOST} logits; found a top-k of {}", sampling.top_k);
        return refuse(why, "set --top-k to a number from 1 to 128, or use --sampler host");
    }
    Ok(if pairs { Wants::Pairs(sampling) } else { Wants::Token(sampling) })
}

/// Whether the largest logit's token is all that is wanted of the device.
pub fn plain(args: &GenerateArgs, sampling: &SamplingParams) -> bool {
    sampling.is_plain_argmax() && matches!(args.sampler.sampler, SamplerArg::Auto | SamplerArg::Device)
}

/// Who picks the token.
pub fn who(engine: &Engine) -> String {
    match engine.sampling() {
        Some(sampling) if sampling.pairs => format!("the host picks from the best {}", sampling.kept()),
        Some(_) => "the device picks".into(),
        None if engine.picks() => "the device picks".into(),
        None => "the host picks from all logits".into(),
    }
}

/// Settings with those of the flags in their place.
pub fn sampling(args: &GenerateArgs, mut settings: SamplingParams) -> SamplingParams {
    settings.temperature = args.temperature.unwrap_or(settings.temperature);
    settings.top_k = args.top_k.unwrap_or(settings.top_k);
    settings.top_p = args.top_p.unwrap_or(settings.top_p);
    // Whoever asks for the best token each time means the best logit; the file's penalty belongs to the file's sampling.
    let penalty = if args.temperature == Some(0.0) { 1.0 } else { settings.repetition_penalty };
    settings.repetition_penalty = args.repetition_penalty.unwrap_or(penalty);
    settings
}

/// The settings in words.
pub fn settings(s: &SamplingParams) -> String {
    if s.is_plain_argmax() {
        return format!("greedy; seed {} (unused)", s.seed);
    }
    let penalty = format!("repetition penalty {}", s.repetition_penalty);
    if s.temperature == 0.0 {
        return format!("greedy, {penalty}; seed {} (unused)", s.seed);
    }
    format!("temperature {}, top-k {}, top-p {}, {penalty}; seed {}", s.temperature, s.top_k, s.top_p, s.seed)
}

/// 32 random bits, few enough to be typed again.
pub fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() >> 32
}
