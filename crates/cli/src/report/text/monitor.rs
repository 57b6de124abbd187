//! The report of a monitor: violations as they are found, and the summary with its doubts.

use selvedge_history::monitor::Violation;

use super::clean;
use crate::quantity::counted;
use crate::report::outcome::Monitored;
use crate::report::verdict::VerdictName;

/// A violation, as it is found.
pub fn violation(violation: &Violation) -> String {
    let mut text = String::new();
    for (i, line) in violation.to_string().lines().enumerate() {
        text.push_str(if i == 0 { "violation " } else { "" });
        text.push_str(&clean(line));
        text.push('\n');
    }
    text
}

impl Monitored<'_> {
    /// The summary.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.line());
        self.doubts.iter().for_each(|doubt| text.push_str(&format!("  not checked in full: {doubt}\n")));
        text
    }

    /// The verdict in one line.
    pub fn line(&self) -> String {
        let (kind, counts) = (self.kind, &self.counts);
        let head = match self.verdict() {
            VerdictName::Pass => format!("pass: {kind}, nothing wrong in "),
            VerdictName::Fail => format!("fail: {kind}, {} in ", counted(counts.violations, "violation")),
            VerdictName::Unknown => format!("unknown: {kind}, no violation seen in "),
        };
        let operations = counted(counts.operations, "operation");
        format!("{head}{operations} ({})", counted(counts.events, "event"))
    }
}
