//! The report on a history that was decided: the verdict, why, a timeline of the operations that matter.

use std::collections::HashSet;

use selvedge_history::evidence::{Failure, Violation};
use selvedge_history::{Call, OpId, Value, Verdict};

use super::timeline::{self, BARS_MAX, Bar};
use super::{FAIL, FAINT, PASS, UNKNOWN, WIDTH, advice, limit_text, paint, paragraph};
use crate::quantity::{count, counted};
use crate::report::outcome::Decided;
use crate::report::{replay, sentence};

impl Decided<'_> {
    /// The report on one file.
    pub fn text(&self) -> String {
        let numbers = paint(FAINT, self.footer());
        match &self.answer.verdict {
            Verdict::Pass(_) => {
                let assumed = sentence::assumption(&self.assumed()).map_or(String::new(), |text| paragraph(&text, 2));
                let headline = format!("{}  {}: linearizable{}", paint(PASS, "PASS"), self.of.file, self.as_object());
                format!("{headline}\n{assumed}{numbers}")
            }
            Verdict::Fail(failure) => {
                let headline =
                    format!("{}  {}: not linearizable{}", paint(FAIL, "FAIL"), self.of.file, self.as_object());
                format!("{headline}\n\n{}\n{numbers}", self.explanation(failure))
            }
            Verdict::Unknown(limit) => {
                let (known, advice) = (paragraph(&self.known(), 2), advice(*limit, self.of.limits));
                format!("{}\n{known}{advice}", self.line())
            }
        }
    }

    /// The numbers, and how to get the evidence where it goes nowhere yet.
    fn footer(&self) -> String {
        let numbers = self.numbers();
        let evidence = "evidence: --certificate FILE";
        if self.evidence_kept {
            paragraph(&numbers, 2)
        } else if numbers.len() + evidence.len() + 4 > WIDTH {
            format!("{}  {evidence}\n", paragraph(&numbers, 2))
        } else {
            format!("  {numbers}; {evidence}\n")
        }
    }

    /// Why, the timeline, and what to try.
    fn explanation(&self, failure: &Failure) -> String {
        let reading = self.reading();
        let mut out = paragraph(&sentence::reason(reading, failure), 2);
        if let Violation::Unplaced { operation, partial, .. } = &failure.violation {
            out.push_str(&paragraph(&self.order_before(*operation, partial), 2));
        }
        let (shown, hidden) = self.shown(failure);
        let blamed = failure.violation.operations().first().copied();
        let mut threads: Vec<&Value> = shown.iter().map(|&op| self.thread(op)).collect();
        threads.sort_unstable();
        let bars: Vec<Bar> = shown.iter().map(|&op| self.bar(op, &threads, Some(op) == blamed)).collect();
        out.push('\n');
        out.push_str(&timeline::draw(&bars));
        if hidden > 0 {
            let hidden = counted(hidden as u64, "operation");
            let more = match &failure.violation {
                Violation::Unplaced { .. } | Violation::Unordered { .. } | Violation::NeedNotBlock { .. } => {
                    format!("and {hidden} more at the same time")
                }
                _ => format!("and {hidden} more; --json lists them all"),
            };
            out.push_str(&format!("  {}\n", paint(FAINT, more)));
        }
        if let Some(hint) = sentence::hint(reading, failure, self.of.initial) {
            out.push('\n');
            out.push_str(&paragraph(&hint, 2));
        }
        out
    }

    /// The order of all that returned before: what it ends with, what the object holds then, what it would answer instead.
    fn order_before(&self, operation: OpId, partial: &[OpId]) -> String {
        let reading = self.reading();
        let placed = counted(partial.len() as u64, "operation");
        let end = self.of.log.history.operation(operation).end();
        let last: Vec<String> = partial.iter().rev().take(3).rev().map(|&op| reading.label_before(op, end)).collect();
        let ends = if last.is_empty() { String::new() } else { format!(", ending with {}", last.join(", ")) };
        let mut text = format!("One such order has {placed}{ends}.");
        if let Some(after) = replay::replay(reading, self.of.initial, partial, operation) {
            text.push_str(&after.describe(reading, operation));
        }
        let placed: HashSet<&OpId> = partial.iter().collect();
        let open = self.overlapping(operation).iter().filter(|op| !placed.contains(op)).count();
        if open > 0 {
            let open = counted(open as u64, "operation");
            text.push_str(&format!(" Also open, and not placed: {open}."));
        }
        text
    }

    /// The operations to draw, and how many more matter.
    fn shown(&self, failure: &Failure) -> (Vec<OpId>, usize) {
        let mut ops = failure.violation.operations();
        match &failure.violation {
            Violation::Unplaced { operation, partial, .. } => {
                ops.extend(self.overlapping(*operation));
                ops.extend(partial.iter().rev().take(3));
            }
            Violation::NeedNotBlock { operation } | Violation::Unordered { operation } => {
                ops.extend(self.overlapping(*operation));
            }
            violation => ops.extend(sentence::removals_of(self.reading(), violation)),
        }
        let mut seen = HashSet::new();
        ops.retain(|op| seen.insert(*op));
        let hidden = ops.len().saturating_sub(BARS_MAX);
        ops.truncate(BARS_MAX);
        (ops, hidden)
    }

    /// The operations of the same object that were open at the same time, the last called first.
    fn overlapping(&self, operation: OpId) -> Vec<OpId> {
        let history = &self.of.log.history;
        let this = history.operation(operation);
        let kind = self.answer.kind;
        let part = |call: &Call| (call.object, kind.part_key(call));
        let here = part(&this.input);
        let mut ops: Vec<OpId> = history
            .operations()
            .iter()
            .enumerate()
            .filter(|(i, op)| {
                *i as u32 != operation.0 && op.call < this.end() && op.end() > this.call && part(&op.input) == here
            })
            .map(|(i, _)| OpId(i as u32))
            .collect();
        ops.reverse();
        ops
    }

    fn thread(&self, op: OpId) -> &Value {
        self.of.log.thread(self.of.log.history.operation(op).thread)
    }

    /// The bar of an operation; its lane by the place of its thread among the names of all that are shown.
    fn bar(&self, op: OpId, threads: &[&Value], blamed: bool) -> Bar {
        let reading = self.reading();
        let operation = self.of.log.history.operation(op);
        let lane = format!("thread {}", reading.thread(op));
        Bar {
            thread: threads.partition_point(|&thread| thread < self.thread(op)) as u32,
            lane,
            label: reading.label(op),
            call: operation.call,
            end: operation.ret.as_ref().map(|ret| ret.at),
            lines: reading.lines(op),
            blamed,
        }
    }

    /// The numbers of the run, in one line.
    pub fn numbers(&self) -> String {
        let history = &self.of.log.history;
        let pending = match history.pending() {
            0 => String::new(),
            pending => format!(" ({} pending)", count(pending as u64)),
        };
        let algorithms: Vec<&str> = self.answer.algorithms.iter().map(|algorithm| algorithm.name()).collect();
        let by = if algorithms.is_empty() { String::new() } else { format!(", by {}", algorithms.join(" and ")) };
        format!(
            "{}{pending}, {}{by}, {:.3} s",
            counted(history.len() as u64, "operation"),
            counted(self.answer.parts as u64, "part"),
            self.of.seconds
        )
    }

    pub fn as_object(&self) -> String {
        format!(" as a {}", self.answer.kind.name())
    }

    /// The verdict in one line, for one of several files.
    pub fn line(&self) -> String {
        let (file, object) = (self.of.file, self.answer.kind.name());
        match &self.answer.verdict {
            Verdict::Pass(_) => {
                let assumed = sentence::assumption(&self.assumed()).map_or(String::new(), |text| format!("; {text}"));
                let headline = format!("{}  {file}: linearizable{}", paint(PASS, "PASS"), self.as_object());
                format!("{headline}; {}{assumed}", self.numbers())
            }
            Verdict::Fail(failure) => {
                let reason = sentence::reason(self.reading(), failure);
                format!("{}  {file}: not linearizable as a {object}; {reason}", paint(FAIL, "FAIL"))
            }
            Verdict::Unknown(limit) => {
                format!("{}  {file}: {object}; {}", paint(UNKNOWN, "UNKNOWN"), limit_text(*limit, self.of.limits))
            }
        }
    }

    /// What a check that was cut short found out.
    pub fn known(&self) -> String {
        let answer = &self.answer;
        let parts = match answer.parts {
            0 | 1 => String::new(),
            parts => format!(
                " {} of {} passed before that.",
                counted(answer.parts_passed as u64, "part"),
                count(parts as u64)
            ),
        };
        format!(
            "{}: no violation so far, and that says nothing about the rest.{parts} {} seen; the longest order has {}.",
            self.numbers(),
            counted(answer.states, "state"),
            counted(answer.longest as u64, "operation"),
        )
    }
}
