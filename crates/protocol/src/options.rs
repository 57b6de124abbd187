//! What a user asks for of an object beside its calls.
//!
//! A test says it in lines of text, `SELVEDGE_OPTION(queue, "threads 3")` in C and what the builder of `selvedge::object` hands over in Rust. They are read
//! once, where they enter the runtime ([`ObjectOptions::read`]). Flags of a command come as the type, and take the place of what the test says
//! ([`ObjectOptions::overridden`]). Calls and matrices are texts here: what they mean depends on the object.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::explanation::{Causality, Order, Reading};

/// A matrix as the user gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// Its calls: `enq(1), deq() | deq()`.
    Matrix(String),
    /// Its shape: `2*2+4`.
    Shape(String),
}

/// A result that a call may have at any time, without effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// The call.
    pub call: String,
    /// The result.
    pub result: String,
}

/// What to test of an object, and how. What is not said is left to the runtime.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectOptions {
    /// Matrices to test; none means that they are made up.
    pub matrices: Vec<Given>,
    /// Calls before every matrix that is made up.
    pub initial: Option<String>,
    /// Calls after it.
    pub last: Option<String>,
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
    /// Results that calls may have without effect.
    pub nondeterministic: Vec<Declared>,
    /// Calls whose results are not compared.
    pub ignore: Vec<String>,
    /// Groups of calls that only one thread makes.
    pub exclusive: Vec<String>,
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
    /// Whether waits for a condition may end without a reason.
    pub spurious: Option<bool>,
    /// Classes and factors of operations that may be out of order: quasi linearizability in place of linearizability.
    pub quasi: Vec<String>,
    /// The built-in object that it is held against.
    pub specification: Option<String>,
    /// The k of operation counting, which is to take the place of search.
    pub approximate: Option<usize>,
    /// Whether a history may go on after its end.
    pub reading: Option<Reading>,
    /// Whether a value may leave before it came.
    pub causality: Option<Causality>,
    /// How far out of order is measured.
    pub order: Option<Order>,
}

/// Why a line is not an option.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// No such option.
    Unknown(String),
    /// Not what the option takes.
    Value {
        /// The option.
        option: String,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A result without a call, or the other way round.
    Declared(String),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown(option) => write!(f, "there is no option `{option}`"),
            OptionError::Value { option, expected, found } => {
                write!(f, "expected {expected} for {option}, found `{found}`")
            }
            OptionError::Declared(found) => {
                write!(f, "expected a call and a result such as `pop() -> None` for nondeterministic, found `{found}`")
            }
        }
    }
}

impl std::error::Error for OptionError {}

/// The largest matrix: what `threads` and `ops` may be.
pub const THREADS_MAX: usize = 16;
/// How many calls a thread of a matrix may make.
pub const CALLS_MAX: usize = 200;
/// The largest k of operation counting.
pub const K_MAX: usize = 8;
/// The largest size up to which all matrices are tested.
const AUTO_MAX: usize = 6;

const APPROXIMATE: &str = "k=N with N from 0 to 8";
const AUTO: &str = "a size from 1 to 6";
const THREADS: &str = "a number from 1 to 16";
const OPS: &str = "a number from 1 to 200";
const SAMPLES: &str = "a number from 1";
const TIME: &str = "a number of seconds above 0";

impl ObjectOptions {
    /// What these lines say.
    pub fn of_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Self, OptionError> {
        let mut options = ObjectOptions::default();
        lines.into_iter().try_for_each(|line| options.read(line))?;
        Ok(options)
    }

    /// Reads one line: a word, and what it is set to.
    pub fn read(&mut self, line: &str) -> Result<(), OptionError> {
        let (option, value) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let wrong = |expected| OptionError::Value {
            option: option.to_owned(),
            expected,
            found: value.chars().take(40).collect(),
        };
        let text = || value.to_owned();
        match option {
            "" => {}
            "test" => self.matrices.push(Given::Matrix(text())),
            "test-shape" => self.matrices.push(Given::Shape(text())),
            "initial" => self.initial = Some(text()),
            "final" => self.last = Some(text()),
            "nondeterministic" => {
                let (call, result) =
                    value.rsplit_once("->").ok_or_else(|| OptionError::Declared(value.chars().take(80).collect()))?;
                self.nondeterministic.push(Declared { call: call.trim().to_owned(), result: result.trim().to_owned() });
            }
            "ignore" => self.ignore.push(text()),
            "exclusive" => self.exclusive.push(text()),
            "observations" => self.observations = Some(text()),
            "write-observations" => self.write_observations = Some(text()),
            "keep-going" => self.keep_going = true,
            "no-shrink" => self.as_it_is = true,
            "races" => {
                self.races = Some(match value {
                    "on" => true,
                    "off" => false,
                    _ => return Err(wrong("on or off")),
                });
            }
            "spurious" => {
                self.spurious = Some(match value {
                    "on" => true,
                    "off" => false,
                    _ => return Err(wrong("on or off")),
                });
            }
            "quasi" => self.quasi.push(text()),
            "specification" => self.specification = Some(text()),
            "reading" => self.reading = Some(Reading::of_name(value).ok_or_else(|| wrong(Reading::NAMES))?),
            "causality" => self.causality = Some(Causality::of_name(value).ok_or_else(|| wrong(Causality::NAMES))?),
            "order" => self.order = Some(Order::of_name(value).ok_or_else(|| wrong(Order::NAMES))?),
            _ => return self.read_number(option, value),
        }
        Ok(())
    }

    fn read_number(&mut self, option: &str, value: &str) -> Result<(), OptionError> {
        let wrong = |expected| OptionError::Value {
            option: option.to_owned(),
            expected,
            found: value.chars().take(40).collect(),
        };
        let number = |expected| value.parse::<usize>().map(Some).map_err(|_| wrong(expected));
        match option {
            "approximate" => {
                let k = value.strip_prefix("k=").unwrap_or(value).parse();
                self.approximate = Some(k.map_err(|_| wrong(APPROXIMATE))?);
            }
            "auto" => self.auto = number(AUTO)?,
            "threads" => self.threads = number(THREADS)?,
            "ops" => self.ops = number(OPS)?,
            "samples" => self.samples = Some(value.parse().map_err(|_| wrong(SAMPLES))?),
            "seed" => self.seed = Some(value.parse().map_err(|_| wrong("a number"))?),
            "preemptions" => self.preemptions = Some(value.parse().map_err(|_| wrong("a number"))?),
            "time" => self.time_max = Some(value.parse().map_err(|_| wrong(TIME))?),
            _ => return Err(OptionError::Unknown(option.chars().take(40).collect())),
        }
        self.check()
    }

    /// Whether every number is one that the option takes, wherever it comes from.
    pub fn check(&self) -> Result<(), OptionError> {
        fn within<T: PartialOrd + Copy + fmt::Display>(
            option: &str,
            value: Option<T>,
            (low, high): (T, T),
            expected: &'static str,
        ) -> Result<(), OptionError> {
            match value {
                Some(value) if !(low..=high).contains(&value) => {
                    let found = if option == "approximate" { format!("k={value}") } else { value.to_string() };
                    Err(OptionError::Value { option: option.to_owned(), expected, found })
                }
                _ => Ok(()),
            }
        }
        within("approximate", self.approximate, (0, K_MAX), APPROXIMATE)?;
        within("auto", self.auto, (1, AUTO_MAX), AUTO)?;
        within("threads", self.threads, (1, THREADS_MAX), THREADS)?;
        within("ops", self.ops, (1, CALLS_MAX), OPS)?;
        within("samples", self.samples, (1, u64::MAX), SAMPLES)?;
        within("time", self.time_max, (f64::MIN_POSITIVE, f64::MAX), TIME)
    }

    /// The same, where what flags say takes the place of what the test says; what only adds to it is added.
    pub fn overridden(mut self, flags: &ObjectOptions) -> Self {
        fn all<T: Clone>(own: &mut Vec<T>, flags: &[T]) {
            if !flags.is_empty() {
                flags.clone_into(own);
            }
        }
        all(&mut self.matrices, &flags.matrices);
        all(&mut self.quasi, &flags.quasi);
        self.nondeterministic.extend(flags.nondeterministic.iter().cloned());
        self.ignore.extend(flags.ignore.iter().cloned());
        self.exclusive.extend(flags.exclusive.iter().cloned());
        let flags = flags.clone();
        self.initial = flags.initial.or(self.initial);
        self.last = flags.last.or(self.last);
        self.auto = flags.auto.or(self.auto);
        self.threads = flags.threads.or(self.threads);
        self.ops = flags.ops.or(self.ops);
        self.samples = flags.samples.or(self.samples);
        self.seed = flags.seed.or(self.seed);
        self.preemptions = flags.preemptions.or(self.preemptions);
        self.time_max = flags.time_max.or(self.time_max);
        self.observations = flags.observations.or(self.observations);
        self.write_observations = flags.write_observations.or(self.write_observations);
        self.keep_going |= flags.keep_going;
        self.as_it_is |= flags.as_it_is;
        self.races = flags.races.or(self.races);
        self.spurious = flags.spurious.or(self.spurious);
        self.specification = flags.specification.or(self.specification);
        self.approximate = flags.approximate.or(self.approximate);
        self.reading = flags.reading.or(self.reading);
        self.causality = flags.causality.or(self.causality);
        self.order = flags.order.or(self.order);
        self
    }

    /// What a replay asks for: this matrix as it is, with nothing before and after it but what is in its text; and, of these flags, those that
    /// say what the object is and what it is held against. The serial histories of a file only where they have the matrix.
    pub fn for_replay(&self, matrix: &str, in_file: bool) -> Self {
        ObjectOptions {
            matrices: vec![Given::Matrix(matrix.to_owned())],
            initial: Some(String::new()),
            last: Some(String::new()),
            nondeterministic: self.nondeterministic.clone(),
            ignore: self.ignore.clone(),
            exclusive: self.exclusive.clone(),
            races: self.races,
            spurious: self.spurious,
            quasi: self.quasi.clone(),
            specification: self.specification.clone(),
            approximate: self.approximate,
            reading: self.reading,
            causality: self.causality,
            order: self.order,
            observations: self.observations.clone().filter(|_| in_file),
            ..ObjectOptions::default()
        }
    }

    /// The flags that stand for what is said here, as they are typed. They are about objects alone.
    pub fn flags(&self) -> Vec<&'static str> {
        let is_shape = |given: &Given| matches!(given, Given::Shape(_));
        let flags = [
            ("--matrix", self.matrices.iter().any(|given| !is_shape(given))),
            ("--shape", self.matrices.iter().any(is_shape)),
            ("--quasi", !self.quasi.is_empty()),
            ("--specification", self.specification.is_some()),
            ("--approximate", self.approximate.is_some()),
            ("--reading", self.reading.is_some()),
            ("--causality", self.causality.is_some()),
            ("--order", self.order.is_some()),
            ("--auto", self.auto.is_some()),
            ("--threads", self.threads.is_some()),
            ("--ops", self.ops.is_some()),
            ("--samples", self.samples.is_some()),
            ("--observations", self.observations.is_some()),
            ("--write-observations", self.write_observations.is_some()),
            ("--no-shrink", self.as_it_is),
            ("--every-matrix", self.keep_going),
        ];
        flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let lines = ["threads 3", "seed 7", "test push(1) | pop()", "nondeterministic pop() -> None", "time 1.5", ""];
        let options = ObjectOptions::of_lines(lines).unwrap();
        assert_eq!((options.threads, options.seed, options.time_max), (Some(3), Some(7), Some(1.5)));
        assert_eq!(options.matrices, [Given::Matrix("push(1) | pop()".into())]);
        assert_eq!(options.nondeterministic, [Declared { call: "pop()".into(), result: "None".into() }]);
    }

    #[test]
    fn wrong_lines_name_their_option() {
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
            ("races maybe", "expected on or off for races, found `maybe`"),
            ("spurious often", "expected on or off for spurious, found `often`"),
            ("reading open", "expected prefix or closed for reading, found `open`"),
            ("causality", "expected causal or free for causality, found ``"),
            ("order any", "expected distance or strict"),
            ("nondeterministic pop()", "such as `pop() -> None`"),
        ] {
            let error = ObjectOptions::of_lines([line]).unwrap_err().to_string();
            assert!(error.contains(expect), "{line}: {error}");
        }
    }

    #[test]
    fn flags_take_the_place_of_what_the_test_says() {
        let own = ObjectOptions::of_lines(["test a()", "quasi deq=1", "ignore a()", "threads 3", "seed 1"]).unwrap();
        let flags = ObjectOptions::of_lines(["test b()", "quasi deq=2", "ignore b()", "threads 2"]).unwrap();
        let both = own.clone().overridden(&flags);
        assert_eq!(both.matrices, flags.matrices);
        assert_eq!((both.quasi, both.threads, both.seed), (vec!["deq=2".to_owned()], Some(2), Some(1)));
        assert_eq!(both.ignore, ["a()", "b()"]);
        assert_eq!(own.clone().overridden(&ObjectOptions::default()), own);
        assert_eq!(flags.flags(), ["--matrix", "--quasi", "--threads"]);
    }

    #[test]
    fn a_replay_keeps_what_the_object_is_held_against() {
        let lines = ["specification queue", "ignore a()", "threads 3", "observations f.xml", "no-shrink"];
        let options = ObjectOptions::of_lines(lines).unwrap();
        let again = options.for_replay("a() | b()", false);
        let said = ["specification queue", "ignore a()", "initial", "final", "test a() | b()"];
        assert_eq!(again, ObjectOptions::of_lines(said).unwrap());
        assert_eq!(options.for_replay("a()", true).observations.as_deref(), Some("f.xml"));
    }
}
