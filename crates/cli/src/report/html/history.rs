//! The page of a recorded history: lanes of operations, the order that explains them or how far one goes, and the
//! operations that show a violation.

use selvedge_history::evidence::{Failure, Violation};
use selvedge_history::{OpId, Verdict};
use serde::Serialize;

use super::super::operation::Reading;
use super::super::{Decided, replay, sentence};
use super::{Badge, Page};

/// An order to follow step by step.
#[derive(Serialize)]
struct Order {
    name: String,
    ops: Vec<u32>,
    /// What the object holds before the first step.
    initial: String,
    /// What it holds after each step, where that can be said.
    states: Vec<String>,
    /// Why it goes no further.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// Where the page begins to follow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<usize>,
}

/// An operation: lane, call, return, label, lines.
type Bar = (u32, u32, Option<u32>, String, String);

#[derive(Serialize)]
struct Data {
    lanes: Vec<String>,
    ops: Vec<Bar>,
    /// One past the last event.
    events: u32,
    /// The operations that show the violation, the one to blame first.
    violation: Vec<u32>,
    /// A word about single operations.
    notes: std::collections::BTreeMap<u32, String>,
    orders: Vec<Order>,
}

impl Decided<'_> {
    /// The page.
    pub fn html(&self) -> String {
        let reading = self.reading();
        let (lanes, ops) = bars(reading);
        let events = ops.iter().map(|op| op.2.unwrap_or(op.1) + 1).max().unwrap_or(1);
        let (badge, mut reasons, violation, orders) = match &self.answer.verdict {
            Verdict::Pass(parts) => {
                let orders = parts.iter().map(|part| {
                    let name = match reading.part(&part.part) {
                        name if name.is_empty() => "An order that explains it".to_owned(),
                        name => format!("An order that explains {name}"),
                    };
                    self.order(name, &part.order, None)
                });
                let reason =
                    format!("Linearizable{}: there is an order of the operations that explains it.", self.as_object());
                (Badge::Pass, vec![reason], Vec::new(), orders.collect())
            }
            Verdict::Fail(failure) => {
                let reasons =
                    vec![format!("Not linearizable{}.", self.as_object()), sentence::reason(reading, failure)];
                (Badge::Fail, reasons, violation(failure), self.longest(failure))
            }
            Verdict::Unknown(limit) => {
                let reason = format!("No answer: {}. {}", super::super::limit_text(*limit, self.limits), self.known());
                (Badge::Unknown, vec![reason], Vec::new(), Vec::new())
            }
        };
        if let Verdict::Fail(failure) = &self.answer.verdict {
            reasons.extend(sentence::hint(reading, failure, self.initial));
        }
        reasons.push(format!("{}.", self.numbers()));
        let data = Data { lanes, ops, events, violation, notes: notes(&self.answer.verdict), orders };
        Page {
            badge,
            title: self.file,
            reasons: &reasons,
            view: include_str!("history.html"),
            script: include_str!("history.js"),
            data: &super::super::json::write(&data),
            text: &self.full(),
        }
        .render()
    }

    fn order(&self, name: String, ops: &[OpId], after: Option<String>) -> Order {
        let (initial, states) = replay::states(self.reading(), self.initial, ops).unwrap_or_default();
        let start = after.is_none().then_some(0);
        Order { name, ops: ops.iter().map(|op| op.0).collect(), initial, states, after, start }
    }

    /// The longest order that was found, with why the next operation does not fit after it.
    fn longest(&self, failure: &Failure) -> Vec<Order> {
        let Violation::Unplaced { operation, partial, .. } = &failure.violation else { return Vec::new() };
        let reading = self.reading();
        let why =
            replay::replay(reading, self.initial, partial, *operation).map(|after| after.describe(reading, *operation));
        let why = format!("{} does not fit here.{}", reading.label(*operation), why.unwrap_or_default());
        vec![self.order("The longest order found".to_owned(), partial, Some(why))]
    }
}

fn violation(failure: &Failure) -> Vec<u32> {
    failure.violation.operations().iter().map(|op| op.0).collect()
}

fn notes<W>(verdict: &Verdict<W, Failure>) -> std::collections::BTreeMap<u32, String> {
    let mut notes = std::collections::BTreeMap::new();
    if let Verdict::Fail(failure) = verdict {
        for (i, op) in failure.violation.operations().iter().enumerate() {
            notes.insert(op.0, if i == 0 { "to blame" } else { "shows the violation" }.to_owned());
        }
    }
    notes
}

/// Every operation as a bar. A thread has one lane, and more only where it went on after a crash.
fn bars(reading: Reading<'_>) -> (Vec<String>, Vec<Bar>) {
    let history = &reading.log.history;
    let mut threads: Vec<u32> = history.operations().iter().map(|op| op.thread.0).collect();
    threads.sort_unstable_by_key(|&thread| reading.log.thread(selvedge_history::ThreadId(thread)));
    threads.dedup();
    let mut order: Vec<u32> = (0..history.len() as u32).collect();
    order.sort_unstable_by_key(|&op| history.operation(OpId(op)).call);
    // The lanes of each thread, with where each is free again.
    let mut lanes: Vec<Vec<(u32, usize)>> = vec![Vec::new(); threads.iter().max().map_or(0, |max| *max as usize + 1)];
    let mut lane_of: Vec<(u32, usize)> = vec![(0, 0); history.len()];
    for &op in &order {
        let operation = history.operation(OpId(op));
        let own = &mut lanes[operation.thread.0 as usize];
        let end = operation.ret.as_ref().map_or(u32::MAX, |ret| ret.at);
        let number = own.iter().position(|&(free, _)| free <= operation.call).unwrap_or(own.len());
        if number == own.len() {
            own.push((0, 0));
        }
        own[number].0 = end;
        lane_of[op as usize] = (operation.thread.0, number);
    }
    let mut names = Vec::new();
    for &thread in &threads {
        for lane in &mut lanes[thread as usize] {
            lane.1 = names.len();
            names.push(super::super::operation::show(reading.log.thread(selvedge_history::ThreadId(thread))));
        }
    }
    let ops = (0..history.len() as u32).map(|op| {
        let operation = history.operation(OpId(op));
        let (thread, number) = lane_of[op as usize];
        let lane = lanes[thread as usize][number].1 as u32;
        let end = operation.ret.as_ref().map(|ret| ret.at);
        (lane, operation.call, end, reading.label(OpId(op)), reading.lines(OpId(op)))
    });
    (names, ops.collect())
}
