//! Pages that are put back after each run: only those that some run has written to.
//!
//! When a search begins, the memory that is to be put back is made read-only. The first write to a page ends in a fault: the page is copied,
//! can be written to from then on, and is put back from its copy after this run and every later one. So a run costs what runs write to,
//! with no system call and no fault once all of it is known.
//!
//! Where faults cannot be had all pages are copied at the beginning: a debugger would stop at each, and the code under test may have a handler of its
//! own. The kernel never faults: it refuses to write to a page that is read-only, so what it is to write to is made known first ([`expect`]).
//!
//! Invariant: between runs every page holds what it held when the search began, but for what [`commit`] changed.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::memory::kernel;
use crate::memory::pool::Lock;
use crate::sys;

const PAGE: usize = 4096;
/// More regions than this are copied.
const REGIONS: usize = 64;
/// A region that is smaller is copied: a fault costs more.
const SMALL: usize = PAGE;
/// From so many ranges on, more pages are learned at once: each range splits a mapping, of which a process has 65,530.
const FINE: usize = 1024;
const COARSE: usize = 8192;

/// Memory that is to be put back: from one address up to another.
#[derive(Clone, Copy)]
struct Region {
    start: usize,
    end: usize,
    /// Where its copy begins, behind the first copy.
    at: usize,
}

/// Bytes that are put back.
#[derive(Clone, Copy)]
struct Range {
    start: usize,
    size: usize,
    copy: usize,
}

struct Pages {
    regions: [Region; REGIONS],
    count: usize,
    /// Where the copies lie, and behind them a byte for each page that says whether it is known, and the ranges.
    copies: usize,
    size: usize,
    known: usize,
    ranges: usize,
    learned: usize,
}

struct Cell(UnsafeCell<Pages>);

// SAFETY: changed by the search between runs, and while the lock is held.
unsafe impl Sync for Cell {}

const NOTHING: Region = Region { start: 0, end: 0, at: 0 };
static PAGES: Cell = Cell(UnsafeCell::new(Pages {
    regions: [NOTHING; REGIONS],
    count: 0,
    copies: 0,
    size: 0,
    known: 0,
    ranges: 0,
    learned: 0,
}));
static LOCK: Lock = Lock::new();
/// Whether pages are read-only until somebody writes to them.
static GUARDED: AtomicBool = AtomicBool::new(false);

fn protect(start: usize, end: usize, writable: bool) -> bool {
    let start = start & !(PAGE - 1);
    let protection = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
    let size = (end - start).next_multiple_of(PAGE);
    // SAFETY: memory that is readable and writable by right; who writes to it meanwhile ends in `fault`.
    unsafe { sys::call(libc::SYS_mprotect, [start, size, protection as usize, 0, 0, 0]) == 0 }
}

impl Pages {
    fn regions(&self) -> &[Region] {
        &self.regions[..self.count]
    }

    fn ranges(&self) -> &[Range] {
        // Before the first search there is no place for them.
        if self.learned == 0 {
            return &[];
        }
        // SAFETY: so many were written there.
        unsafe { std::slice::from_raw_parts(self.ranges as *const Range, self.learned) }
    }

    fn find(&self, address: usize) -> Option<Region> {
        self.regions().iter().find(|region| (region.start..region.end).contains(&address)).copied()
    }

    /// The byte that says whether a page of a region is known.
    fn mark(&self, region: &Region, address: usize) -> *mut u8 {
        let pages = (address & !(PAGE - 1)).saturating_sub(region.start & !(PAGE - 1)) / PAGE;
        (self.known + region.at / PAGE + pages) as *mut u8
    }

    /// Learns the pages of a region from one address up to another that are not known.
    fn learn(&mut self, region: &Region, from: usize, to: usize) -> bool {
        let (from, to) = ((from & !(PAGE - 1)).max(region.start), to.next_multiple_of(PAGE).min(region.end));
        let mut page = from;
        while page < to {
            let next = ((page & !(PAGE - 1)) + PAGE).min(region.end);
            let known = self.mark(region, page);
            // SAFETY: the page's byte; its copy, which nobody else has; the page itself is readable. The place behind the last range.
            unsafe {
                if *known == 0 {
                    *known = 1;
                    let copy = self.copies + region.at + (page - (region.start & !(PAGE - 1)));
                    std::ptr::copy_nonoverlapping(page as *const u8, copy as *mut u8, next - page);
                    self.note(Range { start: page, size: next - page, copy });
                }
            }
            page = next;
        }
        !GUARDED.load(Ordering::Relaxed) || protect(from, to, true)
    }

    /// Adds a range, to the last one where it follows that.
    unsafe fn note(&mut self, new: Range) {
        let place = self.ranges as *mut Range;
        // SAFETY: there is room for a range for each page.
        unsafe {
            if let Some(last) = self.learned.checked_sub(1).map(|last| &mut *place.add(last))
                && (last.start + last.size, last.copy + last.size) == (new.start, new.copy)
            {
                last.size += new.size;
                return;
            }
            place.add(self.learned).write(new);
        }
        self.learned += 1;
    }

    fn learn_all(&mut self) {
        for region in self.regions {
            self.learn(&region, region.start, region.end);
        }
    }

    /// Whether the region has a page that is not known, and this address is in one.
    fn is_unknown(&self, region: &Region, address: usize) -> bool {
        // SAFETY: the page's byte.
        unsafe { *self.mark(region, address) == 0 }
    }
}

fn with<R>(action: impl FnOnce(&mut Pages) -> R) -> R {
    // SAFETY: the lock is held, and `action` does not call this.
    LOCK.hold(|| action(unsafe { &mut *PAGES.0.get() }))
}

/// A search begins: these regions are put back after each run. With `copying` all of them are copied now, and nothing is made read-only.
/// False when there is no memory for the copies.
pub fn begin(regions: impl Iterator<Item = (usize, usize)>, copying: bool) -> bool {
    end();
    with(|pages| {
        let mut at = 0;
        for (start, end) in regions.filter(|(start, end)| start < end) {
            if pages.count == REGIONS {
                return false;
            }
            pages.regions[pages.count] = Region { start, end, at };
            pages.count += 1;
            at += end.next_multiple_of(PAGE) - (start & !(PAGE - 1));
        }
        let (number, flags) = (at / PAGE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        pages.size = at + number.next_multiple_of(PAGE) + number * size_of::<Range>() + PAGE;
        // SAFETY: a new mapping.
        let map = unsafe { sys::call(libc::SYS_mmap, [0, pages.size, 3, flags as usize, usize::MAX, 0]) };
        if map <= 0 {
            pages.count = 0;
            return false;
        }
        pages.copies = map as usize;
        pages.known = pages.copies + at;
        pages.ranges = pages.known + number.next_multiple_of(PAGE);
        pages.learned = 0;
        let small = |region: &Region| copying || region.end - region.start <= SMALL;
        for region in pages.regions().iter().filter(|region| small(region)).copied().collect::<Vec<_>>() {
            pages.learn(&region, region.start, region.end);
        }
        if !copying {
            GUARDED.store(true, Ordering::Relaxed);
            let others = pages.regions().iter().filter(|region| !small(region));
            let refused = others.filter(|region| !protect(region.start, region.end, false)).count();
            if refused > 0 {
                pages.learn_all();
            }
        }
        true
    })
}

/// The search is over: nothing is read-only any more.
pub fn end() {
    GUARDED.store(false, Ordering::Relaxed);
    with(|pages| {
        for region in pages.regions() {
            protect(region.start, region.end, true);
        }
        if pages.copies != 0 {
            // SAFETY: the mapping of `begin`, which nobody uses any more.
            unsafe { sys::call(libc::SYS_munmap, [pages.copies, pages.size, 0, 0, 0, 0]) };
        }
        (pages.count, pages.copies, pages.learned) = (0, 0, 0);
    });
}

/// A write to this address ended in a fault; whether it can go on now.
pub fn fault(address: usize) -> bool {
    if !GUARDED.load(Ordering::Relaxed) {
        return false;
    }
    with(|pages| {
        let Some(region) = pages.find(address).filter(|region| pages.is_unknown(region, address)) else { return false };
        let size = match pages.learned {
            ..FINE => PAGE,
            FINE..COARSE => 16 * PAGE,
            _ => 1024 * PAGE,
        };
        let from = address & !(size - 1);
        if !pages.learn(&region, from, from + size) {
            pages.learn_all();
        }
        true
    })
}

/// Somebody who cannot be stopped by a fault is about to write there: the kernel.
pub fn expect(address: usize, size: usize) {
    if !GUARDED.load(Ordering::Relaxed) || size == 0 {
        return;
    }
    with(|pages| {
        let end = address.saturating_add(size);
        for region in pages.regions().to_vec() {
            let (from, to) = (address.max(region.start), end.min(region.end));
            if from < to {
                pages.learn(&region, from, to);
            }
        }
    });
}

/// From now on there may be no faults: all pages are put back.
pub fn stop_faults() {
    if GUARDED.load(Ordering::Relaxed) {
        with(Pages::learn_all);
        GUARDED.store(false, Ordering::Relaxed);
    }
}

/// Puts everything back.
#[inline]
pub fn restore() {
    // SAFETY: no run is under way, and nobody else changes the ranges.
    let pages = unsafe { &*PAGES.0.get() };
    for range in pages.ranges() {
        // SAFETY: where it was copied from.
        unsafe { std::ptr::copy_nonoverlapping(range.copy as *const u8, range.start as *mut u8, range.size) };
    }
}

/// The pages that runs have written to so far: first address and size.
pub fn written() -> Vec<(usize, usize)> {
    with(|pages| pages.ranges().iter().map(|range| (range.start, range.size)).collect())
}

/// Does something whose effects on what is put back are to stay: a new thread of the runtime's own is one that libc counts, in every run.
pub fn commit<R>(action: impl FnOnce() -> R) -> R {
    let handed_over = kernel::is_on();
    kernel::set(false);
    let (before, regions, guarded) = with(|pages| {
        let guarded = GUARDED.load(Ordering::Relaxed);
        let now = |range: &Range| {
            // SAFETY: known pages, which are readable.
            let bytes = unsafe { std::slice::from_raw_parts(range.start as *const u8, range.size) };
            (*range, Vec::from(bytes))
        };
        let regions = if guarded { pages.regions().to_vec() } else { Vec::new() };
        (pages.ranges().iter().map(now).collect::<Vec<_>>(), regions, guarded)
    });
    // What is not known is equal to what it was when the search began, and stays so whatever is done to it now.
    GUARDED.store(false, Ordering::Relaxed);
    for region in &regions {
        protect(region.start, region.end, true);
    }
    let result = action();
    for (range, bytes) in &before {
        // SAFETY: known pages and their copies.
        let (now, copy) = unsafe {
            let copy = std::slice::from_raw_parts_mut(range.copy as *mut u8, range.size);
            (std::slice::from_raw_parts(range.start as *const u8, range.size), copy)
        };
        for (at, (now, _)) in now.iter().zip(bytes).enumerate().filter(|(_, (now, was))| now != was) {
            copy[at] = *now;
        }
    }
    for region in &regions {
        protect(region.start, region.end, false);
    }
    for (range, _) in before.iter().filter(|_| guarded) {
        protect(range.start, range.start + range.size, true);
    }
    GUARDED.store(guarded, Ordering::Relaxed);
    kernel::set(handed_over);
    result
}
