//! Why a search could not be made, or does not say everything, as data. [`crate::words`] has the sentences.

use serde::{Deserialize, Serialize};

use crate::cause::{Cause, Death};
use crate::object::ObjectKind;

/// Why no search was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SearchTrouble {
    /// A search inside of a search.
    Nested,
    /// A flag that is about objects, and a test that has none.
    FlagOfObjects {
        /// The flag.
        flag: String,
        /// The test.
        test: String,
    },
    /// A flag that is about tests, and an object.
    FlagOfTests {
        /// The flag.
        flag: String,
        /// The object.
        object: String,
    },
    /// Arguments for a `main`, and a program with tests of its own.
    ArgumentsOfTests,
    /// The addresses of the controlled heap are taken.
    HeapTaken,
    /// The system allows no more threads.
    NoThreads,
    /// The program has no test of that name, or none at all.
    NoTest,
    /// The schedule that is to be repeated is none.
    Schedule(String),
    /// What the caller was built for is another version of this interface.
    Version {
        /// What the runtime has.
        runtime: u32,
        /// What the test was built with.
        test: u32,
    },
}

/// Why an object cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ObjectTrouble {
    /// There is no object of that name.
    NoObject(String),
    /// Its description, its options or a file of it are wrong; the reader of that says why.
    Described(String),
    /// The specification that stands in for it has other calls.
    ReferenceCalls {
        /// Those of the object.
        object: Vec<String>,
        /// Those of the specification.
        reference: Vec<String>,
    },
    /// A call does not do the same again, alone.
    Unsteady(String),
    /// A call does not do the same again after the same calls.
    NotRepeated(Option<String>),
    /// One sequence of calls has several outcomes, which quasi linearizability has no use for.
    ManyOutcomes,
    /// The constructor does not work.
    Constructor(Cause),
    /// When threads end matters, which a file of serial histories does not say.
    ExitsInFile {
        /// The matrix.
        matrix: String,
    },
    /// The file of serial histories lacks a matrix that was given.
    NotInFile {
        /// The file.
        path: String,
        /// The matrix.
        matrix: String,
    },
    /// Readings without quasi linearizability.
    ReadingsAlone,
    /// A file of serial histories and a built-in specification.
    FileAndSpecification,
    /// Counting with quasi linearizability.
    ApproximateQuasi,
    /// Counting without a built-in object.
    ApproximateAlone {
        /// The object.
        object: String,
    },
    /// A file of serial histories beside a built-in specification, which needs none.
    SpecificationAndFile,
    /// The search could not be made.
    Search(SearchTrouble),
}

/// One of the two phases of Line-Up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Serial runs.
    One,
    /// Every schedule.
    Two,
}

/// Why not everything of an object was tested that had to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Shortfall {
    /// The time was up.
    Time(Phase),
    /// Somebody asked to stop.
    Interrupted(Phase),
    /// One of the others, for a matrix with so many serial orders.
    Orders {
        /// Which.
        why: Box<Shortfall>,
        /// How many orders; `u64::MAX` for more than that.
        orders: u64,
    },
    /// The end of a thread is an operation, which quasi linearizability has no use for.
    ExitsWithQuasi,
    /// Phase 1 did not end.
    PhaseOneEndless,
    /// The object has threads of its own, and its serial behaviours took more than so many runs.
    OwnThreads(u64),
    /// The same schedule did something else.
    Diverged(Phase),
    /// A serial run went on for so many steps without an end.
    SerialEndless(u64),
    /// Runs that were not fair had to be left out.
    Unfair,
    /// A matrix took more than so many runs.
    Runs(u64),
    /// A run touched more memory than is remembered for data races.
    RaceMemory,
    /// Operations wait, maybe for threads that were started before the search.
    Bystanders,
    /// A history could not be decided.
    Undecided,
    /// A run went on for more than so many steps.
    TooLong(u64),
    /// A worker process ended without an answer.
    WorkerLost,
    /// A process that searched ended, by itself or by somebody else.
    Died(Death),
    /// There is no matrix that the options allow.
    NoMatrix,
    /// No matrix that was tested has these calls.
    Untested(Vec<String>),
    /// A violation did not show again.
    NotAgain {
        /// What it was.
        kind: ObjectKind,
        /// In which matrix.
        matrix: String,
    },
    /// A run ended at something that is not controlled.
    Uncontrolled(Cause),
}

impl Shortfall {
    /// Whether more time would help.
    pub fn is_of_time(&self) -> bool {
        match self {
            Shortfall::Time(_) => true,
            Shortfall::Orders { why, .. } => why.is_of_time(),
            _ => false,
        }
    }
}
