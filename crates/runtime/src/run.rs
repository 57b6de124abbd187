//! One run of a test: everything is put back to where it was, the test runs to its end, and that end has a name.
//!
//! Invariant: nothing of an earlier run is left in memory that is under control, or in what the runtime knows.

use selvedge_explore::{Classes, End, Look, Replay, Stop};

use crate::control::{Left, with};
use crate::memory::arena;
use crate::memory::reset::Snapshot;
use crate::session::Test;
use crate::{fiber, shadow};

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
        control.fruitless = false;
        // What is in the trace is of a run of the same strategy, or nothing is known of it.
        let strategy = (&raw const *control.strategy).addr();
        let kept = if control.traced == strategy { control.strategy.repeats() } else { 0 };
        control.traced = strategy;
        control.trace.renew(kept);
        control.details.truncate(kept);
        if let Some(callers) = &mut control.callers {
            callers.clear();
        }
        control.plain.clear();
        control.other = None;
        control.fairness.reset();
        control.failure = None;
        control.left = Left::Complete;
        control.objects.reset();
        control.races.renew(control.settings.races && !control.spares_races);
        control.histories.reset();
        control.lineup.reset();
        control.time = 1_000_000_000 + control.lineup.shift;
        control.retries.renew();
        control.endless.reset();
        (control.polling, control.waking) = (0, 0);
        control.touches.clear();
    });
}

fn end_of(left: Left) -> End {
    match left {
        Left::Complete => End::Complete,
        Left::Stuck | Left::Blocked => End::Stuck,
        Left::Restart => End::Stopped(Stop::Redundant),
        Left::Endless => End::Endless,
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

/// The run once more, now that more of it is looked at; how it ended. The same run, but for a data race that was missed.
fn run_again(test: &Test, globals: &Snapshot, end: End) -> End {
    let (strategy, left, steps) = with(|control| {
        let schedule = control.trace.schedule();
        let strategy = std::mem::replace(&mut control.strategy, Box::new(Replay::new(schedule)));
        (strategy, control.left, control.trace.len())
    });
    let _ = with(|control| control.strategy.start());
    let again = run_once(test, globals);
    with(|control| {
        control.strategy = strategy;
        // Where the search gave up the run, nobody knows how it goes on.
        if matches!(end, End::Stopped(_)) && again == End::Stopped(Stop::Diverged(steps)) {
            control.left = left;
            return end;
        }
        again
    })
}

/// A run that is looked at for data races, if that is asked for. Accesses to stacks are looked at from the first run on in which one thread
/// was seen on the stack of another; that one is repeated.
fn look(test: &Test, globals: &Snapshot, run: impl FnOnce() -> End) -> End {
    let unshared = with(|control| !control.stacks_shared);
    let end = run();
    if unshared && with(|control| control.stacks_shared) { run_again(test, globals, end) } else { end }
}

/// The next run, which is looked at.
pub fn run_and_look(test: &Test, globals: &Snapshot) -> End {
    look(test, globals, || run_once(test, globals))
}

/// The next run, which is looked at unless one of its class was; these are counted.
pub fn run_of_class(test: &Test, globals: &Snapshot, classes: &mut Classes, spared: &mut u64) -> End {
    let end = if classes.expects() {
        with(|control| control.spares_races = true);
        let end = run_once(test, globals);
        let verdict = with(|control| {
            control.spares_races = false;
            classes.judge(&control.trace, end)
        });
        *spared += u64::from(verdict == Look::Enough);
        if verdict == Look::Enough || matches!(end, End::Stopped(Stop::Diverged(_))) {
            return end;
        }
        look(test, globals, || run_again(test, globals, end))
    } else {
        run_and_look(test, globals)
    };
    let doubtful = shadow::was_doubtful();
    with(|control| classes.learn(&control.trace, end, control.failure.is_none() && !doubtful));
    end
}
