//! What atomic stores have published at which address, for [`crate::race`]: a vector clock each.
//!
//! The cell of an address ([`crate::shadow`]) says where its clock is; addresses that share a cell are chained. Invariant: what is beyond `used` is of
//! an earlier run.

use crate::clock::{Clock, Kept, THREADS};
use crate::posix::objects::{Table, empty};

/// The clock of one address. What most tests look at lies in one cache line.
#[repr(C, align(64))]
pub struct Entry {
    address: u64,
    /// The next one of the same cell, counted from 1; 0 for none.
    next: u32,
    /// Whose clock it is, and what it says of that thread itself. Clocks are copied before they go on, so whoever knows as much of that
    /// thread knows all of it.
    owner: u32,
    epoch: u32,
    /// The thread whose release sequence this is, where its later stores go on with it ([`crate::units`]), or [`NOBODY`].
    pub head: u32,
    /// What was published.
    pub clock: Kept,
}

/// No thread.
pub const NOBODY: u32 = u32::MAX;

impl Entry {
    /// A clock learns what was published.
    #[inline(always)]
    pub fn teach(&self, clock: &mut Clock) {
        let owner = self.owner as usize;
        if owner >= THREADS || clock[owner] < self.epoch {
            self.clock.teach(clock);
        }
    }

    /// Puts a clock of a thread, as it is or was, in the place of what was published.
    #[inline(always)]
    pub fn put(&mut self, thread: usize, clock: &Clock, lanes: usize) {
        (self.owner, self.epoch) = (thread as u32, clock[thread % THREADS]);
        self.clock.put(clock, lanes);
    }

    /// Puts a clock beside what was published.
    #[inline(always)]
    pub fn put_beside(&mut self, clock: &Clock, lanes: usize) {
        self.owner = NOBODY;
        self.clock.add(clock, lanes);
    }

    /// The same for one that was kept.
    pub fn put_kept_beside(&mut self, clock: &Kept) {
        self.owner = NOBODY;
        self.clock.add_kept(clock);
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
            self.entries.push(Entry { address, next, owner: 0, epoch: 0, head: NOBODY, clock: Kept::default() });
        }
        self.used += 1;
        *chain = Chain { run, first: self.used as u32 };
        let entry = &mut self.entries[at];
        (entry.address, entry.next, entry.head) = (address, next, NOBODY);
        entry.clock.clear();
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
