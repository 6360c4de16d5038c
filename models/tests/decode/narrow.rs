//! Prefill with activations rounded to f16: the token rule by fragments, and the way back to f32 where f16 overflows.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use tilewright_models::checkpoint::{Checkpoint, WeightSource};
use tilewright_models::config::Config;
use tilewright_models::engine::{Backend, Engine, EngineOptions};
use tilewright_models::error::ModelError;

use crate::goldens::{Case, cases, load, tier, tiny};
use crate::rule::hold;

fn short(most: usize) -> Vec<Case> {
    let all = cases("tiny/cases.json", "tiny/last_logits.safetensors");
    let short: Vec<Case> = all.into_iter().filter(|c| (2..=most).contains(&c.ids.len())).collect();
    assert!(!short.is_empty());
    short
}

/// The interpreter multiplies fragments as a device does: f16 factors, f32 sums.
#[test]
fn fragments_keep_the_token_rule() {
    let options = EngineOptions { backend: Backend::Interp, context: Some(64), ..tier(11) };
    let mut engine = load(&tiny(), &options);
    hold(&mut engine, &short(24)[0], 2);
}

/// The bundled model with what one projection gives made larger.
struct Louder {
    weights: Checkpoint,
    by: f32,
}

impl WeightSource for Louder {
    fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        self.weights.shape(name)
    }

    fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError> {
        self.weights.rows_f32(name, rows, out)?;
        if name.ends_with("up_proj.weight") {
            out.iter_mut().for_each(|w| *w *= self.by);
        }
        Ok(())
    }

    fn tied(&self) -> bool {
        self.weights.tied()
    }
}

static TOLD: AtomicUsize = AtomicUsize::new(0);

fn told(text: &str) {
    assert!(text.contains("too large for f16"), "{text}");
    TOLD.fetch_add(1, Ordering::Relaxed);
}

/// `linear` as the tier's schedule for every device, with activations rounded on their way.
const NARROW: &str = "schedule narrow for linear {
    workgroup 256;
    t: grid, unroll(4), lanes(16);
    r: grid, unroll(4), lanes(16);
    k: serial as ko, serial(16);
    stage w at ko: workgroup;
    stage x at ko: workgroup f16;
}";

#[test]
fn activations_beyond_f16_run_again_in_f32_and_say_so_once() {
    let config = Config::open(&tiny()).unwrap();
    let narrow = EngineOptions { schedules: vec![NARROW.parse().unwrap()], notice: told, ..tier(11) };
    let engine = |by: f32, options: &EngineOptions| {
        let weights = Louder { weights: Checkpoint::open(&tiny(), &config).unwrap(), by };
        Engine::load(&config, &weights, options, &mut |_, _| ()).unwrap()
    };
    let ids = &short(64)[0].ids;
    // As it is, nothing overflows, and rounding is seen.
    let plain = engine(1.0, &tier(11)).prefill_all(ids).unwrap();
    let rounded = engine(1.0, &narrow).prefill_all(ids).unwrap();
    assert_eq!(TOLD.load(Ordering::Relaxed), 0);
    assert_ne!(plain, rounded, "nothing was rounded");
    // Weights that f16 holds, times activations that it does not.
    let loud = 8192.0;
    let wanted = engine(loud, &tier(11)).prefill_all(ids).unwrap();
    let mut found = engine(loud, &narrow);
    assert_eq!(found.prefill_all(ids).unwrap(), wanted);
    assert_eq!(TOLD.load(Ordering::Relaxed), 1);
    // From here on it stays in f32.
    found.reset();
    let last = found.prefill(ids).unwrap();
    assert_eq!(last.logits.as_ref(), wanted.last());
    let step = found.decode(ids[0]).unwrap();
    assert!(step.logits.is_some_and(|logits| logits.iter().all(|l| l.is_finite())));
    assert_eq!(TOLD.load(Ordering::Relaxed), 1, "it is said once");
}
