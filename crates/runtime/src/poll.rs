//! Threads that look at something under a lock, again and again.
//!
//! `lock; look; unlock` until the look finds what it wants changes nothing, but it is no loop of reads ([`crate::spin`]): others see that the lock is taken. A *turn* of it begins where the
//! thread is about to take a lock, holding nothing that it took since the turn before, and ends where it is there again with the same registers and the same stack, having changed
//! no memory and having given back all that it took, and only that. Such a turn found nothing. A run without it is legal, every other step does the same in it, and it ends in the
//! same state; so it is enough to explore runs without such turns, and those in which a thread makes one lead to nothing new.
//!
//! The thread then waits at the lock until another turn may find something else: until another thread has done something to a lock that the turn took, or an atomic variable that it read has
//! changed. Plain memory that it read under a lock cannot change without the first, or there is a data race. What turns of other threads did that found nothing does not count, so that
//! several such threads do not keep one another going.
//!
//! Invariant: where nobody can go but for such waits, the waits end ([`Control::stop_polling`]) and a fair scheduler goes on with the run. So no livelock is found here: only a state that comes again is one
//! ([`crate::endless`]).

use selvedge_explore::{Access, Kind};

use crate::arch::site;
use crate::control::Control;
use crate::posix::objects;
use crate::spin;

/// More beginnings of turns are not remembered.
const HEADS_MAX: usize = 64;

/// Where a turn may begin.
#[derive(Clone, Copy, Debug)]
struct Head {
    state: u64,
    /// How many steps the run had, and how much the thread had touched and read.
    step: usize,
    touched: usize,
    reads: usize,
}

/// What a thread did since it last changed something.
#[derive(Debug, Default)]
pub struct Poll {
    heads: Vec<Head>,
    /// The locks that it took or gave back.
    touched: Vec<u64>,
    /// The atomic variables that it read.
    reads: Vec<Access>,
    /// What it took and has not given back.
    taken: Vec<u64>,
    /// The locks of its last turn, if it waits to make another.
    awaited: Vec<u64>,
    /// Who has done something to them since that turn began, and at which step.
    wakers: Vec<(usize, usize)>,
    /// Whether it makes another turn after one that found nothing, and at which step that began.
    again: Option<usize>,
}

impl Poll {
    /// Whether nothing is remembered.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The thread changed something: what it did before is no part of a turn.
    #[inline(always)]
    pub fn clear(&mut self) {
        if !self.is_empty() {
            self.forget();
        }
    }

    #[cold]
    fn forget(&mut self) {
        self.heads.clear();
        self.touched.clear();
        self.reads.clear();
        self.taken.clear();
        self.again = None;
    }

    /// Forgets everything, for a new run.
    pub fn reset(&mut self) {
        self.forget();
        self.awaited.clear();
        self.wakers.clear();
    }

    /// Whether it holds something that it took in the turn that is under way.
    pub fn holds(&self) -> bool {
        !self.taken.is_empty()
    }

    fn takes(&mut self, object: u64) {
        if !self.is_empty() {
            self.taken.push(object);
            self.touched.push(object);
        }
    }

    fn gives(&mut self, object: u64) {
        match self.taken.iter().rposition(|&taken| taken == object) {
            Some(at) => {
                self.taken.remove(at);
                self.touched.push(object);
            }
            // Others may wait for what it had before.
            None => self.clear(),
        }
    }

    /// It read an atomic variable.
    #[inline(always)]
    pub fn reads(&mut self, access: &Access) {
        if !self.is_empty() {
            self.reads.push(*access);
        }
    }

    /// It is about to take a lock; if a turn that found nothing ends here, what it read, and at how many steps it began.
    fn arrives(&mut self, state: u64, step: usize) -> Option<(Vec<Access>, usize)> {
        if !self.taken.is_empty() {
            return None;
        }
        let Some(at) = self.heads.iter().rposition(|head| head.state == state) else {
            if self.heads.len() >= HEADS_MAX {
                self.forget();
            }
            self.heads.push(Head { state, step, touched: self.touched.len(), reads: self.reads.len() });
            return None;
        };
        let head = self.heads[at];
        self.awaited = self.touched.split_off(head.touched);
        self.awaited.sort_unstable();
        self.awaited.dedup();
        let reads = self.reads.split_off(head.reads);
        self.heads.truncate(at + 1);
        self.again = None;
        Some((reads, head.step))
    }
}

/// Something that was done to a lock.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    object: u64,
    thread: usize,
    step: usize,
}

impl Control {
    /// The current thread is about to take a lock; whether it has to wait until another turn of its loop may find something else.
    pub fn polls(&mut self, pc: u64) -> bool {
        if !self.search.settings.spins || self.run.endless.has_taken_over() || self.run.created < 2 {
            return false;
        }
        let (current, step) = (self.run.current, self.run.trace.len());
        let Some(state) = spin::state(pc, site::registers(), self.fiber().top) else { return false };
        let Some((reads, began)) = self.fiber().spin.poll.arrives(state, step) else { return false };
        // What was read twice, and was not the same, is not what the next turn finds.
        if spin::saw_change(&reads) {
            self.fiber().spin.poll.clear();
            return false;
        }
        let own = |thread: usize, at: usize| thread == current && at >= began;
        self.run.touches.retain(|touch| !own(touch.thread, touch.step));
        for fiber in &mut self.process.fibers[..self.run.created] {
            fiber.spin.poll.wakers.retain(|&(thread, at)| !own(thread, at));
        }
        let awaited = &self.process.fibers[current].spin.poll.awaited;
        let wakes = |touch: &&Touch| {
            touch.thread != current && touch.step >= began && awaited.binary_search(&touch.object).is_ok()
        };
        let wakers = self.run.touches.iter().filter(wakes).map(|touch| (touch.thread, touch.step)).collect();
        self.fiber().spin.poll.wakers = wakers;
        self.run.polling.insert(current);
        self.fiber().woken = false;
        if !reads.is_empty() {
            self.fiber().spin.awaits(&reads);
            self.expect_change();
        }
        true
    }

    /// Whether that thread waits until another turn may find something else, which it may not yet.
    pub fn polls_in_vain(&self, thread: usize) -> bool {
        if !self.run.polling.contains(thread) || self.process.fibers[thread].woken {
            return false;
        }
        // A turn of another that has not ended may be one that finds nothing.
        let counts = |&(thread, step): &(usize, usize)| {
            let fiber = &self.process.fibers[thread];
            fiber.ended || fiber.spin.poll.again.is_none_or(|again| step < again)
        };
        !self.process.fibers[thread].spin.poll.wakers.iter().any(counts)
    }

    /// The current thread makes another turn, with the step that is under way.
    #[cold]
    pub fn polls_again(&mut self, made: &Access) {
        let (current, step) = (self.run.current, self.run.trace.len());
        self.run.polling.remove(current);
        self.run.trace.access(Access::new(objects::wake(current), 1, Kind::Await).waiting());
        if self.run.spinning.contains(current) {
            self.saw_change(Some(made));
        }
        let poll = &mut self.fiber().spin.poll;
        poll.wakers.clear();
        poll.again = Some(step);
        if let Some(head) = poll.heads.last_mut() {
            head.step = step;
        }
    }

    /// The current thread took a lock, with the step that is under way.
    pub fn takes_lock(&mut self, object: u64) {
        self.touch_lock(object);
        self.fiber().spin.takes_lock();
        self.fiber().spin.poll.takes(object);
    }

    /// The current thread gave a lock back, with the step that is under way.
    pub fn gives_lock(&mut self, object: u64) {
        self.touch_lock(object);
        self.fiber().spin.gives_lock();
        self.fiber().spin.poll.gives(object);
    }

    /// The current thread did something to a lock, or saw what it is, with the step that is under way.
    pub fn touch_lock(&mut self, object: u64) {
        let (current, step) = (self.run.current, self.run.trace.len());
        self.run.touches.push(Touch { object, thread: current, step });
        let mut rest = self.run.polling.clone();
        rest.remove(current);
        while let Some(thread) = rest.pop() {
            let poll = &mut self.process.fibers[thread].spin.poll;
            if poll.awaited.binary_search(&object).is_ok() {
                poll.wakers.push((current, step));
                self.run.waking.insert(thread);
            }
        }
    }

    /// The step that is under way may let threads make another turn.
    #[cold]
    pub fn wakes_pollers(&mut self) {
        let mut rest = std::mem::take(&mut self.run.waking);
        while let Some(thread) = rest.pop() {
            self.run.trace.access(Access::new(objects::wake(thread), 1, Kind::Write));
        }
    }

    /// Nobody can go: whether there were threads that waited to make another turn, which they do not any more.
    pub fn stop_polling(&mut self) -> bool {
        let any = !self.run.polling.is_empty();
        if any {
            self.run.polling.clear();
            self.run.endless.take_over(self.run.trace.len());
        }
        any
    }
}
