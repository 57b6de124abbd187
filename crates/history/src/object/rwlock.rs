//! A lock that many may hold for reading or one for writing.
//!
//! It has no owners. Acquiring blocks while a holder is in the way, and a release with nothing to release blocks. A `try_`
//! answers false exactly when the plain call would block.

use super::method::{self, Method};
use super::{Misuse, Object, applied};
use crate::{Spec, Value};

/// A readers-writer lock, free at first.
#[derive(Clone, Copy, Debug, Default)]
pub struct RwLock;

/// Who holds a readers-writer lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Holders {
    /// Nobody.
    #[default]
    Nobody,
    /// That many readers, at least one.
    Readers(u32),
    /// One writer.
    Writer,
}

/// A call of a readers-writer lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Takes it for reading.
    ReadAcquire,
    /// Takes it for reading if no writer holds it, and answers whether it did.
    TryReadAcquire,
    /// A reader lets go.
    ReadRelease,
    /// Takes it for writing.
    WriteAcquire,
    /// Takes it for writing if nobody holds it, and answers whether it did.
    TryWriteAcquire,
    /// The writer lets go.
    WriteRelease,
}

const METHODS: &[Method] = &[
    Method::new("read_acquire", &["read_lock", "acquire_read", "lock_read", "lock_shared", "rdlock"]),
    Method::new("read_release", &["read_unlock", "release_read", "unlock_read", "unlock_shared"]),
    Method::new("write_acquire", &["write_lock", "acquire_write", "lock_write", "lock_exclusive", "wrlock"]),
    Method::new("write_release", &["write_unlock", "release_write", "unlock_write", "unlock_exclusive"]),
    Method::new("try_read_acquire", &["try_read_lock", "try_acquire_read", "try_lock_shared", "try_read"]),
    Method::new("try_write_acquire", &["try_write_lock", "try_acquire_write", "try_lock_exclusive", "try_write"]),
];

/// The holders after the call went through, `None` when it cannot.
fn granted(holders: Holders, input: Input) -> Option<Holders> {
    match (input, holders) {
        (Input::ReadAcquire | Input::TryReadAcquire, Holders::Nobody) => Some(Holders::Readers(1)),
        (Input::ReadAcquire | Input::TryReadAcquire, Holders::Readers(n)) => n.checked_add(1).map(Holders::Readers),
        (Input::ReadRelease, Holders::Readers(1)) => Some(Holders::Nobody),
        (Input::ReadRelease, Holders::Readers(n)) => Some(Holders::Readers(n - 1)),
        (Input::WriteAcquire | Input::TryWriteAcquire, Holders::Nobody) => Some(Holders::Writer),
        (Input::WriteRelease, Holders::Writer) => Some(Holders::Nobody),
        _ => None,
    }
}

fn is_try(input: Input) -> bool {
    matches!(input, Input::TryReadAcquire | Input::TryWriteAcquire)
}

impl Spec for RwLock {
    type State = Holders;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> Holders {
        Holders::Nobody
    }

    fn apply(&self, holders: &Holders, input: &Input, out: &mut Vec<(Value, Holders)>) {
        applied(self, holders, input, out);
    }

    fn step(&self, holders: &Holders, input: &Input, output: Option<&Value>, next: &mut Vec<Holders>) {
        let after = granted(*holders, *input);
        if !is_try(*input) {
            next.extend(after);
        } else if output.is_none_or(|seen| *seen == Value::Bool(after.is_some())) {
            next.push(after.unwrap_or(*holders));
        }
    }

    fn answers(&self, holders: &Holders, input: &Input, answers: &mut Vec<Value>) {
        let after = granted(*holders, *input);
        if is_try(*input) {
            answers.push(Value::Bool(after.is_some()));
        } else {
            answers.extend(after.map(|_| Value::Nil));
        }
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        is_try(*input) && *output == Value::Bool(false)
    }

    fn is_commutative(&self) -> bool {
        true
    }
}

impl Object for RwLock {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        let input = match method::find(METHODS, method)? {
            "read_acquire" => Input::ReadAcquire,
            "read_release" => Input::ReadRelease,
            "write_acquire" => Input::WriteAcquire,
            "write_release" => Input::WriteRelease,
            "try_read_acquire" => Input::TryReadAcquire,
            _ => Input::TryWriteAcquire,
        };
        method::nothing(argument, input)
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        if is_try(*input) { method::truth(output) } else { method::acknowledged(output) }
    }
}
