//! The `tilewright` program; see [`tilewright_models::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    tilewright_models::cli::main()
}
