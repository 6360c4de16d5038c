//! Two kernels that want one tensor in different layouts: which schedule's line is to change.
//!
//! The rule: of what a kernel writes, its writer decides, so there the line that says otherwise goes; of what is loaded from
//! files, all kernels' lines must agree. The line to change is the user's; a tier's storage stands in no text. Absent: any
//! choice of a storage.

use std::collections::BTreeSet;
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
    /// The schedule with the `store` line, where a user's says it.
    pub schedule: Option<Box<Schedule>>,
}

/// One tensor in two layouts.
#[derive(Clone, Debug)]
pub struct StorageConflict {
    /// The model's tensor.
    pub tensor: String,
    /// The kernel that came first, and the one that does not agree with it.
    pub uses: [Use; 2],
    /// Kernels with the parameters whose lines would have to change too, for the line at fault to stay.
    pub also: Vec<(String, String)>,
}

impl StorageConflict {
    /// The use whose line is at fault, and the other one: never what is written; what a user's schedule says, before what the
    /// tier says; what is not in f32.
    fn sides(&self) -> (&Use, &Use) {
        let [one, two] = &self.uses;
        let blame = |u: &Use| (!u.layout.written, u.schedule.is_some(), u.layout.storage != Storage::F32);
        if blame(two) > blame(one) { (two, one) } else { (one, two) }
    }

    /// The kernel and parameter whose line is at fault.
    pub fn line(&self) -> (&str, &str) {
        let (own, _) = self.sides();
        (&own.kernel, &own.layout.name)
    }

    /// Finds [`StorageConflict::also`] among the weights, each with a kernel, a parameter and a storage that it is given to.
    pub(super) fn complete(&mut self, given: &BTreeSet<(String, String, String, Storage)>) {
        let (own, _) = self.sides();
        let storage = own.layout.storage;
        let mut lines = BTreeSet::from([(own.kernel.clone(), own.layout.name.clone())]);
        let mut tensors = BTreeSet::new();
        // Kernels that share tensors, whose kernels share more.
        loop {
            let before = (lines.len(), tensors.len());
            for (tensor, kernel, parameter, _) in given {
                let line = (kernel.clone(), parameter.clone());
                if lines.contains(&line) {
                    tensors.insert(tensor);
                } else if tensors.contains(tensor) {
                    lines.insert(line);
                }
            }
            if before == (lines.len(), tensors.len()) {
                break;
            }
        }
        let differs = |line: &(String, String)| {
            given.iter().any(|(_, kernel, parameter, s)| (kernel, parameter) == (&line.0, &line.1) && *s != storage)
        };
        self.also = lines.into_iter().filter(differs).collect();
    }
}

impl fmt::Display for StorageConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tensor = &self.tensor;
        let (own, other) = self.sides();
        let [one, two] = self.uses.each_ref().map(described);
        let ways = format!("`{tensor}` would be stored in two ways, {one} and {two}");
        if own.layout.storage == other.layout.storage {
            return f.write_str(&ways);
        }
        let (parameter, storage) = (&own.layout.name, own.layout.storage);
        let line = format!("store {parameter}: {storage}");
        let (title, label, help) = if other.layout.written {
            (
                format!("`{line}` is not possible: kernel `{}` writes this tensor, `{tensor}`, in f32", other.kernel),
                "the tensor is written in f32".to_string(),
                format!(
                    "drop the line `{line}`; keys and values are stored in 16 bits by `--kv-store f16`, and other activations never"
                ),
            )
        } else {
            let theirs = |(kernel, parameter): &(String, String)| {
                format!("`store {parameter}: {storage}` into a schedule for `{kernel}`")
            };
            let all: Vec<String> = self.also.iter().map(theirs).collect();
            let label = format!("{} in kernel `{}`", other.layout.storage, other.kernel);
            let label = match other.place() {
                Some(place) => format!("{label}, by {place}"),
                None => label,
            };
            (ways, label, format!("write {} too, or drop `{line}` here", all.join(" and ")))
        };
        match &own.schedule {
            Some(schedule) => {
                let title = format!("{title} (kernel `{}`, schedule `{}`)", schedule.kernel, schedule.name);
                f.write_str(render(&title, schedule, &[(Spot::Store(parameter.clone()), label)], &[help]).trim_end())
            }
            None => write!(f, "{title}; {help}"),
        }
    }
}

impl std::error::Error for StorageConflict {}

impl Use {
    /// Where the user's `store` line stands.
    fn place(&self) -> Option<String> {
        let at = self.schedule.as_ref()?.origin.of(&Spot::Store(self.layout.name.clone()))?;
        Some(format!("{}:{}:{}", at.file, at.line, at.column))
    }
}

fn described(of: &Use) -> String {
    let (layout, parts) = (&of.layout, of.layout.parts.len());
    let buffers = if parts == 1 { "" } else { "s" };
    let bytes = layout.row_bytes();
    format!("{} rows of {bytes} bytes in {parts} buffer{buffers} for kernel `{}`", layout.storage, of.kernel)
}
