//! What a thread leaves behind on its way: its insertions, how many removals it made, the last of them in a ring that only it writes, and the sums of
//! what it put in and took out.
//!
//! Invariant: counts and sums are exact; the ring remembers the last [`REMOVALS`].

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, compiler_fence, fence};

use super::cubes::{self, cube};
use super::insertions::{Insertions, Returned, Ring};

/// How many removals of one thread are remembered one by one: so few that they stay in the nearest cache. When there are so many more, they are added up, and losses are looked for.
const REMOVALS: usize = 1 << 10;

/// A value's stamp: when its insertion was called, which thread did, and a one. No two values of a queue have the same.
const THREAD_BITS: u32 = 8;

/// Of the word of removals: a removal is open. Next come those that returned a value.
const OPEN: u64 = 1;

/// Of the word of removals: one that found nothing.
const NOTHING: u64 = 1 << 48;

/// The stamp of a value that a thread without a number put in.
pub const UNSEEN: NonZeroU64 = NonZeroU64::MIN;

/// The stamp of a value that this thread is about to put in.
#[inline]
pub fn stamp(thread: usize, called: u64) -> NonZeroU64 {
    UNSEEN | (called << (THREAD_BITS + 1) | (thread as u64) << 1)
}

/// The thread that put the value in, and when: 0 for none.
#[inline]
pub fn unstamp(stamp: u64) -> (usize, u64) {
    ((stamp >> 1 & ((1 << THREAD_BITS) - 1)) as usize, stamp >> (THREAD_BITS + 1))
}

/// The removals of a thread so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removals(u64);

impl Removals {
    /// How many returned a value.
    pub fn taken(self) -> u64 {
        (self.0 & (NOTHING - 1)) / 2
    }

    /// Whether one is open.
    pub fn is_open(self) -> bool {
        self.0 & OPEN != 0
    }
}

/// What a thread has done in all: how many values it put in and took out, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// How often sums were begun or ended to be changed.
    changes: u64,
    /// The insertions that have returned, and what they put in.
    pub put: u64,
    pub put_sum: u64,
    /// The removals, and what they took out.
    pub removals: Removals,
    pub removed_sum: u64,
}

impl Done {
    /// Whether nothing is only half written down.
    pub fn is_whole(&self) -> bool {
        self.changes.is_multiple_of(2) && !self.removals.is_open()
    }
}

/// Of a row of insertions, one right after the other with none of others in between, from the first one's stamp on; and of all before that row their number and [`cube`]s.
#[derive(Debug, Default)]
struct Sums {
    /// Odd while the others are changed.
    changes: AtomicU64,
    row_from: AtomicU64,
    put: AtomicU64,
    put_sum: AtomicU64,
    /// What came out, as far as it was added up, and how many that are.
    removed: AtomicU64,
    removed_sum: AtomicU64,
}

impl Sums {
    /// Only their thread changes them.
    fn change(&self, change: impl FnOnce(&Self)) {
        let changes = self.changes.load(Ordering::Relaxed);
        self.changes.store(changes + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        change(self);
        self.changes.store(changes + 2, Ordering::Release);
    }
}

/// The sum of the cubes of the stamps that a thread gave from one moment until the next, one at each.
fn row(thread: usize, from: u64, next: u64) -> u64 {
    cubes::row(stamp(thread, from).get(), 1 << (THREAD_BITS + 1), next - from)
}

fn add(to: &AtomicU64, number: u64) {
    to.store(to.load(Ordering::Relaxed).wrapping_add(number), Ordering::Relaxed);
}

/// The rings of one thread. What every operation writes comes first, in one cache line.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub struct Track {
    removals: AtomicU64,
    /// Whether an insertion is open. Only the thread itself looks at it.
    inserting: AtomicBool,
    insertions: Insertions,
    removed: Ring<REMOVALS>,
    sums: Sums,
}

impl Track {
    /// Whether one of the last so many removals took out the value with this stamp.
    pub fn removed(&self, stamp: u64, last: u64) -> bool {
        let taken = self.removals().taken();
        let mut numbers = taken.saturating_sub(last.min(REMOVALS as u64))..taken;
        numbers.any(|number| self.removed.read(number) == stamp)
    }

    /// What the thread with this number has done in all.
    pub fn done(&self, thread: usize) -> Done {
        let changes = self.sums.changes.load(Ordering::Acquire);
        let read = |cell: &AtomicU64| cell.load(Ordering::Acquire);
        let (from, removals) = (read(&self.sums.row_from), self.removals());
        let next = self.insertions.next().max(from);
        let done = Done {
            changes,
            put: read(&self.sums.put) + next - from,
            put_sum: read(&self.sums.put_sum).wrapping_add(row(thread, from, next)),
            removals,
            removed_sum: read(&self.sums.removed_sum).wrapping_add(self.not_added(removals)),
        };
        fence(Ordering::Acquire);
        done
    }

    /// The sum of what came out since it was last added up.
    fn not_added(&self, removals: Removals) -> u64 {
        let added = self.sums.removed.load(Ordering::Acquire);
        (added..removals.taken()).map(|number| cube(self.removed.read(number))).fold(0, u64::wrapping_add)
    }

    /// A number that grows with every insertion that is written down, every value that is taken out and every change of the sums; none during one.
    pub fn counts(&self) -> Option<u64> {
        let changes = self.sums.changes.load(Ordering::Acquire);
        let counts = changes.wrapping_add(self.insertions.next()).wrapping_add(self.removals().taken());
        changes.is_multiple_of(2).then_some(counts)
    }

    /// Whether the thread's insertion that was called then is not written down yet.
    pub fn is_entering(&self, called: u64) -> bool {
        self.insertions.next() <= called
    }

    /// Of the last removals those that took out such values: how many, and the sum of their cubes.
    pub fn removed_that(&self, is_such: impl Fn(u64) -> bool) -> (u64, u64) {
        let taken = self.removals().taken();
        let last = (taken.saturating_sub(REMOVALS as u64)..taken).map(|number| self.removed.read(number));
        let such = last.filter(|stamp| is_such(*stamp));
        such.fold((0, 0), |(number, sum), stamp| (number + 1, sum.wrapping_add(cube(stamp))))
    }

    /// The thread adds up what it took out, before that is overwritten.
    #[cold]
    pub fn add_up(&self) {
        let (removals, sum) = (self.removals(), self.not_added(self.removals()));
        if removals.taken() == self.sums.removed.load(Ordering::Relaxed) {
            return;
        }
        self.sums.change(|sums| {
            sums.removed.store(removals.taken(), Ordering::Relaxed);
            add(&sums.removed_sum, sum);
        });
    }

    /// Whether the thread's own insertion has returned right after its last one, and so is written down.
    #[inline]
    pub fn goes_on(&self, returned: u64) -> bool {
        self.insertions.goes_on(returned)
    }

    /// The thread's own insertion of the value with this stamp has returned, and others before it: the row ends, and another one begins if it overlapped with none.
    #[cold]
    pub fn entered_apart(&self, stamp: u64, returned: u64) {
        let (thread, called) = unstamp(stamp);
        self.sums.change(|sums| {
            let (from, next) = (sums.row_from.load(Ordering::Relaxed), self.insertions.next());
            add(&sums.put, next - from);
            add(&sums.put_sum, row(thread, from, next));
            sums.row_from.store(returned, Ordering::Relaxed);
            if returned != called {
                add(&sums.put, 1);
                add(&sums.put_sum, cube(stamp));
                sums.row_from.store(returned + 1, Ordering::Relaxed);
            }
            self.insertions.over(called, returned);
        });
    }

    /// The thread's own insertion of the value with this stamp is over, and nobody knows what it did. Sums are of no use from then on.
    #[cold]
    pub fn lost(&self, stamp: u64, over: u64) {
        self.sums.change(|sums| {
            sums.row_from.store(over + 1, Ordering::Relaxed);
            self.insertions.lost(unstamp(stamp).1, over);
        });
    }

    /// When the thread's insertion that was called then has returned.
    pub fn returned(&self, called: u64) -> Returned {
        self.insertions.returned(called)
    }

    /// The removals of the thread.
    pub fn removals(&self) -> Removals {
        Removals(self.removals.load(Ordering::Acquire))
    }

    /// Whether the thread has nothing open here. What it calls inside another operation, in a callback or where a signal came in between, has no place in these rings.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.removals.load(Ordering::Relaxed) & OPEN == 0 && !self.inserting.load(Ordering::Relaxed)
    }

    /// Whether the thread has an insertion open.
    pub fn is_inserting(&self) -> bool {
        self.inserting.load(Ordering::Relaxed)
    }

    /// The thread is about to call an insertion.
    #[inline]
    pub fn enter(&self) {
        self.inserting.store(true, Ordering::Relaxed);
        // A signal that comes later sees it.
        compiler_fence(Ordering::SeqCst);
    }

    /// The thread's insertion is over.
    #[inline]
    pub fn entered(&self) {
        compiler_fence(Ordering::SeqCst);
        self.inserting.store(false, Ordering::Relaxed);
    }

    /// The thread is about to call a removal.
    #[inline]
    pub fn leave(&self) {
        let open = self.removals.load(Ordering::Relaxed) | OPEN;
        self.removals.store(open, Ordering::Relaxed);
        settle();
    }

    /// The thread's removal has returned the value with this stamp. Whether the ring has come round, or is new.
    #[inline]
    pub fn left(&self, stamp: u64) -> bool {
        let word = self.removals.load(Ordering::Relaxed) | OPEN;
        let is_round = (word / 2).is_multiple_of(REMOVALS as u64);
        if is_round {
            self.add_up();
        }
        self.removed.write(word / 2, stamp);
        // The one that is open becomes one that is over.
        self.removals.store(word + 1, Ordering::Release);
        is_round
    }

    /// The thread's removal has returned nothing, or nothing that counts.
    #[inline]
    pub fn left_nothing(&self) {
        let word = self.removals.load(Ordering::Relaxed) & !OPEN;
        self.removals.store(word.wrapping_add(NOTHING), Ordering::Release);
    }
}

/// What was stored before is seen by whoever sees what comes after. On x86-64 that is how stores are, and only the compiler must be told.
#[inline]
pub fn settle() {
    if cfg!(target_arch = "x86_64") {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}
