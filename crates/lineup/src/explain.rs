//! Why no serial history explains one that was seen, as data.
//!
//! Invariant: everything said here follows from the observation and the history alone; nothing is guessed about the code.

use selvedge_protocol::{self as protocol, Closest, Explanation, OperationEnd, Refusal, SerialHistory, Why};

use crate::calls::Calls;
use crate::closest::{Parting, closest};
use crate::matrix::Matrix;
use crate::observation::{Nondeterminism, Observation, SerialOp};
use crate::recorded::{Ending, Operation, Recorded};
use crate::results::{ResultId, Results};
use crate::witness::Unexplained;

/// What a history is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The matrix.
    pub matrix: &'a Matrix,
    /// Its calls.
    pub calls: &'a Calls,
    /// What results are called.
    pub results: &'a Results,
    /// The number of the thread of each column but the first.
    pub threads: &'a [usize],
}

impl Subject<'_> {
    /// The name of the operation at a place of a column.
    pub fn name(&self, column: usize, place: usize) -> &str {
        self.matrix.column(column).nth(place).map_or("thread exit", |call| self.calls.name(call))
    }

    /// How an operation ended: it returned, or what is said of one that did not.
    fn end(&self, result: Option<ResultId>, otherwise: OperationEnd) -> OperationEnd {
        result.map_or(otherwise, |result| OperationEnd::Returned(self.results.text(result).to_owned()))
    }

    fn operation(&self, column: usize, place: usize, end: OperationEnd) -> protocol::Operation {
        protocol::Operation { name: self.name(column, place).to_owned(), end }
    }

    /// The operations of each column with their ends. One that did not return waits for ever only where the run was stuck.
    fn explanation(&self, history: &Recorded, why: Option<Why>) -> Explanation {
        let pending = match history.ending {
            Ending::Stuck => OperationEnd::Blocked,
            Ending::Full | Ending::Cut => OperationEnd::CutOff,
        };
        let of = |column: usize, place: usize| {
            let end = match history.columns.get(column).and_then(|all| all.get(place)) {
                Some(Operation { result, .. }) => self.end(*result, pending.clone()),
                None => OperationEnd::NotCalled,
            };
            self.operation(column, place, end)
        };
        // Where the end of a thread is an operation, it comes after the calls.
        let seen = |at: usize| history.columns.get(at).map_or(0, Vec::len);
        let count = |at: usize| self.matrix.column(at).count().max(seen(at));
        let columns = 0..=self.matrix.columns.len();
        Explanation {
            threads: self.threads.to_vec(),
            before: self.matrix.initial.len(),
            columns: columns.map(|at| (0..count(at)).map(|place| of(at, place)).collect()).collect(),
            why,
        }
    }

    /// Why nothing serial explains a history; the operations alone where the end of the run says what is wrong.
    pub fn explain(&self, seen: &Observation, history: &Recorded, unexplained: Option<Unexplained>) -> Explanation {
        let blocked = match unexplained {
            None => return self.explanation(history, None),
            Some(Unexplained::Full) => None,
            Some(Unexplained::Stuck { column }) => Some(column),
        };
        let why = Why::NotSerial {
            blocked: blocked.map(|column| (column, history.columns[column].len().saturating_sub(1))),
            full: seen.full(),
            stuck: seen.stuck(),
            never_return: self.never_return(seen),
            several_wait: history.pending().count() > 1,
            closest: closest(seen, history, blocked).iter().map(|parting| self.parting(parting)).collect(),
        };
        self.explanation(history, Some(why))
    }

    /// Why a history is neither linearizable nor quasi linearizable.
    pub fn explain_refusal(&self, history: &Recorded, refusal: &Refusal) -> Explanation {
        self.explanation(history, Some(Why::Refused(refusal.clone())))
    }

    /// Two serial histories that differ.
    pub fn explain_nondeterminism(&self, found: &Nondeterminism) -> Explanation {
        let with = |last: &SerialOp| self.serial(found.prefix.iter().chain([last]));
        let why = Why::SerialRunsDiffer { one: with(&found.one), other: with(&found.other) };
        let of = |column: usize, place: usize| self.operation(column, place, OperationEnd::Unsaid);
        let column = |at: usize| (0..self.matrix.column(at).count()).map(|place| of(at, place)).collect();
        Explanation {
            threads: self.threads.to_vec(),
            before: self.matrix.initial.len(),
            columns: (0..=self.matrix.columns.len()).map(column).collect(),
            why: Some(why),
        }
    }

    /// A serial history, its operations with their results. One without waits for ever.
    fn serial<'a>(&self, history: impl Iterator<Item = &'a SerialOp>) -> SerialHistory {
        let mut places = vec![0; self.matrix.columns.len() + 1];
        let mut operations = Vec::new();
        for operation in history {
            let column = usize::from(operation.column);
            let end = self.end(operation.result, OperationEnd::Blocked);
            operations.push((column, self.operation(column, places[column], end)));
            places[column] += 1;
        }
        operations
    }

    /// The calls that return in no serial history, each once.
    fn never_return(&self, seen: &Observation) -> Vec<String> {
        let (mut returned, mut called) = (Vec::new(), Vec::new());
        for history in seen.histories() {
            let mut places = vec![0; self.matrix.columns.len() + 1];
            for operation in history {
                let column = usize::from(operation.column);
                let name = self.name(column, places[column]);
                places[column] += 1;
                let list = if operation.result.is_some() { &mut returned } else { &mut called };
                if !list.contains(&name) {
                    list.push(name);
                }
            }
        }
        called.retain(|name| !returned.contains(name));
        called.into_iter().map(str::to_owned).collect()
    }

    fn parting(&self, parting: &Parting) -> Closest {
        let column = usize::from(parting.column);
        let place = parting.order.iter().filter(|(other, _)| *other == parting.column).count();
        Closest {
            order: parting.order.iter().map(|&(column, place)| (column.into(), place.into())).collect(),
            operation: (column, place),
            serial: self.end(parting.serial, OperationEnd::Blocked),
            found: self.end(parting.found, OperationEnd::Blocked),
        }
    }
}
