//! A line about work that turns out to be slow.
//!
//! The rule: nothing is said of what is over within a second. After that a terminal shows the work at hand until it ends; elsewhere
//! one line says it once, if at all. Absent: an estimate.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;

const PATIENCE: Duration = Duration::from_secs(1);

/// Work that may be slow, from its beginning to its end.
pub struct Slow {
    shared: Arc<Shared>,
    bar: ProgressBar,
    teller: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    what: String,
    ended: bool,
}

impl Slow {
    /// Work that begins now; `why` is put before what is told where there is no terminal, and without it nothing is told there.
    pub fn new(why: Option<&'static str>) -> Self {
        let bar = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template("{msg} ({elapsed})") {
            bar.set_style(style);
        }
        let shown = bar.clone();
        Self::begin(PATIENCE, bar, move |what| {
            if io::stderr().is_terminal() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(PATIENCE);
            } else if let Some(why) = why {
                output::line(&format!("{why}{what}"));
            }
        })
    }

    fn begin(patience: Duration, bar: ProgressBar, tell: impl Fn(&str) + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let teller = std::thread::spawn(move || {
            let state = theirs.state.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = theirs.ended.wait_timeout_while(state, patience, |state| !state.ended);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if !state.ended {
                tell(&state.what);
            }
        });
        Slow { shared, bar, teller: Some(teller) }
    }

    /// What is being done now.
    pub fn set(&self, what: String) {
        self.bar.set_message(what.clone());
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).what = what;
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.shared.ended.notify_all();
        if let Some(teller) = self.teller.take() {
            // A teller that panicked has nothing more to tell.
            let _ = teller.join();
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn slow_work_is_told_once_and_quick_work_never() {
        let (sent, told) = channel();
        let begin = |patience| {
            let sent = sent.clone();
            let tell = move |what: &str| sent.send(what.to_string()).unwrap();
            let slow = Slow::begin(patience, ProgressBar::hidden(), tell);
            slow.set("compiling linear/row 1 of 2".into());
            slow
        };
        let slow = begin(Duration::from_millis(20));
        assert_eq!(told.recv().unwrap(), "compiling linear/row 1 of 2");
        slow.set("compiling linear/tiled 2 of 2".into());
        drop(slow);
        drop(begin(Duration::from_secs(600)));
        assert!(told.try_recv().is_err(), "told once, and quick work ends without a wait");
    }
}
