//! Operations as records: written without locks, checked in order now and then.
//!
//! Each thread has a buffer that only it writes. Every 512 operations a thread tries to take all buffers and to hand the events in them to the checker, up to the oldest
//! operation that is open. A thread whose buffer is full waits until it can.
//!
//! Invariant: the checker gets every event once, in the order of stamps. A thread says that it is about to call before it reads the
//! clock, so nothing is called before what was handed out. If some operation stays open while [`PENDING_MAX`] others end, the records are given up and
//! counted. The checker starts over where nobody knows what happened: at the call and at the return of an operation that panicked, whose thread has no number or that another thread ended, and where records
//! were given up. A thread may have several operations open at once, one called inside the other or coroutines: each has a lane of its own, in which records are in order. What has no lane, or
//! comes in a signal while the thread writes a record or checks, is not recorded; then nothing that the checker says counts any more.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, compiler_fence};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use super::clock::Clock;
use super::report::{Findings, Report, Violation};
use super::threads::{self, THREADS_MAX};

const ENTRIES: usize = 1 << 10;

/// From so many records on a thread tries to have them checked.
const ENOUGH: u64 = 1 << 9;

/// How many records may wait for an operation that is open.
pub const PENDING_MAX: usize = 1 << 18;

/// How many operations on one object a thread may have open at once.
const LANES: usize = 8;

const IDLE: u64 = u64::MAX;
const ENTERING: u64 = 0;

/// The kind of a record of which nobody knows what it did. Its value is 1 if it may do so at any time from its call on, and 0 if it is over with its return.
pub const LOST: u64 = 0;

/// What stands in place of the stamp of a call by a thread without a number, beside its place.
const STRANGER: u64 = 1 << 63;

/// In the same place: an operation that is not recorded.
const OVERLOOKED: u64 = STRANGER | 1 << 62;

/// In a token: where the thread and the lane are, beside the stamp of the call.
const THREAD_SHIFT: u32 = 52;
const LANE_SHIFT: u32 = 60;

/// The ticket of a value that a thread without a number put in.
const STRANGE: u64 = u64::MAX;

/// An operation that is over.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// What it is; the checker knows.
    pub kind: u64,
    pub value: u64,
    pub call: u64,
    pub ret: u64,
    pub thread: u32,
    /// Whether its call was handed out, and what the checker noted then.
    begun: bool,
    pub note: u64,
}

impl Record {
    /// The stamp of the event that is handed out next; a return is after the calls that read the same clock.
    #[inline]
    fn next(&self) -> u64 {
        if self.begun { self.ret << 1 | 1 } else { self.call << 1 }
    }
}

/// What takes events in order.
pub trait Checker: Send {
    fn call(&mut self, record: &mut Record);
    fn ret(&mut self, record: &Record, found: &mut Vec<Violation>);
    /// Something happened that nobody knows: what is inside is not known. What is open is, and so many operations that nobody will know the outcome of.
    fn start_over(&mut self, unknown: u64);
    /// An operation that was open when the checker started over is over, and nobody will say what it did.
    fn give_up(&mut self, record: &Record);
    /// Operations that it could not check, ever.
    fn unchecked(&self) -> u64;
}

#[repr(align(128))]
struct Buffer {
    entries: Box<[[AtomicU64; 4]]>,
    head: AtomicU64,
    tail: AtomicU64,
    /// By lane: the call stamp of the operation that is open.
    open: [AtomicU64; LANES],
    /// The thread writes a record, or checks. Only it looks at this.
    busy: AtomicBool,
    /// How many values the thread made.
    values: AtomicU64,
}

impl Buffer {
    fn new() -> Self {
        let entry = || [const { AtomicU64::new(0) }; 4];
        Buffer {
            entries: (0..ENTRIES).map(|_| entry()).collect(),
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            open: [const { AtomicU64::new(IDLE) }; LANES],
            busy: AtomicBool::new(false),
            values: AtomicU64::new(0),
        }
    }

    /// A lane in which nothing is open, for the thread of this buffer.
    #[inline]
    fn free(&self) -> Option<usize> {
        if self.busy.load(Ordering::Relaxed) {
            return None;
        }
        self.open.iter().position(|open| open.load(Ordering::Acquire) == IDLE)
    }

    fn set_busy(&self, busy: bool) {
        compiler_fence(Ordering::SeqCst);
        self.busy.store(busy, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// How many operations of the thread are open.
    fn open(&self) -> usize {
        self.open.iter().filter(|open| open.load(Ordering::Acquire) != IDLE).count()
    }
}

/// Where records wait that are in the order of their stamps: a lane of a thread, or the place of an operation of a thread without a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Queued {
    Lane(usize, usize),
    Stranger(usize),
}

struct State<C> {
    checker: C,
    /// What was not handed out in full, each in the order of stamps.
    pending: Vec<VecDeque<Record>>,
    /// Which of them is which.
    queues: HashMap<Queued, usize>,
    /// When the operations of threads without a number were called that are open; the first place is for records that were given up.
    strangers: Vec<Option<u64>>,
    /// Everything before this was handed out.
    until: u64,
    told: u64,
}

pub struct Recorder<C> {
    clock: Clock,
    buffers: Box<[OnceLock<Buffer>]>,
    state: Mutex<State<C>>,
    pub findings: Findings,
    /// Some operation was not recorded: from then on no violation is certain.
    blind: AtomicBool,
}

/// An operation that has been called.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    thread: Option<usize>,
    lane: usize,
    call: u64,
}

impl Begun {
    /// As one number, which is not 0.
    pub fn token(self) -> u64 {
        let Some(thread) = self.thread else { return self.call };
        (self.lane as u64) << LANE_SHIFT | (thread as u64) << THREAD_SHIFT | self.call
    }

    /// The operation with this token.
    pub fn of(token: u64) -> Self {
        if token == 0 || token & STRANGER != 0 {
            return Begun { thread: None, lane: 0, call: token };
        }
        let thread = (token >> THREAD_SHIFT) as usize % THREADS_MAX;
        let lane = (token >> LANE_SHIFT) as usize % LANES;
        Begun { thread: Some(thread), lane, call: token & ((1 << THREAD_SHIFT) - 1) }
    }
}

/// An operation that panicked: nobody knows what it did.
pub struct Unwound<'a, C: Checker>(&'a Recorder<C>, Begun);

impl<C: Checker> Drop for Unwound<'_, C> {
    #[cold]
    fn drop(&mut self) {
        self.0.findings.unchecked(1);
        self.0.end(self.1, LOST, 1);
    }
}

impl<C: Checker> Recorder<C> {
    pub fn new(checker: C) -> Self {
        Recorder {
            clock: Clock::new(),
            buffers: (0..THREADS_MAX).map(|_| OnceLock::new()).collect(),
            state: Mutex::new(State {
                checker,
                pending: Vec::new(),
                queues: HashMap::new(),
                strangers: vec![None],
                until: 1,
                told: 0,
            }),
            findings: Findings::default(),
            blind: AtomicBool::new(false),
        }
    }

    /// A number that no other value of this object has, from 1.
    #[inline]
    pub fn ticket(&self) -> u64 {
        let Some(thread) = threads::number() else { return STRANGE };
        let buffer = self.buffers[thread].get_or_init(Buffer::new);
        // In one step: a signal may come in between.
        let number = buffer.values.fetch_add(1, Ordering::Relaxed) + 1;
        (thread as u64) << 48 | number
    }

    /// An operation is about to be called.
    #[inline]
    pub fn begin(&self) -> Begun {
        let Some(thread) = threads::number() else { return self.begin_unseen() };
        let buffer = self.buffers[thread].get_or_init(Buffer::new);
        let Some(lane) = buffer.free() else { return self.overlook() };
        // In this order: whoever sees that nothing is open has read the clock before this does.
        buffer.open[lane].store(ENTERING, Ordering::SeqCst);
        let call = self.clock.call();
        buffer.open[lane].store(call, Ordering::Release);
        Begun { thread: Some(thread), lane, call }
    }

    /// An operation is about to be called that cannot be recorded.
    #[cold]
    fn overlook(&self) -> Begun {
        self.blind.store(true, Ordering::SeqCst);
        self.findings.unchecked(1);
        Begun { thread: None, lane: 0, call: OVERLOOKED }
    }

    /// It has returned, in the thread that called it.
    #[inline]
    pub fn end(&self, begun: Begun, kind: u64, value: u64) {
        let Some(thread) = begun.thread else { return self.end_unseen(begun) };
        let Some(buffer) = self.buffers[thread].get() else { return };
        if buffer.busy.load(Ordering::Relaxed) {
            self.overlook();
            return buffer.open[begun.lane].store(IDLE, Ordering::Release);
        }
        buffer.set_busy(true);
        let ret = self.clock.ret();
        let tail = buffer.tail.load(Ordering::Relaxed);
        let entry = &buffer.entries[tail as usize & (ENTRIES - 1)];
        for (field, value) in entry.iter().zip([kind << 8 | begun.lane as u64, value, begun.call, ret]) {
            field.store(value, Ordering::Relaxed);
        }
        buffer.tail.store(tail + 1, Ordering::Release);
        buffer.open[begun.lane].store(IDLE, Ordering::Release);
        let waiting = tail + 1 - buffer.head.load(Ordering::Acquire);
        let is_full = waiting >= ENTRIES as u64;
        let mut found = Vec::new();
        // Inside another operation nothing is checked before it must be: that may be a signal handler, which had better not allocate.
        if is_full || waiting >= ENOUGH && waiting.is_multiple_of(ENOUGH / 4) && buffer.open() == 0 {
            found = self.hand_over(is_full);
        }
        buffer.set_busy(false);
        self.tell(&found);
    }

    /// It has returned, perhaps in another thread; nobody knows what it did then.
    pub fn end_anywhere(&self, begun: Begun, kind: u64, value: u64) {
        let Some(thread) = begun.thread else { return self.end_unseen(begun) };
        if !self.is_open(begun) {
            return self.findings.unchecked(1);
        }
        if threads::number() == Some(thread) {
            return self.end(begun, kind, value);
        }
        self.findings.unchecked(1);
        let mut state = self.locked();
        self.collect(&mut state);
        let ret = self.clock.ret();
        state.lost(Queued::Lane(thread, begun.lane), begun.call, ret);
        self.close(begun);
    }

    /// It did not happen.
    pub fn cancel(&self, begun: Begun) {
        match begun.thread {
            Some(_) if self.is_open(begun) => self.close(begun),
            Some(_) => {}
            None => self.end_unseen(begun),
        }
    }

    fn is_open(&self, begun: Begun) -> bool {
        let buffer = begun.thread.and_then(|thread| self.buffers[thread].get());
        buffer.is_some_and(|buffer| buffer.open[begun.lane].load(Ordering::Acquire) == begun.call)
    }

    fn close(&self, begun: Begun) {
        if let Some(buffer) = begun.thread.and_then(|thread| self.buffers[thread].get()) {
            buffer.open[begun.lane].store(IDLE, Ordering::Release);
        }
    }

    /// Checks what is recorded, if nobody else does, or if it must be done; what was found.
    #[cold]
    fn hand_over(&self, must: bool) -> Vec<Violation> {
        match self.state.try_lock() {
            Ok(state) => self.drain(state),
            Err(TryLockError::Poisoned(state)) => self.drain(state.into_inner()),
            Err(TryLockError::WouldBlock) if must => self.drain(self.locked()),
            Err(TryLockError::WouldBlock) => Vec::new(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An operation of a thread that has no number is about to be called. Nothing is handed out that is called later, until it is over.
    #[cold]
    fn begin_unseen(&self) -> Begun {
        let strangers = &mut self.locked().strangers;
        let free = strangers.iter().skip(1).position(Option::is_none).map(|place| place + 1);
        let place = free.unwrap_or(strangers.len());
        strangers.resize(strangers.len().max(place + 1), None);
        strangers[place] = Some(self.clock.call());
        Begun { thread: None, lane: 0, call: STRANGER | place as u64 }
    }

    /// It is over, and nobody knows what it did.
    #[cold]
    fn end_unseen(&self, begun: Begun) {
        if begun.call == OVERLOOKED {
            return;
        }
        self.findings.unchecked(1);
        let mut state = self.locked();
        let place = (begun.call & !STRANGER) as usize;
        let call = state.strangers.get_mut(place).and_then(Option::take);
        let ret = self.clock.ret();
        state.lost(Queued::Stranger(if call.is_some() { place } else { 0 }), call.unwrap_or(ret), ret);
    }

    /// For as long as the operation may panic.
    #[inline]
    pub fn unwound(&self, begun: Begun) -> Unwound<'_, C> {
        Unwound(self, begun)
    }

    /// Checks what is recorded and in order; how many operations are open or wait for those.
    pub fn check(&self) -> u64 {
        let own = threads::number().and_then(|thread| self.buffers[thread].get());
        // A signal came while this thread was checking.
        if own.is_some_and(|own| own.busy.load(Ordering::Relaxed)) {
            return 1;
        }
        own.into_iter().for_each(|own| own.set_busy(true));
        let found = self.drain(self.locked());
        let waiting = self.waiting();
        own.into_iter().for_each(|own| own.set_busy(false));
        self.tell(&found);
        waiting
    }

    /// What is open, or waits for what is, counts as not checked.
    pub fn report(&self, exact: bool) -> Report {
        let waiting = self.check();
        self.findings.report(exact).with_unchecked(waiting)
    }

    fn waiting(&self) -> u64 {
        let state = self.locked();
        let open: usize = self.buffers.iter().filter_map(OnceLock::get).map(Buffer::open).sum();
        let pending: usize = state.pending.iter().map(VecDeque::len).sum();
        (open + pending + state.strangers.iter().flatten().count()) as u64
    }

    /// Takes the records of all threads; a stamp that no operation which is open, or will be called, is before.
    fn collect(&self, state: &mut State<C>) -> u64 {
        let mut until = state.strangers.iter().flatten().copied().fold(self.clock.call(), u64::min);
        for (thread, buffer) in self.buffers.iter().enumerate() {
            let Some(buffer) = buffer.get() else { continue };
            until = until.min(oldest_open(buffer).unwrap_or(state.until));
            let tail = buffer.tail.load(Ordering::Acquire);
            let head = buffer.head.load(Ordering::Relaxed);
            for number in head..tail {
                let entry = &buffer.entries[number as usize & (ENTRIES - 1)];
                let [kind, value, call, ret] = [0, 1, 2, 3].map(|field| entry[field].load(Ordering::Relaxed));
                let (kind, lane) = (kind >> 8, kind as usize % LANES);
                let record = Record { kind, value, call, ret, thread: thread as u32, begun: false, note: 0 };
                state.queue(Queued::Lane(thread, lane)).push_back(record);
            }
            buffer.head.store(tail, Ordering::Release);
        }
        until
    }

    /// Hands out what is recorded; what was found.
    fn drain(&self, mut guard: MutexGuard<'_, State<C>>) -> Vec<Violation> {
        let state = &mut *guard;
        let until = self.collect(state);
        let mut found = Vec::new();
        state.hand_out(until.max(state.until), &mut found);
        let unchecked = state.bound(self.clock.call()) + state.unchecked();
        self.findings.unchecked(unchecked);
        // Whoever was overlooked was so before what it did was recorded.
        if self.blind.load(Ordering::SeqCst) {
            self.findings.unchecked(found.len() as u64);
            found.clear();
        }
        found.iter().for_each(|violation| self.findings.keep(violation));
        found
    }

    /// Who is told may use the object: nothing is locked.
    fn tell(&self, found: &[Violation]) {
        found.iter().for_each(|violation| self.findings.tell(violation));
    }
}

/// A stamp that no operation of the thread that is open, or that will be called, is before; `None` when it cannot be told now.
fn oldest_open(buffer: &Buffer) -> Option<u64> {
    for _ in 0..64 {
        match buffer.open.iter().map(|open| open.load(Ordering::SeqCst)).min() {
            Some(ENTERING) => std::hint::spin_loop(),
            open => return open,
        }
    }
    None
}

impl<C: Checker> State<C> {
    /// What waits there.
    fn queue(&mut self, which: Queued) -> &mut VecDeque<Record> {
        let next = self.pending.len();
        let place = *self.queues.entry(which).or_insert(next);
        if place == next {
            self.pending.push(VecDeque::new());
        }
        &mut self.pending[place]
    }

    /// The events before this stamp, in order: those of one thread as long as no other thread has an earlier one.
    fn hand_out(&mut self, until: u64, found: &mut Vec<Violation>) {
        loop {
            let (mut first, mut second) = ((until << 1, None), until << 1);
            for (thread, records) in self.pending.iter().enumerate() {
                let Some(next) = records.front().map(Record::next) else { continue };
                if next < first.0 {
                    (first, second) = ((next, Some(thread)), first.0);
                } else {
                    second = second.min(next);
                }
            }
            let Some(thread) = first.1 else { break };
            let records = &mut self.pending[thread];
            let due = |record: &&mut Record| record.next() <= second && record.next() < until << 1;
            while let Some(record) = records.front_mut().filter(due) {
                match (record.kind, record.begun) {
                    (LOST, begun) => self.checker.start_over(if begun { 0 } else { record.value }),
                    (_, true) => self.checker.ret(record, found),
                    (_, false) => self.checker.call(record),
                }
                if record.begun {
                    records.pop_front();
                } else {
                    record.begun = true;
                }
            }
        }
        self.until = until;
    }

    /// An operation is over of which nobody knows what it did.
    fn lost(&mut self, place: Queued, call: u64, ret: u64) {
        let record = Record { kind: LOST, value: 0, call, ret, thread: u32::MAX, begun: false, note: 0 };
        self.queue(place).push_back(record);
    }

    /// Gives up what waits if it is too much; how many records that are. They are over now, so what is called later knows nothing of them.
    fn bound(&mut self, now: u64) -> u64 {
        let waiting: usize = self.pending.iter().map(VecDeque::len).sum();
        if waiting <= PENDING_MAX {
            return 0;
        }
        self.checker.start_over(0);
        let open = self.pending.iter().filter_map(VecDeque::front).filter(|record| record.begun && record.kind != LOST);
        open.for_each(|record| self.checker.give_up(record));
        self.pending.iter_mut().for_each(VecDeque::clear);
        self.lost(Queued::Stranger(0), now, now);
        waiting as u64
    }

    /// How many operations more the checker could not check.
    fn unchecked(&mut self) -> u64 {
        let unchecked = self.checker.unchecked();
        unchecked - std::mem::replace(&mut self.told, unchecked)
    }
}
