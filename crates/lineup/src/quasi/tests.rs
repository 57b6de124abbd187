//! Small histories: the built-in queue and a model that is asked piece by piece against one another, and both against every linearization
//! and every permutation of it.

use std::collections::VecDeque;

use selvedge_explore::Rng;
use selvedge_history::quasi::{Causality, Order, Reading};

use super::decide::{Happened, events};
use super::*;
use crate::matrix::Matrix;
use crate::observation::Observation;
use crate::recorded::Operation;
use crate::results::Results;

const CALLS: [&str; 5] = ["enq(1)", "enq(2)", "enq(3)", "enq(4)", "deq()"];
const DEQ: CallId = CallId(4);

fn calls() -> Calls {
    Calls::new(CALLS.map(str::to_owned).to_vec()).unwrap()
}

/// What a queue answers: the number of the value, from 1, or 0 when it is empty.
fn serially(calls: &[CallId]) -> Vec<u32> {
    let mut inside = VecDeque::new();
    let answer = |&call: &CallId| match call {
        DEQ => inside.pop_front().unwrap_or(0),
        CallId(value) => {
            inside.push_back(u32::from(value) + 1);
            u32::MAX
        }
    };
    calls.iter().map(answer).collect()
}

struct Setting {
    matrix: Matrix,
    history: Recorded,
}

/// A random run of two or three threads; removals answer what a loose queue might.
fn random(rng: &mut Rng) -> (Setting, Results) {
    let mut results = Results::new("void");
    let empty = results.intern("empty");
    let values: Vec<ResultId> = (1..=4).map(|value| results.intern(&value.to_string())).collect();
    let threads = 2 + rng.below(2) as usize;
    let mut fresh: Vec<CallId> = (0..4).map(CallId).collect();
    let mut columns = vec![Vec::new(); threads];
    for column in &mut columns {
        for _ in 0..1 + rng.below(3) {
            let call = if rng.below(2) == 0 && !fresh.is_empty() { fresh.remove(0) } else { DEQ };
            column.push(call);
        }
    }
    let mut recorded = vec![Vec::new(); threads + 1];
    let (mut returned, mut inside) = (vec![0u8; threads + 1], Vec::new());
    let mut open = vec![false; threads];
    while (0..threads).any(|at| recorded[at + 1].len() < columns[at].len() || open[at]) {
        let at = rng.below(threads as u64) as usize;
        let column: &mut Vec<Operation> = &mut recorded[at + 1];
        if open[at] {
            let last = column.len() - 1;
            let call = columns[at][last];
            let result = match call {
                DEQ if inside.is_empty() || rng.below(6) == 0 => empty,
                DEQ => inside.remove(rng.below(inside.len().min(3) as u64) as usize),
                CallId(value) => {
                    inside.push(values[usize::from(value)]);
                    Results::VOID
                }
            };
            column[last].result = Some(result);
            returned[at + 1] += 1;
            open[at] = false;
        } else if column.len() < columns[at].len() {
            column.push(Operation { result: None, before: returned.clone() });
            open[at] = true;
        }
    }
    let history = Recorded { columns: recorded, ending: Ending::Full };
    (Setting { matrix: Matrix::new(columns), history }, results)
}

/// The judgement, with every question answered by a queue.
fn judge(
    text: &str,
    kind: Option<&str>,
    readings: (Reading, Causality, Order),
    of: &Setting,
    results: &Results,
) -> bool {
    let calls = calls();
    let mut quasi = Quasi::new(Relaxed::new(text, kind, readings, &calls).unwrap(), &calls);
    let observation = Observation::new();
    let case = Case { matrix: &of.matrix, calls: &calls, results, observation: &observation, history: &of.history };
    loop {
        match quasi.judge(&case) {
            Judgement::Allowed => return true,
            Judgement::Refused(_) => return false,
            Judgement::Ask(asked) => {
                for path in asked {
                    let answer = |number: u32| match number {
                        u32::MAX => Results::VOID,
                        0 => results.find("empty").unwrap(),
                        value => results.find(&value.to_string()).unwrap(),
                    };
                    let answers: Vec<_> = serially(&path).into_iter().map(|number| Some(answer(number))).collect();
                    quasi.tell(&case, path.into_iter().zip(answers).collect()).unwrap();
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

/// An operation with its result as [`serially`] has it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Done {
    at: (usize, usize),
    call: CallId,
    result: u32,
}

/// By the definition: some linearization and some legal permutation of it, closed and causal.
fn literally(factor: usize, of: &Setting, results: &Results) -> bool {
    let (order, _) = events(&of.history);
    let done: Vec<Done> = order
        .iter()
        .map(|&at| {
            let result = of.history.columns[at.0][at.1].result.unwrap();
            let call = of.matrix.column(at.0).nth(at.1).unwrap();
            let result = match results.text(result) {
                "void" => u32::MAX,
                "empty" => 0,
                value => value.parse().unwrap(),
            };
            Done { at, call, result }
        })
        .collect();
    let precedes = |a: &Done, b: &Done| of.history.precedes(a.at, b.at);
    permutations(&done).iter().any(|w| {
        let ordered = (0..w.len()).all(|i| (i..w.len()).all(|j| !precedes(&w[j], &w[i])));
        let caused = (0..w.len()).all(|i| {
            let brought = w.iter().find(|other| other.call != DEQ && u32::from(other.call.0) + 1 == w[i].result);
            w[i].call != DEQ
                || w[i].result == 0
                || brought.is_some_and(|brought| w[i..].iter().all(|later| !precedes(later, brought)))
        });
        ordered && caused && permutations(w).iter().any(|u| is_near(w, u, factor) && is_legal(u))
    })
}

fn is_legal(u: &[Done]) -> bool {
    let calls: Vec<CallId> = u.iter().map(|done| done.call).collect();
    serially(&calls) == u.iter().map(|done| done.result).collect::<Vec<_>>()
}

/// Insertions where they are; no removal further from its place among removals than that.
fn is_near(w: &[Done], u: &[Done], factor: usize) -> bool {
    let takes = |all: &[Done]| all.iter().filter(|done| done.call == DEQ).copied().collect::<Vec<_>>();
    let (of_w, of_u) = (takes(w), takes(u));
    w.iter().zip(u).all(|(one, other)| if one.call == DEQ { other.call == DEQ } else { one == other })
        && of_w
            .iter()
            .enumerate()
            .all(|(i, one)| of_u.iter().position(|other| other == one).unwrap().abs_diff(i) <= factor)
}

fn permutations(all: &[Done]) -> Vec<Vec<Done>> {
    if all.is_empty() {
        return vec![vec![]];
    }
    let mut found = Vec::new();
    for at in 0..all.len() {
        let mut rest = all.to_vec();
        let first = rest.remove(at);
        for mut tail in permutations(&rest) {
            tail.insert(0, first);
            found.push(tail);
        }
    }
    found
}

const CLOSED: (Reading, Causality, Order) = (Reading::Closed, Causality::Causal, Order::Distance);

#[test]
fn events_have_the_precedence_that_was_recorded() {
    let mut rng = Rng::for_run(11, 0);
    for _ in 0..200 {
        let (of, _) = random(&mut rng);
        let (order, events) = events(&of.history);
        let place = |wanted: &dyn Fn(&Happened) -> bool| events.iter().position(wanted).unwrap();
        for &a in &order {
            let ends = place(&|event| matches!(event, Happened::Returned(at, _) if *at == a));
            for &b in &order {
                let starts = place(&|event| *event == Happened::Called(b));
                assert_eq!(ends < starts, of.history.precedes(a, b), "{a:?} {b:?} {:?}", of.history);
            }
        }
    }
}

#[test]
fn closed_histories_as_the_definition_has_them() {
    let mut rng = Rng::for_run(5, 0);
    let mut seen = [0; 2];
    let mut tried = 0;
    while tried < 100 {
        let (of, results) = random(&mut rng);
        if of.matrix.len() > 5 {
            continue;
        }
        tried += 1;
        for factor in 0..3 {
            let expected = literally(factor, &of, &results);
            let text = format!("deq={factor}");
            assert_eq!(judge(&text, Some("queue"), CLOSED, &of, &results), expected, "{text}: {:?}", of.history);
            assert_eq!(judge(&text, None, CLOSED, &of, &results), expected, "{text}: {:?}", of.history);
            seen[usize::from(expected)] += 1;
        }
    }
    assert!(seen[0] > 30 && seen[1] > 30, "{seen:?}");
}

#[test]
fn a_model_that_is_asked_is_the_built_in_object() {
    let mut rng = Rng::for_run(7, 0);
    let (closed, prefix) = (Reading::Closed, Reading::Prefix);
    let (distance, strict) = (Order::Distance, Order::Strict);
    let questions = [
        ("deq=1", prefix, distance),
        ("deq=2", prefix, distance),
        ("deq=2,deq:empty=0", prefix, distance),
        ("deq=2,deq:empty=0", closed, distance),
        ("*=1", closed, distance),
        ("deq=1", closed, strict),
        ("deq=2", closed, strict),
    ];
    let mut seen = [0; 2];
    let mut tried = 0;
    while tried < 60 {
        let (of, results) = random(&mut rng);
        if of.matrix.len() > 5 {
            continue;
        }
        tried += 1;
        for (text, reading, order) in questions {
            let readings = (reading, Causality::Causal, order);
            let one = judge(text, Some("queue"), readings, &of, &results);
            let other = judge(text, None, readings, &of, &results);
            assert_eq!(one, other, "{text} {readings:?} {:?} {:?}", of.matrix, of.history);
            seen[usize::from(one)] += 1;
        }
    }
    assert!(seen[0] > 20 && seen[1] > 20, "{seen:?}");
}

#[test]
fn linearizations_are_counted() {
    let mut rng = Rng::for_run(3, 0);
    for _ in 0..60 {
        let (of, _) = random(&mut rng);
        if of.matrix.len() > 6 {
            continue;
        }
        let (order, _) = events(&of.history);
        let done: Vec<Done> = order.iter().map(|&at| Done { at, call: DEQ, result: 0 }).collect();
        let keeps = |w: &Vec<Done>| (0..w.len()).all(|i| (i..w.len()).all(|j| !of.history.precedes(w[j].at, w[i].at)));
        let expected = permutations(&done).iter().filter(|w| keeps(w)).count() as u64;
        assert_eq!(linearizations(&of.history), expected, "{:?}", of.history);
    }
}

#[test]
fn what_cannot_be_asked_is_said() {
    let check = |text: &str, kind: Option<&str>, expected: &str| {
        let error = Relaxed::new(text, kind, CLOSED, &calls()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text} {kind:?}: {error}");
    };
    check("pop=2", None, "the object has no method \"pop\"; it has enq, deq");
    check("deq=-1", None, "a factor cannot be negative");
    check("deq=1000000", None, "from 0 to 1000");
    check("deq=1,*=2", None, "classes overlap");
    check("deq", None, "needs a factor");
    check("deq=2", Some("kettle"), "there is no built-in object `kettle`");
    check("deq=2", Some("bag"), "nondeterministic");
    check("pop=2", Some("stack"), "`enq(1)` is no call of a stack");
    let mut declared = calls();
    declared.declared.push(crate::calls::Declared { call: DEQ, result: "empty".into() });
    let error = Relaxed::new("deq=2", None, CLOSED, &declared).unwrap_err().to_string();
    assert!(error.contains("`deq()` was declared nondeterministic"), "{error}");
}
