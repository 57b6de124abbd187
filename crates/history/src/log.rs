//! A recorded history as it comes out of a file: calls by name, values untyped, with the lines they came from.
//!
//! Every importer fills a [`LogRecorder`]; what an operation means is decided later, when an object reads it.

use std::fmt;

use hashbrown::HashMap;

use crate::history::{Interval, Recorder, Touching};
use crate::{End, History, IllFormed, OpId, ThreadId, Value};

/// A name that occurs in a log, such as a method or an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

impl Symbol {
    /// The empty name: the object of a log that names none.
    pub const NONE: Symbol = Symbol(0);
}

/// A call as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The object called, [`Symbol::NONE`] where the log has only one.
    pub object: Symbol,
    /// The method called.
    pub method: Symbol,
    /// The key of a map or of one of several independent registers, else nil.
    pub key: Value,
    /// The argument; a list where there are several.
    pub argument: Value,
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It returned.
    Return(Value),
    /// It did not happen.
    Fail,
    /// Nobody knows: it timed out, or its process crashed.
    Unknown,
}

/// A history with the names and lines of the file it came from.
#[derive(Clone, Debug)]
pub struct Log {
    /// Calls and returns.
    pub history: History<Call, Value>,
    /// The object that the file itself says it is about.
    pub declared: Option<String>,
    /// The initial value that the file itself states.
    pub initial: Option<Value>,
    symbols: Vec<String>,
    threads: Vec<Value>,
    lines: Vec<Lines>,
    failed: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    call: u32,
    ret: u32,
}

impl Log {
    /// The name behind a symbol.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol.0 as usize]
    }

    /// Every name that occurs, by symbol number.
    pub fn names(&self) -> &[String] {
        &self.symbols
    }

    /// What the file calls a thread.
    pub fn thread(&self, thread: ThreadId) -> &Value {
        &self.threads[thread.0 as usize]
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How many operations of the file failed. They did not happen, so the history has nothing of them.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// The line of the call, counted from 1.
    pub fn call_line(&self, op: OpId) -> u32 {
        self.lines[op.0 as usize].call
    }

    /// The line of the return, 0 while pending.
    pub fn return_line(&self, op: OpId) -> u32 {
        self.lines[op.0 as usize].ret
    }
}

/// What is wrong with a line of a log.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogError {
    /// Two calls open on one thread; the line of the first.
    CallWhileOpen {
        /// The thread, as the file calls it.
        thread: Value,
        /// The line of the call that is still open.
        line: u32,
    },
    /// A return on a thread without an open call.
    ReturnWithoutCall {
        /// The thread, as the file calls it.
        thread: Value,
    },
    /// A return names another method than the call.
    OtherMethod {
        /// The method called.
        called: String,
        /// The method that the return names.
        returned: String,
    },
    /// The history is said to be complete, but the call in this line never returned.
    NeverReturned {
        /// The line of the call.
        line: u32,
    },
    /// The history as a whole is not well-formed.
    History(IllFormed),
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::CallWhileOpen { thread, line } => {
                write!(f, "thread {thread} calls again although its call in line {line} has not returned")
            }
            LogError::ReturnWithoutCall { thread } => {
                write!(f, "thread {thread} returns without having called")
            }
            LogError::OtherMethod { called, returned } => {
                write!(f, "a return of `{returned}` for a call of `{called}`")
            }
            LogError::NeverReturned { line } => {
                write!(f, "the history is said to be complete, but the call in line {line} never returned")
            }
            LogError::History(ill_formed) => ill_formed.fmt(f),
        }
    }
}

impl std::error::Error for LogError {}

/// Builds a [`Log`] line by line.
#[derive(Debug, Default)]
pub struct LogRecorder {
    recorder: Recorder<Call, Value>,
    intervals: Vec<Interval<Call, Value>>,
    lines: Vec<Lines>,
    names: Names,
    /// The object that the file says it is about.
    pub declared: Option<String>,
    /// The initial value that the file states.
    pub initial: Option<Value>,
    /// Whether intervals that touch overlap.
    pub touching: Touching,
}

#[derive(Debug)]
struct Names {
    symbols: Vec<String>,
    by_name: HashMap<String, Symbol, foldhash::fast::RandomState>,
    threads: Vec<Value>,
    by_thread: HashMap<Value, ThreadId, foldhash::fast::RandomState>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names {
            symbols: Vec::new(),
            by_name: HashMap::default(),
            threads: Vec::new(),
            by_thread: HashMap::default(),
        };
        names.symbol("");
        names
    }
}

impl Names {
    fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.by_name.get(name) {
            return symbol;
        }
        let symbol = Symbol(self.symbols.len() as u32);
        self.symbols.push(name.to_owned());
        self.by_name.insert(name.to_owned(), symbol);
        symbol
    }

    fn thread(&mut self, thread: &Value) -> ThreadId {
        if let Some(&id) = self.by_thread.get(thread) {
            return id;
        }
        let id = ThreadId(self.threads.len() as u32);
        self.threads.push(thread.clone());
        self.by_thread.insert(thread.clone(), id);
        id
    }
}

impl LogRecorder {
    /// A recorder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The symbol of a name.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        self.names.symbol(name)
    }

    /// How many operations were called so far.
    pub fn len(&self) -> usize {
        self.recorder.len() + self.intervals.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Records a call that stands in the given line.
    pub fn call(&mut self, line: u32, thread: &Value, call: Call) -> Result<OpId, LogError> {
        let id = self.names.thread(thread);
        let op = self.recorder.call(id, call).map_err(|error| self.explain(error))?;
        self.lines.push(Lines { call: line, ret: 0 });
        Ok(op)
    }

    /// The call that is open on a thread.
    pub fn open(&mut self, thread: &Value) -> Option<&Call> {
        let id = self.names.thread(thread);
        let op = self.recorder.open(id)?;
        Some(&self.recorder.operation(op).input)
    }

    /// Records the end of the operation that is open on the thread. `method` is checked against the call where given.
    pub fn outcome(
        &mut self,
        line: u32,
        thread: &Value,
        method: Option<&str>,
        outcome: Outcome,
    ) -> Result<OpId, LogError> {
        let id = self.names.thread(thread);
        if let (Some(returned), Some(op)) = (method, self.recorder.open(id)) {
            let called = self.recorder.operation(op).input.method;
            let called = &self.names.symbols[called.0 as usize];
            if called != returned {
                let (called, returned) = (called.clone(), returned.to_owned());
                return Err(LogError::OtherMethod { called, returned });
            }
        }
        let closed = match outcome {
            Outcome::Return(value) => self.recorder.ret(id, value),
            Outcome::Fail => self.recorder.fail(id),
            Outcome::Unknown => self.recorder.crash(id),
        };
        let op = closed.map_err(|error| self.explain(error))?;
        if self.recorder.operation(op).ret.is_some() {
            self.lines[op.0 as usize].ret = line;
        }
        Ok(op)
    }

    /// Records an operation that is given by its times, in one line. Threads are assigned when the log is finished: operations that
    /// overlap get different ones.
    pub fn interval(&mut self, line: u32, call: Call, start: i64, end: Option<(i64, Value)>) {
        self.lines.push(Lines { call: line, ret: if end.is_some() { line } else { 0 } });
        self.intervals.push(Interval { input: call, thread: ThreadId(0), start, end });
    }

    /// The log of all that was recorded. A recorder takes events or intervals, not both.
    pub fn finish(mut self, end: Option<End>) -> Result<Log, LogError> {
        let failed = self.recorder.dropped().len();
        let history = if self.intervals.is_empty() {
            self.drop_lines_of_failed();
            self.recorder.finish(end).map_err(|error| match error {
                IllFormed::NotComplete(op) => LogError::NeverReturned { line: self.lines[op.0 as usize].call },
                other => LogError::History(other),
            })?
        } else {
            debug_assert!(self.recorder.is_empty(), "events and intervals in one log");
            let (mut history, origin) =
                History::from_intervals(self.intervals, self.touching).map_err(LogError::History)?;
            let threads = history.assign_threads();
            self.names.threads = (0..i64::from(threads)).map(Value::Int).collect();
            self.lines = origin.iter().map(|&old| self.lines[old as usize]).collect();
            history
        };
        Ok(Log {
            history,
            declared: self.declared,
            initial: self.initial,
            symbols: self.names.symbols,
            threads: self.names.threads,
            lines: self.lines,
            failed,
        })
    }

    fn drop_lines_of_failed(&mut self) {
        if self.recorder.dropped().is_empty() {
            return;
        }
        let mut keep = vec![true; self.lines.len()];
        for op in self.recorder.dropped() {
            keep[op.0 as usize] = false;
        }
        let mut keep = keep.into_iter();
        self.lines.retain(|_| keep.next().expect("one line an operation"));
    }

    fn explain(&self, error: IllFormed) -> LogError {
        match error {
            IllFormed::CallWhileOpen(thread, op) => LogError::CallWhileOpen {
                thread: self.names.threads[thread.0 as usize].clone(),
                line: self.lines[op.0 as usize].call,
            },
            IllFormed::ReturnWithoutCall(thread) => {
                LogError::ReturnWithoutCall { thread: self.names.threads[thread.0 as usize].clone() }
            }
            other => LogError::History(other),
        }
    }
}
