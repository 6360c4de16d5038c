//! Reviewed texts as git has them at a revision.
//!
//! The rule: git is asked by its own program, in the repository of the current folder, and whatever it says goes into the message.
//! Only files whose ending names a language count; what a revision keeps in another form is absent.

use std::io::Write;
use std::process::{Command, Stdio};

use super::Language;
use super::compare::Folder;

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
    /// git failed.
    #[error("git cannot read revision `{revision}`: {said}")]
    Failed {
        /// The revision.
        revision: String,
        /// git's words.
        said: String,
    },
}

/// The texts under `snapshots/` at a revision.
///
/// # Errors
/// No git, no repository, no such revision, no snapshots in it.
pub fn at(revision: &str) -> Result<Folder, RevisionError> {
    let top = git(revision, &["rev-parse", "--show-toplevel"], None)?
        .ok_or_else(|| RevisionError::NoRepository { revision: revision.into() })?;
    let top = text(&top);
    let unknown = || RevisionError::Unknown { revision: revision.into() };
    let verify =
        ["-C", &top, "rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")];
    let commit = text(&git(revision, &verify, None)?.ok_or_else(unknown)?);
    let failed = |said: &str| RevisionError::Failed { revision: revision.into(), said: said.into() };
    let list = ["-C", &top, "ls-tree", "-r", "-z", "--name-only", &commit, "--", "snapshots/"];
    let list = git(revision, &list, None)?.ok_or_else(|| failed("ls-tree failed"))?;
    let names = String::from_utf8_lossy(&list);
    let files: Vec<(&str, (String, String), Language)> = names.split('\0').filter_map(placed).collect();
    if files.is_empty() {
        return Err(RevisionError::NoSnapshots { revision: revision.into() });
    }
    let asked: String = files.iter().map(|(path, ..)| format!("{commit}:{path}\n")).collect();
    let batch = git(revision, &["-C", &top, "cat-file", "--batch"], Some(asked))?;
    let batch = batch.ok_or_else(|| failed("cat-file failed"))?;
    let mut rest = batch.as_slice();
    let mut folder = Folder::new();
    for (path, key, language) in files {
        let content = blob(&mut rest).ok_or_else(|| failed(&format!("{path} is no file")))?;
        folder.entry(key).or_default().insert(language, content);
    }
    Ok(folder)
}

/// `snapshots/linear/row.wgsl`: its kernel, name and language.
fn placed(path: &str) -> Option<(&str, (String, String), Language)> {
    let (kernel, file) = path.strip_prefix("snapshots/")?.split_once('/')?;
    let (name, ending) = file.rsplit_once('.')?;
    let language = Language::ALL.into_iter().find(|l| l.extension() == ending)?;
    Some((path, (kernel.into(), name.into()), language))
}

/// The next file of `cat-file --batch`: a line `HASH blob SIZE`, the content, a line end.
fn blob(rest: &mut &[u8]) -> Option<String> {
    let end = rest.iter().position(|b| *b == b'\n')?;
    let size: usize = std::str::from_utf8(&rest[..end]).ok()?.rsplit_once(" blob ")?.1.parse().ok()?;
    let content = rest.get(end + 1..end + 1 + size)?;
    *rest = rest.get(end + 2 + size..)?;
    Some(String::from_utf8_lossy(content).into_owned())
}

/// What git prints, `None` where it fails.
fn git(revision: &str, args: &[&str], input: Option<String>) -> Result<Option<Vec<u8>>, RevisionError> {
    let absent = |source| RevisionError::NoGit { revision: revision.into(), source };
    let mut command = Command::new("git");
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::null());
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
    Ok(output.status.success().then_some(output.stdout))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_shaders_alone_count() {
        let key = |kernel: &str, name: &str| (kernel.to_string(), name.to_string());
        let path = "snapshots/linear/row_f16_head.0.wgsl";
        assert_eq!(placed(path), Some((path, key("linear", "row_f16_head.0"), Language::Wgsl)));
        for other in
            ["snapshots/errors/NoTile.snap", "snapshots/plans/tiny-0", "snapshots/linear/row.wgsl.snap", "x.wgsl"]
        {
            assert_eq!(placed(other), None, "{other}");
        }
    }

    #[test]
    fn a_batch_is_taken_apart() {
        let mut rest: &[u8] = b"abc blob 3\na\nb\ndef blob 0\n\nx missing\n";
        assert_eq!(blob(&mut rest).as_deref(), Some("a\nb"));
        assert_eq!(blob(&mut rest).as_deref(), Some(""));
        assert_eq!(blob(&mut rest), None);
    }
}
