//! The token rule: tokens are equal wherever the best logit leads by more than twice the tolerance.

use tilewright_models::engine::{Engine, Step};

use crate::goldens::{Case, best, distance, scale};

/// Logits may differ by this share of the largest one's magnitude.
pub const TOLERANCE: f32 = 2e-3;

/// Holds an engine against a case: the last position's logits, where it gives them, and `steps` greedy tokens. The
/// golden tokens are fed, so that steps after a close one still say something.
pub fn hold(engine: &mut Engine, case: &Case, steps: usize) {
    engine.reset();
    let step = engine.prefill(&case.ids).unwrap();
    let tolerance = TOLERANCE * scale(&case.last);
    if let Some(logits) = &step.logits {
        let found = distance(logits, &case.last);
        assert!(found <= tolerance, "{}: logits differ by {found}, allowed {tolerance}", case.name);
    }
    follow(engine, step, case, tolerance, steps);
}

/// Holds greedy tokens from the step after a prompt on.
pub fn follow(engine: &mut Engine, mut step: Step, case: &Case, tolerance: f32, steps: usize) {
    let mut checked = 0;
    for (i, (want, gap)) in case.greedy.iter().zip(&case.gaps).take(steps).enumerate() {
        let found = token(&step);
        if *gap > 2.0 * tolerance {
            assert_eq!(found, *want, "{}: token {i}, whose logit leads by {gap}", case.name);
            checked += 1;
        } else if let Some(logits) = &step.logits {
            let behind = logits[found as usize] - logits[*want as usize];
            assert!(behind <= 2.0 * tolerance, "{}: token {i} is {behind} behind", case.name);
        }
        if engine.position() == engine.context() {
            break;
        }
        step = engine.decode(*want).unwrap();
    }
    assert!(
        checked * 2 >= steps.min(case.greedy.len()),
        "{}: only {checked} of {steps} steps say something",
        case.name
    );
}

/// The greedy token of a step, wherever it was picked.
pub fn token(step: &Step) -> u32 {
    step.token.unwrap_or_else(|| best(step.logits.as_ref().unwrap()))
}
