//! Steps: a thread arrives, waits to be chosen, does it, and records what it did.

use selvedge_explore::{Access, Kind, Thread};
use selvedge_protocol::Cause;

use crate::arch::{site, switch};
use crate::control::{Control, Detail, state, with};
use crate::fiber::{Wants, fail, follow};

/// The current thread is at a step. Comes back when it may make it, and then must record it.
#[inline(never)]
pub fn arrive(access: Access, wants: Wants, pc: u64) {
    let here = 0u8;
    arrive_here(access, wants, pc, &raw const here as u64);
}

/// The same, for callers that say where the stack is. It must be the same place whichever way they come: a replay would find less or more
/// room otherwise.
#[inline(always)]
pub fn arrive_here(access: Access, wants: Wants, pc: u64, here: u64) {
    let (from, next) = {
        // SAFETY: there is a state, because code under control calls; the borrow ends with this block, or before the run is left.
        let mut control = unsafe { state() };
        let fiber = control.fiber();
        fiber.pc = pc;
        // Later steps of a call come after others have made calls of their own: then the note is theirs.
        let frame = site::frame();
        if site::pc() == pc && fiber.holds(frame) {
            fiber.frame = frame;
        }
        if here < fiber.low && !fiber.stops_lower(here) {
            drop(control);
            fail(Cause::StackOverflow, pc);
        }
        (control.run.current, control.arrive(access, wants))
    };
    follow(from, next);
}

/// Records a step with one access.
#[inline(never)]
pub fn record(access: Access, new: Option<u64>) {
    with(|control| {
        control.run.trace.access(access);
        finish(control, None, false, new);
    });
}

/// Completes the step whose accesses are in the trace.
#[inline(always)]
pub fn finish(control: &mut Control, created: Option<Thread>, yielded: bool, new: Option<u64>) {
    if !control.run.waking.is_empty() {
        control.wakes_pollers();
    }
    let pc = control.fiber().pc;
    let spurious = std::mem::take(&mut control.run.spurious);
    control.step_done(created, yielded, Detail { pc, new, spurious });
}

/// Completes the step of a thread that took a lock; whether it had to wait for another turn of its loop.
pub fn take_turn(control: &mut Control, access: Access, polls: bool) {
    control.run.trace.access(access);
    if polls {
        control.polls_again(&access);
    }
    finish(control, None, false, None);
}

/// An access to nothing: a step that everything commutes with.
pub fn nothing() -> Access {
    Access::new(0, 0, Kind::Read)
}

/// A step with which the current thread offers to give up its turn.
pub fn give_way(pc: u64) {
    arrive(nothing(), Wants::Nothing, pc);
    with(|control| {
        let yields = control.fiber().spin.gives_way();
        finish(control, None, yields, None);
        tidy(control);
    });
}

/// Leaves nothing on the stack of a thread that may go round a loop.
#[inline(always)]
pub fn tidy(control: &mut Control) {
    if control.fiber().spin.is_tidy() {
        // SAFETY: below the stack pointer is nothing that anybody needs; the thread arrived at a step, so there is room.
        unsafe { switch::wipe(0) };
    }
}
