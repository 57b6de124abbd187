//! What a command found, as one value for each kind of answer. Text, JSON, pages and what continuous integration reads are made of it and of
//! nothing else.
//!
//! Invariant: a value has no finished sentence in it. Those that belong to tests of code are in [`tested`](super::tested).

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use selvedge_driver::{Finding, ObjectFinding};
use selvedge_history::certificate::quasi::{QuasiCertificate, QuasiClaim};
use selvedge_history::certificate::{Certificate, Claim};
use selvedge_history::check::Answer;
use selvedge_history::check::assumed::{Assumed, assumed};
use selvedge_history::counting::Halt;
use selvedge_history::evidence::Part;
use selvedge_history::monitor::{Counts, Rule, Violation};
use selvedge_history::object::Kind;
use selvedge_history::quasi::{self, Causality, Order, Rules};
use selvedge_history::verify::Refusal;
use selvedge_history::{Limit, Log, OpId, Value, Verdict};
use selvedge_model::language::Diagnostic;
use selvedge_model::{Drawn, Trace};

use super::names::Names;
use super::operation::Reading;
use super::verdict::{Coverage, Criterion, VerdictName};
use crate::exit::Exit;
use crate::limits::Limits;
use crate::progress::Progress;
use crate::trouble::Trouble;

/// A history that was read.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The file's format.
    pub format: &'static str,
    /// The history.
    pub log: &'a Log,
    /// The initial value that holds, if one was stated.
    pub initial: Option<&'a Value>,
    /// How long it took, reading included.
    pub seconds: f64,
    /// The limits it ran under.
    pub limits: &'a Limits,
}

/// A history that was decided.
pub struct Decided<'a> {
    /// The history.
    pub of: Recorded<'a>,
    /// The answer.
    pub answer: Answer,
    /// Whether the evidence goes somewhere; else the report says how to get it.
    pub evidence_kept: bool,
}

impl Decided<'_> {
    /// The initial values that a pass rests on, where none was stated.
    pub fn assumed(&self) -> Vec<Assumed> {
        match &self.answer.verdict {
            Verdict::Pass(parts) => assumed(self.of.log, self.answer.kind, self.of.initial, parts),
            _ => Vec::new(),
        }
    }

    /// The history as one of the object's.
    pub fn reading(&self) -> Reading<'_> {
        Reading { log: self.of.log, kind: self.answer.kind }
    }
}

/// A history in which operations were counted.
pub struct Counted<'a> {
    /// The history.
    pub of: Recorded<'a>,
    /// The object that was asked about; a kernel has none.
    pub object: Option<Kind>,
    /// How many of the last bounds are kept apart.
    pub k: usize,
    /// What was seen, if anything.
    pub violation: Option<CountedViolation>,
    /// Why it ended early, if it did.
    pub halt: Option<Halt>,
    /// The length of the history, in bounds.
    pub length: usize,
    /// How many beginnings of it were looked at.
    pub looked_at: u64,
}

/// A violation that counters show.
pub struct CountedViolation {
    /// Where it is.
    pub part: Part,
    /// After how many events of the object.
    pub events: u32,
    /// The formula that shows it.
    pub formula: &'static str,
    /// What is wrong.
    pub what: String,
    /// What no legal history has.
    pub demands: Vec<String>,
    /// The operations that show it.
    pub operations: Vec<OpId>,
}

impl Counted<'_> {
    /// The history as one of the object's. Without an object the kind only decides how results are shown.
    pub fn reading(&self) -> Reading<'_> {
        Reading { log: self.of.log, kind: self.object.unwrap_or(Kind::Semaphore) }
    }

    /// The verdict, which is never a pass.
    pub fn verdict(&self) -> VerdictName {
        if self.violation.is_some() { VerdictName::Fail } else { VerdictName::Unknown }
    }
}

/// What was allowed out of order.
pub struct Relaxed {
    /// Classes and factors.
    pub classes: String,
    /// How it is read.
    pub rules: Rules,
    /// Where the smallest factor was asked for: it, if there is one, and the largest that was tried.
    pub least: Option<(Option<u32>, u32)>,
}

impl Relaxed {
    /// How it is read, as flags and documents have it: reading, causality, order.
    pub fn words(&self) -> [&'static str; 3] {
        let reading = match self.rules.reading {
            quasi::Reading::Prefix => "prefix",
            quasi::Reading::Closed => "closed",
        };
        let causality = match self.rules.causality {
            Causality::Causal => "causal",
            Causality::Free => "free",
        };
        let order = match self.rules.order {
            Order::Distance => "distance",
            Order::Strict => "strict",
        };
        [reading, causality, order]
    }
}

/// A history that was decided with operations out of order.
pub struct QuasiDecided<'a> {
    /// The history.
    pub of: Recorded<'a>,
    /// What was allowed.
    pub relaxed: Relaxed,
    /// The answer.
    pub answer: quasi::Answer,
}

impl QuasiDecided<'_> {
    /// The history as one of the object's.
    pub fn reading(&self) -> Reading<'_> {
        Reading { log: self.of.log, kind: self.answer.kind }
    }
}

/// A history that says nothing: no operation returned, and none is said to be stuck. Every object explains it, so the verdict is
/// *unknown*, whatever was asked for.
pub struct Nothing<'a> {
    /// The history.
    pub of: Recorded<'a>,
    /// What it is of, where that is known.
    pub object: Option<Kind>,
    /// What was asked for.
    pub criterion: Criterion,
}

/// A certificate of either version.
pub enum AnyCertificate {
    /// Of linearizability.
    Plain(Box<Certificate>),
    /// Of quasi linearizability.
    Quasi(Box<QuasiCertificate>),
}

impl AnyCertificate {
    /// The object that it names.
    pub fn object(&self) -> &str {
        match self {
            AnyCertificate::Plain(certificate) => &certificate.object,
            AnyCertificate::Quasi(certificate) => &certificate.object,
        }
    }

    /// What the object starts with, where it says so.
    pub fn initial(&self) -> Option<&Value> {
        match self {
            AnyCertificate::Plain(certificate) => certificate.initial.as_ref(),
            AnyCertificate::Quasi(certificate) => certificate.initial.as_ref(),
        }
    }

    /// What it is about.
    pub fn criterion(&self) -> Criterion {
        match self {
            AnyCertificate::Plain(_) => Criterion::Linearizability,
            AnyCertificate::Quasi(_) => Criterion::QuasiLinearizability,
        }
    }

    /// The verdict that it claims.
    pub fn claim(&self) -> VerdictName {
        let passes = match self {
            AnyCertificate::Plain(certificate) => matches!(certificate.claim, Claim::Pass { .. }),
            AnyCertificate::Quasi(certificate) => matches!(certificate.claim, QuasiClaim::Pass { .. }),
        };
        if passes { VerdictName::Pass } else { VerdictName::Fail }
    }
}

/// A certificate that was checked against its history.
pub struct Verified<'a> {
    /// The history, with the initial value that the certificate or the history states.
    pub of: Recorded<'a>,
    /// The certificate's file.
    pub file: &'a str,
    /// The certificate.
    pub certificate: &'a AnyCertificate,
    /// Why it is refused, if it is.
    pub refusal: Option<Refusal>,
}

impl Verified<'_> {
    /// A pass when the certificate is right, whatever it claims.
    pub fn verdict(&self) -> VerdictName {
        if self.refusal.is_none() { VerdictName::Pass } else { VerdictName::Fail }
    }

    /// The initial values that its claim rests on, where none was stated.
    pub fn assumed(&self) -> Vec<Assumed> {
        // What is refused may name operations that do not exist.
        let AnyCertificate::Plain(certificate) = self.certificate else { return Vec::new() };
        match (&self.refusal, &certificate.claim, Kind::from_name(&certificate.object)) {
            (None, Claim::Pass { linearizations }, Some(kind)) => {
                assumed(self.of.log, kind, self.of.initial, linearizations)
            }
            _ => Vec::new(),
        }
    }
}

/// What came of one assertion of a model.
pub struct Assertion {
    /// Its number, counted from 1.
    pub number: usize,
    /// Its text.
    pub text: String,
    /// The kind of claim, for JSON.
    pub criterion: &'static str,
    /// What came of it.
    pub ending: Ending,
    /// How long it took.
    pub seconds: f64,
}

/// How the check of an assertion ended.
pub enum Ending {
    /// With an answer; and the limit of the command line that cut it short, if one did.
    Answer(selvedge_model::Answer, Option<Limit>),
    /// The model is wrong, which only showed while it ran.
    Trouble(selvedge_model::Trouble),
    /// There is none: this limit of the command line was reached before.
    Unfinished(Limit),
}

impl Assertion {
    /// The run that shows what came of it.
    pub fn trace(&self) -> Option<&Trace> {
        match &self.ending {
            Ending::Answer(answer, _) => answer.trace.as_ref(),
            Ending::Trouble(selvedge_model::Trouble::Fault { trace, .. }) => Some(trace),
            Ending::Trouble(_) | Ending::Unfinished(_) => None,
        }
    }

    /// What it means for the exit code.
    pub fn exit(&self) -> Exit {
        match &self.ending {
            Ending::Answer(answer, _) => match answer.verdict {
                selvedge_model::Verdict::Pass => Exit::Pass,
                selvedge_model::Verdict::Fail => Exit::Violation,
                selvedge_model::Verdict::Unknown(_) => Exit::Unknown,
            },
            Ending::Trouble(_) => Exit::Input,
            Ending::Unfinished(_) => Exit::Unknown,
        }
    }

    /// Whether everything that can be reached was looked at, as far as the verdict needs it.
    pub fn coverage(&self) -> Coverage {
        if matches!(self.exit(), Exit::Pass | Exit::Violation) { Coverage::Exhaustive } else { Coverage::Partial }
    }
}

/// A model whose assertions were checked.
pub struct Modelled<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The model.
    pub text: &'a str,
    /// Whether more is to be said about the search.
    pub stats: bool,
    /// The limit on states, if there is one.
    pub states_max: Option<u64>,
    /// How many threads searched.
    pub jobs: usize,
    /// The limits it ran under.
    pub limits: &'a Limits,
    /// What came of each assertion.
    pub assertions: Vec<Arc<Assertion>>,
    /// The states of each assertion's system where they are few, for a page.
    pub spaces: Vec<Option<Drawn>>,
    /// How long it took.
    pub seconds: f64,
    /// A sentence about the graph that was written.
    pub dot: Option<String>,
}

impl Modelled<'_> {
    /// What it means for the exit code.
    pub fn exit(&self) -> Exit {
        self.assertions.iter().map(|assertion| assertion.exit()).fold(Exit::Pass, Exit::worst)
    }

    /// What is known of all assertions together: one that ended in an error of the model is not known.
    pub fn verdict(&self) -> VerdictName {
        let known = |assertion: &Arc<Assertion>| VerdictName::of(assertion.exit()).exit();
        VerdictName::of(self.assertions.iter().map(known).fold(Exit::Pass, Exit::worst))
    }
}

/// A model that cannot be compiled.
pub struct WrongModel<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The model.
    pub text: &'a str,
    /// What is wrong with it, at least one thing.
    pub errors: &'a [Diagnostic],
    /// How long it took to see that.
    pub seconds: f64,
}

/// What a monitor saw until its input ended or it was stopped.
pub struct Monitored<'a> {
    /// Where the events came from.
    pub from: &'a str,
    /// What was watched.
    pub kind: Kind,
    /// What the monitor counted; the violations are those that were told.
    pub counts: Counts,
    /// Violations by rule.
    pub by_rule: &'a HashMap<Rule, u64>,
    /// What was counted before the monitor.
    pub lines: LineCounts,
    /// Why the absence of violations would not mean that there are none.
    pub doubts: Vec<String>,
    /// The first violations, where a page is wanted.
    pub violations: Vec<Violation>,
    /// How long it watched.
    pub seconds: f64,
}

/// What was counted of lines and writers.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineCounts {
    /// Lines that are no events.
    pub unreadable: u64,
    /// Lines whose writer ended in the middle.
    pub cut: u64,
    /// Calls that came too late.
    pub late: u64,
    /// Returns that came too late.
    pub late_returns: u64,
    /// Violations that silent writers may excuse.
    pub uncertain: u64,
    /// Events without a time.
    pub untimed: u64,
    /// Writers that came, that were never read, and that were still there.
    pub writers: u64,
    pub writers_unread: u64,
    pub writers_connected: u64,
}

impl Monitored<'_> {
    /// The verdict.
    pub fn verdict(&self) -> VerdictName {
        match (self.counts.violations, self.doubts.is_empty()) {
            (0, true) => VerdictName::Pass,
            (0, false) => VerdictName::Unknown,
            _ => VerdictName::Fail,
        }
    }
}

/// A finding whose schedule was run again.
pub struct Replayed<'a> {
    /// The finding's file.
    pub file: &'a str,
    /// The finding as it was.
    pub finding: &'a Finding,
    /// What came out this time, if anything.
    pub again: Option<&'a Finding>,
    /// What is said of the object, if it is one.
    pub object: Option<&'a ObjectFinding>,
    /// Whether it is the same violation, reached by the same steps.
    pub same: bool,
    /// How long it took, building included.
    pub seconds: f64,
    /// The names of the program's addresses, remembered once they were looked up.
    pub names: &'a RefCell<Names>,
}

impl Replayed<'_> {
    /// The verdict.
    pub fn verdict(&self) -> VerdictName {
        if self.same { VerdictName::Fail } else { VerdictName::Unknown }
    }
}

/// Input that cannot be read or does not fit.
pub struct Wrong {
    /// What is wrong.
    pub trouble: Trouble,
    /// How long it took to see that.
    pub seconds: f64,
    /// Whether the reason may be what a compiler printed, which keeps its lines.
    pub keeps_lines: bool,
}

/// Something that was cut short without an answer of the worker's own.
pub struct Cut<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The limit that was reached.
    pub limit: Limit,
    /// The limits it ran under.
    pub limits: &'a Limits,
    /// How far it had come.
    pub progress: &'a Progress,
}

impl Cut<'_> {
    /// How long it took.
    pub fn seconds(&self) -> f64 {
        self.progress.known().begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64())
    }
}
