//! What was found, and how much of it can be relied on.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How many violations are kept with their text; all are counted.
const KEPT_MAX: usize = 1 << 10;

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule that was broken, such as `overtaken`.
    pub rule: &'static str,
    /// What happened, with the operations that show it.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.text)
    }
}

/// The verdict so far.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is wrong in what is over, and everything was checked. A queue says so only when nobody uses it and it is empty.
    NothingWrong,
    /// Something is wrong.
    Fail,
    /// Nothing wrong was seen, but not everything could be checked.
    Unknown,
}

type Listener = Arc<dyn Fn(&Violation) + Send + Sync>;

/// What is collected while the object is in use.
#[derive(Default)]
pub(crate) struct Findings {
    violations: AtomicU64,
    unchecked: AtomicU64,
    kept: Mutex<Vec<Violation>>,
    listener: Mutex<Option<Listener>>,
}

impl fmt::Debug for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Findings").field("violations", &self.violations).finish_non_exhaustive()
    }
}

impl Findings {
    #[cold]
    pub fn found(&self, rule: &'static str, text: String) {
        let violation = Violation { rule, text };
        self.keep(&violation);
        self.tell(&violation);
    }

    /// From now on it is in reports.
    pub fn keep(&self, violation: &Violation) {
        self.violations.fetch_add(1, Ordering::Relaxed);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT_MAX {
            kept.push(violation.clone());
        }
    }

    /// Calls who wants to know. No lock is held meanwhile: whoever is called may use the object.
    pub fn tell(&self, violation: &Violation) {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(listener) = listener {
            listener(violation);
        }
    }

    #[cold]
    pub fn unchecked(&self, operations: u64) {
        self.unchecked.fetch_add(operations, Ordering::Relaxed);
    }

    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.violations.load(Ordering::Relaxed) == 0
    }

    pub fn listen(&self, listener: impl Fn(&Violation) + Send + Sync + 'static) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(listener));
    }

    pub fn report(&self, exact: bool) -> Report {
        Report {
            total: self.violations.load(Ordering::Relaxed),
            unchecked: self.unchecked.load(Ordering::Relaxed),
            exact,
            violations: self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// What was found so far.
#[derive(Clone, Debug)]
pub struct Report {
    total: u64,
    unchecked: u64,
    exact: bool,
    violations: Vec<Violation>,
}

impl Report {
    /// With so many operations more that are not checked.
    pub(crate) fn with_unchecked(self, unchecked: u64) -> Self {
        Report { unchecked: self.unchecked + unchecked, ..self }
    }

    /// The violations, the first 1,024 of them.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How many violations there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many operations could not be checked in full.
    pub fn unchecked(&self) -> u64 {
        self.unchecked
    }

    /// The verdict so far.
    pub fn verdict(&self) -> Verdict {
        match (self.total, self.unchecked, self.exact) {
            (0, 0, true) => Verdict::NothingWrong,
            (0, ..) => Verdict::Unknown,
            _ => Verdict::Fail,
        }
    }
}
