//! Queues with distinct values, in O(n).
//!
//! A history of a queue is linearizable exactly when no value comes out of thin air, twice or too early (decided in
//! [`super::collection`]), none overtakes another, and no "empty" is covered (Henzinger, Sezgin & Vafeiadis 2013;
//! Bouajjani et al. 2015). The linearization is built from the same facts: the order of the values comes from two
//! pointers, one over insertions and one over removals, each absorbing what may come next; a value absorbed by both
//! retires (Lee & Mathur 2025).
//!
//! Gaps in which nothing is certainly inside cut time into *epochs*; a value lives in the epoch in which its removal
//! becomes possible, so that the queue is empty at each cut and an "empty" may be answered there.

use super::collection::Collection;
use super::spans::{NEVER, Span, cover, last_uncovered};
use crate::OpId;
use crate::evidence::Violation;

/// The order in which the operations may have taken effect, or why there is none.
pub(super) fn linearize(collection: &Collection<'_>) -> Result<Vec<OpId>, Violation> {
    let (spans, events) = (&collection.spans, collection.events);
    if let Some(violation) = overtaken(spans, events) {
        return Err(violation);
    }
    let uncovered = last_uncovered(spans, events);
    for empty in &collection.empties {
        let gap = uncovered[empty.last as usize];
        if gap == NEVER || gap < empty.first {
            let inside = cover(spans.iter(), empty.first, empty.last).expect("every gap is covered");
            return Err(Violation::NotEmpty { operation: empty.op, inside });
        }
    }
    let windows = windows(spans, &uncovered);
    let order = order(&windows);
    Ok(merge(collection, &windows, &order, &uncovered))
}

/// A value that was inserted wholly before another and removed wholly after it, or never.
fn overtaken(spans: &[Span], events: u32) -> Option<Violation> {
    const NOTHING: u32 = NEVER;
    // By position: the span whose insertion is called (even) or returns (odd) there.
    let mut at = vec![NOTHING; events as usize + 1];
    for (i, span) in spans.iter().enumerate() {
        at[span.ic as usize] = 2 * i as u32;
        at[span.ir as usize] = 2 * i as u32 + 1;
    }
    // Of the values wholly inserted so far, the one whose removal is called last.
    let mut last: Option<&Span> = None;
    for &entry in at[..events as usize].iter().filter(|&&entry| entry != NOTHING) {
        let span = &spans[entry as usize / 2];
        if entry % 2 == 1 {
            if last.is_none_or(|last| last.rc < span.rc) {
                last = Some(span);
            }
        } else if let Some(first) = last.filter(|first| span.is_removed() && first.rc > span.rr) {
            return Some(Violation::Overtaken { first: first.stay(), second: span.stay() });
        }
    }
    None
}

/// The gaps in which a value's insertion and removal may take effect, inside its epoch.
#[derive(Clone, Copy)]
struct Window {
    /// The cut at which the epoch begins, plus one; 0 for the first epoch.
    epoch: u32,
    insert: (u32, u32),
    remove: (u32, u32),
}

fn windows(spans: &[Span], last_uncovered: &[u32]) -> Vec<Window> {
    let events = last_uncovered.len() as u32;
    let mut next_uncovered = vec![NEVER; events as usize + 1];
    for gap in (0..events as usize).rev() {
        let here = last_uncovered[gap] == gap as u32;
        next_uncovered[gap] = if here { gap as u32 } else { next_uncovered[gap + 1] };
    }
    spans
        .iter()
        .map(|span| {
            let (insert_first, insert_last) = span.insertion();
            let (remove_first, remove_last) = if span.is_removed() { span.removal() } else { (events, NEVER) };
            let before = match remove_first {
                0 => NEVER,
                gap => last_uncovered[gap.min(events) as usize - 1],
            };
            let (epoch, begin) = if before == NEVER { (0, 0) } else { (before + 1, before) };
            let end = next_uncovered[remove_first.min(events) as usize];
            Window {
                epoch,
                insert: (insert_first.max(begin), insert_last.min(end)),
                remove: (remove_first, remove_last.min(end)),
            }
        })
        .collect()
}

/// The order in which the values pass through the queue.
fn order(windows: &[Window]) -> Vec<u32> {
    let mut inserts = Pointer::new(windows, |window| window.insert);
    let mut removes = Pointer::new(windows, |window| window.remove);
    let mut absorbed = vec![0u8; windows.len()];
    let mut order: Vec<u32> = Vec::with_capacity(windows.len());
    let mut retired = vec![false; windows.len()];
    loop {
        let before = order.len();
        for pointer in [&mut inserts, &mut removes] {
            pointer.absorb(&retired, |value| {
                absorbed[value as usize] += 1;
                if absorbed[value as usize] == 2 {
                    order.push(value);
                }
            });
            for &value in &order[before..] {
                retired[value as usize] = true;
            }
        }
        if order.len() == windows.len() {
            return order;
        }
        assert!(order.len() > before, "a queue without violation has an order");
    }
}

/// Walks over windows in the order of their beginnings, up to the first end of a value that has not retired.
struct Pointer {
    /// Beginnings with their values, in order.
    begins: Vec<(u32, u32)>,
    /// Ends with their values, in order.
    ends: Vec<(u32, u32)>,
    begin: usize,
    end: usize,
}

impl Pointer {
    fn new(windows: &[Window], bounds: impl Fn(&Window) -> (u32, u32)) -> Self {
        let sorted = |bound: &dyn Fn(&Window) -> u32| {
            let mut list: Vec<(u32, u32)> =
                windows.iter().enumerate().map(|(i, window)| (bound(window), i as u32)).collect();
            list.sort_unstable();
            list
        };
        let begins = sorted(&|window| bounds(window).0);
        let ends = sorted(&|window| bounds(window).1);
        Pointer { begins, ends, begin: 0, end: 0 }
    }

    fn absorb(&mut self, retired: &[bool], mut absorb: impl FnMut(u32)) {
        while self.ends.get(self.end).is_some_and(|&(_, value)| retired[value as usize]) {
            self.end += 1;
        }
        let barrier = self.ends.get(self.end).map_or(NEVER, |&(end, _)| end);
        while let Some(&(begin, value)) = self.begins.get(self.begin) {
            if begin > barrier {
                break;
            }
            self.begin += 1;
            absorb(value);
        }
    }
}

/// Puts insertions, removals and empty answers into one order: everything as early as the order of the values allows.
fn merge(collection: &Collection<'_>, windows: &[Window], order: &[u32], uncovered: &[u32]) -> Vec<OpId> {
    let mut merged = Vec::with_capacity(2 * order.len() + collection.empties.len());
    let mut empties: Vec<(u32, OpId)> =
        collection.empties.iter().map(|empty| (uncovered[empty.last as usize], empty.op)).collect();
    empties.sort_unstable();
    let mut empties = empties.into_iter().peekable();
    for epoch in order.chunk_by(|&a, &b| windows[a as usize].epoch == windows[b as usize].epoch) {
        let begin = windows[epoch[0] as usize].epoch;
        while let Some((_, op)) = empties.next_if(|&(gap, _)| gap < begin) {
            merged.push(op);
        }
        merge_epoch(collection, windows, epoch, &mut merged);
    }
    merged.extend(empties.map(|(_, op)| op));
    merged
}

fn merge_epoch(collection: &Collection<'_>, windows: &[Window], epoch: &[u32], merged: &mut Vec<OpId>) {
    let (mut inserted, mut removed) = (0, 0);
    let (mut insert_at, mut remove_at) = (0, 0);
    // The gap in which the next removal takes effect, not before its own insertion.
    let mut insert_gaps = Vec::with_capacity(epoch.len());
    for &value in epoch {
        insert_at = windows[value as usize].insert.0.max(insert_at);
        insert_gaps.push(insert_at);
    }
    while inserted < epoch.len() || removed < epoch.len() {
        if removed < inserted {
            let value = epoch[removed] as usize;
            let gap = windows[value].remove.0.max(insert_gaps[removed]).max(remove_at);
            if inserted == epoch.len() || gap < insert_gaps[inserted] {
                remove_at = gap;
                removed += 1;
                if collection.spans[value].is_removed() {
                    merged.push(collection.spans[value].remove);
                }
                continue;
            }
        }
        merged.push(collection.spans[epoch[inserted] as usize].insert);
        inserted += 1;
    }
}
