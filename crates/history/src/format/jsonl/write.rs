//! Writes a log as JSON Lines, in the one form that reading gives back unchanged.
//!
//! The header and the end are always written. A pending operation needs no line of its own, except where its thread
//! went on: there `unknown` stands before the next call.

use std::io::{self, Write};

use super::{HISTORY, VERSION};
use crate::{Call, End, Log, Operation, Symbol, ThreadId, Value};

/// Writes the log as version 1 of the project's own format. Linear in its events.
pub fn write_jsonl(log: &Log, out: &mut dyn Write) -> io::Result<()> {
    const CHUNK: usize = 64 << 10;
    let mut writer = Writer::new(log)?;
    writer.header()?;
    for mark in log.history.marks() {
        let operation = log.history.operation(mark.op());
        if mark.is_return() {
            writer.ret(operation)?;
        } else {
            writer.call(operation)?;
        }
        if writer.buffer.len() > CHUNK {
            out.write_all(&writer.buffer)?;
            writer.buffer.clear();
        }
    }
    writer.end()?;
    out.write_all(&writer.buffer)
}

struct Writer<'a> {
    log: &'a Log,
    buffer: Vec<u8>,
    /// The names and threads as JSON, so that each is escaped once.
    names: Vec<String>,
    threads: Vec<String>,
    /// Whether a thread has an open call.
    open: Vec<bool>,
}

impl<'a> Writer<'a> {
    fn new(log: &'a Log) -> io::Result<Self> {
        let names = log.names().iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        let threads = (0..log.threads())
            .map(|i| log.thread(ThreadId(i as u32)))
            .map(serde_json::to_string)
            .collect::<Result<_, _>>()?;
        Ok(Writer { log, buffer: Vec::new(), names, threads, open: vec![false; log.threads()] })
    }

    fn header(&mut self) -> io::Result<()> {
        write!(self.buffer, r#"{{"selvedge":"{HISTORY}","version":{VERSION}"#)?;
        if let Some(object) = &self.log.declared {
            self.buffer.write_all(br#","object":"#)?;
            serde_json::to_writer(&mut self.buffer, object)?;
        }
        if let Some(initial) = &self.log.initial {
            self.value(r#","initial":"#, initial)?;
        }
        self.buffer.write_all(b"}\n")
    }

    fn call(&mut self, operation: &Operation<Call, Value>) -> io::Result<()> {
        let thread = operation.thread.0 as usize;
        if std::mem::replace(&mut self.open[thread], true) {
            writeln!(self.buffer, r#"{{"unknown":true,"thread":{}}}"#, self.threads[thread])?;
        }
        let Call { object, method, key, argument } = &operation.input;
        write!(self.buffer, r#"{{"call":{},"thread":{}"#, self.names[method.0 as usize], self.threads[thread])?;
        if *object != Symbol::NONE {
            write!(self.buffer, r#","object":{}"#, self.names[object.0 as usize])?;
        }
        if !key.is_nil() {
            self.value(r#","key":"#, key)?;
        }
        if !argument.is_nil() {
            self.value(r#","value":"#, argument)?;
        }
        self.buffer.write_all(b"}\n")
    }

    fn ret(&mut self, operation: &Operation<Call, Value>) -> io::Result<()> {
        let thread = operation.thread.0 as usize;
        self.open[thread] = false;
        self.value(r#"{"return":"#, operation.output().unwrap_or(&Value::Nil))?;
        writeln!(self.buffer, r#","thread":{}}}"#, self.threads[thread])
    }

    fn end(&mut self) -> io::Result<()> {
        let name = match self.log.history.end() {
            End::Complete => "complete",
            End::Stuck => "stuck",
            End::Truncated => "truncated",
        };
        writeln!(self.buffer, r#"{{"end":"{name}"}}"#)
    }

    fn value(&mut self, before: &str, value: &Value) -> io::Result<()> {
        self.buffer.write_all(before.as_bytes())?;
        Ok(serde_json::to_writer(&mut self.buffer, value)?)
    }
}
