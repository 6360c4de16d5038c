//! What ends a command early, and how it is told.
//!
//! The rule: one message, `error: ...`, with its causes and what to do; exit code 2 where another value of a flag would do (also
//! one that this model or this machine does not have), 1 for files, devices and schedules. Absent: recovery.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tilewright_codegen::CompileError;
use tilewright_dsl::schedule::SyntaxErrors;
use tilewright_runtime::RuntimeError;

use super::output;
use crate::error::{ModelError, counted};
use crate::review::revision::RevisionError;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command line is wrong.
    #[error("{message}\n  = help: {help}")]
    Usage {
        /// The flag, what was found and what was expected.
        message: String,
        /// What to do.
        help: String,
    },

    /// The model's files, or what was asked of the model.
    #[error(transparent)]
    Model(#[from] ModelError),

    /// The device.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),

    /// A schedule that does not apply.
    #[error(transparent)]
    Compile(#[from] CompileError),

    /// A shader that HLSL has no words for.
    #[error(
        "schedule `{schedule}` of kernel `{kernel}` is not expressible in HLSL: {why}\n  = help: `--target wgsl` or `--target loops`"
    )]
    Inexpressible {
        /// The kernel.
        kernel: String,
        /// The schedule.
        schedule: String,
        /// Why.
        why: &'static str,
    },

    /// Tokens that do not fit.
    #[error("{what} {}, and the context has room for {room} ({because})\n  = help: use fewer, {help}", counted(*.count, "token", "tokens"))]
    TooLong {
        /// Whose tokens.
        what: &'static str,
        /// How many.
        count: usize,
        /// Positions.
        room: usize,
        /// What set the context.
        because: &'static str,
        /// What else to do.
        help: &'static str,
    },

    /// The cache does not fit the device.
    #[error("a context of {context} positions does not fit this device\n  = help: use a smaller --context")]
    Cache {
        /// Positions.
        context: u32,
        /// What the device says.
        source: Box<ModelError>,
    },

    /// `--context` over the model's own.
    #[error(
        "--context is {found}; expected at most {most}, the context that {path} names\n  = help: use a smaller one, or a model with a \
         longer context"
    )]
    ContextTooLong {
        /// The flag's value.
        found: u32,
        /// The model's context.
        most: usize,
        /// The configuration file.
        path: PathBuf,
    },

    /// A token id that the model does not have.
    #[error(
        "--ids has {found}; expected ids under {vocab}, the `vocab_size` of {path}\n  = help: check which model the ids are of"
    )]
    IdTooLarge {
        /// The id.
        found: u32,
        /// Rows of the embedding.
        vocab: usize,
        /// The configuration file.
        path: PathBuf,
    },

    /// Reviewed texts of a revision that cannot be had.
    #[error("--against: {0}")]
    Revision(#[from] RevisionError),

    /// A page that the template does not make.
    #[error("--html: the page cannot be made\n  = help: this is a defect; please report it")]
    Page(#[from] minijinja::Error),

    /// A schedule file that is wrong.
    #[error("{}", schedules(.0))]
    Schedules(#[from] SyntaxErrors),

    /// A schedule file that cannot be read.
    #[error(
        "--schedules {path}: the file cannot be read: {source}; check the path; `tilewright shaders list linear` prints such text"
    )]
    NoSchedules {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },

    /// A schedule file that is no text.
    #[error("--schedules {path}: byte {byte} (line {line}) is not UTF-8; expected text: save the file as UTF-8")]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first byte that is wrong, from 0.
        byte: usize,
        /// Its line, from 1.
        line: usize,
    },

    /// A file that cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },

    /// A file that cannot be written.
    #[error("cannot write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },

    /// A file that would be overwritten.
    #[error(
        "{flag} {path}: the file exists; expected a new one\n  = help: choose another name, or pass --force to overwrite it"
    )]
    Exists {
        /// The flag.
        flag: &'static str,
        /// The file.
        path: PathBuf,
    },

    /// A folder with something else in it.
    #[error(
        "{path} is not empty and no export of this program: it holds `{found}`\n  = help: choose a new folder, or pass --force to \
         write into it; files of other names stay"
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Something in it.
        found: String,
    },

    /// Tiers that do not agree.
    #[error(
        "tier {tier} breaks the token rule against tier {reference}: {how}\n  = help: {}",
        token_rule_help(.schedules.as_deref())
    )]
    TokenRule {
        /// The tier.
        tier: usize,
        /// The tier that it was held against.
        reference: usize,
        /// Where, and by how much.
        how: String,
        /// The file of `--schedules`, if it is given.
        schedules: Option<PathBuf>,
    },

    /// `doctor` found something.
    #[error("{0}")]
    Unwell(String),

    /// stdout cannot be written.
    #[error("cannot write to stdout")]
    Stdout(#[source] std::io::Error),

    /// The reader of stdout is gone.
    #[error("stdout was closed")]
    Closed,

    /// Ctrl-C.
    #[error("{0}")]
    Interrupted(String),
}

/// Whether a device's refusal is about the value of `--adapter` or `--target`.
pub fn asks_too_much(error: &RuntimeError) -> bool {
    use RuntimeError::{AdapterNotFound, TargetSyntax, TargetTooLarge};
    matches!(error, AdapterNotFound { .. } | TargetSyntax { .. } | TargetTooLarge { .. })
}

impl CliError {
    /// A wrong command line.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        CliError::Usage { message: message.into(), help: help.into() }
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            CliError::Usage { .. }
            | CliError::TooLong { .. }
            | CliError::ContextTooLong { .. }
            | CliError::IdTooLarge { .. }
            | CliError::Cache { .. }
            | CliError::Model(ModelError::Setting { .. } | ModelError::Pages(_)) => 2,
            CliError::Model(ModelError::TooSmall(small)) if small.by_target => 2,
            CliError::Runtime(error) | CliError::Model(ModelError::Runtime(error)) if asks_too_much(error) => 2,
            CliError::Interrupted(_) => 130,
            _ => 1,
        })
    }

    /// Tells it on stderr.
    pub fn print(&self) {
        match self {
            CliError::Interrupted(what) => output::note(what),
            _ => {
                let text = self.text();
                // Rendered schedule errors begin with the word already.
                output::labelled("error", "31", text.strip_prefix("error: ").unwrap_or(&text));
            }
        }
    }

    /// The message and its causes, each told once.
    fn text(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let reason = error.to_string();
            if !reason.lines().all(|line| text.contains(line)) {
                text.push_str("\n  = because: ");
                text.push_str(&reason);
            }
            cause = error.source();
        }
        text
    }
}

/// What to do about tokens that are wrong.
fn token_rule_help(schedules: Option<&Path>) -> String {
    const DEFECT: &str = "a defect; please report it with `tilewright doctor`";
    match schedules {
        None => format!("this is {DEFECT}"),
        Some(path) => format!(
            "the schedules of {} are in use (tier 0's own give the reference): leave lines that `store` in 16 bits out, and its schedules one \
             by one, to find the one that does it; one that stores in f32, or a failure without --schedules, is {DEFECT} and \
             the file",
            path.display()
        ),
    }
}

/// One message a mistake of a schedule file.
fn schedules(errors: &SyntaxErrors) -> String {
    let messages: Vec<String> = errors.0.iter().map(|error| format!("error: --schedules {error}")).collect();
    messages.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let denied = || std::io::Error::new(std::io::ErrorKind::PermissionDenied, "permission denied");
        let write = CliError::Write { path: "out.md".into(), source: denied() };
        assert_eq!(write.text(), "cannot write out.md\n  = because: permission denied");
        let read = CliError::Model(ModelError::Read { path: "config.json".into(), source: denied() });
        assert_eq!(read.text(), "cannot read config.json: permission denied");
        let Err(two) = tilewright_dsl::schedule::parse_file("mine.txt", "schedule a for b { x }\nschedule 3") else {
            panic!("both schedules are wrong")
        };
        let text = CliError::Schedules(two).text();
        assert_eq!((text.lines().count(), text.contains("because")), (2, false), "{text}");
    }
}
