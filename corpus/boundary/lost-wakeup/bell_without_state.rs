//! A condition variable without anything to look at: who comes late waits for ever.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[test]
fn bell_without_state() {
    selvedge::explore(|| {
        let bell = Arc::new((Mutex::new(()), Condvar::new()));
        let theirs = bell.clone();
        let rings = thread::spawn(move || {
            let _held = theirs.0.lock().unwrap();
            theirs.1.notify_one();
        });
        drop(bell.1.wait(bell.0.lock().unwrap()).unwrap());
        rings.join().unwrap();
    });
}
