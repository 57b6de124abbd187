//! The threads of one matrix. The first constructs the object, makes the calls before, starts a thread for each column,
//! waits for all of them, makes the calls after, and destroys the object.
//!
//! Invariant: nothing on these stacks owns memory, because a run may be left at any step.

use std::ffi::c_void;

use selvedge_explore::{Access, HISTORY, Kind, Pick};
use selvedge_lineup::{CallId, Results};
use selvedge_protocol::{Class, Step};

use super::object::{Invocation, Life, TEXT, VOID, Value, value_text};
use crate::control::{Left, with};
use crate::fiber::{self, Wants};
use crate::point;
use crate::posix::mutex::{self, Flavour};
use crate::posix::objects::ended;
use crate::posix::thread;

/// The first thread of a run.
pub unsafe extern "C" fn run(_: *mut c_void) -> *mut c_void {
    construct();
    let (before, after, columns) = with(|control| {
        let matrix = &control.search.lineup.matrix;
        (matrix.initial.len(), matrix.last.len(), matrix.columns.len())
    });
    (0..before).for_each(|place| operate(0, place));
    for column in 1..=columns {
        let thread = thread::spawn(run_column, column as *mut c_void, 0, |_| {});
        with(|control| control.run.recorder.threads.push(thread));
    }
    wait();
    (before..before + after).for_each(|place| operate(0, place));
    destroy();
    leave_helpers();
    std::ptr::null_mut()
}

/// Ends the run when only threads of the object itself are left: they may serve for ever, and nobody calls any more.
fn leave_helpers() {
    let helped = with(|control| {
        let helped = (1..control.run.created).any(|thread| !control.process.fibers[thread].ended);
        if helped {
            control.run.left = Left::Complete;
        }
        helped
    });
    if helped {
        fiber::leave();
    }
}

fn construct() {
    let Some(life) = with(|control| control.search.lineup.object.as_ref().map(|object| object.life)) else { return };
    // SAFETY: the program's own constructor, in a run of its own.
    let instance = unsafe {
        match life {
            Life::C { construct, create, .. } => construct(create),
            Life::Rust { create, context, .. } => create(context),
        }
    };
    with(|control| control.run.recorder.instance = instance as usize);
}

fn destroy() {
    let (life, instance) = with(|control| {
        (control.search.lineup.object.as_ref().map(|object| object.life), control.run.recorder.instance())
    });
    // SAFETY: the program's own destructor, for what its constructor made.
    unsafe {
        match life {
            Some(Life::C { destroy: Some(destroy), .. }) | Some(Life::Rust { destroy, .. }) => destroy(instance),
            _ => {}
        }
    }
}

/// Waits for all threads of the matrix in one step.
fn wait() {
    let first = with(|control| {
        control.run.recorder.open();
        control.run.recorder.threads.first().copied().unwrap_or(0)
    });
    let access = |thread: usize| Access::new(ended(thread), 1, Kind::Await).waiting();
    point::arrive(access(first), Wants::Columns, 0);
    with(|control| {
        for at in 0..control.run.recorder.threads.len() {
            let thread = control.run.recorder.threads[at];
            control.run.trace.access(access(thread));
            control.run.races.joined(0, thread);
            control.process.fibers[thread].joined = true;
        }
        point::finish(control, None, false, None);
    });
}

unsafe extern "C" fn run_column(column: *mut c_void) -> *mut c_void {
    let column = column as usize;
    let count = with(|control| control.search.lineup.matrix.columns[column - 1].len());
    (0..count).for_each(|place| operate(column, place));
    end_column(column, count);
    std::ptr::null_mut()
}

/// What the end of a thread does: destructors of thread-local objects and of keys. An operation of its own where serial runs
/// showed that it changes what others see.
fn end_column(column: usize, count: usize) {
    let (exits, turns) = with(|control| {
        let steps = control.run.trace.len();
        control.run.recorder.leaves(column, steps);
        (control.search.lineup.exits, control.search.lineup.turns)
    });
    if exits {
        if turns {
            take_turn(column, count, 0);
        }
        called(column, if count == 0 { Wants::Gate } else { Wants::Nothing }, 0);
    }
    fiber::run_destructors();
    with(|control| control.run.recorder.has_left(column));
    if exits {
        returned(column, Results::VOID, 0);
        if turns {
            mutex::unlock(TURN, Flavour::Turn, 0);
        }
    }
}

/// The call of an operation that nothing was declared of, as a step.
fn called(column: usize, wants: Wants, pc: u64) {
    let access = Access::new(HISTORY, 1, Kind::Call);
    point::arrive(access, wants, pc);
    with(|control| {
        control.run.recorder.called(column);
        control.fiber().spin.effect();
    });
    point::record(access, None);
}

/// One operation, between its call and its return.
fn operate(column: usize, place: usize) {
    let found = with(|control| {
        let call = control.search.lineup.call_at(column, place)?;
        let object = control.search.lineup.object.as_ref()?;
        Some((call, *object.invocations.get(call.index())?))
    });
    let Some((call, invocation)) = found else { return };
    let pc = match invocation {
        Invocation::C { function, .. } => function as usize as u64 + 1,
        Invocation::Rust { .. } => 0,
    };
    let turns = with(|control| control.search.lineup.turns);
    if turns {
        take_turn(column, place, pc);
    }
    if begin(column, call, place, pc) {
        let value = invoke(invocation);
        finish(column, call, value, pc);
    }
    if turns {
        mutex::unlock(TURN, Flavour::Turn, pc);
    }
}

/// The lock that operations take when they come one after the other beside threads of the object; no lock of a program is there.
const TURN: usize = 16;

/// Whether a step is only there to make operations take turns.
pub fn is_turn(step: &Step) -> bool {
    step.access().is_some_and(|access| access.on == Class::Lock && access.object == TURN as u64)
}

/// Waits until every thread is there and no other operation is under way.
fn take_turn(column: usize, place: usize, pc: u64) {
    if place == 0 && column > 0 {
        point::arrive(point::nothing(), Wants::Gate, pc);
        point::record(point::nothing(), None);
    }
    mutex::lock(TURN, Flavour::Turn, pc);
}

/// The call, as a step; whether the operation is to be made. In phase 1 a result that was declared comes without it, too.
fn begin(column: usize, call: CallId, place: usize, pc: u64) -> bool {
    let access = Access::new(HISTORY, 1, Kind::Call);
    let wants = if place == 0 && column > 0 { Wants::Gate } else { Wants::Nothing };
    point::arrive(access, wants, pc);
    let skipped = with(|control| {
        control.run.recorder.called(column);
        control.run.endless.disturb();
        let declared =
            control.search.lineup.object.as_ref().map_or(0, |object| object.calls.declared_for(call).count());
        let mut chosen = 0;
        if control.search.lineup.serial && declared > 0 {
            let options = declared as u32 + 1;
            chosen = control.pick(options);
            control.run.trace.pick(Pick { chosen, options });
            control.run.recorder.chose(column, chosen);
        }
        control.fiber().spin.effect();
        control.run.trace.access(access);
        point::finish(control, None, false, None);
        chosen
    });
    if skipped == 0 {
        return true;
    }
    let text = with(|control| {
        let object = control.search.lineup.object.clone()?;
        let text = object.calls.declared_for(call).nth(skipped as usize - 1)?;
        Some(control.search.lineup.result(call, text))
    });
    returned(column, text.unwrap_or(Results::VOID), pc);
    false
}

fn invoke(invocation: Invocation) -> Value {
    let instance = with(|control| control.run.recorder.instance());
    // SAFETY: the program's own operation, on the object that its constructor made.
    unsafe {
        match invocation {
            Invocation::C { invoke, function, arguments } => invoke(function, instance, arguments.as_ptr()),
            Invocation::Rust { invoke, context } => {
                invoke(context, instance);
                TEXT
            }
        }
    }
}

fn finish(column: usize, call: CallId, value: Value, pc: u64) {
    let result = with(|control| {
        let lineup = &mut control.search.lineup;
        let text = control.run.recorder.take_text(column);
        match (value, text) {
            (TEXT, Some(text)) => text,
            (TEXT | VOID, _) => {
                let void = lineup.object.as_ref().map_or("", |object| object.void);
                lineup.result(call, void)
            }
            (value, _) => lineup.result(call, &value_text(value)),
        }
    });
    returned(column, result, pc);
}

/// The return, as a step.
fn returned(column: usize, result: selvedge_lineup::ResultId, pc: u64) {
    let access = Access::new(HISTORY, 1, Kind::Return);
    point::arrive(access, Wants::Nothing, pc);
    with(|control| {
        control.run.recorder.returned(column, result);
        control.run.endless.disturb();
        control.fiber().spin.effect();
    });
    point::record(access, None);
}
