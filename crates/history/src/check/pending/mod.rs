//! Removals that are pending, in collections with distinct values: which values they took out.
//!
//! A value is *fixed* if a removal that returned took it out, and *open* if its insertion returned and nothing is known to
//! have taken it out. Dropping all operations on some values keeps an order an order. So a pending insertion that nobody
//! saw the effect of is dropped, and a pending removal took an open value or had no effect. A pending removal that took
//! a value may have done so at any time from its call on. So all that counts is by when a value must be gone: an earlier
//! call is never worse, and the value with the k-th deadline may go to the k-th pending removal in the order of calls.
//! Where no more values must be gone by any moment than removals are pending by then, the history in which those removals
//! returned with these values is decided by the algorithm for complete histories, which also finds the order.
//!
//! In a queue and in a bag the values must be gone in the order in which their insertions returned, and taking out more
//! of them never hurts: an order in which the k-th open value is not the one that the k-th pending removal takes can be changed
//! until it is. In a [stack](stack) and in a [priority queue](priority_queue) what must be gone by when is a choice.
//!
//! Invariant: an order is found for the completed history alone, so a wrong choice can cost an order but never make one up.

mod conflict;
mod count;
mod forced;
mod priority_queue;
mod stack;

use super::collection::Collection;
use super::spans::{NEVER, Span, last_uncovered};
use super::{Algorithm, bag, queue};
use crate::evidence::{Stay, Violation};
use crate::{Budget, Limit, OpId, Value};

/// How a collection gives its values out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    Queue,
    Stack,
    Bag,
    PriorityQueue { smallest_first: bool },
}

/// The order in which the operations may have taken effect, with what the pending removals among them took.
pub(super) type Order = (Vec<OpId>, Vec<(OpId, Value)>);

impl Discipline {
    /// The algorithm for distinct values.
    pub fn algorithm(self) -> Algorithm {
        match self {
            Discipline::Queue => Algorithm::Queue,
            Discipline::Stack => Algorithm::Stack,
            Discipline::Bag => Algorithm::Bag,
            Discipline::PriorityQueue { .. } => Algorithm::PriorityQueue,
        }
    }

    /// An order of the operations, or why there is none, as if no removal were pending.
    pub fn linearize(self, collection: &Collection<'_>) -> Result<Vec<OpId>, Violation> {
        match self {
            Discipline::Queue => queue::linearize(collection),
            Discipline::Stack => super::stack::linearize(collection),
            Discipline::Bag => bag::linearize(collection),
            Discipline::PriorityQueue { smallest_first } => {
                let descending = super::priority_queue::descending(collection, smallest_first);
                super::priority_queue::linearize(collection, &descending)
            }
        }
    }

    /// The spans whose values pending removals took, the k-th for the k-th of them in the order of calls; `None` when
    /// whatever they took, there is no order.
    fn taken(self, collection: &Collection<'_>, budget: &Budget) -> Result<Option<Vec<u32>>, Limit> {
        match self {
            Discipline::Queue | Discipline::Bag => {
                let mut open = open(collection);
                open.truncate(collection.pending.len());
                Ok(Some(open))
            }
            Discipline::Stack => stack::taken(collection, budget),
            Discipline::PriorityQueue { smallest_first } => {
                let descending = super::priority_queue::descending(collection, smallest_first);
                priority_queue::taken(collection, &descending, budget)
            }
        }
    }

    /// Whether there is an order.
    fn has_order(self, collection: &Collection<'_>, budget: &Budget) -> Result<bool, Limit> {
        Ok(order(collection, self, budget)?.is_some())
    }
}

/// An order of the operations, if the way in which repeated values are paired allows one.
pub(super) fn order(
    collection: &Collection<'_>,
    discipline: Discipline,
    budget: &Budget,
) -> Result<Option<Order>, Limit> {
    let Some(taken) = discipline.taken(collection, budget)? else { return Ok(None) };
    let Ok(order) = discipline.linearize(&completed(collection, &taken)) else { return Ok(None) };
    let takers = collection.pending.iter().map(|removal| removal.op);
    let values = taken.iter().map(|&span| collection.values[span as usize].clone());
    Ok(Some((order, takers.zip(values).collect())))
}

/// Decides a collection with distinct values and pending removals. The inner `Err` is the violation.
pub(super) fn decide(
    collection: &Collection<'_>,
    discipline: Discipline,
    budget: &Budget,
) -> Result<Result<Order, Violation>, Limit> {
    if let Some(order) = order(collection, discipline, budget)? {
        return Ok(Ok(order));
    }
    Ok(Err(violation(collection, discipline, budget)))
}

/// The collection in which the k-th pending removal has returned with the k-th value taken, at the very end.
fn completed<'a>(collection: &Collection<'a>, taken: &[u32]) -> Collection<'a> {
    let mut completed = collection.clone();
    for (removal, &span) in completed.pending.drain(..).zip(taken) {
        let span = &mut completed.spans[span as usize];
        (span.remove, span.rc, span.rr) = (removal.op, removal.call, collection.events);
    }
    completed
}

/// The spans of open values, in the order in which their insertions returned.
fn open(collection: &Collection<'_>) -> Vec<u32> {
    let mut open: Vec<u32> =
        (0..collection.spans.len() as u32).filter(|&i| !collection.spans[i as usize].is_removed()).collect();
    open.sort_unstable_by_key(|&i| collection.spans[i as usize].ir);
    open
}

/// Why there is no order, as small a reason as there is.
fn violation(collection: &Collection<'_>, discipline: Discipline, budget: &Budget) -> Violation {
    let mut fixed = collection.clone();
    fixed.drop_never_removed();
    fixed.pending.clear();
    let plain = discipline.linearize(&fixed).err();
    plain
        .or_else(|| not_empty(collection))
        .or_else(|| forced::too_few(collection, discipline))
        .unwrap_or_else(|| Violation::Conflict { operations: conflict::find(collection, discipline, budget) })
}

/// An "empty" at each moment of which a fixed value was certainly inside, or more open ones had been put in than removals
/// were pending. O(n log n).
fn not_empty(collection: &Collection<'_>) -> Option<Violation> {
    let fixed: Vec<Span> = collection.spans.iter().filter(|span| span.is_removed()).copied().collect();
    let open: Vec<&Span> = open(collection).into_iter().map(|i| &collection.spans[i as usize]).collect();
    let entered = |gap: u32| open.partition_point(|span| span.ir <= gap);
    let pending = |gap: u32| collection.pending.partition_point(|removal| removal.call <= gap);
    let crowded: Vec<bool> = (0..collection.events).map(|gap| entered(gap) > pending(gap)).collect();
    let uncovered = last_uncovered(&fixed, collection.events);
    // By gap: the last one up to it in which nothing needs to be inside.
    let mut free = NEVER;
    let last_free: Vec<u32> = (0..collection.events)
        .map(|gap| {
            if uncovered[gap as usize] == gap && !crowded[gap as usize] {
                free = gap;
            }
            free
        })
        .collect();
    let empty = collection.empties.iter().find(|empty| {
        let gap = last_free[empty.last as usize];
        gap == NEVER || gap < empty.first
    })?;
    // The open values named serve for every gap at which they are too many; fixed ones cover the rest.
    let gaps = || (empty.first..=empty.last).filter(|&gap| crowded[gap as usize]);
    let named = gaps().map(|gap| pending(gap) + 1).max().unwrap_or(0);
    let mut inside: Vec<Stay> = open[..named].iter().map(|span| span.stay()).collect();
    let mut around: Vec<&Span> =
        fixed.iter().filter(|span| span.is_certain() && span.ir <= empty.last && span.rc > empty.first).collect();
    around.sort_unstable_by_key(|span| span.ir);
    let (mut next, mut best): (usize, Option<&Span>) = (0, None);
    let mut until = 0;
    for gap in empty.first..=empty.last {
        while let Some(span) = around.get(next).filter(|span| span.ir <= gap) {
            best = Some(best.filter(|best| best.rc >= span.rc).unwrap_or(span));
            next += 1;
        }
        if gap >= until && !crowded[gap as usize] {
            let best = best.expect("a fixed value covers what the open ones do not");
            inside.push(best.stay());
            until = best.rc;
        }
    }
    Some(Violation::NotEmpty { operation: empty.op, inside })
}
