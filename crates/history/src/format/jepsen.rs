//! What the operations of Jepsen mean, whichever way they are written.
//!
//! `:invoke` calls, `:ok` returns, `:fail` says that the operation did not happen, `:info` that nobody knows. An `:ok`
//! repeats the argument of a call that has no result of its own (`:write 3` ... `:ok :write 3`): such an echo is no
//! result. A transaction (`:txn`) fills the reads into its argument, so what it returns is always the result.
//!
//! Two habits are seen only when the whole history has been read ([`settle`]): values that are pairs of a key and a value
//! (`jepsen.independent`), and reads whose result stands in their `:invoke` already (histories that Knossos has completed).

use super::Reason;
use super::lines::Fault;
use crate::{Call, Log, LogRecorder, OpId, Outcome, Symbol, Value};

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
        // The result of a read may be an echo, too, which is found out in the end.
        (Outcome::Return(value), Some(call)) if !matches!(event.f, "txn" | READ) && value == call.argument => {
            Outcome::Return(Value::Nil)
        }
        (outcome, _) => outcome,
    };
    recorder.outcome(line, &thread, Some(event.f), outcome)?;
    Ok(())
}

/// The method whose results Knossos fills into the call.
const READ: &str = "read";

/// What the values of a history mean, now that all of them are known.
pub(super) fn settle(log: &mut Log) {
    if is_independent(log) {
        rewrite(log, |call, output| {
            let (key, argument) = pair(&call.argument).expect("a pair");
            let result = output.map(|output| pair(output).map_or(Value::Nil, |(_, result)| result.clone()));
            (Call { key: key.clone(), argument: argument.clone(), ..call.clone() }, result)
        });
    }
    let read = |call: &Call| log.name(call.method) == READ && !call.argument.is_nil();
    let results = log.history.operations().iter().filter(|operation| read(&operation.input));
    let mut results = results.filter_map(|operation| Some(*operation.output()? == operation.input.argument)).peekable();
    if results.peek().is_none() {
        return;
    }
    let completed = results.all(|echo| echo);
    let method = log.names().iter().position(|name| name == READ).map(|at| Symbol(at as u32));
    rewrite(log, |call, output| {
        if Some(call.method) != method || call.argument.is_nil() {
            return (call.clone(), output.cloned());
        }
        if completed {
            return (Call { argument: Value::Nil, ..call.clone() }, output.cloned());
        }
        let echo = output.map(|output| if *output == call.argument { Value::Nil } else { output.clone() });
        (call.clone(), echo)
    });
}

/// The two items of a list of two.
fn pair(value: &Value) -> Option<(&Value, &Value)> {
    match value.as_list()? {
        [key, value] => Some((key, value)),
        _ => None,
    }
}

/// Whether every value is a pair whose first item is the same in a call and its return, and some return fills in the second.
fn is_independent(log: &Log) -> bool {
    let mut filled = false;
    let all = log.history.operations().iter().all(|operation| {
        let call = &operation.input;
        let Some((key, argument)) = pair(&call.argument) else { return false };
        let fits = call.key.is_nil() && log.name(call.method) != "txn" && key.as_list().is_none();
        fits && operation.output().is_none_or(|output| match pair(output) {
            Some((same, result)) => {
                filled |= argument.is_nil() && !result.is_nil();
                same == key
            }
            // What only repeats its argument has no result.
            None => output.is_nil(),
        })
    });
    all && filled
}

fn rewrite(log: &mut Log, mut change: impl FnMut(&Call, Option<&Value>) -> (Call, Option<Value>)) {
    let all: Vec<OpId> = (0..log.history.len() as u32).map(OpId).collect();
    let end = log.history.end();
    log.history = log.history.project(&all, end, |_, operation| change(&operation.input, operation.output()));
}
