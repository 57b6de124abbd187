//! The answers that every check gives.

use std::fmt;

/// The answer of a check: a value, never an error.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<W, V> {
    /// The property holds; the witness shows it.
    Pass(W),
    /// The property does not hold; the violation shows it.
    Fail(V),
    /// A limit was reached before an answer was found.
    Unknown(Limit),
}

/// Why a check ended without an answer.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The time given was used up.
    Time,
    /// The memory given was used up.
    Memory,
    /// The user stopped it.
    Interrupted,
}

impl Limit {
    /// The name of the limit in JSON: "time", "memory" or "interrupted".
    pub fn name(self) -> &'static str {
        match self {
            Limit::Time => "time",
            Limit::Memory => "memory",
            Limit::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Time => "the time limit was reached",
            Limit::Memory => "the memory limit was reached",
            Limit::Interrupted => "interrupted",
        })
    }
}

/// How much of what could have happened an answer speaks about.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every case there is.
    Exhaustive,
    /// A number of cases drawn at random.
    Sampled {
        /// How many.
        runs: u64,
    },
}

impl<W, V> Verdict<W, V> {
    /// "pass", "fail" or "unknown".
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Pass(_) => "pass",
            Verdict::Fail(_) => "fail",
            Verdict::Unknown(_) => "unknown",
        }
    }
}
