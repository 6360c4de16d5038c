//! `shaders export`: a plan's shaders as a folder for another host.
//!
//! The rule: a folder is written only if it is new, empty, or an earlier export, which its manifest says; then exactly the files
//! that the earlier manifest names go. The manifest is written last.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::args::ExportArgs;
use super::error::CliError;
use super::model::Folder;
use super::output;
use crate::checkpoint::{EMBEDDING, HEAD};
use crate::engine::{EngineOptions, Plan};
use crate::export::{FORMAT, File, Manifest, export};
use crate::review;

/// The manifest's name.
const MANIFEST: &str = "manifest.json";

/// Runs the command.
pub fn run(args: &ExportArgs) -> Result<(), CliError> {
    let earlier = earlier(&args.dir, args.force)?;
    let folder = Folder::open(&args.model)?;
    let head = if folder.config.tie_word_embeddings { EMBEDDING } else { HEAD };
    let options = EngineOptions {
        tier: args.tier.tier,
        plain_argmax: true,
        context: Some(u32::try_from(folder.room(args.context)?).unwrap_or(u32::MAX)),
        ..EngineOptions::default()
    };
    let target = review::target();
    let (plan, notes) = Plan::choose(&folder.config, head, &target, &options, true)?;
    notes.iter().for_each(|text| output::note(text));
    let name = folder.name();
    let (manifest, files) = export(&name, &folder.config, &target, &plan, args.target.into());
    write(&args.dir, &manifest, &files, &earlier)?;
    let (tier, count) = (plan.tier.number, files.len());
    output::line(&format!("wrote {count} shaders of {name} on tier {tier} and {MANIFEST} to {}", args.dir.display()));
    Ok(())
}

/// The files of an earlier export; an error where the folder holds anything else.
fn earlier(dir: &Path, force: bool) -> Result<BTreeSet<String>, CliError> {
    let foreign = |found: String| CliError::Foreign { path: dir.into(), found };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(source) => return Err(CliError::Read { path: dir.into(), source }),
    };
    let names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    let text = fs::read_to_string(dir.join(MANIFEST)).unwrap_or_default();
    // Of the manifest only what names files: that of an earlier program may have other fields.
    let manifest: Option<Value> = serde_json::from_str(&text).ok().filter(|m: &Value| m["format"] == FORMAT);
    match manifest {
        Some(manifest) => {
            let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
            let shaders = list(&manifest, "kernels").into_iter().flat_map(|kernel| list(&kernel, "shaders"));
            let files = shaders.filter_map(|shader| shader["file"].as_str().map(String::from));
            // A name with a folder in it is none that was written here.
            Ok(files.filter(|name| Path::new(name).file_name().is_some_and(|n| n == name.as_str())).collect())
        }
        None if names.is_empty() || force => Ok(BTreeSet::new()),
        None => Err(foreign(names.into_iter().min().unwrap_or_default())),
    }
}

fn write(dir: &Path, manifest: &Manifest, files: &[File], earlier: &BTreeSet<String>) -> Result<(), CliError> {
    let failed = |path: PathBuf| |source| CliError::Write { path, source };
    fs::create_dir_all(dir).map_err(failed(dir.into()))?;
    for file in files {
        let path = dir.join(&file.name);
        fs::write(&path, &file.text).map_err(failed(path))?;
    }
    let path = dir.join(MANIFEST);
    let text = serde_json::to_string_pretty(manifest).map_err(std::io::Error::from).map_err(failed(path.clone()))?;
    fs::write(&path, text + "\n").map_err(failed(path))?;
    for name in earlier.iter().filter(|name| files.iter().all(|f| f.name != **name)) {
        let path = dir.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(path)(error)),
            _ => {}
        }
    }
    Ok(())
}
