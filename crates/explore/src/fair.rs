//! Fair treatment of threads that wait by spinning.
//!
//! A thread that yields is held back until every other thread that could go at that moment has made a step or can no
//! longer go (Musuvathi and Qadeer, *Fair stateless model checking*, PLDI 2008, with windows of one yield). Two threads that spin
//! on a third can so take turns only with the third between them.
//!
//! A strategy may press on with a thread that is held back. It then stays so, even if those who should have gone first wait in
//! between, until each of them has made a step.
//!
//! Invariant: if some thread is enabled, some enabled thread is not held, or all are and then the hold means nothing
//! ([`crate::ChoicePoint::available`]).

use crate::access::Thread;
use crate::point::ChoicePoint;

/// How often in a row a thread may be passed over by one that has to let it go first. A schedule in which it is once more is not
/// fair any longer.
const PASSED_OVER_MAX: u32 = 100;

/// How long a search that goes on with threads that are held back does so.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patience {
    /// How often, since each thread last went, another did that had to let it go first.
    passed_over: Vec<u32>,
}

impl Patience {
    /// A new run.
    pub(crate) fn start(&mut self) {
        self.passed_over.clear();
    }

    /// Whether nobody has been passed over in this run, so that there is nothing to count while nobody is held.
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.passed_over.is_empty()
    }

    /// Whether the run may go on with that thread, which is counted.
    #[inline]
    pub(crate) fn allows(&mut self, thread: Thread, at: &ChoicePoint<'_>) -> bool {
        let held = at.held >> thread.index() & 1 == 1;
        (!held && self.is_fresh()) || self.count(thread, if held { at.ready } else { 0 })
    }

    #[cold]
    fn count(&mut self, thread: Thread, mut passed: u64) -> bool {
        self.passed_over.resize(Thread::MAX, 0);
        self.passed_over[thread.index()] = 0;
        while passed != 0 {
            self.passed_over[passed.trailing_zeros() as usize] += 1;
            passed &= passed - 1;
        }
        self.passed_over.iter().all(|&times| times <= PASSED_OVER_MAX)
    }
}

/// Who is held back for whom.
#[derive(Clone, Debug)]
pub struct Fairness {
    /// For each thread, the threads that go first, one bit each.
    first: Box<[u64; Thread::MAX]>,
    /// The threads with a set that is not empty.
    held: u64,
    /// Those of them that went nevertheless.
    pressed: u64,
    /// The threads that could go before the step.
    enabled: u64,
}

impl Default for Fairness {
    fn default() -> Self {
        Self { first: Box::new([0; Thread::MAX]), held: 0, pressed: 0, enabled: 0 }
    }
}

impl Fairness {
    /// Nobody is held back.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything, for a new run.
    pub fn reset(&mut self) {
        if self.any() {
            self.first.fill(0);
            (self.held, self.pressed, self.enabled) = (0, 0, 0);
        }
    }

    /// A thread made a step, and gave up its turn with it or not. `enabled` has a bit for each thread that can go now.
    pub fn stepped(&mut self, thread: Thread, yielded: bool, enabled: u64) {
        let bit = 1u64 << thread.index();
        // Where all were held back, this one was as good as any.
        if self.holds(thread, self.enabled) && self.enabled & !bit & !self.held != 0 {
            self.pressed |= bit;
        }
        self.enabled = enabled;
        let mut rest = self.held;
        while rest != 0 {
            let other = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            self.first[other] &= !bit & if self.pressed >> other & 1 == 0 { enabled } else { u64::MAX };
            if self.first[other] == 0 {
                self.held &= !(1 << other);
                self.pressed &= !(1 << other);
            }
        }
        if self.pressed & bit == 0 {
            self.first[thread.index()] = if yielded { enabled & !bit } else { 0 };
            if self.first[thread.index()] == 0 { self.held &= !bit } else { self.held |= bit }
        }
    }

    /// Whether the thread has to let others go first. `enabled` as above.
    #[inline]
    pub fn holds(&self, thread: Thread, enabled: u64) -> bool {
        self.first[thread.index()] & enabled != 0
    }

    /// The threads among `enabled` that have to let others go first, one bit each.
    pub fn held_back(&self, enabled: u64) -> u64 {
        let (mut rest, mut back) = (self.held & enabled, 0);
        while rest != 0 {
            let thread = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            back |= u64::from(self.first[thread] & enabled != 0) << thread;
        }
        back
    }

    /// The threads that are held back for somebody, one bit each.
    #[inline]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Whether anybody is held back at all.
    #[inline]
    pub fn any(&self) -> bool {
        self.held != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spinners_cannot_starve_the_third() {
        let mut fair = Fairness::new();
        let all = 0b111;
        fair.stepped(Thread(0), true, all);
        assert!(fair.holds(Thread(0), all) && !fair.holds(Thread(1), all));
        fair.stepped(Thread(1), true, all);
        assert!(fair.holds(Thread(0), all), "thread 2 has not had its turn");
        assert!(fair.holds(Thread(1), all));
        assert_eq!(fair.held_back(all), 0b011);
        fair.stepped(Thread(2), false, all);
        assert!(!fair.holds(Thread(0), all));
        assert_eq!(fair.held_back(all), 0b010);
        assert!(fair.holds(Thread(1), all), "thread 0 could go when thread 1 yielded, and has not gone since");
        fair.stepped(Thread(0), true, all);
        assert!(!fair.holds(Thread(1), all));
        assert!(fair.holds(Thread(0), all));
    }

    #[test]
    fn who_presses_on_is_still_held() {
        let mut fair = Fairness::new();
        let all = 0b111;
        fair.stepped(Thread(0), true, all);
        fair.stepped(Thread(0), false, all);
        assert!(fair.holds(Thread(0), all), "the others have not gone");
        fair.stepped(Thread(1), false, all);
        fair.stepped(Thread(0), true, all);
        assert!(fair.holds(Thread(0), all) && !fair.holds(Thread(0), 0b011), "thread 1 has had its turn");
        fair.stepped(Thread(2), false, all);
        assert!(!fair.any());
    }

    /// One that takes a lock and gives it back again and again keeps the other from going for half of the time.
    #[test]
    fn who_waits_in_between_is_not_forgotten() {
        let mut fair = Fairness::new();
        fair.stepped(Thread(0), true, 0b11);
        fair.stepped(Thread(0), false, 0b01);
        assert!(!fair.holds(Thread(0), 0b01), "nobody else can go");
        fair.stepped(Thread(0), false, 0b11);
        assert!(fair.holds(Thread(0), 0b11));
        fair.stepped(Thread(1), false, 0b11);
        assert!(!fair.any());
    }

    #[test]
    fn where_all_are_held_the_one_that_goes_is_free() {
        let mut fair = Fairness::new();
        fair.stepped(Thread(0), true, 0b111);
        fair.stepped(Thread(1), true, 0b011);
        fair.stepped(Thread(0), false, 0b011);
        assert!(!fair.holds(Thread(0), 0b011), "nobody else could go but one who was held, too");
    }

    #[test]
    fn who_can_no_longer_go_is_not_waited_for() {
        let mut fair = Fairness::new();
        fair.stepped(Thread(0), true, 0b11);
        assert!(fair.holds(Thread(0), 0b11));
        assert!(!fair.holds(Thread(0), 0b01), "thread 1 is blocked");
        let mut fair = Fairness::new();
        fair.stepped(Thread(0), true, 0b111);
        fair.stepped(Thread(2), false, 0b101);
        assert!(!fair.any(), "thread 2 has gone, thread 1 is blocked");
    }
}
