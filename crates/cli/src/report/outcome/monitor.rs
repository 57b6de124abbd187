//! What a monitor saw, and what it cannot vouch for.

use std::collections::HashMap;

use selvedge_history::monitor::{Counts, Doubt, Rule, Violation};
use selvedge_history::object::Kind;

use crate::report::verdict::VerdictName;

/// What a monitor saw until its input ended or it was stopped.
pub struct Monitored<'a> {
    /// Where the events came from.
    pub from: &'a str,
    /// What was watched.
    pub kind: Kind,
    /// What the monitor counted; the violations are those that were told.
    pub counts: Counts,
    /// Violations by rule.
    pub by_rule: &'a HashMap<Rule, u64>,
    /// What was counted before the monitor.
    pub lines: LineCounts,
    /// Why the absence of violations would not mean that there are none.
    pub doubts: Vec<WatchDoubt>,
    /// The first violations, where a page is wanted.
    pub violations: Vec<Violation>,
    /// How long it watched.
    pub seconds: f64,
}

/// What was counted of lines and writers.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineCounts {
    /// Lines that are no events.
    pub unreadable: u64,
    /// Lines whose writer ended in the middle.
    pub cut: u64,
    /// Calls that came too late.
    pub late: u64,
    /// Returns that came too late.
    pub late_returns: u64,
    /// Violations that silent writers may excuse.
    pub uncertain: u64,
    /// Events without a time.
    pub untimed: u64,
    /// Writers that came, that were never read, and that were still there.
    pub writers: u64,
    pub writers_unread: u64,
    pub writers_connected: u64,
}

/// Why something was not checked in full.
pub enum WatchDoubt {
    /// The monitor itself says so.
    Monitor(Doubt),
    /// So many of them.
    Counted(u64, CountedDoubt),
    /// Lines that had arrived were not taken any more when it was stopped.
    LinesLeft,
    /// The input had not ended when it was stopped.
    InputOpen,
    /// The last line was not written to its end when it was stopped.
    HalfALine,
    /// There was nothing to check.
    NoEvent,
}

/// What is counted that casts doubt on a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedDoubt {
    /// Lines that could not be read.
    Unreadable,
    /// Lines whose writer ended in the middle.
    Cut,
    /// Calls that came too late.
    LateCall,
    /// Returns that came too late.
    LateReturn,
    /// Violations that silent writers may excuse.
    Uncertain,
    /// Writers that were never read.
    UnreadWriter,
    /// Writers that could not be read to their end.
    BrokenWriter,
    /// Events without a time.
    Untimed,
    /// Operations that were taken to overlap with the one before them of the same thread.
    Crowded,
    /// Writers that were still there at the end.
    Connected,
}

impl Monitored<'_> {
    /// The verdict.
    pub fn verdict(&self) -> VerdictName {
        match (self.counts.violations, self.doubts.is_empty()) {
            (0, true) => VerdictName::Pass,
            (0, false) => VerdictName::Unknown,
            _ => VerdictName::Fail,
        }
    }
}
