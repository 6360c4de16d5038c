//! What is wrong with a kernel at its extents: no schedule makes a right program of it.
//!
//! Found before a schedule is looked at; the messages speak of the kernel's text and of the extents alone.

use thiserror::Error;

/// Why a kernel has no program at a shape.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ShapeError {
    /// No extent of that name in the shape.
    #[error("the shape gives no extent `{extent}`")]
    MissingExtent {
        /// Its name.
        extent: String,
    },
    /// An extent of 0.
    #[error("extent `{extent}` is 0")]
    EmptyExtent {
        /// Its name.
        extent: String,
    },
    /// Extents of which the kernel asserts something that is not so.
    #[error("{demand}, and the shape has {}", extents.join(", "))]
    Assertion {
        /// What must hold, in words.
        demand: String,
        /// The extents in it, `H = 5`.
        extents: Vec<String>,
    },
    /// An assertion about an extent that is known at run time only.
    #[error("{demand}, and {} known at run time only", is_are(extents))]
    AssertionAtRunTime {
        /// What must hold, in words.
        demand: String,
        /// The run-time extents in it.
        extents: Vec<String>,
    },
    /// More axes than a kernel may have.
    #[error("the kernel has {asked} axes; {allowed} are allowed")]
    TooManyAxes {
        /// Its axes.
        asked: usize,
        /// Allowed.
        allowed: usize,
    },
    /// An index that goes beyond its tensor.
    #[error(
        "index `{index}` of `{tensor}` comes to {found}; its dimension {dimension}, `{extent}`, has 0 to {}",
        size - 1
    )]
    OutOfBounds {
        /// The tensor, or the array field's axis.
        tensor: String,
        /// Which index, the outermost is 0.
        dimension: usize,
        /// The index.
        index: String,
        /// The value that is farthest out.
        found: i64,
        /// The dimension's extent.
        extent: String,
        /// Its number, or its capacity.
        size: i64,
    },
    /// An element that two iterations write.
    #[error("the iterations {one} and {other} both write `{tensor}{}`", brackets(index))]
    WrittenTwice {
        /// The tensor.
        tensor: String,
        /// The element.
        index: Vec<u32>,
        /// An iteration, `i = 0, j = 3`.
        one: String,
        /// Another.
        other: String,
    },
    /// A division by 0.
    #[error("the kernel divides by `{divisor}`, which is 0{}", with(extents))]
    ZeroDivisor {
        /// The divisor.
        divisor: String,
        /// The extents in it, `H = 1`.
        extents: Vec<String>,
    },
    /// A constant that is not a finite number.
    #[error("`{value}` is {found}, and constants are finite{}", with(extents))]
    NotFinite {
        /// The expression.
        value: String,
        /// Infinite or not a number.
        found: String,
        /// The extents in it, `H = 1`.
        extents: Vec<String>,
    },
    /// A shift by 32 bits or more.
    #[error("`{value}` shifts 32 bits by {by}{}", with(extents))]
    ShiftTooFar {
        /// The expression.
        value: String,
        /// By how much.
        by: u32,
        /// The extents in it, `H = 1`.
        extents: Vec<String>,
    },
}

impl ShapeError {
    /// What to do instead.
    pub fn help(&self) -> String {
        match self {
            Self::TooManyAxes { .. } => "make two kernels of it".into(),
            Self::MissingExtent { extent } => {
                format!("give `{extent}` a number, or make it a run-time parameter with a capacity")
            }
            Self::EmptyExtent { .. } => {
                "an extent is at least 1: leave the kernel out where there is nothing to do".into()
            }
            Self::Assertion { .. } => "give extents that fit together".into(),
            Self::ZeroDivisor { .. } => {
                "give extents that fit together, and `assert!` in the kernel what they must be".into()
            }
            Self::OutOfBounds { found, extent, .. } => match found {
                ..0 => "keep the index from going under 0: `max(.., 1) - 1`, or begin the axis later".into(),
                _ => format!("clamp it, `min(.., {extent} - 1)`, or end the axis earlier"),
            },
            Self::WrittenTwice { .. } => "let each axis around the store have a part in its indices".into(),
            Self::NotFinite { .. } => "use a finite number: `LOWEST` and `f32::MAX` are the farthest".into(),
            Self::ShiftTooFar { .. } => "shift by 0 to 31".into(),
            Self::AssertionAtRunTime { extents, .. } => {
                format!("fix `{}` in the shape", extents.join("`, `"))
            }
        }
    }
}

fn with(extents: &[String]) -> String {
    if extents.is_empty() { String::new() } else { format!(": the shape has {}", extents.join(", ")) }
}

fn brackets(index: &[u32]) -> String {
    index.iter().map(|i| format!("[{i}]")).collect()
}

fn is_are(names: &[String]) -> String {
    format!("`{}` {}", names.join("`, `"), if names.len() == 1 { "is" } else { "are" })
}
