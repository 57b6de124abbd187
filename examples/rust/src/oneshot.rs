//! A channel for one value, with a wake-up that can be lost.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};

#[derive(Default)]
pub struct Channel {
    ready: AtomicBool,
    value: Mutex<Option<u32>>,
    arrived: Condvar,
}

impl Channel {
    /// Puts the value in and wakes whoever waits.
    pub fn send(&self, value: u32) {
        *self.value.lock().unwrap() = Some(value);
        self.ready.store(true, SeqCst);
        self.arrived.notify_one();
    }

    /// Waits for the value.
    pub fn receive(&self) -> u32 {
        let mut value = self.value.lock().unwrap();
        while !self.ready.load(SeqCst) {
            value = self.arrived.wait(value).unwrap();
        }
        value.take().unwrap()
    }
}
