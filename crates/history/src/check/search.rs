//! The search that decides any object: depth first over linearizations, remembering what has failed.
//!
//! After Wing & Gong (1993) and Lowe (2017). A *configuration* is the set of operations placed so far and the state
//! they lead to. Let R be the first return whose operation is not placed: every operation called before R and not
//! placed may come next, nothing else. That list of candidates alone determines the set of placed operations, so a
//! configuration is remembered as the list and the state, compared in full and not by hash.
//!
//! Five things keep the search small, all exact:
//! - an operation that never changes the state ([`Spec::is_pure`]) is placed as soon as it fits;
//! - pending operations with equal inputs are interchangeable, so the one called first is used first;
//! - a configuration that failed with some pending operations used fails as well with more of them used, so only the
//!   smallest failing sets are kept for each list and state;
//! - of states that the history cannot tell apart one stands for all ([`Spec::normal`]);
//! - where the order of operations does not matter to the state ([`Spec::is_commutative`]) and nothing is pending, there
//!   is one configuration at a moment at which nothing is open: if that fails, all does.
//!
//! Worst case exponential in the number of operations that overlap, as the problem is NP-hard; for a bounded number of
//! overlapping operations and states linear in the length. Memory is used for failed configurations only.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::{Budget, History, Limit, Mark, Normal, OpId, Spec, Verdict};

/// What a search must arrive at.
pub enum Goal<'a, I> {
    /// All complete operations placed, and any of the pending ones.
    Linearization,
    /// All complete operations placed, none of the pending ones, and then this call blocks.
    Blocked(&'a I),
}

/// A linearization: operations with the state after each, as [`Spec::normal`] gives it.
pub type Path<S> = Vec<(OpId, <S as Spec>::State)>;

/// Where a search got stuck: the operation whose return no order could get past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck(pub OpId);

/// An answer, and what it took.
pub struct Found<W> {
    /// The answer.
    pub verdict: Verdict<W, Stuck>,
    /// How many configurations were visited.
    pub states: u64,
    /// The most operations that were placed at once.
    pub longest: usize,
}

/// Searches for a linearization of the history.
pub fn search<S: Spec>(
    spec: &S,
    history: &History<S::Input, S::Output>,
    goal: &Goal<'_, S::Input>,
    budget: &Budget,
) -> Found<Path<S>> {
    let mut search = Search::new(spec, history, goal);
    let answer = search.run(budget);
    let (states, longest) = (search.visited, search.longest);
    let verdict = match answer {
        Ok(true) => Verdict::Pass(search.path()),
        Ok(false) => Verdict::Fail(Stuck(search.furthest)),
        Err(limit) => Verdict::Unknown(limit),
    };
    Found { verdict, states, longest }
}

/// Why a history has no linearization: its shortest prefix that has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The operation whose return ends the prefix.
    pub operation: OpId,
    /// The number of events of the prefix.
    pub events: u32,
    /// An order for the events before that return.
    pub partial: Vec<OpId>,
}

/// Finds the shortest prefix of a failing history that fails by itself: operations that return after it are pending in
/// it, so they may have had any result. `stuck` is where the search of the whole history ended; the whole search knew
/// those later results, so the prefix may have to reach further, which is found by halving.
pub fn shortest_failing_prefix<S: Spec>(
    spec: &S,
    history: &History<S::Input, S::Output>,
    stuck: Stuck,
    budget: &Budget,
) -> Result<Explained, Limit> {
    let marks = history.marks();
    let returns: Vec<u32> = (0..marks.len() as u32).filter(|&at| marks[at as usize].is_return()).collect();
    let first = history.operation(stuck.0).end();
    let (mut low, mut high) = (returns.partition_point(|&at| at < first), returns.len() - 1);
    // The prefix up to returns[high] fails; none before returns[low] does. The first guess is nearly always right.
    let order_of = |events: u32| {
        let prefix = history.prefix(events as usize);
        match search(spec, &prefix, &Goal::Linearization, budget).verdict {
            Verdict::Pass(path) => Ok(Some(path.into_iter().map(|(op, _)| op).collect())),
            Verdict::Fail(_) => Ok(None),
            Verdict::Unknown(limit) => Err(limit),
        }
    };
    let mut guess = low;
    while low < high {
        match order_of(returns[guess] + 1)? {
            Some(_) => low = guess + 1,
            None => high = guess,
        }
        guess = low + (high - low) / 2;
    }
    let at = returns[high];
    let partial: Option<Vec<OpId>> = order_of(at)?;
    let partial = partial.expect("a prefix shorter than the shortest that fails has an order");
    Ok(Explained { operation: marks[at as usize].op(), events: at + 1, partial })
}

/// The end of the list of events.
const END: u32 = u32::MAX;

/// Positions shifted by one: entry 0 is the head of a doubly linked list of the events of unplaced complete operations.
struct Unplaced {
    next: Vec<u32>,
    prev: Vec<u32>,
}

impl Unplaced {
    fn new<I, O>(history: &History<I, O>) -> Self {
        let len = history.marks().len() + 1;
        let (mut next, mut prev) = (vec![END; len], vec![END; len]);
        let mut last = 0;
        for (position, mark) in history.marks().iter().enumerate() {
            if history.operation(mark.op()).ret.is_some() {
                let entry = position as u32 + 1;
                next[last as usize] = entry;
                prev[entry as usize] = last;
                last = entry;
            }
        }
        Unplaced { next, prev }
    }

    fn first(&self) -> u32 {
        self.next[0]
    }

    fn remove(&mut self, position: u32) {
        let entry = position + 1;
        let (prev, next) = (self.prev[entry as usize], self.next[entry as usize]);
        self.next[prev as usize] = next;
        if next != END {
            self.prev[next as usize] = prev;
        }
    }

    /// Undoes the latest removal that was not undone.
    fn restore(&mut self, position: u32) {
        let entry = position + 1;
        let (prev, next) = (self.prev[entry as usize], self.next[entry as usize]);
        self.next[prev as usize] = entry;
        if next != END {
            self.prev[next as usize] = entry;
        }
    }
}

/// The next thing to try in a configuration, most promising first: the operation that returns next, then the other
/// open ones in the order of calls, then pending ones.
#[derive(Clone, Copy)]
enum Cursor {
    Returning,
    Open(u32),
    Pending(u32),
    Exhausted,
}

#[derive(Clone, Copy)]
enum Placed {
    Complete(OpId),
    Pending { op: OpId, class: u32 },
}

impl Placed {
    fn op(self) -> OpId {
        match self {
            Placed::Complete(op) | Placed::Pending { op, .. } => op,
        }
    }
}

struct Frame<State> {
    /// The operation placed now, if any is, and the state before it.
    placed: Option<(Placed, State)>,
    /// The operation that returns next in this configuration.
    returning: OpId,
    cursor: Cursor,
    /// Where this frame's alternatives begin on the common stack of alternatives.
    alternatives: u32,
}

/// Pending operations with equal inputs, in the order of calls.
struct Class {
    ops: Vec<OpId>,
    used: u32,
}

struct Search<'a, S: Spec> {
    spec: &'a S,
    history: &'a History<S::Input, S::Output>,
    goal: &'a Goal<'a, S::Input>,
    unplaced: Unplaced,
    classes: Vec<Class>,
    pure: Vec<bool>,
    /// Merges states that the history cannot tell apart.
    normal: Option<Normal<'a, S::State>>,
    /// The state of the current configuration.
    state: S::State,
    stack: Vec<Frame<S::State>>,
    /// What is still to be tried of the operations looked at, frame upon frame.
    alternatives: Vec<(Placed, S::State)>,
    failed: Failed<S::State>,
    /// Scratch space for the states that a step leads to.
    next: Vec<S::State>,
    /// Scratch space for the candidates of a configuration, in the order of calls.
    candidates: Vec<u32>,
    /// By position: the number of operations called before it, if all of them have returned and there is only one
    /// configuration with all of them placed.
    cuts: Vec<Option<u32>>,
    visited: u64,
    /// The operation whose return is the last that any order arrived at.
    furthest: OpId,
    /// The most operations that were placed at once.
    longest: usize,
}

impl<'a, S: Spec> Search<'a, S> {
    fn new(spec: &'a S, history: &'a History<S::Input, S::Output>, goal: &'a Goal<'a, S::Input>) -> Self {
        let pure = history
            .operations()
            .iter()
            .map(|op| op.output().is_some_and(|output| spec.is_pure(&op.input, output)))
            .collect();
        let classes = match goal {
            Goal::Linearization => classes(history),
            Goal::Blocked(_) => Vec::new(),
        };
        let normal = spec.normal(history);
        Search {
            spec,
            history,
            goal,
            unplaced: Unplaced::new(history),
            classes,
            pure,
            state: normal.as_ref().map_or_else(|| spec.initial(), |normal| normal(spec.initial())),
            normal,
            stack: Vec::new(),
            alternatives: Vec::new(),
            failed: Failed::default(),
            next: Vec::new(),
            candidates: Vec::new(),
            cuts: if spec.is_commutative() { cuts(history) } else { Vec::new() },
            visited: 0,
            furthest: OpId(0),
            longest: 0,
        }
    }

    /// Whether the goal can be reached.
    fn run(&mut self, budget: &Budget) -> Result<bool, Limit> {
        loop {
            self.visited += 1;
            self.longest = self.longest.max(self.stack.len());
            if self.visited.is_multiple_of(256) {
                budget.note_search(256, self.longest);
                budget.check()?;
            }
            match self.collect_candidates() {
                None if self.goal_reached() => return Ok(true),
                Some(returning) if self.enter(returning) => {}
                _ => self.unplace(),
            }
            while !self.advance() {
                if self.stack.is_empty() || self.is_at_cut() {
                    return Ok(false);
                }
                self.unplace();
            }
        }
    }

    fn goal_reached(&mut self) -> bool {
        match self.goal {
            Goal::Linearization => true,
            Goal::Blocked(input) => {
                self.next.clear();
                self.spec.step(&self.state, input, None, &mut self.next);
                self.next.is_empty()
            }
        }
    }

    /// Fills the list of candidates; answers the operation whose return ends it, `None` when all are placed.
    fn collect_candidates(&mut self) -> Option<OpId> {
        self.candidates.clear();
        let mut entry = self.unplaced.first();
        while entry != END {
            let mark = self.history.marks()[entry as usize - 1];
            if mark.is_return() {
                return Some(mark.op());
            }
            self.candidates.push(mark.op().0);
            entry = self.unplaced.next[entry as usize];
        }
        None
    }

    /// Opens the configuration just arrived at. `false` if it is known to fail.
    fn enter(&mut self, returning: OpId) -> bool {
        let end = |op: OpId| self.history.operation(op).end();
        if self.visited == 1 || end(returning) > end(self.furthest) {
            self.furthest = returning;
        }
        let alternatives = self.alternatives.len() as u32;
        let mut frame = Frame { placed: None, returning, cursor: Cursor::Returning, alternatives };
        if let Some(op) = self.pure_candidate() {
            frame.cursor = Cursor::Exhausted;
            let state = self.next.swap_remove(0);
            self.alternatives.push((Placed::Complete(op), state));
        } else if self.failed.contains(&self.candidates, &self.state, &self.classes) {
            return false;
        }
        self.stack.push(frame);
        true
    }

    fn pure_candidate(&mut self) -> Option<OpId> {
        for &op in &self.candidates {
            let operation = &self.history.operations()[op as usize];
            let is_pure_now = || {
                let output = operation.output();
                output.is_some_and(|output| self.spec.is_pure_from(&self.state, &operation.input, output))
            };
            if self.pure[op as usize] || is_pure_now() {
                self.next.clear();
                self.spec.step(&self.state, &operation.input, operation.output(), &mut self.next);
                if !self.next.is_empty() {
                    return Some(OpId(op));
                }
            }
        }
        None
    }

    /// Places the next alternative of the top frame; `false` if there is none left, and then the frame is gone.
    fn advance(&mut self) -> bool {
        loop {
            let Some(frame) = self.stack.last_mut() else { return false };
            if self.alternatives.len() > frame.alternatives as usize {
                let (placed, state) = self.alternatives.pop().expect("an alternative");
                frame.placed = Some((placed, std::mem::replace(&mut self.state, state)));
                match placed {
                    Placed::Complete(op) => {
                        let operation = self.history.operation(op);
                        self.unplaced.remove(operation.call);
                        self.unplaced.remove(operation.end());
                    }
                    Placed::Pending { class, .. } => self.classes[class as usize].used += 1,
                }
                return true;
            }
            let forced = matches!(frame.cursor, Cursor::Exhausted);
            if let Some(candidate) = self.next_candidate() {
                self.look_at(candidate);
                continue;
            }
            if !forced {
                self.collect_candidates();
                self.failed.insert(&self.candidates, &self.state, &self.classes);
            }
            self.stack.pop();
            return false;
        }
    }

    /// Whether the configuration that has just failed is the only one that there is at its moment.
    fn is_at_cut(&self) -> bool {
        let first = self.unplaced.first();
        let cut = self.cuts.get((first as usize).wrapping_sub(1)).copied().flatten();
        cut.is_some_and(|operations| operations as usize == self.stack.len())
    }

    /// Takes back what the top frame placed, if there is one.
    fn unplace(&mut self) {
        let Some(frame) = self.stack.last_mut() else { return };
        let (placed, state) = frame.placed.take().expect("the top frame has placed an operation");
        self.state = state;
        match placed {
            Placed::Complete(op) => {
                let operation = self.history.operation(op);
                self.unplaced.restore(operation.end());
                self.unplaced.restore(operation.call);
            }
            Placed::Pending { class, .. } => self.classes[class as usize].used -= 1,
        }
    }

    /// Moves the cursor of the top frame.
    fn next_candidate(&mut self) -> Option<Placed> {
        let frame = self.stack.last_mut()?;
        loop {
            match frame.cursor {
                Cursor::Returning => {
                    frame.cursor = Cursor::Open(self.unplaced.first());
                    return Some(Placed::Complete(frame.returning));
                }
                Cursor::Open(entry) => {
                    let mark = self.history.marks()[entry as usize - 1];
                    if mark.is_return() {
                        frame.cursor = Cursor::Pending(0);
                        continue;
                    }
                    frame.cursor = Cursor::Open(self.unplaced.next[entry as usize]);
                    if mark.op() != frame.returning {
                        return Some(Placed::Complete(mark.op()));
                    }
                }
                Cursor::Pending(index) => {
                    let Some(class) = self.classes.get(index as usize) else {
                        frame.cursor = Cursor::Exhausted;
                        return None;
                    };
                    frame.cursor = Cursor::Pending(index + 1);
                    let deadline = self.history.operation(frame.returning).end();
                    if let Some(&op) = class.ops.get(class.used as usize)
                        && self.history.operation(op).call < deadline
                    {
                        return Some(Placed::Pending { op, class: index });
                    }
                }
                Cursor::Exhausted => return None,
            }
        }
    }

    /// Pushes the states that the candidate leads to. A pending operation that changes nothing is not worth using.
    fn look_at(&mut self, candidate: Placed) {
        let operation = self.history.operation(candidate.op());
        self.next.clear();
        self.spec.step(&self.state, &operation.input, operation.output(), &mut self.next);
        let pending = matches!(candidate, Placed::Pending { .. });
        let state = &self.state;
        for next in self.next.drain(..) {
            let next = match &self.normal {
                Some(normal) => normal(next),
                None => next,
            };
            if !pending || next != *state {
                self.alternatives.push((candidate, next));
            }
        }
    }

    /// The operations placed, with the state after each.
    fn path(self) -> Path<S> {
        let mut after = self.state;
        let placed = self.stack.into_iter().rev().filter_map(|frame| frame.placed);
        let mut path: Path<S> =
            placed.map(|(placed, before)| (placed.op(), std::mem::replace(&mut after, before))).collect();
        path.reverse();
        path
    }
}

/// The moments at which nothing is open, none when something is pending.
fn cuts<I, O>(history: &History<I, O>) -> Vec<Option<u32>> {
    if history.pending() > 0 {
        return Vec::new();
    }
    let (mut called, mut returned) = (0, 0);
    let cut = |mark: &Mark| {
        let here = (called == returned).then_some(called);
        if mark.is_return() {
            returned += 1
        } else {
            called += 1
        }
        here
    };
    history.marks().iter().map(cut).collect()
}

/// Groups the pending operations by equal inputs.
fn classes<I: PartialEq, O>(history: &History<I, O>) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    for (op, operation) in history.operations().iter().enumerate() {
        if operation.ret.is_some() {
            continue;
        }
        let op = OpId(op as u32);
        let same = |class: &&mut Class| history.operation(class.ops[0]).input == operation.input;
        match classes.iter_mut().find(same) {
            Some(class) => class.ops.push(op),
            None => classes.push(Class { ops: vec![op], used: 0 }),
        }
    }
    classes
}

/// The configurations that are known to fail.
struct Failed<State> {
    table: HashTable<u32>,
    entries: Vec<Entry<State>>,
    /// Candidates and numbers of pending operations used, entry after entry.
    words: Vec<u32>,
    hasher: FixedState,
}

struct Entry<State> {
    state: State,
    hash: u64,
    start: usize,
    candidates: u32,
}

impl<State> Default for Failed<State> {
    fn default() -> Self {
        Failed { table: HashTable::new(), entries: Vec::new(), words: Vec::new(), hasher: FixedState::default() }
    }
}

impl<State: Clone + Eq + Hash> Failed<State> {
    fn hash(&self, candidates: &[u32], state: &State) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        candidates.hash(&mut hasher);
        state.hash(&mut hasher);
        hasher.finish()
    }

    /// Whether these candidates and this state failed with these or fewer pending operations used.
    fn contains(&self, candidates: &[u32], state: &State, classes: &[Class]) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let hash = self.hash(candidates, state);
        let same = |&index: &u32| {
            let entry = &self.entries[index as usize];
            let start = entry.start;
            let used = start + entry.candidates as usize;
            entry.hash == hash
                && self.words[start..used] == *candidates
                && entry.state == *state
                && classes.iter().zip(&self.words[used..]).all(|(class, &used)| used <= class.used)
        };
        self.table.find(hash, same).is_some()
    }

    fn insert(&mut self, candidates: &[u32], state: &State, classes: &[Class]) {
        let hash = self.hash(candidates, state);
        let start = self.words.len();
        self.words.extend_from_slice(candidates);
        self.words.extend(classes.iter().map(|class| class.used));
        let index = self.entries.len() as u32;
        self.entries.push(Entry { state: state.clone(), hash, start, candidates: candidates.len() as u32 });
        let entries = &self.entries;
        self.table.insert_unique(hash, index, |&index| entries[index as usize].hash);
    }
}

#[cfg(test)]
mod tests;
