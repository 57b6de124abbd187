//! One worker of a search, and what the workers share.
//!
//! A round: every worker expands some of its own nodes and posts the steps to the owners of their targets; all meet; every
//! worker takes in what was posted to it; all meet again and decide alike whether to go on. What they decide on is kept twice
//! and used in turn, so that a worker already in the next round cannot change what another still reads.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Found, Halt, ROOT, Shard, Space, Steps, Stopped};
use crate::limits::{Limit, Watch};
use crate::store::hash_bytes;

/// Nodes expanded in a round by a worker that is alone: what they lead to fits the caches.
const ROUND_ALONE: u32 = 256;
/// Nodes expanded in a round by one of several workers: meeting must not cost more than working.
const ROUND_SHARED: u32 = 4096;

/// Steps on their way to the owner of their targets.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    items: Vec<Item>,
}

struct Item {
    hash: u64,
    to: u32,
    tag: u32,
    parent: u32,
}

/// What the workers of a search share.
pub(super) struct Shared<'a, S: Space> {
    space: &'a S,
    jobs: usize,
    watch: Watch<'a>,
    depth_max: Option<u32>,
    /// From whom to whom.
    post: Vec<Mutex<Batch>>,
    meeting: Meeting,
    /// By turn: workers that have nodes of this level left.
    busy: [AtomicU32; 2],
    /// By turn: whether to stop now.
    stop: [AtomicBool; 2],
    stopped: Mutex<Option<Stopped<S::Reason>>>,
    limit: Mutex<Option<Limit>>,
    transitions: AtomicU64,
    states: AtomicU64,
    bytes: Vec<AtomicU64>,
    /// Whether the level added any node.
    grown: [AtomicBool; 2],
    depth: AtomicU32,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, S: Space> Shared<'a, S> {
    pub(super) fn new(space: &'a S, jobs: usize, watch: Watch<'a>, depth_max: Option<u32>) -> Self {
        Shared {
            space,
            jobs,
            watch,
            depth_max,
            post: (0..jobs * jobs).map(|_| Mutex::default()).collect(),
            meeting: Meeting::new(jobs),
            busy: Default::default(),
            stop: Default::default(),
            stopped: Mutex::new(None),
            limit: Mutex::new(None),
            transitions: AtomicU64::new(0),
            states: AtomicU64::new(0),
            bytes: (0..jobs).map(|_| AtomicU64::new(0)).collect(),
            grown: Default::default(),
            depth: AtomicU32::new(0),
        }
    }

    pub(super) fn finish(self) -> (Option<Stopped<S::Reason>>, Option<Limit>, u64, u32) {
        let stopped = self.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
        let limit = self.limit.into_inner().unwrap_or_else(PoisonError::into_inner);
        (stopped, limit, self.transitions.into_inner(), self.depth.into_inner())
    }

    /// Keeps the shortest of what was found.
    fn note(&self, length: u32, node: u32, halt: Halt<S::Reason>) {
        let mut stopped = lock(&self.stopped);
        if stopped.as_ref().is_none_or(|known| length < known.length) {
            *stopped = Some(Stopped { length, node, halt });
        }
    }
}

struct Worker<'a, 'b, S: Space> {
    shared: &'b Shared<'a, S>,
    me: usize,
    scratch: S::Scratch,
    out: Steps<S::Reason>,
    batches: Vec<Batch>,
    slots: Vec<u64>,
    depth: u32,
    turn: usize,
    transitions: u64,
}

/// Runs worker number `me` until all have stopped.
pub(super) fn work<S: Space>(shared: &Shared<'_, S>, shards: &[Mutex<Shard>], me: usize) {
    let _guard = LeaveOnDrop(&shared.meeting);
    let mut shard = lock(&shards[me]);
    let mut worker = Worker {
        shared,
        me,
        scratch: shared.space.scratch(),
        out: Steps::default(),
        batches: (0..shared.jobs).map(|_| Batch::default()).collect(),
        slots: Vec::new(),
        depth: 0,
        turn: 0,
        transitions: 0,
    };
    if me == 0 {
        match shared.space.roots(&mut worker.scratch, &mut worker.out) {
            Ok(()) => {
                worker.sort_out(ROOT);
                // To begin is no transition.
                worker.transitions = 0;
            }
            Err(fault) => shared.note(0, ROOT, Halt::Fault(fault)),
        }
    }
    let mut going = worker.exchange(&mut shard, false) == Next::Level;
    while going {
        let (from, to) = (shard.level, shard.numbered());
        shard.next_level();
        going = worker.level(&mut shard, from, to);
    }
}

#[derive(PartialEq, Eq)]
enum Next {
    Round,
    Level,
    Stop,
}

/// A round ends early when it has found so many bytes for one worker: limits are looked at between rounds.
const BATCH_MAX: usize = 16 << 20;

impl<S: Space> Worker<'_, '_, S> {
    /// Expands the nodes of a level; tells whether another follows.
    fn level(&mut self, shard: &mut Shard, from: u32, to: u32) -> bool {
        if self.me == 0 {
            self.shared.depth.store(self.depth + 1, Ordering::Relaxed);
        }
        let round = if self.shared.jobs == 1 { ROUND_ALONE } else { ROUND_SHARED };
        let mut at = from;
        loop {
            let mut end = at.saturating_add(round).min(to);
            for node in at..end {
                if self.expand(shard, node) {
                    break;
                }
                if self.batches.iter().any(|batch| batch.bytes.len() > BATCH_MAX) {
                    end = node + 1;
                    break;
                }
            }
            at = end;
            match self.exchange(shard, at < to) {
                Next::Round => {}
                Next::Level => {
                    self.depth += 1;
                    return self.shared.depth_max.is_none_or(|max| self.depth < max);
                }
                Next::Stop => return false,
            }
        }
    }

    /// Expands one node; tells whether what was found ends the round.
    fn expand(&mut self, shard: &Shard, node: u32) -> bool {
        let Some((state, tag)) = shard.node(node) else { return false };
        let global = node * self.shared.jobs as u32 + self.me as u32;
        self.out.clear();
        let result = self.shared.space.expand(&mut self.scratch, state, tag, &mut self.out);
        if let Err(fault) = result {
            self.shared.note(self.depth, global, Halt::Fault(fault));
            return true;
        }
        if let Some(Found { reason, step }) = self.out.found.take() {
            let length = self.depth + u32::from(step.is_some());
            self.shared.note(length, global, Halt::Found(Found { reason, step }));
            return step.is_none() || !self.shared.space.mixed();
        }
        self.sort_out(global);
        false
    }

    /// Puts the steps just found into the batches of the workers that own their targets.
    fn sort_out(&mut self, parent: u32) {
        let jobs = self.shared.jobs as u64;
        for step in self.out.steps() {
            let bytes = self.out.bytes(step);
            let hash = hash_bytes(bytes);
            // The table uses the high bits, the fingerprint the low ones: the owner comes from the middle.
            let owner = if jobs == 1 { 0 } else { ((hash >> 20) & 0xFFFF) % jobs };
            let batch = &mut self.batches[owner as usize];
            batch.bytes.extend_from_slice(bytes);
            batch.items.push(Item { hash, to: batch.bytes.len() as u32, tag: step.tag, parent });
        }
        self.transitions += self.out.steps().len() as u64;
    }

    /// Posts, meets, takes in, meets, decides.
    fn exchange(&mut self, shard: &mut Shard, more: bool) -> Next {
        let (shared, turn, jobs) = (self.shared, self.turn, self.shared.jobs);
        self.turn = 1 - turn;
        if jobs == 1 {
            let mut batch = std::mem::take(&mut self.batches[0]);
            self.take_in(shard, &mut batch);
            self.batches[0] = batch;
        } else {
            for to in 0..jobs {
                std::mem::swap(&mut *lock(&shared.post[to * jobs + self.me]), &mut self.batches[to]);
            }
            if more {
                shared.busy[turn].fetch_add(1, Ordering::Relaxed);
            }
            shared.meeting.meet();
            for from in 0..jobs {
                let mut batch = std::mem::take(&mut *lock(&shared.post[self.me * jobs + from]));
                self.take_in(shard, &mut batch);
                self.batches[from] = batch;
            }
        }
        self.decide(shard, turn, more)
    }

    fn decide(&mut self, shard: &Shard, turn: usize, more: bool) -> Next {
        let shared = self.shared;
        shared.bytes[self.me].store(shard.bytes(), Ordering::Relaxed);
        shared.transitions.fetch_add(std::mem::take(&mut self.transitions), Ordering::Relaxed);
        if shard.numbered() > shard.level {
            shared.grown[turn].store(true, Ordering::Relaxed);
        }
        let found = lock(&shared.stopped).as_ref().map(|stopped| stopped.length);
        let wait = self.shared.space.mixed() && found.is_some_and(|length| length > self.depth);
        if found.is_some() && !wait {
            shared.stop[turn].store(true, Ordering::Relaxed);
        }
        if self.me == 0 {
            let bytes = shared.bytes.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum::<u64>();
            let spent = shared.watch.check(shared.states.load(Ordering::Relaxed), bytes + shared.space.bytes());
            if let Some(limit) = spent.err().or(shared.space.limit()) {
                lock(&shared.limit).get_or_insert(limit);
            }
        }
        if lock(&shared.limit).is_some() {
            shared.stop[turn].store(true, Ordering::Relaxed);
        }
        shared.meeting.meet();
        let stop = shared.stop[turn].load(Ordering::Relaxed);
        let busy = if shared.jobs == 1 { u32::from(more) } else { shared.busy[turn].load(Ordering::Relaxed) };
        let grown = shared.grown[turn].load(Ordering::Relaxed);
        // Nobody writes to this turn's values before the next meeting of the other turn.
        let whole = shared.meeting.meet();
        if self.me == 0 {
            shared.busy[turn].store(0, Ordering::Relaxed);
            shared.grown[turn].store(false, Ordering::Relaxed);
        }
        match (stop, busy, grown) {
            (true, ..) => Next::Stop,
            _ if !whole => Next::Stop,
            (_, 1.., _) => Next::Round,
            // A wrong step was found and the rest of its level has no wrong node.
            _ if wait || !grown => Next::Stop,
            _ => Next::Level,
        }
    }

    /// Adds posted nodes. Reading every table slot first lets the processor wait for many of them at once.
    fn take_in(&mut self, shard: &mut Shard, batch: &mut Batch) {
        self.slots.clear();
        self.slots.extend(batch.items.iter().map(|item| shard.touch(item.hash)));
        let touched = self.slots.iter().fold(0u8, |sum, &slot| sum ^ shard.touch_state(slot));
        std::hint::black_box(touched);
        let (mut from, mut added) = (0, 0);
        let numbers = (u32::MAX - 1) / self.shared.jobs as u32;
        for item in &batch.items {
            let bytes = &batch.bytes[from..item.to as usize];
            from = item.to as usize;
            let room = shard.numbered() < numbers;
            match shard.insert(self.shared.space, item.hash, bytes, item.tag, item.parent).filter(|_| room) {
                Some(new) => added += u64::from(new),
                None => {
                    lock(&self.shared.limit).get_or_insert(Limit::States);
                    break;
                }
            }
        }
        batch.bytes.clear();
        batch.items.clear();
        self.shared.states.fetch_add(added, Ordering::Relaxed);
    }
}

/// A barrier that lets everybody through once one worker is gone, so that a panic in one ends all.
struct Meeting {
    jobs: usize,
    inside: Mutex<(usize, u64, bool)>,
    all: Condvar,
}

impl Meeting {
    fn new(jobs: usize) -> Self {
        Meeting { jobs, inside: Mutex::new((0, 0, false)), all: Condvar::new() }
    }

    /// Waits for everybody; false once somebody is gone.
    fn meet(&self) -> bool {
        if self.jobs == 1 {
            return true;
        }
        let mut inside = lock(&self.inside);
        let round = inside.1;
        inside.0 += 1;
        if inside.0 == self.jobs {
            *inside = (0, round + 1, inside.2);
            self.all.notify_all();
        }
        while inside.1 == round && !inside.2 {
            inside = self.all.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        !inside.2
    }
}

/// Ends all meetings when its worker ends, by returning or by panicking.
struct LeaveOnDrop<'a>(&'a Meeting);

impl Drop for LeaveOnDrop<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.inside).2 = true;
            self.0.all.notify_all();
        }
    }
}
