//! Reviewed texts as git has them at a revision.
//!
//! The rule: git is asked by its own program, in the repository of the current folder, and whatever it says goes into the message.
//! Files whose ending names a language are shaders, those of [`DOCUMENTS`] are plans and explanations; what a revision keeps in
//! another form is absent. A shader's file that cannot be read as one is told of.

use std::io::Write;
use std::process::{Command, Stdio};

use super::compare::{Documents, Folder};
use super::head::Head;
use super::{DOCUMENTS, Language};

/// Why a revision's texts are not there.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// git did not start.
    #[error("cannot run git, which knows revision `{revision}`\n  = help: install git, or leave --against out")]
    NoGit {
        /// The revision.
        revision: String,
        /// The system's words.
        source: std::io::Error,
    },
    /// The current folder is in no repository.
    #[error(
        "the current folder is in no git repository, so that there is no revision `{revision}`\n  = help: run this in a checkout"
    )]
    NoRepository {
        /// The revision.
        revision: String,
    },
    /// git does not know the revision.
    #[error(
        "git knows no revision `{revision}` here\n  = help: name a branch, a tag or a commit, such as `main` or `HEAD~1`"
    )]
    Unknown {
        /// The revision.
        revision: String,
    },
    /// The revision has no snapshots.
    #[error(
        "revision `{revision}` has no shaders under snapshots/\n  = help: choose a later revision, or run this in a checkout of the project"
    )]
    NoSnapshots {
        /// The revision.
        revision: String,
    },
    /// The revision keeps its snapshots otherwise.
    #[error(
        "revision `{revision}` keeps its shaders under snapshots/ in an older layout, which is not read\n  = help: choose a later revision"
    )]
    OlderLayout {
        /// The revision.
        revision: String,
    },
    /// git failed.
    #[error("git cannot read revision `{revision}`: {said}")]
    Failed {
        /// The revision.
        revision: String,
        /// git's words.
        said: String,
    },
}

/// Reviewed texts at a revision.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reviewed {
    /// Shaders.
    pub shaders: Folder,
    /// Plans and explanations.
    pub documents: Documents,
    /// Files that are not what their names say.
    pub faults: Vec<String>,
}

/// The texts under `snapshots/` at a revision.
///
/// # Errors
/// No git, no repository, no such revision, no snapshots in it.
pub fn at(revision: &str) -> Result<Reviewed, RevisionError> {
    let failed = |said: String| RevisionError::Failed { revision: revision.into(), said };
    let top = git(revision, &["rev-parse", "--show-toplevel"], None)?.map_err(|said| {
        let outside = said.contains("not a git repository");
        if outside { RevisionError::NoRepository { revision: revision.into() } } else { failed(said) }
    })?;
    let top = text(&top);
    let verify =
        ["-C", &top, "rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")];
    let commit = git(revision, &verify, None)?.map_err(|said| {
        // It is quiet where the name is all that is wrong.
        if said.is_empty() { RevisionError::Unknown { revision: revision.into() } } else { failed(said) }
    })?;
    let commit = text(&commit);
    let list = ["-C", &top, "ls-tree", "-r", "-z", "--name-only", &commit, "--", "snapshots/"];
    let list = git(revision, &list, None)?.map_err(failed)?;
    let names = String::from_utf8_lossy(&list);
    let files: Vec<(&str, Place)> = names.split('\0').filter_map(|path| Some((path, placed(path)?))).collect();
    if !files.iter().any(|(_, place)| matches!(place, Place::Shader(..))) {
        let revision = revision.into();
        return Err(match names.is_empty() {
            true => RevisionError::NoSnapshots { revision },
            false => RevisionError::OlderLayout { revision },
        });
    }
    let asked: String = files.iter().map(|(path, _)| format!("{commit}:{path}\n")).collect();
    let batch = git(revision, &["-C", &top, "cat-file", "--batch"], Some(asked))?.map_err(failed)?;
    let mut rest = batch.as_slice();
    let mut found = Reviewed::default();
    let mut faults: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for (path, place) in files {
        let content = blob(&mut rest).ok_or_else(|| failed(format!("{path} is no file")))?;
        let language = if let Place::Shader(_, language) = &place { Some(*language) } else { None };
        if let Some(fault) = fault(content, language) {
            match faults.iter_mut().find(|(known, _)| *known == fault) {
                Some((_, paths)) => paths.push(path),
                None => faults.push((fault, vec![path])),
            }
        }
        let content = String::from_utf8_lossy(content).into_owned();
        match place {
            Place::Shader(key, language) => drop(found.shaders.entry(key).or_default().insert(language, content)),
            Place::Document(name) => drop(found.documents.insert(name, content)),
        }
    }
    found.faults = faults.iter().map(|(fault, paths)| told(revision, fault, paths)).collect();
    Ok(found)
}

/// Why a file is not what its name says.
fn fault(content: &[u8], language: Option<Language>) -> Option<&'static str> {
    let Ok(text) = std::str::from_utf8(content) else { return Some("not UTF-8, so that it is shown with marks in it") };
    let headless = |language| Head::read(text, language).title.is_empty();
    match language {
        _ if text.trim().is_empty() => Some("empty"),
        Some(language) if headless(language) => {
            Some("without a head of this compiler: no schedule and no cost are known")
        }
        _ => None,
    }
}

/// `HEAD: snapshots/a.wgsl and 2 more are empty`.
fn told(revision: &str, fault: &str, paths: &[&str]) -> String {
    let (first, more) = (paths[0], paths.len() - 1);
    let who = if more == 0 { format!("{first} is") } else { format!("{first} and {more} more are") };
    format!("{revision}: {who} {fault}")
}

/// What a path holds.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Place {
    /// A shader by kernel and name.
    Shader((String, String), Language),
    /// Another reviewed text.
    Document(String),
}

/// What `snapshots/linear/row.wgsl` or `snapshots/plans/tiny-0` holds.
fn placed(path: &str) -> Option<Place> {
    let name = path.strip_prefix("snapshots/")?;
    let (folder, file) = name.split_once('/')?;
    if DOCUMENTS.contains(&folder) {
        // A pending one is no reviewed text.
        return (!file.ends_with(".new")).then(|| Place::Document(name.into()));
    }
    let (stem, ending) = file.rsplit_once('.')?;
    let language = Language::ALL.into_iter().find(|l| l.extension() == ending)?;
    Some(Place::Shader((folder.into(), stem.into()), language))
}

/// The next file of `cat-file --batch`: a line `HASH blob SIZE`, the content, a line end.
fn blob<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|b| *b == b'\n')?;
    let size: usize = std::str::from_utf8(&rest[..end]).ok()?.rsplit_once(" blob ")?.1.parse().ok()?;
    let content = rest.get(end + 1..end + 1 + size)?;
    *rest = rest.get(end + 2 + size..)?;
    Some(content)
}

/// What git prints, or what it says where it fails.
fn git(revision: &str, args: &[&str], input: Option<String>) -> Result<Result<Vec<u8>, String>, RevisionError> {
    let absent = |source| RevisionError::NoGit { revision: revision.into(), source };
    let mut command = Command::new("git");
    // Its words are told apart below, so they must not be translated.
    command.args(args).env("LC_ALL", "C").stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn().map_err(absent)?;
    // A thread of its own, so that neither side waits for the other with a full pipe.
    let writer = child.stdin.take().zip(input).map(|(mut stdin, input)| {
        std::thread::spawn(move || {
            // Where git has ended already, its exit code tells.
            let _ = stdin.write_all(input.as_bytes());
        })
    });
    let output = child.wait_with_output().map_err(absent)?;
    if let Some(writer) = writer {
        let _ = writer.join();
    }
    let said = text(&output.stderr);
    let said = said.strip_prefix("fatal: ").unwrap_or(&said).to_string();
    Ok(if output.status.success() { Ok(output.stdout) } else { Err(said) })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_reviewed_texts_alone_count() {
        let key = |kernel: &str, name: &str| (kernel.to_string(), name.to_string());
        let shader = Place::Shader(key("linear", "row_f16_head.0"), Language::Wgsl);
        assert_eq!(placed("snapshots/linear/row_f16_head.0.wgsl"), Some(shader));
        for name in ["plans/tiny-0", "plans/qwen2.5-0.5b-0", "explain/linear-coalesced"] {
            assert_eq!(placed(&format!("snapshots/{name}")), Some(Place::Document(name.into())));
        }
        for other in ["snapshots/errors/NoTile.snap", "snapshots/linear/row.wgsl.snap", "x.wgsl"] {
            assert_eq!(placed(other), None, "{other}");
        }
    }

    #[test]
    fn a_batch_is_taken_apart() {
        let mut rest: &[u8] = b"abc blob 3\na\nb\ndef blob 0\n\nx missing\n";
        assert_eq!(blob(&mut rest), Some(&b"a\nb"[..]));
        assert_eq!(blob(&mut rest), Some(&b""[..]));
        assert_eq!(blob(&mut rest), None);
    }

    #[test]
    fn files_that_are_no_shaders_are_told_of() {
        let wgsl = Some(Language::Wgsl);
        assert_eq!(fault(b" \n", wgsl), Some("empty"));
        assert_eq!(fault(b"", None), Some("empty"));
        assert!(fault(b"\xff", wgsl).unwrap().starts_with("not UTF-8"));
        assert!(fault(b"<<<<<<< ours\n", wgsl).unwrap().starts_with("without a head"));
        assert_eq!(fault(b"model m\n", None), None);
        assert_eq!(told("v1", "empty", &["a", "b", "c"]), "v1: a and 2 more are empty");
        assert_eq!(told("v1", "empty", &["a"]), "v1: a is empty");
    }
}
