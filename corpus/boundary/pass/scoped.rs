//! Threads of a scope borrow from it, and have ended when it ends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[test]
fn scoped() {
    selvedge::explore(|| {
        let mut parts = [0u64; 2];
        let total = AtomicU64::new(0);
        thread::scope(|scope| {
            for (number, part) in parts.iter_mut().enumerate() {
                let total = &total;
                scope.spawn(move || {
                    *part = number as u64 + 1;
                    total.fetch_add(*part, Ordering::Relaxed);
                });
            }
        });
        assert_eq!((parts, total.into_inner()), ([1, 2], 3));
    });
}
