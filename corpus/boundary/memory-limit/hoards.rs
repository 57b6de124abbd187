//! Boxes that nobody drops fill the heap.

use std::thread;

#[test]
fn hoards() {
    selvedge::explore(|| {
        let hoard = || {
            let mut all = Vec::new();
            loop {
                all.push(Box::new([1u8; 100_000]));
                if all.len() == usize::MAX {
                    return all.len();
                }
            }
        };
        thread::spawn(hoard).join().unwrap();
    });
}
