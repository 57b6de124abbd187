//! Histories made up: linearizable by construction, or with one violation that is certain.
//!
//! Clients call one atomic object. Each operation has three moments, drawn at random: its call, the moment at which it
//! takes effect, and its return; its result is what the object answers at the second. So the order of the second
//! moments is a linearization, and nothing needs to be checked. A violation is a few operations one after the other, while
//! nobody else is active, with results that no order explains.
//!
//! Invariant: what is generated depends on the settings alone and never changes from one version to the next. Events
//! come out as they happen and none is kept, so memory does not grow with the number of operations.

use std::fmt;
use std::io::{self, Write};

use crate::object::Kind;
use crate::{Call, Log, LogError, LogRecorder, Outcome, Value};

mod calls;
mod clients;
mod random;
mod violation;

pub use random::Random;

use clients::Clients;

/// What to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The object. Values put into a collection, a set or a register are all different.
    pub object: Kind,
    /// How many operations; all of them return.
    pub operations: u64,
    /// How many clients call at the same time.
    pub processes: u32,
    /// The same settings give the same history.
    pub seed: u64,
    /// Whether the history is not linearizable, by a violation after nine tenths of the operations.
    pub violation: bool,
}

/// Why there is no such history.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Nobody to call anything.
    NoProcesses,
    /// More operations than a history can hold; how many it can.
    TooManyOperations(u64),
    /// Too few operations for a violation.
    TooFewOperations {
        /// The object.
        object: Kind,
        /// How many it takes.
        needed: u64,
    },
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::NoProcesses => f.write_str("there must be at least one process"),
            Invalid::TooManyOperations(most) => write!(f, "a history has at most {most} operations"),
            Invalid::TooFewOperations { object, needed } => {
                write!(f, "a violation of a {object} takes at least {needed} operations")
            }
        }
    }
}

impl std::error::Error for Invalid {}

impl Settings {
    /// Checks that there is such a history.
    pub fn check(&self) -> Result<(), Invalid> {
        const MOST: u64 = (u32::MAX >> 1) as u64;
        let needed = violation::length(self.object);
        if self.processes == 0 {
            Err(Invalid::NoProcesses)
        } else if self.operations > MOST {
            Err(Invalid::TooManyOperations(MOST))
        } else if self.violation && self.operations < needed {
            Err(Invalid::TooFewOperations { object: self.object, needed })
        } else {
            Ok(())
        }
    }
}

/// One event, as it happens.
enum Event<'a> {
    Call { process: u32, request: &'a Request },
    Return { process: u32, result: &'a Value },
}

/// What a client asks for.
#[derive(Clone, Debug)]
struct Request {
    method: &'static str,
    key: Value,
    argument: Value,
}

/// Writes the history in the project's own format, JSON Lines. Settings for which there is no history are an error of the
/// kind [`io::ErrorKind::InvalidInput`]. Linear in the number of operations.
pub fn write(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    const CHUNK: usize = 64 << 10;
    settings.check().map_err(|invalid| io::Error::new(io::ErrorKind::InvalidInput, invalid))?;
    let mut lines: Vec<u8> = Vec::with_capacity(CHUNK + 1024);
    write!(lines, r#"{{"selvedge":"history","version":1,"object":"{}""#, settings.object)?;
    if let Some(initial) = calls::initial(settings.object) {
        lines.extend_from_slice(br#","initial":"#);
        write_value(&mut lines, &initial)?;
    }
    lines.extend_from_slice(b"}\n");
    Clients::new(settings).run(&mut |event| {
        write_event(&mut lines, &event)?;
        if lines.len() >= CHUNK {
            out.write_all(&lines)?;
            lines.clear();
        }
        Ok::<(), io::Error>(())
    })?;
    out.write_all(&lines)
}

fn write_event(lines: &mut Vec<u8>, event: &Event<'_>) -> io::Result<()> {
    match event {
        Event::Call { process, request: Request { method, key, argument } } => {
            write!(lines, r#"{{"call":"{method}","thread":{process}"#)?;
            if !key.is_nil() {
                lines.extend_from_slice(br#","key":"#);
                write_value(lines, key)?;
            }
            if !argument.is_nil() {
                lines.extend_from_slice(br#","value":"#);
                write_value(lines, argument)?;
            }
            lines.extend_from_slice(b"}\n");
        }
        Event::Return { process, result } => {
            lines.extend_from_slice(br#"{"return":"#);
            write_value(lines, result)?;
            writeln!(lines, r#","thread":{process}}}"#)?;
        }
    }
    Ok(())
}

fn write_value(lines: &mut Vec<u8>, value: &Value) -> io::Result<()> {
    match value {
        Value::Nil => lines.extend_from_slice(b"null"),
        Value::Int(int) => write!(lines, "{int}")?,
        value => serde_json::to_writer(lines, value)?,
    }
    Ok(())
}

/// The history itself, without writing and reading it. The line of an event is the one that it would have in a file.
pub fn log(settings: &Settings) -> Result<Log, Invalid> {
    settings.check()?;
    let mut recorder = LogRecorder::new();
    recorder.declared = Some(settings.object.name().to_owned());
    recorder.initial = calls::initial(settings.object);
    let mut line = 1;
    let recorded = Clients::new(settings).run(&mut |event| {
        line += 1;
        match event {
            Event::Call { process, request: Request { method, key, argument } } => {
                let (object, method) = (crate::Symbol::NONE, recorder.symbol(method));
                let call = Call { object, method, key: key.clone(), argument: argument.clone() };
                recorder.call(line, &Value::Int(process.into()), call)?;
            }
            Event::Return { process, result } => {
                let outcome = Outcome::Return(result.clone());
                recorder.outcome(line, &Value::Int(process.into()), None, outcome)?;
            }
        }
        Ok::<(), LogError>(())
    });
    Ok(recorded.and_then(|()| recorder.finish(None)).expect("clients call and return in turn"))
}

#[cfg(test)]
mod tests;
