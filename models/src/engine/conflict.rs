//! Two kernels that want one tensor in different layouts: which schedule's line is to change.
//!
//! The rule: what a kernel writes is f32, so there the line that says otherwise goes; of what is loaded from files, both
//! kernels' lines must agree. Absent: any choice of a storage.

use std::fmt;

use tilewright_codegen::program::TensorLayout;
use tilewright_dsl::diagnostic::render;
use tilewright_dsl::schedule::{Schedule, Spot, Storage};

/// A kernel's wish for a tensor.
#[derive(Clone, Debug)]
pub struct Use {
    /// The kernel.
    pub kernel: String,
    /// How it wants the tensor, under the name of its parameter.
    pub layout: TensorLayout,
}

/// One tensor in two layouts.
#[derive(Clone, Debug)]
pub struct StorageConflict {
    /// The model's tensor.
    pub tensor: String,
    /// The kernel that came first, and the one that does not agree with it.
    pub uses: [Use; 2],
    /// The schedule with the `store` line, where a user's says it.
    pub schedule: Option<Box<Schedule>>,
}

impl StorageConflict {
    /// The use that is not in f32, and the other one.
    pub fn narrow(&self) -> Option<(&Use, &Use)> {
        let [one, two] = &self.uses;
        let pairs = [(one, two), (two, one)];
        pairs.into_iter().find(|(narrow, _)| narrow.layout.storage != Storage::F32)
    }
}

impl fmt::Display for StorageConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tensor = &self.tensor;
        let Some((narrow, other)) = self.narrow() else {
            let [one, two] = self.uses.each_ref().map(described);
            return write!(f, "`{tensor}` would be stored in two ways, {one} and {two}");
        };
        let (parameter, storage) = (&narrow.layout.name, narrow.layout.storage);
        let line = format!("store {parameter}: {storage}");
        let (title, label, help) = if other.layout.written {
            (
                format!("`{line}` is not possible: kernel `{}` writes this tensor, `{tensor}`, in f32", other.kernel),
                "the tensor is written in f32",
                format!("drop the line `{line}`: only what no kernel writes, such as weights, is stored in 16 bits"),
            )
        } else {
            let [one, two] = self.uses.each_ref().map(described);
            let (theirs, kernel) = (format!("store {}: {storage}", other.layout.name), &other.kernel);
            (
                format!("`{tensor}` would be stored in two ways, {one} and {two}"),
                "",
                format!("write `{theirs}` into a schedule for `{kernel}` too, or drop `{line}` here"),
            )
        };
        match &self.schedule {
            Some(schedule) => {
                let title = format!("{title} (kernel `{}`, schedule `{}`)", schedule.kernel, schedule.name);
                let labels = [(Spot::Store(parameter.clone()), label.to_string())];
                f.write_str(render(&title, schedule, &labels, &[help]).trim_end())
            }
            None => write!(f, "{title}; {help}"),
        }
    }
}

impl std::error::Error for StorageConflict {}

fn described(of: &Use) -> String {
    let (layout, parts) = (&of.layout, of.layout.parts.len());
    let buffers = if parts == 1 { "" } else { "s" };
    let bytes = layout.row_bytes();
    format!("{} rows of {bytes} bytes in {parts} buffer{buffers} for kernel `{}`", layout.storage, of.kernel)
}
