//! What the operations of the run under way did: integers, no allocation once the vectors have grown.

use std::ffi::c_void;
use std::rc::Rc;

use selvedge_lineup::{CallId, Ending, Matrix, Operation, Recorded, ResultId, Results, SerialOp};

use selvedge_explore::{Trace, dependent};

use super::object::Object;
use crate::control::Control;

/// Columns of a matrix, and the thread that makes the calls before and after.
const COLUMNS: usize = Matrix::THREADS_MAX + 1;

/// An operation of the run under way.
#[derive(Clone, Debug)]
struct Called {
    result: Option<ResultId>,
    before: [u8; COLUMNS],
    choices: Vec<u32>,
}

/// The object under test.
#[derive(Default)]
pub struct Lineup {
    /// The object whose operations run, or what stands in for it in phase 1.
    pub object: Option<Rc<Object>>,
    /// The matrix.
    pub matrix: Rc<Matrix>,
    /// Whether operations run one after the other.
    pub serial: bool,
    /// Whether a lock makes operations come one after the other, because the object has threads of its own.
    pub turns: bool,
    /// Whether the end of a thread is an operation of its own.
    pub exits: bool,
    /// What virtual time and random numbers are shifted by, to see whether results depend on them.
    pub shift: u64,
    /// Results seen so far.
    pub results: Results,
}

impl Lineup {
    /// The call that comes at a place of a column.
    pub fn call_at(&self, column: usize, place: usize) -> Option<CallId> {
        self.matrix.column(column).nth(place)
    }

    /// The number of a result of a call.
    pub fn result(&mut self, call: CallId, text: &str) -> ResultId {
        let Some(object) = &self.object else { return Results::VOID };
        let text = object.calls.normal(call, text);
        self.results.intern(text)
    }
}

/// A column of the run under way.
#[derive(Default)]
struct Column {
    called: Vec<Called>,
    /// Where its thread is at its end or was: how many steps the run had then, and whether its destructors are done.
    leaving: Option<(usize, bool)>,
    /// A result given as text.
    text: Option<ResultId>,
}

/// What the operations of the run under way did.
#[derive(Default)]
pub struct Recorder {
    /// The object, once it is constructed.
    pub instance: usize,
    /// The thread of each column but the first.
    pub threads: Vec<usize>,
    /// Whether all threads of the matrix are there.
    open: bool,
    /// None where no object is under test.
    columns: Vec<Column>,
    order: Vec<u8>,
    returned: [u8; COLUMNS],
}

impl Recorder {
    /// A recorder for a run of this object takes the place of this one, and its memory.
    #[inline(always)]
    pub fn renew(&mut self, lineup: &Lineup) {
        // Where no object is under test nothing is recorded.
        if lineup.object.is_some() || !self.columns.is_empty() {
            *self = std::mem::take(self).again(lineup);
        }
    }

    #[inline(never)]
    fn again(self, lineup: &Lineup) -> Self {
        let Recorder { mut threads, mut columns, mut order, .. } = self;
        threads.clear();
        order.clear();
        let count = if lineup.object.is_some() { lineup.matrix.columns.len() + 1 } else { 0 };
        columns.resize_with(count, Column::default);
        for column in &mut columns {
            let mut called = std::mem::take(&mut column.called);
            called.clear();
            *column = Column { called, leaving: None, text: None };
        }
        Recorder { instance: 0, threads, open: false, columns, order, returned: [0; COLUMNS] }
    }

    /// Whether the threads of the matrix may go.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// All threads of the matrix are there.
    pub fn open(&mut self) {
        self.open = true;
    }

    /// The column of a thread.
    pub fn column(&self, thread: usize) -> Option<usize> {
        match thread {
            0 => Some(0),
            _ => self.threads.iter().position(|&other| other == thread).map(|at| at + 1),
        }
    }

    /// The constructed object.
    pub fn instance(&self) -> *mut c_void {
        self.instance as *mut c_void
    }

    /// An operation is called.
    pub fn called(&mut self, column: usize) {
        self.columns[column].called.push(Called { result: None, before: self.returned, choices: Vec::new() });
        self.order.push(column as u8);
    }

    /// Notes what a choice of the column's operation was, if there is one: in a test that is of no object there is none.
    pub fn chose(&mut self, column: usize, chosen: u32) {
        if let Some(called) = self.columns.get_mut(column).and_then(|column| column.called.last_mut()) {
            called.choices.push(chosen);
        }
    }

    /// The column's operation returned.
    pub fn returned(&mut self, column: usize, result: ResultId) {
        if let Some(called) = self.columns[column].called.last_mut() {
            called.result = Some(result);
        }
        self.returned[column] += 1;
    }

    /// The column's thread has made its last call; the run has so many steps.
    pub fn leaves(&mut self, column: usize, steps: usize) {
        self.columns[column].leaving = Some((steps, false));
    }

    /// The destructors of the column's thread are done.
    pub fn has_left(&mut self, column: usize) {
        if let Some((_, done)) = &mut self.columns[column].leaving {
            *done = true;
        }
    }

    /// Whether some thread has made its last call, and what its end does is not done.
    pub fn any_leaving(&self) -> bool {
        self.columns.iter().filter_map(|column| column.leaving).any(|(_, done)| !done)
    }

    /// Whether the end of some thread could have come later in this serial run and done, or seen, something else: it did not come to
    /// its end, or one of its steps depends on what another thread of the matrix did after it began.
    pub fn ends_matter(&self, trace: &Trace) -> bool {
        let steps = trace.steps();
        let clash = |&from: &usize, thread: usize| {
            let after = || (from..steps.len()).map(|at| (at, steps[at].thread.index()));
            after().filter(|&(_, other)| other == thread).any(|(own, _)| {
                // The first thread only waits until all have ended.
                after().filter(|&(_, other)| other != thread && other != 0).any(|(other, _)| {
                    let accesses = trace.accesses(own);
                    accesses.iter().any(|one| trace.accesses(other).iter().any(|two| dependent(one, two)))
                })
            })
        };
        let ends = self.columns.iter().enumerate().filter_map(|(at, column)| Some((at, column.leaving?)));
        self.any_leaving()
            || ends.into_iter().any(|(column, (from, _))| {
                column.checked_sub(1).and_then(|at| self.threads.get(at)).is_some_and(|&thread| clash(&from, thread))
            })
    }

    /// Whether the end of some thread made a step.
    pub fn ends_show(&self, trace: &Trace) -> bool {
        let steps = trace.steps();
        self.any_leaving()
            || self.threads.iter().enumerate().any(|(at, &thread)| {
                let from = self.columns[at + 1].leaving.map_or(steps.len(), |(from, _)| from);
                steps[from..].iter().any(|step| step.thread.index() == thread)
            })
    }

    /// The result given as text, if there is one.
    pub fn take_text(&mut self, column: usize) -> Option<ResultId> {
        self.columns.get_mut(column)?.text.take()
    }

    /// Whether an operation has been called and has not returned.
    pub fn any_open(&self) -> bool {
        self.columns.iter().any(|column| column.called.last().is_some_and(|called| called.result.is_none()))
    }

    /// The run as a serial history. An operation that did not return is the last.
    pub fn serial_history(&self) -> Vec<SerialOp> {
        let mut places = [0usize; COLUMNS];
        let operation = |&column: &u8| {
            let at = usize::from(column);
            let called = &self.columns[at].called[places[at]];
            places[at] += 1;
            SerialOp { column, choices: called.choices.clone(), result: called.result }
        };
        self.order.iter().map(operation).collect()
    }

    /// What tells this run's history from others.
    pub fn key(&self, ending: Ending, key: &mut Vec<u8>) {
        key.clear();
        key.push(u8::from(ending == Ending::Stuck));
        for column in &self.columns {
            key.push(column.called.len() as u8);
            for called in &column.called {
                key.extend(called.result.map_or(u32::MAX, |result| result.0).to_le_bytes());
                key.extend(&called.before[..self.columns.len()]);
            }
        }
    }

    /// The run's history.
    pub fn recorded(&self, ending: Ending) -> Recorded {
        let count = self.columns.len();
        let operation = |called: &Called| Operation { result: called.result, before: called.before[..count].to_vec() };
        let columns = self.columns.iter().map(|column| column.called.iter().map(operation).collect()).collect();
        Recorded { columns, ending }
    }
}

impl Control {
    /// Keeps a result given as text until the current thread's operation returns.
    pub fn put_text(&mut self, text: &str) {
        let recorder = &mut self.run.recorder;
        let Some(at) = recorder.column(self.run.current) else { return };
        let Some(column) = recorder.columns.get_mut(at) else { return };
        let place = column.called.len().saturating_sub(1);
        if let Some(call) = self.search.lineup.call_at(at, place) {
            column.text = Some(self.search.lineup.result(call, text));
        }
    }
}
