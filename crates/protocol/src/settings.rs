//! What the runtime is asked to do.

use serde::{Deserialize, Serialize};

use crate::step::Place;

/// How the schedules are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Preemption-bounded, bounds 0 to the one given.
    Bounded,
    /// One schedule of each class of equivalent ones.
    Dpor,
    /// Every schedule.
    Dfs,
    /// Drawn at random.
    Random,
    /// Random priorities.
    Pct,
    /// Bounds 0 to the one given, then `Dpor`.
    Portfolio,
}

impl Search {
    /// All of them.
    const ALL: [Search; 6] =
        [Search::Bounded, Search::Dpor, Search::Dfs, Search::Random, Search::Pct, Search::Portfolio];

    /// The name as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Search::Bounded => "bounded",
            Search::Dpor => "dpor",
            Search::Dfs => "dfs",
            Search::Random => "random",
            Search::Pct => "pct",
            Search::Portfolio => "portfolio",
        }
    }

    /// The one of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|search| search.name() == name)
    }
}

/// Which freed block `malloc` hands out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reuse {
    /// The one that was freed first: shows ABA errors.
    Fifo,
    /// The one that was freed last, as most allocators do.
    Lifo,
    /// Both, as a choice of the search.
    Branch,
    /// None: every use of a freed block is seen.
    Quarantine,
}

/// What is done about threads that are still running when a test has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leaks {
    /// They run to their end, and one that was left over is told where nothing worse is found.
    Report,
    /// They run to their end, and nothing is said of it.
    Allow,
    /// One that is left over ends the search.
    Stop,
}

/// Everything that decides what a session does. Given back, it does the same again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How to search.
    pub search: Search,
    /// The largest number of preemptions that `bounded` tries.
    pub preemptions: u32,
    /// The depth of the bugs that `pct` looks for.
    pub depth: u32,
    /// Stop after so many runs.
    pub runs_max: u64,
    /// The seed of `random` and `pct`.
    pub seed: u64,
    /// A run with more steps is a livelock.
    pub steps_max: u64,
    /// Stop after so many seconds.
    pub time_max: Option<f64>,
    /// So many bytes of memory each process of the search may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_max: Option<u64>,
    /// What `malloc` reuses.
    pub reuse: Reuse,
    /// Only the test with this name.
    pub test: Option<String>,
    /// What the program's own `main` gets behind its name, where that is the test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Which call of `selvedge::explore` at that place it was, counted from 1. A replay repeats that one only.
    pub call: u32,
    /// Go on after a finding, up to one of each kind and place.
    pub keep_going: bool,
    /// Report data races on plain accesses. Where they are allowed, plain accesses that race become steps.
    pub races: bool,
    /// The plain accesses from these places are steps from the beginning. A finding says here which were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plain_steps: Vec<Place>,
    /// Look for them in every run, and not only in one of each class of runs that differ in the order of independent steps.
    pub races_in_every_run: bool,
    /// Treat a thread that goes round a loop without effect as waiting for what it read to change.
    pub spins: bool,
    /// Do not search what follows from attempts that failed and that the code would only make again (`dpor`).
    pub retries: bool,
    /// Whether waits for a condition may end without a reason, once for each thread and place in a run.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub spurious: bool,
    /// What is done about threads that are left over; `None` where nothing is said, and then it depends on what is tested.
    pub leaks: Option<Leaks>,
    /// Put every distinct history into the report.
    pub histories: bool,
    /// Repeat this schedule instead of searching.
    pub replay: Option<String>,
    /// Stop in the debugger when the replay reaches what was found.
    pub stop_at_failure: bool,
    /// What flags say of objects, in place of what tests say.
    pub object: crate::options::ObjectOptions,
    /// How many processes share a search. What comes out does not depend on it.
    pub jobs: u32,
    /// After so many seconds a worker gives back what it has not done, for others to share. What comes out does not depend on it.
    pub slice: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            search: Search::Portfolio,
            preemptions: 2,
            depth: 3,
            runs_max: u64::MAX,
            seed: 1,
            steps_max: 20_000,
            time_max: None,
            memory_max: None,
            reuse: Reuse::Fifo,
            test: None,
            arguments: vec![],
            call: 0,
            keep_going: false,
            races: true,
            plain_steps: vec![],
            races_in_every_run: false,
            spins: true,
            retries: true,
            spurious: true,
            leaks: None,
            histories: false,
            replay: None,
            stop_at_failure: false,
            object: crate::options::ObjectOptions::default(),
            jobs: 1,
            slice: 0.5,
        }
    }
}

impl Settings {
    /// What is done about threads that a test leaves over.
    pub fn leaks(&self) -> Leaks {
        self.leaks.unwrap_or(Leaks::Report)
    }
}
