//! A computation without an end, in a thread of its own.

use std::thread;

fn digits(mut number: u64) -> u64 {
    let mut sum = 0u64;
    while number != 0 {
        sum = sum.wrapping_add(number % 10);
        number = if number < 10 { 1_234_567 } else { number / 10 };
    }
    sum
}

#[test]
fn endless_digits() {
    selvedge::explore(|| {
        let sum = thread::spawn(|| digits(7)).join().unwrap();
        assert!(sum > 0);
    });
}
