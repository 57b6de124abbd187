//! Recognises loops that only try again, so that attempts that fail are not explored.
//!
//! An *attempt* begins with an atomic load and does nothing but read (and write to its own stack) until it comes to a compare and
//! exchange that fails, or to a load that no longer finds what an earlier load of the attempt found; the code then starts over.
//! If the failure leaves nothing behind, the run is the same as one in which the thread began its attempt later. So the thread
//! *waits* at the access for the value that it expects, and a run in which it waits for ever is given up: not a deadlock,
//! because the thread could go on, and not lost, as follows. Known elsewhere as the elimination of pure loops or spin-assume
//! (Flanagan, Freund and Qadeer, *Exploiting purity for atomicity*, 2005; Kokologiannakis, Ren and Vafeiadis, *Dynamic
//! partial order reductions for spinloops*, FMCAD 2021); here it is told from the running code, without its source.
//!
//! **Why nothing is lost.** Fix the set of accesses (by their instruction) at which threads wait. The program in which they wait is
//! a program like any other, and the reduction explores all of it: a thread that waits counts with its pending access. Take an
//! execution E of the program as it is, and leave out every attempt that fails at one of those accesses. What is left is an
//! execution of the waiting program, provided that each thread, after a failure, comes to be what it would have been without
//! the attempt. That is what is checked, on the running code: two copies of the thread, one after the failure and one before the
//! attempt, go side by side through whatever they read, and must become the same (`tree`) before they do anything but
//! read. Which values may they find in E? Before the thread of E fails and while it starts over, the other threads do what they
//! also do in an execution of the waiting program where this thread waits at the access (by induction; the attempt's reads change
//! nothing for the others). The reduction runs that execution, or an equivalent one, which has the same values of each location
//! in the same order. So it is enough to look, in every run in which a thread waits and after every step, at
//! every combination of values that the locations read have had in that run. If ever one of them leaves something behind, the access
//! is struck off the set for good, and the search starts over without it: what remains at the end has been checked throughout.
//! Plain memory is looked at as it is after each step; a plain read that could find something else is a data race.
//!
//! What the attempt does before it fails is really done in the run where the thread waits, so data races and uses of freed
//! memory in it are seen. A thread that waits at the end of a run must be one that would do more than read if it began the
//! attempt now; a lock that is never released is therefore still a livelock.
//!
//! Invariant: whether an access waits depends only on the set and on what its own thread has done.

pub mod call;
pub mod excursion;
pub mod look;
mod tree;

use std::collections::HashMap;

use selvedge_explore::{Access, Condition, Threads};

use crate::arch::site::Preserved;
use crate::arch::step;
use crate::control::{Control, Left};
use crate::fiber::Wants;
use crate::memory::arena;

use excursion::{Lane, State, Stop};
use tree::{Attempt, Forest, Found, Looked};

/// An attempt has at most so many reads.
const READS_MAX: usize = 24;

/// How an access tells its caller that it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// A load: by what it answers.
    Load,
    /// An exchange that answers what it found.
    Answer,
    /// An exchange that stores what it found at this address.
    Stored(u64),
}

/// What is known of an access of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    /// It has not failed yet. Whether it once found the value that it expected after the value had changed.
    Unknown { returned: bool },
    /// Failures leave nothing behind, so far. The load that attempts begin with, and whether failures lead back to it.
    Pure { head: u64, back: bool },
    /// Failures matter.
    Matters,
}

/// A load of the attempt under way.
#[derive(Default)]
struct Point {
    state: State,
    /// Its place among the reads.
    read: usize,
    /// Its place in the trace.
    step: usize,
}

/// The access that a thread is at, if it could fail.
#[derive(Clone, Copy, Debug)]
struct Attached {
    pc: u64,
    registers: (u64, Preserved),
    failure: Failure,
    cell: u64,
    size: u8,
    expected: u64,
    /// Whether the thread waits there until it would succeed.
    waits: bool,
    /// The attempt, once it would have failed.
    root: Option<usize>,
}

/// What a thread read since it last did anything else.
#[derive(Default)]
pub struct Trail {
    points: Vec<Point>,
    used: usize,
    reads: Vec<Found>,
    /// How many steps the thread had made after the last point.
    made: u32,
    attached: Option<Attached>,
    looked: Looked,
}

impl Trail {
    /// The thread did something that is more than reading.
    #[inline(always)]
    pub fn clear(&mut self) {
        // What was read counts from the first point on.
        if self.used > 0 {
            self.used = 0;
            self.reads.clear();
        }
    }

    /// Whether it has read nothing.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.clear();
        self.attached = None;
    }

    /// A plain access that is not a write to foreign memory is about to be made.
    #[inline]
    pub fn plain(&mut self, address: u64, size: usize, write: bool) {
        if self.used > 0 && !write {
            self.plain_read(address, size);
        }
    }

    fn plain_read(&mut self, address: u64, size: usize) {
        let own = &self.points[0].state;
        if address >= own.sp.saturating_sub(1 << 16) && address < own.sp + own.stack.len() as u64 {
            return;
        }
        if size > 16 || self.reads.len() >= READS_MAX || !readable(address, size as u64) {
            return self.clear();
        }
        let mut bytes = [0; 16];
        // SAFETY: memory of the code under test that is mapped.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size) };
        self.reads.push(Found { pc: 0, address, size: size as u8, bytes });
    }

    /// Where an attempt began that ends with an access to a location: with the last load at that instruction, unless it did not
    /// load the location (the access itself then tells something new, such as a data race).
    fn attempt(&self, head: u64, back: bool, cell: u64, size: u8) -> Option<usize> {
        let point = self.point(head)?;
        let (load, _) = self.load_of(cell, size)?;
        (if back { load >= point } else { load == point }).then_some(point)
    }

    /// The last load at an instruction, if the attempt has one.
    fn point(&self, pc: u64) -> Option<usize> {
        (0..self.used).rev().find(|&at| self.points[at].state.pc == pc)
    }

    /// The last load of a location, and what it found.
    fn load_of(&self, address: u64, size: u8) -> Option<(usize, u64)> {
        let of = |&at: &usize| {
            let read = &self.reads[self.points[at].read];
            (read.address, read.size) == (address, size)
        };
        let at = (0..self.used).rev().find(of)?;
        let bytes = &self.reads[self.points[at].read].bytes[..8];
        Some((at, u64::from_le_bytes(bytes.try_into().expect("eight bytes"))))
    }
}

/// What is known about the loops of a test.
#[derive(Default)]
pub struct Retries {
    /// Whether loops are looked at.
    pub on: bool,
    sites: HashMap<u64, Site, foldhash::fast::FixedState>,
    forest: Forest,
}

/// The threads of the run that are in such loops.
#[derive(Default)]
pub struct Attempts {
    /// The threads that are at an access that could fail.
    pub attached: Threads,
    /// The threads that are at an access that may be a look in vain ([`look`]).
    pub looking: Threads,
    /// Whether something that was taken for granted about a look is not so.
    pub starts_over: bool,
    /// Waits of this run that ended.
    over: Vec<Over>,
}

impl Attempts {
    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.attached.clear();
        self.looking.clear();
        self.starts_over = false;
        self.over.clear();
    }

    /// Whether there is anything to look at after a step.
    #[inline]
    pub fn is_watching(&self) -> bool {
        !self.attached.is_empty() || !self.over.is_empty() || !self.looking.is_empty() || self.starts_over
    }

    /// Whether a thread is at an access that it may have to wait for.
    #[inline]
    pub fn is_waited_for(&self) -> bool {
        !self.attached.is_empty() || !self.looking.is_empty()
    }
}

/// A wait that ended because the value came back. In an equivalent run it may have lasted longer.
struct Over {
    thread: usize,
    pc: u64,
    root: usize,
    /// How many steps there were at its end.
    steps: usize,
    looked: Looked,
}

impl Retries {
    /// A new search.
    pub fn enable(&mut self, on: bool) {
        self.sites.clear();
        self.forest.clear();
        self.on = on && step::prepare();
    }

    /// Nobody is in an attempt: too many that are known are forgotten.
    pub fn prune(&mut self) {
        self.forest.prune();
    }

    fn site(&self, pc: u64) -> Site {
        self.sites.get(&pc).copied().unwrap_or(Site::Unknown { returned: false })
    }
}

/// Whether an address may be read without risk.
pub fn readable(address: u64, size: u64) -> bool {
    arena::inside(address as usize) && arena::inside((address + size) as usize) || excursion::in_modules(address, size)
}

/// The word of that size at an address.
///
/// # Safety
/// The address was found readable, or the code under test is about to access it.
pub unsafe fn value_at(address: u64, size: u8) -> u64 {
    // SAFETY: the caller says that it can be read; it need not be aligned.
    unsafe {
        match size {
            1 => u64::from(*(address as *const u8)),
            2 => u64::from((address as *const u16).read_unaligned()),
            4 => u64::from((address as *const u32).read_unaligned()),
            _ => (address as *const u64).read_unaligned(),
        }
    }
}

/// The current thread is at an access that may fail; what it needs to go on.
#[inline]
pub fn arrive(
    control: &mut Control,
    pc: u64,
    registers: (u64, Preserved),
    access: &mut Access,
    failure: Failure,
) -> Wants {
    let current = control.run.current;
    let fiber = &mut control.process.fibers[current];
    if fiber.trail.used == 0 || access.size > 8 {
        return Wants::Nothing;
    }
    if fiber.trail.made != fiber.made {
        fiber.trail.clear();
        return Wants::Nothing;
    }
    let (cell, size) = (access.object, access.size as u8);
    let expected = match (failure, access.condition) {
        (Failure::Load, _) => fiber.trail.load_of(cell, size).map(|(_, value)| value),
        (_, Condition::Equals(value)) => Some(value),
        _ => None,
    };
    let Some(expected) = expected else { return Wants::Nothing };
    let waits = match control.search.retries.site(pc) {
        Site::Matters => return Wants::Nothing,
        Site::Unknown { .. } => false,
        Site::Pure { head, back } if fiber.trail.attempt(head, back, cell, size).is_none() => return Wants::Nothing,
        Site::Pure { .. } => true,
    };
    if let Failure::Load = failure
        && waits
    {
        access.condition = Condition::Equals(expected);
    }
    access.waits = waits;
    fiber.trail.attached = Some(Attached { pc, registers, failure, cell, size, expected, waits, root: None });
    control.run.attempts.attached.insert(current);
    if waits { Wants::Value(cell as usize, size, expected) } else { Wants::Nothing }
}

/// The current thread makes its access. Answers whether it waited for it, and the value that it waited for.
pub fn leave(control: &mut Control) -> Option<u64> {
    let current = control.run.current;
    let fiber = &mut control.process.fibers[current];
    let attached = fiber.trail.attached.take()?;
    control.run.attempts.attached.remove(current);
    if let Some(root) = attached.root {
        let looked = std::mem::take(&mut fiber.trail.looked);
        // A location of its own cannot have another value before the thread has made this step.
        if looked.atomic.iter().any(|&(address, _)| address != attached.cell) {
            let steps = control.run.trace.len();
            control.run.attempts.over.push(Over { thread: current, pc: attached.pc, root, steps, looked });
        }
    }
    if attached.waits {
        return Some(attached.expected);
    }
    let Site::Unknown { returned: false } = control.search.retries.site(attached.pc) else { return None };
    let since = fiber.trail.points[..fiber.trail.used].first()?.step;
    let cell = Access::new(attached.cell, attached.size.into(), selvedge_explore::Kind::Read);
    let changes = |at: usize| {
        let mut accesses = control.run.trace.accesses(at).iter();
        accesses.any(|access| access.changed && !access.is_read() && access.overlaps(&cell))
    };
    if (since..control.run.trace.len()).any(changes) {
        control.search.retries.sites.insert(attached.pc, Site::Unknown { returned: true });
    }
    None
}

/// The current thread made an atomic load, its last step.
pub fn read(control: &mut Control, pc: u64, registers: (u64, Preserved), access: &Access) {
    let step = control.run.trace.len() - 1;
    let fiber = control.fiber();
    let (made, top) = (fiber.made, fiber.top);
    let trail = &mut fiber.trail;
    if trail.used > 0 && (trail.made + 1 != made || trail.reads.len() >= READS_MAX) {
        trail.clear();
    }
    if access.size > 8 {
        return trail.clear();
    }
    if trail.points.len() == trail.used {
        trail.points.push(Point::default());
    }
    let point = &mut trail.points[trail.used];
    if !point.state.capture(pc, registers, top) {
        return trail.clear();
    }
    (point.read, point.step) = (trail.reads.len(), step);
    trail.used += 1;
    trail.made = made;
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&access.old.to_le_bytes());
    trail.reads.push(Found { pc, address: access.object, size: access.size as u8, bytes });
}

fn lane(control: &Control, thread: usize) -> Lane {
    let fiber = &control.process.fibers[thread];
    Lane {
        bottom: fiber.bottom,
        top: fiber.top,
        low: fiber.context.stack,
        thread_pointer: fiber.context.thread_pointer,
    }
}

/// Every value that a location may have had, in this run or an equivalent one, since the thread last looked or was created;
/// `None` when accesses of other sizes overlap it. What the thread itself did after so many steps does not count.
fn values(control: &Control, thread: usize, steps: usize, address: u64, size: u8) -> Option<Vec<u64>> {
    if !readable(address, size.into()) {
        return None;
    }
    let cell = Access::new(address, size.into(), selvedge_explore::Kind::Read);
    // SAFETY: it was found readable above.
    let mut found = vec![unsafe { value_at(address, size) }];
    for at in (0..control.run.trace.len()).rev() {
        let step = control.run.trace.step(at);
        if step.created.is_some_and(|created| created.index() == thread) {
            break;
        }
        let own = step.thread.index() == thread;
        if own && at >= steps {
            continue;
        }
        for access in control.run.trace.accesses(at).iter().filter(|access| access.overlaps(&cell)) {
            if own && access.size != 0 && access.object == address {
                return Some(found);
            }
            if !access.changed || access.is_read() {
                continue;
            }
            if (access.object, access.size) != (address, size.into()) {
                return None;
            }
            if !found.contains(&access.old) {
                found.push(access.old);
            }
        }
    }
    Some(found)
}

/// Looks at the threads whose access would fail now, or has once. False when the search has to start over.
#[cold]
pub fn review(control: &mut Control) -> bool {
    if control.run.attempts.starts_over {
        return false;
    }
    let mut rest = control.run.attempts.attached.clone();
    while let Some(thread) = rest.pop() {
        let Some(attached) = control.process.fibers[thread].trail.attached else { continue };
        // SAFETY: the thread is about to access the cell. What it would find in vain it does not fail at.
        let fails = unsafe { value_at(attached.cell, attached.size) } != attached.expected
            && control.process.fibers[thread].look.is_none_or(|look| !look.vain);
        let due = match attached.root {
            None => fails,
            Some(_) => has_changed(control, &control.process.fibers[thread].trail.looked),
        };
        if due && !examine(control, thread, attached) {
            return false;
        }
    }
    (0..control.run.attempts.over.len()).all(|at| review_over(control, at))
}

/// Looks at a wait that ended. False when the search has to start over.
fn review_over(control: &mut Control, at: usize) -> bool {
    if !has_changed(control, &control.run.attempts.over[at].looked) {
        return true;
    }
    let Over { thread, pc, root, steps, .. } = control.run.attempts.over[at];
    let lane = lane(control, thread);
    let mut forest = std::mem::take(&mut control.search.retries.forest);
    let mut looked = std::mem::take(&mut control.run.attempts.over[at].looked);
    looked.clear();
    let all = |address, size| values(control, thread, steps, address, size);
    let pure = forest.leaves_nothing(&lane, root, &all, &mut looked);
    control.search.retries.forest = forest;
    control.run.attempts.over[at].looked = looked;
    if !pure {
        control.search.retries.sites.insert(pc, Site::Matters);
    }
    pure
}

/// Whether something that the last examination looked at is not as it was.
fn has_changed(control: &Control, looked: &Looked) -> bool {
    let last = control.run.trace.len().checked_sub(1);
    let changes = |access: &Access| {
        let end = access.object.saturating_add(u64::from(access.size));
        let overlaps = |&(address, size): &(u64, u8)| address < end && access.object < address + u64::from(size);
        access.changed && !access.is_read() && looked.atomic.iter().any(overlaps)
    };
    last.is_some_and(|last| control.run.trace.accesses(last).iter().any(changes))
        || looked.plain.iter().any(|&(address, size, value)| tree::plain_value(address, size) != Some(value))
}

/// Finds out whether the failure of a thread's access leaves nothing behind. False when the search has to start over.
fn examine(control: &mut Control, thread: usize, attached: Attached) -> bool {
    let site = control.search.retries.site(attached.pc);
    if site == Site::Matters {
        release(control, thread);
        return true;
    }
    let lane = lane(control, thread);
    let mut forest = std::mem::take(&mut control.search.retries.forest);
    let found =
        attached.root.map(|root| (root, site)).or_else(|| begin(control, &mut forest, &lane, thread, attached, site));
    let mut looked = std::mem::take(&mut control.process.fibers[thread].trail.looked);
    looked.clear();
    let pure = found.filter(|&(root, _)| {
        let all = |address, size| values(control, thread, usize::MAX, address, size);
        // A loop that waits for another thread, as for a lock, is none that tries again; it is looked for when it is new.
        forest.leaves_nothing(&lane, root, &all, &mut looked)
            && (matches!(site, Site::Pure { .. }) || forest.goes_on(&lane, root))
    });
    control.search.retries.forest = forest;
    control.process.fibers[thread].trail.looked = looked;
    match (pure, site) {
        (Some((root, now)), _) => {
            control.search.retries.sites.insert(attached.pc, now);
            hold(control, thread, Attached { waits: true, root: Some(root), ..attached });
            site != Site::Unknown { returned: true }
        }
        (None, _) => {
            control.search.retries.sites.insert(attached.pc, Site::Matters);
            release(control, thread);
            matches!(site, Site::Unknown { .. })
        }
    }
}

/// The attempt that is about to fail, and what kind of loop it is.
fn begin(
    control: &Control,
    forest: &mut Forest,
    lane: &Lane,
    thread: usize,
    attached: Attached,
    site: Site,
) -> Option<(usize, Site)> {
    let trail = &control.process.fibers[thread].trail;
    let Attached { pc, registers, failure, cell, size, expected, .. } = attached;
    let mut at = State::default();
    if !at.capture(pc, registers, lane.top) {
        return None;
    }
    let attempt = |point: usize, back: bool, at: State| {
        let Point { state, read, .. } = &trail.points[point];
        Attempt { head: state.clone(), reads: trail.reads[*read..].to_vec(), at, failure, cell, size, expected, back }
    };
    if let Site::Pure { head, back } = site {
        let point = trail.attempt(head, back, cell, size)?;
        return Some((forest.root(lane, attempt(point, back, at)), site));
    }
    let first = attempt(0, true, at);
    // SAFETY: the thread is about to access the cell.
    let found = unsafe { value_at(cell, size) };
    let Stop::At(call, state) = tree::after_failure(lane, &first, found) else { return None };
    let back = trail.point(state.pc).filter(|&point| {
        let read = &trail.reads[trail.points[point].read];
        call.function == call::Function::Load(read.size) && call.arguments[0] == read.address
    });
    let begins = match (back, failure) {
        (Some(point), _) => point,
        (None, Failure::Load) => return None,
        (None, _) => trail.load_of(cell, size)?.0,
    };
    let (head, back) = (trail.points[begins].state.pc, back.is_some());
    let point = trail.attempt(head, back, cell, size)?;
    Some((forest.root(lane, attempt(point, back, first.at)), Site::Pure { head, back }))
}

/// The thread waits at its access.
fn hold(control: &mut Control, thread: usize, attached: Attached) {
    control.run.attempts.looking.remove(thread);
    let fiber = &mut control.process.fibers[thread];
    fiber.look = None;
    fiber.trail.attached = Some(attached);
    fiber.wants = Wants::Value(attached.cell as usize, attached.size, attached.expected);
    control.run.waiting.insert(thread);
    if let Some(slot) = control.slot(thread) {
        let access = &mut control.run.pending[slot].access;
        access.waits = true;
        access.condition = Condition::Equals(attached.expected);
    }
}

/// The thread's access may fail like any other.
fn release(control: &mut Control, thread: usize) {
    control.run.attempts.attached.remove(thread);
    let fiber = &mut control.process.fibers[thread];
    if let Some(attached) = fiber.trail.attached.take()
        && attached.waits
    {
        fiber.wants = Wants::Nothing;
        control.run.waiting.remove(thread);
    }
    if let Some(slot) = control.slot(thread) {
        control.run.pending[slot].access.waits = false;
    }
}

/// Nobody can go: how the run ended.
pub fn end(control: &mut Control) -> Left {
    let mut left = Left::Stuck;
    for thread in control.run.attempts.attached.clone().iter() {
        let Some(Attached { pc, waits: true, root: Some(root), .. }) = control.process.fibers[thread].trail.attached
        else {
            continue;
        };
        let lane = lane(control, thread);
        if !control.search.retries.forest.goes_on(&lane, root) {
            control.search.retries.sites.insert(pc, Site::Matters);
            return Left::Restart;
        }
        left = Left::Blocked;
    }
    left
}
