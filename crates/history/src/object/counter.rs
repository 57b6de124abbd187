//! A number that goes up and down.
//!
//! Invariant: arithmetic is modulo 2⁶⁴ on signed numbers, as in the counters of most languages, so nothing overflows.

use super::method::{self, Method};
use super::{Misuse, Object, applied};
use crate::{Elements, Spec, Value};

/// A counter. It starts at 0 unless stated otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter {
    initial: i64,
}

/// A call of a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Adds, and answers nothing.
    Add(i64),
    /// Answers the number.
    Get,
    /// Adds, and answers the number as it was before.
    FetchAdd(i64),
    /// Adds, and answers the number as it is after.
    AddAndGet(i64),
}

const METHODS: &[Method] = &[
    Method::new("inc", &["increment", "incr"]),
    Method::new("dec", &["decrement", "decr"]),
    Method::new("add", &["increase"]),
    Method::new("sub", &["subtract", "decrease"]),
    Method::new("get", &["read", "load", "value"]),
    Method::new("fetch_add", &["get_and_add"]),
    Method::new("fetch_inc", &["get_and_increment", "get_and_inc", "fetch_and_increment", "fetch_increment"]),
    Method::new("fetch_dec", &["get_and_decrement", "get_and_dec", "fetch_and_decrement", "fetch_decrement"]),
    Method::new("add_and_get", &["add_fetch"]),
    Method::new("inc_and_get", &["increment_and_get", "inc_fetch"]),
    Method::new("dec_and_get", &["decrement_and_get", "dec_fetch"]),
];

impl Counter {
    /// A counter that starts at `initial`.
    pub const fn new(initial: i64) -> Self {
        Counter { initial }
    }
}

impl Input {
    /// What the call answers at `count`, and the number after it.
    fn apply(&self, count: i64) -> (Value, i64) {
        match *self {
            Input::Add(n) => (Value::Nil, count.wrapping_add(n)),
            Input::Get => (Value::Int(count), count),
            Input::FetchAdd(n) => (Value::Int(count), count.wrapping_add(n)),
            Input::AddAndGet(n) => {
                let after = count.wrapping_add(n);
                (Value::Int(after), after)
            }
        }
    }
}

impl Spec for Counter {
    type State = i64;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> i64 {
        self.initial
    }

    fn apply(&self, state: &i64, input: &Input, out: &mut Vec<(Value, i64)>) {
        applied(self, state, input, out);
    }

    fn step(&self, state: &i64, input: &Input, output: Option<&Value>, next: &mut Vec<i64>) {
        let (answer, after) = input.apply(*state);
        if answer.is_nil() || output.is_none_or(|seen| *seen == answer) {
            next.push(after);
        }
    }

    fn answers(&self, state: &i64, input: &Input, answers: &mut Vec<Value>) {
        answers.push(input.apply(*state).0);
    }

    fn is_pure(&self, input: &Input, _output: &Value) -> bool {
        match input {
            Input::Get => true,
            Input::Add(n) | Input::FetchAdd(n) | Input::AddAndGet(n) => *n == 0,
        }
    }

    fn is_commutative(&self) -> bool {
        true
    }
}

/// The number given, 1 where none is.
fn amount_or_one(argument: &Value) -> Result<i64, Misuse> {
    match argument {
        Value::Nil => Ok(1),
        Value::Int(n) => Ok(*n),
        found => Err(Misuse::Argument { expected: "an integer or nothing", found: found.clone() }),
    }
}

fn amount(argument: &Value) -> Result<i64, Misuse> {
    argument.as_int().ok_or_else(|| Misuse::Argument { expected: "an integer", found: argument.clone() })
}

impl Object for Counter {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(METHODS, method)? {
            "inc" => amount_or_one(argument).map(Input::Add),
            "dec" => amount_or_one(argument).map(|n| Input::Add(n.wrapping_neg())),
            "add" => amount(argument).map(Input::Add),
            "sub" => amount(argument).map(|n| Input::Add(n.wrapping_neg())),
            "fetch_add" => amount(argument).map(Input::FetchAdd),
            "fetch_inc" => method::nothing(argument, Input::FetchAdd(1)),
            "fetch_dec" => method::nothing(argument, Input::FetchAdd(-1)),
            "add_and_get" => amount(argument).map(Input::AddAndGet),
            "inc_and_get" => method::nothing(argument, Input::AddAndGet(1)),
            "dec_and_get" => method::nothing(argument, Input::AddAndGet(-1)),
            _ => method::nothing(argument, Input::Get),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match (input, output) {
            (Input::Add(_), Value::Nil | Value::Bool(true)) => Ok(()),
            (Input::Add(_), found) => Err(Misuse::Result {
                expected: "nothing or true (fetch_add and add_and_get answer the number)",
                found: found.clone(),
            }),
            (_, Value::Int(_)) => Ok(()),
            (_, found) => Err(Misuse::Result { expected: "an integer", found: found.clone() }),
        }
    }
}

impl Elements for Counter {
    type Element = Value;

    fn calls(&self) -> Vec<Input> {
        vec![
            Input::Add(1),
            Input::Add(-1),
            Input::Get,
            Input::FetchAdd(1),
            Input::FetchAdd(-1),
            Input::AddAndGet(1),
            Input::AddAndGet(-1),
        ]
    }

    fn method_name(&self, input: &Input) -> String {
        let name = match input {
            Input::Add(1) => "inc",
            Input::Add(-1) => "dec",
            Input::Add(_) => "add",
            Input::Get => "get",
            Input::FetchAdd(1) => "fetch_inc",
            Input::FetchAdd(-1) => "fetch_dec",
            Input::FetchAdd(_) => "fetch_add",
            Input::AddAndGet(1) => "inc_and_get",
            Input::AddAndGet(-1) => "dec_and_get",
            Input::AddAndGet(_) => "add_and_get",
        };
        name.to_owned()
    }
}
