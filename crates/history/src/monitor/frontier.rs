//! Every way in which the operations so far may have taken effect, for objects with small states: exact, one event at a time.
//!
//! A *way* is a state together with the open operations that have taken effect already. When an operation returns, each way is
//! continued by open operations, in every order, until the one that returns has taken effect with that result; ways in which it cannot are dropped. When none is
//! left, the history is not linearizable. Open operations take effect only when some return needs them to, so nothing happens at calls.
//!
//! Invariant: the ways are exactly those that exist, or [`Frontier::is_lost`]: beyond [`WAYS_MAX`], and where a result tells of an initial value that was overwritten meanwhile, the frontier is given up for good and answers nothing
//! any more. Memory is bounded by that; time for a return is O(ways · open operations).

use std::collections::HashSet;
use std::fmt;

use crate::Value;
use crate::object::{Misuse, Object};

/// How many ways are followed at once.
pub const WAYS_MAX: usize = 1 << 12;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Done<S> {
    op: u64,
    before: S,
    after: S,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Way<S> {
    state: S,
    /// In the order of their numbers.
    done: Vec<Done<S>>,
}

/// What a frontier does, whatever the object.
pub trait Follow: fmt::Debug {
    /// An operation is called. Open operations have different numbers.
    fn call(&mut self, op: u64, method: &str, argument: &Value) -> Result<(), Misuse>;
    /// An operation returns; whether some way has that result.
    fn ret(&mut self, op: u64, output: &Value) -> Result<bool, Misuse>;
    /// An operation did not happen; whether some way is without it.
    fn fail(&mut self, op: u64) -> bool;
    /// Gives up: nobody knows the state.
    fn give_up(&mut self);
    /// Whether it gave up.
    fn is_lost(&self) -> bool;
    /// Whether nothing is open and the object is certainly as it was at first.
    fn is_fresh(&self) -> bool;
    /// How many ways there are: what the time for a return depends on.
    fn ways(&self) -> usize;
    /// How many entries it holds.
    fn entries(&self) -> usize;
}

/// The ways of one object.
pub struct Frontier<O: Object> {
    object: O,
    open: Vec<(u64, O::Input)>,
    ways: HashSet<Way<O::State>>,
    lost: bool,
}

impl<O: Object> fmt::Debug for Frontier<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ways, {} open", self.ways.len(), self.open.len())
    }
}

impl<O: Object> Frontier<O> {
    /// Nothing has happened.
    pub fn new(object: O) -> Self {
        let start = Way { state: object.initial(), done: Vec::new() };
        Frontier { object, open: Vec::new(), ways: HashSet::from([start]), lost: false }
    }

    /// The ways in which `op` has taken effect with `output`, and its own mark is gone. Nothing when there are too many, or when the result tells of a state that was passed over before it was known.
    fn returned(&self, op: u64, input: &O::Input, output: &Value) -> Option<HashSet<Way<O::State>>> {
        let mut after = HashSet::new();
        let mut seen: HashSet<Way<O::State>> = self.ways.clone();
        let mut todo: Vec<Way<O::State>> = self.ways.iter().cloned().collect();
        let mut next = Vec::new();
        while let Some(way) = todo.pop() {
            if let Some(place) = way.done.iter().position(|done| done.op == op) {
                self.object.step(&way.done[place].before, input, Some(output), &mut next);
                if next.contains(&way.done[place].after) {
                    let mut way = way;
                    way.done.remove(place);
                    after.insert(way);
                } else if !next.is_empty() && self.object.is_told_by_results() {
                    return None;
                }
                next.clear();
                continue;
            }
            self.object.step(&way.state, input, Some(output), &mut next);
            after.extend(next.drain(..).map(|state| Way { state, done: way.done.clone() }));
            for (other, input) in self.open.iter().filter(|(other, _)| *other != op) {
                let Err(place) = way.done.binary_search_by_key(other, |done| done.op) else { continue };
                self.object.step(&way.state, input, None, &mut next);
                for state in next.drain(..) {
                    let mut done = way.done.clone();
                    done.insert(place, Done { op: *other, before: way.state.clone(), after: state.clone() });
                    let way = Way { state, done };
                    if !seen.contains(&way) {
                        seen.insert(way.clone());
                        todo.push(way);
                    }
                }
            }
            if seen.len() > WAYS_MAX || after.len() > WAYS_MAX {
                return None;
            }
        }
        Some(after)
    }

    /// From now on nothing that is open or comes later is looked at.
    fn lose(&mut self) {
        self.lost = true;
        self.ways = HashSet::new();
        self.open = Vec::new();
    }

    /// Goes on after a violation as though the operation had not happened, or had with any result: what follows is judged as if nothing was wrong.
    fn recover(&mut self, op: u64, input: &O::Input) {
        let mut next = Vec::new();
        let mut ways = HashSet::new();
        for way in &self.ways {
            let mut done = way.done.clone();
            done.retain(|done| done.op != op);
            self.object.step(&way.state, input, None, &mut next);
            ways.extend(next.drain(..).map(|state| Way { state, done: done.clone() }));
            ways.insert(Way { state: way.state.clone(), done });
        }
        self.ways = ways;
        if self.ways.len() > WAYS_MAX {
            self.lose();
        }
    }
}

impl<O: Object> Follow for Frontier<O> {
    fn call(&mut self, op: u64, method: &str, argument: &Value) -> Result<(), Misuse> {
        let input = self.object.input(method, argument)?;
        if !self.lost {
            self.open.push((op, input));
        }
        Ok(())
    }

    fn ret(&mut self, op: u64, output: &Value) -> Result<bool, Misuse> {
        let Some(place) = self.open.iter().position(|(open, _)| *open == op) else { return Ok(true) };
        self.object.admits(&self.open[place].1, output)?;
        let input = self.open[place].1.clone();
        let after = self.returned(op, &input, output);
        self.open.swap_remove(place);
        match after {
            None => {
                self.give_up();
                Ok(true)
            }
            Some(after) if after.is_empty() => {
                self.recover(op, &input);
                Ok(false)
            }
            Some(after) => {
                self.ways = after;
                Ok(true)
            }
        }
    }

    fn fail(&mut self, op: u64) -> bool {
        let Some(place) = self.open.iter().position(|(open, _)| *open == op) else { return true };
        let (_, input) = self.open.swap_remove(place);
        let without = |way: &&Way<O::State>| way.done.iter().all(|done| done.op != op);
        let ways: HashSet<_> = self.ways.iter().filter(without).cloned().collect();
        if ways.is_empty() {
            self.recover(op, &input);
            return false;
        }
        self.ways = ways;
        true
    }

    fn give_up(&mut self) {
        self.lose();
    }

    fn is_lost(&self) -> bool {
        self.lost
    }

    fn is_fresh(&self) -> bool {
        let initial = || self.object.initial();
        !self.lost && self.open.is_empty() && self.ways.len() == 1 && self.ways.iter().all(|way| way.state == initial())
    }

    fn ways(&self) -> usize {
        self.ways.len()
    }

    fn entries(&self) -> usize {
        self.open.len() + self.ways.iter().map(|way| 1 + way.done.len()).sum::<usize>()
    }
}
