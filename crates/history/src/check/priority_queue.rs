//! Priority queues with distinct values, in O(n log n).
//!
//! Values are taken from the highest priority down. A removal needs a gap in which no higher value is inside; the
//! earliest such gap keeps the value inside for the shortest time, and the insertion goes as late as it can. Waiting
//! past the call of the removal happens only in gaps in which something higher is inside anyway, so the gaps taken
//! are exactly those in which some higher value is certainly inside, and a removal that finds none has a violation.

use super::collection::Collection;
use super::spans::{Moments, Span, cover};
use crate::OpId;
use crate::evidence::Violation;

/// Gaps that are taken, with a way to the next free one. Each gap is passed a constant number of times (amortised).
pub(super) struct Gaps {
    next: Vec<u32>,
}

impl Gaps {
    pub fn new(events: u32) -> Self {
        Gaps { next: (0..=events).collect() }
    }

    /// The first free gap from `gap` on; the number of events when there is none.
    pub fn free(&mut self, gap: u32) -> u32 {
        let mut root = gap;
        while self.next[root as usize] != root {
            root = self.next[root as usize];
        }
        let mut gap = gap;
        while self.next[gap as usize] != root {
            gap = std::mem::replace(&mut self.next[gap as usize], root);
        }
        root
    }

    /// Takes the gaps `first..end`.
    pub fn take(&mut self, first: u32, end: u32) {
        let mut gap = self.free(first);
        while gap < end {
            self.next[gap as usize] = gap + 1;
            gap = self.free(gap + 1);
        }
    }
}

/// The order in which the operations may have taken effect, or why there is none. `descending` lists the spans from the
/// highest priority down.
pub(super) fn linearize(collection: &Collection<'_>, descending: &[u32]) -> Result<Vec<OpId>, Violation> {
    let events = collection.events;
    let mut gaps = Gaps::new(events);
    let mut moments = Moments::with_capacity(2 * descending.len() + collection.empties.len());
    let mut taken = Vec::new();
    let mut rank = 0;
    for equal in descending.chunk_by(|&a, &b| collection.values[a as usize] == collection.values[b as usize]) {
        let higher = &descending[..rank as usize];
        for &value in equal {
            let span = &collection.spans[value as usize];
            let (_, latest) = span.insertion();
            if !span.is_removed() {
                moments.push(latest, 3, rank, span.insert);
                taken.push((latest + 1, events));
            } else {
                let (first, last) = span.removal();
                let gap = gaps.free(first);
                if gap > last {
                    return Err(outranked(collection, higher, span));
                }
                if latest < gap {
                    moments.push(latest, 3, rank, span.insert);
                    moments.push(gap, 0, rank, span.remove);
                    taken.push((latest + 1, gap));
                } else {
                    // It may come and go in one gap.
                    moments.push(gap, 1, 2 * rank, span.insert);
                    moments.push(gap, 1, 2 * rank + 1, span.remove);
                }
            }
            rank += 1;
        }
        // Equal values do not keep each other from leaving.
        for (first, end) in taken.drain(..) {
            gaps.take(first, end);
        }
    }
    for (rank, empty) in collection.empties.iter().enumerate() {
        let gap = gaps.free(empty.first);
        if gap > empty.last {
            let inside = cover(collection.spans.iter(), empty.first, empty.last).expect("every gap is covered");
            return Err(Violation::NotEmpty { operation: empty.op, inside });
        }
        moments.push(gap, 2, rank as u32, empty.op);
    }
    Ok(moments.into_order())
}

fn outranked(collection: &Collection<'_>, higher: &[u32], span: &Span) -> Violation {
    let (first, last) = span.removal();
    let higher = higher.iter().map(|&value| &collection.spans[value as usize]);
    let inside = cover(higher, first, last).expect("every gap is covered");
    Violation::Outranked { operation: span.remove, insert: span.insert, inside }
}

/// The spans from the highest priority down.
pub(super) fn descending(collection: &Collection<'_>, smallest_first: bool) -> Vec<u32> {
    let mut order: Vec<u32> = (0..collection.spans.len() as u32).collect();
    let value = |i: &u32| collection.values[*i as usize];
    if collection.values.iter().all(|value| value.as_int().is_some()) {
        let mut keyed: Vec<(i64, u32)> = order.iter().map(|i| (value(i).as_int().expect("an integer"), *i)).collect();
        keyed.sort_unstable();
        order = keyed.into_iter().map(|(_, i)| i).collect();
    } else {
        order.sort_by(|a, b| value(a).cmp(value(b)));
    }
    if !smallest_first {
        order.reverse();
    }
    order
}
