//! A number of permits, taken and given back.
//!
//! Invariant: a state is the number of permits left. Giving back more than were taken is allowed, as in most libraries.

use super::method::Method;
pub use super::permit::Input;
use super::{Misuse, Object, applied};
use crate::{Spec, Value};

/// A counting semaphore. It has one permit at first unless stated otherwise. Acquiring blocks while there is none.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    permits: u64,
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

    fn apply(&self, permits: &u64, input: &Input, out: &mut Vec<(Value, u64)>) {
        applied(self, permits, input, out);
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

    fn answers(&self, permits: &u64, input: &Input, answers: &mut Vec<Value>) {
        match input {
            Input::Acquire => answers.extend(permits.checked_sub(1).map(|_| Value::Nil)),
            Input::Release => answers.extend(permits.checked_add(1).map(|_| Value::Nil)),
            Input::TryAcquire => answers.push(Value::Bool(*permits > 0)),
        }
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        input.is_pure(output)
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
        Input::read(METHODS, method, argument)
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        input.admits(output)
    }
}
