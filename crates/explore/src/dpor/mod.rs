//! Partial-order reduction that never runs two equivalent schedules.
//!
//! Optimal dynamic partial-order reduction with source sets and wakeup trees: Abdulla, Aronis, Jonsson and Sagonas, POPL 2014,
//! algorithm 2, with the blocking of the journal version (JACM 2017). Two schedules are equivalent when one becomes the other
//! by swapping adjacent steps that are independent ([`crate::dependent`]).
//!
//! Invariant: a branch of a wakeup tree, once taken, wakes every sleeping thread before it ends, so no run is ever
//! given up as redundant. Exceptions, counted by [`Strategy::redundant`]: steps that pick among several results,
//! conditional accesses whose outcome in another place cannot be told from the values recorded, and steps that memory is taken or given back after.
//!
//! Departures from the paper: races are looked for at the end of a run only among those whose later event is new in it
//! (the others were found before, in the run that shares the prefix), unless something has ever followed the later one; a thread that has not ended counts with its pending
//! access, so that runs that got stuck, failed or were cut short lead on like others.
//!
//! What a thread does after a step, and before its next one, may touch what others touch: it takes and gives back memory. That belongs to the step, and the
//! theory knows such steps only by what they did in this place. Where one is planned in another, it is taken to do all that it ever did ([`behind`]); one that was planned as it did not
//! come out wakes whom it would have woken, because other plans were left to it; and plans that such a step stood for are made again.
//!
//! Fairness ([`crate::Fairness`]) is not kept by swapping independent steps, so a thread that is held back is run where a race asks for
//! it, or classes would be lost. A loop that yields without end would have a class for each number of rounds; a run in which a thread
//! is passed over too often is given up, and then the search does not claim to be complete.
//!
//! A machine that wants the order of returns and calls kept (docs/semantics.md, *Which histories a test has*) records them as accesses to
//! [`crate::HISTORY`]. Cost of a run with n steps, m of them new: O(n·m) for the races, O(n) for each race found.

mod behind;
mod event;
mod race;
mod wakeup;

use std::ops::ControlFlow;

use crate::access::{Access, Thread};
use crate::fair::Patience;
use crate::point::{ChoicePoint, Coverage, Decision, End, Readiness, Run, Stop, Strategy};

use behind::Behind;
use event::{Accesses, Event, Place, conflict, weak_initial};
use race::{Past, Race};
use wakeup::{Branch, Wakeup};

/// A pick on the current path.
#[derive(Clone, Copy, Debug)]
struct Picked {
    /// What a wakeup tree asked for; the other results come after it.
    first: u32,
    chosen: u32,
    options: u32,
}

impl Picked {
    /// The next result to try.
    fn advance(&mut self) -> bool {
        let from = if self.chosen == self.first { 0 } else { self.chosen + 1 };
        let next = if from == self.first { from + 1 } else { from };
        self.chosen = next;
        next < self.options
    }
}

/// A point on the current path.
#[derive(Debug)]
struct Node {
    thread: Thread,
    /// Threads whose next step was explored from here or from an earlier point, and not touched by a conflict since.
    sleep: Vec<Event>,
    /// What else is to be explored from here, without the branch that is being explored.
    rest: Branch,
    picks: Vec<Picked>,
    /// What the thread's step touched, over all its results.
    touched: Accesses,
    /// The step as a wakeup tree asked for it, if one did. The thread may have done more before its next step.
    expected: Option<Event>,
}

/// The search.
#[derive(Debug, Default)]
pub struct Dpor {
    nodes: Vec<Node>,
    trees: Wakeup,
    past: Past,
    /// The first point of the coming run that differs from the run before.
    fresh: usize,
    /// What a wakeup tree says should come after the last point of `nodes`.
    carry: Option<Branch>,
    /// Where the step under way stands, and how many picks it has made.
    depth: usize,
    picked: usize,
    started: bool,
    diverged: bool,
    redundant: u64,
    unfair: u64,
    /// Whether the machine gave up a run at a limit.
    truncated: bool,
    patience: Patience,
    races: Vec<Race>,
    behind: Behind,
}

impl Dpor {
    /// A search that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The decision at a point that an earlier run has passed.
    fn again(&self, at: &ChoicePoint<'_>) -> Decision {
        let depth = at.trace.len();
        let thread = self.nodes[depth].thread;
        if depth > 0 && depth <= self.fresh {
            let (before, now) = (self.past.event(depth - 1).accesses.as_slice(), at.trace.accesses(depth - 1));
            if !same_step(before, now) {
                return Decision::Stop(Stop::Diverged(depth - 1));
            }
        }
        match at.pending_of(thread) {
            Some(pending) if pending.is_enabled() => Decision::Run(thread),
            _ if depth == self.fresh => Decision::Stop(Stop::Redundant),
            _ => Decision::Stop(Stop::Diverged(depth)),
        }
    }

    /// Who sleeps at a point that is new. What was planned because the step would conflict with one that sleeps was left to this branch alone, also if the step
    /// came out differently.
    fn sleepers(&self, at: &ChoicePoint<'_>) -> Vec<Event> {
        let (Some(node), Some(step)) = (self.nodes.last(), at.trace.steps().last()) else { return Vec::new() };
        let done = at.trace.accesses(at.trace.len() - 1);
        let expected: Vec<Access> = node.expected.iter().flat_map(behind::of).copied().collect();
        let meets = |event: &Event, accesses: &[Access]| conflict(event.accesses.as_slice(), accesses);
        let stays = |event: &&Event| event.thread != step.thread && !meets(event, done) && !meets(event, &expected);
        node.sleep.iter().filter(stays).cloned().collect()
    }

    /// The branch of a wakeup tree that is taken next, if it can be.
    fn wanted(&mut self, rest: Branch, at: &ChoicePoint<'_>) -> Option<Event> {
        while let Some(child) = self.trees.first(rest) {
            let event = self.trees.detach(rest, child)?;
            if at.pending_of(event.thread).is_some_and(|pending| pending.is_enabled()) {
                self.carry = Some(child);
                return Some(event);
            }
            self.trees.release(child);
        }
        None
    }

    fn enter(&mut self, at: &ChoicePoint<'_>) -> Decision {
        let sleep = self.sleepers(at);
        let rest = self.carry.take().unwrap_or_else(|| self.trees.root());
        let (thread, picks, expected) = match self.wanted(rest, at) {
            Some(event) => (event.thread, prescribed(&event), Some(event)),
            None => match awake(at, &sleep) {
                Some(thread) => (thread, Vec::new(), None),
                None => {
                    self.trees.release(rest);
                    return Decision::Stop(Stop::Redundant);
                }
            },
        };
        self.nodes.push(Node { thread, sleep, rest, picks, touched: Accesses::None, expected });
        Decision::Run(thread)
    }

    /// Takes over the new part of the run, and plans what its races ask for.
    fn learn(&mut self, run: &Run<'_>) {
        let fresh = self.fresh.min(run.trace.len());
        self.past.truncate(fresh);
        let known = self.past.races().len();
        for at in fresh..run.trace.len() {
            let step = run.trace.step(at);
            let picks = run.trace.picks(at).iter().map(|pick| pick.chosen).collect();
            let accesses = Accesses::from(run.trace.accesses(at));
            self.past.push(Event { thread: step.thread, created: step.created, picks, accesses });
            self.behind.note(self.past.event(at), self.past.number(at));
        }
        for race in 0..self.past.races().len() {
            let Race { rival, event } = self.past.races()[race];
            if race >= known || self.behind.may_follow(self.past.event(event).thread, self.past.number(event)) {
                let moved = self.past.event(event).before(self.past.event(rival));
                self.plan(rival, &self.behind.add(moved, self.past.number(event)));
            }
        }
        if !matches!(run.end, End::Complete | End::Stopped(Stop::Redundant)) {
            let mut races = std::mem::take(&mut self.races);
            for pending in run.pending {
                races.clear();
                let event = race::event_of(pending);
                self.past.races_of(&event, &mut races, 0);
                for race in &races {
                    let moved = event.before(self.past.event(race.rival));
                    self.plan(race.rival, &self.behind.add(moved, self.past.made(event.thread)));
                }
            }
            self.races = races;
        }
    }

    /// Sees to it that some run has the event before its rival, unless one of those explored or planned has.
    fn plan(&mut self, rival: usize, event: &Event) {
        let (Some(node), Some(sequence)) = (self.nodes.get(rival), self.past.turned(rival, event)) else { return };
        let explored = |sleeper: &Event| match weak_initial(sleeper, &sequence) {
            Some(Place::At(at)) => !sequence[..at].iter().any(|earlier| sleeper.surprises(sequence[at], earlier)),
            // A plan that was taken for the same as the step of this point may have been dropped, though it is not.
            Some(Place::Outside) => {
                !node.expected.as_ref().is_some_and(|step| self.past.event(rival).surprises(step, event))
            }
            None => false,
        };
        if node.sleep.iter().any(explored) {
            return;
        }
        self.trees.insert(node.rest, sequence);
    }

    /// Goes back to the last point that has something left, and takes it.
    fn retreat(&mut self) {
        while let Some(depth) = self.nodes.len().checked_sub(1) {
            self.fresh = depth;
            let node = &mut self.nodes[depth];
            if depth < self.past.len() {
                node.touched.merge(self.past.event(depth).accesses.as_slice());
                if self.next_result(depth) {
                    return;
                }
                let node = &mut self.nodes[depth];
                let accesses = std::mem::replace(&mut node.touched, Accesses::None);
                let event = Event { thread: node.thread, created: None, picks: Box::new([]), accesses };
                node.sleep.push(event);
                self.forget(depth);
            }
            let rest = self.nodes[depth].rest;
            if let Some(child) = self.trees.first(rest)
                && let Some(event) = self.trees.detach(rest, child)
            {
                let node = &mut self.nodes[depth];
                node.thread = event.thread;
                node.picks = prescribed(&event);
                node.touched = Accesses::None;
                node.expected = Some(event);
                self.carry = Some(child);
                return;
            }
            self.trees.release(rest);
            self.nodes.pop();
        }
    }

    /// Another result of the same step, with the branch that was planned for it, if there is one.
    fn next_result(&mut self, depth: usize) -> bool {
        let node = &mut self.nodes[depth];
        while let Some(picked) = node.picks.last_mut() {
            if picked.advance() {
                break;
            }
            node.picks.pop();
        }
        if node.picks.is_empty() {
            return false;
        }
        let chosen: Vec<u32> = node.picks.iter().map(|picked| picked.chosen).collect();
        let (thread, rest) = (node.thread, node.rest);
        let planned = self.trees.find(rest, |event| event.thread == thread && *event.picks == *chosen);
        if let Some(child) = planned
            && self.trees.detach(rest, child).is_some()
        {
            self.carry = Some(child);
        }
        true
    }

    /// Drops what was planned for a thread whose step has been explored with every result.
    fn forget(&mut self, depth: usize) {
        let Node { thread, rest, .. } = self.nodes[depth];
        while let Some(child) = self.trees.find(rest, |event| event.thread == thread) {
            self.trees.detach(rest, child);
            self.trees.release(child);
        }
    }
}

/// Whether two runs did the same in a step. What a loop waited to see changed does not count: it is looked for from time to time
/// only, and may be noticed in one run and not in another.
fn same_step(before: &[Access], now: &[Access]) -> bool {
    let done = |accesses: &[Access]| -> Vec<_> {
        let counted = accesses.iter().enumerate().filter(|(at, access)| *at == 0 || !access.waits);
        counted.map(|(_, access)| (access.object, access.size, access.kind, access.old)).collect()
    };
    match (before, now) {
        ([before], [now]) if before == now => true,
        _ => done(before) == done(now),
    }
}

/// The results that a branch asks for.
fn prescribed(event: &Event) -> Vec<Picked> {
    event.picks.iter().map(|&chosen| Picked { first: chosen, chosen, options: 0 }).collect()
}

/// The thread to go on with where nothing is planned: whoever ran last, else the first that is ready, else one that is held.
fn awake(at: &ChoicePoint<'_>, sleep: &[Event]) -> Option<Thread> {
    let can = |readiness: Readiness| {
        let threads =
            at.pending.iter().filter(move |pending| pending.readiness == readiness).map(|pending| pending.thread);
        let mut threads = threads.filter(|&thread| !sleep.iter().any(|event| event.thread == thread));
        let first = threads.next()?;
        Some(
            at.current()
                .filter(|&current| first == current || threads.any(|thread| thread == current))
                .unwrap_or(first),
        )
    };
    can(Readiness::Ready).or_else(|| can(Readiness::Held))
}

impl Strategy for Dpor {
    fn start(&mut self) -> ControlFlow<Coverage> {
        if self.diverged {
            return ControlFlow::Break(Coverage::Partial);
        }
        if self.started && self.nodes.is_empty() {
            let partial = self.unfair > 0 || self.truncated;
            return ControlFlow::Break(if partial { Coverage::Partial } else { Coverage::Exhaustive });
        }
        self.patience.start();
        self.started = true;
        ControlFlow::Continue(())
    }

    fn choose(&mut self, at: &ChoicePoint<'_>) -> Decision {
        self.depth = at.trace.len();
        self.picked = 0;
        let decision = if at.trace.len() < self.nodes.len() { self.again(at) } else { self.enter(at) };
        match decision {
            Decision::Run(thread) if !self.patience.allows(thread, at) => Decision::Stop(Stop::Unfair),
            decision => decision,
        }
    }

    fn pick(&mut self, options: u32) -> u32 {
        let Some(node) = self.nodes.get_mut(self.depth) else { return 0 };
        let at = self.picked;
        self.picked += 1;
        if at == node.picks.len() {
            node.picks.push(Picked { first: 0, chosen: 0, options });
        }
        let picked = &mut node.picks[at];
        if picked.chosen >= options {
            self.diverged = true;
            return 0;
        }
        picked.options = options;
        picked.chosen
    }

    fn diverged(&self) -> bool {
        self.diverged
    }

    fn finish(&mut self, run: &Run<'_>) {
        match run.end {
            End::Stopped(Stop::Diverged(_)) => self.diverged = true,
            End::Stopped(Stop::Redundant) => self.redundant += 1,
            End::Stopped(Stop::Unfair) => self.unfair += 1,
            End::Truncated => self.truncated = true,
            _ => {}
        }
        if self.diverged {
            return;
        }
        self.learn(run);
        if let Some(carry) = self.carry.take() {
            self.trees.release(carry);
        }
        self.retreat();
    }

    fn turns_races(&self) -> bool {
        true
    }

    fn redundant(&self) -> u64 {
        self.redundant
    }

    fn is_exhaustive(&self) -> bool {
        true
    }

    fn unfair(&self) -> u64 {
        self.unfair
    }
}
