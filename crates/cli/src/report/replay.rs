//! Where an order that goes no further leaves the object: what it holds, and what it would answer.
//!
//! Invariant: this only explains. No verdict depends on it, and where it does not know it says nothing.

use std::any::Any;
use std::collections::VecDeque;

use selvedge_history::object::{Kind, Object, ObjectVisitor};
use selvedge_history::{OpId, Value};

use super::operation::{Reading, show};

/// Longer orders are not replayed: a state is copied for every operation.
const ORDER_MAX: usize = 20_000;
/// With pending operations there are many states; a few are enough to explain.
const STATES_MAX: usize = 16;
/// How many values of a state are spelled out.
const VALUES_MAX: usize = 6;

/// What comes after an order.
pub struct After {
    /// What the object holds, where that can be said in a few words.
    holds: Option<String>,
    /// What the operation would answer there; nothing when it would wait.
    answers: Vec<Value>,
}

/// Replays the order, and asks what `operation` would answer after it.
pub fn replay(reading: Reading<'_>, initial: Option<&Value>, order: &[OpId], operation: OpId) -> Option<After> {
    if order.len() > ORDER_MAX {
        return None;
    }
    reading.kind.with_object(initial, Replay { reading, order, operation }).ok()?
}

/// What the object holds before and after each operation of the order, in a few words. What returned in the event `before` or
/// later counts as pending.
pub fn states(
    reading: Reading<'_>,
    initial: Option<&Value>,
    order: &[OpId],
    before: u32,
) -> Option<(String, Vec<String>)> {
    if order.len() > ORDER_MAX {
        return None;
    }
    reading.kind.with_object(initial, States { reading, order, before }).ok()?
}

struct States<'a> {
    reading: Reading<'a>,
    order: &'a [OpId],
    before: u32,
}

impl ObjectVisitor for States<'_> {
    type Answer = Option<(String, Vec<String>)>;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer {
        let mut states = vec![object.initial()];
        let initial = holds(self.reading.kind, states.first()?)?;
        let mut after = Vec::with_capacity(self.order.len());
        for &op in self.order {
            let ret = self.reading.log.history.operation(op).ret.as_ref().filter(|ret| ret.at < self.before);
            advance(&object, self.reading, op, ret.map(|ret| &ret.output), &mut states)?;
            after.push(holds(self.reading.kind, states.first()?)?);
        }
        Some((initial, after))
    }
}

/// Every state after the operation answered `output`; a few of them, where there are many.
fn advance<O: Object>(
    object: &O,
    reading: Reading<'_>,
    op: OpId,
    output: Option<&Value>,
    states: &mut Vec<O::State>,
) -> Option<()> {
    apply(object, &input_of(object, reading, op)?, output, states);
    Some(())
}

/// The call of an operation, as the object reads it.
pub fn input_of<O: Object>(object: &O, reading: Reading<'_>, op: OpId) -> Option<O::Input> {
    let call = &reading.log.history.operation(op).input;
    object.input(reading.log.name(call.method), &reading.kind.argument(call)).ok()
}

/// Every state after the call answered `output`; a few of them, where there are many.
pub fn apply<O: Object>(object: &O, input: &O::Input, output: Option<&Value>, states: &mut Vec<O::State>) {
    let mut next = Vec::new();
    for state in states.iter() {
        object.step(state, input, output, &mut next);
    }
    states.clear();
    for state in next {
        if states.len() < STATES_MAX && !states.contains(&state) {
            states.push(state);
        }
    }
}

/// What the call would answer in one of these states; nothing when it would wait.
pub fn answers<O: Object>(object: &O, input: &O::Input, states: &[O::State]) -> Vec<Value> {
    let mut answers = Vec::new();
    for state in states {
        object.answers(state, input, &mut answers);
    }
    answers.sort_unstable();
    answers.dedup();
    answers
}

struct Replay<'a> {
    reading: Reading<'a>,
    order: &'a [OpId],
    operation: OpId,
}

impl ObjectVisitor for Replay<'_> {
    type Answer = Option<After>;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> Option<After> {
        let history = &self.reading.log.history;
        let end = history.operation(self.operation).end();
        let mut states = vec![object.initial()];
        for &op in self.order {
            // What returned later than the operation was pending when it returned.
            let output = history.operation(op).ret.as_ref().filter(|ret| ret.at < end).map(|ret| &ret.output);
            advance(&object, self.reading, op, output, &mut states)?;
        }
        let answers = answers(&object, &input_of(&object, self.reading, self.operation)?, &states);
        Some(After { holds: holds(self.reading.kind, states.first()?), answers })
    }
}

/// What an object in that state holds, in a few words.
pub fn holds(kind: Kind, state: &dyn Any) -> Option<String> {
    let list = |values: &mut dyn Iterator<Item = String>| {
        let mut shown: Vec<String> = values.take(VALUES_MAX + 1).collect();
        if shown.len() > VALUES_MAX {
            shown[VALUES_MAX] = "...".to_owned();
        }
        if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") }
    };
    if let Some(values) = state.downcast_ref::<VecDeque<Value>>() {
        return Some(list(&mut values.iter().map(show)));
    }
    if let Some(values) = state.downcast_ref::<Vec<Value>>() {
        // The top of a stack is at the end, and is what matters.
        let shown = if kind == Kind::Stack {
            list(&mut values.iter().rev().map(show))
        } else {
            list(&mut values.iter().map(show))
        };
        return Some(shown);
    }
    if let Some(pairs) = state.downcast_ref::<Vec<(Value, Value)>>() {
        // Those that are not there hold what they started with.
        if pairs.is_empty() {
            return None;
        }
        return Some(list(&mut pairs.iter().map(|(key, value)| format!("{}: {}", show(key), show(value)))));
    }
    if let Some(value) = state.downcast_ref::<Value>() {
        return Some(show(value));
    }
    if let Some(value) = state.downcast_ref::<Option<Value>>() {
        return Some(value.as_ref().map_or("nothing".to_owned(), show));
    }
    state.downcast_ref::<i64>().map(i64::to_string)
}

impl After {
    /// The sentences, each with a blank before it.
    pub fn describe(&self, reading: Reading<'_>, operation: OpId) -> String {
        let mut text = String::new();
        if let Some(holds) = &self.holds {
            text.push_str(&format!(" The {} then holds {holds}.", reading.kind.name()));
        }
        let history = &reading.log.history;
        let method = super::text::clean(reading.log.name(history.operation(operation).input.method));
        let recorded = history.operation(operation).output();
        if self.answers.is_empty() {
            text.push_str(&format!(" There {method} would have to wait."));
        } else if recorded.is_some_and(|recorded| !self.answers.contains(recorded)) {
            let answers: Vec<String> = self.answers.iter().take(VALUES_MAX).filter_map(|a| reading.result(a)).collect();
            // A register answers what it holds: once is enough.
            if !answers.is_empty() && self.holds.as_ref() != answers.first() {
                text.push_str(&format!(" There {method} would answer {}.", answers.join(" or ")));
            }
        }
        text
    }
}
