//! A barrier for three, to which two come, and sleep until the third wakes them.

use std::sync::{Arc, Barrier};
use std::thread;

#[test]
fn one_too_few() {
    selvedge::explore(|| {
        let barrier = Arc::new(Barrier::new(3));
        let theirs = barrier.clone();
        let other = thread::spawn(move || theirs.wait().is_leader());
        barrier.wait();
        other.join().unwrap();
    });
}
