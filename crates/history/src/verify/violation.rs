//! Checks that the pattern of a violation is there, with everything that makes it a sufficient reason.
//!
//! Invariant: a pattern accepted here excludes every order. Each function says why in a sentence; the facts it starts
//! from are those of [`facts`](super::facts).

use std::collections::HashSet;

use super::facts::{Family, NIL, Scene};
use super::simulate::{Action, Kind};
use super::{Members, Reading, Refusal, Stop, pending, unplaced};
use crate::evidence::{Failure, Stay, Violation};
use crate::{OpId, Value};

/// Checks a claim that a part has no order.
pub(super) fn check(reading: &Reading<'_>, failure: &Failure) -> Result<(), Stop> {
    let example = *failure.violation.operations().first().ok_or(Refusal::NoValues)?;
    let members = Members::new(reading, &failure.part, example)?;
    match &failure.violation {
        Violation::Unplaced { operation, events, partial } => unplaced::check(&members, *operation, *events, partial),
        Violation::Unordered { .. } => unplaced::check_unordered(&members),
        Violation::NeedNotBlock { operation } => unplaced::check_need_not_block(&members, *operation),
        Violation::Conflict { operations } => pending::check_conflict(&members, operations),
        pattern => Ok(Scene::new(&members)?.check(pattern)?),
    }
}

impl<'a> Scene<'a> {
    /// Whether a pattern says anything about the object at all.
    fn applies(&self, pattern: &Violation) -> bool {
        let kind = self.kind;
        match pattern {
            Violation::ThinAir { .. } | Violation::TooEarly { .. } => self.family != Family::Other,
            Violation::RemovedTwice { .. }
            | Violation::RemovedTooOften { .. }
            | Violation::TooLate { .. }
            | Violation::Missed { .. } => {
                matches!(self.family, Family::Collection | Family::Set)
            }
            Violation::NotEmpty { .. } | Violation::TooFewRemovals { .. } => self.family == Family::Collection,
            Violation::Overtaken { .. } => kind == Kind::Queue,
            Violation::Outranked { .. } => matches!(kind, Kind::PriorityQueue | Kind::PriorityQueueMin),
            Violation::Entangled { .. } => kind == Kind::Stack,
            Violation::Crossed { .. } => self.family == Family::Register,
            Violation::Unplaced { .. }
            | Violation::Unordered { .. }
            | Violation::NeedNotBlock { .. }
            | Violation::Conflict { .. } => false,
        }
    }

    fn check(&self, pattern: &Violation) -> Result<(), Refusal> {
        let not_applicable = Refusal::NotApplicable { violation: pattern.kind(), object: self.kind.name() };
        if !self.applies(pattern) {
            return Err(not_applicable);
        }
        match pattern {
            Violation::ThinAir { operation } => self.check_sources(self.seen(*operation)?, 0),
            Violation::RemovedTwice { insert, first, second } => self.removed_twice(*insert, *first, *second),
            Violation::RemovedTooOften { inserts, removes } => self.removed_too_often(inserts, removes),
            Violation::TooEarly { operation, insert } => {
                match self.sole_source(*insert) {
                    Ok(value) => self.check_sees(*operation, value)?,
                    Err(refusal) => drop(self.check_pair(*insert, *operation).map_err(|_| refusal)?),
                }
                self.check_before(*operation, *insert)
            }
            Violation::TooLate { operation, remove } => self.too_late(*operation, *remove),
            Violation::Overtaken { first, second } => self.overtaken(first, second),
            Violation::NotEmpty { operation, inside } => self.not_empty(*operation, inside),
            Violation::Outranked { operation, insert, inside } => self.outranked(*operation, *insert, inside),
            Violation::Entangled { stays } => self.entangled(stays),
            Violation::Missed { operation, insert, before, after } => self.missed(*operation, *insert, *before, *after),
            Violation::Crossed { first, last, other_first, other_last } => {
                self.crossed((*first, *last), (*other_first, *other_last))
            }
            Violation::TooFewRemovals { values } => self.too_few_removals(values),
            Violation::Unplaced { .. }
            | Violation::Unordered { .. }
            | Violation::NeedNotBlock { .. }
            | Violation::Conflict { .. } => Err(not_applicable),
        }
    }

    /// What was put in once cannot be taken out twice.
    fn removed_twice(&self, insert: OpId, first: OpId, second: OpId) -> Result<(), Refusal> {
        let value = self.sole_source(insert)?;
        self.check_takes(first, value)?;
        self.check_takes(second, value)?;
        if first == second { Err(Refusal::Same(first, second)) } else { Ok(()) }
    }

    /// What was put in so many times cannot be taken out more often.
    fn removed_too_often(&self, inserts: &[OpId], removes: &[OpId]) -> Result<(), Refusal> {
        let value = self.seen(*removes.first().ok_or(Refusal::NoValues)?)?;
        self.check_sources(value, inserts.len() as u32)?;
        let mut seen = HashSet::new();
        for &remove in removes {
            self.check_takes(remove, value)?;
            if !seen.insert(remove) {
                return Err(Refusal::Repeated(remove));
            }
        }
        if removes.len() > inserts.len() { Ok(()) } else { Err(Refusal::NotTooOften(value.clone())) }
    }

    /// What was put in once is gone for good when it has been taken out.
    fn too_late(&self, operation: OpId, remove: OpId) -> Result<(), Refusal> {
        let value = self.seen(operation)?;
        self.check_sources(value, 1)?;
        self.check_takes(remove, value)?;
        self.check_before(remove, operation)
    }

    /// The first value is still inside, and before the second one, whenever the second is taken out.
    fn overtaken(&self, first: &Stay, second: &Stay) -> Result<(), Refusal> {
        let ahead = self.span(first)?;
        self.span(second)?;
        self.check_before(first.insert, second.insert)?;
        let remove = second.remove.ok_or(Refusal::NoRemoval { operation: second.insert, value: NIL.clone() })?;
        if self.operation(remove)?.end() < ahead.leaves {
            return Ok(());
        }
        Err(match first.remove {
            Some(later) => Refusal::NotBefore { first: remove, second: later },
            None => Refusal::MayBeGone { value: ahead.value.clone(), operation: remove },
        })
    }

    /// Whenever the operation takes effect, something is inside.
    fn not_empty(&self, operation: OpId, inside: &[Stay]) -> Result<(), Refusal> {
        if !self.denies(operation, None)? {
            return Err(Refusal::NotDenied(operation));
        }
        let moments = self.operation(operation)?;
        self.cover(inside, |_| Ok(()))?.check(operation, moments.call, moments.end())
    }

    /// Whenever the operation takes effect, which is not before the value it gives out was put in, something of higher
    /// priority is inside.
    fn outranked(&self, operation: OpId, insert: OpId, inside: &[Stay]) -> Result<(), Refusal> {
        let value = match self.sole_source(insert) {
            Ok(value) => value,
            Err(refusal) => self.check_pair(insert, operation).map_err(|_| refusal)?,
        };
        self.check_sees(operation, value)?;
        let cover = self.cover(inside, |other| {
            let higher = if self.kind == Kind::PriorityQueue { other > value } else { other < value };
            let refusal = || Refusal::NotHigher { value: value.clone(), other: other.clone() };
            if higher { Ok(()) } else { Err(refusal()) }
        })?;
        let moments = self.operation(operation)?;
        cover.check(operation, moments.call.max(self.operation(insert)?.call), moments.end())
    }

    /// None of the values can be the first of them to be pushed. At the push of the first, and at its pop, which needs it
    /// on top, none of the others is inside. A value's own span never reaches into its own push or pop, so that
    /// one cover serves for all.
    fn entangled(&self, stays: &[Stay]) -> Result<(), Refusal> {
        let cover = self.cover(stays, |_| Ok(()))?;
        if stays.is_empty() {
            return Err(Refusal::NoValues);
        }
        for stay in stays {
            let push = self.operation(stay.insert)?;
            let Err(refusal) = cover.check(stay.insert, push.call, push.end()) else { continue };
            let remove = stay.remove.ok_or(refusal)?;
            let pop = self.operation(remove)?;
            cover.check(remove, pop.call.max(push.call), pop.end())?;
        }
        Ok(())
    }

    /// What is inside before and after the operation is inside all the while.
    fn missed(&self, operation: OpId, insert: OpId, before: OpId, after: Option<OpId>) -> Result<(), Refusal> {
        let value = self.sole_source(insert)?;
        if !self.denies(operation, Some(value))? {
            return Err(Refusal::NotDenied(operation));
        }
        if before != insert {
            self.check_sees(before, value)?;
        }
        self.check_before(before, operation)?;
        match after {
            Some(after) => {
                self.check_sees(after, value)?;
                self.check_before(operation, after)
            }
            None if self.operation(operation)?.end() < self.never_removed(value)? => Ok(()),
            None => Err(Refusal::MayBeGone { value: value.clone(), operation }),
        }
    }

    /// Whether an operation answered that everything is absent, or at least `value`.
    fn denies(&self, op: OpId, value: Option<&Value>) -> Result<bool, Refusal> {
        let result = self.operation(op)?.output().ok_or(Refusal::Pending(op))?;
        Ok(match self.action(op) {
            Action::Remove(_) | Action::Peek(_) => result.is_nil(),
            Action::Contains(other) | Action::Discard(other) => Some(other) == value && *result == Value::Bool(false),
            Action::Add(other) => Some(other) == value && *result == Value::Bool(true),
            _ => false,
        })
    }

    /// Each value is held in one stretch of time. That of the one reaches from the end of `first` to the call of
    /// `last`. That of the other has a moment before `last` is called and a moment after `first` ended, so it lies
    /// neither wholly after the one's nor wholly before it.
    fn crossed(&self, one: (Option<OpId>, OpId), other: (Option<OpId>, OpId)) -> Result<(), Refusal> {
        let (values, others) = (self.held(one)?, self.held(other)?);
        if !values.iter().any(|value| others.iter().any(|other| value != other)) {
            return Err(Refusal::Same(one.1, other.1));
        }
        let before = |first: Option<OpId>, last| first.map_or(Ok(()), |first| self.check_before(first, last));
        before(one.0, one.1)?;
        before(other.0, one.1)?;
        before(one.0, other.1)
    }

    /// The values with one source that both operations wrote or saw; `None` stands for having the initial value at
    /// the start. A pending write counts: where it matters, the first operation has returned, and if it is
    /// not the write itself then it saw what was written.
    fn held(&self, (first, last): (Option<OpId>, OpId)) -> Result<Vec<&'a Value>, Refusal> {
        let touched = |op: OpId| -> Result<[Option<&'a Value>; 2], Refusal> {
            let operation = self.operation(op)?;
            Ok([self.puts(op, operation), self.sees(op, operation)])
        };
        let shared = match first {
            Some(first) => touched(first)?,
            None => [self.initial, None],
        };
        let values = touched(last)?.into_iter().flatten().filter(|value| shared.contains(&Some(value)));
        let held: Vec<&'a Value> = values.filter(|value| self.check_sources(value, 1).is_ok()).collect();
        if held.is_empty() { Err(Refusal::NotSeen { operation: last, value: None }) } else { Ok(held) }
    }

    /// The moments at which some of these values is certainly inside. Each must satisfy `admit`.
    fn cover(&self, stays: &[Stay], admit: impl Fn(&Value) -> Result<(), Refusal>) -> Result<Cover, Refusal> {
        let mut spans = Vec::with_capacity(stays.len());
        for stay in stays {
            let span = self.span(stay)?;
            admit(span.value)?;
            spans.push((span.enters, span.leaves));
        }
        spans.extend(self.crowded(stays));
        Ok(Cover::new(spans))
    }
}

/// A union of spans, as disjoint spans in ascending order that do not touch.
struct Cover(Vec<(u32, u32)>);

impl Cover {
    fn new(mut spans: Vec<(u32, u32)>) -> Self {
        spans.retain(|(enters, leaves)| enters < leaves);
        spans.sort_unstable();
        let mut union: Vec<(u32, u32)> = Vec::new();
        for (enters, leaves) in spans {
            match union.last_mut() {
                Some(last) if enters <= last.1 => last.1 = last.1.max(leaves),
                _ => union.push((enters, leaves)),
            }
        }
        Cover(union)
    }

    /// Checks that every gap of an operation from `call` up to `end` is covered.
    fn check(&self, operation: OpId, call: u32, end: u32) -> Result<(), Refusal> {
        let at = self.0.partition_point(|(enters, _)| *enters <= call);
        let covered = at.checked_sub(1).map_or(call, |at| self.0[at].1);
        if end <= covered.max(call) {
            return Ok(());
        }
        Err(Refusal::Uncovered { operation, event: covered.max(call) })
    }
}
