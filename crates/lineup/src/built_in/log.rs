//! A history of phase 2 as a log that the checkers read.
//!
//! Invariant: the log has the precedence that was recorded, and no more. An operation whose result was not looked at may have done anything
//! that its call may do, or nothing; one with a result that was declared to come without effect is left out where it can have had none.

use selvedge_history::object::{Kind, Object, ObjectVisitor};
use selvedge_history::{Call, End, Log, LogRecorder, OpId, Outcome, Value};

use crate::calls::{CallId, IGNORED, PANICKED};
use crate::criterion::Case;
use crate::quasi::{Happened, events};
use crate::recorded::Ending;
use crate::results::ResultId;
use crate::values;

/// The place of an operation: its column, and how many come before it there.
type At = (usize, usize);

/// A history as a log.
pub struct Logged {
    pub log: Log,
    /// By operation of the log: where it stands.
    order: Vec<At>,
}

impl Logged {
    pub fn at(&self, operation: OpId) -> At {
        self.order.get(operation.0 as usize).copied().unwrap_or((0, 0))
    }
}

/// Why there is no log.
pub enum Unlogged {
    /// A result that the object does not have, in words.
    Wrong(String),
    /// A call that panicked, which no call of a built-in object does.
    Panicked(At),
}

/// What is known of how an operation ended.
enum Ended {
    Returned(Value),
    /// It may have taken effect or not.
    Anyhow,
    /// It had no effect.
    LeftOut,
}

/// The argument of a call, as the object has it.
pub fn argument(kind: Kind, name: &str) -> Value {
    kind.argument(&recorded(name, &mut LogRecorder::new()))
}

fn recorded(name: &str, recorder: &mut LogRecorder) -> Call {
    let (method, argument) = values::call(name);
    Call { object: recorder.symbol(""), method: recorder.symbol(method), key: Value::Nil, argument }
}

/// Writes the history down.
pub fn logged(case: &Case<'_>, kind: Kind, initial: Option<&Value>) -> Result<Logged, Unlogged> {
    let (order, events) = events(case.history);
    let reader = Reader { case, kind, events: &events };
    let read = kind.with_object(initial, reader).map_err(|misuse| Unlogged::Wrong(misuse.to_string()))?;
    let ends: std::collections::HashMap<At, Ended> = read?.into_iter().collect();
    let left_out = |at: &At| matches!(ends.get(at), Some(Ended::LeftOut));
    let order: Vec<At> = order.into_iter().filter(|at| !left_out(at)).collect();
    let mut recorder = LogRecorder::new();
    let mut unknown = false;
    let wrong = |error: selvedge_history::LogError| Unlogged::Wrong(error.to_string());
    for (line, event) in (1..).zip(&events) {
        let (Happened::Called(at) | Happened::Returned(at, _)) = *event;
        // Each operation as a thread of its own: what a thread does in turn is in the order of events already.
        let Some(thread) = order.iter().position(|other| *other == at) else { continue };
        let thread = Value::Int(thread as i64);
        if let Happened::Called(_) = event {
            let call = recorded(case.calls.name(call(case, at)), &mut recorder);
            recorder.call(line, &thread, call).map_err(wrong)?;
            continue;
        }
        let outcome = match &ends[&at] {
            Ended::Returned(value) => Outcome::Return(value.clone()),
            Ended::Anyhow | Ended::LeftOut => Outcome::Unknown,
        };
        unknown |= outcome == Outcome::Unknown;
        recorder.outcome(line, &thread, None, outcome).map_err(wrong)?;
    }
    // Where nobody knows what became of some operation, nobody knows whether another has to wait.
    let stuck = case.history.ending == Ending::Stuck && !unknown;
    let log = recorder.finish(stuck.then_some(End::Stuck)).map_err(wrong)?;
    Ok(Logged { log, order })
}

fn call(case: &Case<'_>, (column, place): At) -> CallId {
    case.matrix.column(column).nth(place).unwrap_or(CallId(0))
}

/// Reads the results of a history as those of an object.
struct Reader<'a> {
    case: &'a Case<'a>,
    kind: Kind,
    events: &'a [Happened],
}

impl ObjectVisitor for Reader<'_> {
    type Answer = Result<Vec<(At, Ended)>, Unlogged>;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> Self::Answer {
        let returned = self.events.iter().filter_map(|event| match event {
            Happened::Called(_) => None,
            Happened::Returned(at, result) => Some((*at, *result)),
        });
        returned.map(|(at, result)| Ok((at, self.ended(&object, at, result)?))).collect()
    }
}

impl Reader<'_> {
    fn ended<O: Object>(&self, object: &O, at: At, result: ResultId) -> Result<Ended, Unlogged> {
        let (calls, text) = (self.case.calls, self.case.results.text(result));
        let call = call(self.case, at);
        let name = calls.name(call);
        if text.starts_with(PANICKED) {
            return Err(Unlogged::Panicked(at));
        }
        if text == IGNORED {
            return Ok(Ended::Anyhow);
        }
        let input = values::input(object, name, &argument(self.kind, name)).map_err(Unlogged::Wrong)?;
        let read = values::output(object, name, &input, text);
        if calls.declared_for(call).any(|declared| declared == text) {
            // A call that finds nothing has no effect, whether it looked or not.
            let nothing = matches!(read, Ok(Value::Nil)) && object.admits(&input, &Value::Int(i64::MIN)).is_ok();
            return Ok(if nothing || matches!(read, Ok(Value::Bool(false))) { Ended::LeftOut } else { Ended::Anyhow });
        }
        read.map(Ended::Returned).map_err(Unlogged::Wrong)
    }
}
