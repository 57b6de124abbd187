//! Happens-before, and the races in it that can be turned around.
//!
//! Invariant: the clock of an event has, for each thread, one more than the index of that thread's last event that happens
//! before it or is it. An event waits for a lock, a semaphore or a change only when its access says so; the rival of such an
//! event is not what allowed it to go but the last event before which it could have gone itself (for a mutex: the
//! acquisition of whoever released it). This is the treatment of blocking of the journal version of optimal DPOR
//! (Abdulla et al., JACM 64(4), 2017, section 10), made to fit counted and shared locks, and events that touch more than what they
//! wait for: a thread that took a lock, and allocated memory before its next step.

use std::cmp::Reverse;

use crate::access::{Access, Condition, Kind, Thread, dependent};

use super::event::{Accesses, Event};

/// Clocks are as wide as there are threads, in steps of so many: few programs have more.
const STEP: usize = 8;

/// A run's events with their clocks.
#[derive(Debug, Default)]
pub(super) struct Past {
    events: Vec<Event>,
    /// `width` entries an event.
    clocks: Vec<u32>,
    width: usize,
    /// One more than the index of each thread's last event, `width` of them.
    last: Vec<u32>,
    /// One more than the index of the event that created each thread, as many.
    born: Vec<u32>,
    found: Vec<(u32, u32)>,
    /// The clock of the event that was looked at last, and what it was before the accesses of the event counted.
    next: Vec<u32>,
    base: Vec<u32>,
    /// Which of its thread's events each is.
    numbers: Vec<u32>,
    /// The races of all events.
    races: Vec<Race>,
}

/// An event, and one before which it could have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Race {
    pub(super) rival: usize,
    /// Index of the event; one that never happened comes after all others.
    pub(super) event: usize,
}

impl Past {
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn event(&self, at: usize) -> &Event {
        &self.events[at]
    }

    /// Keeps the first `len` events.
    pub(super) fn truncate(&mut self, len: usize) {
        self.events.truncate(len);
        self.numbers.truncate(len);
        self.races.truncate(self.races.partition_point(|race| race.event < len));
        self.clocks.truncate(len * self.width);
        for table in [&mut self.last, &mut self.born] {
            table.clear();
            table.resize(self.width, 0);
        }
        for at in 0..len {
            self.index(at);
        }
    }

    fn index(&mut self, at: usize) {
        let (thread, created) = (self.events[at].thread, self.events[at].created);
        self.last[thread.index()] = at as u32 + 1;
        if let Some(created) = created {
            self.widen(created);
            self.born[created.index()] = at as u32 + 1;
        }
    }

    fn clock(&self, at: usize) -> &[u32] {
        &self.clocks[at * self.width..(at + 1) * self.width]
    }

    /// Makes room for a thread in every clock.
    fn widen(&mut self, thread: Thread) {
        if thread.index() < self.width {
            return;
        }
        let width = (thread.index() + 1).next_multiple_of(STEP);
        let mut clocks = Vec::with_capacity(self.events.len() * width);
        for at in 0..self.events.len() {
            clocks.extend_from_slice(self.clock(at));
            clocks.resize((at + 1) * width, 0);
        }
        (self.clocks, self.width) = (clocks, width);
        for table in [&mut self.last, &mut self.born] {
            table.resize(width, 0);
        }
    }

    /// Whether the event at `a` happens before the one at `b`, or is it.
    pub(super) fn happens_before(&self, a: usize, b: usize) -> bool {
        self.clock(b)[self.events[a].thread.index()] > a as u32
    }

    /// Which of its thread's events this is.
    pub(super) fn number(&self, at: usize) -> usize {
        self.numbers[at] as usize
    }

    /// How many events the thread has made.
    pub(super) fn made(&self, thread: Thread) -> usize {
        let last = self.last.get(thread.index()).copied().unwrap_or(0) as usize;
        last.checked_sub(1).map_or(0, |last| self.number(last) + 1)
    }

    /// The races of all events, in their order.
    pub(super) fn races(&self) -> &[Race] {
        &self.races
    }

    /// Adds an event at the end, with the races that it has with earlier ones.
    pub(super) fn push(&mut self, event: Event) {
        let at = self.events.len();
        let mut races = std::mem::take(&mut self.races);
        let known = races.len();
        self.races_of(&event, &mut races, known);
        self.races = races;
        self.next[event.thread.index()] = at as u32 + 1;
        self.clocks.extend_from_slice(&self.next);
        self.numbers.push(self.made(event.thread) as u32);
        self.events.push(event);
        self.index(at);
    }

    /// The races of an event if it came next, behind the first `known`, and in `next` the clock that it would have, not counting itself.
    pub(super) fn races_of(&mut self, event: &Event, races: &mut Vec<Race>, known: usize) {
        self.widen(event.thread);
        let (mut base, mut clock) = (std::mem::take(&mut self.base), std::mem::take(&mut self.next));
        base.clear();
        let before = self.last[event.thread.index()].max(self.born[event.thread.index()]) as usize;
        if before > 0 {
            base.extend_from_slice(self.clock(before - 1));
        } else {
            base.resize(self.width, 0);
        }
        let mut found = std::mem::take(&mut self.found);
        self.find_dependent(event, &mut found);
        clock.clone_from(&base);
        for &(at, access) in &found {
            let (other, index) = (&self.events[at as usize], access as usize);
            if clock[other.thread.index()] > at {
                continue;
            }
            let access = &event.accesses.as_slice()[index];
            let rival = if access.waits {
                self.rival_of_waiting(event, access, at as usize).filter(|&rival| {
                    let thread = self.events[rival].thread;
                    thread != event.thread && !self.known(event, &base, &found, index, rival)
                })
            } else {
                Some(at as usize)
            };
            let race = rival.map(|rival| Race { rival, event: self.events.len() });
            races.extend(race.filter(|race| !races[known..].contains(race)));
            join(&mut clock, self.clock(at as usize));
        }
        (self.found, self.base, self.next) = (found, base, clock);
    }

    /// Whether the rival happens before the event for another reason than the access at `index`. What happens before something that the event
    /// had to wait for is no reason: an event that comes before the rival comes before that, too.
    fn known(&self, event: &Event, base: &[u32], found: &[(u32, u32)], index: usize, rival: usize) -> bool {
        let thread = self.events[rival].thread.index();
        let waits = |access: u32| event.accesses.as_slice()[access as usize].waits;
        let behind = |at: usize| {
            let mut gates = found.iter().filter(|&&(_, access)| waits(access));
            had_to_wait(event) && gates.any(|&(gate, _)| self.happens_before(at, gate as usize))
        };
        let reason = |&(at, access): &(u32, u32)| {
            access as usize != index
                && self.happens_before(rival, at as usize)
                && (waits(access) || !behind(at as usize))
        };
        base[thread] > rival as u32 || found.iter().any(reason)
    }

    /// The earlier events that the event depends on, latest first, each with the access that shows it. Stops at an access
    /// after which all earlier ones are known to happen before.
    fn find_dependent(&self, event: &Event, found: &mut Vec<(u32, u32)>) {
        found.clear();
        for (index, access) in event.accesses.as_slice().iter().enumerate() {
            for at in (0..self.events.len()).rev() {
                let other = &self.events[at];
                let mut total = false;
                let mut hit = false;
                for touched in other.accesses.as_slice() {
                    hit |= dependent(access, touched);
                    total |= touched.is_total() && touched.overlaps(access) && touched.covers(access);
                }
                if hit && other.thread != event.thread {
                    found.push((at as u32, index as u32));
                }
                if total {
                    break;
                }
            }
        }
        // Of two accesses that meet the same event, the one that did not have to wait for it shows that the event could have come before it:
        // a wait that was woken, and would have timed out. Unless the event could not have come at all without it.
        let (accesses, waited) = (event.accesses.as_slice(), had_to_wait(event));
        found.sort_unstable_by_key(|&(at, index)| {
            (Reverse(at), accesses[index as usize].waits != waited, Reverse(index))
        });
    }

    /// The last event before which a waiting event could have gone, given that it went after the one at `from`.
    fn rival_of_waiting(&self, event: &Event, access: &Access, from: usize) -> Option<usize> {
        if let Condition::AtLeast(_) = access.condition {
            return self.last_sufficient(event, from);
        }
        match access.kind {
            // Who found that others read could not have it for himself; a reader could.
            Kind::AcquireShared if self.touching(from, access).is_some_and(is_shared) => Some(from),
            Kind::Acquire | Kind::AcquireShared => self.acquisition(access, from),
            Kind::Take => {
                let on = |at: &usize| self.touching(*at, access).is_some();
                let open = |at: usize| {
                    self.touching(at, access).is_some_and(|other| other.old > 0 || other.kind == Kind::Write)
                };
                let at = (0..=from).rev().filter(on).find(|&at| open(at) || self.events[at].thread == event.thread)?;
                (self.touching(at, access)?.kind != Kind::Write).then_some(at)
            }
            Kind::Read | Kind::Write | Kind::Update => match access.condition {
                Condition::Equals(value) => self.last_found(event, access, from, |found| found == value),
                Condition::Unless(vain) => self.last_found(event, access, from, |found| !vain.contains(found)),
                _ => self.changed_before(event, from).then_some(from),
            },
            _ => None,
        }
    }

    /// The acquisition of whoever holds or released the lock at `from`.
    fn acquisition(&self, access: &Access, from: usize) -> Option<usize> {
        let owner = match self.touching(from, access)?.kind {
            Kind::Read => None,
            _ => Some(self.events[from].thread),
        };
        (0..=from).rev().find(|&at| {
            let kind = self.touching(at, access).map(|other| other.kind);
            matches!(kind, Some(Kind::Acquire | Kind::AcquireShared | Kind::Update))
                && owner.is_none_or(|owner| owner == self.events[at].thread)
        })
    }

    /// The last event, up to `from`, that found a value which the access needs to find.
    fn last_found(&self, event: &Event, access: &Access, from: usize, wanted: impl Fn(u64) -> bool) -> Option<usize> {
        let on = |at: &usize| self.touching(*at, access).is_some();
        // What the location was before it was allocated is no value of it.
        let same = |other: &Access| (other.object, other.size) == (access.object, access.size);
        let found = |at: usize| self.touching(at, access).is_some_and(|other| !same(other) || wanted(other.old));
        (0..=from).rev().filter(on).find(|&at| found(at) || self.events[at].thread == event.thread)
    }

    /// The last event, up to `from`, before which there was enough of something that the event waits for. How much there would be if the event came before another is
    /// what the first one found that does not come before that other.
    fn last_sufficient(&self, event: &Event, from: usize) -> Option<usize> {
        let waits = || event.accesses.as_slice().iter().filter(|access| access.waits);
        let touches = |at: &usize| waits().any(|access| self.touching(*at, access).is_some());
        let sufficient = |at: usize| {
            waits().any(|access| {
                let mut later = (at..self.events.len()).filter(|&later| self.happens_before(at, later));
                let found = later.find_map(|later| self.touching(later, access)).unwrap_or(access).old;
                matches!(access.condition, Condition::AtLeast(enough) if found >= enough)
            })
        };
        let mut before = (0..=from).rev().filter(touches);
        before.find(|&at| sufficient(at) || self.events[at].thread == event.thread)
    }

    fn touching(&self, at: usize, access: &Access) -> Option<&Access> {
        self.events[at].accesses.as_slice().iter().find(|other| other.overlaps(access))
    }

    /// Whether something that the event waits to see changed was changed before `from`, after its thread last read it.
    fn changed_before(&self, event: &Event, from: usize) -> bool {
        event.accesses.as_slice().iter().filter(|access| access.waits).any(|access| {
            let own = |at: &usize| self.events[*at].thread == event.thread && self.touching(*at, access).is_some();
            let read = (0..from).rev().find(own).map_or(0, |at| at + 1);
            (read..from).any(|at| {
                let mut touched = self.events[at].accesses.as_slice().iter();
                touched.any(|other| other.changed && !other.is_read() && other.overlaps(access))
            })
        })
    }

    /// The sequence that turns a race around: what comes after the rival without happening after it, then the event.
    /// `None` when the event could not go there, because readers still hold what it wants for itself.
    pub(super) fn turned<'a>(&'a self, rival: usize, event: &'a Event) -> Option<Vec<&'a Event>> {
        let free = (rival + 1..self.events.len()).filter(|&at| !self.happens_before(rival, at));
        let mut sequence: Vec<&Event> = free.map(|at| &self.events[at]).collect();
        let wanted = event.accesses.as_slice().iter().find(|access| access.waits && access.kind == Kind::Acquire);
        if let Some(wanted) = wanted {
            let shared = self.touching(rival, wanted).filter(|access| access.kind == Kind::AcquireShared);
            if shared.is_some_and(|shared| readers_after(shared.old, wanted, &sequence) != 0) {
                return None;
            }
        }
        sequence.push(event);
        Some(sequence)
    }
}

/// Whether an attempt failed on a lock that others had for reading.
fn is_shared(attempt: &Access) -> bool {
    attempt.kind == Kind::Read && attempt.old != Access::HELD
}

/// Whether the event could not come before what it waits for. What it waits for then comes first among its accesses; what else it touches
/// is what its thread did before its next step.
fn had_to_wait(event: &Event) -> bool {
    event.accesses.as_slice().first().is_some_and(|access| access.waits)
}

/// How many readers hold a lock after a sequence.
fn readers_after(before: u64, lock: &Access, sequence: &[&Event]) -> i64 {
    let touched = sequence.iter().flat_map(|event| event.accesses.as_slice()).filter(|access| access.overlaps(lock));
    touched.fold(before as i64, |readers, access| match access.kind {
        Kind::AcquireShared => readers + 1,
        Kind::ReleaseShared => readers - 1,
        _ => readers,
    })
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// The event that a thread that has not ended would do next.
pub(super) fn event_of(pending: &crate::point::Pending) -> Event {
    let accesses = Accesses::One(pending.access);
    Event { thread: pending.thread, created: None, picks: Box::new([]), accesses }
}
