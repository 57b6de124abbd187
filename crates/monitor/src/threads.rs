//! Small numbers for the threads of the process, so that what is kept for each can be found without a map.
//!
//! Invariant: no two live threads have the same number. The number of a thread that ended is given to another.

use std::sync::Mutex;

/// How many threads can be told apart; those beyond are not checked, and their operations are counted.
pub const THREADS_MAX: usize = 256;

static FREE: Mutex<Numbers> = Mutex::new(Numbers { free: Vec::new(), next: 0 });

struct Numbers {
    free: Vec<usize>,
    next: usize,
}

struct Number(usize);

impl Number {
    fn take() -> Self {
        let mut numbers = FREE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let number = numbers.free.pop().unwrap_or_else(|| {
            numbers.next += 1;
            numbers.next - 1
        });
        Number(number)
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        if let Ok(mut numbers) = FREE.lock() {
            numbers.free.push(self.0);
        }
    }
}

thread_local!(static NUMBER: Number = Number::take());

/// The number of the calling thread, unless there are too many or it is about to end.
#[inline]
pub fn number() -> Option<usize> {
    NUMBER.try_with(|number| number.0).ok().filter(|number| *number < THREADS_MAX)
}
