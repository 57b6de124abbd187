//! Test matrices: which thread makes which calls, in which order (Line-Up 3.1), with calls before and after.
//!
//! As text: `push(1), pop() | pop()` has two threads; `push(0); push(1) | pop(); pop()` has a call before and one after them.

use std::fmt;

use crate::calls::{CallId, Calls, CallsError};

/// A test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Matrix {
    /// Calls before the threads start.
    pub initial: Vec<CallId>,
    /// The calls of each thread.
    pub columns: Vec<Vec<CallId>>,
    /// Calls after the threads have ended.
    pub last: Vec<CallId>,
}

/// Why something is not a matrix for these calls.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixError {
    /// A call that is not there.
    Call(CallsError),
    /// No thread, or one without calls.
    Empty,
    /// More threads than can be controlled.
    TooManyThreads(usize),
    /// More calls in one thread than can be recorded.
    TooManyCalls(usize),
    /// Not one part or three.
    Parts(usize),
    /// Several threads make calls that only one may make.
    Exclusive(String),
}

impl fmt::Display for MatrixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatrixError::Call(error) => error.fmt(f),
            MatrixError::Empty => f.write_str("expected at least one thread with at least one call in the matrix"),
            MatrixError::TooManyThreads(found) => {
                write!(f, "expected at most {} threads in a matrix, found {found}", Matrix::THREADS_MAX)
            }
            MatrixError::TooManyCalls(found) => {
                write!(f, "expected at most {} calls of one thread, found {found}", Matrix::CALLS_MAX)
            }
            MatrixError::Parts(found) => write!(
                f,
                "expected the threads, or calls before, the threads and calls after with `;` between, found {found} parts"
            ),
            MatrixError::Exclusive(names) => {
                write!(f, "expected only one thread to call {names}, which must not run in parallel")
            }
        }
    }
}

impl std::error::Error for MatrixError {}

impl From<CallsError> for MatrixError {
    fn from(error: CallsError) -> Self {
        MatrixError::Call(error)
    }
}

impl Matrix {
    /// The runtime controls 64 threads, some of which the object may need itself.
    pub const THREADS_MAX: usize = 16;
    /// Places in a column are recorded as bytes.
    pub const CALLS_MAX: usize = 200;

    /// A matrix of these columns.
    pub fn new(columns: Vec<Vec<CallId>>) -> Self {
        Matrix { columns, ..Matrix::default() }
    }

    /// Reads a matrix.
    pub fn parse(text: &str, calls: &Calls) -> Result<Self, MatrixError> {
        let mut parts = vec![vec![Vec::new()]];
        let mut rest = text.trim_start();
        let mut separated = true;
        while let Some(first) = rest.chars().next() {
            match first {
                ',' if !separated => separated = true,
                '|' => {
                    parts.last_mut().expect("there is a part").push(Vec::new());
                    separated = true;
                }
                ';' => {
                    parts.push(vec![Vec::new()]);
                    separated = true;
                }
                _ => {
                    let call = calls.prefix(rest).filter(|_| separated).ok_or_else(|| calls.unknown(word(rest)))?;
                    let name = calls.name(call);
                    // `pop` is no reading of `popped()`.
                    if !rest[name.len()..].trim_start().is_empty()
                        && !rest[name.len()..].trim_start().starts_with([',', '|', ';'])
                    {
                        return Err(calls.unknown(word(rest)).into());
                    }
                    let part = parts.last_mut().expect("there is a part");
                    part.last_mut().expect("there is a column").push(call);
                    rest = rest[name.len()..].trim_start();
                    separated = false;
                    continue;
                }
            }
            rest = rest[first.len_utf8()..].trim_start();
        }
        Self::of_parts(parts)?.checked(calls)
    }

    fn of_parts(mut parts: Vec<Vec<Vec<CallId>>>) -> Result<Self, MatrixError> {
        match parts.len() {
            1 => Ok(Matrix::new(parts.remove(0))),
            3 => {
                let last = parts.remove(2).concat();
                let columns = parts.remove(1);
                Ok(Matrix { initial: parts.remove(0).concat(), columns, last })
            }
            found => Err(MatrixError::Parts(found)),
        }
    }

    /// A sequence of calls, such as those before and after.
    pub fn parse_sequence(text: &str, calls: &Calls) -> Result<Vec<CallId>, MatrixError> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        Ok(Matrix::parse(text, calls)?.columns.concat())
    }

    /// The same, if it can be run.
    pub fn checked(self, calls: &Calls) -> Result<Self, MatrixError> {
        if self.columns.is_empty() || self.columns.iter().any(Vec::is_empty) {
            return Err(MatrixError::Empty);
        }
        if self.columns.len() > Self::THREADS_MAX {
            return Err(MatrixError::TooManyThreads(self.columns.len()));
        }
        let longest = self.columns.iter().map(Vec::len).max().unwrap_or(0).max(self.initial.len() + self.last.len());
        if longest > Self::CALLS_MAX {
            return Err(MatrixError::TooManyCalls(longest));
        }
        if let Some(group) = calls.exclusive.iter().find(|group| !self.respects(group)) {
            let names: Vec<&str> = group.iter().map(|&call| calls.name(call)).collect();
            return Err(MatrixError::Exclusive(names.join(", ")));
        }
        Ok(self)
    }

    /// Whether at most one thread makes calls of the group.
    pub fn respects(&self, group: &[CallId]) -> bool {
        let users = self.columns.iter().filter(|column| column.iter().any(|call| group.contains(call)));
        users.count() <= 1
    }

    /// The same test with its threads in the order that stands for all orders.
    pub fn canonical(mut self) -> Self {
        self.columns.sort();
        self
    }

    /// The calls of a column as recorded: 0 is before and after, the others are threads.
    pub fn column(&self, column: usize) -> impl Iterator<Item = CallId> + '_ {
        let (main, threads) = match column {
            0 => (Some(self.initial.iter().chain(&self.last)), None),
            _ => (None, self.columns.get(column - 1).map(|column| column.iter())),
        };
        main.into_iter().flatten().chain(threads.into_iter().flatten()).copied()
    }

    /// How many calls, all together.
    pub fn len(&self) -> usize {
        self.initial.len() + self.last.len() + self.columns.iter().map(Vec::len).sum::<usize>()
    }

    /// How many orders of the calls of all threads phase 1 goes through, if none of them waits.
    pub fn orders(&self) -> u64 {
        let (mut orders, mut placed) = (1u128, 0u128);
        for column in &self.columns {
            for place in 1..=column.len() as u128 {
                placed += 1;
                // A product of binomial coefficients: each division leaves nothing over.
                orders = orders.saturating_mul(placed) / place;
                if orders > u128::from(u64::MAX) {
                    return u64::MAX;
                }
            }
        }
        orders as u64
    }

    /// Whether there are no calls.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Threads times calls of the longest thread.
    pub fn dimension(&self) -> String {
        format!("{}x{}", self.columns.len(), self.columns.iter().map(Vec::len).max().unwrap_or(0))
    }

    /// As text, which [`Matrix::parse`] reads.
    pub fn to_text(&self, calls: &Calls) -> String {
        let list = |column: &Vec<CallId>| column.iter().map(|&call| calls.name(call)).collect::<Vec<_>>().join(", ");
        let columns = self.columns.iter().map(list).collect::<Vec<_>>().join(" | ");
        if self.initial.is_empty() && self.last.is_empty() {
            return columns;
        }
        format!("{}; {columns}; {}", list(&self.initial), list(&self.last)).trim_start().to_owned()
    }
}

/// What stands at the beginning, up to what separates calls outside of parentheses.
fn word(text: &str) -> &str {
    let mut depth = 0usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | '|' | ';' if depth == 0 && at > 0 => return &text[..at],
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls() -> Calls {
        Calls::new(["push(1)", "push(1, 2)", "pop()", "pop", "a|b"].map(str::to_owned).to_vec()).unwrap()
    }

    #[test]
    fn there_and_back() {
        for text in [
            "push(1), pop() | pop()",
            "push(1); push(1, 2) | pop | a|b; pop()",
            "; pop(); pop(), push(1)",
            "push(1); pop();",
        ] {
            let matrix = Matrix::parse(text, &calls()).unwrap();
            assert_eq!(Matrix::parse(&matrix.to_text(&calls()), &calls()), Ok(matrix.clone()), "{text}");
        }
        let matrix = Matrix::parse(" push(1),pop()|a|b ", &calls()).unwrap();
        assert_eq!(matrix.to_text(&calls()), "push(1), pop() | a|b");
        assert_eq!(matrix.dimension(), "2x2");
    }

    #[test]
    fn wrong_texts() {
        let check = |text: &str, expect: &str| {
            let error = Matrix::parse(text, &calls()).unwrap_err().to_string();
            assert!(error.contains(expect), "{text}: {error}");
        };
        check("push(3), pop()", "there is no call `push(3)`");
        check("push(1) pop()", "there is no call `push(1) pop()`");
        check("popped()", "there is no call `popped()`");
        check("é", "there is no call `é`");
        check(", pop()", "there is no call `, pop()`");
        check("", "at least one thread");
        check("pop() | ", "at least one thread");
        check("pop(); pop()", "found 2 parts");
        check(&vec!["pop()"; 17].join("|"), "at most 16 threads");
        check(&vec!["pop()"; 201].join(","), "at most 200 calls");
    }

    #[test]
    fn orders_are_counted() {
        let matrix = |columns: &[usize]| Matrix::new(columns.iter().map(|&length| vec![CallId(0); length]).collect());
        for (columns, orders) in [(&[2, 2][..], 6), (&[3, 3, 3], 1_680), (&[4, 4, 4, 4], 63_063_000), (&[5], 1)] {
            assert_eq!(matrix(columns).orders(), orders, "{columns:?}");
        }
        assert_eq!(matrix(&[100, 100]).orders(), u64::MAX);
    }

    #[test]
    fn exclusive_calls_stay_in_one_thread() {
        let mut calls = calls();
        calls.exclusive.push(vec![CallId(0), CallId(1)]);
        assert!(Matrix::parse("push(1), push(1, 2) | pop()", &calls).is_ok());
        let error = Matrix::parse("push(1) | push(1, 2)", &calls).unwrap_err();
        assert_eq!(error, MatrixError::Exclusive("push(1), push(1, 2)".into()));
    }
}
