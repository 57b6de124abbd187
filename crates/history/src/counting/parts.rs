//! The independent objects of a log, each as a history of its own, and which of their beginnings to look at.
//!
//! Invariant: a violation in the history of one object, or in a beginning of it, is a violation of the whole.

use crate::evidence::Part;
use crate::{Call, End, History, Log, OpId, Symbol, Value};

/// The operations of one object.
pub(super) struct Operations<'a> {
    log: &'a Log,
    object: Symbol,
    key: Value,
    /// `None` when they are all that the log has.
    ops: Option<Vec<OpId>>,
    history: History<(), ()>,
}

/// The independent objects of a log, by name and by what `key` answers. O(n log n).
pub(super) fn parts<'a>(log: &'a Log, key: impl Fn(&Call) -> Value) -> Vec<Operations<'a>> {
    let operations = log.history.operations();
    let mut numbers: std::collections::HashMap<(Symbol, Value), usize> = std::collections::HashMap::new();
    let mut all: Vec<((Symbol, Value), Vec<OpId>)> = Vec::new();
    let mut last = None;
    for (i, operation) in operations.iter().enumerate() {
        let name = (operation.input.object, key(&operation.input));
        let number = match last {
            Some(number)
                if {
                    let (known, _): &((Symbol, Value), _) = &all[number];
                    *known == name
                } =>
            {
                number
            }
            _ => *numbers.entry(name.clone()).or_insert_with(|| {
                all.push((name, Vec::new()));
                all.len() - 1
            }),
        };
        last = Some(number);
        all[number].1.push(OpId(i as u32));
    }
    let end = |ops: &[OpId]| {
        let pending = ops.iter().any(|&op| log.history.operation(op).ret.is_none());
        if pending { log.history.end() } else { End::Complete }
    };
    let only = all.len() == 1;
    all.into_iter()
        .map(|((object, key), ops)| {
            let end = end(&ops);
            let history = log.history.project(&ops, end, |_, operation| ((), operation.ret.as_ref().map(|_| ())));
            Operations { log, object, key, ops: (!only).then_some(ops), history }
        })
        .collect()
}

impl<'a> Operations<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.history.len()
    }

    /// Their numbers in the log, in the order of calls.
    pub fn ops(&self) -> impl Iterator<Item = OpId> + '_ {
        (0..self.len()).map(|i| self.op(OpId(i as u32)))
    }

    /// The number in the log of an operation of this object's own history.
    pub fn op(&self, own: OpId) -> OpId {
        self.ops.as_ref().map_or(own, |ops| ops[own.0 as usize])
    }

    /// When they were called and returned.
    pub fn history(&self) -> &History<(), ()> {
        &self.history
    }

    /// The name of the object, as evidence carries it.
    pub fn name(&self) -> Part {
        Part { object: self.log.name(self.object).to_owned(), key: self.key.clone() }
    }
}

/// Which beginnings of a history are looked at besides the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefixes {
    /// None.
    #[default]
    Whole,
    /// Each that ends where A_k is about to forget something, at most so many, evenly spread.
    AtMost(usize),
}

impl Prefixes {
    /// How many events each of them has, the whole last.
    pub(super) fn of<I, O>(self, history: &History<I, O>) -> Vec<usize> {
        let marks = history.marks();
        let mut ends = Vec::new();
        if let Prefixes::AtMost(most) = self {
            // Before a call that follows a return: A_k changes what it remembers with that call, and not in between.
            ends.extend((1..marks.len()).filter(|&i| !marks[i].is_return() && marks[i - 1].is_return()));
            if ends.len() > most {
                let step = ends.len().div_ceil(most.max(1));
                ends = ends.into_iter().rev().step_by(step).take(most).collect();
                ends.reverse();
            }
        }
        ends.push(marks.len());
        ends
    }
}
