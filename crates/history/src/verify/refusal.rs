//! Why a certificate is refused.
//!
//! Invariant: a message names operations by their numbers in the certificate, and says which one thing did not hold. It
//! never says that the opposite of the claim is true.

use std::fmt;

use crate::evidence::Part;
use crate::{OpId, Value};

/// Why a certificate does not show what it claims. It says nothing about whether the claim is true.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The document says that it is something else.
    NotACertificate(String),
    /// A version of the format that is not known.
    Version(u32),
    /// A criterion other than linearizability.
    Criterion(String),
    /// An object that is not known.
    Object(String),
    /// An initial value that the object cannot have.
    Initial {
        /// The object.
        object: &'static str,
        /// The value stated.
        initial: Value,
    },
    /// The certificate is about a history of another length.
    OtherHistory {
        /// How many operations the certificate's history has.
        claimed: u64,
        /// How many this one has.
        found: u64,
    },
    /// A call of the history that the object does not have.
    Unreadable {
        /// The operation.
        operation: OpId,
        /// Its method.
        method: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The history has no operation with this number.
    NoSuchOperation(OpId),
    /// An operation named does not belong to the part that the evidence is about.
    OtherPart {
        /// The operation.
        operation: OpId,
        /// The part.
        part: Part,
    },
    /// An operation stands twice in an order.
    Repeated(OpId),
    /// A complete operation stands in no order, or not in the one that has the rest of its object.
    Missing(OpId),
    /// `second` stands before `first`, which had returned before `second` was called.
    Precedence {
        /// The operation that had returned.
        first: OpId,
        /// The operation called later.
        second: OpId,
    },
    /// The object does not answer what was recorded.
    Result {
        /// The operation.
        operation: OpId,
        /// The result recorded, or given to it when it is pending.
        recorded: Value,
        /// What the object answers there; `None` when it blocks.
        answer: Option<Value>,
    },
    /// A pending operation stands in an order without a result given to it.
    NoResult(OpId),
    /// A result is given to an operation that has one.
    ResultOfComplete(OpId),
    /// A result is given to a pending operation of a stuck history, where these took no effect.
    ResultOfStuck(OpId),
    /// A result is given twice, or to an operation that is not in the order.
    StrayResult(OpId),
    /// A pending operation at the end of an order of a stuck history could go on there.
    DoesNotBlock(OpId),
    /// An operation stands behind one that blocks.
    AfterBlocking {
        /// The one that blocks.
        blocking: OpId,
        /// The one behind it.
        operation: OpId,
    },
    /// The history is stuck, and no order shows that this pending operation may block.
    NotShownToBlock(OpId),
    /// This kind of violation says nothing about this object.
    NotApplicable {
        /// The kind of violation.
        violation: &'static str,
        /// The object.
        object: &'static str,
    },
    /// An operation that must have returned is pending.
    Pending(OpId),
    /// An operation did not put a value in.
    NoInsertion(OpId),
    /// An operation did not take out that value.
    NoRemoval {
        /// The operation.
        operation: OpId,
        /// The value that it should have taken out; nil for any.
        value: Value,
    },
    /// An operation does not show that the value was there.
    NotSeen {
        /// The operation.
        operation: OpId,
        /// The value that it should have seen; `None` for any.
        value: Option<Value>,
    },
    /// An operation does not answer that the value, or every value, is absent.
    NotDenied(OpId),
    /// A value can have come from elsewhere too.
    OtherSource {
        /// The value.
        value: Value,
        /// How many operations put it in, or may have; the initial value counts as one.
        sources: u32,
        /// How many there should be.
        expected: u32,
    },
    /// A value is said never to be removed, and an operation took it out.
    Removed(Value),
    /// The two operations are one and the same, or are about the same value.
    Same(OpId, OpId),
    /// `first` did not end before `second` was called.
    NotBefore {
        /// The operation that should have ended.
        first: OpId,
        /// The operation that should have been called later.
        second: OpId,
    },
    /// A value may have been gone by then: a pending removal may have taken it out.
    MayBeGone {
        /// The value.
        value: Value,
        /// The operation that should have ended before.
        operation: OpId,
    },
    /// The second value is not of higher priority.
    NotHigher {
        /// The value given out.
        value: Value,
        /// The value said to be of higher priority.
        other: Value,
    },
    /// At one moment of an operation none of the values named was certainly inside.
    Uncovered {
        /// The operation.
        operation: OpId,
        /// The moment: just after this event, counted from 0.
        event: u32,
    },
    /// No value is named at all.
    NoValues,
    /// The prefix has another length.
    OtherPrefix {
        /// How many events the certificate says there are up to the return.
        claimed: u32,
        /// How many there are.
        found: u32,
    },
    /// An order explains the events that none is said to explain.
    Explained(OpId),
    /// It is not shown that the removal took out what the insertion put in.
    NotPaired {
        /// The insertion.
        insert: OpId,
        /// The removal.
        remove: OpId,
    },
    /// The value was not taken out more often than it was put in.
    NotTooOften(Value),
    /// No more values are named than pending removals can have taken out.
    EnoughRemovals {
        /// How many values must have been taken out.
        values: u64,
        /// How many removals are pending by then.
        pending: u64,
    },
    /// An operation on one of the values is not named with the others.
    LeftOut(OpId),
    /// The pending removals named are not those that are called first, or too few.
    OtherRemovals {
        /// How many there must be at least.
        needed: u64,
    },
    /// Some order explains the part that is said to have none.
    Ordered,
    /// The history is not stuck.
    NotStuck,
    /// The operation has returned, so it did not block.
    NotPending(OpId),
    /// Some order leaves the operation blocked.
    MayBlock(OpId),
    /// A part of a relaxation, or of its reading, means nothing for the object.
    Relaxation {
        /// The part, as written.
        found: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The run is not made of the operations of the linearization, each once.
    NoPermutation,
    /// At this place of the run an operation of another class stands than in the linearization.
    OtherClass(u32),
    /// The operation at this place of the linearization is further from its place in the run than its factor allows.
    TooFar {
        /// The place in the linearization, from 0.
        place: u32,
        /// How far it is.
        off: u32,
        /// How far it may be.
        factor: u32,
    },
    /// The object does not do what the operation at this place of the linearization did, when it comes to it in the run.
    NotLegal(u32),
    /// The operation at this place of the linearization takes out or shows a value before its insertion was called.
    Uncaused(u32),
    /// Operations are added after the end where none may be.
    Continued,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Refusal::*;
        match self {
            NotACertificate(what) => write!(f, "the document is a {what:?}, not a certificate"),
            Version(version) => {
                write!(f, "the certificate has version {version}, which does not go with its criterion")
            }
            Criterion(name) => write!(f, "the criterion {name:?} is not known, or not the one of this version"),
            Object(name) => write!(f, "the object {name:?} is not known"),
            Initial { object, initial } => write!(f, "a {object} cannot start with {initial}"),
            OtherHistory { claimed, found } => {
                write!(f, "the certificate is about a history of {claimed} operations, and this one has {found}")
            }
            Unreadable { operation, method, reason } => {
                write!(f, "operation {} calls `{method}`: {reason}", operation.0)
            }
            NoSuchOperation(op) => write!(f, "the history has no operation {}", op.0),
            OtherPart { operation, part } => {
                write!(f, "operation {} is not one on {}", operation.0, Name(part))
            }
            _ => self.fmt_order(f),
        }
    }
}

impl Refusal {
    /// What is wrong with a linearization.
    fn fmt_order(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Refusal::*;
        match self {
            Repeated(op) => write!(f, "operation {} stands twice in the order", op.0),
            Missing(op) => write!(f, "operation {} returned, and is missing from the order of its object", op.0),
            Precedence { first, second } => write!(
                f,
                "operation {} stands before operation {}, which had returned before it was called",
                second.0, first.0
            ),
            Result { operation, recorded, answer: Some(answer) } => write!(
                f,
                "operation {} returned {recorded}, and at its place in the order the object answers {answer}",
                operation.0
            ),
            Result { operation, recorded, answer: None } => write!(
                f,
                "operation {} returned {recorded}, and at its place in the order the object cannot answer",
                operation.0
            ),
            NoResult(op) => write!(f, "operation {} is pending, and the order gives it no result", op.0),
            ResultOfComplete(op) => write!(f, "operation {} has a result, and is given another one", op.0),
            ResultOfStuck(op) => {
                write!(f, "operation {} is pending in a stuck history, and is given a result", op.0)
            }
            StrayResult(op) => {
                write!(f, "a result is given twice to operation {}, or it is not in the order", op.0)
            }
            DoesNotBlock(op) => {
                write!(f, "operation {} is pending in a stuck history, and does not block where it stands", op.0)
            }
            AfterBlocking { blocking, operation } => {
                write!(f, "operation {} stands after operation {}, which blocks", operation.0, blocking.0)
            }
            NotShownToBlock(op) => {
                write!(f, "the history is stuck, and no order shows that operation {} may block", op.0)
            }
            _ => self.fmt_premise(f),
        }
    }

    /// Which premise of a violation does not hold.
    fn fmt_premise(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Refusal::*;
        match self {
            NotApplicable { violation, object } => {
                write!(f, "a violation of the kind \"{violation}\" says nothing about a {object} with these calls")
            }
            Pending(op) => write!(f, "operation {} has not returned", op.0),
            NoInsertion(op) => write!(f, "operation {} does not put a value in", op.0),
            NoRemoval { operation, value: Value::Nil } => {
                write!(f, "operation {} does not take a value out", operation.0)
            }
            NoRemoval { operation, value } => write!(f, "operation {} does not take out {value}", operation.0),
            NotSeen { operation, value: Some(value) } => {
                write!(f, "operation {} does not show that {value} was there", operation.0)
            }
            NotSeen { operation, value: None } => {
                write!(f, "operation {} does not show that any value was there", operation.0)
            }
            NotDenied(op) => write!(f, "operation {} does not answer that the value is absent", op.0),
            OtherSource { value, sources, expected } => {
                write!(f, "{value} may have been put in {sources} times, not {expected}")
            }
            Removed(value) => write!(f, "{value} is said never to be removed, and an operation took it out"),
            Same(one, other) => {
                write!(f, "operations {} and {} are not about two different values", one.0, other.0)
            }
            NotBefore { first, second } => {
                write!(f, "operation {} did not end before operation {} was called", first.0, second.0)
            }
            MayBeGone { value, operation } => {
                write!(f, "a pending removal may have taken out {value} before the end of operation {}", operation.0)
            }
            NotHigher { value, other } => write!(f, "{other} is not of higher priority than {value}"),
            Uncovered { operation, event } => write!(
                f,
                "after event {event}, during operation {}, none of the values named was certainly inside",
                operation.0
            ),
            NoValues => f.write_str("no value is named"),
            _ => self.fmt_search(f),
        }
    }

    /// What the search found instead.
    fn fmt_search(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Refusal::*;
        match self {
            OtherPrefix { claimed, found } => {
                write!(f, "there are {found} events up to the return, not {claimed}")
            }
            NotPaired { insert, remove } => {
                write!(f, "operation {} need not have taken out what operation {} put in", remove.0, insert.0)
            }
            NotTooOften(value) => write!(f, "{value} was not taken out more often than it was put in"),
            EnoughRemovals { values, pending } => {
                write!(f, "{pending} pending removals may have taken out the {values} values named")
            }
            LeftOut(op) => write!(f, "operation {} is on one of the values, and is not named", op.0),
            OtherRemovals { needed } => {
                write!(
                    f,
                    "of the pending removals the first {needed} must be named, and no other before one that is not"
                )
            }
            Ordered => write!(f, "an order explains the part"),
            Explained(op) => write!(f, "an order explains the history up to the return of operation {}", op.0),
            NotStuck => f.write_str("the history is not stuck"),
            NotPending(op) => write!(f, "operation {} has returned", op.0),
            MayBlock(op) => write!(f, "some order leaves operation {} blocked", op.0),
            _ => self.fmt_quasi(f),
        }
    }

    /// What is wrong with two orders.
    fn fmt_quasi(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Refusal::*;
        match self {
            Relaxation { found, reason } => write!(f, "the relaxation means nothing here: {found:?}: {reason}"),
            NoPermutation => f.write_str("the run does not have the operations of the linearization, each once"),
            OtherClass(place) => write!(f, "at place {place} the two orders have operations of different classes"),
            TooFar { place, off, factor } => write!(
                f,
                "entry {place} of the linearization is {off} places from its place in the run, and {factor} are allowed"
            ),
            NotLegal(place) => {
                write!(f, "the object does not do entry {place} of the linearization where the run has it")
            }
            Uncaused(place) => {
                write!(f, "entry {place} of the linearization needs a value before its insertion was called")
            }
            Continued => f.write_str("operations are added after the end that may not be"),
            _ => f.write_str("the certificate does not show what it claims"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A part as people name it.
struct Name<'a>(&'a Part);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.object.as_str(), &self.0.key) {
            ("", Value::Nil) => f.write_str("an object without name"),
            ("", key) => write!(f, "key {key}"),
            (object, Value::Nil) => write!(f, "object {object}"),
            (object, key) => write!(f, "key {key} of object {object}"),
        }
    }
}
