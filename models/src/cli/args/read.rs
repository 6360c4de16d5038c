//! From the words of a command line to [`Args`].
//!
//! The rule: a number after a flag is the flag's value, also a negative one, so that the flag itself can say what it expects.

use clap::{CommandFactory, FromArgMatches};

use super::Args;

impl Args {
    /// This process's arguments; ends it where they are wrong or ask for help.
    pub fn read() -> Self {
        let matches = with_negative_numbers(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
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
