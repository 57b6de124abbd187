//! What atomic stores have published at which address, for [`crate::race`]: a vector clock each.
//!
//! The cell of an address ([`crate::shadow`]) says where its clock is; addresses that share a cell are chained. Invariant: what a clock has
//! beyond its lanes counts as zero, whatever is there, so that a clock costs as much as there are threads; what is beyond `used` is of
//! an earlier run.

use crate::posix::objects::{Table, empty};
use crate::race::{Clock, LANE, THREADS, join};

/// The clock of one address. What most tests look at lies in one cache line.
#[repr(C, align(64))]
pub struct Entry {
    address: u64,
    /// The next one of the same cell, counted from 1; 0 for none.
    next: u32,
    /// How many lanes of the clock count.
    lanes: u32,
    /// Whose clock it is, and what it says of that thread itself. Clocks are copied before they go on, so whoever knows as much of that
    /// thread knows all of it.
    owner: u32,
    epoch: u32,
    /// The thread whose release sequence this is, where its later stores go on with it ([`crate::units`]), or [`NOBODY`].
    pub head: u32,
    clock: Clock,
}

/// No thread.
pub const NOBODY: u32 = u32::MAX;

impl Entry {
    /// Copies the lanes from `known` up.
    #[inline(always)]
    fn take(&mut self, clock: &Clock, known: usize, lanes: usize) {
        let ((mine, _), (theirs, _)) = (self.clock.as_chunks_mut::<LANE>(), clock.as_chunks::<LANE>());
        if known == 0 {
            mine[0] = theirs[0];
        }
        if lanes > 1 {
            self.take_more(clock, known, lanes);
        }
        self.lanes = lanes as u32;
    }

    #[inline(never)]
    fn take_more(&mut self, clock: &Clock, known: usize, lanes: usize) {
        let range = LANE * known.max(1)..LANE * lanes.min(THREADS / LANE);
        if let (Some(mine), Some(theirs)) = (self.clock.get_mut(range.clone()), clock.get(range)) {
            mine.copy_from_slice(theirs);
        }
    }

    /// What was published.
    pub fn clock(&self) -> Clock {
        let mut clock = [0; THREADS];
        let known = (LANE * self.lanes as usize).min(THREADS);
        clock[..known].copy_from_slice(&self.clock[..known]);
        clock
    }

    /// A clock learns what was published.
    #[inline(always)]
    pub fn teach(&self, clock: &mut Clock) {
        let owner = self.owner as usize;
        if owner >= THREADS || clock[owner] < self.epoch {
            join(clock, &self.clock, self.lanes as usize);
        }
    }

    /// Puts a clock of a thread, as it is or was, in the place of what was published.
    #[inline(always)]
    pub fn put(&mut self, thread: usize, clock: &Clock, lanes: usize) {
        (self.owner, self.epoch) = (thread as u32, clock[thread % THREADS]);
        self.take(clock, 0, lanes);
    }

    /// Puts a clock beside what was published.
    #[inline(always)]
    pub fn put_beside(&mut self, clock: &Clock, lanes: usize) {
        let known = self.lanes as usize;
        self.owner = u32::MAX;
        self.take(clock, known, lanes);
        if known > 0 {
            join(&mut self.clock, clock, known);
        }
    }
}

/// Where in a cell the clocks of its addresses begin.
#[derive(Clone, Copy, Default)]
pub struct Chain {
    run: u32,
    /// The first one, counted from 1.
    first: u32,
}

impl Chain {
    /// The first clock, counted from 1; 0 when there is none of this run.
    #[inline(always)]
    pub fn first(self, run: u32) -> u32 {
        if self.run == run { self.first } else { 0 }
    }
}

/// All clocks of a run.
#[derive(Default)]
pub struct Published {
    entries: Vec<Entry>,
    used: usize,
    /// Those whose cells were given to other addresses. A clock must not get lost: what it orders would look like a race.
    homeless: Table<u32>,
}

impl Published {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.used = 0;
        empty(&mut self.homeless);
    }

    /// The clock of an address; `None` when nothing was published there.
    #[inline(always)]
    pub fn entry(&mut self, chain: Chain, run: u32, address: u64) -> Option<&mut Entry> {
        let mut at = chain.first(run);
        while at != 0 {
            let entry = self.entries.get(at as usize - 1)?;
            if entry.address == address {
                return self.entries.get_mut(at as usize - 1);
            }
            at = entry.next;
        }
        if self.homeless.is_empty() { None } else { self.homeless_entry(address) }
    }

    #[cold]
    fn homeless_entry(&mut self, address: u64) -> Option<&mut Entry> {
        let at = *self.homeless.get(&(address as usize))?;
        self.entries.get_mut(at as usize - 1)
    }

    /// A clock of zeros for an address that has none.
    #[inline(never)]
    pub fn add(&mut self, chain: &mut Chain, run: u32, address: u64) -> &mut Entry {
        let (at, next) = (self.used, chain.first(run));
        if at == self.entries.len() {
            self.entries.push(Entry { address, next, lanes: 0, owner: 0, epoch: 0, head: NOBODY, clock: [0; THREADS] });
        }
        self.used += 1;
        *chain = Chain { run, first: self.used as u32 };
        let entry = &mut self.entries[at];
        (entry.address, entry.next, entry.lanes, entry.head) = (address, next, 0, NOBODY);
        entry
    }

    /// The addresses of this cell are another object's now: nobody goes on with what was released there.
    pub fn behead(&mut self, chain: Chain, run: u32) {
        let mut at = chain.first(run);
        while at != 0 {
            let entry = &mut self.entries[at as usize - 1];
            entry.head = NOBODY;
            at = entry.next;
        }
    }

    /// The cell with this chain is given to other addresses.
    pub fn evict(&mut self, chain: Chain, run: u32) {
        let mut at = chain.first(run);
        while at != 0 {
            let entry = &self.entries[at as usize - 1];
            self.homeless.insert(entry.address as usize, at);
            at = entry.next;
        }
    }
}
