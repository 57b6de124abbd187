//! How long a check may go on.
//!
//! A budget is asked often and must be cheap: one relaxed load. Whoever holds a clone (a timer, a signal handler, a
//! memory gauge) may spend it; a spent budget never recovers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::Limit;

/// A shared permission to go on, until somebody spends it.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    spent: Arc<AtomicU8>,
}

impl Budget {
    /// A budget that nobody has spent yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends every check that uses this budget. The first limit spent is the one reported.
    pub fn spend(&self, limit: Limit) {
        let code = match limit {
            Limit::Time => 1,
            Limit::Memory => 2,
            Limit::Interrupted => 3,
        };
        let _ = self.spent.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The limit that was reached, if any.
    pub fn reached(&self) -> Option<Limit> {
        match self.spent.load(Ordering::Relaxed) {
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
}
