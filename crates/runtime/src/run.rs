//! One run of a test: everything is put back to where it was, the test runs to its end, and that end has a name.
//!
//! Invariant: nothing of an earlier run is left in memory that is under control, or in what the runtime knows.

use selvedge_explore::{End, Replay, Stop};

use crate::control::{Left, with};
use crate::fiber;
use crate::memory::arena;
use crate::memory::reset::Snapshot;
use crate::session::Test;

/// Everything as it was before the first run.
pub fn renew(globals: &Snapshot) {
    arena::reset();
    globals.restore();
    with(|control| {
        for fiber in &control.fibers[..control.created] {
            fiber.storage.restore();
        }
        control.created = 0;
        control.current = 0;
        control.starting = None;
        control.forget_pending();
        control.looks_ahead = control.strategy.looks_ahead();
        (control.last, control.gave_way, control.in_a_row) = (None, false, 0);
        (control.spinning, control.waiting, control.joining) = (0, 0, 0);
        control.under_way = false;
        control.trace.clear();
        control.details.clear();
        if let Some(callers) = &mut control.callers {
            callers.clear();
        }
        control.fairness.reset();
        control.failure = None;
        control.left = Left::Complete;
        control.objects.reset();
        control.races.reset();
        control.histories.reset();
        control.lineup.reset();
        control.time = 1_000_000_000 + control.lineup.shift;
        control.retries.renew();
    });
}

fn end_of(left: Left) -> End {
    match left {
        Left::Complete => End::Complete,
        Left::Stuck | Left::Blocked => End::Stuck,
        Left::Restart => End::Stopped(Stop::Redundant),
        Left::Truncated => End::Truncated,
        Left::Failed => End::Failed,
        Left::Stopped(stop) => End::Stopped(stop),
    }
}

/// One run; how it ended.
pub fn run_once(test: &Test, globals: &Snapshot) -> End {
    renew(globals);
    let created = with(|control| control.create(test.body, test.argument).is_ok());
    debug_assert!(created, "the first fiber exists");
    fiber::enter();
    with(|control| end_of(control.left))
}

/// The run once more, now that accesses to stacks are looked at from its beginning; how it ended. The same run, but for a data
/// race that was missed.
pub fn run_again(test: &Test, globals: &Snapshot, end: End) -> End {
    if matches!(end, End::Stopped(_)) {
        return end;
    }
    let strategy = with(|control| {
        let schedule = control.trace.schedule();
        std::mem::replace(&mut control.strategy, Box::new(Replay::new(schedule)))
    });
    let _ = with(|control| control.strategy.start());
    let again = run_once(test, globals);
    with(|control| control.strategy = strategy);
    again
}
