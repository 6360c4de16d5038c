//! `diff`: schedules, tiers and revisions against each other.
//!
//! From names it makes a [`Comparison`], and of that text on stdout or one page. The rule: whatever is compared, the reader meets
//! schedule lines first, then figures, then shaders. Absent: an adapter.

use std::path::Path;

use tilewright_codegen::compile;
use tilewright_codegen::program::Program;

use super::args::DiffArgs;
use super::error::CliError;
use super::model::Folder;
use super::names::suggest;
use super::{output, shaders};
use crate::checkpoint::{EMBEDDING, HEAD};
use crate::error::ModelError;
use crate::review::compare::{self, Comparison, Pair, Texts};
use crate::review::revision::Reviewed;
use crate::review::{self, Language, page, plans, report, revision};
use crate::tiers;

/// Runs the command.
pub fn run(args: &DiffArgs) -> Result<(), CliError> {
    let stdout = args.html.as_deref() == Some(Path::new("-"));
    if let Some(path) = args.html.as_ref().filter(|_| !stdout) {
        output::check_place("--html", path, args.force)?;
    }
    without_meaning(args)?;
    let comparison = compared(args)?;
    match &args.html {
        None => output::out(&report::text(&comparison, args.target, output::stdout_colours())),
        Some(_) if stdout => output::out(&page::html(&comparison)?),
        Some(path) => {
            output::write_file(path, page::html(&comparison)?.as_bytes(), args.force)?;
            output::line(&format!("wrote {}", path.display()));
            Ok(())
        }
    }
}

/// Refuses flags that what is compared has no use for.
fn without_meaning(args: &DiffArgs) -> Result<(), CliError> {
    if args.model.model.is_some() && args.tiers.is_none() {
        let help = "leave --model out, or pass --tiers OLD..NEW: only tiers are of a model";
        return Err(CliError::usage("--model has no meaning without --tiers", help));
    }
    if args.schedules.is_some() && (args.tiers.is_some() || args.against.is_some() || args.old.is_none()) {
        let help = "leave --schedules out, or name a kernel and two schedules";
        return Err(CliError::usage("--schedules has no meaning here: no schedule of a file is compared", help));
    }
    Ok(())
}

fn compared(args: &DiffArgs) -> Result<Comparison, CliError> {
    if let Some(list) = &args.tiers {
        return of_tiers(args, &list.0);
    }
    match (&args.kernel, &args.old, &args.new) {
        (Some(kernel), Some(old), Some(new)) => of_schedules(args, kernel, old, new),
        (kernel, None, _) if args.against.is_some() || args.html.is_some() => of_all(args, kernel.as_deref()),
        (Some(kernel), old, _) => {
            let entry = shaders::entry(kernel)?;
            if let Some(old) = old {
                shaders::schedule(&entry, args.schedules.as_deref(), old)?;
            }
            let names: Vec<&str> = entry.schedules.iter().map(|s| s.name.as_str()).collect();
            let given = old.as_ref().map(|old| format!(" {old}")).unwrap_or_default();
            let message = format!("`diff {kernel}{given}` needs two schedules");
            Err(CliError::usage(message, format!("name two of {}, or pass --against REV", names.join(", "))))
        }
        _ => {
            let help = "name a kernel and two schedules, or pass --tiers OLD..NEW, --against REV or --html FILE";
            Err(CliError::usage("`diff` has nothing to compare", help))
        }
    }
}

/// Two schedules of a kernel at one shape.
fn of_schedules(args: &DiffArgs, kernel: &str, old: &str, new: &str) -> Result<Comparison, CliError> {
    let entry = shaders::entry(kernel)?;
    let shape = shaders::shape(&args.shape, &entry)?;
    let made = |name: &str| -> Result<Vec<Texts>, CliError> {
        let schedule = shaders::schedule(&entry, args.schedules.as_deref(), name)?;
        Ok(texts(&compile(&entry.kernel, &schedule, &shape, &shaders::target(&entry.kernel, &schedule, &shape))?))
    };
    let (olds, news) = (made(old)?, made(new)?);
    let count = olds.len().max(news.len());
    let pair = |i: usize| Pair {
        kernel: kernel.into(),
        name: format!("{old} -> {new}") + &if count == 1 { String::new() } else { format!(", shader {i}") },
        note: String::new(),
        old: olds.get(i).cloned(),
        new: news.get(i).cloned(),
    };
    Ok(Comparison {
        title: format!("{kernel}: {old} -> {new}"),
        old: old.into(),
        new: new.into(),
        pairs: (0..count).map(pair).collect(),
        ..Comparison::default()
    })
}

/// The texts of each shader of a program.
fn texts(program: &Program) -> Vec<Texts> {
    let of = |shader| Language::ALL.into_iter().map(|language| (language, language.print(shader))).collect();
    program.shaders.iter().map(of).collect()
}

fn of_tiers(args: &DiffArgs, list: &[usize]) -> Result<Comparison, CliError> {
    let (Some(&old), Some(&new)) = (list.first(), list.last().filter(|_| list.len() > 1)) else {
        let help = format!("write two of 0 to {}, such as `3..4`", tiers::count() - 1);
        return Err(CliError::usage("--tiers names one tier; expected two to compare", help));
    };
    if !args.shape.0.is_empty() {
        let help = "leave --shape out: a model sets the extents; --model DIR chooses it";
        return Err(CliError::usage("--shape has no meaning with --tiers", help));
    }
    let folder = Folder::open(&args.model)?;
    let head = if folder.config.tie_word_embeddings { EMBEDDING } else { HEAD };
    Ok(plans::tiers(&folder.config, head, &folder.name(), old, new)?)
}

/// Everything that is reviewed, against a revision if one is named.
fn of_all(args: &DiffArgs, kernel: Option<&str>) -> Result<Comparison, CliError> {
    if !args.shape.0.is_empty() {
        let help = "leave --shape out: reviewed shaders have their own extents; `diff KERNEL OLD NEW` takes any";
        return Err(CliError::usage("--shape has no meaning here", help));
    }
    let mut new = review::folder().map_err(ModelError::from)?;
    let reviewed = args.against.as_deref().map(revision::at).transpose()?;
    let (mut old, documents, faults) = match reviewed {
        Some(Reviewed { shaders, documents, faults }) => (Some(shaders), Some(documents), faults),
        None => (None, None, Vec::new()),
    };
    faults.iter().for_each(|fault| output::note(fault));
    if let Some(kernel) = kernel {
        let mut known: Vec<String> = new.keys().chain(old.iter().flat_map(|o| o.keys())).map(|k| k.0.clone()).collect();
        known.sort();
        known.dedup();
        if !known.iter().any(|name| name == kernel) {
            return Err(CliError::usage(format!("there is no kernel `{kernel}`"), suggest(kernel, &known)));
        }
        new.retain(|key, _| key.0 == kernel);
        old.iter_mut().for_each(|old| old.retain(|key, _| key.0 == kernel));
    }
    // Plans and explanations are of no one kernel.
    let documents = match documents.filter(|_| kernel.is_none()) {
        Some(old) => compare::documents(&old, &review::documents()?),
        None => Vec::new(),
    };
    let what = kernel.map_or("all kernels".to_string(), |kernel| format!("kernel {kernel}"));
    let pairs = match &old {
        Some(old) => compare::folders(old, &new),
        None => compare::folders(&new, &new),
    };
    let against = args.against.clone().unwrap_or_default();
    Ok(Comparison {
        title: if against.is_empty() {
            format!("Shaders of {what}")
        } else {
            format!("Shaders of {what} against {against}")
        },
        old: against,
        new: "now".into(),
        notes: faults,
        pairs,
        documents,
        ..Comparison::default()
    })
}
