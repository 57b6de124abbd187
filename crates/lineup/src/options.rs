//! What a user asks for beside the calls, where calls are no texts any more but known ones.
//!
//! Invariant: reading [`ObjectOptions`] is all that is done with texts here; what they are as lines is `selvedge_protocol`'s business.

use std::fmt;

use selvedge_history::quasi::{Causality, Order, Reading};
use selvedge_protocol::{self as protocol, Given, ObjectOptions, OptionError};

use crate::calls::{Calls, CallsError, Declared};
use crate::matrix::{Matrix, MatrixError};
use crate::quasi::{ShapeError, shape_matrix};

/// What to test, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Matrices given by the user.
    pub tests: Vec<Matrix>,
    /// Calls before every matrix that is made up.
    pub initial: Vec<crate::CallId>,
    /// Calls after it.
    pub last: Vec<crate::CallId>,
    /// What needs no look at the calls.
    pub said: ObjectOptions,
}

/// Why that cannot be asked of an object.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionsError {
    /// A line is no option.
    Line(OptionError),
    /// A call that is not there.
    Calls(CallsError),
    /// Something that is not a matrix.
    Matrix(MatrixError),
    /// Something that is not a shape.
    Shape(ShapeError),
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionsError::Line(error) => error.fmt(f),
            OptionsError::Calls(error) => error.fmt(f),
            OptionsError::Matrix(error) => error.fmt(f),
            OptionsError::Shape(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OptionsError {}

impl From<OptionError> for OptionsError {
    fn from(error: OptionError) -> Self {
        OptionsError::Line(error)
    }
}

impl From<CallsError> for OptionsError {
    fn from(error: CallsError) -> Self {
        OptionsError::Calls(error)
    }
}

impl From<ShapeError> for OptionsError {
    fn from(error: ShapeError) -> Self {
        OptionsError::Shape(error)
    }
}

impl From<MatrixError> for OptionsError {
    fn from(error: MatrixError) -> Self {
        OptionsError::Matrix(error)
    }
}

impl Options {
    /// What was said, of these calls. What concerns single calls is noted with them.
    pub fn new(said: ObjectOptions, calls: &mut Calls) -> Result<Self, OptionsError> {
        // Flags come as they were typed.
        said.check()?;
        for declared in &said.nondeterministic {
            let call = calls.find(&declared.call)?;
            calls.declared.push(Declared { call, result: declared.result.clone() });
        }
        for name in &said.ignore {
            let call = calls.find(name)?;
            calls.ignored.push(call);
        }
        for group in &said.exclusive {
            let group = Matrix::parse_sequence(group, calls)?;
            calls.exclusive.push(group);
        }
        let sequence = |text: &Option<String>| match text {
            Some(text) => Matrix::parse_sequence(text, calls),
            None => Ok(vec![]),
        };
        let (initial, last) = (sequence(&said.initial)?, sequence(&said.last)?);
        let mut tests = Vec::new();
        for given in &said.matrices {
            tests.push(match given {
                Given::Matrix(text) => Matrix::parse(text, calls)?,
                Given::Shape(text) => shape_matrix(text, calls)?,
            });
        }
        Ok(Options { tests, initial, last, said })
    }

    /// How a history is read under quasi linearizability.
    pub fn readings(&self) -> (Reading, Causality, Order) {
        let reading = match self.said.reading.unwrap_or_default() {
            protocol::Reading::Prefix => Reading::Prefix,
            protocol::Reading::Closed => Reading::Closed,
        };
        let causality = match self.said.causality.unwrap_or_default() {
            protocol::Causality::Causal => Causality::Causal,
            protocol::Causality::Free => Causality::Free,
        };
        let order = match self.said.order.unwrap_or_default() {
            protocol::Order::Distance => Order::Distance,
            protocol::Order::Strict => Order::Strict,
        };
        (reading, causality, order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<(Options, Calls), OptionsError> {
        let mut calls = Calls::new(vec!["push(1)".into(), "pop()".into()])?;
        let options = Options::new(ObjectOptions::of_lines(lines.iter().copied())?, &mut calls)?;
        Ok((options, calls))
    }

    #[test]
    fn calls_are_found() {
        let lines = ["threads 3", "test push(1) | pop()", "nondeterministic pop() -> None", "order strict"];
        let (options, calls) = read(&lines).unwrap();
        assert_eq!((options.said.threads, options.tests.len()), (Some(3), 1));
        assert_eq!(calls.declared, [Declared { call: crate::CallId(1), result: "None".into() }]);
        assert_eq!(options.readings(), (Reading::Prefix, Causality::Causal, Order::Strict));
    }

    #[test]
    fn what_is_not_there_is_told() {
        for (line, expect) in [
            ("test-shape 2*2+x", "expected a shape such as 2*2+4"),
            ("ignore len()", "there is no call `len()`"),
            ("test len()", "there is no call `len()`"),
            ("exclusive len()", "there is no call `len()`"),
            ("nondeterministic len() -> 1", "there is no call `len()`"),
            ("threads 0", "for threads"),
        ] {
            let error = read(&[line]).unwrap_err().to_string();
            assert!(error.contains(expect), "{line}: {error}");
        }
    }

    /// The protocol knows no matrices, and names their limits.
    #[test]
    fn both_sides_have_the_same_limits() {
        for (line, fits) in [
            (format!("threads {}", Matrix::THREADS_MAX), true),
            (format!("threads {}", Matrix::THREADS_MAX + 1), false),
            (format!("ops {}", Matrix::CALLS_MAX), true),
            (format!("ops {}", Matrix::CALLS_MAX + 1), false),
            (format!("approximate k={}", selvedge_history::counting::kernel::K_MAX), true),
            (format!("approximate k={}", selvedge_history::counting::kernel::K_MAX + 1), false),
        ] {
            assert_eq!(read(&[&line]).is_ok(), fits, "{line}");
        }
    }
}
