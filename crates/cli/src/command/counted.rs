//! `selvedge check --approximate` and `--kernel`: violations that operation counting shows.
//!
//! Invariant: the answer is fail or unknown, never pass: that nothing is visible says nothing about the rest.

use std::path::{Path, PathBuf};

use clap::Args;
use selvedge_history::counting::kernel::{self, Formula};
use selvedge_history::counting::{Prefixes, Unapproximated, approximate};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Log};

use super::formula;
use crate::report::outcome::{Counted, CountedViolation, Recorded};
use crate::trouble::Trouble;

/// The flags as typed.
#[derive(Args)]
pub struct CountingFlags {
    /// Only look for violations that operation counting shows, such as k=2
    #[arg(long, value_name = "k=N", value_parser = approximation)]
    approximate: Option<u8>,

    /// Look for violations of this kernel: a grammar of the legal serial executions, or mutex, rwlock, semaphore(N), bounded-semaphore(N), nonnegative-counter
    #[arg(long, value_name = "KERNEL", conflicts_with_all = ["approximate", "object"])]
    kernel: Option<PathBuf>,

    /// With --kernel: how many of the last bounds between operations are kept apart
    #[arg(short, value_name = "K", default_value_t = 2, requires = "kernel", value_parser = clap::value_parser!(u8).range(0..=8))]
    k: u8,

    /// With --approximate or --kernel: look at up to so many beginnings of each object's history too, since counting forgets what is
    /// long past; 1000 for up to 2000 operations and none for more, if not given
    #[arg(long, value_name = "N")]
    prefixes: Option<usize>,
}

/// The k of `--approximate`.
pub(super) fn approximation(text: &str) -> Result<u8, String> {
    let number = text.strip_prefix("k=").unwrap_or(text);
    number.parse().ok().filter(|k| *k <= 8).ok_or_else(|| "expected k=N with N from 0 to 8".to_owned())
}

/// What to count, as resolved.
#[derive(Clone)]
pub struct Counting {
    kernel: Option<PathBuf>,
    k: usize,
    prefixes: Option<usize>,
}

impl CountingFlags {
    /// What was asked for, if anything.
    pub fn resolve(self) -> Option<Counting> {
        let k = match (&self.kernel, self.approximate) {
            (Some(_), _) => self.k,
            (None, Some(k)) => k,
            (None, None) => return None,
        };
        Some(Counting { kernel: self.kernel, k: usize::from(k), prefixes: self.prefixes })
    }
}

impl Counting {
    /// Whether a kernel is asked, and no object.
    pub fn is_by_kernel(&self) -> bool {
        self.kernel.is_some()
    }

    /// The kernel's formula, if one is to be used.
    pub fn formula(&self) -> Result<Option<Formula>, Trouble> {
        self.kernel.as_deref().map(|kernel: &Path| formula::read(kernel, self.k)).transpose()
    }

    /// Looks by the formulas of a built-in object.
    pub fn by_object<'a>(
        &self,
        history: &Recorded<'a>,
        kind: Kind,
        budget: &Budget,
    ) -> Result<Counted<'a>, Unapproximated> {
        let answer = approximate(history.log, kind, history.initial, self.k, self.prefixes(history.log), budget)?;
        let violation = answer.violation.map(|violation| CountedViolation {
            part: violation.part,
            events: violation.events,
            formula: violation.formula,
            what: violation.what.to_owned(),
            demands: violation.demands.iter().map(ToString::to_string).collect(),
            operations: violation.operations,
        });
        let (of, object, k) = (*history, Some(kind), self.k);
        Ok(Counted { of, object, k, violation, halt: answer.halt, length: answer.length, looked_at: answer.looked_at })
    }

    /// Looks by the formula of a kernel.
    pub fn by_kernel<'a>(
        &self,
        history: &Recorded<'a>,
        formula: &Formula,
        budget: &Budget,
    ) -> Result<Counted<'a>, kernel::Unknown> {
        let answer = kernel::check(history.log, formula, self.prefixes(history.log), budget)?;
        let violation = answer.violation.map(|violation| CountedViolation {
            operations: violation.operations(),
            part: violation.part,
            events: violation.events,
            formula: "kernel",
            what: "no serial execution of the kernel has so many operations of each kind in these slots".to_owned(),
            demands: violation.demands.iter().map(ToString::to_string).collect(),
        });
        let (of, k) = (*history, self.k);
        Ok(Counted {
            of,
            object: None,
            k,
            violation,
            halt: answer.halt,
            length: answer.length,
            looked_at: answer.looked_at,
        })
    }

    fn prefixes(&self, log: &Log) -> Prefixes {
        // Each beginning costs as much as the whole.
        let usual = if log.history.len() <= 2_000 { 1_000 } else { 0 };
        match self.prefixes.unwrap_or(usual) {
            0 => Prefixes::Whole,
            most => Prefixes::AtMost(most),
        }
    }
}
