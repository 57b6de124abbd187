//! Histories as interval orders: pasts, length, the canonical representation, and its approximation A_k (section 6.1, 6.2).
//!
//! Operation a is before b when a returned before b was called. Such orders have a shape: the *pasts* of operations (what is before them)
//! contain each other like the rings of a tree (lemma 6.1), so they can be numbered 0, 1, 2 ... by size. An operation's *interval*
//! runs from the number of its own past to the number of the last past that does not hold it; a is before b exactly when a's
//! interval ends before b's begins (lemma 6.2). The *length* is the number of the last past.
//!
//! Invariant: intervals lie inside [0, length], and every slot from 0 to the length has an operation that begins in it.
//!
//! Lemma 6.2 as printed takes for the first slot the number of pasts *of the operations before o*. That is too few when all
//! operations of some past are still open; what is meant, and done here, is the number of pasts smaller than o's own.
//!
//! The history of figure 2, with its length and intervals (examples 6.1 and 6.2):
//!
//! ```
//! use selvedge_history::counting::IntervalOrder;
//! use selvedge_history::{End, Event, History, OpId, ThreadId};
//!
//! let call = |thread, input| Event::Call { thread: ThreadId(thread), input };
//! let ret = |thread, output| Event::Return { thread: ThreadId(thread), output };
//! let history = History::new(
//!     [
//!         call(1, "push(1)"), ret(1, ""),
//!         call(1, "pop"),                    // returns 3, far below
//!         call(2, "pop"), ret(2, "1"),
//!         call(2, "push(2)"), ret(2, ""),
//!         call(2, "push(3)"), ret(2, ""),
//!         ret(1, "3"),
//!         call(2, "pop"), ret(2, "EMPTY"),
//!     ],
//!     End::Complete,
//! )?;
//! let order = IntervalOrder::of(&history);
//! let [push1, pop3, pop1, push2, push3, empty] = [0, 1, 2, 3, 4, 5].map(OpId);
//! assert_eq!(order.past(pop3), [push1]);
//! assert_eq!(order.past(pop1), [push1]);
//! assert_eq!(order.past(push3), [push1, pop1, push2]);
//! assert_eq!(order.length(), 4);
//! let intervals = [push1, pop1, pop3, push2, push3, empty].map(|op| order.interval(op));
//! assert_eq!(intervals, [(0, 0), (1, 1), (1, 3), (2, 2), (3, 3), (4, 4)]);
//!
//! // A_2 keeps the last two bounds apart and merges the rest.
//! let weaker = order.approximate(2);
//! let intervals = [push1, pop1, pop3, push2, push3, empty].map(|op| weaker.interval(op));
//! assert_eq!(intervals, [(0, 0), (0, 0), (0, 1), (0, 0), (1, 1), (2, 2)]);
//! assert!(weaker.is_weaker_than(&order) && !order.is_weaker_than(&weaker));
//! # Ok::<(), selvedge_history::IllFormed>(())
//! ```

use crate::{History, OpId};

/// The order of the operations of a history, by intervals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalOrder {
    intervals: Vec<(u32, u32)>,
    /// Which operations never returned.
    open: Vec<bool>,
    length: u32,
}

impl IntervalOrder {
    /// The interval order of a history, in its canonical representation. O(n): a new past begins with the first call after a return.
    pub fn of<I, O>(history: &History<I, O>) -> Self {
        let mut intervals = vec![(0, 0); history.len()];
        let (mut slot, mut after_return) = (0, false);
        for mark in history.marks() {
            let interval = &mut intervals[mark.op().0 as usize];
            if mark.is_return() {
                interval.1 = slot;
            } else {
                slot += u32::from(after_return);
                *interval = (slot, slot);
            }
            after_return = mark.is_return();
        }
        let open: Vec<bool> = history.operations().iter().map(|op| op.ret.is_none()).collect();
        for (interval, _) in intervals.iter_mut().zip(&open).filter(|(_, open)| **open) {
            interval.1 = slot;
        }
        IntervalOrder { intervals, open, length: slot }
    }

    /// The canonical representation of any interval order on `operations` things, by its definition; `None` when it is not one.
    /// O(n³).
    pub fn from_relation(operations: usize, before: impl Fn(usize, usize) -> bool) -> Option<Self> {
        let past = |o: usize| -> Vec<usize> { (0..operations).filter(|&other| before(other, o)).collect() };
        let mut pasts: Vec<Vec<usize>> = (0..operations).map(past).collect();
        let own = pasts.clone();
        pasts.sort_by_key(Vec::len);
        pasts.dedup();
        let nested =
            pasts.windows(2).all(|two| two[0].len() < two[1].len() && two[0].iter().all(|o| two[1].contains(o)));
        if !nested || (0..operations).any(|o| before(o, o)) {
            return None;
        }
        let first = |o: usize| pasts.iter().position(|past| *past == own[o]).expect("its past is one of them");
        let last = |o: usize| pasts.iter().filter(|past| !past.contains(&o)).count().saturating_sub(1);
        let intervals = (0..operations).map(|o| (first(o) as u32, last(o) as u32)).collect();
        let length = pasts.len().saturating_sub(1) as u32;
        Some(IntervalOrder { intervals, open: vec![false; operations], length })
    }

    /// One less than the number of different pasts (definition 6.1); 0 when there is no operation.
    pub fn length(&self) -> usize {
        self.length as usize
    }

    /// How many operations there are.
    pub fn operations(&self) -> usize {
        self.intervals.len()
    }

    /// The first and the last slot of an operation. An operation that never returned lasts to the end.
    pub fn interval(&self, op: OpId) -> (usize, usize) {
        let (first, last) = self.intervals[op.0 as usize];
        (first as usize, last as usize)
    }

    /// Whether an operation never returned.
    pub fn is_pending(&self, op: OpId) -> bool {
        self.open[op.0 as usize]
    }

    /// Whether the first operation precedes the second.
    pub fn precedes(&self, first: OpId, second: OpId) -> bool {
        self.intervals[first.0 as usize].1 < self.intervals[second.0 as usize].0
    }

    /// The operations before this one, in the order of calls.
    pub fn past(&self, op: OpId) -> Vec<OpId> {
        (0..self.intervals.len() as u32).map(OpId).filter(|&other| self.precedes(other, op)).collect()
    }

    /// A_k (lemma 6.5): the last k bounds stay apart, all earlier ones become one. A history of length k or less stays as it is.
    #[must_use]
    pub fn approximate(&self, k: usize) -> Self {
        let length = self.length.min(u32::try_from(k).unwrap_or(u32::MAX));
        let cut = self.length - length;
        let moved = |&(first, last): &(u32, u32)| (first.saturating_sub(cut), last.saturating_sub(cut));
        IntervalOrder { intervals: self.intervals.iter().map(moved).collect(), open: self.open.clone(), length }
    }

    /// Whether the same operations are ordered at most as much as in the other (definition 4.2, operation by operation). O(n²).
    pub fn is_weaker_than(&self, other: &Self) -> bool {
        let ops = || (0..self.intervals.len() as u32).map(OpId);
        self.intervals.len() == other.intervals.len()
            && ops().all(|a| ops().all(|b| !self.precedes(a, b) || other.precedes(a, b)))
    }
}
