//! The programs that are reviewed, compiled.

use tilewright_codegen::program::Program;
use tilewright_models::review;

/// Every reviewed program.
pub fn programs() -> Vec<Program> {
    review::subjects().iter().map(|s| s.compile().unwrap_or_else(|e| panic!("{e}"))).collect()
}
