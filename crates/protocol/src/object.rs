//! What the runtime is asked about objects, and what it answers.

use serde::{Deserialize, Serialize};

use crate::explanation::{Against, Causality, Explanation, Language, Order, Reading};
use crate::finding::Finding;
use crate::report::{CoverageRecord, PlainSteps, TestReport};
use crate::trouble::{ObjectTrouble, Shortfall};

/// What is wrong with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ObjectKind {
    /// Results that no serial order of the operations explains.
    NotLinearizable,
    /// Results further out of order than allowed.
    NotQuasiLinearizable,
    /// An operation that waits, although after no serial order it would.
    Stuck,
    /// Serial runs of the same calls that differ.
    Nondeterministic,
    /// A panic or exception that no serial run has.
    Panic,
    /// A data race.
    Race,
    /// Memory used after it was freed, freed twice, or never allocated.
    Memory,
    /// Anything else that ends a run badly: a signal, an assertion, a lock used wrongly.
    Crash,
}

impl ObjectKind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::NotLinearizable => "not-linearizable",
            ObjectKind::NotQuasiLinearizable => "not-quasi-linearizable",
            ObjectKind::Stuck => "stuck",
            ObjectKind::Nondeterministic => "nondeterministic",
            ObjectKind::Panic => "panic",
            ObjectKind::Race => "race",
            ObjectKind::Memory => "memory",
            ObjectKind::Crash => "crash",
        }
    }
}

/// A violation by an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectFinding {
    /// What is wrong.
    pub kind: ObjectKind,
    /// The smallest matrix found that shows it.
    pub matrix: String,
    /// The matrix that it was first seen in.
    pub first_matrix: String,
    /// Threads by calls.
    pub dimension: String,
    /// How many preemptions the schedule has, where that is known; no schedule with fewer shows it.
    pub preemptions: Option<u32>,
    /// What happened, and why that is a violation.
    pub explanation: Explanation,
    /// The language of the object.
    pub language: Language,
    /// The run.
    pub finding: Finding,
}

/// What is known of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatrixVerdict {
    /// Every history is explained.
    Pass,
    /// Something is wrong.
    Fail,
    /// Neither is known.
    Unknown,
}

/// What came of one matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixRecord {
    /// The matrix.
    pub matrix: String,
    /// What came of it.
    pub verdict: MatrixVerdict,
    /// What is wrong, when something is.
    pub kind: Option<ObjectKind>,
    /// The smallest matrix that fails in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<String>,
    /// Serial histories in which everything returned.
    pub serial_full: u64,
    /// Serial histories that end in an operation that blocks.
    pub serial_stuck: u64,
    /// Distinct histories of phase 2.
    pub histories: u64,
    /// What was counted of them under quasi linearizability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quasi: Option<QuasiCounts>,
    /// Runs of phase 1.
    pub serial_runs: u64,
    /// Runs of phase 2.
    pub runs: u64,
    /// Processor time of phase 1.
    pub serial_seconds: f64,
    /// Processor time of phase 2.
    pub seconds: f64,
    /// What was covered of the schedules.
    pub coverage: CoverageRecord,
}

/// What was allowed under quasi linearizability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuasiRecord {
    /// Classes and factors, as written.
    pub classes: String,
    /// Whether a history may go on after its end.
    pub reading: Reading,
    /// Whether a value may leave before it came.
    pub causality: Causality,
    /// How far out of order is measured.
    pub order: Order,
    /// What it was held against.
    pub specification: Against,
    /// What was counted, over all matrices.
    pub counts: QuasiCounts,
    /// The matrices that are not ones that the closed reading asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// A matrix that does not drain the object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The matrix.
    pub matrix: String,
    /// What it lacks.
    pub lacks: String,
}

/// What a built-in object was held against, where that was asked for without relaxation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltInRecord {
    /// The built-in object.
    pub specification: String,
    /// Whether operation counting was to take the place of search.
    pub approximate: bool,
    /// The k of counting.
    pub k: usize,
    /// How many histories only counting looked at, without seeing a violation.
    pub counted: u64,
}

/// Which matrices were planned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// How many the user gave.
    pub given: u64,
    /// All up to some size.
    pub enumerated: Option<Enumerated>,
    /// Some at random.
    pub random: Option<RandomPlan>,
}

/// All matrices up to some size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enumerated {
    /// How many there are.
    pub count: u64,
    /// The most threads that one has.
    pub threads: usize,
    /// The most calls that a thread makes.
    pub ops: usize,
    /// Of how many calls they are made, where that is not all.
    pub first_calls: Option<usize>,
}

/// Matrices that are drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RandomPlan {
    /// How many.
    pub count: u64,
    /// Whether all of them were asked for, and not only what fits into the time.
    pub wanted: bool,
    /// How many threads they have.
    pub threads: usize,
    /// How many calls each makes.
    pub ops: usize,
    /// What they are drawn with.
    pub seed: u64,
}

/// What was counted of the histories of phase 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuasiCounts {
    /// Histories that are linearizable.
    pub histories_linearizable: u64,
    /// Histories that are not even quasi linearizable.
    pub histories_buggy: u64,
    /// The orders in which the operations of all histories might have taken effect.
    pub linearizations: u64,
    /// What the searches visited.
    pub states: u64,
}

/// What came of one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectReport {
    /// Its name.
    pub object: String,
    /// The criterion that histories were held against.
    pub criterion: String,
    /// How many matrices were tested to their end.
    pub matrices: u64,
    /// How many of them failed.
    pub matrices_failed: u64,
    /// How many of them under every schedule.
    pub matrices_exhaustive: u64,
    /// How many had to be tested.
    pub matrices_wanted: u64,
    /// How many random matrices were tested.
    #[serde(default)]
    pub random_tested: u64,
    /// How many random matrices only fill up the time that is left; they need not be tested.
    #[serde(default)]
    pub random_optional: u64,
    /// What the matrices were.
    pub plan: PlanRecord,
    /// Serial histories, over all matrices.
    pub serial_histories: u64,
    /// Distinct histories of phase 2, over all matrices.
    pub histories: u64,
    /// How many of them were stuck, with good reason.
    pub stuck: u64,
    /// What was allowed and counted, when quasi linearizability was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quasi: Option<QuasiRecord>,
    /// What it was held against, when that is a built-in object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built_in: Option<BuiltInRecord>,
    /// Runs of both phases.
    pub runs: u64,
    /// Steps of both phases.
    pub points: u64,
    /// Processor time.
    pub cpu_seconds: f64,
    /// What was covered of the schedules of each matrix: the least.
    pub coverage: CoverageRecord,
    /// Whether everything that had to be tested was, as the settings ask for it.
    pub complete: bool,
    /// Why it was not.
    pub limit: Option<Shortfall>,
    /// One for each matrix, when the search goes on after findings.
    pub records: Vec<MatrixRecord>,
    /// What was found.
    pub findings: Vec<ObjectFinding>,
    /// Runs that ended at something that is not controlled, each place once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknowns: Vec<Finding>,
    /// Why it cannot be tested at all.
    pub error: Option<ObjectTrouble>,
    /// Plain accesses that were steps, in any matrix.
    #[serde(default, skip_serializing_if = "PlainSteps::is_empty")]
    pub plain_steps: PlainSteps,
}

impl ObjectReport {
    /// The report of an object of which nothing is known yet.
    pub fn new(name: &str) -> Self {
        ObjectReport {
            object: name.to_owned(),
            criterion: String::new(),
            matrices: 0,
            matrices_failed: 0,
            matrices_exhaustive: 0,
            matrices_wanted: 0,
            random_tested: 0,
            random_optional: 0,
            plan: PlanRecord::default(),
            serial_histories: 0,
            histories: 0,
            stuck: 0,
            quasi: None,
            built_in: None,
            runs: 0,
            points: 0,
            cpu_seconds: 0.0,
            coverage: CoverageRecord::Partial,
            complete: false,
            limit: None,
            records: Vec::new(),
            findings: Vec::new(),
            unknowns: Vec::new(),
            error: None,
            plain_steps: PlainSteps::default(),
        }
    }

    /// Whether operation counting was all that looked at some histories: what it does not see may still be there.
    pub fn leaves_doubt(&self) -> bool {
        self.built_in.as_ref().is_some_and(|built_in| built_in.counted > 0)
    }

    /// The same as the report of a test: what runs and findings are to whoever does not ask for matrices.
    pub fn to_test(&self) -> TestReport {
        TestReport {
            runs: self.runs,
            blocked: self.stuck,
            points: self.points,
            cpu_seconds: self.cpu_seconds,
            coverage: self.coverage,
            bound: match self.coverage {
                CoverageRecord::Preemptions(bound) => Some(bound),
                _ => None,
            },
            histories: self.histories,
            findings: self.findings.iter().map(|found| found.finding.clone()).collect(),
            unknowns: self.unknowns.clone(),
            plain_steps: self.plain_steps.clone(),
            ..TestReport::new(&self.object)
        }
    }
}
