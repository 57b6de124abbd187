//! Data races: two accesses to the same bytes by different threads, one of them a write, one of them plain, and nothing that
//! orders them.
//!
//! Vector clocks over the synchronisation that the program itself asks for (Flanagan and Freund, *FastTrack*, PLDI
//! 2009, with the accesses that [`crate::shadow`] remembers). The order in which the search happens to run
//! steps orders nothing; a relaxed atomic access orders nothing either, unless a fence makes it.
//!
//! Invariant: the number of the run is never 0, which is that of a cell that was never touched. Clocks of threads that were not created are
//! zero, and nobody looks at their components for such threads.

use std::ffi::c_int;

use selvedge_explore::Kind;

use crate::posix::objects::{Table, empty};
use crate::shadow::{CELLS, Packed, Shadow};

/// How many threads there can be.
pub const THREADS: usize = selvedge_explore::Thread::MAX;

/// How often each thread has released, as far as somebody knows.
pub type Clock = [u32; THREADS];

/// Clocks are joined and copied so many components at a time.
pub const LANE: usize = 4;

/// A clock learns what another knows, in so many lanes, at least one. Few tests have more threads than fit the first.
#[inline(always)]
pub fn join(clock: &mut Clock, other: &Clock, lanes: usize) {
    join_lane(clock, other, 0);
    if lanes > 1 {
        join_more(clock, other, lanes);
    }
}

#[inline(always)]
fn join_lane(clock: &mut Clock, other: &Clock, lane: usize) {
    let ((mine, _), (theirs, _)) = (clock.as_chunks_mut::<LANE>(), other.as_chunks::<LANE>());
    for (mine, theirs) in mine[lane].iter_mut().zip(&theirs[lane]) {
        *mine = (*mine).max(*theirs);
    }
}

#[inline(never)]
fn join_more(clock: &mut Clock, other: &Clock, lanes: usize) {
    (1..lanes.min(THREADS / LANE)).for_each(|lane| join_lane(clock, other, lane));
}

/// The other half of a race.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// Who.
    pub thread: u8,
    /// From where.
    pub pc: u64,
    /// Whether it wrote.
    pub write: bool,
    /// Whether it was atomic.
    pub atomic: bool,
}

impl Conflict {
    /// What is remembered of it.
    pub fn with(other: Packed) -> Self {
        Conflict { thread: other.thread() as u8, pc: other.pc(), write: other.write(), atomic: other.atomic() }
    }
}

/// An access, in whole words: it is made and looked at millions of times a second.
#[derive(Clone, Copy)]
pub struct Touch {
    /// The first byte.
    pub address: u64,
    /// How many.
    pub size: u64,
    /// What it does, and from where.
    pub what: Packed,
}

impl Touch {
    /// Of so many bytes.
    #[inline(always)]
    pub fn new(address: u64, size: u64, write: bool, atomic: bool, pc: u64) -> Self {
        Touch { address, size, what: Packed::new(pc, write, atomic) }
    }

    /// What is remembered of it if it lies in one cell.
    #[inline(always)]
    fn bytes(self, thread: usize) -> Packed {
        let bytes = ((1u16 << self.size) - 1) << (self.address & 7);
        self.what.by(thread, bytes as u8)
    }
}

/// Who knows what.
pub struct Races {
    threads: usize,
    clocks: Vec<Clock>,
    /// What relaxed loads have seen, for a later acquire fence.
    seen: Vec<Clock>,
    /// What a release fence published, for later relaxed stores.
    fenced: Vec<Clock>,
    objects: Table<Clock>,
    shadow: Shadow,
}

impl Default for Races {
    fn default() -> Self {
        Races {
            threads: 1,
            clocks: vec![[0; THREADS]; THREADS],
            seen: vec![[0; THREADS]; THREADS],
            fenced: vec![[0; THREADS]; THREADS],
            objects: Table::default(),
            shadow: Shadow::default(),
        }
    }
}

fn acquires(order: c_int) -> bool {
    matches!(order & 0xff, 1 | 2 | 4 | 5)
}

fn releases(order: c_int) -> bool {
    matches!(order & 0xff, 3..=5)
}

impl Races {
    /// Forgets everything.
    pub fn reset(&mut self) {
        self.shadow.renew();
        let threads = self.threads;
        for thread in 0..threads {
            self.clocks[thread][..threads].fill(0);
            self.seen[thread][..threads].fill(0);
            self.fenced[thread][..threads].fill(0);
        }
        self.threads = 1;
        self.clocks[0][0] = 1;
        empty(&mut self.objects);
    }

    /// A thread was created.
    pub fn created(&mut self, creator: usize, thread: usize) {
        let known = self.threads;
        self.threads = known.max(thread + 1);
        if let Ok([clock, other]) = self.clocks.get_disjoint_mut([thread, creator]) {
            clock[..known].copy_from_slice(&other[..known]);
        }
        self.clocks[thread][thread] = 1;
        self.clocks[creator][creator] += 1;
    }

    /// A thread ended.
    pub fn ended(&mut self, thread: usize) {
        self.clocks[thread][thread] += 1;
    }

    /// A thread knows everything that another did.
    pub fn joined(&mut self, thread: usize, ended: usize) {
        if let Ok([clock, other]) = self.clocks.get_disjoint_mut([thread, ended]) {
            join(clock, other, self.threads.div_ceil(LANE));
        }
    }

    /// A thread takes what was published at an object.
    pub fn acquire(&mut self, thread: usize, object: u64) {
        if let Some(clock) = self.objects.get(&(object as usize)) {
            join(&mut self.clocks[thread], clock, self.threads.div_ceil(LANE));
        }
    }

    /// A thread publishes what it knows at an object, beside what is there.
    pub fn release(&mut self, thread: usize, object: u64) {
        let published = self.objects.entry(object as usize).or_insert([0; THREADS]);
        join(published, &self.clocks[thread], self.threads.div_ceil(LANE));
        self.clocks[thread][thread] += 1;
    }

    /// An atomic access; answers one that it races with. The access itself belongs to what a release publishes, so it is noted before.
    #[inline(never)]
    pub fn atomic(&mut self, thread: usize, touch: Touch, kind: Kind, order: c_int) -> Option<Packed> {
        let (first, key) = (touch.address & 7, touch.address >> 3);
        let whole = first + touch.size <= 8;
        let mut conflict = if whole { None } else { self.touch_many(thread, touch) };
        let (run, lanes) = (self.shadow.run, self.threads.div_ceil(LANE));
        let (cells, published) = self.shadow.page(key / CELLS as u64);
        let cell = &mut cells[key as usize % CELLS];
        let clock = &mut self.clocks[thread];
        if whole {
            conflict = cell.touch(run, touch.bytes(thread), clock);
        }
        let (acquires, releases) = (acquires(order), releases(order));
        let mut place = published.find(cell.chain, run, touch.address);
        if kind != Kind::Write && place != 0 {
            // What was acquired needs no fence any more.
            published.teach(place, if acquires { &mut *clock } else { &mut self.seen[thread] });
        }
        if kind != Kind::Read {
            let mine = if releases { &*clock } else { &self.fenced[thread] };
            // What read too goes on with what was published before it, which a thread that acquired it knows already.
            let beside = kind == Kind::Update && !(acquires && releases);
            if place == 0 {
                place = published.add(&mut cell.chain, run, touch.address);
            }
            if beside {
                published.put_beside(place, mine, lanes);
            } else {
                published.put(place, thread, mine, lanes);
            }
            if releases {
                clock[thread] += 1;
            }
        }
        conflict
    }

    /// A fence.
    pub fn fence(&mut self, thread: usize, order: c_int) {
        const EVERYONE: u64 = 1 << 63 | 1;
        if acquires(order) {
            join(&mut self.clocks[thread], &self.seen[thread], self.threads.div_ceil(LANE));
        }
        if order & 0xff == 5 {
            self.acquire(thread, EVERYONE);
            self.release(thread, EVERYONE);
        }
        if releases(order) {
            self.fenced[thread][..self.threads].copy_from_slice(&self.clocks[thread][..self.threads]);
            self.clocks[thread][thread] += 1;
        }
    }

    /// An access; answers one that it races with.
    #[inline(always)]
    pub fn touch(&mut self, thread: usize, touch: Touch) -> Option<Packed> {
        let (first, key) = (touch.address & 7, touch.address >> 3);
        if first + touch.size > 8 {
            return self.touch_many(thread, touch);
        }
        let run = self.shadow.run;
        let (cells, _) = self.shadow.page(key / CELLS as u64);
        cells[key as usize % CELLS].touch(run, touch.bytes(thread), &self.clocks[thread])
    }

    /// A block is freed; answers an access that this races with. Nothing is remembered: whoever touches the block before it is handed
    /// out again is found out by that alone, and then what is remembered of it is forgotten.
    pub fn freed(&mut self, thread: usize, touch: Touch) -> Option<Packed> {
        let (clocks, run) = (&self.clocks[thread], self.shadow.run);
        let mut conflict = None;
        self.shadow.for_each(touch.address, touch.size, |address, cell| {
            let count = (touch.address + touch.size).saturating_sub(address).min(8);
            let free = touch.what.by(thread, ((1u16 << count) - 1) as u8);
            conflict = conflict.or_else(|| cell.conflict(run, free, clocks));
        });
        conflict
    }

    /// More than one cell: page by page, cell by cell.
    #[inline(never)]
    fn touch_many(&mut self, thread: usize, touch: Touch) -> Option<Packed> {
        let end = touch.address.saturating_add(touch.size);
        let (clocks, run) = (&self.clocks[thread], self.shadow.run);
        let mut at = touch.address;
        let mut conflict = None;
        while at < end {
            let page = (at >> 3) / CELLS as u64;
            let (cells, _) = self.shadow.page(page);
            let page_end = end.min((page + 1).saturating_mul(8 * CELLS as u64));
            while at < page_end {
                let first = at & 7;
                let count = (end - at).min(8 - first);
                let bytes = (((1u16 << count) - 1) << first) as u8;
                let access = touch.what.by(thread, bytes);
                let other = cells[(at >> 3) as usize % CELLS].touch(run, access, clocks);
                conflict = conflict.or(other);
                at += count;
            }
        }
        conflict
    }

    /// A block was allocated: what was there before is another object.
    pub fn forget(&mut self, address: u64, size: u64) {
        self.shadow.forget(address, size);
    }
}
