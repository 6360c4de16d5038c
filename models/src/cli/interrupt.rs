//! Ctrl-C, and the system's requests to end (SIGTERM, SIGHUP), which count as one.
//!
//! The rule: while work that can be cut short is done, the first Ctrl-C asks for an end and the second one enforces it, unless it
//! comes with the first: what ends a group of processes may tell each of them as well. At any other time the first one ends the
//! program. Either way the exit code is 130, as shells expect.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

const EXIT: u8 = 0;
const ASK: u8 = 1;
const ASKED: u8 = 2;

/// Requests within this time are one.
const ONE: Duration = Duration::from_millis(300);

static STATE: AtomicU8 = AtomicU8::new(EXIT);

/// Lasts while someone looks at [`Watch::asked`].
pub struct Watch(());

/// From here on the first Ctrl-C only asks.
pub fn watch() -> Watch {
    // Without a handler Ctrl-C ends the program, which is right as well; so a refusal is not an error.
    let mut first: Option<Instant> = None;
    let _ = ctrlc::set_handler(move || {
        let asked = STATE.compare_exchange(ASK, ASKED, Ordering::SeqCst, Ordering::SeqCst);
        match asked {
            Ok(_) => first = Some(Instant::now()),
            Err(ASKED) if first.is_some_and(|at| at.elapsed() < ONE) => {}
            Err(_) => std::process::exit(130),
        }
    });
    STATE.store(ASK, Ordering::SeqCst);
    Watch(())
}

impl Watch {
    /// Whether an end has been asked for.
    pub fn asked(&self) -> bool {
        STATE.load(Ordering::SeqCst) == ASKED
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        STATE.store(EXIT, Ordering::SeqCst);
    }
}
