//! Small numbers for the threads of the process, so that what is kept for each can be found without a map.
//!
//! Invariant: no two live threads have the same number, and numbers are less than [`THREADS_MAX`]. The number of a thread that ended is given to another.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many threads can be told apart; those beyond are not checked, and their operations are counted.
pub const THREADS_MAX: usize = 256;

/// The thread has not asked yet.
const NEW: usize = usize::MAX;

/// The thread is about to end, or there are too many.
const NONE: usize = usize::MAX - 1;

/// Numbers of threads that have ended.
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// How many numbers were given so far; only who has locked those that are free gives one.
static GIVEN: AtomicUsize = AtomicUsize::new(0);

struct Number(Option<usize>);

impl Number {
    fn take() -> Self {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        Number(free.pop().or_else(|| {
            let next = GIVEN.load(Ordering::SeqCst);
            (next < THREADS_MAX).then(|| GIVEN.fetch_add(1, Ordering::SeqCst))
        }))
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        NUMBER.set(NONE);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).extend(self.0);
    }
}

thread_local! {
    static OWNED: Number = Number::take();
    /// The same number, where it can be read without asking whether it is there.
    static NUMBER: Cell<usize> = const { Cell::new(NEW) };
}

/// The number of the calling thread, unless there are too many or it is about to end.
#[inline]
pub fn number() -> Option<usize> {
    let number = NUMBER.get();
    if number < THREADS_MAX { Some(number) } else { first(number) }
}

#[cold]
fn first(number: usize) -> Option<usize> {
    if number == NONE {
        return None;
    }
    let number = OWNED.try_with(|number| number.0).ok().flatten();
    NUMBER.set(number.unwrap_or(NONE));
    number
}

/// As if so many threads had been there.
#[cfg(test)]
pub fn pretend(threads: usize) {
    GIVEN.fetch_max(threads, Ordering::SeqCst);
}

/// Something for each thread.
#[derive(Debug)]
pub struct Threads<T>(Box<[T; THREADS_MAX]>);

impl<T: Default> Threads<T> {
    pub fn new() -> Self {
        let cells: Box<[T]> = (0..THREADS_MAX).map(|_| T::default()).collect();
        let Ok(cells) = cells.try_into() else { unreachable!("there are so many") };
        Threads(cells)
    }
}

impl<T> Threads<T> {
    /// What the thread with this number has.
    #[inline]
    pub fn of(&self, thread: usize) -> &T {
        &self.0[thread]
    }

    /// What each thread has, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.0.iter().enumerate().take(GIVEN.load(Ordering::SeqCst))
    }
}
