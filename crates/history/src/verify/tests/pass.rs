//! Linearizations: what is accepted is exactly what is an order.

use super::super::simulate::Kind;
use super::attack::{Shape, part_of, random_log};
use super::*;
use crate::generate::Random;

const QUEUE: &str = "0 enq 1; 1 enq 2; 0 = nil; 1 = nil; 0 deq; 0 = 2; 1 deq; 1 = 1";

#[test]
fn an_order_is_accepted() {
    let log = log(QUEUE);
    accepted(&log, &certificate("queue", &log, pass(vec![order(&[1, 0, 2, 3])])));
}

#[test]
fn what_is_no_order_is_refused() {
    let log = log(QUEUE);
    let check = |ids: &[u32], message| refused(&log, &certificate("queue", &log, pass(vec![order(ids)])), message);
    check(&[0, 1, 2, 3], "operation 2 returned 2, and at its place in the order the object answers 1");
    check(&[1, 0, 3, 2], "operation 3 stands before operation 2, which had returned before it was called");
    check(&[1, 2, 0, 3], "operation 2 stands before operation 0, which had returned before it was called");
    check(&[1, 0, 2], "operation 3 returned, and is missing from the order of its object");
    check(&[1, 0, 2, 3, 3], "operation 3 stands twice in the order");
    check(&[1, 0, 2, 3, 4], "the history has no operation 4");
    check(&[], "operation 0 returned, and is missing from the order of its object");
    refused(
        &log,
        &certificate("queue", &log, pass(vec![])),
        "operation 0 returned, and is missing from the order of its object",
    );
    // Half of an object may have an order that the whole has not.
    refused(
        &log,
        &certificate("queue", &log, pass(vec![order(&[1, 2]), order(&[0, 3])])),
        "operation 0 returned, and is missing from the order of its object",
    );
}

#[test]
fn the_header_must_fit() {
    let log = log(QUEUE);
    let good = certificate("queue", &log, pass(vec![order(&[1, 0, 2, 3])]));
    let check = |change: &dyn Fn(&mut Certificate), message| {
        let mut bad = good.clone();
        change(&mut bad);
        refused(&log, &bad, message);
    };
    check(&|bad| bad.selvedge = "history".to_owned(), "the document is a \"history\", not a certificate");
    check(&|bad| bad.version = 2, "the certificate has version 2, which does not go with its criterion");
    check(&|bad| bad.criterion = "x".to_owned(), "the criterion \"x\" is not known, or not the one of this version");
    check(&|bad| bad.operations = 5, "the certificate is about a history of 5 operations, and this one has 4");
    check(&|bad| bad.object = "heap".to_owned(), "the object \"heap\" is not known");
    check(&|bad| bad.object = "set".to_owned(), "operation 0 calls `enq`: the object has no such method");
    check(&|bad| bad.initial = Some(Value::Int(1)), "a queue cannot start with 1");
}

#[test]
fn results_that_no_call_has_are_refused() {
    let log = log("0 enq 1; 0 = 7");
    refused(
        &log,
        &certificate("queue", &log, pass(vec![order(&[0])])),
        "operation 0 calls `enq`: it cannot have such a result",
    );
}

#[test]
fn the_initial_value_counts() {
    let text = "0 read; 0 = 3";
    let mut certificate = certificate("register", &log(text), pass(vec![order(&[0])]));
    refused(&log(text), &certificate, "operation 0 returned 3, and at its place in the order the object answers nil");
    certificate.initial = Some(Value::Int(3));
    accepted(&log(text), &certificate);
    certificate.initial = None;
    let mut stating = log(text);
    stating.initial = Some(Value::Int(3));
    accepted(&stating, &certificate);
}

#[test]
fn pending_operations_need_a_result() {
    let log = log("0 enq 1; 0 ?; 1 deq; 2 deq; 2 = 1; 3 deq");
    let with = |ids: &[u32], results: &[(u32, Value)]| {
        let results = results.iter().map(|(op, value)| (OpId(*op), value.clone())).collect();
        certificate("queue", &log, pass(vec![Linearization { results, ..order(ids) }]))
    };
    accepted(&log, &with(&[0, 2], &[(0, Value::Nil)]));
    accepted(&log, &with(&[1, 0, 2], &[(0, Value::Nil), (1, Value::Nil)]));
    refused(&log, &with(&[0, 2], &[]), "operation 0 is pending, and the order gives it no result");
    refused(
        &log,
        &with(&[0, 1, 2], &[(0, Value::Nil), (1, Value::Int(1))]),
        "operation 2 returned 1, and at its place in the order the object answers nil",
    );
    refused(
        &log,
        &with(&[1, 0, 2], &[(0, Value::Nil), (1, Value::Int(4))]),
        "operation 1 returned 4, and at its place in the order the object answers nil",
    );
    refused(
        &log,
        &with(&[0, 2], &[(0, Value::Nil), (2, Value::Int(1))]),
        "operation 2 has a result, and is given another one",
    );
    let stray = "a result is given twice to operation 1, or it is not in the order";
    refused(&log, &with(&[0, 2], &[(0, Value::Nil), (1, Value::Nil)]), stray);
    let twice = "a result is given twice to operation 0, or it is not in the order";
    refused(&log, &with(&[0, 2], &[(0, Value::Nil), (0, Value::Nil)]), twice);
}

#[test]
fn objects_and_keys_are_apart() {
    let log = log("0 @a put 1; 0 = nil; 0 @b get; 0 = nil; 0 #m @a get; 0 = nil; 0 @a get; 0 = 1");
    let part = |object: &str, key: &str, ids: &[u32]| Linearization {
        part: Part { object: object.to_owned(), key: value(key) },
        ..order(ids)
    };
    let all = [part("", "a", &[0, 3]), part("", "b", &[1]), part("m", "a", &[2])];
    accepted(&log, &certificate("map", &log, pass(all.to_vec())));
    let check =
        |parts: &[Linearization], message| refused(&log, &certificate("map", &log, pass(parts.to_vec())), message);
    check(&all[..2], "operation 2 returned, and is missing from the order of its object");
    check(&[part("", "a", &[0, 1, 3]), all[2].clone()], "operation 1 is not one on key a");
    check(&[part("", "b", &[0, 3])], "operation 0 is not one on key b");
    check(&[part("m", "a", &[0, 3])], "operation 0 is not one on key a of object m");
    check(&[part("", "", &[0, 3])], "operation 0 is not one on an object without name");
}

#[test]
fn a_key_may_be_the_first_argument() {
    let log = log(r#"0 put ["a", 1]; 0 = nil; 0 get "b"; 0 = nil; 0 get "a"; 0 = 1"#);
    let part =
        |key: &str, ids: &[u32]| Linearization { part: Part { object: String::new(), key: value(key) }, ..order(ids) };
    accepted(&log, &certificate("map", &log, pass(vec![part("a", &[0, 2]), part("b", &[1])])));
}

#[test]
fn a_set_may_be_split_by_element() {
    let log = log("0 add 1; 0 = true; 0 add 2; 0 = true; 0 contains 1; 0 = true; 0 @k add 1; 0 = true");
    let part =
        |key: &str, ids: &[u32]| Linearization { part: Part { object: String::new(), key: value(key) }, ..order(ids) };
    let check = |parts: &[Linearization]| certificate("set", &log, pass(parts.to_vec()));
    let keyed = part(r#"["k", 1]"#, &[3]);
    accepted(&log, &check(&[part("1", &[0, 2]), part("2", &[1]), keyed.clone()]));
    accepted(&log, &check(&[part("", &[0, 1, 2]), part("k", &[3])]));
    accepted(&log, &check(&[part("", &[0, 2]), part("2", &[1]), keyed.clone()]));
    refused(&log, &check(&[part("1", &[0, 1, 2]), keyed.clone()]), "operation 1 is not one on key 1");
    let missing = "operation 2 returned, and is missing from the order of its object";
    refused(&log, &check(&[part("1", &[0]), part("2", &[1]), keyed]), missing);
    refused(&log, &check(&[part("", &[0, 1, 2, 3])]), "operation 3 is not one on an object without name");
}

#[test]
fn a_stuck_history_needs_everything_pending_to_block() {
    let log = log("0 acquire; 0 = nil; 1 acquire; 2 acquire; stuck");
    let check = |orders: &[&[u32]]| certificate("mutex", &log, pass(orders.iter().map(|ids| order(ids)).collect()));
    accepted(&log, &check(&[&[0, 1, 2]]));
    accepted(&log, &check(&[&[0, 1], &[0, 2]]));
    let idle = "the history is stuck, and no order shows that operation 2 may block";
    refused(&log, &check(&[&[0, 1]]), idle);
    refused(&log, &check(&[&[0]]), "the history is stuck, and no order shows that operation 1 may block");
    let early = "operation 1 stands before operation 0, which had returned before it was called";
    refused(&log, &check(&[&[1, 0, 2]]), early);
    let mut given = check(&[&[0, 1, 2]]);
    let Claim::Pass { linearizations } = &mut given.claim else { unreachable!() };
    linearizations[0].results = vec![(OpId(1), Value::Nil)];
    refused(&log, &given, "operation 1 is pending in a stuck history, and is given a result");
}

#[test]
fn a_stuck_history_may_have_several_orders() {
    let log = log("2 @k append x; 0 @k put 5; 1 @k put 6; 0 = nil; 1 = nil; 3 @k append y; stuck");
    let check = |orders: &[&[u32]]| {
        let part = Part { object: String::new(), key: value("k") };
        let orders = orders.iter().map(|ids| Linearization { part: part.clone(), ..order(ids) });
        certificate("map", &log, pass(orders.collect()))
    };
    accepted(&log, &check(&[&[1, 2, 0], &[2, 1, 3]]));
    refused(&log, &check(&[&[1, 2, 0], &[2, 3]]), "operation 1 returned, and is missing from the order of its object");
    refused(&log, &check(&[&[1, 0, 2, 3]]), "operation 2 stands after operation 0, which blocks");
    let idle = "operation 0 is pending in a stuck history, and does not block where it stands";
    refused(&log, &check(&[&[0, 1, 2, 3]]), idle);
}

#[test]
fn a_spent_budget_gives_no_answer() {
    let log = log(QUEUE);
    let budget = Budget::new();
    budget.spend(Limit::Time);
    let certificate = certificate("queue", &log, pass(vec![order(&[1, 0, 2, 3])]));
    assert_eq!(verify(&log, &certificate, &budget), Verdict::Unknown(Limit::Time));
}

/// Every order of every subset, for histories of up to four operations, with random results for the pending ones.
#[test]
fn exactly_the_orders_are_accepted() {
    let (mut good, mut bad) = (0, 0);
    for (i, (name, kind)) in Kind::ALL.into_iter().enumerate() {
        let mut random = Random::new(i as u64);
        for case in 0..cases(60) {
            let shape = Shape { operations: 4, pending: 30 * (case % 2), distinct: false, ..Shape::PLAIN };
            let log = random_log(&mut random, kind, shape);
            let mut some = false;
            for order in arrangements(log.history.len() as u32) {
                let results = pending_results(&mut random, &log, &order);
                let legal = super::brute::is_order(&log, kind, &order, &results);
                let linearization = Linearization { part: part_of(kind), order, results };
                let certificate = certificate(name, &log, pass(vec![linearization]));
                let verdict = verify(&log, &certificate, &Budget::new());
                assert_eq!(verdict == Verdict::Pass(()), legal, "{name} {certificate:?} {verdict:?}");
                some |= legal;
                *if legal { &mut good } else { &mut bad } += 1;
            }
            let truth = super::brute::linearizable(&log, kind, None);
            assert!(some == truth || truth && log.history.pending() > 0, "{name}");
        }
    }
    assert!(good > 500 && bad > 5_000, "{good} {bad}");
}

fn pending_results(random: &mut Random, log: &Log, order: &[OpId]) -> Vec<(OpId, Value)> {
    let pending = order.iter().filter(|op| log.history.operation(**op).ret.is_none());
    let results = [Value::Nil, Value::Bool(true), Value::Bool(false), Value::Int(1)];
    pending.map(|op| (*op, results[random.below(4) as usize].clone())).collect()
}

/// Every sequence of different numbers below `n`.
fn arrangements(n: u32) -> Vec<Vec<OpId>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    while from < all.len() {
        for op in (0..n).map(OpId) {
            if !all[from].contains(&op) {
                let longer = [&all[from][..], &[op]].concat();
                all.push(longer);
            }
        }
        from += 1;
    }
    all
}
