//! What the operations of the run under way did: integers, no allocation once the vectors have grown.

use std::ffi::c_void;
use std::rc::Rc;

use selvedge_lineup::{CallId, Ending, Matrix, Operation, Recorded, ResultId, Results, SerialOp};

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
