//! Events of several writers, put in the order of their times.
//!
//! A writer's events arrive in any order within the window; writers are apart by any amount of arrival time. An event is handed out when
//! every writer has sent one that is later by the window. How long a writer has been silent says nothing: it may be stopped, or its lines may wait in a buffer. At equal times calls
//! come before returns, so that the operations overlap: nobody can tell which was first.
//!
//! Invariant: what is handed out as [certain](Next::certain) is in order: nothing earlier can come any more, but for late returns. A late call is given back: taken as if it were called now it would
//! seem to come after operations that it overlapped, so whoever watches must start over. A late return only seems to take longer, which hides
//! violations and makes none. Memory: at most `held_max` events are held; beyond that the oldest goes out, and is not certain. O(log n) an event.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap, HashMap};

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

/// What became of an event that arrived.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Pushed<E> {
    /// It waits for its turn.
    Held,
    /// It is a return that comes too late, and waits: its operation seems to take longer than it did.
    Longer,
    /// It is a call that comes too late: later events were handed out.
    Late(E),
}

/// An event whose turn it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Next<E> {
    /// The event.
    pub event: E,
    /// Whether no writer can send anything earlier.
    pub certain: bool,
}

/// Puts events in order.
#[derive(Debug)]
pub struct Merge<E> {
    held: BinaryHeap<Reverse<Held<E>>>,
    /// The greatest time of each writer.
    writers: HashMap<u64, i64>,
    /// The same, in the order of these times.
    by_time: BTreeSet<(i64, u64)>,
    /// Writers may be there that nobody has read from.
    unread: bool,
    window: i64,
    skew: i64,
    held_max: usize,
    /// The time of the last event handed out.
    handed_out: i64,
    number: u64,
}

impl<E> Merge<E> {
    /// Starts without writers. Events of one writer may be out of order by less than `window`, and clocks apart by at most `skew`.
    pub fn new(window: i64, skew: i64, held_max: usize) -> Self {
        Merge {
            held: BinaryHeap::new(),
            writers: HashMap::new(),
            by_time: BTreeSet::new(),
            unread: false,
            window,
            skew,
            held_max,
            handed_out: i64::MIN,
            number: 0,
        }
    }

    /// Adds a writer. No event is in order for certain before it has sent something or is [gone](Merge::close).
    pub fn open(&mut self, writer: u64) {
        self.close(writer);
        self.writers.insert(writer, i64::MIN);
        self.by_time.insert((i64::MIN, writer));
    }

    /// Records that nothing a writer has yet to send is earlier than this by the window.
    pub fn reach(&mut self, writer: u64, time: i64) {
        if let Some(latest) = self.writers.get_mut(&writer).filter(|latest| **latest < time) {
            self.by_time.remove(&(*latest, writer));
            *latest = time;
            self.by_time.insert((time, writer));
        }
    }

    /// Takes an event of a writer that was [added](Merge::open).
    pub fn push(&mut self, writer: u64, time: i64, is_return: bool, event: E) -> Pushed<E> {
        self.reach(writer, time);
        // Where clocks are apart, an operation may have begun earlier and ended later.
        let time = if is_return { time.saturating_add(self.skew) } else { time.saturating_sub(self.skew) };
        let is_late = time < self.handed_out;
        if is_late && !is_return {
            return Pushed::Late(event);
        }
        self.number += 1;
        self.held.push(Reverse(Held { time: time.max(self.handed_out), is_return, number: self.number, event }));
        if is_late { Pushed::Longer } else { Pushed::Held }
    }

    /// Removes a writer: nothing more will come from it.
    pub fn close(&mut self, writer: u64) {
        if let Some(latest) = self.writers.remove(&writer) {
            self.by_time.remove(&(latest, writer));
        }
    }

    /// Says whether there may be writers that nobody has read from: then no event is in order for certain.
    pub fn set_unread(&mut self, unread: bool) {
        self.unread = unread;
    }

    /// The writer that others wait for, if there is one.
    pub fn awaited(&self) -> Option<u64> {
        self.by_time.first().map(|(_, writer)| *writer)
    }

    /// The next event that is in order for certain, or that no room is left for.
    pub fn ready(&mut self) -> Option<Next<E>> {
        let Reverse(first) = self.held.peek()?;
        let certain = self.is_settled(first.time);
        (certain || self.held.len() > self.held_max).then(|| self.take(certain))
    }

    /// The next event, whatever may still come.
    pub fn flush(&mut self) -> Option<Next<E>> {
        let Reverse(first) = self.held.peek()?;
        let certain = self.is_settled(first.time);
        Some(self.take(certain))
    }

    fn is_settled(&self, time: i64) -> bool {
        let settled = self
            .by_time
            .first()
            .map_or(i64::MAX, |(latest, _)| latest.saturating_sub(self.window).saturating_sub(self.skew));
        !self.unread && time < settled
    }

    fn take(&mut self, certain: bool) -> Next<E> {
        let Reverse(held) = self.held.pop().expect("there is one");
        self.handed_out = held.time;
        Next { event: held.event, certain }
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
        let ready = std::iter::from_fn(|| merge.ready());
        ready.inspect(|next| assert!(next.certain)).map(|next| next.event).collect()
    }

    /// With two writers.
    fn opened(window: i64, skew: i64, held_max: usize) -> Merge<u32> {
        let mut merge = Merge::new(window, skew, held_max);
        [1, 2].into_iter().for_each(|writer| merge.open(writer));
        merge
    }

    /// However long a writer is silent, what it has not sent may be earlier.
    #[test]
    fn a_silent_writer_makes_what_goes_out_uncertain() {
        let mut merge = opened(0, 0, 2);
        for time in 10..20 {
            assert_eq!(merge.push(1, time, false, time as u32), Pushed::Held);
        }
        let out: Vec<_> = std::iter::from_fn(|| merge.ready()).collect();
        assert!(out.len() == 8 && out.iter().all(|next| !next.certain), "{out:?}");
        assert_eq!(merge.awaited(), Some(2));
        merge.reach(2, 100);
        merge.reach(1, 100);
        assert_eq!(drain(&mut merge), [18, 19]);
        assert_eq!(merge.push(1, 200, false, 3), Pushed::Held);
        merge.close(1);
        merge.close(2);
        merge.set_unread(true);
        assert_eq!(merge.ready(), None, "some writer was never read");
        merge.set_unread(false);
        assert_eq!(drain(&mut merge), [3]);
    }

    #[test]
    fn the_order_is_that_of_time_whoever_comes_first() {
        let mut merge = Merge::new(5, 0, 100);
        merge.open(1);
        merge.open(2);
        for (time, event) in [(10, 1), (30, 3), (29, 2), (50, 5)] {
            assert_eq!(merge.push(1, time, false, event), Pushed::Held);
        }
        assert!(drain(&mut merge).is_empty(), "the other writer may have something older");
        assert_eq!(merge.push(2, 40, false, 4), Pushed::Held);
        assert_eq!(drain(&mut merge), [1, 2, 3]);
        merge.close(2);
        assert_eq!(drain(&mut merge), [4]);
        assert_eq!(merge.awaited(), Some(1));
        assert_eq!(merge.flush(), Some(Next { event: 5, certain: false }));
        assert_eq!(merge.flush(), None);
    }

    #[test]
    fn at_equal_times_calls_come_first() {
        let mut merge = opened(0, 0, 100);
        assert_eq!(merge.push(1, 7, true, 1), Pushed::Held);
        assert_eq!(merge.push(2, 7, false, 2), Pushed::Held);
        assert_eq!(merge.push(1, 9, false, 3), Pushed::Held);
        assert_eq!(merge.push(2, 9, false, 4), Pushed::Held);
        assert_eq!(drain(&mut merge), [2, 1]);
    }

    #[test]
    fn late_calls_are_told_and_late_returns_only_take_longer() {
        let mut merge = Merge::new(0, 0, 100);
        merge.open(1);
        assert_eq!(merge.push(1, 100, false, 1), Pushed::Held);
        assert_eq!(merge.push(1, 101, false, 2), Pushed::Held);
        assert_eq!(drain(&mut merge), [1]);
        merge.open(2);
        assert_eq!(merge.push(2, 50, false, 3), Pushed::Late(3));
        assert_eq!(merge.push(2, 50, true, 4), Pushed::Longer);
        merge.close(2);
        assert_eq!(drain(&mut merge), [4]);
    }

    #[test]
    fn skew_widens_operations() {
        let mut merge = opened(0, 10, 100);
        assert_eq!(merge.push(1, 100, true, 1), Pushed::Held);
        assert_eq!(merge.push(2, 115, false, 2), Pushed::Held);
        assert_eq!(merge.push(1, 300, false, 3), Pushed::Held);
        assert_eq!(merge.push(2, 300, false, 4), Pushed::Held);
        assert_eq!(drain(&mut merge), [2, 1], "115 on one clock may be before 100 on another");
    }

    #[test]
    fn no_more_are_held_than_there_is_room_for() {
        let mut merge = opened(1_000, 0, 3);
        for time in 0..5 {
            assert_eq!(merge.push(1, time, false, time as u32), Pushed::Held);
        }
        let next = |event| Some(Next { event, certain: false });
        assert_eq!([merge.ready(), merge.ready(), merge.ready()], [next(0), next(1), None]);
        assert_eq!(merge.held(), 3);
    }
}
