//! `abort` under one order of two threads.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static STAGE: AtomicU32 = AtomicU32::new(0);

#[test]
fn aborts() {
    selvedge::explore(|| {
        let worker = thread::spawn(|| STAGE.store(1, Ordering::SeqCst));
        if STAGE.load(Ordering::SeqCst) == 1 {
            std::process::abort();
        }
        worker.join().unwrap();
    });
}
