//! Every tier of the bundled model.

use crate::goldens::{best, cases, distance, load, scale, tier, tiny};

/// Logits within this share of the largest one's magnitude.
const TOLERANCE: f32 = 2e-3;

#[test]
fn tier_0() {
    let t = std::time::Instant::now();
    let mut engine = load(&tiny(), &tier(0));
    println!("{:?} {:?}", t.elapsed(), engine.info());
    for case in cases("tiny/cases.json", "tiny/last_logits.safetensors") {
        let t = std::time::Instant::now();
        engine.reset();
        let step = engine.prefill(&case.ids).unwrap();
        let logits = step.logits.unwrap();
        println!(
            "{} {:?} {} of {}",
            case.name,
            t.elapsed(),
            distance(&logits, &case.last),
            TOLERANCE * scale(&case.last)
        );
        let t = std::time::Instant::now();
        let mut id = best(&logits);
        for want in &case.greedy[..case.greedy.len().min(8)] {
            assert_eq!(id, *want);
            id = best(&engine.decode(id).unwrap().logits.unwrap());
        }
        println!("{:?}", t.elapsed());
    }
}
