//! What a command found, as one value for each kind of answer. Text, JSON, pages and what continuous integration reads are made of it and of
//! nothing else.
//!
//! Invariant: a value has no finished sentence of this crate in it. Those of tests of code are in [`tested`](super::tested).

mod model;
mod monitor;

pub use self::model::{Assertion, Ending, Graph, GraphOf, Modelled, Undrawn, WrongModel};
pub use self::monitor::{CountedDoubt, LineCounts, Monitored, WatchDoubt};

use std::cell::RefCell;

use selvedge_history::certificate::quasi::{QuasiCertificate, QuasiClaim};
use selvedge_history::certificate::{Certificate, Claim};
use selvedge_history::check::Answer;
use selvedge_history::check::assumed::{Assumed, assumed};
use selvedge_history::counting::Halt;
use selvedge_history::evidence::Part;
use selvedge_history::object::Kind;
use selvedge_history::quasi::{self, Causality, Order, Rules};
use selvedge_history::verify::Refusal;
use selvedge_history::{Limit, Log, OpId, Value, Verdict};
use selvedge_protocol::{Finding, ObjectFinding};

use super::names::Names;
use super::operation::Reading;
use super::verdict::{Criterion, VerdictName};
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
