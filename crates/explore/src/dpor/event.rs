//! The reduction's own copy of a step.

use crate::access::{Access, Condition, Kind, Thread, dependent};

/// The accesses of an event. Nearly every event has one, which then needs no memory of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Accesses {
    None,
    One(Access),
    Many(Box<[Access]>),
}

impl Accesses {
    pub(super) fn as_slice(&self) -> &[Access] {
        match self {
            Accesses::None => &[],
            Accesses::One(access) => std::slice::from_ref(access),
            Accesses::Many(accesses) => accesses,
        }
    }

    fn as_mut_slice(&mut self) -> &mut [Access] {
        match self {
            Accesses::None => &mut [],
            Accesses::One(access) => std::slice::from_mut(access),
            Accesses::Many(accesses) => accesses,
        }
    }

    /// Everything that either touches.
    pub(super) fn merge(&mut self, other: &[Access]) {
        if other.iter().all(|access| self.as_slice().contains(access)) {
            return;
        }
        let mut all = self.as_slice().to_vec();
        all.extend(other.iter().filter(|access| !self.as_slice().contains(access)));
        *self = Accesses::from(all.as_slice());
    }
}

impl From<&[Access]> for Accesses {
    fn from(accesses: &[Access]) -> Self {
        match accesses {
            [] => Accesses::None,
            [access] => Accesses::One(*access),
            _ => Accesses::Many(accesses.into()),
        }
    }
}

/// A step: who, what, with which results.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) thread: Thread,
    pub(super) created: Option<Thread>,
    pub(super) picks: Box<[u32]>,
    pub(super) accesses: Accesses,
}

impl Event {
    /// Whether the two, of different threads, may not be swapped.
    pub(super) fn conflicts(&self, other: &Event) -> bool {
        conflict(self.accesses.as_slice(), other.accesses.as_slice())
    }

    /// Whether this event has to come before the other when it is written before it.
    pub(super) fn precedes(&self, other: &Event) -> bool {
        self.thread == other.thread || self.created == Some(other.thread) || self.conflicts(other)
    }

    /// Whether this event conflicts with another in a way that could not be known from `expected`, which is the same event as it was thought to
    /// come out: by something that its thread did before its next step.
    pub(super) fn surprises(&self, expected: &Event, other: &Event) -> bool {
        let unknown = |access: &&Access| {
            let mut foreseen = expected.accesses.as_slice().iter().filter(|foreseen| foreseen.overlaps(access));
            !foreseen.any(|foreseen| {
                foreseen.waits || foreseen.condition != Condition::Always || foreseen.kind == access.kind
            })
        };
        let mut unforeseen = self.accesses.as_slice().iter().filter(unknown);
        unforeseen.any(|access| conflict(std::slice::from_ref(access), other.accesses.as_slice()))
    }

    /// The same event as it would come out right before `rival` instead of after it: an access that depends on the value found
    /// finds what `rival` found.
    pub(super) fn before(&self, rival: &Event) -> Event {
        let mut event = self.clone();
        for access in event.accesses.as_mut_slice() {
            let found = rival.accesses.as_slice().iter().find(|other| other.overlaps(access));
            let same = found.filter(|other| other.object == access.object && other.size == access.size);
            match (access.condition, found, same) {
                (Condition::Always | Condition::AtLeast(_), ..) | (_, None, _) => {}
                (Condition::Unless(vain), ..) if !vain.writes() => {}
                (Condition::Equals(value), _, Some(other)) if other.old != value => access.kind = Kind::Read,
                _ => access.kind = Kind::Update,
            }
        }
        event
    }
}

/// Whether any two of the accesses depend on one another.
pub(super) fn conflict(a: &[Access], b: &[Access]) -> bool {
    a.iter().any(|x| b.iter().any(|y| dependent(x, y)))
}

/// Whether the event at `at` has nothing before it in the sequence that it needs.
pub(super) fn is_initial(sequence: &[&Event], at: usize) -> bool {
    !sequence[..at].iter().any(|earlier| earlier.precedes(sequence[at]))
}

/// Whether an event can be first in some sequence equivalent to `sequence`, or go before it without a conflict (a *weak
/// initial*). Answers the place that it has there.
pub(super) fn weak_initial(event: &Event, sequence: &[&Event]) -> Option<Place> {
    match sequence.iter().position(|other| other.thread == event.thread) {
        Some(at) => is_initial(sequence, at).then_some(Place::At(at)),
        None => {
            let free = !sequence.iter().any(|other| other.conflicts(event) || event.created == Some(other.thread));
            free.then_some(Place::Outside)
        }
    }
}

/// Where a weak initial stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the sequence.
    At(usize),
    /// Not in it, and independent of all of it.
    Outside,
}
