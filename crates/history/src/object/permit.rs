//! The calls of objects that hand out permits: a [mutex](super::mutex) has one, a [semaphore](super::semaphore) a number.
//!
//! Invariant: what a call means and what it may answer is said here once; how many permits there are is the object's own.

use super::Misuse;
use super::method::{self, Method};
use crate::Value;

/// A call of a mutex or of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Takes a permit once there is one.
    Acquire,
    /// Takes a permit if there is one, and answers whether it did.
    TryAcquire,
    /// Gives a permit back.
    Release,
}

impl Input {
    /// The call of that method, by any name that `methods` have for it.
    pub(super) fn read(methods: &'static [Method], method: &str, argument: &Value) -> Result<Input, Misuse> {
        let input = match method::find(methods, method)? {
            "acquire" => Input::Acquire,
            "release" => Input::Release,
            _ => Input::TryAcquire,
        };
        method::nothing(argument, input)
    }

    /// Whether the call may answer that at all.
    pub(super) fn admits(self, output: &Value) -> Result<(), Misuse> {
        match self {
            Input::Acquire | Input::Release => method::acknowledged(output),
            Input::TryAcquire => method::truth(output),
        }
    }

    /// Whether the call, with that answer, took nothing and gave nothing back.
    pub(super) fn is_pure(self, output: &Value) -> bool {
        self == Input::TryAcquire && *output == Value::Bool(false)
    }
}
