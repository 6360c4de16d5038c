//! The shaders of every kernel by every schedule: as reviewed, accepted by browsers' compiler, and not a statement too many.

#[path = "../equivalence/cases.rs"]
#[allow(dead_code, reason = "shared with the equivalence tests")]
mod cases;
#[path = "../equivalence/gates.rs"]
#[allow(dead_code, reason = "shared with the equivalence tests")]
mod gates;
#[path = "../../codegen/tests/mutate/mod.rs"]
mod mutate;

mod arrangement;
mod cost;
mod kept;
mod mutants;
mod random;
mod shapes;
mod snapshots;
mod text;
mod tint;
