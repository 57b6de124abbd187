//! Ctrl-C and SIGTERM, which are always answered.
//!
//! Invariant: after the first signal the watcher takes no further line and sums up. Should that take too long, because nobody reads what is printed, or should a second signal come, the process
//! ends without a summary, with the exit code of what is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::Exit;
use crate::report::print::complain;

/// How long the summary may take.
const GRACE: Duration = Duration::from_secs(10);

/// Whether somebody said stop.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicBool,
    /// A violation was found.
    found: AtomicBool,
}

impl Stop {
    /// One that signals ask.
    pub fn on_signals() -> Arc<Self> {
        let stop = Arc::new(Stop::default());
        let asked = Arc::clone(&stop);
        if let Err(error) = ctrlc::set_handler(move || asked.ask()) {
            complain(&format!("warning: Ctrl-C will end selvedge without a summary: {error}\n"));
        }
        stop
    }

    fn ask(self: &Arc<Self>) {
        if self.asked.swap(true, Ordering::SeqCst) {
            self.end();
        }
        let late = Arc::clone(self);
        let waiting = std::thread::Builder::new().spawn(move || {
            std::thread::sleep(GRACE);
            late.end();
        });
        // Without a thread a second signal must do.
        drop(waiting);
    }

    /// Whether a signal came.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// A violation is about to be told.
    pub fn found(&self) {
        self.found.store(true, Ordering::SeqCst);
    }

    fn end(&self) {
        let exit = if self.found.load(Ordering::SeqCst) { Exit::Violation } else { Exit::Unknown };
        std::process::exit(exit.code());
    }
}
