//! Stacks: by when pending removals must have taken which values, by dynamic programming over nested segments.
//!
//! An "empty" is the pop of a value that lay there before everything else. An order gives each fixed value a *segment*
//! (g, h), a gap of its push and one of its pop; of two segments one holds the other or they are apart. An open value whose
//! whole push lies inside a segment must be gone by the end of the first such segment: it lies above that value. All others may stay.
//! So the number of values that must be gone by gap t is the number of open values whose push lies inside a segment that ends by t.
//!
//! Strictly inside (a, b) must be placed the values that are certainly inside only there and do not fit (a, b) themselves: one
//! placed outside may be shrunk to (a, b), one that fits lies at its ends. From the left over the gaps that those values leave
//! clean, let m(g) be the fewest values gone by g. One may step to the next gap if that is clean; or over a segment (g, h) of
//! one of the values if its inside can be placed, when m(g) values are gone, and the values pushed in it and gone then are no
//! more than the removals pending by h. Fewer are always better: what comes later depends only on how many are gone. For h
//! only the first clean gap of the pop counts and the first one after the call of each pending removal; for g every clean gap of the push.
//!
//! Values that need not be inside in any gap are left out. If the fixed values have an order by themselves, the inside of a segment can be
//! placed wherever no open value's push lies in it; if they have none, the answer here does not matter, since no order of the
//! completed history will be found. Each segment is looked at once for each number of values gone there, commonly once; that takes time
//! for its clean gaps and the pushes that are open in them, not for all that lies in it.

use std::collections::BTreeSet;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::super::collection::Collection;
use super::super::spans::Span;
use super::count::Counter;
use super::open;
use crate::{Budget, Limit};

/// A value's operations. Positions are shifted by one, so that gap 0 is before everything.
#[derive(Clone, Copy)]
struct Value {
    ic: u32,
    ir: u32,
    rc: u32,
    rr: u32,
}

impl Value {
    fn of(span: &Span) -> Self {
        let up = |at: u32| at.saturating_add(1);
        Value { ic: up(span.ic), ir: up(span.ir), rc: up(span.rc), rr: up(span.rr) }
    }

    /// Whether it may take exactly this segment.
    fn fits(&self, (a, b): (u32, u32)) -> bool {
        self.ic <= a && a < self.ir && self.rc <= b && b < self.rr
    }
}

/// A segment, and how many values are gone where it begins.
type Key = (u32, u32, u32);

struct Problem {
    /// Fixed values, in the order in which their pushes returned.
    fixed: Vec<Value>,
    reach: Reach,
    pushes: Pushes,
    /// When the pushes of open values returned, in order; and their calls.
    entered: Vec<u32>,
    called: Counter,
    /// When the pending pops were called, in order.
    calls: Vec<u32>,
}

/// A segment whose inside is being placed.
struct Frame {
    key: Key,
    /// The gaps that no value to be placed covers.
    clean: Vec<u32>,
    /// Segments from one clean gap to another, by their places in the list: the end and the beginning. In the order of ends; of
    /// those with the same end the shortest first, which seldom leaves anything to gain for the others.
    moves: Vec<(u32, u32)>,
    /// By clean gap: the fewest values gone, and where the segment begins that ends there (`STEP` for a step).
    gone: Vec<u32>,
    from: Vec<u32>,
    /// The next move.
    at: usize,
    /// Steps were made up to this clean gap.
    stepped: usize,
}

const NONE: u32 = u32::MAX;
const STEP: u32 = u32::MAX;

/// The spans whose values must be taken out by pending removals, in the order in which they must be gone; `None` when it
/// cannot be.
pub(super) fn taken(collection: &Collection<'_>, budget: &Budget) -> Result<Option<Vec<u32>>, Limit> {
    let open = open(collection);
    let problem = Problem::new(collection, &open);
    let whole = (0, collection.events + 1, 0);
    let Some(memo) = problem.solve(whole, budget)? else { return Ok(None) };
    let mut segments = Vec::new();
    let mut todo = vec![whole];
    while let Some(key) = todo.pop() {
        for &inner in memo.get(&key).into_iter().flatten().flatten() {
            segments.push((inner.0, inner.1));
            todo.push(inner);
        }
    }
    Ok(Some(gone(collection, segments, &open)))
}

/// By segment: the segments in it, from left to right; `None` where its inside cannot be placed.
type Memo = HashMap<Key, Option<Vec<Key>>, RandomState>;

impl Problem {
    fn new(collection: &Collection<'_>, open: &[u32]) -> Self {
        let spans = &collection.spans;
        let mut fixed: Vec<Value> =
            spans.iter().filter(|span| span.is_removed() && span.is_certain()).map(Value::of).collect();
        let empties = collection.empties.iter().filter(|empty| empty.first > 0);
        fixed.extend(empties.map(|empty| Value { ic: 0, ir: 1, rc: empty.first + 1, rr: empty.last + 2 }));
        fixed.sort_unstable_by_key(|value| (value.ir, value.ic, value.rc));
        let (reach, pushes) = (Reach::new(&fixed), Pushes::new(&fixed));
        Problem {
            fixed,
            reach,
            pushes,
            entered: open.iter().map(|&i| spans[i as usize].ir + 1).collect(),
            called: Counter::new(open.iter().map(|&i| spans[i as usize].ic + 1).collect()),
            calls: collection.pending.iter().map(|removal| removal.call + 1).collect(),
        }
    }

    /// How many open values have their whole push inside a segment.
    fn inside(&self, (a, b): (u32, u32)) -> u32 {
        let first = self.entered.partition_point(|&at| at <= a);
        let end = self.entered.partition_point(|&at| at <= b);
        self.called.greater(first, end, a)
    }

    fn pending(&self, gap: u32) -> u32 {
        self.calls.partition_point(|&call| call <= gap) as u32
    }

    /// Places everything; `None` when it cannot be. The recursion is kept on a stack of its own: it may be as deep as values lie
    /// on each other.
    fn solve(&self, whole: Key, budget: &Budget) -> Result<Option<Memo>, Limit> {
        let mut memo = Memo::default();
        let mut stack: Vec<Frame> = self.frame(whole).into_iter().collect();
        let mut answer: Option<bool> = None;
        while let Some(frame) = stack.last_mut() {
            budget.check()?;
            match frame.advance(self, &memo, answer.take()) {
                Next::Enter(key) => match self.frame(key) {
                    Some(inner) => stack.push(inner),
                    None => answer = Some(true),
                },
                Next::Done(chain) => {
                    answer = Some(chain.is_some());
                    memo.insert(frame.key, chain);
                    stack.pop();
                }
            }
        }
        Ok((answer != Some(false)).then_some(memo))
    }

    /// What is to be placed strictly inside a segment; `None` when that is nothing.
    fn frame(&self, key: Key) -> Option<Frame> {
        let (a, b, gone) = key;
        let clean = self.clean((a, b))?;
        let moves = self.moves(&clean, (a, b));
        let (mut least, from) = (vec![NONE; clean.len()], vec![STEP; clean.len()]);
        least[0] = gone;
        Some(Frame { key, clean, moves, gone: least, from, at: 0, stepped: 0 })
    }

    /// The gaps of a segment in which none of the values to be placed in it is certainly inside; `None` if there are no such values.
    fn clean(&self, (a, b): (u32, u32)) -> Option<Vec<u32>> {
        let mut clean = Vec::new();
        let (mut gap, mut any) = (a, false);
        let mut next = self.fixed.partition_point(|value| value.ir <= a);
        while gap <= b {
            // Of the values that are in by this gap, the one that is inside longest.
            let end = next + self.fixed[next..].partition_point(|value| value.ir <= gap);
            let reach = self.reach.furthest(&self.fixed, (next, end), (a, b));
            any |= reach.is_some();
            next = end;
            match reach {
                Some(reach) if reach > gap => gap = reach,
                _ => {
                    clean.push(gap);
                    gap += 1;
                }
            }
        }
        any.then_some(clean)
    }

    /// The segments that the values may take between clean gaps.
    fn moves(&self, clean: &[u32], (a, b): (u32, u32)) -> Vec<(u32, u32)> {
        let next = |gap: u32| clean.partition_point(|&other| other < gap);
        let mut moves = Vec::new();
        let mut open = Vec::new();
        for (begin, &gap) in clean.iter().enumerate() {
            open.clear();
            self.pushes.open_in(gap, &mut open);
            for &value in &open {
                let value = &self.fixed[value as usize];
                if value.rc > b || value.fits((a, b)) {
                    continue;
                }
                let later = self.calls.partition_point(|&call| call <= value.rc);
                let calls = self.calls[later..].iter().copied().take_while(|&call| call < value.rr && call <= b);
                for from in std::iter::once(value.rc).chain(calls) {
                    let end = next(from);
                    if clean.get(end).is_some_and(|&gap| gap < value.rr) {
                        moves.push((end as u32, begin as u32));
                    }
                }
            }
        }
        moves.sort_unstable_by_key(|&(end, begin)| (end, std::cmp::Reverse(begin)));
        moves.dedup();
        let whole = (clean.len() as u32 - 1, 0);
        moves.retain(|&ends| ends != whole);
        moves
    }
}

/// Up to when the values in a row are certainly inside: a tree of the earliest and the latest.
struct Reach {
    leaves: usize,
    bounds: Vec<(u32, u32)>,
}

impl Reach {
    fn new(fixed: &[Value]) -> Self {
        let leaves = fixed.len().next_power_of_two();
        let mut bounds = vec![(u32::MAX, 0); 2 * leaves];
        for (i, value) in fixed.iter().enumerate() {
            bounds[leaves + i] = (value.rc, value.rc);
        }
        for node in (1..leaves).rev() {
            let (left, right) = (bounds[2 * node], bounds[2 * node + 1]);
            bounds[node] = (left.0.min(right.0), left.1.max(right.1));
        }
        Reach { leaves, bounds }
    }

    /// The latest call of a pop among the values of a range that are to be placed strictly inside a segment. Those that reach
    /// beyond it, or fit it, are passed over one by one; their pushes overlap the beginning of some segment around it, so they are few.
    fn furthest(&self, fixed: &[Value], range: (usize, usize), segment: (u32, u32)) -> Option<u32> {
        let mut best = None;
        if range.0 < range.1 {
            self.below(fixed, 1, (0, self.leaves), range, segment, &mut best);
        }
        best
    }

    fn below(
        &self,
        fixed: &[Value],
        node: usize,
        (start, stop): (usize, usize),
        range: (usize, usize),
        segment: (u32, u32),
        best: &mut Option<u32>,
    ) {
        let (earliest, latest) = self.bounds[node];
        let outside = stop <= range.0 || range.1 <= start || earliest > segment.1;
        if outside || best.is_some_and(|best| latest <= best) {
            return;
        }
        if node >= self.leaves {
            let value = &fixed[node - self.leaves];
            if value.rc <= segment.1 && !value.fits(segment) {
                *best = Some(latest);
            }
            return;
        }
        let middle = start + (stop - start) / 2;
        let mut halves = [(2 * node, (start, middle)), (2 * node + 1, (middle, stop))];
        halves.sort_unstable_by_key(|&(child, _)| std::cmp::Reverse(self.bounds[child].1));
        for (child, part) in halves {
            self.below(fixed, child, part, range, segment, best);
        }
    }
}

/// The pushes that are open in a gap: values by the calls of their pushes, with a tree of the latest returns.
struct Pushes {
    /// The calls, with the values.
    called: Vec<(u32, u32)>,
    leaves: usize,
    latest: Vec<u32>,
}

impl Pushes {
    fn new(fixed: &[Value]) -> Self {
        let mut called: Vec<(u32, u32)> = fixed.iter().enumerate().map(|(i, value)| (value.ic, i as u32)).collect();
        called.sort_unstable();
        let leaves = called.len().next_power_of_two();
        let mut latest = vec![0; 2 * leaves];
        for (place, &(_, value)) in called.iter().enumerate() {
            latest[leaves + place] = fixed[value as usize].ir;
        }
        for node in (1..leaves).rev() {
            latest[node] = latest[2 * node].max(latest[2 * node + 1]);
        }
        Pushes { called, leaves, latest }
    }

    fn open_in(&self, gap: u32, open: &mut Vec<u32>) {
        let end = self.called.partition_point(|&(call, _)| call <= gap);
        self.below(1, (0, self.leaves), end, gap, open);
    }

    fn below(&self, node: usize, (start, stop): (usize, usize), end: usize, gap: u32, open: &mut Vec<u32>) {
        if start >= end || self.latest[node] <= gap {
            return;
        }
        if node >= self.leaves {
            open.push(self.called[node - self.leaves].1);
            return;
        }
        let middle = start + (stop - start) / 2;
        self.below(2 * node, (start, middle), end, gap, open);
        self.below(2 * node + 1, (middle, stop), end, gap, open);
    }
}

enum Next {
    /// The inside of a segment must be placed first.
    Enter(Key),
    /// The segments from left to right, `None` if there are none that will do.
    Done(Option<Vec<Key>>),
}

impl Frame {
    /// Goes on until the inside of some segment is to be placed. `answer` is about the segment of the move at which it stopped.
    fn advance(&mut self, problem: &Problem, memo: &Memo, mut answer: Option<bool>) -> Next {
        while let Some(&(end, begin)) = self.moves.get(self.at) {
            self.step(end as usize);
            let now = self.gone[begin as usize];
            let segment = (self.clean[begin as usize], self.clean[end as usize]);
            // Fewer than now are never gone later.
            if now < self.gone[end as usize] {
                let inside = problem.inside(segment);
                let after = now + inside;
                if after < self.gone[end as usize] && after <= problem.pending(segment.1) {
                    let key = (segment.0, segment.1, now);
                    let known = if inside == 0 { Some(true) } else { answer.take() };
                    let known = known.or_else(|| memo.get(&key).map(Option::is_some));
                    let Some(fits) = known else { return Next::Enter(key) };
                    if fits {
                        (self.gone[end as usize], self.from[end as usize]) = (after, begin);
                    }
                }
            }
            self.at += 1;
        }
        self.step(self.clean.len() - 1);
        Next::Done(self.chain())
    }

    /// Steps from each clean gap before `until` to the next, where that follows at once.
    fn step(&mut self, until: usize) {
        while self.stepped < until {
            let (here, next) = (self.stepped, self.stepped + 1);
            let adjacent = self.clean[next] == self.clean[here] + 1;
            if adjacent && self.gone[here] != NONE && self.gone[here] <= self.gone[next] {
                (self.gone[next], self.from[next]) = (self.gone[here], STEP);
            }
            self.stepped = next;
        }
    }

    fn chain(&self) -> Option<Vec<Key>> {
        let mut at = self.clean.len() - 1;
        if self.gone[at] == NONE {
            return None;
        }
        let mut chain = Vec::new();
        while at > 0 {
            let from = self.from[at];
            if from == STEP {
                at -= 1;
                continue;
            }
            chain.push((self.clean[from as usize], self.clean[at], self.gone[from as usize]));
            at = from as usize;
        }
        Some(chain)
    }
}

/// The open values that must be gone at the ends of these segments, in the order in which they must be.
fn gone(collection: &Collection<'_>, mut segments: Vec<(u32, u32)>, open: &[u32]) -> Vec<u32> {
    segments.sort_unstable();
    let mut segments = segments.into_iter().peekable();
    let mut by_call: Vec<(Value, u32)> = open.iter().map(|&i| (Value::of(&collection.spans[i as usize]), i)).collect();
    by_call.sort_unstable_by_key(|(value, _)| value.ic);
    let mut ends = BTreeSet::new();
    let mut gone = Vec::new();
    for (value, i) in by_call {
        while let Some((_, end)) = segments.next_if(|&(begin, _)| begin < value.ic) {
            ends.insert(end);
        }
        if let Some(&end) = ends.range(value.ir..).next() {
            gone.push((end, i));
        }
    }
    gone.sort_unstable();
    gone.into_iter().map(|(_, i)| i).collect()
}
