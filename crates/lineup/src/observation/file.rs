//! Observations as files: what phase 1 saw, to be read by people or used again.
//!
//! Histories are grouped by what each thread did, with results, as in figure 7 of the paper. Invariant: what was written is read back
//! as the same set of histories; a version that is not known is refused.

use std::collections::BTreeMap;
use std::fmt;

use crate::calls::Calls;
use crate::matrix::{Matrix, MatrixError};
use crate::observation::{Nondeterminism, Observation, SerialOp};
use crate::results::Results;

/// The version of both forms.
pub const VERSION: u32 = 1;

/// The serial histories of one matrix.
#[derive(Clone, Debug)]
pub struct ObservationSet {
    /// The object.
    pub object: String,
    /// The matrix.
    pub matrix: Matrix,
    /// Its histories.
    pub observation: Observation,
}

/// Why a file holds no observations.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// Neither form.
    Malformed {
        /// The line, from 1, where there is one.
        line: usize,
        /// What was expected.
        expected: String,
    },
    /// A version that is not known.
    Version(String),
    /// A matrix that is none.
    Matrix(MatrixError),
    /// Operations that the matrix does not have.
    Operation(String),
    /// Histories that contradict one another.
    Nondeterministic,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Malformed { line: 0, expected } => write!(f, "expected {expected}"),
            FileError::Malformed { line, expected } => write!(f, "line {line}: expected {expected}"),
            FileError::Version(found) => write!(f, "expected observations of version {VERSION}, found version {found}"),
            FileError::Matrix(error) => error.fmt(f),
            FileError::Operation(found) => write!(f, "expected operations of the matrix, found {found}"),
            FileError::Nondeterministic => {
                f.write_str("expected serial histories of a deterministic object, found two that contradict each other")
            }
        }
    }
}

impl std::error::Error for FileError {}

impl From<Box<Nondeterminism>> for FileError {
    fn from(_: Box<Nondeterminism>) -> Self {
        FileError::Nondeterministic
    }
}

/// An operation: its name, and its result unless it blocks.
pub type Named = (String, Option<String>);

/// Orders of operations: the columns that they are of.
pub type Orders = Vec<Vec<u8>>;

/// Histories in which each thread did the same, with the same results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The operations of each column.
    pub threads: Vec<Vec<Named>>,
    /// The orders.
    pub histories: Orders,
}

/// What a thread is called: the paper's letters, and `main` for calls before and after.
pub fn thread_name(column: usize) -> String {
    match column {
        0 => "main".into(),
        column => {
            let letter = char::from(b'A' + ((column - 1) % 26) as u8);
            if column <= 26 { letter.to_string() } else { format!("{letter}{}", (column - 1) / 26) }
        }
    }
}

/// The column of a thread of that name.
pub fn thread_column(name: &str) -> Option<usize> {
    (0..=Matrix::THREADS_MAX).find(|&column| thread_name(column) == name)
}

/// The groups of an observation: full histories first.
pub fn groups(set: &ObservationSet, calls: &Calls, results: &Results) -> Vec<Group> {
    let columns = set.matrix.columns.len() + 1;
    let mut all: BTreeMap<(bool, Vec<Vec<Named>>), Orders> = BTreeMap::new();
    for history in set.observation.histories() {
        let mut threads: Vec<Vec<Named>> = vec![Vec::new(); columns];
        for operation in &history {
            let column = usize::from(operation.column);
            let call = set.matrix.column(column).nth(threads[column].len());
            let name = call.map_or("?", |call| calls.name(call)).to_owned();
            threads[column].push((name, operation.result.map(|result| results.text(result).to_owned())));
        }
        let stuck = history.last().is_some_and(|last| last.result.is_none());
        let order = history.iter().map(|operation| operation.column).collect();
        let histories = all.entry((stuck, threads)).or_default();
        // Choices that were declared may lead to the same history in several ways.
        if !histories.contains(&order) {
            histories.push(order);
        }
    }
    all.into_iter().map(|((_, threads), histories)| Group { threads, histories }).collect()
}

/// The observation of groups. Results are given numbers.
pub fn of_groups(
    groups: &[Group],
    matrix: &Matrix,
    calls: &Calls,
    results: &mut Results,
) -> Result<Observation, FileError> {
    let mut observation = Observation::new();
    for group in groups {
        for (column, thread) in group.threads.iter().enumerate() {
            for (place, (name, _)) in thread.iter().enumerate() {
                let known = matrix.column(column).nth(place).map(|call| calls.name(call));
                if known != Some(name.as_str()) {
                    return Err(FileError::Operation(format!("{name} of thread {}", thread_name(column))));
                }
            }
        }
        for order in &group.histories {
            let mut places = vec![0; group.threads.len()];
            let mut history = Vec::new();
            for &column in order {
                let at = usize::from(column);
                let operation = group.threads.get(at).and_then(|thread| thread.get(places[at]));
                let (_, result) =
                    operation.ok_or_else(|| FileError::Operation(format!("one more of thread {}", thread_name(at))))?;
                places[at] += 1;
                let result = result.as_ref().map(|text| results.intern(text));
                history.push(SerialOp { column, choices: Vec::new(), result });
            }
            if history.iter().rev().skip(1).any(|operation| operation.result.is_none()) {
                return Err(FileError::Operation("one after an operation that blocks".into()));
            }
            insert(&mut observation, history)?;
        }
    }
    Ok(observation)
}

/// Adds a history. Files do not tell choices; where one would contradict another, it counts as a choice of its own.
fn insert(observation: &mut Observation, mut history: Vec<SerialOp>) -> Result<(), FileError> {
    const CHOICES_MAX: u32 = 64;
    for _ in 0..CHOICES_MAX {
        let Err(found) = observation.insert(&history) else { return Ok(()) };
        let at = found.prefix.len();
        let next = history[at].choices.first().map_or(1, |choice| choice + 1);
        history[at].choices = vec![next];
    }
    Err(FileError::Nondeterministic)
}
