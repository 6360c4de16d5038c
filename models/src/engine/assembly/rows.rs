//! How many positions a step has.

use tilewright_codegen::program::Count;

/// Positions in a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rows {
    /// One.
    One,
    /// Exactly this many, each as a step of one would have it: sums add in the same order.
    Few(u32),
    /// Up to this many; the parameter `T` says how many.
    Chunk(u32),
}

impl Rows {
    /// How many there are, as an expression of the step's parameters.
    pub fn count(self) -> Count {
        match self {
            Rows::One => Count::Const(1),
            Rows::Few(n) => Count::Const(n),
            Rows::Chunk(_) => Count::Param("T".into()),
        }
    }

    /// The most there can be.
    pub fn capacity(self) -> usize {
        match self {
            Rows::One => 1,
            Rows::Few(n) | Rows::Chunk(n) => n as usize,
        }
    }

    /// Whether kernels run as they do for one position.
    pub fn decodes(self) -> bool {
        !matches!(self, Rows::Chunk(_))
    }
}
