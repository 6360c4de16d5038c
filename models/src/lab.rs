//! The lab: each pillar of inference measured against the plain way of doing the same, on the adapter at hand.
//!
//! A study asks one question and answers it in a table, with what can be read off it and what cannot. The rule: both sides of a ratio are
//! measured in one process, by turns; medians stand with their spread; what is slower is told like what is faster. Correctness is absent:
//! it is the tests' business, and what is measured here is what they hold against references.

mod cache;
pub mod chain;
pub mod norms;
mod page;
mod pairs;

use std::time::Instant;

use tilewright_runtime::Device;

use crate::engine::EngineOptions;
use crate::error::ModelError;
use crate::spread::Spread;
pub use page::{json, markdown};

/// The studies, in the order of `all`.
pub const STUDIES: [&str; 3] = ["kv-cache", "speculative", "norm-softmax"];

/// How to measure.
pub struct Lab<'l> {
    /// The engine's options, of which the adapter, the target and the tuned schedules count.
    pub options: EngineOptions,
    /// Fewer and smaller sizes.
    pub quick: bool,
    /// Measured runs of each figure, after one to warm up.
    pub runs: usize,
    /// Hears what is about to be measured.
    pub tell: &'l dyn Fn(&str),
    /// Whether to stop before the next figure.
    pub stop: &'l dyn Fn() -> bool,
}

/// A question with its answer.
pub struct Study {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What is compared, in a few sentences.
    pub about: String,
    /// The figures.
    pub tables: Vec<Table>,
    /// Lines over a logarithmic axis, each with a file's name.
    pub plots: Vec<Plot>,
    /// What can be read off the tables, the disappointing included.
    pub findings: Vec<String>,
    /// What the figures do not say.
    pub silent: Vec<String>,
}

/// Rows of figures.
pub struct Table {
    /// The columns' names, the first of them that of the rows.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A place in a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A name or a number that was not measured.
    Text(String),
    /// A measured number.
    Measured(Spread),
    /// Why there is none.
    None(String),
}

impl Cell {
    /// What somebody measured, or why that failed.
    pub fn of(result: &Result<Spread, ModelError>) -> Self {
        match result {
            Ok(spread) => Cell::Measured(*spread),
            Err(error) => Cell::None(error.to_string().lines().next().unwrap_or_default().to_string()),
        }
    }

    /// A ratio, where both numbers are there.
    pub fn ratio(over: &Result<Spread, ModelError>, under: &Result<Spread, ModelError>) -> Self {
        match (over, under) {
            (Ok(a), Ok(b)) => Cell::Text(times(a.median / b.median)),
            _ => Cell::Text(String::new()),
        }
    }
}

/// Several lines over one axis.
pub struct Plot {
    /// The file's name.
    pub file: &'static str,
    /// The title.
    pub title: String,
    /// The unit of the values.
    pub unit: &'static str,
    /// What the axis counts.
    pub axis: &'static str,
    /// A name and points for each line.
    pub lines: Vec<(String, Vec<(u32, Spread)>)>,
}

impl Lab<'_> {
    /// Runs a study by its name.
    ///
    /// # Errors
    /// Those of the device; a figure that a size is too large for is told in its place.
    pub fn study(&self, name: &str) -> Result<Option<Study>, ModelError> {
        match name {
            "kv-cache" => cache::study(self).map(Some),
            "speculative" => pairs::study(self).map(Some),
            "norm-softmax" => norms::study(self).map(Some),
            _ => Ok(None),
        }
    }

    /// The device.
    ///
    /// # Errors
    /// Where there is none.
    pub fn device(&self) -> Result<Device, ModelError> {
        Ok(Device::open(&self.options.adapter, self.options.target.as_ref())?)
    }

    /// Seconds that `run` takes, after one run to warm up.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn seconds(&self, run: &mut dyn FnMut() -> Result<(), ModelError>) -> Result<Spread, ModelError> {
        run()?;
        self.warm(run)
    }

    /// Seconds that `run` takes where everything is warm.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn warm(&self, run: &mut dyn FnMut() -> Result<(), ModelError>) -> Result<Spread, ModelError> {
        let mut times = Vec::with_capacity(self.runs);
        for _ in 0..self.runs {
            let start = Instant::now();
            run()?;
            times.push(start.elapsed().as_secs_f64());
        }
        Ok(Spread::of(times))
    }
}

/// A ratio in words.
fn times(ratio: f64) -> String {
    match ratio {
        r if r >= 100.0 => format!("{r:.0}×"),
        r if r >= 10.0 => format!("{r:.1}×"),
        r => format!("{r:.2}×"),
    }
}
