//! What a user asks for beside the calls, as lines of text: the one form that C macros, Rust builders and flags share.

use std::fmt;

use selvedge_history::counting::kernel::K_MAX;
use selvedge_history::quasi::{Causality, Order, Reading};

use crate::calls::{Calls, CallsError, Declared};
use crate::matrix::{Matrix, MatrixError};
use crate::quasi::{ShapeError, shape_matrix};

/// What to test, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Matrices given by the user.
    pub tests: Vec<Matrix>,
    /// Whether they are in place of those that the program gives.
    pub replaced: bool,
    /// Calls before every matrix that is made up.
    pub initial: Vec<crate::CallId>,
    /// Calls after it.
    pub last: Vec<crate::CallId>,
    /// Every matrix up to this size, smallest first.
    pub auto: Option<usize>,
    /// How many threads random matrices have.
    pub threads: Option<usize>,
    /// How many calls each of them makes.
    pub ops: Option<usize>,
    /// How many random matrices.
    pub samples: Option<u64>,
    /// The seed they are drawn with.
    pub seed: Option<u64>,
    /// The preemption bound.
    pub preemptions: Option<u32>,
    /// Seconds for everything.
    pub time_max: Option<f64>,
    /// A file with serial histories to use instead of running phase 1.
    pub observations: Option<String>,
    /// A file to write serial histories to.
    pub write_observations: Option<String>,
    /// Go on after a matrix that fails, and keep one record of each.
    pub keep_going: bool,
    /// Report the matrix that fails as it is, and look for no smaller one.
    pub as_it_is: bool,
    /// Report data races.
    pub races: Option<bool>,
    /// Classes and factors of operations that may be out of order: quasi linearizability in place of linearizability.
    pub quasi: Vec<String>,
    /// Whether they are in place of those that the program gives.
    pub quasi_replaced: bool,
    /// The built-in object that it is held against.
    pub specification: Option<String>,
    /// The k of operation counting, which is to take the place of search.
    pub approximate: Option<usize>,
    /// Whether a history may go on after its end.
    pub reading: Reading,
    /// Whether a value may leave before it came.
    pub causality: Causality,
    /// How far out of order is measured.
    pub order: Order,
}

/// Why a line is not an option.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionsError {
    /// No such option.
    Unknown(String),
    /// Not a number in range.
    Number {
        /// The option.
        option: String,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A result without a call, or the other way round.
    Declared(String),
    /// A call that is not there.
    Calls(CallsError),
    /// Something that is not a matrix.
    Matrix(MatrixError),
    /// Something that is not a shape.
    Shape(ShapeError),
    /// Not one of a few words.
    Word {
        /// The option.
        option: String,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionsError::Unknown(option) => write!(f, "there is no option `{option}`"),
            OptionsError::Number { option, expected, found } => {
                write!(f, "expected {expected} for {option}, found `{found}`")
            }
            OptionsError::Declared(found) => {
                write!(f, "expected a call and a result such as `pop() -> None`, found `{found}`")
            }
            OptionsError::Calls(error) => error.fmt(f),
            OptionsError::Matrix(error) => error.fmt(f),
            OptionsError::Shape(error) => error.fmt(f),
            OptionsError::Word { option, expected, found } => {
                write!(f, "expected {expected} for {option}, found `{found}`")
            }
        }
    }
}

impl std::error::Error for OptionsError {}

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
    /// Reads one line: a word, and what it is set to. What concerns calls goes to `calls`.
    pub fn read(&mut self, line: &str, calls: &mut Calls) -> Result<(), OptionsError> {
        let (option, value) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match option {
            "" => {}
            "test" => self.tests.push(Matrix::parse(value, calls)?),
            // From the command line, in place of what the program says.
            "matrix" => {
                let matrix = Matrix::parse(value, calls)?;
                self.replace(matrix);
            }
            "test-shape" => self.tests.push(shape_matrix(value, calls)?),
            "shape" => {
                let matrix = shape_matrix(value, calls)?;
                self.replace(matrix);
            }
            "initial" => self.initial = Matrix::parse_sequence(value, calls)?,
            "final" => self.last = Matrix::parse_sequence(value, calls)?,
            "nondeterministic" => {
                let (call, result) =
                    value.rsplit_once("->").ok_or_else(|| OptionsError::Declared(value.chars().take(80).collect()))?;
                let (call, result) = (calls.find(call)?, result.trim().to_owned());
                calls.declared.push(Declared { call, result });
            }
            "ignore" => {
                let call = calls.find(value)?;
                calls.ignored.push(call);
            }
            "exclusive" => {
                let group = Matrix::parse_sequence(value, calls)?;
                calls.exclusive.push(group);
            }
            "observations" => self.observations = Some(value.to_owned()),
            "write-observations" => self.write_observations = Some(value.to_owned()),
            "keep-going" => self.keep_going = true,
            "no-shrink" => self.as_it_is = true,
            "races" => self.races = Some(value == "on"),
            "quasi" => self.quasi.push(value.to_owned()),
            "only-quasi" => {
                if !std::mem::replace(&mut self.quasi_replaced, true) {
                    self.quasi.clear();
                }
                self.quasi.push(value.to_owned());
            }
            "specification" => self.specification = Some(value.to_owned()),
            "reading" => {
                self.reading = word(
                    option,
                    value,
                    "prefix or closed",
                    [("prefix", Reading::Prefix), ("closed", Reading::Closed)],
                )?;
            }
            "causality" => {
                let words = [("causal", Causality::Causal), ("free", Causality::Free)];
                self.causality = word(option, value, "causal or free", words)?;
            }
            "order" => {
                let words = [("distance", Order::Distance), ("strict", Order::Strict)];
                self.order = word(option, value, "distance or strict", words)?;
            }
            _ => self.read_number(option, value)?,
        }
        Ok(())
    }

    /// Adds a matrix from the command line, in place of what the program says.
    fn replace(&mut self, matrix: Matrix) {
        if !std::mem::replace(&mut self.replaced, true) {
            self.tests.clear();
        }
        self.tests.push(matrix);
    }

    fn read_number(&mut self, option: &str, value: &str) -> Result<(), OptionsError> {
        let wrong = |expected| OptionsError::Number {
            option: option.to_owned(),
            expected,
            found: value.chars().take(40).collect(),
        };
        let between = |low: usize, high: usize, expected| {
            value.parse().ok().filter(|number| (low..=high).contains(number)).ok_or_else(|| wrong(expected))
        };
        match option {
            "approximate" => {
                let k = value.strip_prefix("k=").unwrap_or(value).parse().ok().filter(|&k| k <= K_MAX);
                self.approximate = Some(k.ok_or_else(|| wrong("k=N with N from 0 to 8"))?);
            }
            "auto" => self.auto = Some(between(1, 6, "a size from 1 to 6")?),
            "threads" => self.threads = Some(between(1, Matrix::THREADS_MAX, "a number from 1 to 16")?),
            "ops" => self.ops = Some(between(1, Matrix::CALLS_MAX, "a number from 1 to 200")?),
            "samples" => self.samples = Some(between(1, usize::MAX, "a number from 1")? as u64),
            "seed" => self.seed = Some(value.parse().map_err(|_| wrong("a number"))?),
            "preemptions" => self.preemptions = Some(value.parse().map_err(|_| wrong("a number"))?),
            "time" => {
                let seconds: Option<f64> = value.parse().ok().filter(|&time: &f64| time > 0.0 && time.is_finite());
                self.time_max = Some(seconds.ok_or_else(|| wrong("a number of seconds above 0"))?);
            }
            _ => return Err(OptionsError::Unknown(option.chars().take(40).collect())),
        }
        Ok(())
    }
}

/// One of a few words.
fn word<T: Copy, const N: usize>(
    option: &str,
    value: &str,
    expected: &'static str,
    words: [(&str, T); N],
) -> Result<T, OptionsError> {
    let found = words.iter().find(|(name, _)| *name == value);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| OptionsError::Word {
        option: option.to_owned(),
        expected,
        found: value.chars().take(40).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls() -> Calls {
        Calls::new(vec!["push(1)".into(), "pop()".into()]).unwrap()
    }

    #[test]
    fn lines_are_read() {
        let (mut options, mut calls) = (Options::default(), calls());
        for line in ["threads 3", "seed 7", "test push(1) | pop()", "nondeterministic pop() -> None", "time 1.5", ""] {
            options.read(line, &mut calls).unwrap();
        }
        assert_eq!((options.threads, options.seed, options.time_max), (Some(3), Some(7), Some(1.5)));
        assert_eq!(options.tests.len(), 1);
        assert_eq!(calls.declared, [Declared { call: crate::CallId(1), result: "None".into() }]);
    }

    #[test]
    fn wrong_lines() {
        for (line, expect) in [
            ("threads 0", "expected a number from 1 to 16 for threads, found `0`"),
            ("threads x", "found `x`"),
            ("ops 0", "for ops"),
            ("samples 0", "for samples"),
            ("approximate", "expected k=N with N from 0 to 8 for approximate, found ``"),
            ("approximate k=9", "found `k=9`"),
            ("time -1", "seconds above 0"),
            ("time inf", "seconds above 0"),
            ("colour blue", "there is no option `colour`"),
            ("reading open", "expected prefix or closed for reading, found `open`"),
            ("causality", "expected causal or free for causality, found ``"),
            ("order any", "expected distance or strict"),
            ("shape 2*2+x", "expected a shape such as 2*2+4"),
            ("nondeterministic pop()", "such as `pop() -> None`"),
            ("ignore len()", "there is no call `len()`"),
            ("test len()", "there is no call `len()`"),
        ] {
            let error = Options::default().read(line, &mut calls()).unwrap_err().to_string();
            assert!(error.contains(expect), "{line}: {error}");
        }
    }
}
