//! Which accesses to which bytes are remembered, for [`crate::race`].
//!
//! A few accesses for each eight bytes, as the thread sanitizer does, in tables that mirror pages of memory: what lies together in
//! the program lies together here, so a run stays in the processor's caches. Invariant: a cell whose `run` is not the current one is
//! empty, so a new run costs nothing. When more than [`PAGES_MAX`] pages are in use the oldest is forgotten, and with it races.

use crate::posix::objects::Table;
use crate::race::THREADS;

/// How many accesses are remembered for each eight bytes.
const SLOTS: usize = 4;
/// Eight bytes each: one page.
pub const CELLS: usize = 512;
/// 64 MiB of tables for 8 MiB of memory.
const PAGES_MAX: usize = 2048;
/// Pages found a moment ago, a power of two.
const RECENT: usize = 64;

/// An access in one word: the return address, which of the eight bytes, atomic, write, thread.
#[derive(Clone, Copy, Default)]
pub struct Packed(u64);

impl Packed {
    const PC: u64 = (1 << 47) - 1;
    const BYTES: u64 = 0xff << 47;
    const ATOMIC: u64 = 1 << 55;
    const WRITE: u64 = 1 << 56;

    /// Of an access by nobody yet, to no bytes yet.
    #[inline(always)]
    pub fn new(pc: u64, write: bool, atomic: bool) -> Self {
        Packed(pc & Self::PC | u64::from(atomic) << 55 | u64::from(write) << 56)
    }

    /// The same by that thread; `bytes` has a bit for each of the eight.
    #[inline(always)]
    pub fn by(self, thread: usize, bytes: u8) -> Self {
        Packed(self.0 | u64::from(bytes) << 47 | (thread as u64) << 57)
    }

    /// Who.
    #[inline(always)]
    pub fn thread(self) -> usize {
        (self.0 >> 57) as usize
    }

    /// From where.
    pub fn pc(self) -> u64 {
        self.0 & Self::PC
    }

    /// Whether it wrote.
    pub fn write(self) -> bool {
        self.0 & Self::WRITE != 0
    }

    /// Whether it was atomic.
    pub fn atomic(self) -> bool {
        self.0 & Self::ATOMIC != 0
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
        other.0 & !self.0 & (Self::BYTES | Self::WRITE) == 0 && self.0 & !other.0 & Self::ATOMIC == 0
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
    /// For each access, the clock of its thread.
    clocks: [u32; SLOTS],
    accesses: [Packed; SLOTS],
}

impl Cell {
    /// Remembers an access by a thread whose clocks are `knows`; answers one that it races with.
    #[inline(always)]
    pub fn touch(&mut self, run: u32, access: Packed, knows: &[u32; THREADS]) -> Option<Packed> {
        let clock = knows[access.thread() % THREADS];
        if self.run != run {
            (self.run, self.count, self.last) = (run, 1, 0);
            (self.accesses[0], self.clocks[0]) = (access, clock);
            return None;
        }
        // As much as this once more, with nothing released in between: whoever came meanwhile has seen the first one.
        let last = usize::from(self.last) % SLOTS;
        let before = self.accesses[last];
        if self.clocks[last] == clock && before.thread() == access.thread() && before.covers(access) {
            return None;
        }
        self.compare(access, clock, knows)
    }

    /// An access that is ordered before this one, and that would race with nothing that this one would not race with, need not be
    /// remembered any longer: what comes later and is not ordered after it is not ordered after this one either.
    fn compare(&mut self, access: Packed, clock: u32, knows: &[u32; THREADS]) -> Option<Packed> {
        let mut conflict = None;
        let mut place = None;
        for at in 0..usize::from(self.count).min(SLOTS) {
            let other = self.accesses[at];
            if self.clocks[at] <= knows[other.thread() % THREADS] {
                if access.covers(other) {
                    place = Some(at);
                }
            } else if other.meets(access) {
                conflict = conflict.or(Some(other));
            }
        }
        let place = place.unwrap_or_else(|| {
            if usize::from(self.count) < SLOTS {
                self.count += 1;
                return usize::from(self.count) - 1;
            }
            (usize::from(self.last) + 1) % SLOTS
        });
        self.last = place as u8;
        (self.accesses[place], self.clocks[place]) = (access, clock);
        conflict
    }
}

struct Page {
    number: u64,
    cells: Box<[Cell; CELLS]>,
}

/// The tables of all pages that were touched in any run: runs touch the same ones.
pub struct Shadow {
    pages: Vec<Page>,
    places: Table<u32>,
    recent: [(u64, u32); RECENT],
    /// The page that is forgotten next.
    oldest: usize,
}

impl Default for Shadow {
    fn default() -> Self {
        Shadow { pages: Vec::new(), places: Table::default(), recent: [(u64::MAX, 0); RECENT], oldest: 0 }
    }
}

#[inline(always)]
fn rank(page: u64) -> usize {
    (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % RECENT
}

impl Shadow {
    /// The cells of a page, which is an address divided by the size of a page.
    #[inline(always)]
    pub fn page(&mut self, page: u64) -> &mut [Cell; CELLS] {
        let (number, mut place) = self.recent[rank(page)];
        if number != page {
            place = self.find(page);
        }
        &mut self.pages[place as usize].cells
    }

    #[cold]
    fn find(&mut self, page: u64) -> u32 {
        let known = self.places.get(&(page as usize)).copied();
        let place = known.unwrap_or_else(|| self.add(page));
        self.recent[rank(page)] = (page, place);
        place
    }

    fn add(&mut self, page: u64) -> u32 {
        let place = if self.pages.len() < PAGES_MAX {
            self.pages.push(Page { number: page, cells: Box::new([Cell::default(); CELLS]) });
            self.pages.len() - 1
        } else {
            let place = self.oldest;
            self.oldest = (self.oldest + 1) % PAGES_MAX;
            let old = &mut self.pages[place];
            old.cells.fill(Cell::default());
            self.places.remove(&(old.number as usize));
            self.recent[rank(old.number)] = (u64::MAX, 0);
            old.number = page;
            place
        };
        self.places.insert(page as usize, place as u32);
        place as u32
    }

    /// Forgets what is remembered of these bytes.
    pub fn forget(&mut self, address: u64, size: u64) {
        let end = (address + size.max(1) - 1) >> 3;
        let mut key = address >> 3;
        while key <= end {
            let page = key / CELLS as u64;
            let last = end.min((page + 1) * CELLS as u64 - 1);
            if let Some(&place) = self.places.get(&(page as usize)) {
                let cells = &mut self.pages[place as usize].cells;
                for cell in &mut cells[key as usize % CELLS..=last as usize % CELLS] {
                    cell.run = 0;
                }
            }
            key = last + 1;
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pages.iter_mut().for_each(|page| page.cells.fill(Cell::default()));
    }
}
