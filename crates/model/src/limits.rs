//! How far a search may go, and how: limits, number of workers, reductions. A limit that is reached makes the answer
//! *unknown*, never *pass*.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a search ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The number of states given was reached.
    States,
    /// The memory given was used up.
    Memory,
    /// The time given was used up.
    Time,
    /// Somebody raised the flag that cancels.
    Interrupted,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::States => "the limit on states was reached",
            Limit::Memory => "the memory limit was reached",
            Limit::Time => "the time limit was reached",
            Limit::Interrupted => "interrupted",
        })
    }
}

/// Ways to look at less without changing the verdict. Each can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Of several specification sets at one implementation state only the smallest are followed.
    pub antichain: bool,
    /// Of several specification states that differ only in how long obligations may stay open, only the most patient count.
    pub patience: bool,
    /// Data values are renamed jointly in implementation and specification.
    pub renaming: bool,
    /// Threads that do the same are exchanged jointly in implementation and specification.
    pub threads: bool,
    /// Internal steps that commute with everything are taken in one order only.
    pub partial_order: bool,
    /// Operations are as short as they can be: a call is made only when the first step of its operation follows, a return at once. Other
    /// runs overlap more, so whatever is right with these is right with them.
    pub intervals: bool,
}

impl Reductions {
    /// Every reduction.
    pub const ALL: Reductions = Reductions {
        antichain: true,
        patience: true,
        renaming: true,
        threads: true,
        partial_order: true,
        intervals: true,
    };
    /// No reduction.
    pub const NONE: Reductions = Reductions {
        antichain: false,
        patience: false,
        renaming: false,
        threads: false,
        partial_order: false,
        intervals: false,
    };
}

impl Reductions {
    /// The names of those that are on, as the documentation has them.
    pub fn names(&self) -> Vec<&'static str> {
        let all = [
            (self.antichain, "antichain"),
            (self.patience, "patience"),
            (self.renaming, "renaming"),
            (self.threads, "threads"),
            (self.partial_order, "partial order"),
            (self.intervals, "intervals"),
        ];
        all.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect()
    }
}

impl Default for Reductions {
    fn default() -> Self {
        Reductions::ALL
    }
}

/// How a search is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// At most so many states (pairs, in a refinement).
    pub states_max: Option<u64>,
    /// At most so many bytes in the search's own tables.
    pub memory_max: Option<u64>,
    /// At most so long.
    pub time_max: Option<Duration>,
    /// Raised from outside to end the search.
    pub cancel: Option<Arc<AtomicBool>>,
    /// How many workers search; at least one.
    pub jobs: usize,
    /// Keeps 64 bits of each state in place of the state. Two states may then be taken for one, and the answer says so.
    /// Applies to searches of one system; refinement is always exact.
    pub hash_only: bool,
    /// What is switched on.
    pub reductions: Reductions,
    /// Whether a counterexample is also minimised in context switches.
    pub minimise: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            states_max: None,
            memory_max: None,
            time_max: None,
            cancel: None,
            jobs: 1,
            hash_only: false,
            reductions: Reductions::ALL,
            minimise: true,
        }
    }
}

impl Settings {
    /// A clock that starts now.
    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch { settings: self, started: Instant::now() }
    }
}

/// The limits of a search that is under way.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    settings: &'a Settings,
    started: Instant,
}

impl Watch<'_> {
    /// `Err` once a limit is reached.
    pub(crate) fn check(&self, states: u64, bytes: u64) -> Result<(), Limit> {
        let settings = self.settings;
        if settings.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Limit::Interrupted);
        }
        if settings.states_max.is_some_and(|max| states > max) {
            return Err(Limit::States);
        }
        if settings.memory_max.is_some_and(|max| bytes > max) {
            return Err(Limit::Memory);
        }
        if settings.time_max.is_some_and(|max| self.started.elapsed() > max) {
            return Err(Limit::Time);
        }
        Ok(())
    }

    /// Time since the search began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
