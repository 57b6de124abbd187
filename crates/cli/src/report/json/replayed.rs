//! The document of a schedule that was run again.

use serde::Serialize;

use super::{Found, VERSION, round, write};
use crate::findings::Saved;
use crate::report::outcome::Replayed;
use crate::report::verdict::{Coverage, Criterion, VerdictName};

#[derive(Serialize)]
struct ReplayDocument<'a> {
    file: &'a str,
    verdict: VerdictName,
    criterion: Criterion,
    coverage: Coverage,
    seconds: f64,
    version: &'static str,
    test: &'a str,
    same: bool,
    findings: Vec<Found>,
}

/// The document.
pub fn replayed(replayed: &Replayed<'_>) -> String {
    write(&ReplayDocument {
        file: replayed.file,
        verdict: replayed.verdict(),
        criterion: Criterion::Assertions,
        coverage: Coverage::Replayed,
        seconds: round(replayed.seconds),
        version: VERSION,
        test: &replayed.finding.test,
        same: replayed.same,
        findings: replayed.found().into_iter().collect(),
    })
}

impl Replayed<'_> {
    /// What came out this time, with the names of the program.
    pub fn found(&self) -> Option<Found> {
        let mut names = self.names.borrow_mut();
        self.again.map(|again| Found::new(again, &Saved::at(self.file), &mut names))
    }
}
