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

use selvedge_explore::{Kind, Threads};

use crate::clock::{Clock, Kept, LANE, THREADS, join, table};
use crate::posix::objects::{Table, empty};
use crate::published::{Entry, NOBODY};
use crate::shadow::{CELLS, Cell, Packed, Shadow};
use crate::units;

/// The other half of a race.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// Who.
    pub thread: u16,
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
        Conflict { thread: other.thread() as u16, pc: other.pc(), write: other.write(), atomic: other.atomic() }
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

/// What came of a quick look.
pub enum Quickly {
    /// The access races with nothing, and is remembered.
    Done,
    /// It has to be compared with what is remembered of this cell.
    Compare(*mut Cell, Packed),
    /// It touches several cells, or a page that has not been found a moment ago; nothing was done.
    Far,
}

/// An atomic write, where C11's release sequences matter: what a thread releases at an address, its own later stores there go on with.
struct Release {
    thread: usize,
    address: u64,
    lanes: usize,
    update: bool,
    acquires: bool,
    /// Whether later stores of the thread go on with this one.
    heads: bool,
}

/// By what [`Races::heads`] knows a thread at an address.
fn head(address: u64, thread: usize) -> usize {
    address as usize * THREADS + thread
}

impl Release {
    /// Publishes what the write does: a clock of its own, what it goes on with because it read it, and what its thread released there before.
    fn put(&self, entry: &mut Entry, heads: &mut Table<Kept>, mine: &Clock, releases: bool) {
        let Release { thread, address, lanes, .. } = *self;
        let own = entry.head == thread as u32;
        let keeps = own && !releases;
        if entry.head != NOBODY && !keeps {
            heads.insert(head(address, entry.head as usize), entry.clock.clone());
        }
        if self.update && !(self.acquires && releases) || keeps {
            entry.put_beside(mine, lanes);
        } else {
            entry.put(thread, mine, lanes);
        }
        let whole = !self.update || self.acquires;
        let earlier = heads.get(&head(address, thread)).filter(|_| !releases && !own);
        entry.head = match (releases, earlier) {
            (false, Some(clock)) => {
                entry.put_kept_beside(clock);
                if self.update { NOBODY } else { thread as u32 }
            }
            (false, None) => {
                if own {
                    thread as u32
                } else {
                    NOBODY
                }
            }
            (true, _) if self.heads && whole => thread as u32,
            (true, _) => NOBODY,
        };
        if releases && self.heads && !whole {
            let mut released = Kept::default();
            released.put(mine, lanes);
            heads.insert(head(address, thread), released);
        }
    }
}

/// The clocks of all threads.
pub struct Clocks {
    all: Box<[Clock; THREADS]>,
    /// The threads that have not ended.
    alive: Threads,
}

impl Clocks {
    /// That of one thread.
    #[inline(always)]
    pub fn of(&self, thread: usize) -> &Clock {
        &self.all[thread % THREADS]
    }

    /// Whether everybody who may still do something knows what a thread did at that moment.
    pub fn all_know(&self, thread: usize, clock: u32) -> bool {
        self.alive.iter().all(|other| self.all[other % THREADS][thread % THREADS] >= clock)
    }
}

/// Who knows what.
pub struct Races {
    /// Whether this run is looked at. Nothing is noted in one that is not.
    pub on: bool,
    threads: usize,
    /// How many lanes of a clock count.
    lanes: usize,
    clocks: Clocks,
    /// What relaxed loads have seen, for a later acquire fence.
    seen: Box<[Clock; THREADS]>,
    /// What a release fence published, for later relaxed stores.
    fenced: Box<[Clock; THREADS]>,
    /// Whether a thread of this run was at a barrier of inline assembly.
    pub barriers: bool,
    /// What was published at objects: which of `published`, the first ones of which are in use.
    objects: Table<u32>,
    published: Vec<Kept>,
    used: usize,
    /// What threads released at an address before others wrote there, where their later stores go on with it. By [`head`].
    heads: Table<Kept>,
}

impl Default for Races {
    fn default() -> Self {
        Races {
            on: true,
            threads: 1,
            lanes: 1,
            clocks: Clocks { all: table(), alive: Threads::of_word(1) },
            seen: table(),
            fenced: table(),
            barriers: false,
            objects: Table::default(),
            published: Vec::new(),
            used: 0,
            heads: Table::default(),
        }
    }
}

#[inline(always)]
fn acquires(order: c_int) -> bool {
    matches!(order & 0xff, 1 | 2 | 4 | 5)
}

#[inline(always)]
fn releases(order: c_int) -> bool {
    matches!(order & 0xff, 3..=5)
}

impl Races {
    /// Forgets everything, for a run that is looked at or not. In one that is not nothing is noted, so what is here stays for the next one that is.
    #[inline]
    pub fn renew(&mut self, on: bool) {
        self.on = on;
        if on {
            self.forget_all();
        }
    }

    #[inline(never)]
    fn forget_all(&mut self) {
        let Races {
            on: _,
            threads,
            lanes,
            clocks: Clocks { all, alive },
            seen,
            fenced,
            barriers,
            objects,
            published: _,
            used,
            heads,
        } = self;
        *barriers = false;
        for thread in 0..*threads {
            all[thread][..*threads].fill(0);
            seen[thread][..*threads].fill(0);
            fenced[thread][..*threads].fill(0);
        }
        all[0][0] = 1;
        alive.clone_from(&Threads::of_word(1));
        (*threads, *lanes, *used) = (1, 1, 0);
        empty(objects);
        empty(heads);
    }

    /// A thread was created.
    #[inline(always)]
    pub fn created(&mut self, creator: usize, thread: usize) {
        if self.on {
            self.knows_of(creator, thread);
        }
    }

    #[inline(never)]
    fn knows_of(&mut self, creator: usize, thread: usize) {
        let known = self.threads;
        self.threads = known.max(thread + 1);
        self.lanes = self.threads.div_ceil(LANE);
        if let Ok([clock, other]) = self.clocks.all.get_disjoint_mut([thread, creator]) {
            clock[..known].copy_from_slice(&other[..known]);
        }
        self.clocks.all[thread][thread] = 1;
        self.clocks.alive.insert(thread);
        self.clocks.all[creator][creator] += 1;
    }

    /// A thread ended.
    pub fn ended(&mut self, thread: usize) {
        if !self.on {
            return;
        }
        self.clocks.all[thread][thread] += 1;
        self.clocks.alive.remove(thread);
    }

    /// A thread knows everything that another did.
    #[inline(always)]
    pub fn joined(&mut self, thread: usize, ended: usize) {
        if self.on {
            self.learns(thread, ended);
        }
    }

    #[inline(never)]
    fn learns(&mut self, thread: usize, other: usize) {
        if let Ok([clock, other]) = self.clocks.all.get_disjoint_mut([thread, other]) {
            join(clock, other, self.lanes);
        }
    }

    /// A thread wakes another, which knows from then on what the first did.
    pub fn tells(&mut self, thread: usize, woken: usize) {
        self.joined(woken, thread);
        if self.on {
            self.clocks.all[thread][thread] += 1;
        }
    }

    /// A thread takes what was published at an object.
    pub fn acquire(&mut self, thread: usize, object: u64) {
        if self.on
            && let Some(&at) = self.objects.get(&(object as usize))
        {
            self.published[at as usize].teach(&mut self.clocks.all[thread]);
        }
    }

    /// A thread publishes what it knows at an object, beside what is there.
    pub fn release(&mut self, thread: usize, object: u64) {
        if !self.on {
            return;
        }
        let at = *self.objects.entry(object as usize).or_insert_with(|| {
            if self.used == self.published.len() {
                self.published.push(Kept::default());
            }
            self.published[self.used].clear();
            self.used += 1;
            self.used as u32 - 1
        });
        self.published[at as usize].add(&self.clocks.all[thread], self.lanes);
        self.clocks.all[thread][thread] += 1;
    }

    /// What was published at an object is of an earlier one.
    pub fn forget_object(&mut self, object: u64) {
        self.objects.remove(&(object as usize));
    }

    /// An atomic access; answers one that it races with. The access itself belongs to what a release publishes, so it is noted before.
    #[inline(never)]
    pub fn atomic(
        &mut self,
        shadow: &mut Shadow,
        thread: usize,
        touch: Touch,
        kind: Kind,
        order: c_int,
    ) -> Option<Packed> {
        let Touch { address, size, what } = touch;
        let (thread, lanes) = (thread % THREADS, self.lanes);
        let (acquires, releases) = (acquires(order), releases(order));
        let key = address >> 3;
        let whole = (address & 7) + size <= 8;
        let mut conflict = if whole { None } else { self.touch_many(shadow, thread, touch) };
        let run = shadow.run;
        let (cells, published) = shadow.page(key / CELLS as u64);
        let cell = &mut cells[key as usize % CELLS];
        if whole {
            let access = touch.bytes(thread);
            if !cell.touch_quickly(run, access, self.clocks.of(thread)) {
                conflict = cell.compare(access, &self.clocks);
            }
        }
        let clock = &mut self.clocks.all[thread];
        let heads = releases && kind != Kind::Read && units::goes_on(what.pc());
        let Some(entry) = published.entry(cell.chain, run, address) else {
            if kind != Kind::Read {
                let entry = published.add(&mut cell.chain, run, address);
                if releases {
                    entry.put(thread, clock, lanes);
                    clock[thread] += 1;
                    if heads {
                        entry.head = thread as u32;
                    }
                } else {
                    entry.put(thread, &self.fenced[thread], lanes);
                }
            }
            return conflict;
        };
        if kind != Kind::Write {
            // What was acquired needs no fence any more.
            entry.teach(if acquires { &mut *clock } else { &mut self.seen[thread] });
        }
        if kind != Kind::Read {
            let mine = if releases { &*clock } else { &self.fenced[thread] };
            if heads || entry.head != NOBODY || !self.heads.is_empty() {
                let release = Release { thread, address, lanes, update: kind == Kind::Update, acquires, heads };
                release.put(entry, &mut self.heads, mine, releases);
                if releases {
                    clock[thread] += 1;
                }
                return conflict;
            }
            // What read too goes on with what was published before it, which a thread that acquired it knows already.
            if kind == Kind::Update && !(acquires && releases) {
                entry.put_beside(mine, lanes);
            } else {
                entry.put(thread, mine, lanes);
            }
            if releases {
                clock[thread] += 1;
            }
        }
        conflict
    }

    /// A fence. The order of sequentially consistent fences among themselves is none of happens-before (C11, 7.17.4), and is not searched.
    pub fn fence(&mut self, thread: usize, order: c_int) {
        if acquires(order) {
            join(&mut self.clocks.all[thread], &self.seen[thread], self.lanes);
        }
        if releases(order) {
            self.fenced[thread][..self.threads].copy_from_slice(&self.clocks.all[thread][..self.threads]);
            self.clocks.all[thread][thread] += 1;
        }
    }

    /// A volatile access. The language gives it no order; with barriers of inline assembly around it the processor does, which orders it as it does a relaxed access
    /// with fences. Who reads a pointer gets to what was written before it was put there: no compiler loses that.
    pub fn volatile(&mut self, shadow: &mut Shadow, thread: usize, address: u64, kind: Kind, pointer: bool) {
        let (thread, lanes, run, key) = (thread % THREADS, self.lanes, shadow.run, address >> 3);
        let (cells, published) = shadow.page(key / CELLS as u64);
        let cell = &mut cells[key as usize % CELLS];
        match (published.entry(cell.chain, run, address), kind) {
            (Some(entry), Kind::Read) => {
                let clock =
                    if pointer && self.barriers { &mut self.clocks.all[thread] } else { &mut self.seen[thread] };
                entry.teach(clock);
            }
            (None, Kind::Read) => {}
            (Some(entry), _) if entry.head == thread as u32 => entry.put_beside(&self.fenced[thread], lanes),
            (Some(entry), _) => {
                entry.put(thread, &self.fenced[thread], lanes);
                entry.head = NOBODY;
            }
            (None, _) => published.add(&mut cell.chain, run, address).put(thread, &self.fenced[thread], lanes),
        }
    }

    /// The first part of [`Races::touch`].
    #[inline(always)]
    pub fn touch_quickly(&self, shadow: &mut Shadow, thread: usize, touch: Touch) -> Quickly {
        let key = touch.address >> 3;
        if (touch.address & 7) + touch.size > 8 {
            return Quickly::Far;
        }
        let run = shadow.run;
        let Some(cells) = shadow.recent(key / CELLS as u64) else { return Quickly::Far };
        let (cell, access) = (&mut cells[key as usize % CELLS], touch.bytes(thread));
        if cell.touch_quickly(run, access, &self.clocks.all[thread % THREADS]) {
            return Quickly::Done;
        }
        Quickly::Compare(cell, access)
    }

    /// The second part: compares an access with what is remembered of its cell; answers one that it races with.
    #[inline(always)]
    pub fn compare(&self, cell: &mut Cell, access: Packed) -> Option<Packed> {
        cell.compare(access, &self.clocks)
    }

    /// Whether an access would race with one that is remembered. It is not remembered.
    pub fn conflicts(&self, shadow: &mut Shadow, thread: usize, touch: Touch) -> bool {
        let (clocks, run) = (&self.clocks.all[thread % THREADS], shadow.run);
        let mut any = false;
        shadow.for_each(touch.address, touch.size, |address, cell| {
            let from = touch.address.max(address) - address;
            let to = (touch.address + touch.size - address).min(8);
            let bytes = (((1u16 << (to - from)) - 1) << from) as u8;
            any |= cell.conflict(run, touch.what.by(thread, bytes), clocks).is_some();
        });
        any
    }

    /// An access; answers one that it races with.
    #[inline(always)]
    pub fn touch(&self, shadow: &mut Shadow, thread: usize, touch: Touch) -> Option<Packed> {
        let (first, key) = (touch.address & 7, touch.address >> 3);
        if first + touch.size > 8 {
            return self.touch_many(shadow, thread, touch);
        }
        let run = shadow.run;
        let (cells, _) = shadow.page(key / CELLS as u64);
        cells[key as usize % CELLS].touch(run, touch.bytes(thread), &self.clocks)
    }

    /// A block is freed; answers an access that this races with. Nothing is remembered: whoever touches the block before it is handed
    /// out again is found out by that alone, and then what is remembered of it is forgotten.
    pub fn freed(&self, shadow: &mut Shadow, thread: usize, touch: Touch) -> Option<Packed> {
        let (clocks, run) = (&self.clocks.all[thread % THREADS], shadow.run);
        let whole = touch.what.by(thread, u8::MAX);
        let mut conflict = None;
        shadow.for_each(touch.address, touch.size, |address, cell| {
            if cell.is_of_one(run, whole) {
                return;
            }
            let count = (touch.address + touch.size).saturating_sub(address).min(8);
            let free = touch.what.by(thread, ((1u16 << count) - 1) as u8);
            conflict = conflict.or_else(|| cell.conflict(run, free, clocks));
        });
        conflict
    }

    /// More than one cell: page by page, cell by cell.
    #[inline(never)]
    fn touch_many(&self, shadow: &mut Shadow, thread: usize, touch: Touch) -> Option<Packed> {
        let end = touch.address.saturating_add(touch.size);
        let (clocks, run) = (&self.clocks.all[thread % THREADS], shadow.run);
        let whole = touch.what.by(thread, u8::MAX);
        let mut at = touch.address;
        let mut conflict = None;
        while at < end {
            let page = (at >> 3) / CELLS as u64;
            let (cells, _) = shadow.page(page);
            let page_end = end.min((page + 1).saturating_mul(8 * CELLS as u64));
            while at < page_end {
                let (first, left) = (at & 7, end - at);
                let mut access = whole;
                if first != 0 || left < 8 {
                    access = touch.what.by(thread, (((1u16 << left.min(8 - first)) - 1) << first) as u8);
                }
                let cell = &mut cells[(at >> 3) as usize % CELLS];
                if !cell.touch_quickly(run, access, clocks) {
                    conflict = conflict.or(cell.compare(access, &self.clocks));
                }
                at += 8 - first;
            }
        }
        conflict
    }

    /// A block was allocated by a thread: what was there before is another object.
    #[inline(never)]
    pub fn forget(&mut self, shadow: &mut Shadow, thread: usize, address: u64, size: u64) {
        let thread = thread % THREADS;
        shadow.forget(address, size, thread, self.clocks.all[thread][thread]);
        if !self.heads.is_empty() {
            let within = |key: usize| (key / THREADS).wrapping_sub(address as usize) < size as usize;
            self.heads.retain(|&key, _| !within(key));
        }
    }
}
