//! Lazy initialisation: the first who asks makes the value, under a lock; whoever comes later does without.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

/// A value that is made when it is first asked for.
pub struct Lazy {
    created: AtomicBool,
    value: AtomicU32,
    /// How often the value was made.
    gate: Mutex<u32>,
}

impl Default for Lazy {
    fn default() -> Self {
        Lazy { created: AtomicBool::new(false), value: AtomicU32::new(0), gate: Mutex::new(0) }
    }
}

impl Lazy {
    /// The value: how often it was made, which must be once.
    pub fn value(&self) -> u32 {
        if !self.created.load(SeqCst) {
            let mut made = self.gate.lock().unwrap();
            if !self.created.load(SeqCst) {
                *made += 1;
                self.value.store(*made, SeqCst);
                self.created.store(true, SeqCst);
            }
        }
        self.value.load(SeqCst)
    }

    /// Whether it was made.
    pub fn is_value_created(&self) -> bool {
        self.created.load(SeqCst)
    }

    /// The value as text, without making it.
    pub fn to_text(&self) -> String {
        if self.is_value_created() { self.value.load(SeqCst).to_string() } else { "not created".into() }
    }
}
