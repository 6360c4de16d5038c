//! Extents of a compilation: numbers, or run-time parameters with a fixed capacity.

use std::collections::BTreeMap;
use std::fmt;

/// One extent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extent {
    /// A number, fixed in the program.
    Fixed(u32),
    /// A u32 parameter of the program, at most `capacity`; tensors are laid out for the capacity.
    Param {
        /// The largest value.
        capacity: u32,
    },
}

/// A value for each extent of a kernel, by name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Shape(BTreeMap<String, Extent>);

impl Shape {
    /// No extents yet.
    pub fn new() -> Self {
        Shape::default()
    }
    /// With an extent fixed.
    #[must_use]
    pub fn fixed(mut self, name: &str, n: u32) -> Self {
        self.0.insert(name.into(), Extent::Fixed(n));
        self
    }
    /// With a run-time extent.
    #[must_use]
    pub fn param(mut self, name: &str, capacity: u32) -> Self {
        self.0.insert(name.into(), Extent::Param { capacity });
        self
    }
    /// The extent of that name.
    pub fn get(&self, name: &str) -> Option<Extent> {
        self.0.get(name).copied()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, extent)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            match extent {
                Extent::Fixed(n) => write!(f, "{comma}{name} = {n}")?,
                Extent::Param { capacity } => write!(f, "{comma}{name} <= {capacity}")?,
            }
        }
        Ok(())
    }
}
