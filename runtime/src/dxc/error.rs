//! Why there is no DXC, or why it made nothing of a text.
//!
//! One line says what was tried and what to do; DXC's own messages about a text follow as they are.

use super::{DXC_FILE, DXC_VARIABLE, OLDEST_DXC};
use std::path::PathBuf;

/// An error of DXC.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DxcError {
    /// Nothing names one.
    #[error(
        "HLSL needs DXC, which is not here\n  = help: give --dxc PATH, set {DXC_VARIABLE}, or put {DXC_FILE} beside the \
         program; `cargo xtask dxc` fetches it for Linux"
    )]
    NotFound,
    /// The file is not there.
    #[error("DXC `{}` cannot be opened: {reason}\n  = help: expected the file {DXC_FILE}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// The file is no library of this machine, or not all of it.
    #[error(
        "DXC `{}` is not a library that can be loaded here: {reason}\n  = help: expected a whole {DXC_FILE}; `cargo xtask dxc` \
         fetches one for Linux",
        path.display()
    )]
    NoLibrary {
        /// The file.
        path: PathBuf,
        /// What is wrong, or the system's words.
        reason: String,
    },
    /// A library of something else.
    #[error("`{}` is a library, but not DXC: it has no `DxcCreateInstance`\n  = help: expected {DXC_FILE}", path.display())]
    NotDxc {
        /// The file.
        path: PathBuf,
    },
    /// An old version.
    #[error("DXC `{}` {}; expected {}.{} or later\n  = help: `cargo xtask dxc` fetches one for Linux", path.display(),
        found.map_or("tells no version, as old ones do".into(), |(major, minor)| format!("is version {major}.{minor}")), OLDEST_DXC.0, OLDEST_DXC.1)]
    TooOld {
        /// The file.
        path: PathBuf,
        /// Its version; `None` where it has none to tell.
        found: Option<(u32, u32)>,
    },
    /// It does not do what its interface says.
    #[error("DXC `{}` is broken: {reason}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What failed.
        reason: String,
    },
    /// It does not accept a text.
    #[error("DXC refuses the shader:\n{messages}")]
    Refused {
        /// Its words.
        messages: String,
    },
}
