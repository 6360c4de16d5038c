//! stdout for results, stderr for everything else.
//!
//! The rule: a closed stdout is [`CliError::Closed`] and never a panic; colours and progress bars appear only where stderr is a
//! terminal, and `NO_COLOR` turns colours off.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::error::CliError;

/// Writes a part of the result and hands it on at once.
pub fn out(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|e| match e.kind() {
        ErrorKind::BrokenPipe => CliError::Closed,
        _ => CliError::Stdout(e),
    })
}

/// Something worth a line on stderr, once.
pub fn note(text: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let new = TOLD.lock().is_ok_and(|mut told| told.insert(text.to_string()));
    if new {
        labelled("note", "36", text);
    }
}

/// A plain line on stderr.
pub fn line(text: &str) {
    // Where even stderr is gone there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A line on stderr that begins with a coloured word; `colour` is the terminal's number for it.
pub fn labelled(label: &str, colour: &str, text: &str) {
    if colours() {
        line(&format!("\x1b[1;{colour}m{label}\x1b[0m: {text}"));
    } else {
        line(&format!("{label}: {text}"));
    }
}

fn colours() -> bool {
    coloured(&io::stderr())
}

/// Whether colours are welcome on stdout.
pub fn stdout_colours() -> bool {
    coloured(&io::stdout())
}

fn coloured(stream: &impl IsTerminal) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
    stream.is_terminal() && set("NO_COLOR").is_none() && set("TERM").is_none_or(|t| t != "dumb")
}

/// A file to be written must have a folder and, without `force`, be a new one, before minutes are spent on its contents. What is
/// no file, such as /dev/null, may be written to.
pub fn check_place(flag: &'static str, path: &Path, force: bool) -> Result<(), CliError> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refused = match (std::fs::metadata(path), std::fs::metadata(parent)) {
        (Ok(found), _) if found.is_file() && !force => return Err(CliError::Exists { flag, path: path.into() }),
        (Ok(found), _) if found.is_dir() => io::Error::other("it is a folder"),
        (_, Ok(found)) if found.is_dir() => return Ok(()),
        (_, Ok(_)) => io::Error::other(format!("{} is not a folder", parent.display())),
        (_, Err(error)) if error.kind() == ErrorKind::NotFound => {
            io::Error::other(format!("there is no folder {}: make it first", parent.display()))
        }
        (_, Err(error)) => error,
    };
    Err(CliError::Write { path: path.into(), source: refused })
}

/// Writes a file whose place was checked; one that has appeared since stays as it is, unless `force`.
pub fn write_file(path: &Path, bytes: &[u8], force: bool) -> Result<(), CliError> {
    let no_file = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    let mut options = std::fs::File::options();
    options.write(true);
    if force || no_file {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let write = || options.open(path)?.write_all(bytes);
    write().map_err(|source| CliError::Write { path: path.into(), source })
}

/// A bar on stderr, invisible where that is no terminal.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar of bytes that has not begun.
    pub fn new(what: &'static str) -> Self {
        Self::of(what, "{msg} [{bar:32}] {bytes} of {total_bytes} ({eta})")
    }

    /// The same of tokens.
    pub fn tokens(what: &'static str) -> Self {
        Self::of(what, "{msg} [{bar:32}] {pos} of {len} tokens ({eta})")
    }

    fn of(what: &'static str, template: &str) -> Self {
        let bar = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        if io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Progress(bar)
    }

    /// How many are done, and how many there are in all.
    pub fn set(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
