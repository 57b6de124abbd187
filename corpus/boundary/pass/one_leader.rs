//! Of all who meet at a barrier one is told that it is the leader.

use std::sync::{Arc, Barrier};
use std::thread;

#[test]
fn one_leader() {
    selvedge::explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let theirs = barrier.clone();
        let other = thread::spawn(move || theirs.wait().is_leader());
        let leads = barrier.wait().is_leader();
        assert!(leads != other.join().unwrap());
    });
}
