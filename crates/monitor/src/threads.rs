//! Small numbers for the threads of the process, so that what is kept for each can be found without a map.
//!
//! Invariant: no two live threads have the same number. The number of a thread that ended is given to another.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// How many threads can be told apart; those beyond are not checked, and their operations are counted.
pub const THREADS_MAX: usize = 256;

/// The thread has not asked yet.
const NEW: usize = usize::MAX;

/// The thread is about to end, or there are too many.
const NONE: usize = usize::MAX - 1;

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
        NUMBER.set(NONE);
        if let Ok(mut numbers) = FREE.lock() {
            numbers.free.push(self.0);
        }
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
    let number = OWNED.try_with(|number| number.0).ok().filter(|number| *number < THREADS_MAX);
    NUMBER.set(number.unwrap_or(NONE));
    number
}

/// Something for each thread that uses an object.
#[derive(Debug)]
pub struct Threads<T> {
    cells: Box<[OnceLock<T>; THREADS_MAX]>,
    /// One more than the greatest number of a thread that used it.
    used: AtomicUsize,
}

impl<T> Threads<T> {
    pub fn new() -> Self {
        let cells: Box<[OnceLock<T>]> = (0..THREADS_MAX).map(|_| OnceLock::new()).collect();
        let Ok(cells) = cells.try_into() else { unreachable!("there are so many") };
        Threads { cells, used: AtomicUsize::new(0) }
    }

    /// What the thread with this number has, made when it is asked for first.
    #[inline]
    pub fn of(&self, thread: usize, make: impl FnOnce() -> T) -> &T {
        self.cells[thread].get_or_init(|| {
            self.used.fetch_max(thread + 1, Ordering::SeqCst);
            make()
        })
    }

    /// What a thread left behind, if it used the object.
    #[inline]
    pub fn get(&self, thread: usize) -> Option<&T> {
        self.cells.get(thread).and_then(OnceLock::get)
    }

    /// One more than the greatest number of a thread that used it.
    #[inline]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Acquire)
    }

    /// What each thread that used it has, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        (0..self.used()).filter_map(|thread| Some((thread, self.get(thread)?)))
    }
}
