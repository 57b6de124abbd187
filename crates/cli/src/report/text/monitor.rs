//! The report of a monitor: violations as they are found, and the summary with its doubts.

use selvedge_history::monitor::Violation;

use super::clean;
use crate::quantity::{count, counted};
use crate::report::outcome::{CountedDoubt, Monitored, WatchDoubt};
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
        for doubt in &self.doubts {
            text.push_str(&format!("  not checked in full: {}\n", doubt.says()));
        }
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

impl WatchDoubt {
    /// What was not checked in full.
    pub fn says(&self) -> String {
        match self {
            WatchDoubt::Monitor(doubt) => match doubt.number() {
                Some(number) => format!("{} {}", count(number), doubt.what()),
                None => doubt.what(),
            },
            WatchDoubt::Counted(number, of) => {
                let [one, many] = of.words();
                format!("{} {}", count(*number), if *number == 1 { one } else { many })
            }
            WatchDoubt::LinesLeft => "lines that had arrived when it was stopped".to_owned(),
            WatchDoubt::InputOpen => "the input had not ended when it was stopped".to_owned(),
            WatchDoubt::HalfALine => "the last line was not written to its end when it was stopped".to_owned(),
            WatchDoubt::NoEvent => "there was no event".to_owned(),
        }
    }
}

impl CountedDoubt {
    /// One of it, and many.
    fn words(self) -> [&'static str; 2] {
        match self {
            CountedDoubt::Unreadable => ["line could not be read", "lines could not be read"],
            CountedDoubt::Cut => {
                ["line was cut off by the end of its writer", "lines were cut off by the end of their writers"]
            }
            CountedDoubt::LateCall => ["call came too late", "calls came too late"],
            CountedDoubt::LateReturn => [
                "return came too late, and its operation was taken to be longer",
                "returns came too late, and their operations were taken to be longer",
            ],
            CountedDoubt::Uncertain => [
                "violation is not certain: a writer was silent that may have more to say",
                "violations are not certain: writers were silent that may have more to say",
            ],
            CountedDoubt::UnreadWriter => ["writer was never read", "writers were never read"],
            CountedDoubt::BrokenWriter => {
                ["writer could not be read to its end", "writers could not be read to their end"]
            }
            CountedDoubt::Untimed => ["event had no time", "events had no time"],
            CountedDoubt::Crowded => [
                "operation was taken to overlap with the one before it of the same thread, by their times",
                "operations were taken to overlap with the one before it of the same thread, by their times",
            ],
            CountedDoubt::Connected => {
                ["writer was still connected at the end", "writers were still connected at the end"]
            }
        }
    }
}
