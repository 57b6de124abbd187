//! Seventy threads one after the other, each with a handle to the one before. The first of them does not count, which whoever wrote the last line forgot.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static DONE: AtomicU32 = AtomicU32::new(0);

#[test]
fn seventieth() {
    selvedge::explore(|| {
        let mut last = thread::spawn(|| ());
        for _ in 1..70 {
            let before = last;
            last = thread::spawn(move || {
                before.join().unwrap();
                DONE.fetch_add(1, Ordering::Relaxed);
            });
        }
        last.join().unwrap();
        assert_eq!(DONE.load(Ordering::Relaxed), 70);
    });
}
