//! The value of highest priority comes out first.
//!
//! Invariant: a state is sorted with the next value to come out at its end, so equal contents are equal states. Equal
//! priorities are equal values, and which of them comes out makes no difference.

use std::cmp::Ordering;

use super::method::{self, Method};
use super::{Misuse, Object, applied, shown, taken};
use crate::{Elements, Spec, Traffic, Value};

/// Which value comes out first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The largest.
    #[default]
    LargestFirst,
    /// The smallest.
    SmallestFirst,
}

/// An unbounded priority queue of integers or texts. Removing from an empty one answers nil.
///
/// Integers compare as numbers and texts by their bytes. A log that mixes them has every text above every integer.
#[derive(Clone, Copy, Debug, Default)]
pub struct PriorityQueue {
    /// Which value comes out first.
    pub direction: Direction,
}

/// A call of a priority queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Puts a value in.
    Insert(Value),
    /// Takes out the value of highest priority.
    Poll,
    /// Looks at the value of highest priority.
    Peek,
}

const INSERT: Method = Method::new("insert", &["add", "push", "offer", "put", "enq", "enqueue", "send"]);

const LARGEST_FIRST: &[Method] = &[
    INSERT,
    Method::new(
        "poll",
        &[
            "pop",
            "remove",
            "take",
            "deq",
            "dequeue",
            "delete",
            "extract",
            "delete_max",
            "extract_max",
            "remove_max",
            "poll_max",
            "pop_max",
        ],
    ),
    Method::new("peek", &["top", "front", "max", "find_max", "get_max", "peek_max"]),
];

const SMALLEST_FIRST: &[Method] = &[
    INSERT,
    Method::new(
        "poll",
        &[
            "pop",
            "remove",
            "take",
            "deq",
            "dequeue",
            "delete",
            "extract",
            "delete_min",
            "extract_min",
            "remove_min",
            "poll_min",
            "pop_min",
        ],
    ),
    Method::new("peek", &["top", "front", "min", "find_min", "get_min", "peek_min"]),
];

impl PriorityQueue {
    /// A priority queue that gives out the largest value first.
    pub const fn largest_first() -> Self {
        PriorityQueue { direction: Direction::LargestFirst }
    }

    /// A priority queue that gives out the smallest value first.
    pub const fn smallest_first() -> Self {
        PriorityQueue { direction: Direction::SmallestFirst }
    }

    /// `Greater` when `a` comes out before `b`.
    pub fn rank(&self, a: &Value, b: &Value) -> Ordering {
        match self.direction {
            Direction::LargestFirst => a.cmp(b),
            Direction::SmallestFirst => b.cmp(a),
        }
    }
}

impl Spec for PriorityQueue {
    /// From the last to come out to the first.
    type State = Vec<Value>;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> Self::State {
        Vec::new()
    }

    fn apply(&self, state: &Self::State, input: &Input, out: &mut Vec<(Value, Self::State)>) {
        applied(self, state, input, out);
    }

    fn step(&self, state: &Self::State, input: &Input, output: Option<&Value>, next: &mut Vec<Self::State>) {
        let fits = || output.is_none_or(|seen| *seen == *state.last().unwrap_or(&Value::Nil));
        match input {
            Input::Insert(value) => {
                let place = state.partition_point(|other| self.rank(other, value).is_lt());
                let mut after = Vec::with_capacity(state.len() + 1);
                after.extend_from_slice(&state[..place]);
                after.push(value.clone());
                after.extend_from_slice(&state[place..]);
                next.push(after);
            }
            Input::Poll if fits() => next.push(state[..state.len().saturating_sub(1)].to_vec()),
            Input::Peek if fits() => next.push(state.clone()),
            Input::Poll | Input::Peek => {}
        }
    }

    fn answers(&self, state: &Self::State, input: &Input, answers: &mut Vec<Value>) {
        answers.push(match input {
            Input::Insert(_) => Value::Nil,
            Input::Poll | Input::Peek => state.last().cloned().unwrap_or_default(),
        });
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        match input {
            Input::Insert(_) => false,
            Input::Poll => output.is_nil(),
            Input::Peek => true,
        }
    }
}

impl Object for PriorityQueue {
    fn methods(&self) -> &'static [Method] {
        match self.direction {
            Direction::LargestFirst => LARGEST_FIRST,
            Direction::SmallestFirst => SMALLEST_FIRST,
        }
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(self.methods(), method)? {
            "insert" => match argument {
                Value::Int(_) | Value::Text(_) => Ok(Input::Insert(argument.clone())),
                found => Err(Misuse::Argument { expected: "an integer or a text", found: found.clone() }),
            },
            "poll" => method::nothing(argument, Input::Poll),
            _ => method::nothing(argument, Input::Peek),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match (input, output) {
            (Input::Insert(_), _) => method::acknowledged(output),
            (Input::Poll | Input::Peek, Value::Nil | Value::Int(_) | Value::Text(_)) => Ok(()),
            (Input::Poll | Input::Peek, found) => {
                Err(Misuse::Result { expected: "an integer, a text or nothing", found: found.clone() })
            }
        }
    }
}

impl Elements for PriorityQueue {
    type Element = Value;

    fn traffic<'a>(&'a self, input: &'a Input, output: Option<&'a Value>) -> Traffic<&'a Value> {
        match input {
            Input::Insert(value) => Traffic::In(value),
            Input::Poll => taken(output),
            Input::Peek => shown(output),
        }
    }

    fn calls(&self) -> Vec<Input> {
        vec![Input::Poll, Input::Peek]
    }

    fn insertion(&self, element: &Value) -> Option<Input> {
        let fits = matches!(element, Value::Int(_) | Value::Text(_));
        fits.then(|| Input::Insert(element.clone()))
    }

    fn ahead(&self, state: &Self::State, element: &Value) -> usize {
        state.iter().rev().position(|other| other == element).unwrap_or(0)
    }

    fn method_name(&self, input: &Input) -> String {
        let name = match input {
            Input::Insert(_) => "insert",
            Input::Poll => "poll",
            Input::Peek => "peek",
        };
        name.to_owned()
    }
}
