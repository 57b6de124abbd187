//! Fair treatment of threads that wait by spinning.
//!
//! A thread that yields is held back until every other thread that could go at that moment has made a step or can no
//! longer go (Musuvathi and Qadeer, *Fair stateless model checking*, PLDI 2008, with windows of one yield). Two threads that spin
//! on a third can so take turns only with the third between them.
//!
//! Invariant: if some thread is enabled, some enabled thread is not held, or all are and then the hold means nothing
//! ([`crate::ChoicePoint::available`]).

use crate::access::Thread;

/// Who is held back for whom.
#[derive(Clone, Debug)]
pub struct Fairness {
    /// For each thread, the threads that go first, one bit each.
    first: [u64; Thread::MAX],
    /// The threads with a set that is not empty.
    held: u64,
}

impl Default for Fairness {
    fn default() -> Self {
        Self { first: [0; Thread::MAX], held: 0 }
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
            *self = Self::default();
        }
    }

    /// A thread made a step, and gave up its turn with it or not. `enabled` has a bit for each thread that can go now.
    pub fn stepped(&mut self, thread: Thread, yielded: bool, enabled: u64) {
        let bit = 1u64 << thread.index();
        let mut rest = self.held;
        while rest != 0 {
            let other = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            self.first[other] &= enabled & !bit;
            if self.first[other] == 0 {
                self.held &= !(1 << other);
            }
        }
        self.first[thread.index()] = if yielded { enabled & !bit } else { 0 };
        if self.first[thread.index()] == 0 { self.held &= !bit } else { self.held |= bit }
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
    fn who_can_no_longer_go_is_not_waited_for() {
        let mut fair = Fairness::new();
        fair.stepped(Thread(0), true, 0b11);
        assert!(fair.holds(Thread(0), 0b11));
        assert!(!fair.holds(Thread(0), 0b01), "thread 1 is blocked");
        fair.stepped(Thread(0), true, 0b01);
        assert!(!fair.any(), "nobody to wait for");
    }
}
