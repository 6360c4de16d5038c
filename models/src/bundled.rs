//! Where the bundled model is: the default when no other is named.
//!
//! The rule: a program that was installed with its `share` folder finds the model beside itself; one that was not can be
//! told with `TILEWRIGHT_ASSETS`; one that runs from the source tree finds the source tree. Nothing is embedded in the
//! program and nothing is downloaded.

use std::path::PathBuf;

use crate::error::ModelError;

/// The environment variable that names the folder with `tiny/` in it.
pub const ASSETS_VARIABLE: &str = "TILEWRIGHT_ASSETS";

/// The folder of the bundled model: `../share/tilewright/tiny` or `share/tilewright/tiny` from the program's folder, then
/// `$TILEWRIGHT_ASSETS/tiny`, then `assets/tiny` of the source tree.
///
/// # Errors
/// When none of them holds a `config.json`.
pub fn bundled_dir() -> Result<PathBuf, ModelError> {
    let program = std::env::current_exe().ok().and_then(|p| p.parent().map(PathBuf::from));
    let assets = std::env::var_os(ASSETS_VARIABLE).map(PathBuf::from);
    first_model(candidates(program, assets))
}

/// The folders to look in, best first.
fn candidates(program: Option<PathBuf>, assets: Option<PathBuf>) -> Vec<PathBuf> {
    let beside = program
        .into_iter()
        .flat_map(|p| ["../share/tilewright/tiny", "share/tilewright/tiny"].map(|share| p.join(share)));
    let named = assets.map(|a| a.join("tiny"));
    let source = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/tiny"));
    beside.chain(named).chain([source]).collect()
}

fn first_model(candidates: Vec<PathBuf>) -> Result<PathBuf, ModelError> {
    let looked = candidates.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ");
    let found = candidates.into_iter().find(|p| p.join("config.json").is_file());
    found.ok_or(ModelError::NoBundle { looked })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(at: PathBuf) -> PathBuf {
        std::fs::create_dir_all(&at).unwrap();
        std::fs::write(at.join("config.json"), "{}").unwrap();
        at
    }

    #[test]
    fn beside_the_program_then_the_variable_then_the_source_tree() {
        let root = tempfile::tempdir().unwrap();
        let (bin, assets) = (root.path().join("bin"), root.path().join("assets"));
        let find = || first_model(candidates(Some(bin.clone()), Some(assets.clone()))).unwrap();

        std::fs::create_dir_all(&bin).unwrap();
        assert!(find().ends_with("models/assets/tiny"));
        let named = model(assets.join("tiny"));
        assert_eq!(find(), named);
        let shared = model(root.path().join("share/tilewright/tiny"));
        assert_eq!(find().canonicalize().unwrap(), shared.canonicalize().unwrap());
    }

    #[test]
    fn says_where_it_looked() {
        let message = first_model(vec!["/nowhere/a".into(), "/nowhere/b".into()]).unwrap_err().to_string();
        assert!(message.contains("/nowhere/a, /nowhere/b") && message.contains("TILEWRIGHT_ASSETS"), "{message}");
    }
}
