//! The page of operation counting: the intervals of the operations among the last k bounds, how many operations each counter counts, and which counters
//! show the violation.
//!
//! Invariant: the counters are those of A_k of the beginning of the history that shows the violation, counted here again from the history.

use std::collections::BTreeMap;

use selvedge_history::counting::IntervalOrder;
use selvedge_history::{Call, End, Event, History, OpId, ThreadId, Value};
use serde::Serialize;

use super::super::outcome::Counted;
use super::super::text::clean;
use super::super::verdict::VerdictName;
use super::history::Shown;

/// How many counters are listed.
const COUNTERS_MAX: usize = 200;

/// What counting saw in one object.
#[derive(Serialize)]
pub struct Counting {
    k: usize,
    /// The length of the history, in bounds, as far as it was counted.
    length: usize,
    /// After how many events of the object.
    events: usize,
    /// What no legal history has, in words.
    demands: Vec<String>,
    /// The operations that show it, with their intervals.
    slots: Vec<(u32, usize, usize)>,
    counters: Vec<Counter>,
    left_out: usize,
}

/// How many operations have a label and an interval.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Counter {
    label: String,
    first: usize,
    last: usize,
    count: u64,
    /// Whether an operation of the violation is one of them.
    shows: bool,
}

impl Counted<'_> {
    /// The page; `text` is the same report for a terminal.
    pub fn html(&self, text: &str) -> String {
        let (badge, mut reasons) = match &self.violation {
            Some(violation) => {
                let part = self.reading().part(&violation.part);
                let part = if part.is_empty() { String::new() } else { format!(" In {part}.") };
                (VerdictName::Fail, vec![format!("Not linearizable: {}.{part}", clean(&violation.what))])
            }
            None => {
                let about = "Counting shows violations only; that it shows none says nothing.";
                (VerdictName::Unknown, vec![format!("No answer: {}. {about}", self.why_not())])
            }
        };
        reasons.push(format!("{}.", self.numbers()));
        let operations = self.violation.as_ref().map_or(&[][..], |violation| &violation.operations);
        // The last called is what made it visible.
        let mut violation = operations.to_vec();
        violation.sort_unstable();
        violation.reverse();
        Shown {
            reading: self.reading(),
            file: self.of.file,
            badge,
            reasons,
            violation,
            orders: Vec::new(),
            later: Vec::new(),
            counting: self.counting(),
            text,
        }
        .render()
    }

    fn key(&self, call: &Call) -> Value {
        self.object.map_or_else(|| call.key.clone(), |object| object.part_key(call))
    }

    /// The counters of the object that shows the violation, or of the only one.
    fn counting(&self) -> Option<Counting> {
        let log = self.of.log;
        let name = |op: OpId| {
            let call = &log.history.operation(op).input;
            (log.name(call.object).to_owned(), self.key(call))
        };
        let all = (0..log.history.len() as u32).map(OpId);
        let (here, events) = match &self.violation {
            Some(violation) => ((violation.part.object.clone(), violation.part.key.clone()), violation.events as usize),
            None => {
                let first = name(all.clone().next()?);
                (all.clone().all(|op| name(op) == first).then_some(first)?, usize::MAX)
            }
        };
        let ops: Vec<OpId> = all.filter(|&op| name(op) == here).collect();
        let (order, counted) = self.beginning(&ops, events)?;
        let weaker = order.approximate(self.k);
        let shows = |op: &OpId| self.violation.as_ref().is_some_and(|violation| violation.operations.contains(op));
        let mut counters: BTreeMap<(String, usize, usize), (u64, bool)> = BTreeMap::new();
        let mut slots = Vec::new();
        for (own, &op) in (0..).zip(&counted) {
            let (first, last) = weaker.interval(OpId(own));
            let pending = order.is_pending(OpId(own));
            let last = if pending { self.k } else { last };
            let label = self.reading().label(op);
            let label = if pending { format!("{label} (pending)") } else { label };
            let counter = counters.entry((label, first, last)).or_default();
            counter.0 += 1;
            counter.1 |= shows(&op);
            if shows(&op) {
                slots.push((op.0, first, last));
            }
        }
        let mut counters: Vec<Counter> = counters
            .into_iter()
            .map(|((label, first, last), (count, shows))| Counter { label, first, last, count, shows })
            .collect();
        counters.sort_by_key(|counter| (!counter.shows, std::cmp::Reverse(counter.first)));
        let left_out = counters.len().saturating_sub(COUNTERS_MAX);
        counters.truncate(COUNTERS_MAX);
        let demands = self.violation.as_ref().map_or(&[][..], |violation| &violation.demands);
        let demands = demands.iter().map(|demand| clean(demand)).collect();
        let events = events.min(2 * counted.len());
        Some(Counting { k: self.k, length: order.length(), events, demands, slots, counters, left_out })
    }

    /// The order of the operations in the first events, and which operations these are.
    fn beginning(&self, ops: &[OpId], events: usize) -> Option<(IntervalOrder, Vec<OpId>)> {
        let history = &self.of.log.history;
        let mut marks: Vec<(u32, OpId, bool)> = Vec::new();
        for &op in ops {
            let operation = history.operation(op);
            marks.push((operation.call, op, false));
            marks.extend(operation.ret.as_ref().map(|ret| (ret.at, op, true)));
        }
        marks.sort_unstable();
        marks.truncate(events);
        let counted: Vec<OpId> = marks.iter().filter(|(.., ret)| !ret).map(|&(_, op, _)| op).collect();
        // Each operation on a thread of its own: only the order of calls and returns counts here.
        let threads: BTreeMap<OpId, u32> = counted.iter().copied().zip(0..).collect();
        let event = |(_, op, ret): &(u32, OpId, bool)| {
            let thread = ThreadId(threads[op]);
            if *ret { Event::Return { thread, output: () } } else { Event::Call { thread, input: () } }
        };
        let short: History<(), ()> = History::new(marks.iter().map(event), End::Truncated).ok()?;
        Some((IntervalOrder::of(&short), counted))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use selvedge_history::Budget;
    use selvedge_history::evidence::Part;
    use selvedge_history::format;
    use selvedge_history::object::Kind;

    use super::*;
    use crate::limits::Limits;
    use crate::report::outcome::{CountedViolation, Recorded};

    #[test]
    fn counters_count_the_operations_of_an_interval() {
        let text = [
            r#"{"selvedge":"history","version":1,"object":"queue"}"#,
            r#"{"call":"enq","thread":1,"value":1}"#,
            r#"{"return":null,"thread":1}"#,
            r#"{"call":"deq","thread":1}"#,
            r#"{"call":"deq","thread":2}"#,
            r#"{"return":5,"thread":1}"#,
            r#"{"call":"enq","thread":1,"value":2}"#,
        ]
        .join("\n");
        let (_, log) = format::read(&mut text.as_bytes(), None, &Budget::new()).unwrap();
        let check = |events, expected: &[(&str, usize, usize, bool)]| {
            let violation = CountedViolation {
                part: Part::default(),
                events,
                formula: "",
                what: String::new(),
                demands: vec![],
                operations: vec![OpId(1)],
            };
            let limits = Limits { started: Instant::now(), time_max: None, memory_max: 0, grace: Duration::ZERO };
            let of = Recorded { file: "", format: "", log: &log, initial: None, seconds: 0.0, limits: &limits };
            let (object, violation) = (Some(Kind::Queue), Some(violation));
            let counted = Counted { of, object, k: 1, violation, halt: None, length: 0, looked_at: 1 };
            let counting = counted.counting().unwrap();
            let seen: Vec<_> =
                counting.counters.iter().map(|one| (one.label.as_str(), one.first, one.last, one.shows)).collect();
            assert_eq!(seen, expected);
            assert!(counting.counters.iter().all(|one| one.count == 1));
        };
        // After the fifth event there are two bounds, and both are kept apart.
        check(5, &[("deq→5", 1, 1, true), ("deq→? (pending)", 1, 1, false), ("enq(1)", 0, 0, false)]);
        // With one more the first two are one.
        check(
            6,
            &[
                ("deq→5", 0, 0, true),
                ("enq(2) (pending)", 1, 1, false),
                ("deq→? (pending)", 0, 1, false),
                ("enq(1)", 0, 0, false),
            ],
        );
    }
}
