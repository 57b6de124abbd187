//! Priority queues: by when pending removals must have taken which values, by dynamic programming over intervals.
//!
//! A removal that returned x is a *demand*: in some gap of it that no fixed value above x covers, every open value above x
//! whose insertion had returned is gone. An "empty" is a demand of a level below all values. Pending removals can act in
//! the very gap of the demand, in descending order, so all they are held to is their number: P(g) of them are called by
//! gap g. A gap that meets a demand of one level meets every demand of that level or above whose operation holds it.
//!
//! Let T(a, b) be the most values that may be gone by gap a so that the demands whose operations lie between a and b can be
//! met. Let x be the lowest of these demands and g one of its gaps; c open values above x come in from a to g. Whatever happens
//! between a and g, what is gone by g is what was gone by a and those c: g is the lowest point there. So
//! T(a, b) = max over g of min(P(g) - c, T(a, g), T(g, b) - c), without bound where there is no demand, and there is an order
//! exactly if T is not negative for the whole. Of the gaps of a demand only the first free one counts, and the first
//! free one after the call of each pending removal: an earlier gap is better as long as P does not change.
//!
//! With d demands and the gaps that count for them k times as many, at most (kd)² intervals are met; about one for each
//! demand where, as is common, only one gap counts.

use std::collections::BinaryHeap;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::super::collection::Collection;
use super::super::priority_queue::Gaps;
use super::count::Counter;
use super::open;
use crate::{Budget, Limit};

/// So many values as nobody has.
const ANY: i64 = i64::MAX / 2;

struct Demand {
    /// The higher, the higher the priority of what was given out; 0 where nothing was.
    level: u32,
    /// The first and last gap.
    first: u32,
    last: u32,
    /// The gaps that count.
    gaps: Vec<u32>,
}

struct Problem {
    /// By first gap.
    demands: Vec<Demand>,
    lowest: Lowest,
    /// When the insertions of open values returned, in order; and their levels.
    entered: Vec<u32>,
    levels: Counter,
    /// When the pending removals were called, in order.
    calls: Vec<u32>,
}

/// The most values that may be gone, and the gap chosen for the lowest demand.
type Best = (i64, u32);

/// What is best for each interval that was met.
type Memo = HashMap<(u32, u32), Best, RandomState>;

/// An interval at work: the demands that begin at gap `from` or later and end before gap `to`.
struct Frame {
    from: u32,
    to: u32,
    demand: u32,
    /// The gap that is tried, by its place in the demand's list.
    at: usize,
    /// What the gap that is tried allows so far.
    value: i64,
    /// Values that come in up to it.
    entering: i64,
    /// Whether the part before the gap is done.
    halfway: bool,
    best: Best,
}

/// The spans whose values must be taken out by pending removals, in the order in which they must be gone; `None` when it
/// cannot be. `descending` lists the spans from the highest priority down.
pub(super) fn taken(
    collection: &Collection<'_>,
    descending: &[u32],
    budget: &Budget,
) -> Result<Option<Vec<u32>>, Limit> {
    let mut level_of = vec![0u32; collection.spans.len()];
    for (i, &span) in descending.iter().enumerate() {
        level_of[span as usize] = (descending.len() - i) as u32;
    }
    let open = open(collection);
    let Some(problem) = Problem::new(collection, descending, &level_of, &open) else { return Ok(None) };
    let events = collection.events;
    let memo = problem.solve(events, budget)?;
    let Some(points) = problem.points(events, &memo) else { return Ok(None) };
    Ok(Some(gone(collection, &points, &level_of, &open)))
}

impl Problem {
    /// The demands that depend on pending removals. `None` when some demand cannot be met whatever those did.
    fn new(collection: &Collection<'_>, descending: &[u32], level_of: &[u32], open: &[u32]) -> Option<Self> {
        let calls: Vec<u32> = collection.pending.iter().map(|removal| removal.call).collect();
        let entered: Vec<u32> = open.iter().map(|&i| collection.spans[i as usize].ir).collect();
        let levels: Vec<u32> = open.iter().map(|&i| level_of[i as usize]).collect();
        let mut highest = levels.clone();
        for i in 1..highest.len() {
            highest[i] = highest[i].max(highest[i - 1]);
        }
        let mut free = Gaps::new(collection.events);
        let mut demands = Vec::new();
        let mut demand = |free: &mut Gaps, level: u32, (first, last): (u32, u32)| {
            let later = calls.partition_point(|&call| call <= first);
            let from = calls[later..].iter().copied().take_while(|&call| call <= last);
            let mut gaps: Vec<u32> = Vec::new();
            for from in std::iter::once(first).chain(from) {
                let gap = free.free(from);
                if gap <= last && gaps.last() != Some(&gap) {
                    gaps.push(gap);
                }
            }
            let earliest = *gaps.first()?;
            let before = entered.partition_point(|&at| at <= earliest);
            // With nothing above it inside by its first gap, it needs nobody to act.
            if before > 0 && highest[before - 1] > level {
                demands.push(Demand { level, first, last, gaps });
            }
            Some(())
        };
        for &i in descending {
            let span = &collection.spans[i as usize];
            if span.is_removed() {
                demand(&mut free, level_of[i as usize], span.removal())?;
                if span.is_certain() {
                    free.take(span.ir, span.rc);
                }
            }
        }
        for empty in &collection.empties {
            demand(&mut free, 0, (empty.first, empty.last))?;
        }
        demands.sort_unstable_by_key(|demand| demand.first);
        let lowest = Lowest::new(&demands);
        Some(Problem { demands, lowest, entered, levels: Counter::new(levels), calls })
    }

    /// How many open values above `level` come in between gap `from` and `gap`.
    fn entering(&self, from: u32, gap: u32, level: u32) -> i64 {
        let first = self.entered.partition_point(|&at| at < from);
        let end = self.entered.partition_point(|&at| at <= gap);
        i64::from(self.levels.greater(first, end, level))
    }

    /// How many removals are pending in a gap.
    fn pending(&self, gap: u32) -> i64 {
        self.calls.partition_point(|&call| call <= gap) as i64
    }

    /// T for every interval that the whole depends on. The recursion is kept on a stack of its own: it may be as deep as there
    /// are demands.
    fn solve(&self, events: u32, budget: &Budget) -> Result<Memo, Limit> {
        let mut memo = Memo::default();
        let mut stack = Vec::new();
        let mut answer = self.enter(0, events, &memo, &mut stack);
        let mut turns = 0u32;
        while let Some(frame) = stack.last_mut() {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(1024) {
                budget.check()?;
            }
            let demand = &self.demands[frame.demand as usize];
            if let Some(inner) = answer.take() {
                let allows = if frame.halfway { inner - frame.entering } else { inner };
                frame.value = frame.value.min(allows);
                let promising = frame.value > frame.best.0;
                if promising && !frame.halfway {
                    frame.halfway = true;
                    let (from, to) = (demand.gaps[frame.at] + 1, frame.to);
                    answer = self.enter(from, to, &memo, &mut stack);
                    continue;
                }
                if promising {
                    frame.best = (frame.value, demand.gaps[frame.at]);
                }
                frame.at += 1;
            }
            let Some(&gap) = demand.gaps.get(frame.at) else {
                answer = Some(frame.best.0);
                memo.insert((frame.from, frame.to), frame.best);
                stack.pop();
                continue;
            };
            frame.halfway = false;
            frame.entering = self.entering(frame.from, gap, demand.level);
            frame.value = self.pending(gap) - frame.entering;
            if frame.value > frame.best.0 {
                let from = frame.from;
                answer = self.enter(from, gap, &memo, &mut stack);
            } else {
                frame.at += 1;
            }
        }
        Ok(memo)
    }

    /// T where it is known; otherwise begins to work on it.
    fn enter(&self, from: u32, to: u32, memo: &Memo, stack: &mut Vec<Frame>) -> Option<i64> {
        let Some(demand) = self.lowest.between(&self.demands, from, to) else { return Some(ANY) };
        if let Some(&(value, _)) = memo.get(&(from, to)) {
            return Some(value);
        }
        stack.push(Frame { from, to, demand, at: 0, value: 0, entering: 0, halfway: false, best: (-1, 0) });
        None
    }

    /// The gaps chosen, in order, each with the level above which nothing is inside there. `None` when there is no way.
    fn points(&self, events: u32, memo: &Memo) -> Option<Vec<(u32, u32)>> {
        let mut points = Vec::new();
        let mut todo = vec![(0, events)];
        while let Some((from, to)) = todo.pop() {
            let Some(demand) = self.lowest.between(&self.demands, from, to) else { continue };
            let (value, gap) = memo[&(from, to)];
            if value < 0 {
                return None;
            }
            points.push((gap, self.demands[demand as usize].level));
            todo.extend([(from, gap), (gap + 1, to)]);
        }
        points.sort_unstable();
        Some(points)
    }
}

/// The open values that must be gone at these points, in the order in which they must be.
fn gone(collection: &Collection<'_>, points: &[(u32, u32)], level_of: &[u32], open: &[u32]) -> Vec<u32> {
    let mut inside: BinaryHeap<(u32, u32)> = BinaryHeap::new();
    let mut open = open.iter().copied().peekable();
    let mut gone = Vec::new();
    for &(gap, level) in points {
        while let Some(i) = open.next_if(|&i| collection.spans[i as usize].ir <= gap) {
            inside.push((level_of[i as usize], i));
        }
        while let Some((_, i)) = inside.peek().copied().filter(|&(above, _)| above > level) {
            inside.pop();
            gone.push(i);
        }
    }
    gone
}

/// The lowest demand between two gaps.
struct Lowest {
    leaves: usize,
    /// Below each node: the lowest level, and the earliest last gap.
    nodes: Vec<(u32, u32)>,
}

impl Lowest {
    fn new(demands: &[Demand]) -> Self {
        let leaves = demands.len().next_power_of_two();
        let mut nodes = vec![(u32::MAX, u32::MAX); 2 * leaves];
        for (i, demand) in demands.iter().enumerate() {
            nodes[leaves + i] = (demand.level, demand.last);
        }
        for node in (1..leaves).rev() {
            let (left, right) = (nodes[2 * node], nodes[2 * node + 1]);
            nodes[node] = (left.0.min(right.0), left.1.min(right.1));
        }
        Lowest { leaves, nodes }
    }

    /// The lowest of the demands that begin at gap `from` or later and end before gap `to`. Those that begin in time and end
    /// too late all overlap gap `to`, and are passed over one by one.
    fn between(&self, demands: &[Demand], from: u32, to: u32) -> Option<u32> {
        let first = demands.partition_point(|demand| demand.first < from);
        let end = demands.partition_point(|demand| demand.first < to);
        let mut best = (u32::MAX, u32::MAX);
        self.below(1, (0, self.leaves), (first, end), to, &mut best);
        (best.1 != u32::MAX).then_some(best.1)
    }

    fn below(&self, node: usize, (start, stop): (usize, usize), range: (usize, usize), to: u32, best: &mut (u32, u32)) {
        let (level, last) = self.nodes[node];
        if stop <= range.0 || range.1 <= start || last >= to || level >= best.0 {
            return;
        }
        if node >= self.leaves {
            *best = (level, (node - self.leaves) as u32);
            return;
        }
        let middle = start + (stop - start) / 2;
        let mut halves = [(2 * node, (start, middle)), (2 * node + 1, (middle, stop))];
        halves.sort_unstable_by_key(|&(child, _)| self.nodes[child].0);
        for (child, part) in halves {
            self.below(child, part, range, to, best);
        }
    }
}
