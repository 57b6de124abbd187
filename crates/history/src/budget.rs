//! How long a check may go on, and how far it has come.
//!
//! A budget is asked often and must be cheap: one relaxed load. Whoever holds a clone (a timer, a signal handler, a
//! memory gauge) may spend it; a spent budget never recovers. The check notes in it what it has found out, so that whoever
//! has to cut it short can still say that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::Limit;

/// A shared permission to go on, until somebody spends it.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    spent: AtomicU8,
    parts: AtomicU64,
    parts_passed: AtomicU64,
    states: AtomicU64,
    longest: AtomicU64,
    /// 0 where there is no such limit.
    states_max: u64,
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoFar {
    /// How many independent objects there are.
    pub parts: u64,
    /// How many of them were found linearizable.
    pub parts_passed: u64,
    /// How many configurations the search has visited, about.
    pub states: u64,
    /// The most operations that the search at work has placed at once.
    pub longest: u64,
}

impl Budget {
    /// A budget that nobody has spent yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A budget that is spent when searches have visited about that many configurations, all of which they keep in memory.
    pub fn of_states(states_max: u64) -> Self {
        Budget { shared: Arc::new(Shared { states_max: states_max.max(1), ..Shared::default() }) }
    }

    /// Ends every check that uses this budget. The first limit spent is the one reported.
    pub fn spend(&self, limit: Limit) {
        let code = match limit {
            Limit::Time => 1,
            Limit::Memory => 2,
            Limit::Interrupted => 3,
        };
        let _ = self.shared.spent.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The limit that was reached, if any.
    pub fn reached(&self) -> Option<Limit> {
        match self.shared.spent.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Limit::Time),
            2 => Some(Limit::Memory),
            _ => Some(Limit::Interrupted),
        }
    }

    /// `Err` with the limit once it is reached, for use with `?`.
    pub fn check(&self) -> Result<(), Limit> {
        self.reached().map_or(Ok(()), Err)
    }

    /// What the check that uses this budget has noted.
    pub fn so_far(&self) -> SoFar {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SoFar {
            parts: read(&self.shared.parts),
            parts_passed: read(&self.shared.parts_passed),
            states: read(&self.shared.states),
            longest: read(&self.shared.longest),
        }
    }

    /// A check of so many parts begins.
    pub(crate) fn note_start(&self, parts: usize) {
        self.shared.parts.store(parts as u64, Ordering::Relaxed);
        for counter in [&self.shared.parts_passed, &self.shared.states, &self.shared.longest] {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// One more part passed.
    pub(crate) fn note_part(&self) {
        self.shared.parts_passed.fetch_add(1, Ordering::Relaxed);
    }

    /// The search has visited so many more configurations and placed that many operations at once.
    pub(crate) fn note_search(&self, states: u64, longest: usize) {
        let before = self.shared.states.fetch_add(states, Ordering::Relaxed);
        if self.shared.states_max > 0 && before + states >= self.shared.states_max {
            self.spend(Limit::Memory);
        }
        self.shared.longest.store(longest as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_limit_spent_stays() {
        let budget = Budget::new();
        assert_eq!(budget.check(), Ok(()));
        budget.clone().spend(Limit::Memory);
        budget.spend(Limit::Time);
        assert_eq!(budget.reached(), Some(Limit::Memory));
    }

    #[test]
    fn states_are_limited() {
        let budget = Budget::of_states(500);
        budget.note_search(256, 1);
        assert_eq!(budget.check(), Ok(()));
        budget.note_search(256, 2);
        assert_eq!(budget.check(), Err(Limit::Memory));
    }

    #[test]
    fn what_is_noted_is_seen_by_every_holder() {
        let budget = Budget::new();
        let other = budget.clone();
        budget.note_start(3);
        budget.note_part();
        budget.note_search(256, 7);
        budget.note_search(256, 9);
        assert_eq!(other.so_far(), SoFar { parts: 3, parts_passed: 1, states: 512, longest: 9 });
        budget.note_start(1);
        assert_eq!(other.so_far(), SoFar { parts: 1, ..SoFar::default() });
    }
}
