//! `static mut`, without a lock.

use std::thread;

static mut COUNTER: u32 = 0;

#[test]
fn static_counter() {
    selvedge::explore(|| {
        let count = || unsafe { COUNTER += 1 };
        let other = thread::spawn(count);
        count();
        other.join().unwrap();
    });
}
