//! One value, read and written.
//!
//! Invariant: nil is a value like any other that a register may hold, but only as the initial one: nobody writes it.

use super::method::{self, Method};
use super::{Misuse, Object, applied};
use crate::{Elements, Spec, Value};

/// A register. It holds nil at first unless stated otherwise.
#[derive(Clone, Debug, Default)]
pub struct Register {
    initial: Value,
}

/// A call of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Answers the value.
    Read,
    /// Replaces the value.
    Write(Value),
}

pub(super) const READ: Method = Method::new("read", &["r", "get", "load"]);
pub(super) const WRITE: Method = Method::new("write", &["w", "set", "put", "store"]);
const METHODS: &[Method] = &[READ, WRITE];

impl Register {
    /// A register that holds `initial` at first.
    pub fn new(initial: Value) -> Self {
        Register { initial }
    }
}

impl Spec for Register {
    type State = Value;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> Value {
        self.initial.clone()
    }

    fn apply(&self, state: &Value, input: &Input, out: &mut Vec<(Value, Value)>) {
        applied(self, state, input, out);
    }

    fn step(&self, state: &Value, input: &Input, output: Option<&Value>, next: &mut Vec<Value>) {
        match input {
            Input::Read => {
                if output.is_none_or(|seen| seen == state) {
                    next.push(state.clone());
                }
            }
            Input::Write(value) => next.push(value.clone()),
        }
    }

    fn answers(&self, state: &Value, input: &Input, answers: &mut Vec<Value>) {
        answers.push(match input {
            Input::Read => state.clone(),
            Input::Write(_) => Value::Nil,
        });
    }

    fn is_pure(&self, input: &Input, _output: &Value) -> bool {
        matches!(input, Input::Read)
    }
}

impl Object for Register {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(METHODS, method)? {
            "read" => method::nothing(argument, Input::Read),
            _ => method::value(argument).map(Input::Write),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Read => Ok(()),
            Input::Write(_) => method::acknowledged(output),
        }
    }
}

impl Elements for Register {
    type Element = Value;

    fn calls(&self) -> Vec<Input> {
        vec![Input::Read]
    }

    fn method_name(&self, input: &Input) -> String {
        let name = match input {
            Input::Read => "read",
            Input::Write(_) => "write",
        };
        name.to_owned()
    }
}
