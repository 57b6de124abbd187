//! A part of a search, small enough to be given to somebody else.
//!
//! Invariant: the runs of a search come in one order, a part is an interval of that order, and what [`crate::Strategy::rest`] answers are the
//! intervals that are left, in order. So however a search is taken apart, the same runs are made, and a sum over
//! the parts in their order is what the undivided search counts.

/// A part of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A part of a depth-first search: it begins with these decisions, by their rank among the options, and ends when a
    /// decision other than the first `fixed` has no options left.
    Tree {
        /// The decisions of the first run.
        ranks: Vec<u32>,
        /// How many of them are those of all runs.
        fixed: u32,
    },
    /// Runs by their number.
    Runs {
        /// The first.
        first: u64,
        /// How many.
        count: u64,
    },
}

/// In how many parts runs are shared out.
const SHARES: u64 = 32;

impl Part {
    /// All of a depth-first search.
    pub fn whole_tree() -> Part {
        Part::Tree { ranks: vec![], fixed: 0 }
    }

    pub(crate) fn tree(&self) -> Option<(Vec<u32>, usize)> {
        match self {
            Part::Tree { ranks, fixed } => Some((ranks.clone(), *fixed as usize)),
            Part::Runs { .. } => None,
        }
    }

    /// The runs `first` to `end`, in parts of about the same size.
    pub fn of_runs(first: u64, end: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let share = (end.saturating_sub(first) / SHARES).max(1);
        let mut at = first;
        while at < end {
            // The last one takes what the division leaves over.
            let count = if parts.len() as u64 + 1 == SHARES { end - at } else { share.min(end - at) };
            parts.push(Part::Runs { first: at, count });
            at += count;
        }
        parts
    }
}
