//! Events of several writers, put in the order of their times.
//!
//! A writer's events arrive in any order within the window; writers are apart by any amount of arrival time. An event is handed out when
//! every writer that is not idle has sent one that is later by the window. At equal times calls come before returns, so that the operations
//! overlap: nobody can tell which was first.
//!
//! Invariant: what is handed out is in order, except for late returns. A late call is given back: taken as if it were called now it would
//! seem to come after operations that it overlapped, so whoever watches must start over. A late return only seems to take longer, which hides
//! violations and makes none. Memory: at most `held_max` events are held; beyond that the oldest goes out.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

#[derive(Debug)]
struct Held<E> {
    time: i64,
    is_return: bool,
    number: u64,
    event: E,
}

impl<E> Held<E> {
    fn key(&self) -> (i64, bool, u64) {
        (self.time, self.is_return, self.number)
    }
}

impl<E> PartialEq for Held<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Held<E> {}

impl<E> PartialOrd for Held<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Held<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Puts events in order.
#[derive(Debug)]
pub struct Merge<E> {
    held: BinaryHeap<Reverse<Held<E>>>,
    /// The greatest time of each writer that others wait for.
    writers: BTreeMap<u64, i64>,
    window: i64,
    skew: i64,
    held_max: usize,
    /// The time of the last event handed out.
    handed_out: i64,
    number: u64,
}

impl<E> Merge<E> {
    /// Events of one writer may be out of order by less than `window`, and clocks apart by at most `skew`.
    pub fn new(window: i64, skew: i64, held_max: usize) -> Self {
        let (held, writers) = (BinaryHeap::new(), BTreeMap::new());
        Merge { held, writers, window, skew, held_max, handed_out: i64::MIN, number: 0 }
    }

    /// A writer comes. Nothing is handed out before it has sent something or is [idle](Merge::idle).
    pub fn open(&mut self, writer: u64) {
        self.writers.insert(writer, i64::MIN);
    }

    /// An event arrives. A call that comes too late is given back.
    #[must_use]
    pub fn push(&mut self, writer: u64, time: i64, is_return: bool, event: E) -> Option<E> {
        let latest = self.writers.entry(writer).or_insert(time);
        *latest = time.max(*latest);
        // Where clocks are apart, an operation may have begun earlier and ended later.
        let time = if is_return { time.saturating_add(self.skew) } else { time.saturating_sub(self.skew) };
        if time < self.handed_out && !is_return {
            return Some(event);
        }
        self.number += 1;
        self.held.push(Reverse(Held { time: time.max(self.handed_out), is_return, number: self.number, event }));
        None
    }

    /// A writer has nothing to say for now: others do not wait for it.
    pub fn idle(&mut self, writer: u64) {
        self.writers.remove(&writer);
    }

    /// The next event that is in order for certain, or that no room is left for.
    pub fn ready(&mut self) -> Option<E> {
        let Reverse(first) = self.held.peek()?;
        let settled = self
            .writers
            .values()
            .min()
            .map_or(i64::MAX, |latest| latest.saturating_sub(self.window).saturating_sub(self.skew));
        (first.time < settled || self.held.len() > self.held_max).then(|| self.take())
    }

    /// The next event, whatever may still come.
    pub fn flush(&mut self) -> Option<E> {
        (!self.held.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> E {
        let Reverse(held) = self.held.pop().expect("there is one");
        self.handed_out = held.time;
        held.event
    }

    /// How many events are held back.
    pub fn held(&self) -> usize {
        self.held.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(merge: &mut Merge<u32>) -> Vec<u32> {
        std::iter::from_fn(|| merge.ready()).collect()
    }

    #[test]
    fn the_order_is_that_of_time_whoever_comes_first() {
        let mut merge = Merge::new(5, 0, 100);
        merge.open(1);
        merge.open(2);
        for (time, event) in [(10, 1), (30, 3), (29, 2), (50, 5)] {
            assert_eq!(merge.push(1, time, false, event), None);
        }
        assert!(drain(&mut merge).is_empty(), "the other writer may have something older");
        assert_eq!(merge.push(2, 40, false, 4), None);
        assert_eq!(drain(&mut merge), [1, 2, 3]);
        merge.idle(2);
        assert_eq!(drain(&mut merge), [4]);
        assert_eq!(merge.flush(), Some(5));
        assert_eq!(merge.flush(), None);
    }

    #[test]
    fn at_equal_times_calls_come_first() {
        let mut merge = Merge::new(0, 0, 100);
        assert_eq!(merge.push(1, 7, true, 1), None);
        assert_eq!(merge.push(2, 7, false, 2), None);
        assert_eq!(merge.push(1, 9, false, 3), None);
        assert_eq!(merge.push(2, 9, false, 4), None);
        assert_eq!(drain(&mut merge), [2, 1]);
    }

    #[test]
    fn late_calls_are_told_and_late_returns_only_take_longer() {
        let mut merge = Merge::new(0, 0, 100);
        assert_eq!(merge.push(1, 100, false, 1), None);
        assert_eq!(merge.push(1, 101, false, 2), None);
        assert_eq!(drain(&mut merge), [1]);
        assert_eq!(merge.push(2, 50, false, 3), Some(3));
        assert_eq!(merge.push(2, 50, true, 4), None);
        merge.idle(2);
        assert_eq!(drain(&mut merge), [4]);
    }

    #[test]
    fn skew_widens_operations() {
        let mut merge = Merge::new(0, 10, 100);
        assert_eq!(merge.push(1, 100, true, 1), None);
        assert_eq!(merge.push(2, 115, false, 2), None);
        assert_eq!(merge.push(1, 300, false, 3), None);
        assert_eq!(merge.push(2, 300, false, 4), None);
        assert_eq!(drain(&mut merge), [2, 1], "115 on one clock may be before 100 on another");
    }

    #[test]
    fn no_more_are_held_than_there_is_room_for() {
        let mut merge = Merge::new(1_000, 0, 3);
        for time in 0..5 {
            assert_eq!(merge.push(1, time, false, time as u32), None);
        }
        assert_eq!(drain(&mut merge), [0, 1]);
        assert_eq!(merge.held(), 3);
    }
}
