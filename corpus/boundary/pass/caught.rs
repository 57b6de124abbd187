//! Panics that are caught, by `catch_unwind` and by `join`, are no errors of the test.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static TRIES: AtomicU32 = AtomicU32::new(0);

#[test]
fn caught() {
    selvedge::explore(|| {
        let fails = || {
            let number = TRIES.fetch_add(1, Ordering::SeqCst);
            assert!(number > 10, "number {number}");
        };
        let caught = thread::spawn(move || catch_unwind(fails).is_err());
        let joined = thread::spawn(fails);
        assert!(caught.join().unwrap());
        assert!(joined.join().is_err());
        assert_eq!(TRIES.load(Ordering::SeqCst), 2);
    });
}
