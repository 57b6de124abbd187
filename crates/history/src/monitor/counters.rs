//! A_k of a queue, online: operation counting over the last k pasts (Counting, section 6.2, algorithm 1).
//!
//! A *past* begins with the first call after a return. A_k tells the last k pasts apart and nothing older, so one operation is seen to be before another
//! exactly when it ended in an earlier past than the other began in, and the other began in one of the last k. The shift of algorithm 1 is one addition here: pasts have
//! their absolute number, and those up to the length less k are the oldest slot.
//!
//! Invariant: an alarm is a violation. Memory: a value inside, and what was called in the last k pasts. Of the formulas for queues this looks
//! for remove, FIFO and empty where the last operation of the pattern is the removal that returns.

use std::collections::VecDeque;
use std::hash::Hash;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::alarm::{Alarm, Rule, Shown, Span};

/// An operation that is over: from which past to which.
#[derive(Clone, Debug)]
struct Over<V> {
    first: u64,
    last: u64,
    /// The value that came out, and its insertion; nothing for an empty answer.
    value: Option<(V, Span)>,
    remove: Span,
}

impl<V: Clone> Over<V> {
    fn shown(&self) -> Vec<Shown<V>> {
        match &self.value {
            Some((value, insert)) => pair(value, *insert, self.remove),
            None => vec![Shown::empty(self.remove)],
        }
    }
}

fn pair<V: Clone>(value: &V, insert: Span, remove: Span) -> Vec<Shown<V>> {
    vec![Shown::insert(value.clone(), insert), Shown::remove(value.clone(), remove)]
}

#[derive(Clone, Debug)]
struct Inside {
    insert: Span,
    /// The past in which its insertion returned.
    last: Option<u64>,
    first: u64,
    /// More than one: which is which cannot be told, so they are only counted.
    copies: u32,
}

/// A queue that is watched with counters. Values are distinct.
#[derive(Clone, Debug)]
pub struct Counters<V> {
    k: u64,
    length: u64,
    after_return: bool,
    inside: HashMap<V, Inside, RandomState>,
    /// Values that came out, by when they came in: for FIFO.
    removed: VecDeque<Over<V>>,
    empty: VecDeque<Over<V>>,
    lenient: bool,
    unchecked: u64,
}

impl<V: Clone + Eq + Hash> Counters<V> {
    /// An empty queue.
    pub fn new(k: usize) -> Self {
        let (removed, empty) = (VecDeque::new(), VecDeque::new());
        Counters {
            k: k as u64,
            length: 0,
            after_return: false,
            inside: HashMap::default(),
            removed,
            empty,
            lenient: false,
            unchecked: 0,
        }
    }

    /// Records that an operation is called. The answer is the past that it begins in, which its return needs.
    pub fn call(&mut self) -> u64 {
        if self.after_return {
            self.length += 1;
            self.after_return = false;
            let oldest = self.length.saturating_sub(self.k);
            // What began in the oldest slot is before nothing and after nothing.
            while self.removed.front().is_some_and(|over| over.first <= oldest) {
                self.removed.pop_front();
            }
            while self.empty.front().is_some_and(|over| over.first <= oldest) {
                self.empty.pop_front();
            }
        }
        self.length
    }

    /// Records that an insertion is called, in the past that [`Counters::call`] answered.
    pub fn call_insert(&mut self, first: u64, at: u64, thread: u32, value: &V) {
        let insert = Span { thread, call: at, ret: 0 };
        let new = || Inside { insert, last: None, first, copies: 0 };
        let inside = self.inside.entry(value.clone()).or_insert_with(new);
        inside.copies += 1;
        self.unchecked += u64::from(inside.copies > 1);
    }

    /// A queue that may hold values from before: what comes out and was never seen to go in is no alarm.
    pub fn attach(&mut self) {
        self.lenient = true;
    }

    /// Records that a removal that was called before these counters began has returned this value.
    pub fn forget(&mut self, value: &V) {
        self.take(value);
    }

    /// Records that an insertion did not happen.
    pub fn fail_insert(&mut self, value: &V) {
        self.take(value);
    }

    /// Takes one copy out; nothing when there was none, or when it cannot be told which it was.
    fn take(&mut self, value: &V) -> Option<Inside> {
        let inside = self.inside.get_mut(value)?;
        if inside.copies == 1 && inside.insert.call != 0 {
            return self.inside.remove(value);
        }
        // From now on nobody knows which copy is left.
        inside.insert.call = 0;
        inside.copies -= 1;
        if inside.copies == 0 {
            self.inside.remove(value);
        }
        None
    }

    /// Whether the value is inside.
    fn holds(&self, value: &V) -> bool {
        self.inside.contains_key(value)
    }

    /// How many values and removals could not be checked.
    pub fn unchecked(&self) -> u64 {
        self.unchecked
    }

    /// Records that an insertion that was called at `call` returns.
    pub fn ret_insert(&mut self, at: u64, call: u64, value: &V) {
        self.after_return = true;
        if let Some(inside) = self.inside.get_mut(value).filter(|inside| inside.insert.call == call) {
            inside.last = Some(self.length);
            inside.insert.ret = at;
        }
    }

    /// Records that a removal that began in the past `first` returns with a value, or with none.
    pub fn ret_remove(&mut self, first: u64, remove: Span, value: Option<&V>, alarms: &mut Vec<Alarm<V>>) {
        self.after_return = true;
        let Some(value) = value else {
            if first > self.oldest() {
                insert_sorted(&mut self.empty, Over { first, last: self.length, value: None, remove });
            }
            return;
        };
        if !self.holds(value) {
            if self.lenient {
                self.unchecked += 1;
            } else {
                let operations = vec![Shown::remove(value.clone(), remove)];
                alarms.push(Alarm { rule: Rule::NotInside, operations });
            }
            return;
        }
        let Some(inside) = self.take(value) else {
            self.unchecked += 1;
            return;
        };
        if let Some(last) = inside.last
            && first > self.oldest()
        {
            // Those that began after its insertion ended, and ended before its removal began.
            for (rule, list) in [(Rule::Overtaken, &self.removed), (Rule::NotEmpty, &self.empty)] {
                let mut after = list.iter().rev().take_while(|over| over.first > last);
                if let Some(over) = after.find(|over| over.last < first) {
                    let operations = [over.shown(), pair(value, inside.insert, remove)].concat();
                    alarms.push(Alarm { rule, operations });
                }
            }
        }
        if inside.first > self.oldest() {
            let value = Some((value.clone(), inside.insert));
            insert_sorted(&mut self.removed, Over { first: inside.first, last: self.length, value, remove });
        }
    }

    /// Operations that begin in this past or an earlier one are in the oldest slot.
    fn oldest(&self) -> u64 {
        self.length.saturating_sub(self.k)
    }

    /// How many entries the rule holds in memory.
    pub fn entries(&self) -> usize {
        self.inside.len() + self.removed.len() + self.empty.len()
    }
}

/// Keeps the list sorted by the first past. What comes last mostly belongs at the end.
fn insert_sorted<V>(list: &mut VecDeque<Over<V>>, over: Over<V>) {
    let place = list.iter().rev().take_while(|other| other.first > over.first).count();
    list.insert(list.len() - place, over);
}
