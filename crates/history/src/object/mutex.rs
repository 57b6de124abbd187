//! A lock that one may hold.
//!
//! It has no owner, as in Knossos: whoever releases a held lock frees it. Acquiring it while it is held blocks, and so does
//! releasing it while it is free.

use super::method::Method;
pub use super::permit::Input;
use super::{Misuse, Object, applied};
use crate::{Spec, Value};

/// A mutex, free at first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mutex;

const METHODS: &[Method] = &[
    Method::new("acquire", &["lock"]),
    Method::new("release", &["unlock"]),
    Method::new("try_acquire", &["try_lock"]),
];

impl Spec for Mutex {
    /// Whether it is held.
    type State = bool;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> bool {
        false
    }

    fn apply(&self, held: &bool, input: &Input, out: &mut Vec<(Value, bool)>) {
        applied(self, held, input, out);
    }

    fn step(&self, held: &bool, input: &Input, output: Option<&Value>, next: &mut Vec<bool>) {
        match input {
            Input::Acquire if !held => next.push(true),
            Input::Release if *held => next.push(false),
            Input::TryAcquire if output.is_none_or(|seen| *seen == Value::Bool(!held)) => next.push(true),
            _ => {}
        }
    }

    fn answers(&self, held: &bool, input: &Input, answers: &mut Vec<Value>) {
        match input {
            Input::Acquire if !held => answers.push(Value::Nil),
            Input::Release if *held => answers.push(Value::Nil),
            Input::TryAcquire => answers.push(Value::Bool(!held)),
            _ => {}
        }
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        input.is_pure(output)
    }

    fn is_commutative(&self) -> bool {
        true
    }
}

impl Object for Mutex {
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
