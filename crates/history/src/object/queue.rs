//! First in, first out.

use std::collections::VecDeque;

use super::{Misuse, Object};
use crate::{Spec, Value};

/// An unbounded queue. Removing from an empty one answers nil.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue;

/// A call of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Puts a value at the end.
    Enq(Value),
    /// Takes the value at the front.
    Deq,
    /// Looks at the value at the front.
    Peek,
}

const METHODS: &[&str] =
    &["enq (enqueue, add, offer, put, push, send)", "deq (dequeue, remove, poll, take, pop, recv)", "peek (front)"];

impl Spec for Queue {
    type State = VecDeque<Value>;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> Self::State {
        VecDeque::new()
    }

    fn step(&self, state: &Self::State, input: &Input, output: Option<&Value>, next: &mut Vec<Self::State>) {
        match input {
            Input::Enq(value) => {
                let mut after = state.clone();
                after.push_back(value.clone());
                next.push(after);
            }
            Input::Deq => {
                if output.is_none_or(|seen| *seen == *state.front().unwrap_or(&Value::Nil)) {
                    let mut after = state.clone();
                    after.pop_front();
                    next.push(after);
                }
            }
            Input::Peek => {
                if output.is_none_or(|seen| *seen == *state.front().unwrap_or(&Value::Nil)) {
                    next.push(state.clone());
                }
            }
        }
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        match input {
            Input::Enq(_) => false,
            Input::Deq => output.is_nil(),
            Input::Peek => true,
        }
    }
}

impl Object for Queue {
    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method {
            "enq" | "enqueue" | "add" | "offer" | "put" | "push" | "send" => match argument {
                Value::Nil => Err(Misuse::Argument { expected: "a value", found: Value::Nil }),
                value => Ok(Input::Enq(value.clone())),
            },
            "deq" | "dequeue" | "remove" | "poll" | "take" | "pop" | "recv" => match argument {
                Value::Nil => Ok(Input::Deq),
                found => Err(Misuse::Argument { expected: "nothing", found: found.clone() }),
            },
            "peek" | "front" => match argument {
                Value::Nil => Ok(Input::Peek),
                found => Err(Misuse::Argument { expected: "nothing", found: found.clone() }),
            },
            _ => Err(Misuse::Method(METHODS)),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Enq(_) if !output.is_nil() && *output != Value::Bool(true) => {
                Err(Misuse::Result { expected: "nothing or true", found: output.clone() })
            }
            _ => Ok(()),
        }
    }

    fn answers(&self, state: &Self::State, input: &Input, answers: &mut Vec<Value>) {
        answers.push(match input {
            Input::Enq(_) => Value::Nil,
            Input::Deq | Input::Peek => state.front().cloned().unwrap_or_default(),
        });
    }
}
