//! Several measurements of the same thing: a median between the least and the most.

use serde_json::{Value, json};

/// A median, the least and the most.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// The median; the lower one of an even number.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// Of at least one value; else of no number.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
        Spread { median: at(values.len().saturating_sub(1) / 2), min: at(0), max: at(values.len().saturating_sub(1)) }
    }

    /// What [`Spread::json`] made.
    pub fn read(value: &Value) -> Option<Self> {
        let at = |name: &str| value[name].as_f64();
        Some(Spread { median: at("median")?, min: at("min")?, max: at("max")? })
    }

    /// An object of the three.
    pub fn json(&self) -> Value {
        json!({ "median": self.median, "min": self.min, "max": self.max })
    }

    /// Each number by `f`, which keeps their order or turns it round.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let [min, max] = [f(self.min), f(self.max)];
        Spread { median: f(self.median), min: min.min(max), max: max.max(min) }
    }
}
