//! What comes out of an engine beside bytes: a step's result, times, and the progress of loading.

use std::fmt;

use tilewright_runtime::{Compiling, Profile};

use super::Top;

/// What a step gives: the token if the device picked it, else the best logits or all of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Step {
    /// The token that the device picked.
    pub token: Option<u32>,
    /// A logit for each id, `[V]`.
    pub logits: Option<Vec<f32>>,
    /// The best logits.
    pub top: Option<Top>,
}

/// Times of the kernels of decode steps.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileTable {
    /// A row a kernel and schedule.
    pub profile: Profile,
    /// The adapter's copy rate, GB/s.
    pub copy_gb_per_s: f64,
}

impl fmt::Display for ProfileTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.profile.table(Some(self.copy_gb_per_s)))
    }
}

/// What takes time while a model is loaded.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The driver is about to compile a shader.
    Compiling(Compiling<'a>),
    /// Bytes of weights that are on the device.
    Weights {
        /// So far.
        done: u64,
        /// In all.
        total: u64,
    },
}
