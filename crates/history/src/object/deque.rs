//! A queue with two ends.
//!
//! Invariant: a state never holds nil, which is the answer of an empty deque.

use std::collections::VecDeque;

use super::method::{self, Method};
use super::{Misuse, Object, applied, shown, taken};
use crate::{Elements, Spec, Traffic, Value};

/// An unbounded double-ended queue. Removing from an empty one answers nil.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deque;

/// Which end of a deque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first value.
    Front,
    /// The last value.
    Back,
}

/// A call of a deque.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Puts a value at an end.
    Push(Side, Value),
    /// Takes the value at an end.
    Pop(Side),
    /// Looks at the value at an end.
    Peek(Side),
}

const METHODS: &[Method] = &[
    Method::new("push_front", &["add_first", "offer_first", "put_first", "push_left", "push_first", "add_front"]),
    Method::new("push_back", &["add_last", "offer_last", "put_last", "push_right", "push_last", "add_back"]),
    Method::new("pop_front", &["remove_first", "poll_first", "take_first", "pop_left", "pop_first", "remove_front"]),
    Method::new("pop_back", &["remove_last", "poll_last", "take_last", "pop_right", "pop_last", "remove_back"]),
    Method::new("peek_front", &["front", "peek_first", "get_first", "peek_left"]),
    Method::new("peek_back", &["back", "peek_last", "get_last", "peek_right"]),
];

/// The value at that end, nil where there is none.
fn at(state: &VecDeque<Value>, side: Side) -> &Value {
    let value = match side {
        Side::Front => state.front(),
        Side::Back => state.back(),
    };
    value.unwrap_or(&Value::Nil)
}

impl Spec for Deque {
    type State = VecDeque<Value>;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> Self::State {
        VecDeque::new()
    }

    fn apply(&self, state: &Self::State, input: &Input, out: &mut Vec<(Value, Self::State)>) {
        applied(self, state, input, out);
    }

    fn step(&self, state: &Self::State, input: &Input, output: Option<&Value>, next: &mut Vec<Self::State>) {
        let fits = |side| output.is_none_or(|seen| seen == at(state, side));
        match input {
            Input::Push(side, value) => {
                let mut after = state.clone();
                match side {
                    Side::Front => after.push_front(value.clone()),
                    Side::Back => after.push_back(value.clone()),
                }
                next.push(after);
            }
            Input::Pop(side) if fits(*side) => {
                let mut after = state.clone();
                match side {
                    Side::Front => after.pop_front(),
                    Side::Back => after.pop_back(),
                };
                next.push(after);
            }
            Input::Peek(side) if fits(*side) => next.push(state.clone()),
            Input::Pop(_) | Input::Peek(_) => {}
        }
    }

    fn answers(&self, state: &Self::State, input: &Input, answers: &mut Vec<Value>) {
        answers.push(match input {
            Input::Push(..) => Value::Nil,
            Input::Pop(side) | Input::Peek(side) => at(state, *side).clone(),
        });
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        match input {
            Input::Push(..) => false,
            Input::Pop(_) => output.is_nil(),
            Input::Peek(_) => true,
        }
    }
}

impl Object for Deque {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(METHODS, method)? {
            "push_front" => method::value(argument).map(|value| Input::Push(Side::Front, value)),
            "push_back" => method::value(argument).map(|value| Input::Push(Side::Back, value)),
            "pop_front" => method::nothing(argument, Input::Pop(Side::Front)),
            "pop_back" => method::nothing(argument, Input::Pop(Side::Back)),
            "peek_front" => method::nothing(argument, Input::Peek(Side::Front)),
            _ => method::nothing(argument, Input::Peek(Side::Back)),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Push(..) => method::acknowledged(output),
            Input::Pop(_) | Input::Peek(_) => Ok(()),
        }
    }
}

impl Elements for Deque {
    type Element = Value;

    fn traffic<'a>(&'a self, input: &'a Input, output: Option<&'a Value>) -> Traffic<&'a Value> {
        match input {
            Input::Push(_, value) => Traffic::In(value),
            Input::Pop(_) => taken(output),
            Input::Peek(_) => shown(output),
        }
    }

    fn calls(&self) -> Vec<Input> {
        vec![Input::Pop(Side::Front), Input::Pop(Side::Back), Input::Peek(Side::Front), Input::Peek(Side::Back)]
    }

    fn insertion(&self, element: &Value) -> Option<Input> {
        Some(Input::Push(Side::Back, element.clone()))
    }

    fn method_name(&self, input: &Input) -> String {
        let name = match input {
            Input::Push(Side::Front, _) => "push_front",
            Input::Push(Side::Back, _) => "push_back",
            Input::Pop(Side::Front) => "pop_front",
            Input::Pop(Side::Back) => "pop_back",
            Input::Peek(Side::Front) => "peek_front",
            Input::Peek(Side::Back) => "peek_back",
        };
        name.to_owned()
    }
}
