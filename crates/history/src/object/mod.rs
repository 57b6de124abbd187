//! The objects built in: their sequential specifications, and how each reads the calls of a log.
//!
//! One file an object. An object is a [`Spec`] over [`Value`] results that also says which method names it takes and
//! which arguments and results fit them ([`Object`]). [`Kind`] is the closed list that the command line knows.

use std::fmt;

use crate::{Spec, Value};

pub mod queue;

/// A built-in specification that can read the calls of a log.
pub trait Object: Spec<Output = Value> {
    /// Reads a call. The error says what is wrong with the method or its argument.
    fn input(&self, method: &str, argument: &Value) -> Result<Self::Input, Misuse>;

    /// Checks that `output` is a result that the call can have at all (its type, not its truth).
    fn admits(&self, input: &Self::Input, output: &Value) -> Result<(), Misuse>;

    /// Pushes every result that the call may return in `state`: what a pending operation may have answered.
    fn answers(&self, state: &Self::State, input: &Self::Input, answers: &mut Vec<Value>);
}

/// Why a call or a return does not fit an object.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The object has no such method; the ones it has.
    Method(&'static [&'static str]),
    /// The argument is not what the method takes.
    Argument {
        /// What the method takes, such as "a value" or "a list of two values".
        expected: &'static str,
        /// What it was given.
        found: Value,
    },
    /// The result is not what the method can return.
    Result {
        /// What the method returns.
        expected: &'static str,
        /// What was recorded.
        found: Value,
    },
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misuse::Method(methods) => write!(f, "the object has no such method; it has {}", methods.join(", ")),
            Misuse::Argument { expected, found } => {
                write!(f, "the argument should be {expected}, not {} ({found})", found.kind())
            }
            Misuse::Result { expected, found } => {
                write!(f, "the result should be {expected}, not {} ({found})", found.kind())
            }
        }
    }
}

impl std::error::Error for Misuse {}
