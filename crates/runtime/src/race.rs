//! Data races: two accesses to the same bytes by different threads, one of them a write, one of them plain, and nothing that
//! orders them.
//!
//! Vector clocks over the synchronisation that the program itself asks for (Flanagan and Freund, *FastTrack*, PLDI
//! 2009, with the accesses that [`crate::shadow`] remembers). The order in which the search happens to run
//! steps orders nothing; a relaxed atomic access orders nothing either, unless a fence makes it.
//!
//! Invariant: the number of the run is never 0, which is that of a cell that was never touched.

use std::ffi::c_int;

use crate::posix::objects::{Table, empty};
use crate::shadow::{CELLS, Packed, Shadow};

/// How many threads there can be.
pub const THREADS: usize = selvedge_explore::Thread::MAX;

type Clock = [u32; THREADS];

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
    fn with(other: Packed) -> Self {
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
}

/// Who knows what.
pub struct Races {
    run: u32,
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
            run: 0,
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
        self.run = self.run.checked_add(1).unwrap_or_else(|| {
            self.shadow.clear();
            1
        });
        for thread in 0..self.threads {
            self.clocks[thread] = [0; THREADS];
            self.seen[thread] = [0; THREADS];
            self.fenced[thread] = [0; THREADS];
        }
        self.threads = 1;
        self.clocks[0][0] = 1;
        empty(&mut self.objects);
    }

    #[inline(always)]
    fn join(clock: &mut Clock, other: &Clock, threads: usize) {
        for (mine, theirs) in clock[..threads].iter_mut().zip(&other[..threads]) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// A thread was created.
    pub fn created(&mut self, creator: usize, thread: usize) {
        self.threads = self.threads.max(thread + 1);
        self.clocks[thread] = self.clocks[creator];
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
            Self::join(clock, other, self.threads);
        }
    }

    /// A thread takes what was published at an object.
    pub fn acquire(&mut self, thread: usize, object: u64) {
        if let Some(clock) = self.objects.get(&(object as usize)) {
            Self::join(&mut self.clocks[thread], clock, self.threads);
        }
    }

    /// A thread publishes what it knows at an object, beside what is there.
    pub fn release(&mut self, thread: usize, object: u64) {
        let published = self.objects.entry(object as usize).or_insert([0; THREADS]);
        Self::join(published, &self.clocks[thread], self.threads);
        self.clocks[thread][thread] += 1;
    }

    /// An atomic load.
    pub fn load(&mut self, thread: usize, address: u64, order: c_int) {
        if let Some(published) = self.objects.get(&(address as usize)) {
            Self::join(&mut self.seen[thread], published, self.threads);
            if acquires(order) {
                Self::join(&mut self.clocks[thread], published, self.threads);
            }
        }
    }

    /// An atomic store; `update` when it read too, and so goes on with what was published before it.
    pub fn store(&mut self, thread: usize, address: u64, order: c_int, update: bool) {
        let threads = self.threads;
        let clock = &mut self.clocks[thread];
        let published = self.objects.entry(address as usize).or_insert([0; THREADS]);
        if update {
            Self::join(&mut self.seen[thread], published, threads);
            if acquires(order) {
                Self::join(clock, published, threads);
            }
        }
        let mine = if releases(order) { &*clock } else { &self.fenced[thread] };
        if update {
            Self::join(published, mine, threads);
        } else {
            published[..threads].copy_from_slice(&mine[..threads]);
        }
        if releases(order) {
            clock[thread] += 1;
        }
    }

    /// A fence.
    pub fn fence(&mut self, thread: usize, order: c_int) {
        const EVERYONE: u64 = 1 << 63 | 1;
        if acquires(order) {
            Self::join(&mut self.clocks[thread], &self.seen[thread], self.threads);
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
    pub fn touch(&mut self, thread: usize, touch: Touch) -> Option<Conflict> {
        let (first, key) = (touch.address & 7, touch.address >> 3);
        if first + touch.size > 8 {
            return self.touch_many(thread, touch);
        }
        let bytes = (((1u16 << touch.size) - 1) << first) as u8;
        let access = touch.what.by(thread, bytes);
        let cells = self.shadow.page(key / CELLS as u64);
        let other = cells[key as usize % CELLS].touch(self.run, access, &self.clocks[thread])?;
        Some(Conflict::with(other))
    }

    /// More than one cell: page by page, cell by cell.
    #[inline(never)]
    fn touch_many(&mut self, thread: usize, touch: Touch) -> Option<Conflict> {
        let end = touch.address.saturating_add(touch.size);
        let (clocks, run) = (&self.clocks[thread], self.run);
        let mut at = touch.address;
        let mut conflict = None;
        while at < end {
            let page = (at >> 3) / CELLS as u64;
            let cells = self.shadow.page(page);
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
        conflict.map(Conflict::with)
    }

    /// A block was allocated: what was there before is another object.
    pub fn forget(&mut self, address: u64, size: u64) {
        self.shadow.forget(address, size);
    }
}
