//! What is said of it all: violations as they are found, snapshots for metrics, and the summary with its doubts.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use selvedge_history::monitor::{Counts, Violation};

use super::super::input::Rest;
use super::super::metrics::Snapshot;
use super::{SAID_MAX, Watcher};
use crate::exit::Exit;
use crate::report::html::KEPT_MAX;
use crate::report::outcome::{CountedDoubt, LineCounts, Monitored, WatchDoubt};
use crate::report::print::{complain, keep_page};
use crate::report::text::{self, clean};
use crate::report::{Outcome, Wanted, json};

impl Watcher {
    pub(super) fn shoot(&self, snapshot: &Mutex<Snapshot>) {
        let Ok(mut snapshot) = snapshot.lock() else { return };
        *snapshot = Snapshot {
            counts: self.monitor.counts(),
            by_rule: self.by_rule.iter().map(|(rule, count)| (*rule, *count)).collect(),
            lines_unreadable: self.unreadable,
            lines_cut: self.cut,
            late: self.late + self.untimed,
            longer: self.longer,
            uncertain: self.uncertain,
            writers_unread: self.unread,
            writers: self.connected,
            writers_total: self.writers_total,
            held: self.merge.held() as u64,
            entries: self.monitor.entries() as u64,
        };
    }

    /// Something is not as it should be. The first few times are told, all are counted.
    pub(super) fn say(&mut self, kind: &'static str, text: &str) {
        let said = self.said.entry(kind).or_default();
        *said += 1;
        if *said <= SAID_MAX {
            let more = if *said == SAID_MAX { " (more of this kind is only counted)" } else { "" };
            complain(&format!("warning: {}{more}\n", clean(text)));
        }
    }

    pub(super) fn tell(&mut self, violation: &Violation) {
        self.stop.found();
        *self.by_rule.entry(violation.rule).or_default() += 1;
        if let Some(kept) = self.kept.as_mut().filter(|kept| kept.len() < KEPT_MAX) {
            kept.push(violation.clone());
        }
        let text = match self.voice.json {
            true => json::violation(violation) + "\n",
            false => text::monitor::violation(violation),
        };
        self.write(&text);
    }

    fn write(&mut self, text: &str) {
        let mut out = io::stdout().lock();
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            // Nobody reads any more; the exit code and the metrics still tell.
            self.unwritten = Exit::Unknown;
        }
    }

    /// The summary, the page where one is wanted, and the exit code.
    pub fn finish(mut self, snapshot: &Mutex<Snapshot>, page: Option<&Path>, from: &str) -> Exit {
        self.flush();
        self.shoot(snapshot);
        let counts = Counts { violations: self.by_rule.values().sum(), ..self.monitor.counts() };
        let monitored = Monitored {
            from,
            kind: self.monitor.kind(),
            counts,
            by_rule: &self.by_rule,
            lines: self.line_counts(),
            doubts: self.doubts(),
            violations: self.kept.take().unwrap_or_default(),
            seconds: self.started.elapsed().as_secs_f64(),
        };
        let wanted = Wanted { page: page.is_some(), ..Wanted::default() };
        let mut rendered = Outcome::Monitored(monitored).render(wanted);
        let exit = rendered.exit;
        self.write(&if self.voice.json { format!("{}\n", rendered.json) } else { rendered.text.clone() });
        let page = keep_page(page, &mut rendered);
        exit.worst(if exit == Exit::Pass { self.unwritten } else { Exit::Pass }).worst(page)
    }

    fn line_counts(&self) -> LineCounts {
        LineCounts {
            unreadable: self.unreadable,
            cut: self.cut,
            late: self.late,
            late_returns: self.longer,
            uncertain: self.uncertain,
            untimed: self.untimed,
            writers: self.writers_total,
            writers_unread: self.unread,
            writers_connected: self.connected,
        }
    }

    /// Why the absence of violations would not mean that there are none.
    fn doubts(&self) -> Vec<WatchDoubt> {
        let counted = [
            (self.unreadable, CountedDoubt::Unreadable),
            (self.cut, CountedDoubt::Cut),
            (self.late, CountedDoubt::LateCall),
            (self.longer, CountedDoubt::LateReturn),
            (self.uncertain, CountedDoubt::Uncertain),
            (self.unread, CountedDoubt::UnreadWriter),
            (self.broken, CountedDoubt::BrokenWriter),
            (self.untimed, CountedDoubt::Untimed),
            (self.crowded, CountedDoubt::Crowded),
            (u64::from(self.is_ceased) * self.connected, CountedDoubt::Connected),
        ];
        let counted = counted.into_iter().filter(|(number, _)| *number > 0);
        let unfinished = [
            (self.is_cut_short, WatchDoubt::LinesLeft),
            (self.rest == Some(Rest::Input), WatchDoubt::InputOpen),
            (self.rest == Some(Rest::HalfALine), WatchDoubt::HalfALine),
            (self.monitor.counts().events == 0, WatchDoubt::NoEvent),
        ];
        let unfinished = unfinished.into_iter().filter(|(is_so, _)| *is_so).map(|(_, doubt)| doubt);
        let monitor = self.monitor.doubts().into_iter().map(WatchDoubt::Monitor);
        monitor.chain(counted.map(|(number, of)| WatchDoubt::Counted(number, of))).chain(unfinished).collect()
    }
}
