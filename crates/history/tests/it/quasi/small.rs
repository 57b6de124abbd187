//! Small histories of three collections, in the plainest terms, and the library asked about them.

use selvedge_history::object::priority_queue::{self, PriorityQueue};
use selvedge_history::object::queue::{self, Queue};
use selvedge_history::object::stack::{self, Stack};
use selvedge_history::quasi::{Classing, Orders, Placed, Question, Rules};
use selvedge_history::{Budget, Elements, OpId, Recorder, ThreadId, Value, Verdict};

use crate::random::Rng;

/// A collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Queue,
    Stack,
    /// Largest first.
    Priority,
}

pub const SHAPES: [Shape; 3] = [Shape::Queue, Shape::Stack, Shape::Priority];

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Did {
    Put(i64),
    Take(Option<i64>),
}

/// An operation; `ret` is `usize::MAX` while pending, and then the result counts for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    pub thread: u32,
    pub did: Did,
    pub call: usize,
    pub ret: usize,
}

impl Op {
    pub fn is_pending(&self) -> bool {
        self.ret == usize::MAX
    }
}

/// Which operations may change places with which.
#[derive(Clone, Copy, Debug)]
pub enum Relaxed {
    /// All with all.
    All(u32),
    /// Insertions, removals, and removals that found nothing, each among themselves.
    Each(u32, u32, u32),
    /// Insertions, and removals whatever they found.
    PutTake(u32, u32),
}

impl Relaxed {
    /// The class and its factor.
    pub fn class(self, did: Did) -> (usize, u32) {
        match (self, did) {
            (Relaxed::All(factor), _) => (0, factor),
            (Relaxed::Each(put, ..) | Relaxed::PutTake(put, _), Did::Put(_)) => (0, put),
            (Relaxed::Each(_, take, _) | Relaxed::PutTake(_, take), Did::Take(Some(_))) => (1, take),
            (Relaxed::PutTake(_, take), Did::Take(None)) => (1, take),
            (Relaxed::Each(_, _, empty), Did::Take(None)) => (2, empty),
        }
    }

    pub fn factors(self) -> Vec<u32> {
        match self {
            Relaxed::All(factor) => vec![factor],
            Relaxed::Each(put, take, empty) => vec![put, take, empty],
            Relaxed::PutTake(put, take) => vec![put, take],
        }
    }
}

/// One step of the collection; `false` where it cannot do that.
pub fn step(shape: Shape, inside: &mut Vec<i64>, did: Did) -> bool {
    match did {
        Did::Put(value) => {
            inside.push(value);
            true
        }
        Did::Take(None) => inside.is_empty(),
        Did::Take(Some(value)) => {
            let next = match shape {
                Shape::Queue => inside.iter().position(|_| true),
                Shape::Stack => inside.len().checked_sub(1),
                Shape::Priority => (0..inside.len()).max_by_key(|&i| inside[i]),
            };
            let Some(next) = next.filter(|&next| inside[next] == value) else { return false };
            inside.remove(next);
            true
        }
    }
}

/// Whether the collection can do all this in this order.
pub fn is_legal(shape: Shape, run: &[Did]) -> bool {
    let mut inside = Vec::new();
    run.iter().all(|&did| step(shape, &mut inside, did))
}

/// What the library answers, with the witness checked here.
pub fn library(shape: Shape, ops: &[Op], relaxed: Relaxed, rules: &Rules) -> bool {
    let rules = Rules { factors: relaxed.factors(), ..rules.clone() };
    match shape {
        Shape::Queue => ask(&Queue, shape, ops, relaxed, &rules, |did| match did {
            Did::Put(value) => queue::Input::Enq(Value::Int(value)),
            Did::Take(_) => queue::Input::Deq,
        }),
        Shape::Stack => ask(&Stack, shape, ops, relaxed, &rules, |did| match did {
            Did::Put(value) => stack::Input::Push(Value::Int(value)),
            Did::Take(_) => stack::Input::Pop,
        }),
        Shape::Priority => ask(&PriorityQueue::largest_first(), shape, ops, relaxed, &rules, |did| match did {
            Did::Put(value) => priority_queue::Input::Insert(Value::Int(value)),
            Did::Take(_) => priority_queue::Input::Poll,
        }),
    }
}

fn ask<S: Elements<Output = Value>>(
    spec: &S,
    shape: Shape,
    ops: &[Op],
    relaxed: Relaxed,
    rules: &Rules,
    input: impl Fn(Did) -> S::Input,
) -> bool {
    let mut events: Vec<(usize, usize, bool)> = Vec::new();
    for (i, op) in ops.iter().enumerate() {
        events.push((op.call, i, false));
        if !op.is_pending() {
            events.push((op.ret, i, true));
        }
    }
    events.sort_unstable();
    let mut recorder = Recorder::new();
    let mut number = vec![0u32; ops.len()];
    for (_, i, is_return) in events {
        let thread = ThreadId(ops[i].thread);
        if is_return {
            let output = match ops[i].did {
                Did::Take(Some(value)) => Value::Int(value),
                _ => Value::Nil,
            };
            recorder.ret(thread, output).expect("a return of an open call");
        } else {
            number[i] = recorder.call(thread, input(ops[i].did)).expect("a call of an idle thread").0;
        }
    }
    let history = recorder.finish(None).expect("a history");
    let mut by_number = vec![0; ops.len()];
    for (i, &number) in number.iter().enumerate() {
        by_number[number as usize] = i;
    }
    let class = |did: Did| relaxed.class(did).0 as u16;
    let classes = |did: Did| match did {
        Did::Put(_) => (class(did), class(did)),
        Did::Take(_) => (class(Did::Take(Some(0))), class(Did::Take(None))),
    };
    let take = Did::Take(None);
    let classing = Classing {
        of: by_number.iter().map(|&i| classes(ops[i].did)).collect(),
        probes: vec![(input(take), classes(take))],
        insertion: classes(Did::Put(0)),
    };
    let budget = Budget::new();
    let question = Question { spec, history: &history, classing: &classing, rules, goes_on: false, budget: &budget };
    match question.decide(&mut 0) {
        Verdict::Pass(all) => {
            for orders in &all {
                let done = |placed: &Placed<S::Input, Value>| told(placed, orders, ops, &by_number, &input);
                let linearization: Vec<_> = orders.linearization.iter().map(done).collect();
                super::brute::check(shape, ops, &linearization, &orders.run, relaxed, rules);
            }
            true
        }
        Verdict::Fail(_) => false,
        Verdict::Unknown(limit) => panic!("{limit}"),
    }
}

/// An operation of a witness in plain terms: its number in `ops`, if it has one, and what it did.
fn told<I: PartialEq>(
    placed: &Placed<I, Value>,
    orders: &Orders<I, Value>,
    ops: &[Op],
    by_number: &[usize],
    input: &impl Fn(Did) -> I,
) -> (Option<usize>, Did) {
    let did = |value: &Value| Did::Take(value.as_int());
    match placed {
        Placed::Operation(OpId(number)) => {
            let i = by_number[*number as usize];
            let result = orders.results.iter().find(|(op, _)| op.0 == *number);
            let did = match (ops[i].did, result) {
                (Did::Take(_), Some((_, value))) => did(value),
                (own, _) => own,
            };
            (Some(i), did)
        }
        Placed::Later(made, value) if *made == input(Did::Take(None)) => (None, did(value)),
        Placed::Later(made, _) => {
            let put = (0..100).map(Did::Put).find(|&put| *made == input(put));
            (None, put.expect("an insertion of a small value"))
        }
    }
}

/// Every history of `n` operations on two threads, insertions of 1, 2, ... in the order of their calls, up to swapping the
/// threads.
pub fn every(n: usize, visit: &mut impl FnMut(&[Op])) {
    for kinds in 0..1u32 << n {
        let puts: Vec<bool> = (0..n).map(|i| kinds >> i & 1 == 1).collect();
        let values = puts.iter().filter(|put| **put).count();
        interleave(&puts, &mut Vec::new(), &mut [None, None], 0, &mut |ops| results(ops, 0, values, visit));
    }
}

/// Every order of the events; `puts` says what the i-th call is.
fn interleave(
    puts: &[bool],
    ops: &mut Vec<Op>,
    open: &mut [Option<usize>; 2],
    at: usize,
    visit: &mut impl FnMut(&mut Vec<Op>),
) {
    if ops.len() == puts.len() && open.iter().all(Option::is_none) {
        visit(ops);
        return;
    }
    for thread in 0..2 {
        if let Some(op) = open[thread] {
            ops[op].ret = at;
            open[thread] = None;
            interleave(puts, ops, open, at + 1, visit);
            ops[op].ret = usize::MAX;
            open[thread] = Some(op);
        } else if ops.len() < puts.len() && (thread == 0 || !ops.is_empty()) {
            let put = ops.iter().filter(|op| matches!(op.did, Did::Put(_))).count() as i64 + 1;
            let did = if puts[ops.len()] { Did::Put(put) } else { Did::Take(None) };
            ops.push(Op { thread: thread as u32, did, call: at, ret: usize::MAX });
            open[thread] = Some(ops.len() - 1);
            interleave(puts, ops, open, at + 1, visit);
            open[thread] = None;
            ops.pop();
        }
    }
}

fn results(ops: &mut Vec<Op>, from: usize, values: usize, visit: &mut impl FnMut(&[Op])) {
    let Some(i) = (from..ops.len()).find(|&i| matches!(ops[i].did, Did::Take(_))) else {
        visit(ops);
        return;
    };
    for result in 0..=values as i64 {
        ops[i].did = Did::Take(Some(result).filter(|&result| result > 0));
        results(ops, i + 1, values, visit);
    }
}

/// One removal found something else, or nothing.
pub fn spoil(rng: &mut Rng, ops: &mut [Op]) {
    let removals: Vec<usize> = (0..ops.len()).filter(|&i| matches!(ops[i].did, Did::Take(_))).collect();
    if !removals.is_empty() {
        let found = rng.below(4) as i64;
        ops[removals[rng.below(removals.len())]].did = Did::Take(Some(found).filter(|&found| found > 0));
    }
}

/// A history at random: threads that put in and take out about what a relaxed collection would give.
pub fn random(rng: &mut Rng, ops_max: usize, threads: usize, pending_max: usize) -> Vec<Op> {
    let n = 1 + rng.below(ops_max);
    let threads = 1 + rng.below(threads);
    let stay = 30 + rng.below(60);
    let repeated = rng.percent(15);
    let mut ops: Vec<Op> = Vec::new();
    let mut open: Vec<Option<usize>> = vec![None; threads];
    let mut inside: Vec<i64> = Vec::new();
    let (mut at, mut puts, mut thread) = (0, 0, 0);
    while ops.len() < n || open.iter().any(Option::is_some) {
        if !rng.percent(stay) {
            thread = rng.below(threads);
        }
        if let Some(op) = open[thread] {
            if let Did::Take(result) = &mut ops[op].did {
                let wrong = rng.percent(12);
                *result = match inside.len() {
                    0 => None,
                    _ if wrong && rng.percent(50) => None,
                    len => Some(inside.remove(if wrong { rng.below(len) } else { rng.below(len.min(3)) })),
                };
            }
            ops[op].ret = at;
            open[thread] = None;
        } else if ops.len() < n {
            let did = if rng.percent(50) {
                puts += 1;
                let value = if repeated { 1 + rng.below(2) as i64 } else { puts };
                inside.push(value);
                Did::Put(value)
            } else {
                Did::Take(None)
            };
            ops.push(Op { thread: thread as u32, did, call: at, ret: usize::MAX });
            open[thread] = Some(ops.len() - 1);
        } else {
            thread = open.iter().position(Option::is_some).unwrap_or(0);
            continue;
        }
        at += 1;
    }
    for _ in 0..rng.below(pending_max + 1) {
        let last = rng.below(threads) as u32;
        if let Some(op) = ops.iter_mut().rev().find(|op| op.thread == last) {
            op.ret = usize::MAX;
        }
    }
    ops
}
