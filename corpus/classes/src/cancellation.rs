//! A source of cancellation: what was registered before is counted, nothing is registered after.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

const CANCELLING: u32 = 1;
const CANCELLED: u32 = 2;

/// The source.
#[derive(Default)]
pub struct Cancellation {
    state: AtomicU32,
    registered: Mutex<u32>,
}

impl Cancellation {
    /// Registers once more, unless it is cancelled; how often that is.
    pub fn increment(&self) -> Result<u32, &'static str> {
        if self.state.load(SeqCst) >= CANCELLING {
            return Err("cancelled");
        }
        let mut registered = self.registered.lock().unwrap();
        if self.state.load(SeqCst) >= CANCELLING {
            return Err("cancelled");
        }
        *registered += 1;
        Ok(*registered)
    }

    /// Cancels; how many were registered, for the one who does it.
    pub fn cancel(&self) -> Option<u32> {
        let registered = self.registered.lock().unwrap();
        if self.state.compare_exchange(0, CANCELLING, SeqCst, SeqCst).is_err() {
            return None;
        }
        self.state.store(CANCELLED, SeqCst);
        Some(*registered)
    }
}
