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
//! completed history will be found. With s segments the work is at most s times the number of events in
//! each, for each number of values gone; commonly each is met once.

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
        Problem {
            fixed,
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
        let first = self.fixed.partition_point(|value| value.ir <= a);
        let end = self.fixed.partition_point(|value| value.ir <= b);
        let inner: Vec<Value> =
            self.fixed[first..end].iter().filter(|value| value.rc <= b && !value.fits((a, b))).copied().collect();
        if inner.is_empty() {
            return None;
        }
        let mut change = vec![0i32; (b - a) as usize + 2];
        for value in &inner {
            change[(value.ir - a) as usize] += 1;
            change[(value.rc - a) as usize] -= 1;
        }
        let mut covered = 0;
        let clean: Vec<u32> = (a..=b)
            .filter(|gap| {
                covered += change[(gap - a) as usize];
                covered == 0
            })
            .collect();
        let moves = self.moves(&inner, &clean, (a, b));
        let (mut least, from) = (vec![NONE; clean.len()], vec![STEP; clean.len()]);
        least[0] = gone;
        Some(Frame { key, clean, moves, gone: least, from, at: 0, stepped: 0 })
    }

    /// The segments that the values may take between clean gaps.
    fn moves(&self, inner: &[Value], clean: &[u32], (a, b): (u32, u32)) -> Vec<(u32, u32)> {
        let next = |gap: u32| clean.partition_point(|&other| other < gap);
        let mut moves = Vec::new();
        let mut ends = Vec::new();
        for value in inner {
            let later = self.calls.partition_point(|&call| call <= value.rc);
            let calls = self.calls[later..].iter().copied().take_while(|&call| call < value.rr && call <= b);
            ends.clear();
            ends.extend(
                std::iter::once(value.rc)
                    .chain(calls)
                    .map(next)
                    .filter(|&end| clean.get(end).is_some_and(|&gap| gap < value.rr)),
            );
            ends.dedup();
            for begin in next(value.ic.max(a))..next(value.ir) {
                moves.extend(ends.iter().map(|&end| (end as u32, begin as u32)));
            }
        }
        moves.sort_unstable_by_key(|&(end, begin)| (end, std::cmp::Reverse(begin)));
        moves.dedup();
        let whole = (clean.len() as u32 - 1, 0);
        moves.retain(|&ends| ends != whole);
        moves
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
