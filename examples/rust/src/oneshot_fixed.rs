//! The channel for one value, repaired.

use std::sync::{Condvar, Mutex};

#[derive(Default)]
pub struct Channel {
    value: Mutex<Option<u32>>,
    arrived: Condvar,
}

impl Channel {
    /// Puts the value in and wakes whoever waits.
    pub fn send(&self, value: u32) {
        *self.value.lock().unwrap() = Some(value);
        self.arrived.notify_one();
    }

    /// Waits for the value.
    pub fn receive(&self) -> u32 {
        let mut value = self.value.lock().unwrap();
        loop {
            match value.take() {
                Some(value) => return value,
                None => value = self.arrived.wait(value).unwrap(),
            }
        }
    }
}
