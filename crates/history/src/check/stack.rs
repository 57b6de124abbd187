//! Stacks with distinct values, in O(n log n).
//!
//! Whatever is pushed first lies at the bottom: it is pushed onto, and popped down to, an empty stack. So some value has
//! a gap in its push, and one in its pop (if it is popped), in which no *other* value is certainly inside. Conversely,
//! a value with two such gaps may lie at the bottom: the others can be arranged so that none of them is inside in
//! either gap (those certainly popped by then are popped by then, the others pushed after), and the history is
//! linearizable exactly when it is without that value. So: peel off such values until none is left; if some are left
//! and none can be peeled, there is no linearization, and they are the reason. After Lee & Mathur (2025), with a
//! simpler invariant: a value never covers the gaps of its own push and pop, so gaps covered by nothing suffice.
//!
//! Peeled with its push in the last and its pop in the first free gap that it has, a value is inside in no gap that was
//! free before, so the order of peeling says which value lies above which.
//!
//! Only *valleys* matter, gaps after a call and before a return: every operation has one, and no gap nearby is covered
//! by fewer values.

use super::collection::Collection;
use super::cover_tree::{CoverTree, GapSet, Ranges};
use super::spans::{Moments, NEVER, Span, cover};
use crate::OpId;
use crate::evidence::{Stay, Violation};

/// The valleys of a part: gaps after a call and before a return.
struct Valleys {
    /// By gap: the number of valleys before it.
    before: Vec<u32>,
    count: u32,
}

impl Valleys {
    fn new(collection: &Collection<'_>) -> Self {
        let events = collection.events as usize;
        let mut is_return = vec![true; events + 1];
        for span in &collection.spans {
            is_return[span.ic as usize] = false;
            if span.is_removed() {
                is_return[span.rc as usize] = false;
            }
        }
        for empty in &collection.empties {
            is_return[empty.first as usize] = false;
        }
        let mut before = Vec::with_capacity(events + 1);
        let mut count = 0;
        for gap in 0..events {
            before.push(count);
            if !is_return[gap] && is_return[gap + 1] {
                count += 1;
            }
        }
        before.push(count);
        Valleys { before, count }
    }

    /// The first and last valley in the gaps `first..=last`; the first is greater than the last when there is none.
    fn within(&self, first: u32, last: u32) -> (u32, u32) {
        let end = self.before[(last as usize + 1).min(self.before.len() - 1)];
        (self.before[first as usize], end.wrapping_sub(1))
    }

    /// The valleys in which the value is certainly inside, as a range without its end.
    fn certain(&self, span: &Span) -> std::ops::Range<u32> {
        let end = (span.rc as usize).min(self.before.len() - 1);
        if span.is_certain() { self.before[span.ir as usize]..self.before[end] } else { 0..0 }
    }
}

/// Where a value's push and pop were placed, and when it was peeled.
#[derive(Clone, Copy)]
struct Peeled {
    push: u32,
    pop: u32,
    turn: u32,
}

/// The order in which the operations may have taken effect, or why there is none.
pub(super) fn linearize(collection: &Collection<'_>) -> Result<Vec<OpId>, Violation> {
    let spans = &collection.spans;
    let valleys = Valleys::new(collection);
    let mut peeling = Peeling::new(spans, &valleys);
    peeling.start();
    let mut moments = Moments::with_capacity(2 * spans.len() + collection.empties.len());
    for (rank, empty) in collection.empties.iter().enumerate() {
        let (first, last) = valleys.within(empty.first, empty.last);
        match peeling.free.last_up_to(last).filter(|&valley| valley >= first) {
            Some(valley) => moments.push(valley, 2, rank as u32, empty.op),
            None => {
                let inside = cover(spans.iter(), empty.first, empty.last).expect("every gap is covered");
                return Err(Violation::NotEmpty { operation: empty.op, inside });
            }
        }
    }
    let peeled = peeling.run(spans, &valleys);
    if peeled.iter().any(Option::is_none) {
        let left = spans.iter().zip(&peeled).filter(|(_, peeled)| peeled.is_none()).map(|(span, _)| *span);
        return Err(Violation::Entangled { stays: entangled(left.collect(), collection.events) });
    }
    for (span, peeled) in spans.iter().zip(peeled.into_iter().flatten()) {
        let Peeled { push, pop, turn } = peeled;
        if push < pop {
            moments.push(push, 3, turn, span.insert);
            if span.is_removed() {
                moments.push(pop, 0, NEVER - turn, span.remove);
            }
        } else {
            moments.push(push, 1, 2 * turn, span.insert);
            moments.push(push, 1, 2 * turn + 1, span.remove);
        }
    }
    Ok(moments.into_order())
}

struct Peeling {
    cover: CoverTree,
    /// The valleys that no value left covers.
    free: GapSet,
    /// The valleys of each push (even) and pop (odd) that has no free valley yet.
    blocked: Ranges,
    /// Free valleys that were not looked at yet.
    new: Vec<u32>,
}

impl Peeling {
    fn new(spans: &[Span], valleys: &Valleys) -> Self {
        let cover = CoverTree::new(valleys.count, spans.iter().map(|span| valleys.certain(span)));
        let ranges = spans.iter().flat_map(|span| {
            let (first, last) = span.insertion();
            let push = valleys.within(first, last);
            let pop = if span.is_removed() {
                let (first, last) = span.removal();
                valleys.within(first, last)
            } else {
                // Begins after every valley, so it is never found.
                (valleys.count, 0)
            };
            [push, pop]
        });
        let blocked = Ranges::new(valleys.count, ranges);
        Peeling { cover, free: GapSet::new(valleys.count), blocked, new: Vec::new() }
    }

    /// Finds the valleys that are free from the start.
    fn start(&mut self) {
        self.cover.take_free(&mut self.new);
        for &valley in &self.new {
            self.free.insert(valley);
        }
    }

    /// Peels all that can be peeled. By span: where it went, `None` if it could not be peeled.
    fn run(mut self, spans: &[Span], valleys: &Valleys) -> Vec<Option<Peeled>> {
        let mut peeled = vec![None; spans.len()];
        // Per span: whether the push, and whether the pop, still has no free valley.
        let mut missing: Vec<u8> = spans.iter().map(|span| 1 + u8::from(span.is_removed())).collect();
        let mut ready = Vec::new();
        let mut turn = 0;
        loop {
            while let Some(valley) = self.new.pop() {
                self.blocked.take_containing(valley, |range| {
                    let span = range / 2;
                    missing[span as usize] -= 1;
                    if missing[span as usize] == 0 {
                        ready.push(span);
                    }
                });
            }
            let Some(index) = ready.pop() else { return peeled };
            let span = &spans[index as usize];
            peeled[index as usize] = Some(self.place(span, valleys, turn));
            turn += 1;
            let from = self.new.len();
            self.cover.release(valleys.certain(span), &mut self.new);
            for &valley in &self.new[from..] {
                self.free.insert(valley);
            }
        }
    }

    /// The last free valley of the push and the first of the pop, or one valley for both.
    fn place(&self, span: &Span, valleys: &Valleys, turn: u32) -> Peeled {
        let (first, last) = span.insertion();
        let push = self.free.last_up_to(valleys.within(first, last).1).expect("a free valley in the push");
        if !span.is_removed() {
            return Peeled { push, pop: NEVER, turn };
        }
        let (first, last) = span.removal();
        let pop = self.free.first_from(valleys.within(first, last).0).expect("a free valley in the pop");
        Peeled { push, pop: pop.max(push), turn }
    }
}

/// A small subset of values none of which can be peeled, given a set of such.
fn entangled(left: Vec<Span>, events: u32) -> Vec<Stay> {
    // By gap: of the values certainly inside from then or earlier, the one that is inside longest.
    let mut reach: Vec<u32> = vec![NEVER; events as usize];
    for (i, span) in left.iter().enumerate().filter(|(_, span)| span.is_certain()) {
        let slot = &mut reach[span.ir as usize];
        if *slot == NEVER || left[*slot as usize].rc < span.rc {
            *slot = i as u32;
        }
    }
    let mut best = NEVER;
    for slot in &mut reach {
        if *slot != NEVER && (best == NEVER || left[best as usize].rc < left[*slot as usize].rc) {
            best = *slot;
        }
        *slot = best;
    }
    // A chain of values that covers the gaps, if they are covered.
    let chain = |(first, last): (u32, u32)| {
        let mut chain = Vec::new();
        let mut gap = first;
        while gap <= last {
            let next = reach[gap as usize];
            if next == NEVER || left[next as usize].rc <= gap {
                return None;
            }
            chain.push(next);
            gap = left[next as usize].rc;
        }
        Some(chain)
    };
    let start = (0..left.len() as u32).min_by_key(|&i| left[i as usize].rr).expect("a value that is left");
    let mut chosen = vec![start];
    let mut is_chosen = vec![false; left.len()];
    is_chosen[start as usize] = true;
    let mut next = 0;
    while let Some(&value) = chosen.get(next) {
        next += 1;
        let span = &left[value as usize];
        let push = chain(span.insertion());
        let pop = if span.is_removed() { chain(span.removal()) } else { None };
        let shorter = [push, pop].into_iter().flatten().min_by_key(Vec::len);
        for above in shorter.expect("a value that cannot be peeled is covered in its push or its pop") {
            if !std::mem::replace(&mut is_chosen[above as usize], true) {
                chosen.push(above);
            }
        }
    }
    minimise(chosen.into_iter().map(|i| left[i as usize]).collect())
}

/// Above this number of values a violation is reported as found: making it smaller takes time to the fourth power.
const MINIMISE_MAX: usize = 24;

/// Leaves out values as long as what remains holds some that cannot be peeled.
fn minimise(mut spans: Vec<Span>) -> Vec<Stay> {
    if spans.len() <= MINIMISE_MAX {
        let mut i = 0;
        while i < spans.len() {
            let mut fewer = spans.clone();
            fewer.remove(i);
            peel_slowly(&mut fewer);
            if fewer.is_empty() {
                i += 1;
            } else {
                spans = fewer;
                i = 0;
            }
        }
    }
    spans.sort_by_key(|span| span.ic);
    spans.iter().map(Span::stay).collect()
}

/// Peels by the definition.
fn peel_slowly(spans: &mut Vec<Span>) {
    let covered = |spans: &[Span], (first, last)| cover(spans.iter(), first, last).is_some();
    let stuck = |spans: &[Span], span: &Span| {
        covered(spans, span.insertion()) || span.is_removed() && covered(spans, span.removal())
    };
    while let Some(bottom) = spans.iter().position(|span| !stuck(spans, span)) {
        spans.swap_remove(bottom);
    }
}
