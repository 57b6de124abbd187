//! `malloc` and its relatives: an arena at a fixed address, with a byte of shadow for every sixteen.
//!
//! Invariant: a shadow byte says whether its sixteen bytes were never handed out, are in use, or were freed; so an access
//! to freed memory is seen as long as the block has not been handed out again. Every thread has a part of the arena and lists
//! of its own, so what `malloc` answers does not depend on what other threads allocate meanwhile: otherwise schedules that differ only in
//! the order of independent steps would differ in addresses, and a reduction would be wrong. A block that another thread frees than the
//! one whose part it is of is for everybody, before what a thread has freed itself; such a `free`, and every `malloc` of that size, are accesses
//! to one object, so strategies know that their order matters. Which freed block is handed out again is a policy, because that decides whether ABA errors can show: handing out the last one freed, as most allocators do,
//! hides the classical one on Treiber's stack.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, Ordering};

use selvedge_explore::{Access, Kind, Pick, Thread, Threads};
use selvedge_protocol::{Cause, FreedBlock, Memory, Reuse, address};

use crate::abi::visible::race;
use crate::arch::site;
use crate::control::{state, with};
use crate::endless::state::differing;
use crate::fiber::{Wants, fail};
use crate::memory::before;
use crate::memory::pool::{self, UNIT};
use crate::point;
use crate::posix::{lifetime, objects};
use crate::race::{Conflict, Touch};

const BASE: usize = address::HEAP as usize;
/// For each thread.
const PART: usize = 64 << 20;
/// For all threads of a run.
const PARTS: usize = PART * Thread::MAX;
/// For those that few runs have more than: the rest can be written to once there are such threads ([`open`]).
const FIRST: usize = PART * Threads::WORD;
/// Where the memory lies that was allocated before the run.
pub const BEFORE: usize = BASE + PARTS;
const SIZE: usize = PARTS + before::SIZE;
const SHADOW: usize = 0x6100_0000_0000;
/// Shadow behind the last unit, which is read and written along with it.
const SPARE: usize = 8;
/// Blocks of up to this many units are kept in lists by size.
const CLASSES: usize = 128;

/// How much of a block is looked at when it is freed.
const TOUCHED_MAX: usize = 4096;

/// What new memory holds.
const JUNK: u8 = 0xbe;

/// What the shadow says of sixteen bytes.
pub const UNUSED: u8 = 0;
/// In a block.
pub const IN_USE: u8 = 1;
/// In a block that was freed.
pub const FREED: u8 = 2;

/// Freed blocks by size, oldest first.
struct Lists {
    blocks: Vec<VecDeque<usize>>,
    /// The sizes of which there are blocks, one bit each: most have none, and are asked for all the time.
    some: [u64; CLASSES / 64 + 1],
}

impl Default for Lists {
    fn default() -> Self {
        Lists { blocks: vec![VecDeque::new(); CLASSES + 1], some: [0; CLASSES / 64 + 1] }
    }
}

impl Lists {
    /// Whether there is a block of that many units, of which there are at most [`CLASSES`].
    #[inline(always)]
    fn has(&self, units: usize) -> bool {
        self.some[units / 64] >> (units % 64) & 1 != 0
    }

    fn push(&mut self, units: usize, block: usize) {
        self.some[units / 64] |= 1 << (units % 64);
        self.blocks[units].push_back(block);
    }

    /// Takes a block out: the newest or the oldest.
    fn take(&mut self, units: usize, newest: bool) -> Option<usize> {
        let list = &mut self.blocks[units];
        let block = if newest { list.pop_back() } else { list.pop_front() };
        if list.is_empty() {
            self.some[units / 64] &= !(1 << (units % 64));
        }
        block
    }

    /// Forgets all blocks, and keeps the memory for the next run's.
    fn clear(&mut self) {
        for (word, bits) in self.some.iter_mut().enumerate() {
            while *bits != 0 {
                self.blocks[word * 64 + bits.trailing_zeros() as usize].clear();
                *bits &= *bits - 1;
            }
        }
    }
}

/// The bookkeeping, outside of the arena so that a wild write cannot reach it.
#[derive(Default)]
struct Part {
    used: usize,
    free: Lists,
}

/// One part for each thread that has ever allocated.
#[derive(Default)]
struct Arena {
    parts: Vec<Part>,
    /// Blocks that other threads freed.
    shared: Lists,
    /// Blocks from before the run that it has freed, and how many units each has.
    gone: Vec<(usize, usize)>,
}

struct Cell(UnsafeCell<Option<Arena>>);

// SAFETY: used by code under control only, which is one kernel thread; no borrow outlives a call here.
unsafe impl Sync for Cell {}

static ARENA: Cell = Cell(UnsafeCell::new(None));

#[inline(always)]
fn arena() -> &'static mut Arena {
    #[cold]
    fn first() -> Option<Arena> {
        Some(Arena::default())
    }
    // SAFETY: one kernel thread runs code under control, or searches while none does; no borrow outlives the work of a call.
    let arena = unsafe { &mut *ARENA.0.get() };
    if arena.is_none() {
        *arena = first();
    }
    // SAFETY: there is one now.
    unsafe { arena.as_mut().unwrap_unchecked() }
}

/// Maps the arena, but for what grows of itself. False when its addresses are taken.
pub fn map() -> bool {
    const NEW: u8 = 0;
    const DONE: u8 = 1;
    const FAILED: u8 = 2;
    static MAPPED: AtomicU8 = AtomicU8::new(NEW);
    match MAPPED.load(Ordering::Relaxed) {
        NEW => {
            // The first call is made before there is a second thread.
            let parts = pool::map(BASE, FIRST) && pool::reserve(BASE + FIRST, PARTS - FIRST);
            let done = parts && pool::map(SHADOW, SIZE / UNIT + SPARE);
            MAPPED.store(if done { DONE } else { FAILED }, Ordering::Relaxed);
            done
        }
        state => state == DONE,
    }
}

/// Sees to it that the thread with that number has a part; false when the system has no more memory.
pub fn open(thread: usize) -> bool {
    thread < Threads::WORD || pool::open(BASE + thread * PART, PART)
}

/// The part of that thread.
#[inline(always)]
fn part_of(arena: &mut Arena, thread: usize) -> &mut Part {
    if arena.parts.len() <= thread {
        add_parts(&mut arena.parts, thread);
    }
    &mut arena.parts[thread]
}

#[cold]
fn add_parts(parts: &mut Vec<Part>, thread: usize) {
    parts.resize_with(thread + 1, Part::default);
}

/// Everything that the run allocated is free again, and everything that it freed of what there was before is not.
pub fn reset() {
    arena().shared.clear();
    for (block, units) in arena().gone.drain(..) {
        mark(block, units, IN_USE);
    }
    for (number, part) in arena().parts.iter_mut().enumerate() {
        if part.used > 0 {
            // SAFETY: the shadow of what was handed out.
            unsafe { std::ptr::write_bytes(shadow(BASE + number * PART), 0, part.used / UNIT + 1) };
            part.used = 0;
            part.free.clear();
        }
    }
}

/// Everything that was allocated, as it was at some moment.
pub struct Image {
    parts: Vec<Copied>,
    free: Vec<VecDeque<usize>>,
}

/// What a part held, and what was said of it.
struct Copied {
    bytes: Box<[u8]>,
    shadow: Box<[u8]>,
}

/// More than that is not kept.
const IMAGE_MAX: usize = 16 << 20;

/// What was handed out of each part, and its shadow.
fn handed_out() -> impl Iterator<Item = (&'static [u8], &'static [u8])> {
    arena().parts.iter().enumerate().map(|(number, part)| {
        let start = BASE + number * PART;
        // SAFETY: inside the arena, which is mapped.
        unsafe {
            let bytes = std::slice::from_raw_parts(start as *const u8, part.used);
            (bytes, std::slice::from_raw_parts(shadow(start), part.used / UNIT + 1))
        }
    })
}

/// The lists of freed blocks, in an order that is always the same.
fn freed() -> impl Iterator<Item = &'static VecDeque<usize>> {
    let arena = arena();
    arena.parts.iter().map(|part| &part.free).chain([&arena.shared]).flat_map(|lists| &lists.blocks)
}

impl Image {
    /// As it is now; `None` where that is too much.
    pub fn now() -> Option<Self> {
        if arena().parts.iter().map(|part| part.used).sum::<usize>() > IMAGE_MAX {
            return None;
        }
        let copy = |(bytes, shadow): (&[u8], &[u8])| Copied { bytes: bytes.into(), shadow: shadow.into() };
        let parts = handed_out().map(copy).collect();
        Some(Image { parts, free: freed().cloned().collect() })
    }

    /// Adds the words that are not as they were; false where they are too many, or other blocks are in use.
    pub fn differs(&self, words: &mut Vec<u64>) -> bool {
        if arena().parts.len() != self.parts.len() || !self.free.iter().eq(freed()) {
            return false;
        }
        self.parts.iter().zip(handed_out()).enumerate().all(|(number, (then, (bytes, shadow)))| {
            let same = then.bytes.len() == bytes.len() && *then.shadow == *shadow;
            same && differing(BASE + number * PART, &then.bytes, bytes, words)
        })
    }
}

/// Whether an address lies in the arena.
#[inline(always)]
pub fn inside(address: usize) -> bool {
    address.wrapping_sub(BASE) < SIZE
}

#[inline(always)]
fn shadow(address: usize) -> *mut u8 {
    (SHADOW + (address - BASE) / UNIT) as *mut u8
}

/// Fills units that begin at this address with what new memory holds: what an earlier run left there must not be seen. Blocks are small, and calling
/// `memset` for a few bytes costs more than writing them.
#[inline(always)]
fn fill(block: usize, units: usize) {
    // SAFETY: the block lies inside the arena.
    unsafe {
        if units > 16 {
            std::ptr::write_bytes(block as *mut u8, JUNK, units * UNIT);
        } else {
            let words = block as *mut u128;
            (0..units).for_each(|word| words.add(word).write_volatile(u128::from_ne_bytes([JUNK; UNIT])));
        }
    }
}

/// Says of units that begin at this address what they are; as with [`fill`], without a call if there are few.
#[inline(always)]
pub fn mark(address: usize, units: usize, state: u8) {
    let at = shadow(address);
    // SAFETY: the shadow of units inside the arena, and there is room behind the last one.
    unsafe {
        if units > 8 {
            std::ptr::write_bytes(at, state, units);
        } else {
            // Eight at once, of which those behind the last unit stay as they are.
            let (word, others) = (at.cast::<u64>(), (u64::MAX - 0xff).wrapping_shl((8 * units as u32).wrapping_sub(8)));
            let all = u64::from_ne_bytes([state; 8]);
            word.write_unaligned(word.read_unaligned() & others | all & !others);
        }
    }
}

/// Whether an address lies in a block that was freed and not handed out again.
pub fn is_freed(address: usize) -> bool {
    // SAFETY: shadow of an address inside the arena.
    inside(address) && unsafe { *shadow(address) } == FREED
}

/// Whether a block that is in use begins at an address inside the arena.
pub fn is_block(address: usize) -> bool {
    // SAFETY: shadow of an address inside the arena.
    address.is_multiple_of(UNIT) && unsafe { *shadow(address) == IN_USE && *shadow(address - UNIT) != IN_USE }
}

/// Whether an access touches no arena memory that is not in use, as far as that is seen at a glance.
#[inline(always)]
pub fn in_use(address: usize, size: usize) -> bool {
    !inside(address)
        // SAFETY: shadow of an address inside the arena.
        || size <= UNIT - address % UNIT && unsafe { *shadow(address) } == IN_USE
}

/// Stops the run if an access touches arena memory that is not in use.
#[inline(always)]
pub fn check(address: usize, size: usize, write: bool, pc: u64) {
    if !in_use(address, size) {
        check_inside(address, size, write, pc);
    }
}

#[inline(never)]
fn check_inside(address: usize, size: usize, write: bool, pc: u64) {
    let Some(more) = size.checked_sub(1) else { return };
    let last = address.saturating_add(more);
    // SAFETY: shadow of addresses inside the arena.
    let (first, end) = unsafe { (*shadow(address), if inside(last) { *shadow(last) } else { 0 }) };
    if first == IN_USE && end == IN_USE {
        return;
    }
    let freed = first == FREED || end == FREED;
    fail(Cause::Access { write, size: size as u64, address: address as u64, freed }, pc);
}

/// A freed block of that many units, as the policy has it.
#[inline(always)]
fn reuse(thread: usize, units: usize, pc: u64) -> Option<usize> {
    // SAFETY: there is a state, because code under control calls; nothing borrows it meanwhile.
    let reuse = unsafe { state() }.search.settings.reuse;
    if units > CLASSES || reuse == Reuse::Quarantine {
        return None;
    }
    let arena = arena();
    let shared = arena.shared.has(units);
    let any = shared || part_of(arena, thread).free.has(units);
    note_reuse(units, shared);
    if any { reuse_one(reuse, units, shared, pc) } else { None }
}

/// The freed blocks: those that other threads freed, or those of the thread itself.
fn lists(shared: bool) -> &'static mut Lists {
    // SAFETY: there is a state, because code under control calls; nothing borrows it meanwhile.
    let thread = unsafe { state() }.run.current;
    if shared { &mut arena().shared } else { &mut part_of(arena(), thread).free }
}

/// One of some blocks.
#[inline(never)]
fn reuse_one(reuse: Reuse, units: usize, shared: bool, pc: u64) -> Option<usize> {
    let newest = match reuse {
        Reuse::Quarantine => return None,
        Reuse::Fifo => false,
        Reuse::Lifo => true,
        Reuse::Branch if lists(shared).blocks[units].len() < 2 => true,
        Reuse::Branch => {
            point::arrive(point::nothing(), Wants::Nothing, pc);
            with(|control| {
                let chosen = control.pick(2);
                control.run.trace.pick(Pick { chosen, options: 2 });
                point::finish(control, None, false, None);
                chosen == 0
            })
        }
    };
    // Others may have taken and given some meanwhile.
    lists(shared).take(units, newest)
}

/// What `malloc` answers depends on what other threads have freed, and so belongs to the step that it follows. What happens while there is
/// one thread only comes before everything that others do.
#[inline(always)]
fn note_reuse(units: usize, changed: bool) {
    // SAFETY: there is a state, because code under control calls; nothing borrows it meanwhile.
    let mut control = unsafe { state() };
    if control.run.created > 1 {
        let kind = if changed { Kind::Update } else { Kind::Read };
        control.run.trace.amend(Access::new(objects::heap(units), 1, kind));
    }
}

/// Keeps a freed block for those who may have it.
fn keep(block: usize, units: usize) {
    let owner = (block - BASE) / PART;
    // SAFETY: there is a state, because code under control calls; nothing borrows it meanwhile.
    if unsafe { state() }.run.current == owner {
        part_of(arena(), owner).free.push(units, block);
        return;
    }
    note_reuse(units, true);
    arena().shared.push(units, block);
}

/// From so many bytes on every allocator answers that there is not that much memory.
const NOBODY_HAS: usize = 1 << 46;

/// Ends the run: the thread's part is full. The code under test would see an error that it does not meet outside.
#[cold]
#[inline(never)]
fn full(pc: u64) -> ! {
    fail(Cause::Memory { max: PART as u64, of: Memory::Heap }, pc);
}

/// A block for the thread that runs; null where nobody would get that much.
pub fn allocate(size: usize, align: usize) -> *mut c_void {
    let pc = site::pc();
    if size >= NOBODY_HAS {
        return std::ptr::null_mut();
    }
    if size >= PART - UNIT {
        full(pc);
    }
    let rounded = size.max(1).next_multiple_of(UNIT);
    let units = rounded / UNIT;
    // SAFETY: there is a state, because code under control calls; nothing borrows it meanwhile.
    let thread = unsafe { state() }.run.current;
    let reused = if align <= UNIT { reuse(thread, units, pc) } else { None };
    let block = match reused {
        Some(block) => block,
        None => {
            let (base, part) = (BASE + thread * PART, part_of(arena(), thread));
            // One unit before every block: its size, and a gap that shows accesses past the end of the block before.
            // Alignments are powers of two, which a division would not know.
            let mask = align.max(UNIT) - 1;
            let block = (base + part.used + UNIT + mask) & !mask;
            if block + rounded > base + PART - UNIT {
                full(pc);
            }
            part.used = block + rounded - base;
            fill(block, units);
            block
        }
    };
    // SAFETY: the unit before the block lies inside the arena.
    unsafe {
        ((block - UNIT) as *mut usize).write(rounded);
        ((block - UNIT) as *mut usize).add(1).write(size);
    }
    mark(block, units, IN_USE);
    // SAFETY: there is a state, because code under control calls; nothing borrows it meanwhile.
    let mut borrowed = unsafe { state() };
    let control = &mut *borrowed;
    control.fiber().effect();
    if control.run.races.on && reused.is_some() {
        let current = control.run.current;
        control.run.races.forget(&mut control.process.shadow, current, block as u64, rounded as u64);
    }
    block as *mut c_void
}

/// The thread that runs frees a block.
pub fn release(block: usize, pc: u64) {
    // SAFETY: shadow of an address inside the arena.
    let found = unsafe { *shadow(block) };
    if !is_block(block) {
        free_of_none(block, found, pc);
    }
    // SAFETY: the unit before a block in use holds its size.
    let units = unsafe { *((block - UNIT) as *const usize) } / UNIT;
    mark(block, units, FREED);
    if block >= BEFORE {
        arena().gone.push((block, units));
    }
    // SAFETY: there is a state, because code under control calls; the borrow ends before anything fails.
    let mut control = unsafe { state() };
    control.fiber().effect();
    // The block's end follows from the thread's last step without a decision in between, and conflicts with every access to it.
    let end = Access { changed: false, ..Access::new(block as u64, (units * UNIT) as u32, Kind::Write) };
    control.run.trace.amend(end);
    if !control.run.objects.in_heap.is_empty() {
        lifetime::freed(&mut control, block, units * UNIT);
    }
    let looked_at = control.run.races.on;
    drop(control);
    if looked_at {
        look_for_races(block, pc);
    }
    if units <= CLASSES {
        keep(block, units);
    }
}

/// Ends the run: what is freed is no block that is in use.
#[cold]
#[inline(never)]
fn free_of_none(block: usize, found: u8, pc: u64) -> ! {
    let found = match found {
        FREED => FreedBlock::Free,
        IN_USE => FreedBlock::Middle,
        _ => FreedBlock::Nothing,
    };
    fail(Cause::BadFree { address: block as u64, block: found }, pc);
}

/// Ends the run if the end of a block races with an access to it.
#[inline(never)]
fn look_for_races(block: usize, pc: u64) {
    let (touch, conflict) = with(|control| {
        // Where races are allowed, schedules tell which of an access that is a step and the end comes first.
        let allowed = !control.search.settings.races;
        let touch = Touch::new(block as u64, size_of_block(block).min(TOUCHED_MAX) as u64, true, allowed, pc);
        let current = control.run.current;
        (touch, control.run.races.freed(&mut control.process.shadow, current, touch))
    });
    if touch.what.atomic()
        && let Some(other) = conflict
    {
        race(touch, Conflict::with(other));
    }
    if let Some(Conflict { thread, pc: other, write, .. }) = conflict.map(Conflict::with) {
        with(|control| control.races_with(thread, other));
        fail(Cause::FreeRace { block: block as u64, write, thread, pc: other }, pc);
    }
}

/// The size that was asked for.
pub fn size_of_block(block: usize) -> usize {
    // SAFETY: the unit before a block holds its size.
    unsafe { *((block - UNIT) as *const usize).add(1) }
}
