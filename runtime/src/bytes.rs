//! Bytes for people: `1.2 GiB`, not 1288490188.

use std::fmt;

/// A number of bytes, printed in the largest binary unit below it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        match UNITS.iter().find(|(_, n)| self.0 >= *n) {
            Some((unit, n)) => f.pad(&format!("{:.1} {unit}", self.0 as f64 / *n as f64)),
            None => f.pad(&format!("{} B", self.0)),
        }
    }
}
