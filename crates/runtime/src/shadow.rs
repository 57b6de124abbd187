//! Which accesses to which bytes are remembered, for [`crate::race`].
//!
//! A few accesses for each eight bytes, as the thread sanitizer does, in tables that mirror pages of memory: what lies together in
//! the program lies together here, so a run stays in the processor's caches. Where there are more, they are kept aside, and none is forgotten. Invariant: a cell whose `run` is not the current one is
//! empty, so a new run costs nothing. When more than [`PAGES_MAX`] pages are in use the oldest is forgotten, and if that is of the run under way, it is said. Tables lie
//! together in huge pages, where the system has them: a run looks into hundreds of places of them, each a page of its own otherwise.

use std::alloc::{Layout, alloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::THREADS;
use crate::posix::objects::Table;
use crate::published::{Chain, Published};
use crate::race::Clocks;
use crate::sys;

/// How many accesses are remembered for each eight bytes, in their cell.
const SLOTS: usize = 4;
/// So many cells keep the memory of what was aside for the next run.
const ASIDE_MAX: usize = 1 << 12;
/// Eight bytes each: one page.
pub const CELLS: usize = 512;
/// At most 128 MiB of tables, for 16 MiB of memory.
const PAGES_MAX: usize = 1 << 12;
/// Pages found a moment ago, a power of two.
const RECENT: usize = 64;
/// The size of a huge page, and how many tables fit.
const HUGE: usize = 2 << 20;
const TABLES: usize = HUGE / size_of::<Cells>();

type Cells = [Cell; CELLS];

/// A thread that does not exist.
const NOBODY: usize = 2 * THREADS - 1;

static DOUBTFUL: AtomicBool = AtomicBool::new(false);

/// What is found in this run may depend on the order of steps that are independent.
#[cold]
fn doubt() {
    DOUBTFUL.store(true, Ordering::Relaxed);
}

/// Whether that was so since somebody asked.
pub fn was_doubtful() -> bool {
    DOUBTFUL.swap(false, Ordering::Relaxed)
}

static FORGOT: AtomicBool = AtomicBool::new(false);

/// Whether a run has touched more memory than is remembered since somebody asked: what was touched first may race with anything.
pub fn has_forgotten() -> bool {
    FORGOT.load(Ordering::Relaxed) && FORGOT.swap(false, Ordering::Relaxed)
}

/// An access in one word: the return address, which of the eight bytes, atomic, write, thread.
///
/// Of the 47 bits of an address three are left out, so that there is room for the number of the thread. Those below tell them: programs run at addresses that are not drawn at
/// random, and Linux puts code below 4 TiB, around [`PROGRAM`](selvedge_protocol::address::PROGRAM), or below the stack, near 128 TiB.
#[derive(Clone, Copy, Default)]
pub struct Packed(u64);

impl Packed {
    const PC: u64 = (1 << 44) - 1;
    const BYTES_AT: u32 = 44;
    const BYTES: u64 = 0xff << Self::BYTES_AT;
    const ATOMIC_AT: u32 = 52;
    const ATOMIC: u64 = 1 << Self::ATOMIC_AT;
    const WRITE_AT: u32 = 53;
    const WRITE: u64 = 1 << Self::WRITE_AT;
    const THREAD_AT: u32 = 54;

    /// Of an access by nobody yet, to no bytes yet.
    #[inline(always)]
    pub fn new(pc: u64, write: bool, atomic: bool) -> Self {
        Packed(pc & Self::PC | u64::from(atomic) << Self::ATOMIC_AT | u64::from(write) << Self::WRITE_AT)
    }

    /// The same by that thread; `bytes` has a bit for each of the eight.
    #[inline(always)]
    pub fn by(self, thread: usize, bytes: u8) -> Self {
        Packed(self.0 | u64::from(bytes) << Self::BYTES_AT | (thread as u64) << Self::THREAD_AT)
    }

    /// What it does and from where, without who did it to which bytes.
    pub fn by_nobody(self) -> Self {
        Packed(self.0 & (Self::PC | Self::ATOMIC | Self::WRITE))
    }

    /// Who.
    #[inline(always)]
    pub fn thread(self) -> usize {
        (self.0 >> Self::THREAD_AT) as usize
    }

    /// From where.
    pub fn pc(self) -> u64 {
        const TIB: u64 = 1 << 40;
        match self.0 & Self::PC {
            low if low < 4 * TIB => low,
            low if low < 12 * TIB => low + 80 * TIB,
            low => low + 112 * TIB,
        }
    }

    /// Whether it wrote.
    pub fn write(self) -> bool {
        self.0 & Self::WRITE != 0
    }

    /// Whether it was atomic.
    pub fn atomic(self) -> bool {
        self.0 & Self::ATOMIC != 0
    }

    /// Whether both are by one thread.
    #[inline(always)]
    fn same_thread(self, other: Self) -> bool {
        (self.0 ^ other.0) >> Self::THREAD_AT == 0
    }

    /// Whether the two would race if nothing orders them.
    #[inline(always)]
    fn meets(self, other: Self) -> bool {
        let both = self.0 & other.0;
        both & Self::BYTES != 0 && (self.0 | other.0) & Self::WRITE != 0 && both & Self::ATOMIC == 0
    }

    /// Whether everything that would race with the other would race with this one.
    #[inline(always)]
    fn covers(self, other: Self) -> bool {
        // A bit that the other has and this one lacks, where it is the other way round with atomic.
        let lacks = (other.0 ^ Self::ATOMIC) & !(self.0 ^ Self::ATOMIC);
        lacks & (Self::BYTES | Self::WRITE | Self::ATOMIC) == 0
    }
}

/// What is remembered of eight bytes: one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Cell {
    run: u32,
    count: u8,
    /// The slot that was written last.
    last: u8,
    /// Whether the last slot holds the allocation of a block that was freed before in this run.
    born: bool,
    /// Whether more accesses are kept aside.
    more: bool,
    /// For each access, the clock of its thread.
    clocks: [u32; SLOTS],
    accesses: [Packed; SLOTS],
    /// What atomic stores published here.
    pub chain: Chain,
}

impl Cell {
    /// Remembers an access; answers one that it races with.
    #[inline(always)]
    pub fn touch(&mut self, run: u32, access: Packed, all: &Clocks) -> Option<Packed> {
        if self.touch_quickly(run, access, all.of(access.thread())) { None } else { self.compare(access, all) }
    }

    /// The same where there is nothing to compare with; false when there is, and then nothing was done.
    #[inline(always)]
    pub fn touch_quickly(&mut self, run: u32, access: Packed, knows: &[u32; THREADS]) -> bool {
        let clock = knows[access.thread() % THREADS];
        if self.run != run {
            (self.run, self.count, self.last, self.born, self.more) = (run, 1, 0, false, false);
            (self.accesses[0], self.clocks[0]) = (access, clock);
            return true;
        }
        let last = usize::from(self.last) % SLOTS;
        let before = self.accesses[last];
        if !before.same_thread(access) {
            return false;
        }
        // As much as this once more, with nothing released in between: whoever came meanwhile has seen the first one.
        if self.clocks[last] == clock && before.covers(access) {
            return true;
        }
        // Nobody else was here, and what the thread did itself comes before.
        let alone = self.count == 1 && access.covers(before);
        if alone {
            (self.accesses[0], self.clocks[0]) = (access, clock);
        }
        alone
    }

    /// Whether nobody but the thread that this access is by has touched it.
    #[inline(always)]
    pub fn is_of_one(&self, run: u32, access: Packed) -> bool {
        self.run != run || self.count == 1 && self.accesses[0].same_thread(access)
    }

    /// An access that this one, by a thread whose clocks are `knows`, races with. Nothing is remembered.
    #[inline(always)]
    pub fn conflict(&self, run: u32, access: Packed, knows: &[u32; THREADS]) -> Option<Packed> {
        if self.is_of_one(run, access) {
            return None;
        }
        let known = |at: usize| self.clocks[at] <= knows[self.accesses[at].thread() % THREADS];
        let mut places = 0..usize::from(self.count).min(SLOTS);
        let found = places.find(|&at| !known(at) && self.accesses[at].meets(access)).map(|at| self.accesses[at]);
        if found.is_none() && self.more { aside(self, |others| met(others, access, knows)) } else { found }
    }

    /// An access that is ordered before this one, and that would race with nothing that this one would not race with, need not be
    /// remembered any longer: what comes later and is not ordered after it is not ordered after this one either.
    #[inline(never)]
    pub fn compare(&mut self, access: Packed, all: &Clocks) -> Option<Packed> {
        let knows = all.of(access.thread());
        let clock = knows[access.thread() % THREADS];
        let mut conflict = None;
        let mut place = None;
        if self.born {
            self.look_at_birth(access, knows);
        }
        for at in 0..usize::from(self.count).min(SLOTS) {
            let other = self.accesses[at];
            if self.clocks[at] <= knows[other.thread() % THREADS] {
                if access.covers(other) {
                    place = Some(at);
                }
            } else if conflict.is_none() && other.meets(access) {
                conflict = Some(other);
            }
        }
        if self.more {
            let other = aside(self, |others| {
                let found = met(others, access, knows);
                others.retain(|&(other, clock)| clock > knows[other.thread() % THREADS] || !access.covers(other));
                found
            });
            conflict = conflict.or(other);
        }
        let place = place.unwrap_or_else(|| {
            if usize::from(self.count) < SLOTS {
                self.count += 1;
                return usize::from(self.count) - 1;
            }
            self.makes_room(all)
        });
        self.last = place as u8;
        (self.accesses[place], self.clocks[place]) = (access, clock);
        conflict
    }

    /// Which of the accesses has to go when there are too many: one that all know of, which cannot race with anything any more, or the one that
    /// comes next in turn, which is kept aside.
    #[cold]
    fn makes_room(&mut self, all: &Clocks) -> usize {
        let known = |&at: &usize| all.all_know(self.accesses[at].thread(), self.clocks[at]);
        (0..SLOTS).find(known).unwrap_or_else(|| {
            let place = (usize::from(self.last) + 1) % SLOTS;
            let (others, first) = (self.more, (self.accesses[place], self.clocks[place]));
            self.more = true;
            aside(self, |aside| {
                if !others {
                    // Those of what was there before.
                    aside.clear();
                }
                aside.push(first);
            });
            place
        })
    }

    /// Nothing is remembered but who got the bytes, and when.
    fn is_born(&mut self, run: u32, owner: usize, clock: u32) {
        (self.run, self.count, self.last, self.born, self.more) = (run, 0, 0, true, false);
        self.accesses[0] = Packed::default().by(NOBODY, 0);
        (self.accesses[SLOTS - 1], self.clocks[SLOTS - 1]) = (Packed::default().by(owner, 0), clock);
    }

    /// An access to memory that was freed and allocated again in this run. By a thread that does not know of the allocation, it may be
    /// meant for what was there before, which would have been seen if it had come before the allocation.
    #[cold]
    fn look_at_birth(&mut self, access: Packed, knows: &[u32; THREADS]) {
        let owner = self.accesses[SLOTS - 1];
        let full = usize::from(self.count) >= SLOTS - 1;
        if full || !owner.same_thread(access) && knows[owner.thread() % THREADS] < self.clocks[SLOTS - 1] {
            doubt();
        }
        self.born = !full;
    }
}

/// An access, and the clock of its thread.
type Noted = (Packed, u32);

/// One of these accesses that this one races with.
fn met(others: &[Noted], access: Packed, knows: &[u32; THREADS]) -> Option<Packed> {
    let races = |&&(other, clock): &&Noted| clock > knows[other.thread() % THREADS] && other.meets(access);
    others.iter().find(races).map(|(other, _)| *other)
}

/// The accesses for which there is no room in their cells, by cell. A table that draws random numbers would draw those of the code under test.
struct Aside(UnsafeCell<BTreeMap<usize, Vec<Noted>>>);

// SAFETY: used by code under control only, which is one kernel thread; no borrow outlives a call here.
unsafe impl Sync for Aside {}

static ASIDE: Aside = Aside(UnsafeCell::new(BTreeMap::new()));

/// What there is for a cell.
#[cold]
#[inline(never)]
fn aside<R>(cell: &Cell, look: impl FnOnce(&mut Vec<Noted>) -> R) -> R {
    // SAFETY: used by the one thread that is under control, and no borrow outlives a call here.
    let all = unsafe { &mut *ASIDE.0.get() };
    look(all.entry((&raw const *cell).addr()).or_default())
}

struct Page {
    number: u64,
    cells: *mut Cells,
}

/// The tables of all pages that were touched in any run: runs touch the same ones.
pub struct Shadow {
    /// The number of the run.
    pub run: u32,
    /// What atomic stores published in this run.
    pub published: Published,
    pages: Pages,
}

struct Pages {
    all: Vec<Page>,
    places: Table<u32>,
    recent: [(u64, *mut Cells); RECENT],
    /// The page that is forgotten next.
    oldest: usize,
    /// Tables that nobody has yet.
    fresh: (*mut Cells, usize),
}

impl Default for Shadow {
    fn default() -> Self {
        let recent = [(u64::MAX, std::ptr::null_mut()); RECENT];
        let fresh = (std::ptr::null_mut(), 0);
        let pages = Pages { all: Vec::new(), places: Table::default(), recent, oldest: 0, fresh };
        Shadow { run: 0, published: Published::default(), pages }
    }
}

#[inline(always)]
fn rank(page: u64) -> usize {
    (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % RECENT
}

/// Memory for tables, all zero, which is what a cell is that was never touched.
fn reserve() -> *mut Cells {
    let layout = Layout::from_size_align(HUGE, HUGE).expect("the size and the alignment of a huge page");
    // SAFETY: the layout has a size; the advice is about memory that is this process's own.
    unsafe {
        let tables = alloc(layout);
        if tables.is_null() {
            handle_alloc_error(layout);
        }
        // Before the first write, which is when the system decides.
        sys::call(libc::SYS_madvise, [tables as usize, HUGE, libc::MADV_HUGEPAGE as usize, 0, 0, 0]);
        tables.write_bytes(0, HUGE);
        tables.cast()
    }
}

impl Shadow {
    /// A new run.
    pub fn renew(&mut self) {
        self.published.clear();
        // SAFETY: no run is under way, and no borrow outlives a call here.
        let aside = unsafe { &mut *ASIDE.0.get() };
        if aside.len() > ASIDE_MAX {
            aside.clear();
        }
        self.run = self.run.checked_add(1).unwrap_or_else(|| {
            self.pages.clear();
            1
        });
    }

    /// The cells of a page, which is an address divided by the size of a page, and what was published.
    #[inline(always)]
    pub fn page(&mut self, page: u64) -> (&mut Cells, &mut Published) {
        let (number, mut cells) = self.pages.recent[rank(page)];
        if number != page {
            cells = self.pages.find(page, self.run, &mut self.published);
        }
        // SAFETY: a table that lives as long as the process, and is borrowed through this only.
        (unsafe { &mut *cells }, &mut self.published)
    }

    /// The cells of a page that was found a moment ago.
    #[inline(always)]
    pub fn recent(&mut self, page: u64) -> Option<&mut Cells> {
        let (number, cells) = self.pages.recent[rank(page)];
        // SAFETY: a table that lives as long as the process, and is borrowed through this only.
        (number == page).then(|| unsafe { &mut *cells })
    }

    /// Forgets what is remembered of these bytes, which a thread was given at that clock; what was published there stays, and nobody goes on with it.
    pub fn forget(&mut self, address: u64, size: u64, owner: usize, clock: u32) {
        let run = self.run;
        let page = |address: u64| (address >> 3) / CELLS as u64;
        for page in page(address)..=page(address + size.max(1) - 1) {
            self.page(page);
        }
        let mut chains = Vec::new();
        self.for_each(address, size, |_, cell| {
            if cell.chain.first(run) != 0 {
                chains.push(cell.chain);
            }
            cell.is_born(run, owner, clock);
        });
        chains.into_iter().for_each(|chain| self.published.behead(chain, run));
    }

    /// Every cell of these bytes that may have been touched, and where it begins.
    #[inline(always)]
    pub fn for_each(&mut self, address: u64, size: u64, mut look: impl FnMut(u64, &mut Cell)) {
        let end = (address + size.max(1) - 1) >> 3;
        let mut key = address >> 3;
        while key <= end {
            let page = key / CELLS as u64;
            let last = end.min((page + 1) * CELLS as u64 - 1);
            if let Some(cells) = self.pages.known(page) {
                // SAFETY: a table that lives as long as the process; `self` is borrowed for as long as it is.
                let cells = unsafe { &mut (&mut *cells)[key as usize % CELLS..=last as usize % CELLS] };
                for (cell, key) in cells.iter_mut().zip(key..) {
                    look(key << 3, cell);
                }
            }
            key = last + 1;
        }
    }
}

impl Pages {
    /// The cells of a page that has some.
    #[inline]
    fn known(&self, page: u64) -> Option<*mut Cells> {
        let (number, cells) = self.recent[rank(page)];
        if number == page {
            return Some(cells);
        }
        self.places.get(&(page as usize)).map(|&place| self.all[place as usize].cells)
    }

    #[cold]
    fn find(&mut self, page: u64, run: u32, published: &mut Published) -> *mut Cells {
        let cells = self.known(page).unwrap_or_else(|| self.add(page, run, published));
        self.recent[rank(page)] = (page, cells);
        cells
    }

    fn add(&mut self, page: u64, run: u32, published: &mut Published) -> *mut Cells {
        let place = if self.all.len() < PAGES_MAX {
            let cells = self.take();
            self.all.push(Page { number: page, cells });
            self.all.len() - 1
        } else {
            let place = self.oldest;
            doubt();
            self.oldest = (self.oldest + 1) % PAGES_MAX;
            let old = &mut self.all[place];
            // SAFETY: a table that lives as long as the process, of which nobody has a borrow now: `self` is borrowed.
            let cells = unsafe { &mut *old.cells };
            if cells.iter().any(|cell| cell.run == run) {
                FORGOT.store(true, Ordering::Relaxed);
            }
            cells.iter().for_each(|cell| published.evict(cell.chain, run));
            cells.fill(Cell::default());
            self.places.remove(&(old.number as usize));
            self.recent[rank(old.number)] = (u64::MAX, std::ptr::null_mut());
            old.number = page;
            place
        };
        self.places.insert(page as usize, place as u32);
        self.all[place].cells
    }

    /// A table that nobody has.
    fn take(&mut self) -> *mut Cells {
        if self.fresh.1 == 0 {
            self.fresh = (reserve(), TABLES);
        }
        let (cells, left) = self.fresh;
        // SAFETY: inside the memory that was reserved, or one past its end.
        self.fresh = (unsafe { cells.add(1) }, left - 1);
        cells
    }

    /// Forgets everything.
    fn clear(&mut self) {
        // SAFETY: tables that live as long as the process, of which nobody has a borrow now: `self` is borrowed.
        self.all.iter().for_each(|page| unsafe { (*page.cells).fill(Cell::default()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_says_what_was_put_into_it() {
        for pc in [0, 0x40_1136, 0x5555_5555_5171, 0x5655_0000_0004, 0x7fff_f7a0_0001, 0x7c00_0000_0000] {
            for thread in [0, 63, 64, THREADS - 1, NOBODY] {
                for (write, atomic) in [(false, true), (true, false)] {
                    let access = Packed::new(pc, write, atomic).by(thread, 0x81);
                    assert_eq!((access.pc(), access.thread()), (pc, thread), "{pc:x}");
                    assert_eq!((access.write(), access.atomic()), (write, atomic));
                    assert_eq!(access.0 & Packed::BYTES, 0x81 << Packed::BYTES_AT);
                    assert!(access.same_thread(Packed::new(1, true, true).by(thread, 1)));
                    assert!(!access.same_thread(Packed::new(pc, write, atomic).by(thread ^ 64, 0x81)));
                }
            }
        }
    }
}
