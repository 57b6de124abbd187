//! What the operations of Jepsen mean, whichever way they are written.
//!
//! `:invoke` calls, `:ok` returns, `:fail` says that the operation did not happen, `:info` that nobody knows. An `:ok`
//! repeats the argument of a call that has no result of its own (`:write 3` ... `:ok :write 3`): such an echo is no
//! result. A transaction (`:txn`) fills the reads into its argument, so what it returns is always the result.

use super::Reason;
use super::lines::Fault;
use crate::{Call, LogRecorder, Outcome, Symbol, Value};

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
}

impl Kind {
    /// The kind of that name, without the colon.
    pub fn from_name(name: &str) -> Option<Kind> {
        Some(match name {
            "invoke" => Kind::Invoke,
            "ok" => Kind::Ok,
            "fail" => Kind::Fail,
            "info" => Kind::Info,
            _ => return None,
        })
    }

    /// Whether the value of such an event is read at all.
    pub fn has_value(self) -> bool {
        matches!(self, Kind::Invoke | Kind::Ok)
    }
}

/// One event.
#[derive(Debug)]
pub(super) struct Event<'a> {
    pub process: i64,
    pub kind: Kind,
    /// The method.
    pub f: &'a str,
    pub key: Option<Value>,
    pub value: Value,
}

/// Records an event that stands in the line given.
pub(super) fn record(recorder: &mut LogRecorder, line: u32, event: Event<'_>) -> Result<(), Fault> {
    let thread = Value::Int(event.process);
    let outcome = match event.kind {
        Kind::Invoke => {
            let method = recorder.symbol(event.f);
            let key = event.key.unwrap_or_default();
            recorder.call(line, &thread, Call { object: Symbol::NONE, method, key, argument: event.value })?;
            return Ok(());
        }
        Kind::Fail => Outcome::Fail,
        Kind::Info => Outcome::Unknown,
        Kind::Ok => Outcome::Return(event.value),
    };
    let open = recorder.open(&thread);
    if let (Some(call), Some(completed)) = (open, event.key)
        && call.key != completed
    {
        return Err(Reason::OtherKey { called: call.key.clone(), completed }.into());
    }
    let outcome = match (outcome, open) {
        (Outcome::Return(value), Some(call)) if event.f != "txn" && value == call.argument => {
            Outcome::Return(Value::Nil)
        }
        (outcome, _) => outcome,
    };
    recorder.outcome(line, &thread, Some(event.f), outcome)?;
    Ok(())
}
