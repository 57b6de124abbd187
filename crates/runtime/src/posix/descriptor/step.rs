//! What calls on descriptors have in common: a thread comes to one, waits until it may be made, makes it as one step, and says what it touched.
//!
//! A number is looked up when the step is made. A thread that waited may have looked it up before: whoever closes the number decides which it was ([`super::numbers`]).

use std::ffi::c_int;

use selvedge_explore::{Access, Condition, Kind, Pick};
use selvedge_protocol::{Cause, Out, Outside, Signal};

use super::table::{self, Awaits, Call, DATA, Descriptors, ROOM, Source};
use crate::control::{Control, with};
use crate::fiber::{Wants, fail};
use crate::point;
use crate::posix::objects;
use crate::sys;

/// How long a call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Until it can be made.
    Waits,
    /// Not at all.
    Tries,
    /// Until its time has passed, at whichever moment that is.
    GivesUp,
}

/// What somebody is about to do to a descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    pub number: c_int,
    /// Whether it reads or writes.
    pub half: usize,
    /// How long the caller wants to wait.
    pub patience: Patience,
    pub pc: u64,
}

/// A call that is being made.
pub struct Turn {
    pub number: c_int,
    pub description: usize,
    pub source: usize,
    /// What it touches first.
    access: Access,
    wanted: Access,
    /// Whether it goes on after a wait for something to change.
    waited: bool,
    pub patience: Patience,
    enough: u64,
    inside: bool,
}

/// The table of the run.
pub fn table(control: &mut Control) -> &mut Descriptors {
    &mut control.run.objects.descriptors
}

/// Ends the run: that is not followed.
pub fn refuse(name: &str, pc: u64) -> ! {
    fail(Cause::Out(Out::Call { name: name.to_owned(), why: Outside::Descriptor }), pc)
}

/// Makes a step that finds out that a call is in vain.
pub fn finds_out(number: c_int, more: Option<Access>, pc: u64) {
    let slot = Access::new(table::slot(number), 1, Kind::Read);
    point::arrive(more.unwrap_or(slot), Wants::Nothing, pc);
    with(|control| {
        let found = |control: &mut Control, more: Access| match table::has_level(more.object) {
            true => more.after(table(control).level(more.object)),
            false => more,
        };
        let more = more.map(|more| found(control, more));
        if let Some(more) = more {
            control.run.trace.access(more);
        }
        control.run.trace.access(slot);
        // A loop waits for more or less of something. What a number stands for is not waited for.
        match more.filter(|more| table::has_level(more.object)) {
            Some(more) => {
                control.fiber().spin.read(&more);
                control.fiber().spin.poll.clear();
            }
            None => control.fiber().effect(),
        }
        point::finish(control, None, false, None);
    });
}

/// What a call finds when it comes.
struct Found {
    description: usize,
    source: usize,
    object: u64,
    patience: Patience,
    enough: u64,
}

/// How much a call needs of a source; an error where it never can.
pub type Enough<'a> = &'a dyn Fn(&Descriptors, usize) -> Result<u64, c_int>;

fn look(control: &mut Control, aim: Aim, enough: Enough) -> Result<Found, c_int> {
    let table = table(control);
    let description = table.find(aim.number).ok_or(libc::EBADF)?;
    let known = table.description(description);
    let patience = match aim.patience {
        Patience::Waits if known.nonblocking => Patience::Tries,
        Patience::Waits if known.gives_up[aim.half] => Patience::GivesUp,
        patience => patience,
    };
    let source = table.ends(description).sources[aim.half].ok_or(libc::EBADF)?;
    let enough = enough(table, source)?;
    Ok(Found { description, source, object: table.object(source, aim.half), patience, enough })
}

/// The current thread comes to a call. Comes back when it may be made, or is in vain: then the step has been made.
pub fn begin(aim: Aim, enough: Enough) -> Result<Turn, c_int> {
    let Aim { number, half, pc, .. } = aim;
    loop {
        let found = match with(|control| look(control, aim, enough)) {
            Ok(found) => found,
            Err(error) => {
                finds_out(number, None, pc);
                return Err(error);
            }
        };
        let Found { description, source, object, patience, enough } = found;
        // What can be read is taken; room is taken, too, and what is told of it is that something was written.
        let kind = if half == DATA { Kind::Take } else { Kind::Give };
        let wanted = Access::new(object, 1, kind);
        let waits = patience == Patience::Waits;
        let mut access = match waits {
            true => wanted.waiting().if_found(Condition::AtLeast(enough)),
            false => wanted.if_found(Condition::Unknown),
        };
        let mut wants = if waits { Wants::Ready } else { Wants::Nothing };
        let waited = with(|control| {
            let current = control.run.current;
            if waits {
                let awaits = Awaits::Level(object, enough);
                table(control).calls.insert(current, Call { number, description, awaits, inside: false });
                if control.run.created > 1 && table(control).level(object) < enough {
                    control.run.trace.amend(Access::new(table::slot(number), 1, Kind::Read));
                }
                return false;
            }
            goes_round(control, pc)
        });
        if waited {
            access = access.waiting().if_found(Condition::Always);
            wants = Wants::Change;
        }
        point::arrive(access, wants, pc);
        let (inside, same) = with(|control| {
            let current = control.run.current;
            let call = table(control).calls.remove(&current);
            let inside = call.is_some_and(|call| call.inside);
            (inside, inside || table(control).find(number) == Some(description))
        });
        let turn = Turn { number, description, source, access, wanted, waited, patience, enough, inside };
        if same {
            return Ok(turn);
        }
        with(|control| turn.looks(control, false));
    }
}

/// Whether the current thread, which is about to try something, goes round a loop of such attempts. It then waits for a change.
pub fn goes_round(control: &mut Control, pc: u64) -> bool {
    let spins = control.search.settings.spins;
    let fiber = control.fiber();
    let top = fiber.top;
    let waited = spins && fiber.spin.arrives(pc, top);
    if waited {
        control.expect_change();
    }
    waited
}

impl Turn {
    /// Whether the call can be made.
    pub fn is_open(&self, control: &mut Control) -> bool {
        table(control).level(self.wanted.object) >= self.enough
    }

    /// Notes what the step touches, before anything is changed: these sources, and the number.
    pub fn touches(&mut self, control: &mut Control, sources: &[usize]) {
        self.access.old = table(control).level(self.wanted.object);
        if self.waited {
            self.access.condition = Condition::AtLeast(self.enough);
        }
        control.run.trace.access(self.access);
        if self.waited {
            control.saw_change(Some(&self.access));
        }
        let others = table(control).touched(sources);
        let others = others.into_iter().filter(|other| other.object != self.access.object);
        let others: Vec<Access> = others.collect();
        others.into_iter().for_each(|other| control.run.trace.access(other));
        self.touches_number(control);
    }

    fn touches_number(&self, control: &mut Control) {
        control.run.trace.access(Access::new(table::slot(self.number), 1, Kind::Read));
        control.run.trace.access(Access::new(table::flags(self.description, self.number), 1, Kind::Read));
    }

    /// The step is made, with that many bytes or events.
    pub fn ends(self, control: &mut Control, count: Option<u64>) {
        self.lets_go(control);
        control.fiber().effect();
        let timed = self.patience == Patience::GivesUp;
        let yields = timed && control.fiber().spin.times_out(false);
        point::finish(control, None, yields, count);
    }

    /// The step is made, and was in vain: nothing is there, and the call does not wait, or its time has passed.
    pub fn fails(mut self, control: &mut Control) {
        self.access.kind = Kind::Read;
        let found = table(control).level(self.wanted.object);
        control.fiber().spin.read(&self.wanted.after(found));
        let timed = self.patience == Patience::GivesUp;
        self.looks(control, timed);
    }

    /// The same where [`Turn::touches`] has been called: time passes before a timer expires.
    pub fn found_nothing(self, control: &mut Control) {
        self.lets_go(control);
        control.fiber().spin.poll.clear();
        let yields = self.patience == Patience::GivesUp && control.fiber().spin.gives_way();
        point::finish(control, None, yields, None);
    }

    /// The step is made, and the thread only looked.
    fn looks(mut self, control: &mut Control, timed: bool) {
        self.access.kind = Kind::Read;
        self.access.old = table(control).level(self.wanted.object);
        control.run.trace.access(self.access);
        if self.waited {
            control.saw_change(Some(&self.access));
        }
        self.touches_number(control);
        control.fiber().spin.poll.clear();
        let yields = timed && control.fiber().spin.gives_way();
        self.lets_go(control);
        point::finish(control, None, yields, None);
        point::tidy(control);
    }

    /// The call does not hold what its number stood for any more.
    fn lets_go(&self, control: &mut Control) {
        if self.inside {
            super::numbers::release(control, self.description);
        }
    }
}

/// The current thread learns what these writes told.
pub fn learns(control: &mut Control, writes: &[(u64, bool)], keep: bool) {
    let current = control.run.current;
    for &(number, whole) in writes {
        let object = table::write(number);
        control.run.races.acquire(current, object);
        if whole && !keep {
            control.run.races.forget_object(object);
        }
    }
}

/// A step that does something to a descriptor, whatever is there.
pub struct Change {
    pub number: c_int,
    pub pc: u64,
}

impl Change {
    /// Comes back when the step is made, with what the number stands for then.
    pub fn arrives(&self, first: Access) -> Option<usize> {
        point::arrive(first, Wants::Nothing, self.pc);
        with(|control| table(control).find(self.number))
    }

    /// The step is made; it touched the first access, and these sources. It comes before the change.
    pub fn touches(&self, control: &mut Control, first: Option<Access>, sources: &[usize]) {
        let touched = table(control).touched(sources);
        let slot = Access::new(table::slot(self.number), 1, Kind::Read);
        let others = touched.into_iter().filter(|other| first.is_none_or(|first| first.object != other.object));
        for access in first.into_iter().chain(others).chain([slot]) {
            control.run.trace.access(access);
        }
    }

    /// The step is over.
    pub fn ends(&self, control: &mut Control, new: Option<u64>) {
        control.fiber().effect();
        point::finish(control, None, false, new);
    }
}

/// The timers that are armed are as late as the clock; whoever looks at them looks at the clock.
pub fn settle(control: &mut Control) {
    let now = control.run.time;
    table(control).settle(now);
    control.run.trace.access(Access::new(objects::clock(), 1, Kind::Read));
}

/// Time passes until that moment, in the step that is under way.
pub fn passes(control: &mut Control, until: u64) {
    if until > control.run.time {
        control.run.time = until;
        control.run.trace.access(Access::new(objects::clock(), 1, Kind::Update));
    }
}

/// When the first of these timers expires that have not.
pub fn next_of(control: &mut Control, timers: &[usize]) -> Option<u64> {
    let next = |at: &usize| match table(control).source(*at) {
        Source::Timer(timer) => timer.next,
        _ => None,
    };
    timers.iter().filter_map(next).min()
}

/// Whether a timer expires in the step that is under way, which has nothing else to tell: a thread that waits lets time pass. One that only looks may come too early once; if it looks on, time
/// passes as it does for those who look at the clock.
pub fn expires(control: &mut Control, timers: &[usize], patience: Patience, until: Option<u64>) -> bool {
    let Some(next) = next_of(control, timers) else { return false };
    match patience {
        Patience::Waits => passes(control, next),
        Patience::GivesUp if until.is_some_and(|until| until < next) => return false,
        Patience::GivesUp => passes(control, next),
        Patience::Tries => {
            let mut looked = true;
            for &at in timers {
                if let Source::Timer(timer) = table(control).source(at) {
                    looked &= std::mem::replace(&mut timer.looked, true);
                }
            }
            control.run.endless.disturb();
            let now = control.run.time;
            if looked {
                let looks = control.fiber().spin.looks();
                passes(control, now.saturating_add(100 << looks.min(20)));
            } else if chooses(control) {
                passes(control, next);
            }
        }
    }
    let now = control.run.time;
    table(control).settle(now);
    next <= now
}

/// The time of a wait is over, in the step that is under way.
pub fn passes_late(control: &mut Control, until: Option<u64>) {
    if let Some(until) = until {
        passes(control, until);
    }
}

/// The current thread has seen these events of a description, and knows what they come from.
pub fn sees(control: &mut Control, description: usize, events: u32) {
    let current = control.run.current;
    let ends = table(control).ends(description);
    let readable = events & (libc::EPOLLIN | libc::EPOLLRDNORM | libc::EPOLLHUP | libc::EPOLLRDHUP) as u32 != 0;
    if let Some(at) = ends.sources[DATA].filter(|_| readable) {
        let object = table(control).object(at, DATA);
        let hung_up = events & (libc::EPOLLHUP | libc::EPOLLRDHUP) as u32 != 0;
        match table(control).queue(at) {
            Some(queue) => {
                let (first, told) = (queue.writes(1), hung_up || queue.is_empty());
                learns(control, &first, true);
                if told {
                    control.run.races.acquire(current, object);
                }
            }
            None => control.run.races.acquire(current, object),
        }
    }
    if let Some(at) = ends.sources[ROOM].filter(|_| events & (libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0) {
        let object = table(control).object(at, ROOM);
        control.run.races.acquire(current, object);
    }
}

/// A choice of the search: the second of two ways.
pub fn chooses(control: &mut Control) -> bool {
    let chosen = control.pick(2);
    control.run.trace.pick(Pick { chosen, options: 2 });
    chosen == 1
}

/// A write to something that nobody reads.
pub fn broken_pipe(name: &str, silent: bool, pc: u64) -> c_int {
    if silent {
        return libc::EPIPE;
    }
    let mut action = [0usize; 4];
    let arguments = [libc::SIGPIPE as usize, 0, action.as_mut_ptr() as usize, 8, 0, 0];
    // SAFETY: the kernel writes an action of four words.
    unsafe { sys::call(libc::SYS_rt_sigaction, arguments) };
    let bit = 1u64 << (libc::SIGPIPE - 1);
    let blocked =
        with(|control| control.run.objects.blocked.get(&control.run.current).is_some_and(|set| set & bit != 0));
    match action[0] {
        libc::SIG_IGN => libc::EPIPE,
        libc::SIG_DFL if !blocked => fail(Cause::Signal { signal: Signal::BrokenPipe, address: 0 }, pc),
        _ => fail(Cause::Out(Out::Call { name: name.to_owned(), why: Outside::Signals }), pc),
    }
}
