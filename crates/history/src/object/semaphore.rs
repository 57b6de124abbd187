//! A number of permits, taken and given back.
//!
//! Invariant: a state is the number of permits left. Giving back more than were taken is allowed, as in most libraries.

use super::method::{self, Method};
use super::{Misuse, Object};
use crate::{Spec, Value};

/// A counting semaphore. It has one permit at first unless stated otherwise. Acquiring blocks while there is none.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    permits: u64,
}

/// A call of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Takes a permit once there is one.
    Acquire,
    /// Takes a permit if there is one, and answers whether it did.
    TryAcquire,
    /// Gives a permit back.
    Release,
}

const METHODS: &[Method] = &[
    Method::new("acquire", &["wait", "down", "p"]),
    Method::new("release", &["signal", "post", "up", "v"]),
    Method::new("try_acquire", &["try_wait", "try_down"]),
];

impl Semaphore {
    /// A semaphore with that many permits.
    pub const fn new(permits: u64) -> Self {
        Semaphore { permits }
    }
}

impl Default for Semaphore {
    fn default() -> Self {
        Semaphore::new(1)
    }
}

impl Spec for Semaphore {
    type State = u64;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> u64 {
        self.permits
    }

    fn step(&self, permits: &u64, input: &Input, output: Option<&Value>, next: &mut Vec<u64>) {
        match input {
            Input::Acquire => next.extend(permits.checked_sub(1)),
            Input::Release => next.extend(permits.checked_add(1)),
            Input::TryAcquire => {
                if output.is_none_or(|seen| *seen == Value::Bool(*permits > 0)) {
                    next.push(permits.saturating_sub(1));
                }
            }
        }
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        matches!(input, Input::TryAcquire) && *output == Value::Bool(false)
    }

    fn is_commutative(&self) -> bool {
        true
    }
}

impl Object for Semaphore {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        let input = match method::find(METHODS, method)? {
            "acquire" => Input::Acquire,
            "release" => Input::Release,
            _ => Input::TryAcquire,
        };
        method::nothing(argument, input)
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Acquire | Input::Release => method::acknowledged(output),
            Input::TryAcquire => method::truth(output),
        }
    }

    fn answers(&self, permits: &u64, input: &Input, answers: &mut Vec<Value>) {
        match input {
            Input::Acquire => answers.extend(permits.checked_sub(1).map(|_| Value::Nil)),
            Input::Release => answers.extend(permits.checked_add(1).map(|_| Value::Nil)),
            Input::TryAcquire => answers.push(Value::Bool(*permits > 0)),
        }
    }
}
