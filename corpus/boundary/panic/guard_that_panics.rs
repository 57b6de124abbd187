//! A guard insists in its drop that its work was finished, which another thread may prevent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Finished<'a>(&'a AtomicBool);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        assert!(self.0.load(Ordering::SeqCst), "dropped before the work was done");
    }
}

#[test]
fn guard_that_panics() {
    selvedge::explore(|| {
        let done = Arc::new(AtomicBool::new(false));
        let theirs = done.clone();
        let worker = thread::spawn(move || theirs.store(true, Ordering::SeqCst));
        drop(Finished(&done));
        worker.join().unwrap();
    });
}
