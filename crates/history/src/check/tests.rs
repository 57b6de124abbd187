//! Quick agreement of every algorithm with a plain enumeration over the specifications. The full comparison, with models
//! that share nothing with them, is in the integration tests.

use super::*;
use crate::generate::Random;
use crate::object::ObjectVisitor;
use crate::{Call, End, History, LogRecorder, Outcome};

/// Random operations of a collection, most of them wrong.
fn random_log(random: &mut Random, insert: &str, remove: &str, distinct: bool, pending: bool) -> Log {
    let mut recorder = LogRecorder::new();
    let threads = 1 + random.below(4) as u32;
    let operations = 1 + random.below(8);
    let mut next = 0;
    let mut called = 0;
    let mut open: Vec<Option<(bool, i64)>> = vec![None; threads as usize];
    let mut values: Vec<i64> = Vec::new();
    let mut line = 0;
    while called < operations || open.iter().any(Option::is_some) {
        line += 1;
        let thread = random.below(u64::from(threads)) as u32;
        let name = Value::Int(i64::from(thread));
        match open[thread as usize].take() {
            None if called < operations => {
                called += 1;
                let inserting = random.below(2) == 0;
                let value = if distinct { next } else { random.below(3) as i64 };
                next += 1;
                let method = recorder.symbol(if inserting { insert } else { remove });
                let argument = if inserting { Value::Int(value) } else { Value::Nil };
                if inserting {
                    values.push(value);
                }
                let call = Call { object: crate::Symbol::NONE, method, key: Value::Nil, argument };
                recorder.call(line, &name, call).unwrap();
                open[thread as usize] = Some((inserting, value));
            }
            None => {}
            Some((inserting, _)) => {
                let outcome = if pending && random.below(8) == 0 {
                    Outcome::Unknown
                } else if inserting || values.is_empty() || random.below(6) == 0 {
                    Outcome::Return(Value::Nil)
                } else {
                    let at = if random.below(3) == 0 { 0 } else { random.below(values.len() as u64) };
                    Outcome::Return(Value::Int(values.remove(at as usize)))
                };
                recorder.outcome(line, &name, None, outcome).unwrap();
            }
        }
    }
    recorder.finish(None).unwrap()
}

struct Enumerate<'a>(&'a Log, Kind);

impl ObjectVisitor for Enumerate<'_> {
    type Answer = bool;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> bool {
        let ops: Vec<OpId> = (0..self.0.history.len() as u32).map(OpId).collect();
        let end = if self.0.history.pending() > 0 { End::Truncated } else { End::Complete };
        let history = self.0.history.project(&ops, end, |op, operation| {
            (read(&object, self.1, self.0, op).unwrap(), operation.output().cloned())
        });
        enumerate(&object, &history, &mut vec![false; history.len()], &object.initial())
    }
}

fn enumerate<O: Object>(object: &O, history: &History<O::Input, Value>, placed: &mut [bool], state: &O::State) -> bool {
    let operations = history.operations();
    if operations.iter().zip(placed.iter()).all(|(op, &placed)| placed || op.ret.is_none()) {
        return true;
    }
    for i in 0..operations.len() {
        let free = |j: usize| placed[j] || !operations[j].precedes(&operations[i]);
        if placed[i] || !(0..operations.len()).all(free) {
            continue;
        }
        let mut next = Vec::new();
        object.step(state, &operations[i].input, operations[i].output(), &mut next);
        placed[i] = true;
        let found = next.iter().any(|state| enumerate(object, history, placed, state));
        placed[i] = false;
        if found {
            return true;
        }
    }
    false
}

/// Whether an order of all complete operations, and some pending ones, keeps precedence and is accepted.
struct Replay<'a>(&'a Log, Kind, &'a Linearization);

impl ObjectVisitor for Replay<'_> {
    type Answer = bool;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> bool {
        let Replay(log, kind, witness) = self;
        let operations = log.history.operations();
        let mut states = vec![object.initial()];
        for &op in &witness.order {
            let operation = log.history.operation(op);
            let result = witness.results.iter().find(|(of, _)| *of == op).map(|(_, result)| result);
            let output = operation.output().or(result).unwrap();
            let mut next = Vec::new();
            for state in &states {
                object.step(state, &read(&object, kind, log, op).unwrap(), Some(output), &mut next);
            }
            states = next;
        }
        let place = |op: usize| witness.order.iter().position(|placed| placed.0 as usize == op);
        let ordered = (0..operations.len()).all(|a| {
            (0..operations.len())
                .all(|b| !operations[a].precedes(&operations[b]) || place(b).is_none() || place(a) < place(b))
        });
        let complete = (0..operations.len()).all(|op| operations[op].ret.is_none() || place(op).is_some());
        let mut once = witness.order.clone();
        once.sort_unstable();
        once.dedup();
        !states.is_empty() && ordered && complete && once.len() == witness.order.len()
    }
}

#[test]
fn collections_agree_with_enumeration() {
    let kinds = [
        (Kind::Queue, "enq", "deq"),
        (Kind::Stack, "push", "pop"),
        (Kind::PriorityQueue, "insert", "poll"),
        (Kind::PriorityQueueMin, "insert", "poll"),
        (Kind::Bag, "add", "remove"),
    ];
    let count: u64 = std::env::var("SELVEDGE_HISTORIES").map_or(3000, |count| count.parse().unwrap());
    for (kind, insert, remove) in kinds {
        let mut verdicts = [0, 0];
        for seed in 0..count {
            let mut random = Random::new(seed * 7919 + 13);
            let log = random_log(&mut random, insert, remove, seed % 4 != 0, seed % 3 == 0);
            let expected = kind.with_object(None, Enumerate(&log, kind)).unwrap();
            let answer = check(&log, kind, None, &Budget::new()).unwrap();
            assert_eq!(
                answer.verdict.name(),
                if expected { "pass" } else { "fail" },
                "{kind} seed {seed}: {:#?}\n{:#?}",
                log.history,
                answer
            );
            if let Verdict::Pass(witness) = &answer.verdict {
                let replayed = kind.with_object(None, Replay(&log, kind, &witness[0])).unwrap();
                assert!(replayed, "{kind} seed {seed}: {:#?}\n{witness:?}", log.history);
            }
            verdicts[usize::from(expected)] += 1;
        }
        assert!(verdicts.iter().all(|&count_of| count_of > count / 20), "{kind}: {verdicts:?}");
    }
}

#[test]
fn nothing_behind_a_quiet_moment_is_tried_again_where_order_does_not_matter() {
    let mut recorder = LogRecorder::new();
    let (inc, get) = (recorder.symbol("inc"), recorder.symbol("get"));
    let call = |method| Call { object: crate::Symbol::NONE, method, key: Value::Nil, argument: Value::Nil };
    for _ in 0..100 {
        for thread in 0..8 {
            recorder.call(1, &Value::Int(thread), call(inc)).unwrap();
        }
        for thread in 0..8 {
            recorder.outcome(1, &Value::Int(thread), None, Outcome::Return(Value::Nil)).unwrap();
        }
    }
    recorder.call(1, &Value::Int(0), call(get)).unwrap();
    recorder.outcome(1, &Value::Int(0), None, Outcome::Return(Value::Int(799))).unwrap();
    let log = recorder.finish(None).unwrap();
    let answer = check(&log, Kind::Counter, None, &Budget::new()).unwrap();
    assert_eq!(answer.verdict.name(), "fail");
    assert!(answer.states < 1000, "{} configurations for 801 operations", answer.states);
}
