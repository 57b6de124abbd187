//! What the operations of the run under way did: integers, no allocation once the vectors have grown.

use std::ffi::c_void;
use std::rc::Rc;

use selvedge_lineup::{CallId, Ending, Matrix, Operation, Recorded, ResultId, Results, SerialOp};

use selvedge_explore::{Trace, dependent};

use super::object::Object;

/// Columns of a matrix, and the thread that makes the calls before and after.
const COLUMNS: usize = Matrix::THREADS_MAX + 1;

/// An operation of the run under way.
#[derive(Clone, Debug)]
struct Called {
    result: Option<ResultId>,
    before: [u8; COLUMNS],
    choices: Vec<u32>,
}

/// The object under test and the run under way.
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
    /// The object, once it is constructed.
    pub instance: usize,
    /// The thread of each column but the first.
    pub threads: Vec<usize>,
    /// Whether all threads of the matrix are there.
    open: bool,
    /// For each column whose thread is at its end or was: how many steps the run had then, and whether its destructors are done.
    leaving: [Option<(usize, bool)>; COLUMNS],
    columns: Vec<Vec<Called>>,
    order: Vec<u8>,
    returned: [u8; COLUMNS],
    /// A result given as text, per column.
    texts: [Option<ResultId>; COLUMNS],
    /// Whether there was nothing to put back the last time, and nothing was changed since: no object is under test.
    idle: bool,
}

impl Lineup {
    /// A new run.
    #[inline(always)]
    pub fn reset(&mut self) {
        if !self.idle || self.object.is_some() {
            self.forget();
            self.idle = self.object.is_none();
        }
    }

    #[inline(never)]
    fn forget(&mut self) {
        self.instance = 0;
        self.threads.clear();
        self.open = false;
        self.leaving = [None; COLUMNS];
        self.columns.iter_mut().for_each(Vec::clear);
        self.columns.resize(self.matrix.columns.len() + 1, Vec::new());
        self.order.clear();
        self.returned = [0; COLUMNS];
        self.texts = [None; COLUMNS];
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

    /// The call that comes at a place of a column.
    pub fn call_at(&self, column: usize, place: usize) -> Option<CallId> {
        self.matrix.column(column).nth(place)
    }

    /// The constructed object.
    pub fn instance(&self) -> *mut c_void {
        self.instance as *mut c_void
    }

    /// An operation is called.
    pub fn called(&mut self, column: usize) {
        self.columns[column].push(Called { result: None, before: self.returned, choices: Vec::new() });
        self.order.push(column as u8);
    }

    /// Notes what a declared choice of the column's operation was.
    pub fn chose(&mut self, column: usize, chosen: u32) {
        if let Some(called) = self.columns[column].last_mut() {
            called.choices.push(chosen);
        }
    }

    /// The column's operation returned.
    pub fn returned(&mut self, column: usize, result: ResultId) {
        if let Some(called) = self.columns[column].last_mut() {
            called.result = Some(result);
        }
        self.returned[column] += 1;
    }

    /// The column's thread has made its last call; the run has so many steps.
    pub fn leaves(&mut self, column: usize, steps: usize) {
        self.leaving[column] = Some((steps, false));
    }

    /// The destructors of the column's thread are done.
    pub fn has_left(&mut self, column: usize) {
        if let Some((_, done)) = &mut self.leaving[column] {
            *done = true;
        }
    }

    /// Whether some thread has made its last call, and what its end does is not done.
    pub fn any_leaving(&self) -> bool {
        self.leaving.iter().flatten().any(|(_, done)| !done)
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
        let ends = self.leaving.iter().enumerate().filter_map(|(column, left)| Some((column, (*left)?)));
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
                let from = self.leaving[at + 1].map_or(steps.len(), |(from, _)| from);
                steps[from..].iter().any(|step| step.thread.index() == thread)
            })
    }

    /// Keeps a result given as text until the operation returns.
    pub fn put_text(&mut self, thread: usize, text: &str) {
        let Some(column) = self.column(thread) else { return };
        let place = self.columns[column].len().saturating_sub(1);
        let Some(call) = self.call_at(column, place) else { return };
        self.idle = false;
        self.texts[column] = Some(self.result(call, text));
    }

    /// The result given as text, if there is one.
    pub fn take_text(&mut self, column: usize) -> Option<ResultId> {
        self.texts[column].take()
    }

    /// The number of a result of a call.
    pub fn result(&mut self, call: CallId, text: &str) -> ResultId {
        let Some(object) = &self.object else { return Results::VOID };
        let text = object.calls.normal(call, text);
        self.results.intern(text)
    }

    /// Whether an operation has been called and has not returned.
    pub fn any_open(&self) -> bool {
        self.columns.iter().any(|column| column.last().is_some_and(|called| called.result.is_none()))
    }

    /// The run as a serial history. An operation that did not return is the last.
    pub fn serial_history(&self) -> Vec<SerialOp> {
        let mut places = [0usize; COLUMNS];
        let operation = |&column: &u8| {
            let at = usize::from(column);
            let called = &self.columns[at][places[at]];
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
            key.push(column.len() as u8);
            for called in column {
                key.extend(called.result.map_or(u32::MAX, |result| result.0).to_le_bytes());
                key.extend(&called.before[..self.columns.len()]);
            }
        }
    }

    /// The run's history.
    pub fn recorded(&self, ending: Ending) -> Recorded {
        let count = self.columns.len();
        let operation = |called: &Called| Operation { result: called.result, before: called.before[..count].to_vec() };
        let columns = self.columns.iter().map(|column| column.iter().map(operation).collect()).collect();
        Recorded { columns, ending }
    }
}
