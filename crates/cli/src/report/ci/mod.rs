//! What continuous integration reads: JUnit's XML ([`junit`]), SARIF ([`sarif`]) and GitHub's annotations ([`annotations`]).
//!
//! All three are views of the same [`Case`]s, which are made of an outcome ([`cases`]), so every command has them.
//! Invariant: *unknown* is never shown as passed, and wrong input never as tested.

mod annotations;
mod cases;
mod junit;
mod sarif;

pub use self::cases::cases;

use std::path::PathBuf;

use clap::Args;

use super::print::complain;
use super::verdict::VerdictName;
use crate::trouble::Trouble;

/// The flags as typed.
#[derive(Args, Clone, Debug, Default)]
pub struct OutputFlags {
    /// Say nothing of what passed, and show no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// Also write the results as JUnit's XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Also write the violations as SARIF, at their source lines
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,

    /// Also print the violations to standard error as annotations, the way
    /// GitHub reads them
    #[arg(long)]
    pub annotations: bool,
}

impl OutputFlags {
    /// Whether something of it is wanted.
    pub fn wants_cases(&self) -> bool {
        self.junit.is_some() || self.sarif.is_some() || self.annotations
    }

    /// Writes what was asked for, of all cases together; what went wrong.
    pub fn write(&self, cases: &[Case]) -> Vec<Trouble> {
        if self.annotations {
            complain(&annotations::render(cases));
        }
        let files = [(&self.junit, junit::render as fn(&[Case]) -> String), (&self.sarif, sarif::render)];
        let mut troubles = Vec::new();
        for (path, render) in files {
            let Some(path) = path else { continue };
            if let Err(error) = std::fs::write(path, render(cases)) {
                troubles.push(Trouble::io(&path.display().to_string(), &error));
            }
        }
        troubles
    }
}

/// How one test, history or assertion ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseEnd {
    /// It passed.
    Pass,
    /// It has this violation.
    Fail,
    /// Nothing is known of it.
    Unknown,
    /// The input is wrong.
    Error,
}

impl From<VerdictName> for CaseEnd {
    fn from(verdict: VerdictName) -> Self {
        match verdict {
            VerdictName::Pass => CaseEnd::Pass,
            VerdictName::Fail => CaseEnd::Fail,
            VerdictName::Unknown => CaseEnd::Unknown,
        }
    }
}

/// One test, history or assertion, or one of several violations of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The file it belongs to.
    pub suite: String,
    /// What it is called.
    pub name: String,
    /// How it ended.
    pub end: CaseEnd,
    /// The kind of violation, the limit, or what else there is in a word.
    pub kind: String,
    /// Sentences.
    pub message: String,
    /// Where in the source: a file and a line from 1, if it is known.
    pub place: Option<(String, Option<u64>)>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

#[cfg(test)]
mod tests;
