//! A browser for the tests that look at pages.

use crate::{driver, quietly};
use std::process::Command;

/// Names under which Chromium is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Installs Chromium if there is none and it may; else says what to install.
pub fn ensure() {
    if NAMES.into_iter().any(|name| quietly(Command::new(name).arg("--version"))) {
        return;
    }
    eprintln!("xtask: no Chromium found");
    if let Err(reason) = driver::install(&["chromium"]) {
        eprintln!(
            "xtask: {reason}; install Chromium or Chrome and put it on the PATH, or the tests of pages are skipped"
        );
    }
}
