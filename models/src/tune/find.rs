//! Which tuned schedules are used: the user's own for this adapter and driver, then those that are part of the program.
//!
//! The rule: a file in the user's cache that is wrong or of another adapter is passed over with a note, since a cache may hold
//! anything; a file that was asked for by name is an error. Absent: a choice between entries; the first file that has a site wins.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tilewright_runtime::{AdapterKind, AdapterSummary, cache_folder, file_name};

use super::file::{FileError, Tuned};
use crate::engine::TierChoice;

/// Files that are part of the program: name and text.
const SHIPPED: &[(&str, &str)] = &[
    ("nvidia-h200", include_str!("../../assets/schedules/nvidia-h200.txt")),
    ("llvmpipe", include_str!("../../assets/schedules/llvmpipe.txt")),
    ("integrated", include_str!("../../assets/schedules/integrated.txt")),
];

/// The adapter of a file for all GPUs that share the processor's memory.
const INTEGRATED: &str = "any integrated GPU";
/// The driver of a file that was not measured.
const UNMEASURED: &str = "none: not measured";

/// Where tuned schedules come from.
#[derive(Clone, Debug, Default)]
pub enum Tuning {
    /// From nowhere: the tier's own schedules.
    #[default]
    Off,
    /// The user's cache, and the program.
    Auto,
    /// This file.
    File(PathBuf),
    /// They have been found.
    Found(Arc<Found>),
}

/// Schedules for an adapter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Found {
    /// The schedules.
    pub tuned: Tuned,
    /// Where they come from, for people.
    pub source: String,
    /// What was passed over, and why.
    pub notes: Vec<String>,
}

/// Where `tune` keeps what it finds for an adapter, unless told otherwise; none without a folder for caches.
pub fn place(adapter: &AdapterSummary) -> Option<PathBuf> {
    let name = format!("{}-{}.txt", file_name(&adapter.name), file_name(&adapter.driver));
    cache_folder().map(|folder| folder.join("schedules").join(name))
}

/// The text of a file.
///
/// # Errors
/// [`FileError::Read`].
pub fn read(path: &Path) -> Result<String, FileError> {
    let told = |reason: String| FileError::Read { path: path.display().to_string(), reason };
    let bytes = std::fs::read(path).map_err(|e| told(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| told(format!("byte {} is not UTF-8", e.utf8_error().valid_up_to())))
}

impl Tuning {
    /// The schedules for an adapter.
    ///
    /// # Errors
    /// What is wrong with a file that was asked for.
    pub fn found(&self, adapter: &AdapterSummary) -> Result<Arc<Found>, FileError> {
        match self {
            Tuning::Off => Ok(Arc::default()),
            Tuning::Found(found) => Ok(Arc::clone(found)),
            Tuning::File(path) => {
                let name = path.display().to_string();
                let tuned = Tuned::read(&name, &read(path)?)?;
                let mut notes = Vec::new();
                if !same_adapter(&tuned.adapter, &adapter.name) {
                    notes.push(format!("{name} was measured on {}, and this is {}", tuned.adapter, adapter.name));
                } else {
                    notes.extend(other_driver(&name, &tuned, adapter));
                }
                Ok(Arc::new(Found { tuned, source: name, notes }))
            }
            Tuning::Auto => Ok(Arc::new(automatic(place(adapter).as_deref(), SHIPPED, adapter))),
        }
    }
}

impl Found {
    /// What must be said aloud once a plan uses `used` of these and has `passed` over others, each with its reason: all there is of a
    /// file that was `asked` for; else only why the user's own file is not read.
    pub fn told(&self, asked: Option<&Path>, tier: TierChoice, used: usize, passed: &[String]) -> Vec<String> {
        let mut told = self.notes.clone();
        let Some(path) = asked.map(Path::display) else { return told };
        told.extend(passed.iter().cloned());
        if matches!(tier, TierChoice::Number(_)) {
            told.push(format!("--tuned {path} is not used: it counts where the tier is chosen, and --tier names one"));
        } else if used == 0 && passed.is_empty() {
            told.push(format!(
                "no schedule of {path} is used: none is for a kernel and shape that runs here, as `tilewright tune --dry-run` names \
                 them"
            ));
        }
        told
    }
}

fn automatic(cache: Option<&Path>, shipped: &[(&str, &str)], adapter: &AdapterSummary) -> Found {
    let mut found = Found::default();
    let mut sources = Vec::new();
    if let Some(path) = cache.filter(|p| p.exists()) {
        let name = path.display().to_string();
        match read(path).and_then(|text| Tuned::read(&name, &text)) {
            Ok(tuned) if same_adapter(&tuned.adapter, &adapter.name) => {
                found.notes.extend(other_driver(&name, &tuned, adapter));
                found.tuned = tuned;
                sources.push(name);
            }
            Ok(tuned) => found.notes.push(format!("{name} is not used: it is for {}", tuned.adapter)),
            Err(error) => found.notes.push(format!("tuned schedules are not used: {error}")),
        }
    }
    for (name, text) in shipped {
        match Tuned::read(name, text) {
            Ok(tuned) if is_for(&tuned.adapter, adapter) => {
                let new: Vec<_> = tuned.entries.iter().filter(|e| found.tuned.find(&e.at).is_none()).cloned().collect();
                if !new.is_empty() {
                    let how = match tuned.driver.as_str() {
                        UNMEASURED => "not measured".to_string(),
                        driver if driver == adapter.driver => "measured with this driver".to_string(),
                        driver => format!("measured with {driver}"),
                    };
                    sources.push(format!("this program ({how})"));
                }
                if found.tuned.entries.is_empty() {
                    found.tuned = Tuned { entries: Vec::new(), ..tuned };
                }
                found.tuned.entries.extend(new);
            }
            Ok(_) => {}
            Err(error) => found.notes.push(format!("tuned schedules of this program are not used: {error}")),
        }
    }
    found.source = sources.join(" and ");
    found
}

fn other_driver(name: &str, tuned: &Tuned, adapter: &AdapterSummary) -> Option<String> {
    let (then, now) = (&tuned.driver, &adapter.driver);
    (then != now).then(|| format!("{name} was measured with driver {then}, and this is {now}"))
}

/// Whether a file of the program's is for an adapter.
fn is_for(name: &str, adapter: &AdapterSummary) -> bool {
    let integrated = name == INTEGRATED && adapter.kind == AdapterKind::Integrated;
    integrated || same_adapter(name, &adapter.name)
}

/// Whether two names are of one kind of adapter: what stands in parentheses is a version of something.
fn same_adapter(a: &str, b: &str) -> bool {
    let head = |name: &str| name.split('(').next().unwrap_or_default().trim().to_lowercase();
    head(a) == head(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::linear;
    use crate::tune::{Entry, Key};
    use tilewright_dsl::schedule::Schedule;

    fn adapter() -> AdapterSummary {
        let (name, driver) = ("a card (LLVM 15)".into(), "driver 1".into());
        AdapterSummary { name, kind: AdapterKind::Discrete, backend: "vulkan".into(), driver }
    }

    fn text(adapter: &str, name: &str, sites: &[&str]) -> String {
        let entry = |at: &&str| {
            let schedule = Schedule { name: format!("{name}_{}", &at[at.len() - 1..]), ..linear::row() };
            Entry { at: Key::read(at), text: None, note: String::new(), schedule }
        };
        let entries = sites.iter().map(entry).collect();
        Tuned { adapter: adapter.into(), driver: "driver 1".into(), compiler: "c".into(), entries }.to_string()
    }

    #[test]
    fn the_users_own_come_first_and_the_programs_fill_up() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("c.txt");
        std::fs::write(&cache, text("a card (LLVM 17)", "mine", &["linear a"])).unwrap();
        let shipped = text("A card", "theirs", &["linear a", "linear b"]);
        let found = automatic(Some(&cache), &[("shipped", &shipped)], &adapter());
        let name = |at: &str| found.tuned.find(&Key::read(at)).map(|e| e.schedule.name.as_str());
        assert_eq!((name("linear a"), name("linear b"), name("linear c")), (Some("mine_a"), Some("theirs_b"), None));
        assert!(
            found.source.ends_with("c.txt and this program (measured with this driver)") && found.notes.is_empty(),
            "{found:?}"
        );
    }

    #[test]
    fn foreign_and_broken_files_are_passed_over_aloud() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("c.txt");
        for (bytes, told) in [
            (text("another card", "mine", &["linear a"]).into_bytes(), "it is for another card"),
            (b"// adapter: a card\nschedule x for linear { r: lanes; }".to_vec(), "expected `(n)`"),
            (b"schedule x for linear { r: grid; }".to_vec(), "no line `// adapter: NAME`"),
            (vec![0xff, 0xfe, 0], "is not UTF-8"),
            (Vec::new(), "expected at least one"),
        ] {
            std::fs::write(&cache, bytes).unwrap();
            let found = automatic(Some(&cache), &[], &adapter());
            assert!(found.tuned.entries.is_empty());
            assert!(found.notes.len() == 1 && found.notes[0].contains(told), "{told}: {:?}", found.notes);
            let asked = Tuning::File(cache.clone()).found(&adapter());
            assert!(asked.is_err() || asked.unwrap().notes[0].contains("another card"));
        }
        assert!(automatic(Some(&dir.path().join("none")), &[], &adapter()).notes.is_empty());
    }

    #[test]
    fn the_programs_own_files_are_right() {
        for (name, text) in SHIPPED {
            let tuned = Tuned::read(name, text).unwrap();
            assert!(!tuned.entries.is_empty() && crate::tune::file::untouched(text), "{name}");
        }
    }
}
