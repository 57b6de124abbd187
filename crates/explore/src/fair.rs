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
use crate::threads::Threads;

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
        let held = at.held.contains(thread.index());
        (!held && self.is_fresh()) || self.count(thread, held.then_some(at.ready))
    }

    #[cold]
    fn count(&mut self, thread: Thread, passed: Option<&Threads>) -> bool {
        self.passed_over.resize(Thread::MAX, 0);
        self.passed_over[thread.index()] = 0;
        passed.into_iter().flat_map(Threads::iter).for_each(|other| self.passed_over[other] += 1);
        self.passed_over.iter().all(|&times| times <= PASSED_OVER_MAX)
    }
}

/// Who is held back for whom.
#[derive(Clone, Debug, Default)]
pub struct Fairness {
    /// For each thread, the threads that go first: as many as were ever held.
    first: Vec<Threads>,
    /// The threads with a set that is not empty.
    held: Threads,
    /// Those of them that went nevertheless.
    pressed: Threads,
    /// The threads that could go before the step.
    enabled: Threads,
}

impl Fairness {
    /// Nobody is held back.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything, for a new run.
    pub fn reset(&mut self) {
        if self.any() {
            self.first.clear();
            self.held.clear();
            self.pressed.clear();
            self.enabled.clear();
        }
    }

    /// A thread made a step, and gave up its turn with it or not; `enabled` can go now.
    pub fn stepped(&mut self, thread: Thread, yielded: bool, enabled: &Threads) {
        let number = thread.index();
        // Where all were held back, this one was as good as any.
        if self.holds(thread, &self.enabled) {
            let mut others = self.enabled.without(&self.held);
            others.remove(number);
            if !others.is_empty() {
                self.pressed.insert(number);
            }
        }
        self.enabled.clone_from(enabled);
        let mut rest = self.held.clone();
        while let Some(other) = rest.pop() {
            let first = &mut self.first[other];
            first.remove(number);
            if !self.pressed.contains(other) {
                *first = first.and(enabled);
            }
            if first.is_empty() {
                self.held.remove(other);
                self.pressed.remove(other);
            }
        }
        if !self.pressed.contains(number) {
            let mut others = if yielded { enabled.clone() } else { Threads::new() };
            others.remove(number);
            self.held.set(number, !others.is_empty());
            if yielded && self.first.len() <= number {
                self.first.resize(number + 1, Threads::new());
            }
            if let Some(first) = self.first.get_mut(number) {
                *first = others;
            }
        }
    }

    /// Whether the thread has to let others go first. `enabled` as above.
    #[inline]
    pub fn holds(&self, thread: Thread, enabled: &Threads) -> bool {
        self.first.get(thread.index()).is_some_and(|first| first.meets(enabled))
    }

    /// The threads among `enabled` that have to let others go first.
    pub fn held_back(&self, enabled: &Threads) -> Threads {
        let mut back = self.held.and(enabled);
        let mut rest = back.clone();
        while let Some(thread) = rest.pop() {
            if !self.first[thread].meets(enabled) {
                back.remove(thread);
            }
        }
        back
    }

    /// The threads that are held back for somebody.
    #[inline(always)]
    pub fn held(&self) -> &Threads {
        &self.held
    }

    /// Whether anybody is held back at all.
    #[inline(always)]
    pub fn any(&self) -> bool {
        !self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(word: u64) -> Threads {
        Threads::of_word(word)
    }

    #[test]
    fn two_spinners_cannot_starve_the_third() {
        let mut fair = Fairness::new();
        let all = &set(0b111);
        fair.stepped(Thread(0), true, all);
        assert!(fair.holds(Thread(0), all) && !fair.holds(Thread(1), all));
        fair.stepped(Thread(1), true, all);
        assert!(fair.holds(Thread(0), all), "thread 2 has not had its turn");
        assert!(fair.holds(Thread(1), all));
        assert_eq!(fair.held_back(all), set(0b011));
        fair.stepped(Thread(2), false, all);
        assert!(!fair.holds(Thread(0), all));
        assert_eq!(fair.held_back(all), set(0b010));
        assert!(fair.holds(Thread(1), all), "thread 0 could go when thread 1 yielded, and has not gone since");
        fair.stepped(Thread(0), true, all);
        assert!(!fair.holds(Thread(1), all));
        assert!(fair.holds(Thread(0), all));
    }

    #[test]
    fn who_presses_on_is_still_held() {
        let mut fair = Fairness::new();
        let all = &set(0b111);
        fair.stepped(Thread(0), true, all);
        fair.stepped(Thread(0), false, all);
        assert!(fair.holds(Thread(0), all), "the others have not gone");
        fair.stepped(Thread(1), false, all);
        fair.stepped(Thread(0), true, all);
        assert!(fair.holds(Thread(0), all) && !fair.holds(Thread(0), &set(0b011)), "thread 1 has had its turn");
        fair.stepped(Thread(2), false, all);
        assert!(!fair.any());
    }

    /// One that takes a lock and gives it back again and again keeps the other from going for half of the time.
    #[test]
    fn who_waits_in_between_is_not_forgotten() {
        let mut fair = Fairness::new();
        fair.stepped(Thread(0), true, &set(0b11));
        fair.stepped(Thread(0), false, &set(0b01));
        assert!(!fair.holds(Thread(0), &set(0b01)), "nobody else can go");
        fair.stepped(Thread(0), false, &set(0b11));
        assert!(fair.holds(Thread(0), &set(0b11)));
        fair.stepped(Thread(1), false, &set(0b11));
        assert!(!fair.any());
    }

    #[test]
    fn where_all_are_held_the_one_that_goes_is_free() {
        let mut fair = Fairness::new();
        fair.stepped(Thread(0), true, &set(0b111));
        fair.stepped(Thread(1), true, &set(0b011));
        fair.stepped(Thread(0), false, &set(0b011));
        assert!(!fair.holds(Thread(0), &set(0b011)), "nobody else could go but one who was held, too");
    }

    #[test]
    fn who_can_no_longer_go_is_not_waited_for() {
        let mut fair = Fairness::new();
        fair.stepped(Thread(0), true, &set(0b11));
        assert!(fair.holds(Thread(0), &set(0b11)));
        assert!(!fair.holds(Thread(0), &set(0b01)), "thread 1 is blocked");
        let mut fair = Fairness::new();
        fair.stepped(Thread(0), true, &set(0b111));
        fair.stepped(Thread(2), false, &set(0b101));
        assert!(!fair.any(), "thread 2 has gone, thread 1 is blocked");
    }
}
