//! One matrix from beginning to end: both phases, and, when it fails, the smallest matrix that fails in the same way, with the
//! fewest preemptions.
//!
//! Invariant: what comes out is a function of the matrix, the object and the settings, as long as there is time: what is tried while
//! a matrix is made smaller is limited in runs, not in seconds. So another process can do it.

use std::collections::HashSet;
use std::rc::Rc;

use selvedge_lineup::{Matrix, Observation, smaller};
use selvedge_protocol::{CoverageRecord, Finding, ObjectKind, ObjectTrouble, PlainSteps, Search, Settings, Shortfall};
use serde::{Deserialize, Serialize};

use super::files::Files;
use super::matrix::{Bench, Found, Numbers, Outcome};
use super::object::Object;
use super::relaxed::Relaxing;
use crate::{plain_steps, sys};

/// A smaller matrix may take so many times the runs that the larger one took to fail, and [`TRIAL`] more.
const TRIALS: u64 = 3;
/// What a smaller matrix may take at least.
const TRIAL: u64 = 1_000;
/// How long the search for a smaller matrix may go on, in seconds. Only where there is no limit on the time for everything does
/// this ever matter.
const SHRINKING: f64 = 120.0;

/// How long a small matrix that fails may take to fail once more, in seconds.
const AGAIN: f64 = 60.0;

/// What came of a matrix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Verdict {
    /// Everything was explained.
    Pass(CoverageRecord),
    /// Something is wrong.
    Fail {
        /// What.
        kind: ObjectKind,
        /// The smallest matrix that shows it, as text.
        smallest: String,
        /// What was covered of the schedules, when the search went on after it.
        coverage: CoverageRecord,
    },
    /// A limit was reached.
    Unknown(Shortfall),
    /// A run ended at something that is not controlled.
    Uncontrolled(Box<Finding>),
    /// The object cannot be tested.
    Wrong(ObjectTrouble),
}

/// What came of a matrix, and what it cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// What came of it.
    pub verdict: Verdict,
    /// What the two phases cost; what came after is not in it.
    pub numbers: Numbers,
    /// Plain accesses that are steps.
    pub plain_steps: PlainSteps,
}

/// Who looks at matrices.
pub struct Examiner<'a> {
    /// How matrices are run.
    pub bench: Bench<'a>,
    /// The object.
    pub object: Rc<Object>,
    /// Serial histories from before, and for later.
    pub files: Files,
    /// How to search.
    pub settings: &'a Settings,
    /// What is allowed, when quasi linearizability is asked for.
    pub relaxing: Option<Relaxing>,
}

impl Examiner<'_> {
    /// Both phases of a matrix, and the smallest that fails like it.
    pub fn examine(&mut self, matrix: &Matrix) -> Answer {
        let mut numbers = Numbers::default();
        self.bench.counts = self.object.options.said.keep_going && self.relaxing.is_some();
        let outcome = self.phases(matrix, &mut numbers);
        self.bench.counts = false;
        let plain_steps = plain_steps::record(numbers.cut);
        let verdict = match outcome {
            Outcome::Pass(coverage) => Verdict::Pass(coverage),
            Outcome::Unknown(why) => Verdict::Unknown(why),
            Outcome::Uncontrolled(found) => Verdict::Uncontrolled(found),
            Outcome::Wrong(why) => Verdict::Wrong(why),
            Outcome::Fail(found) => {
                let as_it_is = self.settings.replay.is_some() || self.object.options.said.as_it_is;
                let smallest =
                    if as_it_is { matrix.clone() } else { self.shrink(matrix.clone(), found.kind, numbers.runs) };
                let smallest = smallest.to_text(&self.object.calls);
                Verdict::Fail { kind: found.kind, smallest, coverage: found.coverage }
            }
        };
        Answer { verdict, numbers, plain_steps }
    }

    /// What is wrong with a matrix that fails, whoever saw it.
    pub fn again(&mut self, matrix: &Matrix) -> Option<Found> {
        let saved = std::mem::replace(&mut self.bench.deadline, sys::now() + AGAIN);
        // No search ends before the next one is tried, as it was on the way down.
        (self.bench.insists, self.bench.trial) = (true, Some(u64::MAX));
        let outcome = self.phases(matrix, &mut Numbers::default());
        (self.bench.insists, self.bench.trial, self.bench.deadline) = (false, None, saved);
        match outcome {
            Outcome::Fail(found) => Some(*found),
            _ => None,
        }
    }

    fn phases(&mut self, matrix: &Matrix, numbers: &mut Numbers) -> Outcome {
        match self.observation(matrix, numbers) {
            Ok(observation) => {
                if self.bench.exits && self.object.options.said.write_observations.is_some() {
                    let matrix = matrix.to_text(&self.object.calls);
                    return Outcome::Wrong(ObjectTrouble::ExitsInFile { matrix });
                }
                self.files.keep(matrix, &observation, &self.object);
                self.bench.explore(matrix, observation, numbers)
            }
            Err(outcome) => outcome,
        }
    }

    /// The serial histories, from a file or from serial runs.
    fn observation(&mut self, matrix: &Matrix, numbers: &mut Numbers) -> Result<Rc<Observation>, Outcome> {
        match self.files.find(matrix, &self.object).map_err(Outcome::Wrong)? {
            Some(observation) => {
                // What a file says is about calls alone.
                self.bench.exits = false;
                numbers.serial_full += observation.full();
                numbers.serial_stuck += observation.stuck();
                Ok(observation)
            }
            None => self.bench.observe(matrix, numbers),
        }
    }

    /// Goes down as long as something smaller fails in the same way.
    fn shrink(&mut self, mut matrix: Matrix, kind: ObjectKind, mut runs: u64) -> Matrix {
        let deadline = self.bench.deadline.min(sys::now() + SHRINKING);
        let saved = std::mem::replace(&mut self.bench.deadline, deadline);
        let in_file = self.files.knows(&matrix);
        'down: while sys::now() < deadline {
            self.bench.trial = Some(TRIALS.saturating_mul(runs).saturating_add(TRIAL));
            for candidate in self.candidates(&matrix) {
                if in_file && !self.files.knows(&candidate) {
                    continue;
                }
                let mut numbers = Numbers::default();
                if matches!(self.phases(&candidate, &mut numbers), Outcome::Fail(less) if less.kind == kind) {
                    (matrix, runs) = (candidate, numbers.runs);
                    continue 'down;
                }
            }
            break;
        }
        self.bench.trial = None;
        self.bench.deadline = saved;
        matrix
    }

    /// Smaller matrices that may stand for this one. Where insertions and removals have to match, also those with two calls less.
    fn candidates(&self, matrix: &Matrix) -> Vec<Matrix> {
        let mut all = smaller(matrix);
        let Some(relaxing) = &self.relaxing else { return all };
        let mut seen: HashSet<Matrix> = all.iter().cloned().collect();
        let two: Vec<Matrix> = all.iter().flat_map(smaller).filter(|less| seen.insert(less.clone())).collect();
        all.extend(two);
        all.retain(|less| relaxing.keeps(matrix, less));
        all
    }

    /// The same with the fewest preemptions, when the search was one that does not count them.
    pub fn calm(&mut self, matrix: &Matrix, found: Found) -> Found {
        if found.preemptions.is_some() || found.kind == ObjectKind::Nondeterministic || self.settings.replay.is_some() {
            return found;
        }
        if self.object.options.said.as_it_is {
            return found;
        }
        let preemptions = self.settings.preemptions.saturating_add(2);
        let settings = Settings { search: Search::Bounded, preemptions, ..self.settings.clone() };
        let bench = &mut self.bench;
        let mut calmer = Bench {
            object: bench.object.clone(),
            globals: bench.globals,
            settings: &settings,
            criterion: &mut *bench.criterion,
            deadline: bench.deadline,
            beyond: 0,
            trial: Some(CALM),
            insists: false,
            counts: false,
            exits: false,
        };
        let mut numbers = Numbers::default();
        let outcome = match calmer.observe(matrix, &mut numbers) {
            Ok(observation) => calmer.explore(matrix, observation, &mut numbers),
            Err(outcome) => outcome,
        };
        match outcome {
            Outcome::Fail(calmer) if calmer.kind == found.kind => *calmer,
            _ => found,
        }
    }
}

/// How many runs the search for fewer preemptions may take.
const CALM: u64 = 100_000;
