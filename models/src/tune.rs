//! Schedules found by measuring: for each kernel, shape and adapter the fastest of many that are legal.
//!
//! From a planned model come its sites (a kernel at one shape in one phase); around the schedule of each site [`space`] lays
//! candidates by small moves, [`predict`] ranks them, [`search`] races them on the device, [`check`] holds the winner against the
//! kernel's meaning, and [`file`](mod@file) is what remains: schedules as text, tied to their sites by comments. The rules: nothing is ranked
//! inside the noise, nothing that is not checked is kept, and no choice is made by a random number. Absent: a change of kernels,
//! storage or plan, which are tiers.
//! The order of the steps is that of Chen et al. 2018, "Learning to Optimize Tensor Programs" (arXiv:1805.08166), less the learning.

pub mod check;
pub mod file;
pub mod find;
pub mod predict;
pub mod race;
pub mod rig;
pub mod search;
pub mod site;
pub mod space;

pub use file::{Entry, FileError, Tuned};
pub use find::Tuning;
pub use site::{Key, Phase, Site};
