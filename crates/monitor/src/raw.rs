//! What is wrapped: the operations that an object must have.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Something values are put into and taken out of.
pub trait PushPop<T> {
    /// Puts a value in.
    fn push(&self, value: T);
    /// Takes a value out, if there is one.
    fn pop(&self) -> Option<T>;
}

/// Something that holds a number which may be read and written.
pub trait ReadWrite {
    /// Reads.
    fn read(&self) -> u64;
    /// Writes.
    fn write(&self, value: u64);
}

/// A lock.
pub trait Exclusive {
    /// Waits until nobody holds it, and holds it.
    fn lock(&self);
    /// Holds it if nobody does; whether it does now.
    fn try_lock(&self) -> bool;
    /// Does not hold it any more.
    fn unlock(&self);
}

impl<T, C: PushPop<T>> PushPop<T> for &C {
    fn push(&self, value: T) {
        (**self).push(value);
    }

    fn pop(&self) -> Option<T> {
        (**self).pop()
    }
}

impl<T> PushPop<T> for Mutex<VecDeque<T>> {
    fn push(&self, value: T) {
        self.lock().unwrap_or_else(PoisonError::into_inner).push_back(value);
    }

    fn pop(&self) -> Option<T> {
        self.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl<T> PushPop<T> for Mutex<Vec<T>> {
    fn push(&self, value: T) {
        self.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }

    fn pop(&self) -> Option<T> {
        self.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl ReadWrite for std::sync::atomic::AtomicU64 {
    fn read(&self) -> u64 {
        self.load(std::sync::atomic::Ordering::SeqCst)
    }

    fn write(&self, value: u64) {
        self.store(value, std::sync::atomic::Ordering::SeqCst);
    }
}

#[cfg(feature = "crossbeam")]
impl<T> PushPop<T> for crossbeam_queue::SegQueue<T> {
    #[inline]
    fn push(&self, value: T) {
        crossbeam_queue::SegQueue::push(self, value);
    }

    #[inline]
    fn pop(&self) -> Option<T> {
        crossbeam_queue::SegQueue::pop(self)
    }
}
