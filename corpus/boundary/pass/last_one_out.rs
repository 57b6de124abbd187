//! A thread-local value counts the threads that have one, and its drop counts them down.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Visit(Vec<u8>);

impl Visit {
    fn begin() -> Self {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Visit(vec![0; 100])
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

thread_local! {
    static VISIT: RefCell<Visit> = RefCell::new(Visit::begin());
}

#[test]
fn last_one_out() {
    selvedge::explore(|| {
        let visit = || thread::spawn(|| VISIT.with(|visit| visit.borrow_mut().0.push(1)));
        let threads = [visit(), visit()];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(LIVE.load(Ordering::SeqCst), 0);
    });
}
