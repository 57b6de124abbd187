//! Why a history of an object is a violation, as data. [`crate::words::told`] makes a table and sentences of it.

use serde::{Deserialize, Serialize};

/// The language of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// C or C++.
    #[default]
    C,
    /// Rust.
    Rust,
}

/// How an operation came to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationEnd {
    /// It returned, with this result as text.
    Returned(String),
    /// It is blocked, in a run that is stuck: it waits for ever.
    Blocked,
    /// Something else ended the run, such as a data race or a crash. Nobody knows whether it would have returned.
    CutOff,
    /// The run ended before it was called.
    NotCalled,
    /// Its end is not what this is about.
    Unsaid,
}

/// An operation, and how it came to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// The call.
    pub name: String,
    /// Its end.
    pub end: OperationEnd,
}

/// A serial history: operations one after the other, each with the number of its column.
pub type SerialHistory = Vec<(usize, Operation)>;

/// A serial history that goes along with what happened for as long as any does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closest {
    /// The operations on the way: column and place.
    pub order: Vec<(usize, usize)>,
    /// The operation that then does something else: column and place.
    pub operation: (usize, usize),
    /// How it ends serially.
    pub serial: OperationEnd,
    /// How it ended.
    pub found: OperationEnd,
}

/// Why there is no witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No serial history explains it.
    NotSerial {
        /// The operation that waits without a reason, by column and place; nothing where the results are what is wrong.
        blocked: Option<(usize, usize)>,
        /// Serial histories in which everything returned.
        full: u64,
        /// Serial histories that end in a call that waits.
        stuck: u64,
        /// Calls that return in no serial history.
        never_return: Vec<String>,
        /// Whether several operations wait.
        several_wait: bool,
        /// The serial histories that come closest.
        closest: Vec<Closest>,
    },
    /// Two serial runs of the same calls, in the same order, differ.
    SerialRunsDiffer {
        /// The one.
        one: SerialHistory,
        /// The other.
        other: SerialHistory,
    },
    /// It is further out of order than allowed, or is not what a built-in object does.
    Refused(Refusal),
}

/// A history that was refused, with what was allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Classes and factors, as written.
    pub classes: String,
    /// The readings where they are not the usual ones.
    pub readings: String,
    /// Whether nothing was allowed out of order, so that this is plain linearizability.
    pub exact: bool,
    /// Why.
    pub why: RefusalWhy,
}

/// Why a history was refused. Operations are named by column and place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalWhy {
    /// What happened up to the return of an operation has no orders, whatever follows; what happened before it has.
    Unplaced {
        /// The operation.
        operation: (usize, usize),
        /// What stands too far off, where a somewhat larger factor would do.
        too_far: Option<TooFar>,
    },
    /// It lacks calls at its end.
    Unfinished {
        /// Which.
        later: Vec<String>,
    },
    /// An operation waits for ever without need.
    NeedNotBlock {
        /// The operation.
        operation: (usize, usize),
    },
    /// These operations are not those of a built-in object.
    Violates {
        /// The object.
        object: String,
        /// Those that show it.
        operations: Vec<(usize, usize)>,
    },
    /// Operation counting shows that they are not.
    Counted {
        /// The object.
        object: String,
        /// How many of the last bounds between operations were kept apart.
        k: usize,
        /// What the formula says.
        what: String,
        /// The operations that show it.
        operations: Vec<(usize, usize)>,
    },
}

/// An operation that stands too far from its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooFar {
    /// The factor that would do.
    pub factor: u32,
    /// The class whose factor it is.
    pub class: String,
    /// The operation, unless it is one that would follow.
    pub operation: Option<(usize, usize)>,
    /// Its place among those of its class, from 1.
    pub place: u32,
    /// Where a legal run has it.
    pub legal_place: u32,
}

/// What happened in a matrix, and why that is a violation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The number of the thread of each column but the first.
    pub threads: Vec<usize>,
    /// How many operations of the first column come before the threads; the others come after them.
    pub before: usize,
    /// The operations: of the calls before and after first, then of each thread.
    pub columns: Vec<Vec<Operation>>,
    /// Why; nothing where the end of the run says it.
    pub why: Option<Why>,
}

/// Whether a history may go on after its end, under quasi linearizability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// It suffices that it could go on to be right.
    #[default]
    Prefix,
    /// It is all there is.
    Closed,
}

/// Whether a value may come out before it went in, under quasi linearizability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Causality {
    /// It may not.
    #[default]
    Causal,
    /// It may.
    Free,
}

/// How far out of order is measured, under quasi linearizability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// By the distance between two places.
    #[default]
    Distance,
    /// Each operation is one of the first that remain, and the first is passed over only so often.
    Strict,
}

/// What an object was held against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// Its own serial behaviour.
    Itself,
    /// A specification in the test.
    Reference,
    /// Serial histories of a file.
    Observations,
    /// A built-in object.
    BuiltIn(String),
}

macro_rules! named {
    ($type:ident, $expected:literal, $($variant:ident => $name:literal),*) => {
        impl $type {
            /// The names, as a message lists them.
            pub const NAMES: &str = $expected;

            /// The name as users write it.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),*
                }
            }

            /// The one of that name.
            pub fn of_name(name: &str) -> Option<Self> {
                [$($type::$variant),*].into_iter().find(|one| one.name() == name)
            }
        }
    };
}

named!(Reading, "prefix or closed", Prefix => "prefix", Closed => "closed");
named!(Causality, "causal or free", Causal => "causal", Free => "free");
named!(Order, "distance or strict", Distance => "distance", Strict => "strict");

impl Against {
    /// The name in reports.
    pub fn name(&self) -> &str {
        match self {
            Against::Itself => "itself",
            Against::Reference => "reference",
            Against::Observations => "observations",
            Against::BuiltIn(name) => name,
        }
    }
}
