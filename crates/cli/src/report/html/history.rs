//! The page of a recorded history: lanes of operations, the orders that explain them or how far they go, and the
//! operations that show a violation.
//!
//! Invariant: an order is one that the object accepts, as far as it goes; what is said to come after it is what does not fit there.

use std::collections::BTreeMap;

use selvedge_history::evidence::{Failure, Violation};
use selvedge_history::{OpId, Verdict};
use serde::Serialize;

use super::super::operation::Reading;
use super::super::outcome::Decided;
use super::super::text::limit_text;
use super::super::verdict::VerdictName;
use super::super::{json, replay, sentence};
use super::Page;
use super::counting::Counting;
use super::partial::{self, Partial};
use crate::quantity::{count, counted};

/// Of an order that goes no further only the end is asked about: so many states are told, of the first and of the others.
const STATES_TOLD: [usize; 2] = [2_000, 300];
/// Histories of so many operations are searched from the beginning; of longer ones only the last so many places of the order are tried.
const SEARCHED_WHOLE: usize = 300;
const SEARCHED_END: usize = 40;
/// How many operations that may come next are told.
const STUCK_MAX: usize = 40;

/// An order to follow step by step.
#[derive(Default, Serialize)]
pub struct Order {
    pub name: String,
    /// Operations by number; those that are not in the history have the numbers after.
    pub ops: Vec<u32>,
    /// What the object holds before the first step.
    pub initial: String,
    /// What it holds after each step, where that can be said, from the step `skipped` on.
    pub states: Vec<String>,
    pub skipped: usize,
    /// Why it goes no further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What may come next, and why it does not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<(u32, String)>,
    /// The legal run: at each place, the place in the order of what stands there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<u32>,
    /// For each place in the order, how many places of its class the operation is late.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<i64>,
}

/// An operation: lane, call, return, label, lines.
type Bar = (u32, u32, Option<u32>, String, String);

#[derive(Serialize)]
struct Data {
    lanes: Vec<String>,
    ops: Vec<Bar>,
    /// Operations that would follow the history.
    later: Vec<String>,
    /// One past the last event.
    events: u32,
    /// The operations that show the violation, the one to blame first.
    violation: Vec<u32>,
    /// A word about single operations.
    notes: BTreeMap<u32, String>,
    orders: Vec<Order>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counting: Option<Counting>,
}

/// A history with what is to be shown of it.
pub struct Shown<'a> {
    pub reading: Reading<'a>,
    pub file: &'a str,
    pub badge: VerdictName,
    pub reasons: Vec<String>,
    /// The operations that show the violation, the one to blame first.
    pub violation: Vec<OpId>,
    pub orders: Vec<Order>,
    /// Operations that would follow the history.
    pub later: Vec<String>,
    pub counting: Option<Counting>,
    /// The same report for a terminal.
    pub text: &'a str,
}

impl Shown<'_> {
    /// The page.
    pub fn render(self) -> String {
        let (lanes, ops) = bars(self.reading);
        let events = ops.iter().map(|op| op.2.unwrap_or(op.1) + 1).max().unwrap_or(1);
        let blamed = |i| if i == 0 { "to blame" } else { "shows the violation" };
        let notes = self.violation.iter().enumerate().map(|(i, op)| (op.0, blamed(i).to_owned())).collect();
        let violation = self.violation.iter().map(|op| op.0).collect();
        let (later, orders, counting) = (self.later, self.orders, self.counting);
        let data = Data { lanes, ops, later, events, violation, notes, orders, counting };
        Page {
            badge: self.badge,
            title: self.file,
            reasons: &self.reasons,
            view: include_str!("history.html"),
            script: concat!(include_str!("history.js"), include_str!("orders.js")),
            data: &json::write(&data),
            text: self.text,
        }
        .render()
    }
}

impl Decided<'_> {
    /// The page; `text` is the same report for a terminal.
    pub fn html(&self, text: &str) -> String {
        let reading = self.reading();
        let (badge, mut reasons, violation, orders) = match &self.answer.verdict {
            Verdict::Pass(parts) => {
                let orders = parts.iter().map(|part| {
                    let name = match reading.part(&part.part) {
                        name if name.is_empty() => "An order that explains it".to_owned(),
                        name => format!("An order that explains {name}"),
                    };
                    self.order(name, &part.order, u32::MAX)
                });
                let reason =
                    format!("Linearizable{}: there is an order of the operations that explains it.", self.as_object());
                let reasons = [reason].into_iter().chain(sentence::assumption(&self.assumed()));
                (VerdictName::Pass, reasons.collect(), Vec::new(), orders.collect())
            }
            Verdict::Fail(failure) => {
                let reasons =
                    vec![format!("Not linearizable{}: {}", self.as_object(), sentence::reason(reading, failure))];
                (VerdictName::Fail, reasons, failure.violation.operations(), self.longest(failure))
            }
            Verdict::Unknown(limit) => {
                let reason = format!("No answer: {}. {}", limit_text(*limit, self.of.limits), self.known());
                (VerdictName::Unknown, vec![reason], Vec::new(), Vec::new())
            }
        };
        if let Verdict::Fail(failure) = &self.answer.verdict {
            reasons.extend(sentence::hint(reading, failure, self.of.initial));
        }
        reasons.push(format!("{}.", self.numbers()));
        let (file, later, counting) = (self.of.file, Vec::new(), None);
        Shown { reading, file, badge, reasons, violation, orders, later, counting, text }.render()
    }

    /// An order, in which what returned in the event `before` or later counts as pending.
    fn order(&self, name: String, ops: &[OpId], before: u32) -> Order {
        let (initial, states) = replay::states(self.reading(), self.of.initial, ops, before).unwrap_or_default();
        Order { name, ops: ops.iter().map(|op| op.0).collect(), initial, states, ..Order::default() }
    }

    /// How far orders get, with why nothing fits after them: first the one that is part of the evidence, if one is, and the
    /// longest of a search of its own.
    fn longest(&self, failure: &Failure) -> Vec<Order> {
        let ops = self.part(failure);
        // A long history is searched only where it goes wrong.
        let beginning = match &failure.violation {
            _ if ops.len() <= SEARCHED_WHOLE => Vec::new(),
            Violation::Unplaced { partial, .. } => partial.clone(),
            violation if self.answer.parts == 1 => {
                let ends = violation.operations().into_iter().map(|op| self.of.log.history.operation(op).end());
                let wrong = ends.max().map_or(usize::MAX, |last| (last as usize).saturating_add(1));
                partial::explained(self.reading(), self.of.initial, wrong).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let beginning = &beginning[..beginning.len().saturating_sub(SEARCHED_END)];
        let mut partials = partial::longest(self.reading(), self.of.initial, &ops, beginning);
        let mut orders = Vec::new();
        if let Violation::Unplaced { operation, partial, .. } = &failure.violation {
            let (name, end) =
                ("An order of all that returned before".to_owned(), self.of.log.history.operation(*operation).end());
            orders.push(self.ends(self.order(name, partial, end), 0, |reading| {
                let why = replay::replay(reading, self.of.initial, partial, *operation);
                let why = why.map(|after| after.describe(reading, *operation)).unwrap_or_default();
                format!("{} does not fit here.{why}", reading.label(*operation))
            }));
            partials.retain(|other| other.order != *partial);
            partials.truncate(2);
        }
        for partial in partials {
            let name = match orders.len() {
                0 => "The longest order found".to_owned(),
                number => format!("Another order, number {}", number + 1),
            };
            let order = self.ends(self.order(name, &partial.order, u32::MAX), orders.len(), |_| {
                format!("{} {}", left_out(&partial, ops.len()), self.dead_end(&partial)).trim().to_owned()
            });
            let stuck = partial.stuck.iter().take(STUCK_MAX).map(|(op, why)| (op.0, why.clone())).collect();
            orders.push(Order { stuck, ..order });
        }
        orders
    }

    /// The order with why it ends, and without the states that nobody asks about.
    fn ends(&self, order: Order, number: usize, why: impl FnOnce(Reading<'_>) -> String) -> Order {
        let skipped = order.states.len().saturating_sub(STATES_TOLD[number.min(1)]);
        let states = order.states[skipped..].to_vec();
        Order { states, skipped, after: Some(why(self.reading())), ..order }
    }

    /// Why nothing can come next, in a sentence.
    fn dead_end(&self, partial: &Partial) -> String {
        let kind = self.answer.kind.name();
        let holds = partial.holds.as_ref().map_or(String::new(), |holds| format!(", when the {kind} holds {holds}"));
        match &partial.stuck[..] {
            [] => format!("Nothing is left that could come next{holds}."),
            [(op, why)] => {
                let (label, lines) = (self.reading().label(*op), self.reading().lines(*op));
                format!("Only {label} ({lines}) may come next{holds}: {why}.")
            }
            several => format!(
                "One of {} must come next{holds}, since the others were called after one of these had returned; none fits:",
                counted(several.len() as u64, "operation")
            ),
        }
    }

    /// The operations of the object that the failure is about.
    fn part(&self, failure: &Failure) -> Vec<OpId> {
        let (history, kind) = (&self.of.log.history, self.answer.kind);
        let key = |op: OpId| {
            let call = &history.operation(op).input;
            (call.object, kind.part_key(call))
        };
        let Some(here) = failure.violation.operations().first().map(|&op| key(op)) else { return Vec::new() };
        (0..history.len() as u32).map(OpId).filter(|&op| key(op) == here).collect()
    }
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

/// How much of a long history an order has, and where the rest is.
fn left_out(partial: &Partial, operations: usize) -> String {
    let rest = operations - partial.order.len().min(operations);
    if operations <= SEARCHED_WHOLE || rest == 0 {
        return String::new();
    }
    let placed = format!("{} of {}", count(partial.order.len() as u64), counted(operations as u64, "operation"));
    let rest = count(rest as u64);
    format!(
        "This order has {placed}; the other {rest} are in the lanes only. Longer orders may exist, since the search for them is short."
    )
}
