//! `exit(0)` in the middle of a test is no end of it, under whichever schedule.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);

#[test]
fn leaves_by_exit() {
    selvedge::explore(|| {
        let worker = thread::spawn(|| {
            if !READY.load(Ordering::SeqCst) {
                std::process::exit(0);
            }
        });
        READY.store(true, Ordering::SeqCst);
        worker.join().unwrap();
    });
}
