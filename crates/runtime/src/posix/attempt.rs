//! Steps that try to take something, and fail instead of waiting: try-locks, timed locks, joins of a thread that may not have ended.
//!
//! A loop of such steps that does nothing else is a loop that waits ([`crate::spin`]): once it is recognised, the thread goes on when an
//! attempt that failed would succeed, or when memory that the loop reads changes. Without this a reduction would tell schedules
//! apart by how often the attempt failed, without end.

use selvedge_explore::{Access, Condition, Kind};

use crate::control::{Control, with};
use crate::fiber::Wants;
use crate::point;
use crate::posix::objects;

/// An attempt that is under way.
pub struct Attempt {
    /// What it touches.
    pub access: Access,
    /// What it would be if it succeeded.
    wanted: Access,
    /// Whether it comes after a wait for something to change.
    pub waited: bool,
}

/// The current thread is at an attempt. Comes back when it may make it.
pub fn arrive(mut access: Access, pc: u64) -> Attempt {
    let wanted = access;
    let waited = with(|control| {
        let spins = control.search.settings.spins;
        let fiber = control.fiber();
        let top = fiber.top;
        let waited = spins && fiber.spin.arrives(pc, top);
        if waited {
            control.expect_change();
        }
        waited
    });
    if waited {
        access = access.waiting().if_found(Condition::Always);
    }
    point::arrive(access, if waited { Wants::Change } else { Wants::Nothing }, pc);
    Attempt { access, wanted, waited }
}

/// Whether what the current thread wants is held by another that goes round such a loop, too: then each keeps the other from going on, and one of
/// them has to be luckier. One who does not may hold it for ever, and then nobody ever goes on.
fn is_kept_by_another_who_does(control: &Control, object: u64) -> bool {
    let holders = control.run.objects.holders(objects::inner(object) as usize);
    let others =
        (0..control.run.created).filter(|&other| other != control.run.current && !control.process.fibers[other].ended);
    others
        .filter(|&other| control.process.fibers[other].spin.goes_round())
        .any(|other| holders.as_ref().is_none_or(|holders| holders.contains(other)))
}

impl Attempt {
    /// It succeeds: the access is recorded with what was found.
    pub fn succeeds(mut self, control: &mut Control, old: u64) {
        self.access.old = old;
        // Who takes a lock has said so.
        let takes = matches!(self.wanted.kind, Kind::Acquire | Kind::AcquireShared | Kind::Take);
        self.record(control, false);
        if !takes {
            control.fiber().spin.effect();
        }
    }

    /// It fails: it was a look at something. One whose time has passed offers to give up its turn.
    pub fn fails(mut self, control: &mut Control, old: u64, timed: bool) {
        self.access.kind = Kind::Read;
        self.access.old = old;
        control.fiber().spin.read(&self.wanted.after(old));
        if objects::is_abstract(self.access.object) {
            control.touch_lock(self.access.object);
            control.fiber().spin.poll.clear();
        } else {
            control.fiber().spin.poll.reads(&self.access);
        }
        let fiber = control.fiber();
        let (pc, top) = (fiber.pc, fiber.top);
        let goes_round = !timed && objects::is_abstract(self.access.object) && fiber.spin.fails(pc, top);
        if goes_round && is_kept_by_another_who_does(control, self.access.object) {
            control.run.fruitless = control.search.strategy.is_exhaustive();
        }
        let yields = goes_round || timed && control.fiber().spin.gives_way();
        self.record(control, yields);
    }

    fn record(self, control: &mut Control, yields: bool) {
        control.run.trace.access(self.access);
        if self.waited {
            control.saw_change(Some(&self.access));
        }
        point::finish(control, None, yields, None);
        point::tidy(control);
    }
}
