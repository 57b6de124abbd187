//! One history as the runtime records it: per thread its operations, and for each how much had returned at its call.
//!
//! That is all that a checker may see: operation a precedes b exactly when b's count for a's thread is above a's place. Two runs
//! that differ only in the order of calls among themselves, or of returns among themselves, are one history here.
//!
//! Invariant: column 0 is the thread that makes the initial and the final calls; the others are the columns of the matrix.

use crate::results::ResultId;

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// What it returned, if it did.
    pub result: Option<ResultId>,
    /// How many operations of each column had returned when it was called.
    pub before: Vec<u8>,
}

/// How the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Every operation of the matrix returned.
    Full,
    /// Nothing more can happen.
    Stuck,
    /// Something went wrong that ended the run, such as a data race or a crash. What has not returned says nothing.
    Cut,
}

/// A history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recorded {
    /// The operations of each column, as far as they were called.
    pub columns: Vec<Vec<Operation>>,
    /// How it ended.
    pub ending: Ending,
}

impl Recorded {
    /// How many operations returned, per column.
    pub fn returned(&self) -> Vec<u8> {
        let count =
            |column: &Vec<Operation>| column.iter().filter(|operation| operation.result.is_some()).count() as u8;
        self.columns.iter().map(count).collect()
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns with an operation that has not returned.
    pub fn pending(&self) -> impl Iterator<Item = usize> + '_ {
        let open = |column: &Vec<Operation>| column.last().is_some_and(|operation| operation.result.is_none());
        self.columns.iter().enumerate().filter(move |(_, column)| open(column)).map(|(at, _)| at)
    }

    /// Whether the first operation (column, place) returned before the second was called.
    pub fn precedes(&self, first: (usize, usize), second: (usize, usize)) -> bool {
        let before = &self.columns[second.0][second.1].before;
        first.0 == second.0 && first.1 < second.1
            || before.get(first.0).is_some_and(|&count| usize::from(count) > first.1)
    }
}
