//! Where an order that goes no further leaves the object: what it holds, and what it would answer.
//!
//! Invariant: this only explains. No verdict depends on it, and where it does not know it says nothing.

use std::any::Any;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

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
    let mut player = player(reading.kind, initial)?;
    let history = &reading.log.history;
    let end = history.operation(operation).end();
    let mut states = player.initial();
    for &op in order {
        // What returned later than the operation was pending when it returned.
        let output = history.operation(op).ret.as_ref().filter(|ret| ret.at < end).map(|ret| &ret.output);
        let input = read(player.as_mut(), reading, op)?;
        states = player.after(&states, input, output);
    }
    let input = read(player.as_mut(), reading, operation)?;
    Some(After { answers: player.answers(&states, input), holds: holds(reading.kind, player.first(&states)?) })
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
    let mut player = player(reading.kind, initial)?;
    let mut states = player.initial();
    let initial = holds(reading.kind, player.first(&states)?)?;
    let mut after = Vec::with_capacity(order.len());
    for &op in order {
        let ret = reading.log.history.operation(op).ret.as_ref().filter(|ret| ret.at < before);
        let input = read(player.as_mut(), reading, op)?;
        states = player.after(&states, input, ret.map(|ret| &ret.output));
        after.push(holds(reading.kind, player.first(&states)?)?);
    }
    Some((initial, after))
}

/// The states that an object may be in. Only the [`Player`] that made them knows what they are.
#[derive(Clone)]
pub struct States {
    all: Rc<dyn Any>,
    /// Whether there is none.
    pub is_empty: bool,
}

/// The number of a call that a [`Player`] has read.
#[derive(Clone, Copy)]
pub struct Input(usize);

/// An object of any kind, one call at a time. What explains is written and compiled for this, and not for each kind of object.
pub trait Player {
    /// Reads a call; `None` when the object has no such call.
    fn read(&mut self, method: &str, argument: &Value) -> Option<Input>;

    /// Before the first call.
    fn initial(&self) -> States;

    /// Every state after the call answered `output`; a few of them, where there are many.
    fn after(&self, states: &States, input: Input, output: Option<&Value>) -> States;

    /// What the call would answer in one of these states; nothing when it would wait.
    fn answers(&self, states: &States, input: Input) -> Vec<Value>;

    /// One of the states, for [`holds`].
    fn first<'s>(&self, states: &'s States) -> Option<&'s dyn Any>;

    /// A number that is equal for equal states.
    fn hash(&self, states: &States, hasher: &RandomState) -> u64;
}

/// An object of that kind; `None` where the initial value does not fit.
pub fn player(kind: Kind, initial: Option<&Value>) -> Option<Box<dyn Player>> {
    kind.with_object(initial, MakePlayer).ok()
}

/// Reads the call of an operation.
pub fn read(player: &mut dyn Player, reading: Reading<'_>, op: OpId) -> Option<Input> {
    let call = &reading.log.history.operation(op).input;
    player.read(reading.log.name(call.method), &reading.kind.argument(call))
}

struct MakePlayer;

impl ObjectVisitor for MakePlayer {
    type Answer = Box<dyn Player>;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> Box<dyn Player> {
        Box::new(Playing { object, inputs: Vec::new() })
    }
}

struct Playing<O: Object> {
    object: O,
    inputs: Vec<O::Input>,
}

impl<O: Object + 'static> Playing<O> {
    fn states(&self, all: Vec<O::State>) -> States {
        States { is_empty: all.is_empty(), all: Rc::new(all) }
    }

    fn all<'s>(&self, states: &'s States) -> &'s [O::State] {
        states.all.downcast_ref::<Vec<O::State>>().expect("these are states of this object")
    }
}

impl<O: Object + 'static> Player for Playing<O> {
    fn read(&mut self, method: &str, argument: &Value) -> Option<Input> {
        self.inputs.push(self.object.input(method, argument).ok()?);
        Some(Input(self.inputs.len() - 1))
    }

    fn initial(&self) -> States {
        self.states(vec![self.object.initial()])
    }

    fn after(&self, states: &States, input: Input, output: Option<&Value>) -> States {
        let mut next = Vec::new();
        for state in self.all(states) {
            self.object.step(state, &self.inputs[input.0], output, &mut next);
        }
        let mut few: Vec<O::State> = Vec::new();
        for state in next {
            if few.len() < STATES_MAX && !few.contains(&state) {
                few.push(state);
            }
        }
        self.states(few)
    }

    fn answers(&self, states: &States, input: Input) -> Vec<Value> {
        let mut answers = Vec::new();
        for state in self.all(states) {
            self.object.answers(state, &self.inputs[input.0], &mut answers);
        }
        answers.sort_unstable();
        answers.dedup();
        answers
    }

    fn first<'s>(&self, states: &'s States) -> Option<&'s dyn Any> {
        self.all(states).first().map(|state| state as &dyn Any)
    }

    fn hash(&self, states: &States, hasher: &RandomState) -> u64 {
        hasher.hash_one(self.all(states))
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
