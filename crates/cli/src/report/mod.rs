//! Reports: what a person reads, and what a program reads, made from the same facts.
//!
//! Invariant: an answer that was cut short never reads like a pass. Rendering happens on the worker, under the limits;
//! printing happens on the main thread ([`print`]).

pub mod ci;
pub mod html;
pub mod interleaving;
pub mod json;
pub mod model;
pub mod names;
pub mod nothing;
mod objects;
pub mod operation;
pub mod print;
pub mod quasi;
mod replay;
pub mod sentence;
pub mod tested;
#[cfg(test)]
mod tests;
pub mod text;
pub mod timeline;

use std::collections::HashSet;

use selvedge_history::check::Answer;
use selvedge_history::check::assumed::{Assumed, assumed};
use selvedge_history::evidence::{Failure, Violation};
use selvedge_history::{Call, Limit, Log, OpId, Value, Verdict};

use self::operation::Reading;
use self::text::{FAIL, FAINT, PASS, UNKNOWN, paint, paragraph};
use self::timeline::{BARS_MAX, Bar};
use crate::exit::Exit;
use crate::limits::Limits;
use crate::progress::Progress;
use crate::quantity::{count, counted, show_size, show_time};
use crate::trouble::Trouble;

/// What came of one file, ready to be printed.
#[derive(Debug)]
pub struct Entry {
    /// What it means for the exit code.
    pub exit: Exit,
    /// The report for a person, when it is the only file.
    pub full: String,
    /// The one line for a person, when there are several files.
    pub line: String,
    /// The object for a program.
    pub json: String,
    /// The certificate, where one was asked for and there is a verdict to certify.
    pub certificate: Option<Vec<u8>>,
    /// The page, where one was asked for.
    pub html: Option<String>,
}

/// A history that was read and checked.
pub struct Decided<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The file's format.
    pub format: &'static str,
    /// The history.
    pub log: &'a Log,
    /// The initial value that holds, if one was stated.
    pub initial: Option<&'a Value>,
    /// The answer.
    pub answer: &'a Answer,
    /// How long it took, reading included.
    pub seconds: f64,
    /// The limits it ran under.
    pub limits: &'a Limits,
    /// Whether the evidence goes somewhere; else the report says how to get it.
    pub evidence_kept: bool,
}

impl Decided<'_> {
    /// The report.
    pub fn entry(&self) -> Entry {
        let exit = match &self.answer.verdict {
            Verdict::Pass(_) => Exit::Pass,
            Verdict::Fail(_) => Exit::Violation,
            Verdict::Unknown(_) => Exit::Unknown,
        };
        Entry { exit, full: self.full(), line: self.line(), json: json::decided(self), certificate: None, html: None }
    }

    /// The initial values that a pass rests on, where none was stated.
    pub fn assumed(&self) -> Vec<Assumed> {
        match &self.answer.verdict {
            Verdict::Pass(parts) => assumed(self.log, self.answer.kind, self.initial, parts),
            _ => Vec::new(),
        }
    }

    fn reading(&self) -> Reading<'_> {
        Reading { log: self.log, kind: self.answer.kind }
    }

    fn full(&self) -> String {
        let numbers = paint(FAINT, self.footer());
        match &self.answer.verdict {
            Verdict::Pass(_) => {
                let assumed = sentence::assumption(&self.assumed()).map_or(String::new(), |text| paragraph(&text, 2));
                let headline = format!("{}  {}: linearizable{}", paint(PASS, "PASS"), self.file, self.as_object());
                format!("{headline}\n{assumed}{numbers}")
            }
            Verdict::Fail(failure) => {
                let headline = format!("{}  {}: not linearizable{}", paint(FAIL, "FAIL"), self.file, self.as_object());
                format!("{headline}\n\n{}\n{numbers}", self.explanation(failure))
            }
            Verdict::Unknown(limit) => {
                let (known, advice) = (paragraph(&self.known(), 2), advice(*limit, self.limits));
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
        } else if numbers.len() + evidence.len() + 4 > text::WIDTH {
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
        if let Some(hint) = sentence::hint(reading, failure, self.initial) {
            out.push('\n');
            out.push_str(&paragraph(&hint, 2));
        }
        out
    }

    /// The order of all that returned before: what it ends with, what the object holds then, what it would answer instead.
    fn order_before(&self, operation: OpId, partial: &[OpId]) -> String {
        let reading = self.reading();
        let placed = counted(partial.len() as u64, "operation");
        let end = self.log.history.operation(operation).end();
        let last: Vec<String> = partial.iter().rev().take(3).rev().map(|&op| reading.label_before(op, end)).collect();
        let ends = if last.is_empty() { String::new() } else { format!(", ending with {}", last.join(", ")) };
        let mut text = format!("One such order has {placed}{ends}.");
        if let Some(after) = replay::replay(reading, self.initial, partial, operation) {
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
            _ => {}
        }
        let mut seen = HashSet::new();
        ops.retain(|op| seen.insert(*op));
        let hidden = ops.len().saturating_sub(BARS_MAX);
        ops.truncate(BARS_MAX);
        (ops, hidden)
    }

    /// The operations of the same object that were open at the same time, the last called first.
    fn overlapping(&self, operation: OpId) -> Vec<OpId> {
        let history = &self.log.history;
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
        self.log.thread(self.log.history.operation(op).thread)
    }

    /// The bar of an operation; its lane by the place of its thread among the names of all that are shown.
    fn bar(&self, op: OpId, threads: &[&Value], blamed: bool) -> Bar {
        let reading = self.reading();
        let operation = self.log.history.operation(op);
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
    fn numbers(&self) -> String {
        let history = &self.log.history;
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
            self.seconds
        )
    }

    fn as_object(&self) -> String {
        format!(" as a {}", self.answer.kind.name())
    }

    /// The verdict in one line.
    fn line(&self) -> String {
        let (file, object) = (self.file, self.answer.kind.name());
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
                format!("{}  {file}: {object}; {}", paint(UNKNOWN, "UNKNOWN"), limit_text(*limit, self.limits))
            }
        }
    }

    /// What a check that was cut short found out.
    fn known(&self) -> String {
        let answer = self.answer;
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

/// The limit with its number.
pub fn limit_text(limit: Limit, limits: &Limits) -> String {
    match (limit, limits.time_max) {
        (Limit::Time, Some(time)) => format!("the time limit of {} was reached", show_time(time)),
        (Limit::Memory, _) => format!("the memory limit of {} was reached", show_size(limits.memory_max)),
        (limit, _) => limit.to_string(),
    }
}

/// The limits that held, and how to raise the one that was reached.
fn advice(limit: Limit, limits: &Limits) -> String {
    let time = limits.time_max.map_or("no limit on time".to_owned(), show_time);
    let more = match limit {
        Limit::Time => " More time: --time-max TIME, for all files together (none for no limit).",
        Limit::Memory => " More memory: --memory-max SIZE.",
        _ => "",
    };
    paragraph(&format!("Limits: {time}, {}.{more}", show_size(limits.memory_max)), 2)
}

/// The report on a file that was cut short without an answer of the worker's own.
pub fn cut(file: &str, limit: Limit, limits: &Limits, progress: &Progress) -> Entry {
    let reason = limit_text(limit, limits);
    let line = format!("{}  {file}: {reason}", paint(UNKNOWN, "UNKNOWN"));
    let place = format!("It was cut short here: {}.", progress.describe());
    let full = format!("{line}\n{}{}", paragraph(&place, 2), advice(limit, limits));
    let json = json::cut(file, limit, limits, progress);
    let html = Some(html::without_view(html::Badge::Unknown, file, &[format!("Unknown: {reason}."), place], &full));
    Entry { exit: Exit::Unknown, full, line, json, certificate: None, html }
}

/// The report on a file that cannot be read or does not fit the object.
pub fn troubled(trouble: &Trouble, seconds: f64) -> Entry {
    let text = trouble.to_string();
    Entry {
        exit: Exit::Input,
        full: format!("{text}\n"),
        line: text,
        json: json::troubled(trouble, seconds),
        certificate: None,
        html: None,
    }
}

/// The report on a file whose check ended in a bug of ours. What went wrong was already printed when it did.
pub fn bug(file: &str) -> Entry {
    let trouble = Trouble::new(file, "selvedge failed on this file, which is a bug in selvedge")
        .advise("please report it, with the file if you can");
    Entry { exit: Exit::Bug, ..troubled(&trouble, 0.0) }
}
