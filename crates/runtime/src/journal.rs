//! What a search does, noted in memory that outlives the process: the decisions of the run under way, and how many runs were made.
//!
//! A search is made in a copy of the process ([`crate::apart`]). Whoever made the copy reads here what it was doing when it ends without an answer.
//!
//! Invariant: a decision is noted before the thread that it is about goes on.

use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use selvedge_explore::{Choice, Thread};

use crate::sys;

/// The decisions that are kept of a run: more than a run may have. A power of two.
const KEPT: usize = 1 << 24;
/// Said of a decision that is about a result.
const PICK: u32 = 1 << 31;

#[repr(C)]
struct Pages {
    /// Decisions of the run under way.
    next: AtomicU64,
    /// Those of all runs before it.
    before: AtomicU64,
    /// Runs that have ended.
    runs: AtomicU64,
    /// Steps of these.
    points: AtomicU64,
    /// The bound that was gone through; -1 for none.
    bound: AtomicI64,
    /// When the time is up, as the bits of a number of seconds; 0 where that is not known.
    end: AtomicU64,
    /// 1 once the runtime itself ends the process.
    own_end: AtomicU32,
    choices: [AtomicU32; KEPT],
}

/// Those of this process.
static PAGES: AtomicPtr<Pages> = AtomicPtr::new(std::ptr::null_mut());

/// What one process notes.
pub struct Journal(*mut Pages);

impl Journal {
    /// Memory for it; `None` when there is none.
    pub fn new() -> Option<Self> {
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let flags = (libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize;
        // SAFETY: a new mapping, which takes no memory before it is used.
        let got = unsafe { sys::call(libc::SYS_mmap, [0, size_of::<Pages>(), protection, flags, usize::MAX, 0]) };
        let journal = (got > 0).then_some(Journal(got as *mut Pages))?;
        journal.pages().bound.store(-1, Ordering::Relaxed);
        Some(journal)
    }

    fn pages(&self) -> &Pages {
        // SAFETY: mapped until this is dropped, zero at first, and only used as atomics.
        unsafe { &*self.0 }
    }

    /// This process notes what it does here from now on.
    pub fn keep(self) {
        PAGES.store(self.0, Ordering::Relaxed);
        std::mem::forget(self);
    }

    /// The same for a process that was copied, whose journal somebody else reads.
    pub fn keep_here(&self) {
        PAGES.store(self.0, Ordering::Relaxed);
    }

    /// How far it is: this grows with every decision and every run.
    pub fn moves(&self) -> u64 {
        let pages = self.pages();
        pages.next.load(Ordering::Relaxed) + pages.before.load(Ordering::Relaxed) + pages.runs.load(Ordering::Relaxed)
    }

    /// Runs that have ended, and their steps.
    pub fn runs(&self) -> (u64, u64) {
        (self.pages().runs.load(Ordering::Relaxed), self.pages().points.load(Ordering::Relaxed))
    }

    /// The bound that was gone through.
    pub fn bound(&self) -> Option<u32> {
        u32::try_from(self.pages().bound.load(Ordering::Relaxed)).ok()
    }

    /// Whether the runtime ended the process, and no code under test did.
    pub fn ended_itself(&self) -> bool {
        self.pages().own_end.load(Ordering::Relaxed) == 1
    }

    /// When its time is up.
    pub fn end(&self) -> f64 {
        end_of(self.pages())
    }

    /// The decisions of the run under way; `None` when they are more than are kept.
    pub fn choices(&self) -> Option<Vec<Choice>> {
        let count = self.pages().next.load(Ordering::Relaxed) as usize;
        let choice = |choice: u32| match choice & PICK {
            0 => Choice::Run(Thread(choice as u16)),
            _ => Choice::Pick(choice & !PICK),
        };
        let kept = self.pages().choices.get(..count)?;
        Some(kept.iter().map(|noted| choice(noted.load(Ordering::Relaxed))).collect())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // SAFETY: nobody reads it any more: whoever has it open for writing has a mapping of its own.
        unsafe { sys::call(libc::SYS_munmap, [self.0 as usize, size_of::<Pages>(), 0, 0, 0, 0]) };
    }
}

fn end_of(pages: &Pages) -> f64 {
    match pages.end.load(Ordering::Relaxed) {
        0 => f64::INFINITY,
        bits => f64::from_bits(bits),
    }
}

#[inline(always)]
fn pages() -> &'static Pages {
    // SAFETY: there is a journal, because a search was set up; it stays.
    unsafe { &*PAGES.load(Ordering::Relaxed) }
}

#[inline(always)]
fn note(choice: u32) {
    let pages = pages();
    let next = pages.next.load(Ordering::Relaxed);
    pages.choices[next as usize % KEPT].store(choice, Ordering::Relaxed);
    pages.next.store(next + 1, Ordering::Relaxed);
}

/// This thread makes the next step.
#[inline(always)]
pub fn chosen(thread: usize) {
    note(thread as u32);
}

/// The step under way has this result.
pub fn picked(result: u32) {
    note(result | PICK);
}

/// A run begins.
pub fn begin_run() {
    let pages = pages();
    pages.before.store(pages.before.load(Ordering::Relaxed) + pages.next.load(Ordering::Relaxed), Ordering::Relaxed);
    pages.next.store(0, Ordering::Relaxed);
}

/// So many runs have ended, with so many steps.
pub fn ran(runs: u64, points: u64) {
    pages().runs.store(runs, Ordering::Relaxed);
    pages().points.store(points, Ordering::Relaxed);
}

/// This process waits for others, and is not stuck.
pub fn tick() {
    let before = &pages().before;
    before.store(before.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// All schedules with so many preemptions were made.
pub fn reached(bound: u32) {
    pages().bound.store(i64::from(bound), Ordering::Relaxed);
}

/// The time of the search is up then: from that moment on a thread that makes no steps is not waited for.
pub fn expect_end(at: f64) {
    pages().end.store(at.to_bits(), Ordering::Relaxed);
}

/// The runtime ends this process.
pub fn ends_itself() {
    // SAFETY: null before the first search, and else a journal that stays.
    if let Some(pages) = unsafe { PAGES.load(Ordering::Relaxed).as_ref() } {
        pages.own_end.store(1, Ordering::Relaxed);
    }
}

/// Whether the time of the search is up.
pub fn is_late() -> bool {
    // SAFETY: null before the first search, and else a journal that stays.
    unsafe { PAGES.load(Ordering::Relaxed).as_ref() }.is_some_and(|pages| sys::now() > end_of(pages))
}

/// All decisions so far: the watchdog's sign of life.
pub fn decisions() -> u64 {
    // SAFETY: null before the first search, and else a journal that stays.
    unsafe { PAGES.load(Ordering::Relaxed).as_ref() }
        .map_or(0, |pages| pages.next.load(Ordering::Relaxed) + pages.before.load(Ordering::Relaxed))
}
