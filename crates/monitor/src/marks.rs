//! Which values of a thread have come out: one bit for each, in words that say of which values they are.
//!
//! A value is known by its thread and by the stamp of its insertion's call. Words are used again when stamps go on; what has been inside for that long cannot be told from what
//! never was.
//!
//! Invariant: of two removals that take out the same value, however they overlap, one is told so, unless its word is in use for others.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many values a word is for; its upper half says which.
const VALUES_BITS: u32 = 5;

const WORDS: usize = 1 << 15;

/// So many stamps go by until a word is used again.
#[cfg(test)]
pub const STAMPS: u64 = (WORDS as u64) << VALUES_BITS;

/// What a removal is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    First,
    Again,
    /// It was put in too long ago.
    Forgotten,
}

/// The marks of the values of one thread. Others ask where they are all the time, so nothing that changes stands beside that.
#[repr(align(128))]
#[derive(Debug)]
pub struct Marks(Box<[AtomicU64]>);

impl Marks {
    pub fn new() -> Self {
        Marks((0..WORDS).map(|_| AtomicU64::new(0)).collect())
    }

    /// The word of a value, what it says when it is in use for that value, and the value's bit in it.
    #[inline]
    fn place(&self, stamp: u64) -> (&AtomicU64, u64, u64) {
        let number = stamp >> VALUES_BITS;
        let bit = 1 << (stamp & ((1 << VALUES_BITS) - 1));
        // No word is in use before the first value.
        let turn = (number / WORDS as u64 + 1) & u64::from(u32::MAX);
        (&self.0[number as usize & (WORDS - 1)], turn, bit)
    }

    /// The thread itself is about to put this value in. Its stamps only grow.
    #[inline]
    pub fn put(&self, stamp: u64) {
        let (word, turn, _) = self.place(stamp);
        if word.load(Ordering::Relaxed) >> u32::BITS != turn {
            word.store(turn << u32::BITS, Ordering::Release);
        }
    }

    /// Somebody took this value out.
    #[inline]
    pub fn take(&self, stamp: u64) -> Mark {
        let (word, turn, bit) = self.place(stamp);
        let mut now = word.load(Ordering::Acquire);
        loop {
            if now >> u32::BITS != turn {
                return Mark::Forgotten;
            }
            if now & bit != 0 {
                return Mark::Again;
            }
            match word.compare_exchange_weak(now, now | bit, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Mark::First,
                Err(other) => now = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_out_once() {
        let marks = Marks::new();
        let stamps = [1, 2, 31, 32, 33, 100, STAMPS - 1, STAMPS + 40, 3 * STAMPS + 64];
        assert_eq!(stamps.map(|stamp| marks.take(stamp)), [Mark::Forgotten; 9], "nothing was put in");
        for stamp in stamps {
            marks.put(stamp);
            assert_eq!([marks.take(stamp), marks.take(stamp)], [Mark::First, Mark::Again], "{stamp}");
        }
        // 1 and 2 have their word still; that of 33 is in use for another.
        assert_eq!(
            [1, 2, 33, 100].map(|stamp| marks.take(stamp)),
            [Mark::Again, Mark::Again, Mark::Forgotten, Mark::Again]
        );
    }

    #[test]
    fn one_of_two_that_overlap_is_told() {
        let marks = Marks::new();
        (1..2_000).for_each(|stamp| marks.put(stamp));
        let take = || (1..2_000).filter(|stamp| marks.take(*stamp) == Mark::First).count();
        let (one, other) = std::thread::scope(|scope| {
            let other = scope.spawn(take);
            (take(), other.join().expect("it does not panic"))
        });
        assert_eq!(one + other, 1_999);
    }
}
