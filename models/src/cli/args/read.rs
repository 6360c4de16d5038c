//! From the words of a command line to [`Args`].
//!
//! The rule: a number after a flag is the flag's value, also a negative one, so that the flag itself can say what it expects.

use std::io::{self, ErrorKind, Write};

use clap::{CommandFactory, FromArgMatches};

use super::super::error::CliError;
use super::Args;

impl Args {
    /// This process's arguments; ends it where they are wrong or ask for help.
    pub fn read() -> Self {
        let matches = with_negative_numbers(Self::command()).try_get_matches().unwrap_or_else(|error| end(&error));
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// Ends the process with help, or with what is wrong; help that cannot be written is an error too.
fn end(error: &clap::Error) -> ! {
    let printed = error.print().and_then(|()| io::stdout().flush());
    match printed {
        Err(fault) if !error.use_stderr() && fault.kind() != ErrorKind::BrokenPipe => {
            let fault = CliError::Stdout(fault);
            fault.print();
            std::process::exit(1)
        }
        _ => std::process::exit(error.exit_code()),
    }
}

/// No flag is a number.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_one = |arg: &clap::Arg| arg.get_long().is_some() && arg.get_action().takes_values();
    command
        .mut_args(|arg| if takes_one(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        with_negative_numbers(Args::command()).debug_assert();
    }
}
