//! What shows that a verdict is right: linearizations and violations, in terms of a log's own operations.
//!
//! Invariant: evidence names operations by their number in the log (calls counted from 0, failed ones left out), never
//! by a number inside a part, so that it can be checked against the log by somebody who knows nothing of the parts.
//! Each kind of violation is a sufficient reason by itself; its documentation says why.

use serde::{Deserialize, Serialize};

use crate::{OpId, Value};

/// Which of several independent objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Part {
    /// The object's name, empty where the log names none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// The key (of a map, of a register per key) or the element (of a set), nil where there is none.
    #[serde(default, skip_serializing_if = "Value::is_nil")]
    pub key: Value,
}

impl Part {
    /// Whether the log is about one object without a name or key.
    pub fn is_only(&self) -> bool {
        *self == Part::default()
    }
}

/// An order of one part's operations that the specification accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linearization {
    /// Which object it is about.
    #[serde(default, skip_serializing_if = "Part::is_only")]
    pub part: Part,
    /// All complete operations and those pending ones that took effect, in the order in which they did. In a stuck history
    /// nothing pending takes effect; there the last one is pending and blocks after all the others, and each pending
    /// operation has a linearization of its own.
    pub order: Vec<OpId>,
    /// The results given to the pending operations among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<(OpId, Value)>,
}

/// The insertion and the removal of one value of a collection.
///
/// The value was put in once; or, in a queue, priority queue or bag without pending removals, it was put in several times, no two of those
/// operations are nested in time (the one called first returns first), nor are two of those that took it out, and the
/// removal is the k-th of them in the order of calls as the insertion is the k-th of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stay {
    /// The operation that put the value in.
    pub insert: OpId,
    /// The operation that took it out; `None` when nothing is known to have done so. A removal that is pending may have,
    /// so the value is certainly inside only up to the call of the first of these.
    pub remove: Option<OpId>,
}

/// A value of a collection that nothing is known to have taken out, and an operation by whose end it must have been gone.
///
/// The operation answered "empty" after the value was put in; or it gave out (or showed) another value, and the value was put in
/// before that one was (in a queue), was put in after that one and before the operation was called (in a stack), or goes before that
/// one and was put in before the operation was called (in a priority queue).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forced {
    /// The one operation that put the value in.
    pub insert: OpId,
    /// The operation that shows it gone.
    pub because: OpId,
}

/// Why one part has no linearization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Violation {
    /// A value came out (or was read, or seen) that no operation put in, and that was not there initially.
    ThinAir {
        /// The operation that returned the value.
        operation: OpId,
    },
    /// Two operations took out the same value, which was put in once.
    RemovedTwice {
        /// The one insertion.
        insert: OpId,
        /// One removal.
        first: OpId,
        /// The other.
        second: OpId,
    },
    /// A value was taken out more often than it was put in.
    RemovedTooOften {
        /// Every operation that put it in.
        inserts: Vec<OpId>,
        /// The operations that took it out, at least one more.
        removes: Vec<OpId>,
    },
    /// An operation returned a value (or saw it present) and ended before the only operation that put it in was called.
    TooEarly {
        /// The operation that returned the value.
        operation: OpId,
        /// The operation that put it in.
        insert: OpId,
    },
    /// An operation saw a value present, though it was called after the only removal of the value had returned.
    TooLate {
        /// The operation that saw the value.
        operation: OpId,
        /// The operation that had taken it out.
        remove: OpId,
    },
    /// A queue let a later value overtake an earlier one: `first` was wholly inserted before `second` was, and `second`
    /// wholly removed before `first` (if `first` was removed at all).
    Overtaken {
        /// The value that came first and left last.
        first: Stay,
        /// The value that came last and left first. It has a removal.
        second: Stay,
    },
    /// A collection answered "empty" although at each moment of that operation some value was certainly inside: the
    /// spans from the return of `insert` to the call of `remove` together cover it, or at that moment more of the values that nothing
    /// is known to have taken out had been put in than removals were pending.
    NotEmpty {
        /// The operation that answered "empty".
        operation: OpId,
        /// Values whose certain presence covers it, best in order of time, each overlapping the next.
        inside: Vec<Stay>,
    },
    /// A priority queue gave out a value although at each moment of that operation a value of higher priority was
    /// certainly inside.
    Outranked {
        /// The removal.
        operation: OpId,
        /// The insertion of what it removed.
        insert: OpId,
        /// Values of higher priority whose certain presence covers the removal (from the call of `insert` on, if that is
        /// later than the call of the removal).
        inside: Vec<Stay>,
    },
    /// More values must have been gone by the end of the last of these operations than removals are pending that were called by
    /// then: no two removals take out the same value, and nothing else can have taken them out.
    TooFewRemovals {
        /// The values, each put in once and not known to have been taken out.
        values: Vec<Forced>,
    },
    /// These operations of a collection have no order by themselves: all operations on some values, answers that nothing is inside, and
    /// the pending removals that are called first, as many as there are values among them that nothing is known to have taken out
    /// (or all there are). An order of the whole part would give one for these: what is done to other values can be left out, and
    /// pending removals that are called earlier can take what later ones took.
    Conflict {
        /// The operations.
        operations: Vec<OpId>,
    },
    /// A stack's values hold each other up: the first of them to be pushed must be pushed, and popped if it is popped at
    /// all, while none of the others is inside; but for each of them, at each moment of its push or at each moment
    /// of its pop, one of the others was certainly inside.
    Entangled {
        /// The values.
        stays: Vec<Stay>,
    },
    /// An operation did not see a value that was certainly present: `before` had ended, having put the value in or seen
    /// it, when it was called, and `after`, which saw or removed the value, was called after it had returned.
    Missed {
        /// The operation that answered that the value is absent.
        operation: OpId,
        /// The one insertion of the value.
        insert: OpId,
        /// The insertion itself or an operation that saw the value.
        before: OpId,
        /// The one removal of the value or an operation that saw it; `None` when the value is never removed.
        after: Option<OpId>,
    },
    /// A register held two values at once. Each was written once. The first value was seen (or written) by `first`, which
    /// ended before `last`, which also saw (or wrote) it, was called: the register held it all that time. Either the
    /// second value too was held from the end of `other_first` to the call of `other_last` and the two spans
    /// overlap, or `other_first` ended before `last` was called and `other_last` was called after `first` had ended.
    Crossed {
        /// The operation of the first value that ended first; `None` for the initial value, held from the start.
        first: Option<OpId>,
        /// The operation of the first value that was called last.
        last: OpId,
        /// The operation of the second value that ended first; `None` for the initial value.
        other_first: Option<OpId>,
        /// The operation of the second value that was called last.
        other_last: OpId,
    },
    /// No order explains the first `events` events of the part (calls and returns counted in that part alone; what
    /// returns later is pending in them), while one does without the last of them, the return of `operation`.
    Unplaced {
        /// The operation that could not be placed.
        operation: OpId,
        /// The length of the prefix.
        events: u32,
        /// An order that the specification accepts for the events before that return: all that returned before it, and
        /// what was open if it had taken effect.
        partial: Vec<OpId>,
    },
    /// No order explains the part. Its shortest prefix that has none is not known: a limit was reached before it was found.
    Unordered {
        /// The operation whose return no order of the whole part could get past.
        operation: OpId,
    },
    /// The history is stuck, and this pending operation need not have blocked: in no order of the operations that
    /// returned does it block at the end.
    NeedNotBlock {
        /// The pending operation.
        operation: OpId,
    },
}

impl Violation {
    /// The kind, as written in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Violation::ThinAir { .. } => "thin-air",
            Violation::RemovedTwice { .. } => "removed-twice",
            Violation::RemovedTooOften { .. } => "removed-too-often",
            Violation::TooEarly { .. } => "too-early",
            Violation::TooLate { .. } => "too-late",
            Violation::Overtaken { .. } => "overtaken",
            Violation::NotEmpty { .. } => "not-empty",
            Violation::Outranked { .. } => "outranked",
            Violation::TooFewRemovals { .. } => "too-few-removals",
            Violation::Conflict { .. } => "conflict",
            Violation::Entangled { .. } => "entangled",
            Violation::Missed { .. } => "missed",
            Violation::Crossed { .. } => "crossed",
            Violation::Unplaced { .. } => "unplaced",
            Violation::Unordered { .. } => "unordered",
            Violation::NeedNotBlock { .. } => "need-not-block",
        }
    }

    /// The operations that show the violation, the one to blame first.
    pub fn operations(&self) -> Vec<OpId> {
        let stays = |stays: &[Stay]| -> Vec<OpId> {
            stays.iter().flat_map(|stay| [Some(stay.insert), stay.remove]).flatten().collect()
        };
        let mut ops = match self {
            Violation::ThinAir { operation } | Violation::NeedNotBlock { operation } => vec![*operation],
            Violation::RemovedTwice { insert, first, second } => vec![*second, *first, *insert],
            Violation::RemovedTooOften { inserts, removes } => removes.iter().rev().chain(inserts).copied().collect(),
            Violation::TooEarly { operation, insert } => vec![*operation, *insert],
            Violation::TooLate { operation, remove } => vec![*operation, *remove],
            Violation::Overtaken { first, second } => stays(&[*second, *first]),
            Violation::NotEmpty { operation, inside } => [vec![*operation], stays(inside)].concat(),
            Violation::Outranked { operation, insert, inside } => [vec![*operation, *insert], stays(inside)].concat(),
            Violation::TooFewRemovals { values } => {
                values.iter().rev().map(|v| v.because).chain(values.iter().map(|v| v.insert)).collect()
            }
            Violation::Conflict { operations } => operations.clone(),
            Violation::Entangled { stays: values } => stays(values),
            Violation::Missed { operation, insert, before, after } => {
                [Some(*operation), Some(*insert), Some(*before), *after].into_iter().flatten().collect()
            }
            Violation::Crossed { first, last, other_first, other_last } => {
                [Some(*other_last), *other_first, *first, Some(*last)].into_iter().flatten().collect()
            }
            Violation::Unplaced { operation, .. } | Violation::Unordered { operation } => vec![*operation],
        };
        let mut seen = std::collections::HashSet::new();
        ops.retain(|op| seen.insert(*op));
        ops
    }
}

/// The part that has no linearization, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which object it is about.
    #[serde(default, skip_serializing_if = "Part::is_only")]
    pub part: Part,
    /// Why.
    pub violation: Violation,
}
