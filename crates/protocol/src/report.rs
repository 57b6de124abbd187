//! What a session of the runtime saw.

use serde::{Deserialize, Serialize};

use selvedge_explore::Coverage;

use crate::finding::{Finding, FindingKind};
use crate::settings::Settings;
use crate::step::Place;
use crate::trouble::SearchTrouble;

/// How much was covered, as the runtime tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoverageRecord {
    /// Every class of schedules.
    Exhaustive,
    /// Every schedule with at most so many preemptions.
    Preemptions(u32),
    /// So many at random.
    Sampled(u64),
    /// The schedule asked for.
    Replayed,
    /// A limit, a finding or a program that does not repeat itself stopped the search.
    Partial,
}

impl CoverageRecord {
    /// Whether everything was covered that the settings ask for. A bound that was asked for and reached is that; less is not.
    pub fn reaches(self, settings: &Settings) -> bool {
        match self {
            CoverageRecord::Exhaustive => true,
            CoverageRecord::Preemptions(bound) => bound >= settings.preemptions,
            CoverageRecord::Sampled(runs) => runs >= settings.runs_max,
            CoverageRecord::Replayed | CoverageRecord::Partial => false,
        }
    }
}

impl From<Coverage> for CoverageRecord {
    fn from(coverage: Coverage) -> Self {
        match coverage {
            Coverage::Exhaustive => CoverageRecord::Exhaustive,
            Coverage::Preemptions(bound) => CoverageRecord::Preemptions(bound),
            Coverage::Sampled(runs) => CoverageRecord::Sampled(runs),
            Coverage::Replayed => CoverageRecord::Replayed,
            _ => CoverageRecord::Partial,
        }
    }
}

/// Plain accesses that are steps, because they race and may, or because a loop waits for what they read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainSteps {
    /// From where.
    pub places: Vec<Place>,
    /// How many runs were made before all of these were known. They count for nothing.
    pub runs_before: u64,
}

impl PlainSteps {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// These and those of another part of the search.
    pub fn join(&mut self, other: PlainSteps) {
        self.runs_before += other.runs_before;
        let new: Vec<Place> = other.places.into_iter().filter(|place| !self.places.contains(place)).collect();
        self.places.extend(new);
    }
}

/// What one test did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestReport {
    /// Its name.
    pub test: String,
    /// How many runs were made.
    pub runs: u64,
    /// How many of them were given up because they could only repeat others.
    pub redundant: u64,
    /// How many ended stuck, or with threads that could only have tried again what failed.
    pub blocked: u64,
    /// How many of these because an assumption of the test did not hold.
    #[serde(default)]
    pub excluded: u64,
    /// How many ended at the step limit.
    pub truncated: u64,
    /// How many were ended because they were not fair: the search then does not claim to be complete.
    #[serde(default)]
    pub unfair: u64,
    /// How many were not looked at for data races, because another run of their class was.
    #[serde(default)]
    pub spared: u64,
    /// How many touched more memory than is remembered for data races: the search then does not claim anything.
    #[serde(default)]
    pub forgotten: u64,
    /// How many steps, over all runs.
    pub points: u64,
    /// Processor time of the runs.
    pub cpu_seconds: f64,
    /// What was covered.
    pub coverage: CoverageRecord,
    /// The bound that was reached, for `bounded` and `portfolio`.
    pub bound: Option<u32>,
    /// How many distinct histories of marked operations were seen.
    pub histories: u64,
    /// The histories, when the settings ask for them.
    pub history_texts: Vec<String>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Runs that ended at something that is not controlled, or at the step limit: the search then does not claim anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknowns: Vec<Finding>,
    /// Whether a worker ended without an answer, so that the search could not go on.
    #[serde(default)]
    pub worker_lost: bool,
    /// Plain accesses that are steps.
    #[serde(default, skip_serializing_if = "PlainSteps::is_empty")]
    pub plain_steps: PlainSteps,
}

impl TestReport {
    /// Of a test that nothing is known of yet.
    pub fn new(test: &str) -> Self {
        TestReport {
            test: test.to_owned(),
            runs: 0,
            redundant: 0,
            blocked: 0,
            excluded: 0,
            truncated: 0,
            unfair: 0,
            spared: 0,
            forgotten: 0,
            points: 0,
            cpu_seconds: 0.0,
            coverage: CoverageRecord::Partial,
            bound: None,
            histories: 0,
            history_texts: vec![],
            findings: vec![],
            unknowns: vec![],
            worker_lost: false,
            plain_steps: PlainSteps::default(),
        }
    }

    /// Whether the like of it is kept: the same kind at the same place, and of runs without an end any; and so of threads that were left over.
    pub fn knows(&self, found: &Finding) -> bool {
        let anywhere = found.kind == FindingKind::StepLimit || found.is_last_resort();
        let same = |other: &Finding| other.kind == found.kind && (anywhere || other.place == found.place);
        self.findings.iter().chain(&self.unknowns).any(same)
    }

    /// Keeps what a run ended with: a violation, or something because of which nothing can be said.
    pub fn keep(&mut self, found: Finding) {
        if !self.knows(&found) {
            let kept = if found.kind.is_violation() { &mut self.findings } else { &mut self.unknowns };
            kept.push(found);
        }
    }

    /// Whether something was seen that ends a search. A run without an end says nothing of the others, which go on; and where a thread is left over others may show worse.
    pub fn ends_search(&self) -> bool {
        self.findings.iter().any(|found| !found.is_last_resort())
            || self.unknowns.iter().any(|found| found.kind != FindingKind::StepLimit)
    }

    /// Whether no run came to its end, for want of one in which all assumptions hold.
    pub fn tested_nothing(&self) -> bool {
        self.excluded > 0 && self.blocked + self.redundant + self.unfair + self.truncated >= self.runs
    }

    /// Whether the search has to start over, if it can: some plain accesses should have been steps.
    pub fn asks_for_steps(&self) -> bool {
        self.unknowns.iter().any(|found| !found.cause.plain_steps().is_empty())
    }

    /// What was seen, where runs that could not be looked at as a whole claim nothing, and what is told where there is nothing worse is left out where there is.
    pub fn limited(mut self) -> Self {
        if self.findings.iter().any(|found| !found.is_last_resort() && !found.settings.keep_going) {
            self.findings.retain(|found| !found.is_last_resort());
        }
        let unclear = self.forgotten > 0 || !self.unknowns.is_empty() || self.tested_nothing();
        if unclear && self.findings.is_empty() {
            (self.coverage, self.bound) = (CoverageRecord::Partial, None);
        }
        self
    }
}

/// What all tests of a program did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// One for each test that ran.
    pub tests: Vec<TestReport>,
    /// Why the runtime could not go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<SearchTrouble>,
    /// One for each object that was tested.
    #[serde(default)]
    pub objects: Vec<crate::object::ObjectReport>,
    /// The program that ran the test by itself, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
}

impl Report {
    /// Adds what another search of the same program reported.
    pub fn extend(&mut self, other: Report) {
        self.tests.extend(other.tests);
        self.objects.extend(other.objects);
        self.error = self.error.take().or(other.error);
        self.host = self.host.take().or(other.host);
    }

    /// Says in every finding which program it is of.
    pub fn name_program(&mut self, identity: &str) {
        let tests = self.tests.iter_mut().flat_map(|test| test.findings.iter_mut().chain(&mut test.unknowns));
        let objects = self
            .objects
            .iter_mut()
            .flat_map(|object| object.findings.iter_mut().map(|found| &mut found.finding).chain(&mut object.unknowns));
        for finding in tests.chain(objects) {
            identity.clone_into(&mut finding.program);
        }
    }
}

/// A program that runs its tests itself, as those that cargo builds do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its file.
    pub executable: std::path::PathBuf,
    /// Where it ran.
    pub directory: std::path::PathBuf,
    /// The test function, where the harness says.
    pub function: Option<String>,
}
