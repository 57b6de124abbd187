//! A recorded history against a kernel's formula.
//!
//! Each object (and key) of the log is looked at alone. The answer is a violation or nothing: that A_k of a history satisfies the
//! formula says that nothing wrong is visible at this k, never that nothing is wrong.

use std::fmt;

use super::super::label::Label;
use super::super::order::IntervalOrder;
use super::super::parts::{Operations, Prefixes, parts};
use super::super::solver::Halt;
use super::formula::{Decision, Demand, Formula, KernelCounts};
use crate::evidence::Part;
use crate::{Budget, Log, OpId, Symbol, Value};

/// An operation that the kernel does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The operation.
    pub op: OpId,
    /// Whether it is the result that does not fit, and not the call.
    pub at_return: bool,
    /// What it did, in the kernel's words.
    pub label: Label,
    /// What the kernel has instead.
    pub known: Vec<Label>,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 12;
        write!(f, "the kernel has no operation `{}`; it has ", self.label)?;
        for (i, label) in self.known.iter().take(SHOWN).enumerate() {
            write!(f, "{}`{label}`", if i > 0 { ", " } else { "" })?;
        }
        if self.known.len() > SHOWN { f.write_str(", ...") } else { Ok(()) }
    }
}

impl std::error::Error for Unknown {}

/// Numbers of operations that no serial execution has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelViolation {
    /// Which object.
    pub part: Part,
    /// After how many events of that object it shows.
    pub events: u32,
    /// The demands that together cannot be met.
    pub demands: Vec<Shown>,
}

impl KernelViolation {
    /// The operations that the demands speak about, each once, in the order of their calls.
    pub fn operations(&self) -> Vec<OpId> {
        let mut ops: Vec<OpId> = self.demands.iter().flat_map(|shown| shown.operations.iter().copied()).collect();
        ops.sort_unstable();
        ops.dedup();
        ops
    }
}

/// A demand of the formula with what it speaks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The demand.
    pub demand: Demand,
    /// What the operations did.
    pub label: Label,
    /// How many there are.
    pub count: u64,
    /// The operations, the last called [`OPERATIONS_MAX`] of them at most.
    pub operations: Vec<OpId>,
}

/// How many operations are listed for one demand.
pub const OPERATIONS_MAX: usize = 8;

/// What a look at a log came to.
#[derive(Clone, Debug)]
pub struct KernelAnswer {
    /// The violation seen, if any.
    pub violation: Option<KernelViolation>,
    /// Why the look was cut short, if it was.
    pub halt: Option<Halt>,
    /// How many objects there are.
    pub parts: usize,
    /// How many histories (whole ones and beginnings) were looked at.
    pub looked_at: u64,
    /// The greatest length of an object's history.
    pub length: usize,
}

/// Looks for a violation of the kernel in A_k of each object's history.
pub fn check(log: &Log, formula: &Formula, prefixes: Prefixes, budget: &Budget) -> Result<KernelAnswer, Unknown> {
    let mut reader = LabelReader { log, formula, known: vec![Vec::new(); log.names().len()] };
    let mut answer = KernelAnswer { violation: None, halt: None, parts: 0, looked_at: 0, length: 0 };
    for part in parts(log, |call| call.key.clone()) {
        answer.parts += 1;
        let mut labels = Vec::with_capacity(part.len());
        for op in part.ops() {
            labels.push(reader.read(op)?);
        }
        let whole = IntervalOrder::of(part.history());
        answer.length = answer.length.max(whole.length());
        let found = look(formula, &part, &labels, &whole, prefixes, budget, &mut answer.looked_at);
        match found {
            Ok(None) => {}
            Ok(Some(violation)) => {
                answer.violation = Some(violation);
                return Ok(answer);
            }
            Err(halt) => answer.halt = answer.halt.or(Some(halt)),
        }
    }
    Ok(answer)
}

/// What an operation counts as.
#[derive(Clone, Copy, Debug)]
struct Counted {
    call: usize,
    /// `None` while pending.
    label: Option<usize>,
}

fn look(
    formula: &Formula,
    part: &Operations<'_>,
    labels: &[Counted],
    whole: &IntervalOrder,
    prefixes: Prefixes,
    budget: &Budget,
    looked_at: &mut u64,
) -> Result<Option<KernelViolation>, Halt> {
    let k = formula.k();
    let mut seen = std::collections::HashSet::new();
    for events in prefixes.of(part.history()) {
        let (order, shown) = if events == part.history().marks().len() {
            (whole.approximate(k), None)
        } else {
            let prefix = part.history().prefix(events);
            (IntervalOrder::of(&prefix).approximate(k), Some(prefix))
        };
        let pending = |op: OpId| shown.as_ref().map_or(labels[op.0 as usize].label.is_none(), |_| order.is_pending(op));
        let counts = count(formula, labels, &order, pending);
        let key: Vec<u64> = counts.numbers().collect();
        *looked_at += 1;
        if !seen.insert(key) {
            continue;
        }
        if let Decision::Violated(demands) = formula.decide(&counts, budget)? {
            let ops = |demand| served(formula, part, labels, &order, &pending, demand);
            let demands = demands.into_iter().map(|demand| show(formula, &counts, demand, ops(demand))).collect();
            return Ok(Some(KernelViolation { part: part.name(), events: events as u32, demands }));
        }
    }
    Ok(None)
}

fn count(formula: &Formula, labels: &[Counted], order: &IntervalOrder, pending: impl Fn(OpId) -> bool) -> KernelCounts {
    let mut counts = formula.no_counts();
    for (i, counted) in labels.iter().enumerate().take(order.operations()) {
        let op = OpId(i as u32);
        let (first, last) = order.interval(op);
        match counted.label.filter(|_| !pending(op)) {
            Some(label) => counts.complete[label].increment(first, last),
            None => counts.pending[counted.call][first] += 1,
        }
    }
    counts
}

impl KernelCounts {
    /// Every counter, in a fixed order.
    fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let complete = self.complete.iter().flat_map(|triangle| {
            let k = triangle.k();
            (0..=k).flat_map(move |i| (i..=k).map(move |j| (i, j))).map(|(i, j)| triangle.get(i, j))
        });
        complete.chain(self.pending.iter().flatten().copied())
    }
}

/// The operations that a demand speaks about.
fn served(
    formula: &Formula,
    part: &Operations<'_>,
    labels: &[Counted],
    order: &IntervalOrder,
    pending: &impl Fn(OpId) -> bool,
    demand: Demand,
) -> Vec<OpId> {
    let (label, call, slots) = match demand {
        Demand::Inside { label, first, last } => (Some(label), None, (first, last)),
        Demand::InAll { label } => (Some(label), None, (0, formula.k())),
        Demand::Pending { call, first } => (None, Some(call), (first, formula.k())),
    };
    let matches = |&i: &usize| {
        let op = OpId(i as u32);
        let (first, last) = order.interval(op);
        match call {
            Some(call) => pending(op) && labels[i].call == call && first == slots.0,
            None => !pending(op) && labels[i].label == label && first >= slots.0 && last <= slots.1,
        }
    };
    let mut ops: Vec<OpId> = (0..order.operations())
        .rev()
        .filter(matches)
        .take(OPERATIONS_MAX)
        .map(|i| part.ops().nth(i).expect("one of them"))
        .collect();
    ops.reverse();
    ops
}

fn show(formula: &Formula, counts: &KernelCounts, demand: Demand, operations: Vec<OpId>) -> Shown {
    let (label, count) = match demand {
        Demand::Inside { label, first, last } => {
            (formula.label(label).clone(), counts.complete[label].total(first, last))
        }
        Demand::InAll { label } => (formula.label(label).clone(), counts.complete[label].total(0, formula.k())),
        Demand::Pending { call, first } => (formula.call(call), counts.pending[call][first]),
    };
    Shown { demand, label, count, operations }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown { demand, label, count, .. } = self;
        match demand {
            Demand::Inside { first, last, .. } if first == last => {
                write!(f, "`{label}` takes effect at least {count} times in slot {first}")
            }
            Demand::Inside { first, last, .. } => {
                write!(f, "`{label}` takes effect at least {count} times in slots {first} to {last}")
            }
            Demand::InAll { .. } => write!(f, "`{label}` takes effect {count} times in all"),
            Demand::Pending { first, .. } => {
                write!(f, "at most {count} pending `{label}` from slot {first} take effect")
            }
        }
    }
}

/// What calls of a method were read as, with the argument and the result.
type Known = Vec<(Value, Option<Value>, Counted)>;

/// Reads operations as labels. A log has few different ones: each is looked up once.
struct LabelReader<'a> {
    log: &'a Log,
    formula: &'a Formula,
    /// By method.
    known: Vec<Known>,
}

impl LabelReader<'_> {
    fn read(&mut self, op: OpId) -> Result<Counted, Unknown> {
        let operation = self.log.history.operation(op);
        let Symbol(method) = operation.input.method;
        let known = &mut self.known[method as usize];
        let same = |(argument, result, _): &&(Value, Option<Value>, Counted)| {
            *argument == operation.input.argument && result.as_ref() == operation.output()
        };
        if let Some((_, _, counted)) = known.iter().find(same) {
            return Ok(*counted);
        }
        let label = Label {
            method: self.formula.grammar().method(self.log.name(operation.input.method)),
            argument: operation.input.argument.clone(),
            result: operation.output().cloned(),
        };
        let counted = number(self.formula, label, op)?;
        known.push((operation.input.argument.clone(), operation.output().cloned(), counted));
        Ok(counted)
    }
}

/// The numbers of a label. A result that says nothing may be recorded as nil or as true.
fn number(formula: &Formula, label: Label, op: OpId) -> Result<Counted, Unknown> {
    let labels = formula.grammar().labels();
    let Some(call) = formula.find_call(&label.method, &label.argument) else {
        return Err(Unknown { op, at_return: false, label, known: labels.to_vec() });
    };
    let Some(result) = &label.result else { return Ok(Counted { call, label: None }) };
    let silent = Label { result: Some(Value::Nil), ..label.clone() };
    let acknowledged = (*result == Value::Bool(true)).then(|| formula.find(&silent)).flatten();
    match formula.find(&label).or(acknowledged) {
        Some(found) => Ok(Counted { call, label: Some(found) }),
        None => {
            let same = |known: &&Label| known.method == label.method && known.argument == label.argument;
            let known = labels.iter().filter(same).cloned().collect();
            Err(Unknown { op, at_return: true, label, known })
        }
    }
}
