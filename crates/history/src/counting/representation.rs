//! The counting representation (section 6.1) and the algorithm that keeps it up to date event by event (algorithm 1).
//!
//! A history of length at most k is, up to names, the number of operations for each label and interval. [`Counting`] keeps
//! these numbers for A_k of a history that is still going on: a call or a return changes one counter, and when a new past begins beyond
//! the k-th, all intervals shift by one.
//!
//! Invariant: after every event the counters are those of A_k of the history so far. A pending operation has the interval [i, k] even
//! while the history is shorter than k: it lasts to the end, wherever that will be. As printed, algorithm 1 lets the first
//! slot of an old operation become negative; it is kept at 0 here, as lemma 6.5 has it.
//!
//! The representation of the history of figure 2(b), as in example 6.3:
//!
//! ```
//! use selvedge_history::counting::{Counting, Label};
//! use selvedge_history::Value;
//!
//! let label = |text| Label::parse(text).unwrap();
//! let mut counting = Counting::new(4);
//! for (event, op, text) in [
//!     ("call", 1, "push(1)"), ("return", 1, "push(1)"),
//!     ("call", 2, "pop"),
//!     ("call", 3, "pop"), ("return", 3, "pop -> 1"),
//!     ("call", 4, "push(2)"), ("return", 4, "push(2)"),
//!     ("call", 5, "push(3)"), ("return", 5, "push(3)"),
//!     ("return", 2, "pop -> 3"),
//!     ("call", 6, "pop"), ("return", 6, "pop -> EMPTY"),
//! ] {
//!     match event {
//!         "call" => counting.call(op, label(text).pending()),
//!         _ => counting.ret(op, label(text)),
//!     }?;
//! }
//! assert_eq!(counting.length(), 4);
//! let mut counted: Vec<String> = counting
//!     .representation()
//!     .iter()
//!     .flat_map(|(label, triangle)| triangle.intervals().map(move |(i, j, n)| format!("{n} {label} [{i},{j}]")))
//!     .collect();
//! counted.sort();
//! assert_eq!(counted, [
//!     "1 pop -> 1 [1,1]", "1 pop -> 3 [1,3]", "1 pop -> EMPTY [4,4]",
//!     "1 push(1) [0,0]", "1 push(2) [2,2]", "1 push(3) [3,3]",
//! ]);
//! # Ok::<(), selvedge_history::counting::Misplaced>(())
//! ```

use std::fmt;
use std::hash::Hash;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::order::IntervalOrder;
use super::triangle::Triangle;
use crate::{History, OpId, Operation};

/// How many operations have each label and interval.
#[derive(Clone, Debug)]
pub struct Representation<L> {
    k: usize,
    counts: HashMap<L, Triangle, RandomState>,
}

impl<L: Eq + Hash> PartialEq for Representation<L> {
    fn eq(&self, other: &Self) -> bool {
        self.k == other.k && self.counts == other.counts
    }
}

impl<L: Clone + Eq + Hash> Representation<L> {
    /// The representation of a history without operations.
    pub fn new(k: usize) -> Self {
        Representation { k, counts: HashMap::default() }
    }

    /// The representation of A_k of a history; `label` names what each operation did.
    pub fn of<I, O>(history: &History<I, O>, k: usize, mut label: impl FnMut(OpId, &Operation<I, O>) -> L) -> Self {
        let order = IntervalOrder::of(history).approximate(k);
        let mut this = Representation::new(k);
        for (i, operation) in history.operations().iter().enumerate() {
            let op = OpId(i as u32);
            let (first, last) = order.interval(op);
            let last = if order.is_pending(op) { k } else { last };
            this.triangle(label(op, operation)).increment(first, last);
        }
        this
    }

    /// The k of its intervals.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The counters of one label, if an operation has it.
    pub fn get(&self, label: &L) -> Option<&Triangle> {
        self.counts.get(label)
    }

    /// The labels that occur, with their counters, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&L, &Triangle)> {
        self.counts.iter()
    }

    /// How many labels occur.
    pub fn labels(&self) -> usize {
        self.counts.len()
    }

    fn triangle(&mut self, label: L) -> &mut Triangle {
        self.counts.entry(label).or_insert_with(|| Triangle::new(self.k))
    }
}

/// An event that does not fit what came before.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// A call with the number of an operation that is open.
    CallWhileOpen(u64),
    /// A return with a number that no open operation has.
    ReturnWithoutCall(u64),
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misplaced::CallWhileOpen(op) => write!(f, "operation {op} is called while it is open"),
            Misplaced::ReturnWithoutCall(op) => write!(f, "operation {op} returns without having been called"),
        }
    }
}

impl std::error::Error for Misplaced {}

/// Algorithm 1: the counting representation of A_k of a history that is going on.
///
/// Memory: one [`Triangle`] for each label that occurs, and an entry for each open operation. Time: O(1) for an event, and O(labels · k²)
/// for the shift that the first call after a return may need.
#[derive(Clone, Debug)]
pub struct Counting<L> {
    counts: Representation<L>,
    /// The length of the history so far.
    length: u64,
    after_return: bool,
    /// The first slot and the pending label of each open operation.
    open: HashMap<u64, (u64, L), RandomState>,
    /// Counters that are all zero, for a label that comes up.
    spare: Vec<Triangle>,
}

/// With fewer open operations than this it is faster to look at each than to make a set of their labels.
const FEW: usize = 8;

impl<L: Clone + Eq + Hash> Counting<L> {
    /// Starts with an empty history.
    pub fn new(k: usize) -> Self {
        let (counts, open) = (Representation::new(k), HashMap::default());
        Counting { counts, length: 0, after_return: false, open, spare: Vec::new() }
    }

    /// Records that an operation is called. Open operations have different numbers; once one has returned its number may be used again.
    pub fn call(&mut self, op: u64, pending: L) -> Result<(), Misplaced> {
        if self.open.contains_key(&op) {
            return Err(Misplaced::CallWhileOpen(op));
        }
        let k = self.counts.k;
        if self.begins_past() {
            self.length += 1;
            if self.length > k as u64 {
                self.shift();
            }
        }
        self.after_return = false;
        let first = self.length.min(k as u64) as usize;
        self.triangle(pending.clone()).increment(first, k);
        self.open.insert(op, (self.length, pending));
        Ok(())
    }

    /// Records that an operation returns; the label has its result.
    pub fn ret(&mut self, op: u64, label: L) -> Result<(), Misplaced> {
        let (began, pending) = self.open.remove(&op).ok_or(Misplaced::ReturnWithoutCall(op))?;
        let k = self.counts.k as u64;
        let first = began.saturating_sub(self.length.saturating_sub(k)) as usize;
        self.after_return = true;
        let Entry::Occupied(mut triangle) = self.counts.counts.entry(pending) else {
            unreachable!("what is open was counted")
        };
        triangle.get_mut().decrement(first, k as usize);
        if triangle.get().is_empty() {
            let empty = triangle.remove();
            if self.spare.len() < FEW {
                self.spare.push(empty);
            }
        }
        let last = self.length.min(k) as usize;
        self.triangle(label).increment(first, last);
        Ok(())
    }

    fn triangle(&mut self, label: L) -> &mut Triangle {
        let (k, spare) = (self.counts.k, &mut self.spare);
        self.counts.counts.entry(label).or_insert_with(|| spare.pop().unwrap_or_else(|| Triangle::new(k)))
    }

    /// Whether the next call begins a new past. Just before that is the moment to look at the counters: since the last such moment they
    /// have only become stricter, and now the oldest slot may be forgotten.
    pub fn begins_past(&self) -> bool {
        self.after_return
    }

    /// The counters of A_k of the history so far.
    pub fn representation(&self) -> &Representation<L> {
        &self.counts
    }

    /// The length of the history so far, not of its approximation.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// How many operations are open.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    fn shift(&mut self) {
        // Labels of open operations are pending ones: nothing that is pending ends anywhere but in k.
        let Counting { counts, open, .. } = self;
        let labels = open.values().map(|(_, label)| label);
        if open.len() < FEW {
            for (label, triangle) in &mut counts.counts {
                triangle.shift(labels.clone().any(|open| open == label));
            }
        } else {
            let labels: hashbrown::HashSet<&L, RandomState> = labels.collect();
            for (label, triangle) in &mut counts.counts {
                triangle.shift(labels.contains(label));
            }
        }
    }
}
