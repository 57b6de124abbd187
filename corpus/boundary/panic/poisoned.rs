//! A thread panics while it holds a lock, and whoever comes later takes the lock for unharmed.

use std::sync::{Arc, Mutex};
use std::thread;

#[test]
fn poisoned() {
    selvedge::explore(|| {
        let shared = Arc::new(Mutex::new(0));
        let theirs = shared.clone();
        let fails = thread::spawn(move || {
            let number = theirs.lock().unwrap();
            assert!(*number > 0, "nobody was here before");
        });
        *shared.lock().unwrap() += 1;
        let _ = fails.join();
    });
}
