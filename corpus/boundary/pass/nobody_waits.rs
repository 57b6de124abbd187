//! The handle of a thread is dropped, and the test returns. In Rust that ends no process: the thread runs to its end.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static WRITTEN: AtomicU32 = AtomicU32::new(0);

#[test]
fn nobody_waits() {
    selvedge::explore(|| {
        thread::spawn(|| WRITTEN.fetch_add(1, Ordering::SeqCst));
        WRITTEN.fetch_add(1, Ordering::SeqCst);
    });
}
