//! Checks a certificate against a log with small code of its own.
//!
//! Invariant: nothing here is shared with the checkers or with their specifications; what a call means ([`read`]), what
//! an object does ([`simulate`]) and what follows from a violation ([`violation`]) is written down a second time.
//! A certificate is believed only for what was looked up in the log: a claim whose premises do not all hold is
//! refused, whether or not the verdict happens to be right.
//!
//! A linearization is replayed in O(n log n) at most, a violated pattern looked up in O(n log n); only a claim that no
//! order exists ([`Violation::Conflict`], [`Violation::Unplaced`], [`Violation::NeedNotBlock`]) makes the verifier search ([`exhaust`]).
//!
//! [`Violation::Conflict`]: crate::evidence::Violation::Conflict
//! [`Violation::Unplaced`]: crate::evidence::Violation::Unplaced
//! [`Violation::NeedNotBlock`]: crate::evidence::Violation::NeedNotBlock

use crate::certificate::{Certificate, Claim, VERSION};
use crate::evidence::Part;
use crate::{Budget, Call, End, Limit, Log, OpId, Operation, Value, Verdict};

mod exhaust;
mod facts;
mod order;
mod pending;
mod quasi;
pub(crate) mod read;
mod refusal;
pub(crate) mod simulate;
mod unplaced;
mod violation;

pub use quasi::verify_quasi;
pub use refusal::Refusal;

use simulate::{Action, Kind, Object};

/// Checks that a certificate shows what it claims about the log. `Pass`: it does. `Fail`: it is refused, which says
/// nothing about the log. `Unknown`: the budget was spent first.
///
/// The claim is about the certificate's object with the certificate's initial value (the log's, where it states none);
/// whoever reports the answer should name both.
pub fn verify(log: &Log, certificate: &Certificate, budget: &Budget) -> Verdict<(), Refusal> {
    let checked = Reading::new(log, certificate, budget).and_then(|reading| match &certificate.claim {
        Claim::Pass { linearizations } => order::check(&reading, linearizations),
        Claim::Fail { failure } => violation::check(&reading, failure),
    });
    answer(checked)
}

fn answer(checked: Result<(), Stop>) -> Verdict<(), Refusal> {
    match checked {
        Ok(()) => Verdict::Pass(()),
        Err(Stop::Refused(refusal)) => Verdict::Fail(refusal),
        Err(Stop::Limit(limit)) => Verdict::Unknown(limit),
    }
}

/// Why the verifier does not go on.
#[derive(Debug)]
enum Stop {
    Refused(Refusal),
    Limit(Limit),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Stop::Refused(refusal)
    }
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Stop::Limit(limit)
    }
}

/// A log read as the history of one kind of object.
struct Reading<'a> {
    log: &'a Log,
    kind: Kind,
    /// The object before its first operation.
    start: Object,
    /// What each operation does.
    actions: Vec<Action>,
    budget: &'a Budget,
}

impl<'a> Reading<'a> {
    fn new(log: &'a Log, certificate: &Certificate, budget: &'a Budget) -> Result<Self, Stop> {
        let head = (&*certificate.selvedge, certificate.version, &*certificate.criterion, certificate.operations);
        check_header(log, head, (VERSION, "linearizability"))?;
        Reading::of(log, &certificate.object, certificate.initial.as_ref(), budget)
    }

    /// Reads the log as a history of that object.
    fn of(log: &'a Log, object: &str, initial: Option<&Value>, budget: &'a Budget) -> Result<Self, Stop> {
        let kind = Kind::named(object).ok_or_else(|| Refusal::Object(object.to_owned()))?;
        let initial = initial.or(log.initial.as_ref());
        let start = Object::new(kind, initial)
            .ok_or_else(|| Refusal::Initial { object: kind.name(), initial: initial.cloned().unwrap_or_default() })?;
        let mut actions = Vec::with_capacity(log.history.len());
        for (i, operation) in log.history.operations().iter().enumerate() {
            if i % 4096 == 0 {
                budget.check()?;
            }
            let method = log.name(operation.input.method);
            let unreadable = |reason| {
                let operation = OpId(i as u32);
                Refusal::Unreadable { operation, method: method.to_owned(), reason }
            };
            let action =
                read::action(kind, method, &operation.input.key, &operation.input.argument).map_err(unreadable)?;
            if operation.output().is_some_and(|result| !read::fits(kind, &action, result)) {
                return Err(unreadable("it cannot have such a result").into());
            }
            actions.push(action);
        }
        Ok(Reading { log, kind, start, actions, budget })
    }

    fn is_stuck(&self) -> bool {
        self.log.history.end() == End::Stuck
    }

    fn operation(&self, op: OpId) -> Result<&'a Operation<Call, Value>, Refusal> {
        self.log.history.operations().get(op.0 as usize).ok_or(Refusal::NoSuchOperation(op))
    }

    /// What an operation that exists does.
    fn action(&self, op: OpId) -> &Action {
        &self.actions[op.0 as usize]
    }

    /// Which of several independent objects an operation is on.
    fn key(&self, call: &'a Call) -> &'a Value {
        read::key(self.kind, call)
    }

    /// The element of a set that an operation is about: the others do not matter to it.
    fn element(&self, op: OpId) -> Option<&Value> {
        match self.action(op) {
            Action::Add(value) | Action::Discard(value) | Action::Contains(value) if self.kind == Kind::Set => {
                Some(value)
            }
            _ => None,
        }
    }

    fn same_object(&self, one: &'a Call, other: &'a Call) -> bool {
        one.object == other.object && self.key(one) == self.key(other)
    }

    /// What a part's name says about an operation: it is on that object as a whole, or on that element of that set, or on
    /// something else (`None`). An element of a set that has a key is named by the list of both.
    fn scope(&self, part: &Part, op: OpId) -> Option<Scope> {
        let call = &self.log.history.operations().get(op.0 as usize)?.input;
        if self.log.name(call.object) != part.object {
            return None;
        }
        let key = self.key(call);
        if *key == part.key {
            return Some(Scope::Whole);
        }
        let element = self.element(op)?;
        let named = match part.key.as_list() {
            Some([first, second]) if !key.is_nil() => first == key && second == element,
            _ => key.is_nil() && part.key == *element,
        };
        named.then_some(Scope::Element)
    }
}

/// How much of an object a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Whole,
    /// One element of a set.
    Element,
}

/// One part of the log: the operations on one object.
struct Members<'a> {
    reading: &'a Reading<'a>,
    part: &'a Part,
    /// In the order of the calls.
    ops: Vec<OpId>,
}

impl<'a> Members<'a> {
    /// Every operation of the part that `example` belongs to.
    fn new(reading: &'a Reading<'_>, part: &'a Part, example: OpId) -> Result<Self, Refusal> {
        let example_call = &reading.operation(example)?.input;
        let other_part = Refusal::OtherPart { operation: example, part: part.clone() };
        let scope = reading.scope(part, example).ok_or(other_part)?;
        let operations = reading.log.history.operations();
        let belongs = |op: &OpId| {
            reading.same_object(example_call, &operations[op.0 as usize].input)
                && (scope == Scope::Whole || reading.element(*op) == reading.element(example))
        };
        let ops: Vec<OpId> = (0..operations.len() as u32).map(OpId).filter(belongs).collect();
        Ok(Members { reading, part, ops })
    }

    /// An operation of the part.
    fn operation(&self, op: OpId) -> Result<&'a Operation<Call, Value>, Refusal> {
        let operation = self.reading.operation(op)?;
        if self.ops.binary_search(&op).is_err() {
            return Err(Refusal::OtherPart { operation: op, part: self.part.clone() });
        }
        Ok(operation)
    }
}

/// Checks what a certificate says of itself: its kind, version, criterion and number of operations.
fn check_header(
    log: &Log,
    (selvedge, version, criterion, operations): (&str, u32, &str, u64),
    (known, expected): (u32, &str),
) -> Result<(), Refusal> {
    if selvedge != "certificate" {
        return Err(Refusal::NotACertificate(selvedge.to_owned()));
    }
    if version != known {
        return Err(Refusal::Version(version));
    }
    if criterion != expected {
        return Err(Refusal::Criterion(criterion.to_owned()));
    }
    let found = log.history.len() as u64;
    if operations != found {
        return Err(Refusal::OtherHistory { claimed: operations, found });
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
