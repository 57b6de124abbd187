//! Sets and counters, by the definition: every linearization, every continuation, every legal run. Complete operations only.

use std::collections::BTreeSet;

use selvedge_history::format::{self, Format};
use selvedge_history::object::Kind;
use selvedge_history::quasi::{Causality, Reading, Relaxation, Rules, check};
use selvedge_history::{Budget, Log, Verdict};

use crate::random::Rng;

/// A call; of a counter without an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    method: &'static str,
    value: i64,
}

/// A call with its result; a truth is 0 or 1, no result is `NONE`.
type Did = (Call, i64);

const NONE: i64 = i64::MIN;

#[derive(Clone, Copy, Debug)]
struct Op {
    did: Did,
    call: usize,
    ret: usize,
}

/// Does the call; what is inside is the elements of the set, or the count alone.
fn step(kind: Kind, inside: &mut BTreeSet<i64>, call: Call) -> i64 {
    if kind == Kind::Set {
        return match call.method {
            "add" => i64::from(inside.insert(call.value)),
            "remove" => i64::from(inside.remove(&call.value)),
            _ => i64::from(inside.contains(&call.value)),
        };
    }
    let before = inside.pop_first().unwrap_or(0);
    let after = before
        + match call.method {
            "get" => 0,
            "inc" | "fetch_inc" | "inc_and_get" => 1,
            _ => -1,
        };
    inside.insert(after);
    match call.method {
        "inc" | "dec" => NONE,
        "get" | "fetch_inc" | "fetch_dec" => before,
        _ => after,
    }
}

/// Which class a method is in, `None` for what is exact.
type Class = fn(&str) -> Option<usize>;

struct Search<'a> {
    kind: Kind,
    ops: &'a [Op],
    class: Class,
    factor: u32,
    rules: &'a Rules,
    /// What may come after the end.
    alphabet: Vec<Did>,
}

impl Search<'_> {
    fn linearize(&self, order: &mut Vec<(Option<usize>, Did)>, moment: usize) -> bool {
        let placed: Vec<bool> = (0..self.ops.len()).map(|i| order.iter().any(|entry| entry.0 == Some(i))).collect();
        let all = placed.iter().all(|placed| *placed);
        if all && self.execute(order, &mut Vec::new(), &BTreeSet::new()) {
            return true;
        }
        for i in 0..self.ops.len() {
            let is_next = !placed[i] && (0..placed.len()).all(|j| placed[j] || self.ops[j].ret > self.ops[i].call);
            let Some(cause) = self.cause(order, self.ops[i].did).filter(|_| is_next) else { continue };
            let moment = moment.max(self.ops[i].call).max(cause);
            if moment < self.ops[i].ret && self.with(order, (Some(i), self.ops[i].did), moment) {
                return true;
            }
        }
        let later = order.len() - placed.iter().filter(|placed| **placed).count();
        all && self.rules.reading == Reading::Prefix
            && later < self.later_max()
            && self
                .alphabet
                .iter()
                .any(|&did| self.cause(order, did).is_some() && self.with(order, (None, did), usize::MAX - 1))
    }

    fn with(&self, order: &mut Vec<(Option<usize>, Did)>, next: (Option<usize>, Did), moment: usize) -> bool {
        order.push(next);
        let found = self.linearize(order, moment);
        order.pop();
        found
    }

    /// Of each class as many may come after the end as places are left open there.
    fn later_max(&self) -> usize {
        let classes: BTreeSet<_> = self.alphabet.iter().filter_map(|(call, _)| (self.class)(call.method)).collect();
        classes.len() * self.factor as usize
    }

    /// When the insertion that allows this was called; `None` where there is none.
    fn cause(&self, order: &[(Option<usize>, Did)], (call, result): Did) -> Option<usize> {
        let takes = call.method == "remove" && result == 1;
        let sees = (call.method == "contains" && result == 1) || (call.method == "add" && result == 0);
        if self.kind != Kind::Set || self.rules.causality == Causality::Free || !(takes || sees) {
            return Some(0);
        }
        let added = (Call { method: "add", value: call.value }, 1);
        let mut calls: Vec<usize> = self.ops.iter().filter(|op| op.did == added).map(|op| op.call).collect();
        calls.sort_unstable();
        let before = if takes { order.iter().filter(|entry| entry.1 == (call, result)).count() } else { 0 };
        calls.get(before).copied()
    }

    /// Whether what comes after the end is only ever of a class of which, up to there, the linearization and the run have not the same
    /// operations.
    fn is_closing(&self, order: &[(Option<usize>, Did)], run: &[usize]) -> bool {
        let class = |j: usize| (self.class)(order[j].1.0.method);
        (self.ops.len()..order.len()).all(|end| {
            let of_class = |j: &usize| class(*j) == class(end);
            let emitted: BTreeSet<usize> = (0..end).filter(of_class).collect();
            let executed: BTreeSet<usize> = run[..end].iter().copied().filter(of_class).collect();
            emitted != executed
        })
    }

    fn execute(&self, order: &[(Option<usize>, Did)], run: &mut Vec<usize>, inside: &BTreeSet<i64>) -> bool {
        let i = run.len();
        if i == order.len() {
            return self.is_closing(order, run);
        }
        let class = |j: usize| (self.class)(order[j].1.0.method);
        let place = |j: usize| (0..j).filter(|&other| class(other) == class(j)).count();
        (0..order.len()).any(|j| {
            let factor = if class(j).is_some() { self.factor as usize } else { 0 };
            if run.contains(&j) || class(i) != class(j) || place(i).abs_diff(place(j)) > factor {
                return false;
            }
            let mut inside = inside.clone();
            let (call, result) = order[j].1;
            if step(self.kind, &mut inside, call) != result {
                return false;
            }
            run.push(j);
            let found = self.execute(order, run, &inside);
            run.pop();
            found
        })
    }
}

fn holds(kind: Kind, ops: &[Op], class: Class, factor: u32, rules: &Rules) -> bool {
    let mut alphabet = Vec::new();
    if kind == Kind::Set {
        for op in ops {
            // Nothing that the history has is put in again.
            let results = if op.did.0.method == "add" { 0..=0 } else { 0..=1 };
            alphabet.extend(results.map(|result| (op.did.0, result)));
        }
    } else {
        for method in ["inc", "dec", "get", "fetch_inc", "fetch_dec", "inc_and_get", "dec_and_get"] {
            let call = Call { method, value: 0 };
            let results = if method.len() == 3 && method != "get" { vec![NONE] } else { (-3..=6).collect() };
            alphabet.extend(results.into_iter().map(|result| (call, result)));
        }
    }
    alphabet.retain(|(call, _)| class(call.method).is_some() && factor > 0);
    alphabet.dedup();
    Search { kind, ops, class, factor, rules, alphabet }.linearize(&mut Vec::new(), 0)
}

/// Threads that call at random; results are what the object would give, or a little wrong.
fn random(rng: &mut Rng, kind: Kind, ops_max: usize) -> Vec<(usize, Op)> {
    let n = 1 + rng.below(ops_max);
    let mut inside = BTreeSet::new();
    let mut open: [Option<usize>; 2] = [None; 2];
    let (mut ops, mut at): (Vec<(usize, Op)>, usize) = (Vec::new(), 0);
    while ops.len() < n || open.iter().any(Option::is_some) {
        let thread = rng.below(2);
        match open[thread].take() {
            Some(op) => ops[op].1.ret = at,
            None if ops.len() < n => {
                let methods: &[&str] =
                    if kind == Kind::Set { &["add", "remove", "contains"] } else { &["fetch_inc", "get"] };
                let value = if kind == Kind::Set { 1 + rng.below(2) as i64 } else { 0 };
                let call = Call { method: methods[rng.below(methods.len())], value };
                let mut result = step(kind, &mut inside, call);
                if rng.percent(25) {
                    result = if kind == Kind::Set { 1 - result } else { (result - 1 + rng.below(3) as i64).max(0) };
                }
                open[thread] = Some(ops.len());
                ops.push((thread, Op { did: (call, result), call: at, ret: usize::MAX }));
            }
            None => continue,
        }
        at += 1;
    }
    ops
}

fn log(kind: Kind, ops: &[(usize, Op)]) -> Log {
    let mut events = Vec::new();
    for (thread, op) in ops {
        let (Call { method, value }, result) = op.did;
        let value = if kind == Kind::Set { format!("\"value\":{value},") } else { String::new() };
        let result = if kind == Kind::Set { (result == 1).to_string() } else { result.to_string() };
        events.push((op.call, format!("{{\"call\":\"{method}\",{value}\"thread\":{thread}}}\n")));
        events.push((op.ret, format!("{{\"return\":{result},\"thread\":{thread}}}\n")));
    }
    events.sort();
    let text: String = events.into_iter().map(|(_, line)| line).collect();
    format::read(&mut text.as_bytes(), Some(Format::Jsonl), &Budget::new()).expect("a log").1
}

fn agree(kind: Kind, each: &[(&str, Class)], readings: &[(Reading, u32)], histories: usize, ops_max: usize) {
    let mut rng = Rng::new(400 + kind as u64);
    let (mut passes, mut fails) = (0, 0);
    for _ in 0..histories {
        let timed = random(&mut rng, kind, ops_max);
        let (log, ops) = (log(kind, &timed), timed.iter().map(|(_, op)| *op).collect::<Vec<_>>());
        for (classes, class) in each {
            for &(reading, most) in readings {
                for (factor, causality) in (0..=most).flat_map(|k| [(k, Causality::Causal), (k, Causality::Free)]) {
                    // A free continuation may hold what is not relaxed, which this does not try.
                    if reading == Reading::Prefix && causality == Causality::Free {
                        continue;
                    }
                    let rules = Rules { reading, causality, ..Rules::default() };
                    let relaxation = Relaxation::parse(&classes.replace('K', &factor.to_string())).expect("classes");
                    let answer =
                        check(&log, kind, None, &relaxation, &rules, &Budget::new()).expect("calls of the object");
                    let passed = match answer.verdict {
                        Verdict::Pass(_) => true,
                        Verdict::Fail(_) => false,
                        Verdict::Unknown(limit) => panic!("{limit}"),
                    };
                    let expected = holds(kind, &ops, *class, factor, &rules);
                    assert_eq!(passed, expected, "{kind} {relaxation} {rules:?}: {ops:?}");
                    *(if passed { &mut passes } else { &mut fails }) += 1;
                }
            }
        }
    }
    println!("{kind}: {histories} histories, {passes} passes, {fails} fails");
    assert!(passes > histories / 2 && fails > histories / 2);
}

#[test]
fn sets_are_decided_by_the_definition() {
    let each: [(&str, Class); 3] = [
        ("*=K", |_| Some(0)),
        ("contains=K", |method| (method == "contains").then_some(1)),
        ("add+remove=K", |method| (method != "contains").then_some(1)),
    ];
    let (histories, ops_max) = if super::is_full() { (2_000, 5) } else { (60, 4) };
    agree(Kind::Set, &each, &[(Reading::Closed, 3), (Reading::Prefix, 2)], histories, ops_max);
}

#[test]
fn counters_are_decided_by_the_definition() {
    let each: [(&str, Class); 3] = [
        ("*=K", |_| Some(0)),
        ("fetch_inc=K", |method| (method == "fetch_inc").then_some(1)),
        ("fetch_inc=K,get=K", |method| match method {
            "fetch_inc" => Some(1),
            "get" => Some(2),
            _ => None,
        }),
    ];
    let (histories, ops_max) = if super::is_full() { (2_000, 5) } else { (60, 4) };
    agree(Kind::Counter, &each, &[(Reading::Closed, 3), (Reading::Prefix, 1)], histories, ops_max);
}
