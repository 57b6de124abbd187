//! Accesses that are steps although they are not atomic: volatile ones, because code that predates atomics uses them as such, and plain ones from the
//! places that [`crate::plain_steps`] knows. And how a run ends at a data race.
//!
//! Invariant: nothing comes between the step and the access itself, which the code makes next. Where one call makes two, they are made here.

use std::ffi::c_void;

use selvedge_explore::{Access, Kind};
use selvedge_protocol::{self as protocol, Cause, Out, Race};

use crate::abi::plain;
use crate::arch::site;
use crate::control::{Control, active, with};
use crate::fiber::{Wants, fail};
use crate::finding::uninstrumented;
use crate::memory::arena;
use crate::memory::reset::Copies;
use crate::posix::attempt;
use crate::race::{Conflict, Touch};
use crate::{plain_steps, point, spin};

/// So many bytes lie in one line of the caches: what crosses into the next may be torn.
const LINE: usize = 64;

/// A volatile access.
pub fn volatile(address: *mut c_void, size: usize, write: bool) {
    if active() {
        step(address as usize, size, write, site::pc(), false);
    }
}

/// Makes the step of an access. One that is plain is looked at for data races, as an atomic one that orders nothing.
fn step(address: usize, size: usize, write: bool, pc: u64, is_plain: bool) {
    let kind = if write { Kind::Write } else { Kind::Read };
    let access = Access::new(address as u64, size as u32, kind);
    // Loops that wait for a variable are loops that wait.
    let attempt = if write {
        point::arrive(access, Wants::Nothing, pc);
        None
    } else {
        Some(attempt::arrive(access, pc))
    };
    arena::check(address, size, write, pc);
    plain::check_stack(address as u64, size as u64, write, pc);
    if is_plain {
        look_for_races(Touch::new(address as u64, size as u64, write, true, pc));
    }
    if let Some(attempt) = attempt {
        // SAFETY: the code under test is about to read it, and it was checked.
        let value = unsafe { spin::value_at(&access) };
        let pointer = !is_plain && leads_on(&access, value);
        return with(|control| {
            if !is_plain {
                order_volatile(control, &access, pointer);
            }
            attempt.fails(control, value, false);
        });
    }
    with(|control| {
        if !is_plain {
            order_volatile(control, &access, false);
        }
        control.run.trace.access(access);
        point::finish(control, None, false, None);
        control.fiber().effect();
        // The thread writes before anybody else goes.
        if !control.run.spinning.is_empty() {
            control.tell_loops(&access);
        }
    });
}

/// A plain access in a search in which some are steps, or by a thread that makes no steps for long.
#[inline(never)]
pub fn attend(address: usize, size: usize, write: bool, pc: u64) {
    let (loops, is_step) = with(|control| {
        let loops = plain_steps::asks(control, pc, address as u64, write);
        (loops, control.search.plain_steps.has(pc) && is_whole(address, size))
    });
    if let Some(places) = loops {
        fail(Cause::Out(Out::Looks(places)), pc);
    }
    if is_step { step(address, size, write, pc, true) } else { plain::look(address, size, write, pc) }
}

/// Whether the processor makes an access at once, so that nobody sees half of it.
fn is_whole(address: usize, size: usize) -> bool {
    matches!(size, 1 | 2 | 4 | 8) && address % LINE + size <= LINE
}

/// So many bytes are copied or set in steps at most; more are left to libc, and race.
const PARTS_MAX: usize = 4096;

/// How many bytes from there on are one step of a call that touches more: those up to the next multiple of eight.
fn part(address: usize, left: usize) -> usize {
    left.min(8 - address % 8)
}

/// Whether what a call does is made here, step by step.
fn is_in_steps(size: usize, pc: u64) -> bool {
    size <= PARTS_MAX && with(|control| control.search.plain_steps.has(pc))
}

/// A copy that is made of steps, from the lowest address on; whether it is one, and was made.
pub fn copies(to: usize, from: usize, size: usize, pc: u64) -> bool {
    let overlaps = to.abs_diff(from) < size;
    if overlaps && to > from || !is_in_steps(size, pc) {
        return false;
    }
    let mut done = 0;
    while done < size {
        let (to, from) = (to + done, from + done);
        let count = part(to, part(from, size - done));
        let mut bytes = [0u8; 8];
        step(from, count, false, pc, true);
        // SAFETY: so many bytes of the code under test, which asked for the copy; they were checked.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, bytes.as_mut_ptr(), count) };
        step(to, count, true, pc, true);
        // SAFETY: so many bytes of the code under test, to which it asked for the copy; they were checked.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, count) };
        done += count;
    }
    true
}

/// The same for bytes that are all set to one value.
pub fn sets(to: usize, value: u8, size: usize, pc: u64) -> bool {
    if !is_in_steps(size, pc) {
        return false;
    }
    let mut done = 0;
    while done < size {
        let count = part(to + done, size - done);
        step(to + done, count, true, pc, true);
        // SAFETY: so many bytes of the code under test, which asked for them to be set; they were checked.
        unsafe { std::ptr::write_bytes((to + done) as *mut u8, value, count) };
        done += count;
    }
    true
}

/// Notes an access that is a step, and ends the run if it races with one that is none.
fn look_for_races(touch: Touch) {
    let other = with(|control| {
        if !control.run.races.on {
            return None;
        }
        control.reaches(touch.address);
        control.note_plain(touch.what.pc());
        let current = control.run.current;
        control.run.races.touch(&mut control.process.shadow, current, touch)
    });
    if let Some(other) = other {
        race(touch, Conflict::with(other));
    }
}

/// Ends the run with a data race, or notes that there may be one.
#[cold]
pub fn race(touch: Touch, conflict: Conflict) {
    let pc = touch.what.pc();
    let (allowed, here, there) = with(|control| {
        control.races_with(conflict.thread, conflict.pc);
        let plain = &control.search.plain_steps;
        (!control.search.settings.races, plain.has(pc), plain.has(conflict.pc))
    });
    let found = Race {
        address: touch.address,
        size: touch.size,
        here: protocol::Touch { write: touch.what.write(), atomic: touch.what.atomic() && !here },
        there: protocol::Touch { write: conflict.write, atomic: conflict.atomic && !there },
        thread: conflict.thread,
        pc: conflict.pc,
    };
    match with(|control| doubt(control, &touch, &found)) {
        // An operation has results, which may rest on it.
        Some((out, pc)) if with(|control| control.search.lineup.object.is_some()) => fail(Cause::Out(out), pc),
        Some(doubt) => with(|control| {
            control.run.objects.doubt.get_or_insert(doubt);
        }),
        None if allowed => fail(Cause::Out(Out::AllowedRace { race: found, pc }), pc),
        None => fail(Cause::Race(found), pc),
    }
}

/// Why what seems to race may be in order: a lock in assembly is often given back by a plain store, and the language does not say what that means; or it is in code of which no more is
/// seen. The run goes on then, as the processor says.
fn doubt(control: &Control, touch: &Touch, found: &Race) -> Option<(Out, u64)> {
    let objects = &control.run.objects;
    let mixed = found.here.atomic != found.there.atomic && objects.assembled.contains(&(touch.address & !7));
    match (mixed, objects.unseen) {
        (true, _) => Some((Out::MixedAssembly(found.clone()), touch.what.pc())),
        (false, 0) => objects.doubt.clone(),
        (false, pc) => Some((uninstrumented(pc), pc)),
    }
}

/// Whether a thread that reads this value at once finds an address that leads to what others wrote.
fn leads_on(access: &Access, value: u64) -> bool {
    access.size == 8
        && (arena::inside(value as usize) || Copies::covers(value) || with(|control| control.in_stack(value)))
}

/// What a volatile access publishes and learns.
fn order_volatile(control: &mut Control, access: &Access, pointer: bool) {
    if control.run.races.on {
        control.reaches(access.object);
        let current = control.run.current;
        control.run.races.volatile(&mut control.process.shadow, current, access.object, access.kind, pointer);
    }
}
