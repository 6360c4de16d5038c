//! `lab`: studies on the adapter at hand, as a page, as JSON and as plots.
//!
//! The rule: places of files are judged before minutes are spent, and Ctrl-C keeps the studies that are complete. Absent: measuring, which
//! is the library's.

use std::path::Path;

use tilewright_runtime::{Device, copy_bandwidth, empty_dispatch};

use super::args::LabArgs;
use super::error::CliError;
use super::{interrupt, output};
use crate::engine::EngineOptions;
use crate::lab::{Lab, STUDIES, Study, json, markdown};
use crate::plot::lines;

/// Runs the command.
pub fn run(args: &LabArgs) -> Result<(), CliError> {
    let device = Device::open(&args.device.adapter.clone().unwrap_or_default(), args.device.target.as_ref())?;
    let about = about(&device)?;
    let folder = args.output.as_ref().map(|dir| dir.join(word(&device.adapter().name)).join("lab"));
    if let Some(folder) = &folder {
        std::fs::create_dir_all(folder).map_err(|source| CliError::Write { path: folder.clone(), source })?;
        for name in ["lab.md", "lab.json"] {
            output::check_place("--output", &folder.join(name), args.force)?;
        }
    }
    drop(device);

    let watch = interrupt::watch();
    let names: Vec<&str> = STUDIES.into_iter().filter(|name| args.study == "all" || args.study == *name).collect();
    let options = EngineOptions {
        adapter: args.device.adapter.clone().unwrap_or_default(),
        target: args.device.target.clone(),
        tuned: args.tuned.tuned.clone(),
        notice: output::note,
        ..EngineOptions::default()
    };
    let tell = |what: &str| output::line(what);
    let stop = || watch.asked();
    let runs = args.runs.unwrap_or(if args.quick { 2 } else { 5 }) as usize;
    let lab = Lab { options, quick: args.quick, runs, tell: &tell, stop: &stop };
    let mut studies = Vec::new();
    for name in &names {
        output::line(&format!("{name} ({} of {})", studies.len() + 1, names.len()));
        let study = lab.study(name)?;
        if watch.asked() {
            break;
        }
        studies.extend(study);
    }

    let command = |name: &str| command(args, name);
    let page = || markdown(&about, &studies, &command, folder.is_some());
    let object = || format!("{:#}\n", json(&about, &studies, &command));
    output::out(&if args.json { object() } else { page() })?;
    if let Some(folder) = &folder {
        write(&folder.join("lab.md"), &page(), args.force)?;
        write(&folder.join("lab.json"), &object(), args.force)?;
        plots(folder, &studies, args.force)?;
    }
    match watch.asked() {
        true => Err(CliError::Interrupted(format!("interrupted after {} of {} studies", studies.len(), names.len()))),
        false => Ok(()),
    }
}

/// What measures a study again.
fn command(args: &LabArgs, name: &str) -> String {
    let mut words = vec!["tilewright lab".to_string(), name.to_string()];
    words.extend(args.quick.then(|| "--quick".into()));
    words.extend(args.runs.map(|n| format!("--runs {n}")));
    words.join(" ")
}

fn plots(folder: &Path, studies: &[Study], force: bool) -> Result<(), CliError> {
    for plot in studies.iter().flat_map(|study| &study.plots) {
        write(&folder.join(plot.file), &lines(&plot.title, plot.unit, plot.axis, &plot.lines), force)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), CliError> {
    output::write_file(path, text.as_bytes(), force)?;
    output::line(&format!("wrote {}", path.display()));
    Ok(())
}

/// The adapter, and what others are held against.
fn about(device: &Device) -> Result<Vec<String>, CliError> {
    Ok(vec![
        device.adapter().to_string(),
        format!(
            "copy {:.0} GB/s, read and written; empty dispatch {:.1} µs",
            copy_bandwidth(device)?,
            empty_dispatch(device)?
        ),
        format!("tilewright {}", env!("CARGO_PKG_VERSION")),
    ])
}

/// A name as a folder's.
fn word(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let text: String = name.chars().map(plain).collect();
    text.split_whitespace().collect::<Vec<_>>().join("-")
}
