//! Where the bundled model is: the default when no other is named.
//!
//! The rule: the model is part of the program ([`BUNDLED`]); a `share` folder beside the program, or one that
//! `TILEWRIGHT_ASSETS` names, takes its place. Nothing is downloaded.

use std::path::PathBuf;

use crate::error::ModelError;
use crate::files::{BUNDLED, BUNDLED_DRAFT};

/// The environment variable that names a folder with `tiny/` in it.
pub const ASSETS_VARIABLE: &str = "TILEWRIGHT_ASSETS";

/// The folder of the bundled model: `$TILEWRIGHT_ASSETS/tiny`, then `../share/tilewright/tiny` or `share/tilewright/tiny` from the
/// program's folder, then the program itself.
///
/// # Errors
/// When the variable is set and there is no `config.json` where it points.
pub fn bundled_dir() -> Result<PathBuf, ModelError> {
    let program = std::env::current_exe().ok().and_then(|p| p.parent().map(PathBuf::from));
    choose(std::env::var_os(ASSETS_VARIABLE).map(PathBuf::from), program)
}

/// The folder of the bundled model's draft: `draft` beside the model's own folder, where the bundled one is not used, if it is there.
///
/// # Errors
/// As [`bundled_dir`].
pub fn bundled_draft_dir() -> Result<PathBuf, ModelError> {
    let beside = bundled_dir()?.with_file_name("draft");
    Ok(if beside.join("config.json").is_file() { beside } else { BUNDLED_DRAFT.into() })
}

fn choose(assets: Option<PathBuf>, program: Option<PathBuf>) -> Result<PathBuf, ModelError> {
    let is_model = |dir: &PathBuf| dir.join("config.json").is_file();
    if let Some(assets) = assets {
        let named = assets.join("tiny");
        return if is_model(&named) { Ok(named) } else { Err(ModelError::NoBundle { assets }) };
    }
    let shares = ["../share/tilewright/tiny", "share/tilewright/tiny"];
    let beside = program.into_iter().flat_map(|p| shares.map(|share| p.join(share)));
    Ok(beside.into_iter().find(is_model).unwrap_or_else(|| BUNDLED.into()))
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
    fn the_variable_then_beside_the_program_then_the_program_itself() {
        let root = tempfile::tempdir().unwrap();
        let (bin, assets) = (root.path().join("bin"), root.path().join("assets"));
        let find = |assets| choose(assets, Some(bin.clone()));

        std::fs::create_dir_all(&bin).unwrap();
        assert_eq!(find(None).unwrap(), PathBuf::from(BUNDLED));
        let shared = model(root.path().join("share/tilewright/tiny"));
        assert_eq!(find(None).unwrap().canonicalize().unwrap(), shared.canonicalize().unwrap());
        let message = find(Some(assets.clone())).unwrap_err().to_string();
        let named = assets.display().to_string();
        assert!(message.contains("TILEWRIGHT_ASSETS") && message.contains(&named), "{message}");
        assert_eq!(find(Some(assets.clone())).unwrap_err().to_string(), message);
        let tiny = model(assets.join("tiny"));
        assert_eq!(find(Some(assets)).unwrap(), tiny);
    }
}
