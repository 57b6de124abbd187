//! Values that must have been taken out by pending removals, one by one, whatever the others did.
//!
//! An open value was gone when an "empty" was answered that was called after the value had been put in. It was gone, too, when
//! another value w came out: in a queue, if it was put in before w was; in a stack, if it was put in after w, and before that pop was
//! called; in a priority queue, if it goes before w and was put in before that poll was called. If more values were gone by some
//! return than removals were pending by then, there is no order. O(n log n).

use super::super::collection::Collection;
use super::super::spans::{NEVER, Span};
use super::{Discipline, open};
use crate::OpId;
use crate::evidence::{Forced, Violation};

/// A removal, as a reason for values to be gone by its return.
#[derive(Clone, Copy)]
struct Reason {
    /// Only values of a greater rank.
    rank: u32,
    /// And whose insertion returned before this.
    after: u32,
    returned: u32,
    op: OpId,
}

/// More values that had to be gone by some return than removals were pending by then.
pub(super) fn too_few(collection: &Collection<'_>, discipline: Discipline) -> Option<Violation> {
    let levels = levels(collection, discipline);
    let mut reasons: Vec<Reason> = collection
        .empties
        .iter()
        .map(|empty| Reason { rank: 0, after: empty.first, returned: empty.last + 1, op: empty.op })
        .collect();
    if discipline != Discipline::Bag {
        let removed = collection.spans.iter().enumerate().filter(|(_, span)| span.is_removed());
        reasons.extend(removed.map(|(i, span)| {
            let (rank, after) = match discipline {
                Discipline::Queue => (0, span.ic),
                Discipline::Stack => (span.ir + 1, span.rc),
                Discipline::Bag | Discipline::PriorityQueue { .. } => (levels[i], span.rc),
            };
            Reason { rank, after, returned: span.rr, op: span.remove }
        }));
    }
    reasons.sort_unstable_by_key(|reason| reason.rank);
    let rank = |i: u32, span: &Span| match discipline {
        Discipline::Stack => span.ic + 1,
        Discipline::PriorityQueue { .. } => levels[i as usize],
        Discipline::Queue | Discipline::Bag => 1,
    };
    let mut values: Vec<(u32, u32)> =
        open(collection).into_iter().map(|i| (rank(i, &collection.spans[i as usize]), i)).collect();
    values.sort_unstable();
    let mut earliest = Earliest::new(collection.events);
    let mut reasons = reasons.into_iter().peekable();
    let mut forced = Vec::new();
    for (rank, i) in values {
        while let Some(reason) = reasons.next_if(|reason| reason.rank < rank) {
            earliest.add(reason);
        }
        let span = &collection.spans[i as usize];
        if let Some((returned, because)) = earliest.after(span.ir) {
            forced.push((returned, Forced { insert: span.insert, because }));
        }
    }
    forced.sort_unstable_by_key(|&(returned, Forced { insert, .. })| (returned, insert));
    let pending = |returned: u32| collection.pending.partition_point(|removal| removal.call < returned);
    let short = forced.iter().enumerate().position(|(before, &(returned, _))| pending(returned) <= before)?;
    Some(Violation::TooFewRemovals { values: forced[..=short].iter().map(|&(_, forced)| forced).collect() })
}

/// By span: the higher, the higher its priority.
fn levels(collection: &Collection<'_>, discipline: Discipline) -> Vec<u32> {
    let mut levels = vec![0; collection.spans.len()];
    if let Discipline::PriorityQueue { smallest_first } = discipline {
        let descending = super::super::priority_queue::descending(collection, smallest_first);
        for (i, &span) in descending.iter().enumerate() {
            levels[span as usize] = (descending.len() - i) as u32;
        }
    }
    levels
}

/// Reasons by the moment after which they hold; the one that returned first is asked for.
struct Earliest {
    /// A Fenwick tree over moments, the last one first.
    nodes: Vec<(u32, OpId)>,
}

impl Earliest {
    fn new(events: u32) -> Self {
        Earliest { nodes: vec![(NEVER, OpId(NEVER)); events as usize + 2] }
    }

    fn add(&mut self, reason: Reason) {
        let mut at = self.nodes.len() - 1 - reason.after as usize;
        while at < self.nodes.len() {
            self.nodes[at] = self.nodes[at].min((reason.returned, reason.op));
            at += at & at.wrapping_neg();
        }
    }

    /// Among the reasons that hold after a later moment than this one: the return and the operation.
    fn after(&self, moment: u32) -> Option<(u32, OpId)> {
        let mut at = self.nodes.len().checked_sub(2 + moment as usize)?;
        let mut best = (NEVER, OpId(NEVER));
        while at > 0 {
            best = best.min(self.nodes[at]);
            at -= at & at.wrapping_neg();
        }
        (best.0 != NEVER).then_some(best)
    }
}
