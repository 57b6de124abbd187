//! Data races: two accesses to the same bytes by different threads, one of them a write, one of them plain, and nothing that
//! orders them.
//!
//! Vector clocks over the synchronisation that the program itself asks for (Flanagan and Freund, *FastTrack*, PLDI
//! 2009, with a few accesses kept for each eight bytes as the thread sanitizer does). The order in which the search happens to run
//! steps orders nothing; a relaxed atomic access orders nothing either, unless a fence makes it.
//!
//! Invariant: a slot whose `run` is not the current one is empty. So a new run costs nothing.

use std::ffi::c_int;

use crate::posix::objects::Table;

const THREADS: usize = selvedge_explore::Thread::MAX;
/// How many accesses are remembered for each eight bytes.
const SLOTS: usize = 6;
/// How many groups of eight bytes can be remembered, a power of two. Older ones give way.
const CELLS: usize = 1 << 14;

type Clock = [u32; THREADS];

/// A remembered access.
#[derive(Clone, Copy, Default)]
struct Slot {
    run: u32,
    clock: u32,
    pc: u64,
    thread: u8,
    /// Which of the eight bytes.
    bytes: u8,
    write: bool,
    atomic: bool,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    key: u64,
    /// The slot that was written last.
    last: u8,
    slots: [Slot; SLOTS],
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

/// What an access is.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// The first byte.
    pub address: u64,
    /// How many.
    pub size: u64,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// From where.
    pub pc: u64,
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
    cells: Box<[Cell]>,
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
            cells: vec![Cell::default(); CELLS].into_boxed_slice(),
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
        self.run += 1;
        for thread in 0..self.threads {
            self.clocks[thread] = [0; THREADS];
            self.seen[thread] = [0; THREADS];
            self.fenced[thread] = [0; THREADS];
        }
        self.threads = 1;
        self.clocks[0][0] = 1;
        self.objects.clear();
    }

    #[inline]
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
        let other = self.clocks[ended];
        Self::join(&mut self.clocks[thread], &other, self.threads);
    }

    /// A thread takes what was published at an object.
    pub fn acquire(&mut self, thread: usize, object: u64) {
        if let Some(clock) = self.objects.get(&(object as usize)) {
            Self::join(&mut self.clocks[thread], clock, self.threads);
        }
    }

    /// A thread publishes what it knows at an object, beside what is there.
    pub fn release(&mut self, thread: usize, object: u64) {
        let clock = self.clocks[thread];
        let threads = self.threads;
        let published = self.objects.entry(object as usize).or_insert([0; THREADS]);
        Self::join(published, &clock, threads);
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
            let seen = self.seen[thread];
            Self::join(&mut self.clocks[thread], &seen, self.threads);
        }
        if order & 0xff == 5 {
            self.acquire(thread, EVERYONE);
            self.release(thread, EVERYONE);
        }
        if releases(order) {
            self.fenced[thread] = self.clocks[thread];
            self.clocks[thread][thread] += 1;
        }
    }

    /// An access; answers one that it races with.
    #[inline]
    pub fn touch(&mut self, thread: usize, touch: Touch) -> Option<Conflict> {
        let mut at = touch.address;
        let end = touch.address.wrapping_add(touch.size);
        let mut conflict = None;
        while at < end {
            let first = at & 7;
            let count = (end - at).min(8 - first);
            let bytes = (((1u16 << count) - 1) << first) as u8;
            conflict = conflict.or(self.touch_cell(thread, at >> 3, bytes, touch));
            at += count;
        }
        conflict
    }

    #[inline]
    fn touch_cell(&mut self, thread: usize, key: u64, bytes: u8, touch: Touch) -> Option<Conflict> {
        let index = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % CELLS;
        let (run, clock) = (self.run, &self.clocks[thread]);
        let cell = &mut self.cells[index];
        if cell.key != key {
            *cell = Cell { key, ..Cell::default() };
        }
        // The same access again, with nothing released in between: whoever came meanwhile has seen the first one.
        let last = &mut cell.slots[usize::from(cell.last)];
        let same = last.run == run && usize::from(last.thread) == thread && last.clock == clock[thread];
        if same && last.bytes == bytes && last.atomic == touch.atomic && (last.write || !touch.write) {
            return None;
        }
        let mut conflict = None;
        let mut place = None;
        for (number, slot) in cell.slots.iter().enumerate() {
            if slot.run != run {
                place = place.or(Some(number));
                continue;
            }
            if usize::from(slot.thread) == thread {
                if slot.bytes == bytes && slot.write == touch.write && slot.atomic == touch.atomic {
                    place = Some(number);
                }
                continue;
            }
            let meets = slot.bytes & bytes != 0 && (slot.write || touch.write) && !(slot.atomic && touch.atomic);
            if meets && slot.clock > clock[usize::from(slot.thread)] {
                let Slot { thread, pc, write, atomic, .. } = *slot;
                conflict = conflict.or(Some(Conflict { thread, pc, write, atomic }));
            }
        }
        let place = place.unwrap_or((usize::from(cell.last) + 1) % SLOTS);
        cell.last = place as u8;
        let Touch { pc, write, atomic, .. } = touch;
        cell.slots[place] = Slot { run, clock: clock[thread], pc, thread: thread as u8, bytes, write, atomic };
        conflict
    }

    /// A block was allocated: what was there before is another object.
    pub fn forget(&mut self, address: u64, size: u64) {
        for key in address >> 3..=(address + size.max(1) - 1) >> 3 {
            let index = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % CELLS;
            if self.cells[index].key == key {
                self.cells[index] = Cell::default();
            }
        }
    }
}
