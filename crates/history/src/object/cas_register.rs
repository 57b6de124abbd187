//! One value, read, written, and replaced if it is what the caller thinks.
//!
//! Invariant: a compare-and-set fails only when the old value is not there; there are no failures without a reason.

use super::method::{self, Method};
use super::register::{self, Register};
use super::{Misuse, Object, applied};
use crate::{Spec, Value};

/// A register with compare-and-set. It holds nil at first unless stated otherwise.
///
/// `cas` takes a list of the old and the new value and answers whether the old one was there. A nil result says that it
/// was, as in Jepsen's logs, where a compare-and-set that did not find the old value is recorded as failed.
#[derive(Clone, Debug, Default)]
pub struct CasRegister {
    register: Register,
}

/// A call of a register with compare-and-set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// One that every register has.
    Plain(register::Input),
    /// Replaces the first value by the second.
    Cas(Value, Value),
}

const METHODS: &[Method] = &[
    register::READ,
    register::WRITE,
    Method::new("cas", &["compare_and_set", "compare_and_swap", "compare_exchange"]),
];

impl CasRegister {
    /// A register that holds `initial` at first.
    pub fn new(initial: Value) -> Self {
        CasRegister { register: Register::new(initial) }
    }
}

impl Spec for CasRegister {
    type State = Value;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> Value {
        self.register.initial()
    }

    fn apply(&self, state: &Value, input: &Input, out: &mut Vec<(Value, Value)>) {
        applied(self, state, input, out);
    }

    fn step(&self, state: &Value, input: &Input, output: Option<&Value>, next: &mut Vec<Value>) {
        match input {
            Input::Plain(plain) => self.register.step(state, plain, output, next),
            Input::Cas(old, new) => {
                let succeeds = state == old;
                if output.is_none_or(|seen| succeeded(seen) == succeeds) {
                    next.push(if succeeds { new.clone() } else { state.clone() });
                }
            }
        }
    }

    fn answers(&self, state: &Value, input: &Input, answers: &mut Vec<Value>) {
        match input {
            Input::Plain(plain) => self.register.answers(state, plain, answers),
            Input::Cas(old, _) => answers.push(Value::Bool(state == old)),
        }
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        match input {
            Input::Plain(plain) => self.register.is_pure(plain, output),
            Input::Cas(old, new) => old == new || !succeeded(output),
        }
    }
}

fn succeeded(output: &Value) -> bool {
    *output != Value::Bool(false)
}

impl Object for CasRegister {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(METHODS, method)? {
            "cas" => match argument.as_list() {
                Some([old, new]) => Ok(Input::Cas(old.clone(), new.clone())),
                _ => Err(Misuse::Argument { expected: "a list of the old and the new value", found: argument.clone() }),
            },
            plain => self.register.input(plain, argument).map(Input::Plain),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Plain(plain) => self.register.admits(plain, output),
            Input::Cas(..) => method::truth_or_nothing(output),
        }
    }
}
