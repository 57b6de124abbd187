//! Certificates of quasi linearizability: what the checker writes is believed, what is made up is refused.

use selvedge_history::certificate::quasi::{QuasiCertificate, QuasiClaim, QuasiOrders, QuasiViolation, VERSION};
use selvedge_history::format::{self, Format};
use selvedge_history::object::Kind;
use selvedge_history::quasi::{self, Causality, Order, Reading, Relaxation, Rules};
use selvedge_history::verify::verify_quasi;
use selvedge_history::{Budget, Log, OpId, Value, Verdict};

use super::small::{self, Did, Op, Relaxed, SHAPES, Shape};
use crate::random::Rng;

/// The history as a log.
pub fn log(ops: &[Op]) -> Log {
    let mut events: Vec<(usize, String)> = Vec::new();
    for op in ops {
        let call = match op.did {
            Did::Put(value) => format!("{{\"call\":\"add\",\"value\":{value},\"thread\":{}}}\n", op.thread),
            Did::Take(_) => format!("{{\"call\":\"remove\",\"thread\":{}}}\n", op.thread),
        };
        events.push((op.call, call));
        if !op.is_pending() {
            let result = match op.did {
                Did::Take(Some(value)) => value.to_string(),
                _ => "null".to_owned(),
            };
            events.push((op.ret, format!("{{\"return\":{result},\"thread\":{}}}\n", op.thread)));
        }
    }
    events.sort();
    let text: String = events.into_iter().map(|(_, line)| line).collect();
    format::read(&mut text.as_bytes(), Some(Format::Jsonl), &Budget::new()).expect("a log").1
}

pub fn kind(shape: Shape) -> Kind {
    match shape {
        Shape::Queue => Kind::Queue,
        Shape::Stack => Kind::Stack,
        Shape::Priority => Kind::PriorityQueue,
    }
}

fn certificate(log: &Log, shape: Shape, classes: &str, rules: &Rules, claim: QuasiClaim) -> QuasiCertificate {
    let word = |first: bool, one: &str, other: &str| if first { one.to_owned() } else { other.to_owned() };
    QuasiCertificate {
        selvedge: "certificate".to_owned(),
        version: VERSION,
        criterion: "quasi-linearizability".to_owned(),
        object: kind(shape).name().to_owned(),
        initial: None,
        operations: log.history.len() as u64,
        quasi: classes.to_owned(),
        reading: word(rules.reading == Reading::Prefix, "prefix", "closed"),
        causality: word(rules.causality == Causality::Causal, "causal", "free"),
        order: word(rules.order == Order::Distance, "distance", "strict"),
        claim,
    }
}

/// Checks, writes the certificate and reads it again.
fn certified(log: &Log, shape: Shape, classes: &str, rules: &Rules) -> QuasiCertificate {
    let relaxation = Relaxation::parse(classes).expect("a relaxation");
    let answer = quasi::check(log, kind(shape), None, &relaxation, rules, &Budget::new()).expect("it fits");
    let claim = match answer.verdict {
        Verdict::Pass(orders) => QuasiClaim::Pass { orders },
        Verdict::Fail((part, violation)) => QuasiClaim::Fail { part, violation },
        Verdict::Unknown(limit) => panic!("{limit}"),
    };
    let certificate = certificate(log, shape, classes, rules, claim);
    let text = serde_json::to_string(&certificate).expect("JSON");
    let read: QuasiCertificate = serde_json::from_str(&text).expect("what was written");
    assert_eq!(read, certificate);
    read
}

fn is_believed(log: &Log, certificate: &QuasiCertificate) -> bool {
    match verify_quasi(log, certificate, &Budget::new()) {
        Verdict::Pass(()) => true,
        Verdict::Fail(_) => false,
        Verdict::Unknown(limit) => panic!("{limit}"),
    }
}

/// The classes as text and as the other tests have them.
fn every_relaxation(k: u32) -> [(String, Relaxed); 3] {
    [
        (format!("*={k}"), Relaxed::All(k)),
        (format!("remove={k}"), Relaxed::PutTake(0, k)),
        (format!("take={k},remove:empty=0,add=1"), Relaxed::Each(1, k, 0)),
    ]
}

#[test]
fn what_the_checker_writes_is_believed_and_the_opposite_is_not() {
    let histories = if super::is_full() { 1500 } else { 60 };
    let (mut passes, mut fails) = (0, 0);
    for (i, shape) in SHAPES.into_iter().enumerate() {
        let mut rng = Rng::new(300 + i as u64);
        for _ in 0..histories {
            let mut ops = small::random(&mut rng, 5, 3, 1);
            let pick = |rng: &mut Rng| rng.below(2) == 0;
            if pick(&mut rng) {
                small::spoil(&mut rng, &mut ops);
            }
            let log = log(&ops);
            let reading = if pick(&mut rng) { Reading::Prefix } else { Reading::Closed };
            let causality = if pick(&mut rng) { Causality::Causal } else { Causality::Free };
            let order = if pick(&mut rng) { Order::Distance } else { Order::Strict };
            let rules = Rules { factors: Vec::new(), reading, causality, order };
            for (classes, relaxed) in every_relaxation(rng.below(3) as u32) {
                let certificate = certified(&log, shape, &classes, &rules);
                let passed = matches!(certificate.claim, QuasiClaim::Pass { .. });
                assert_eq!(passed, small::library(shape, &ops, relaxed, &rules), "{ops:?}");
                let context = || format!("{shape:?} {classes} {rules:?}\n{ops:?}\n{certificate:?}");
                assert!(is_believed(&log, &certificate), "{}", context());
                for claim in opposites(&certificate.claim, &log) {
                    let opposite = QuasiCertificate { claim, ..certificate.clone() };
                    assert!(!is_believed(&log, &opposite), "{} but {opposite:?}", context());
                }
                *(if passed { &mut passes } else { &mut fails }) += 1;
            }
        }
    }
    println!("{passes} certificates of a pass, {fails} of a fail");
    assert!(passes > 50 && fails > 50, "{passes} and {fails}");
}

/// Claims of the other verdict that are as good as one can make them: of a pass, that some prefix fails.
fn opposites(claim: &QuasiClaim, log: &Log) -> Vec<QuasiClaim> {
    match claim {
        QuasiClaim::Pass { .. } => {
            let marks = log.history.marks();
            let returns = marks.iter().enumerate().filter(|(_, mark)| mark.is_return());
            let fails = returns.map(|(last, mark)| {
                let (operation, events) = (mark.op(), last as u32 + 1);
                let (before, excess, not_enough) = (None, None, None);
                QuasiViolation::QuasiUnplaced { operation, events, shortest: true, before, excess, not_enough }
            });
            let fails = fails.chain([none()]);
            fails.map(|violation| QuasiClaim::Fail { part: Default::default(), violation }).collect()
        }
        QuasiClaim::Fail { .. } => {
            let complete =
                (0..log.history.len() as u32).map(OpId).filter(|&op| log.history.operation(op).ret.is_some());
            let linearization: Vec<_> =
                complete.map(selvedge_history::certificate::quasi::QuasiPlaced::Operation).collect();
            let run = (0..linearization.len() as u32).collect();
            let orders = QuasiOrders { linearization, run, ..QuasiOrders::default() };
            vec![QuasiClaim::Pass { orders: vec![orders] }]
        }
    }
}

/// Without the causal guard the future may bring what came out too early, but nothing that the history has itself.
#[test]
fn a_value_does_not_come_in_again_to_explain_a_second_removal() {
    let (put, take) = (Did::Put(1), Did::Take(Some(1)));
    let serial = |dids: &[Did]| {
        let op = |(i, &did): (usize, &Did)| Op { thread: 0, did, call: 2 * i, ret: 2 * i + 1 };
        log(&dids.iter().enumerate().map(op).collect::<Vec<_>>())
    };
    let rules = Rules { causality: Causality::Free, ..Rules::default() };
    for (dids, passes) in [
        (&[put, take, take][..], false),
        (&[take], true),
        (&[take, put], true),
        (&[take, take], false),
        (&[take, take, put], false),
        (&[put, take, take, put], true),
        (&[put, take, take, put, take], false),
    ] {
        let log = serial(dids);
        for order in [Order::Distance, Order::Strict] {
            let rules = Rules { order, ..rules.clone() };
            let certificate = certified(&log, Shape::Queue, "remove=1", &rules);
            assert_eq!(matches!(certificate.claim, QuasiClaim::Pass { .. }), passes, "{dids:?} {order:?}");
            assert!(is_believed(&log, &certificate), "{dids:?} {order:?}");
            for claim in opposites(&certificate.claim, &log) {
                let opposite = QuasiCertificate { claim, ..certificate.clone() };
                assert!(!is_believed(&log, &opposite), "{dids:?} {order:?}: {opposite:?}");
            }
        }
    }
}

/// Orders that bring a value a second time after the end show nothing.
#[test]
fn orders_that_make_up_an_insertion_are_refused() {
    use selvedge_history::certificate::quasi::QuasiPlaced::{Later, Operation};
    let dids = [Did::Put(1), Did::Take(Some(1)), Did::Take(Some(1))];
    let op = |(i, &did): (usize, &Did)| Op { thread: 0, did, call: 2 * i, ret: 2 * i + 1 };
    let log = log(&dids.iter().enumerate().map(op).collect::<Vec<_>>());
    let later = |method: &str, argument| Later { method: method.to_owned(), argument, result: Value::Nil };
    let orders = QuasiOrders {
        linearization: vec![
            Operation(OpId(0)),
            Operation(OpId(1)),
            Operation(OpId(2)),
            later("enq", Value::Int(1)),
            later("deq", Value::Nil),
        ],
        run: vec![0, 1, 4, 3, 2],
        ..QuasiOrders::default()
    };
    let rules = Rules { causality: Causality::Free, ..Rules::default() };
    let claim = QuasiClaim::Pass { orders: vec![orders] };
    let made_up = certificate(&log, Shape::Queue, "remove=1", &rules, claim);
    assert!(!is_believed(&log, &made_up));
}

fn none() -> QuasiViolation {
    QuasiViolation::NeedNotBlock { operation: OpId(0) }
}

fn overtaken() -> Log {
    let dids = [Did::Put(1), Did::Put(2), Did::Put(3), Did::Take(Some(3)), Did::Take(Some(1)), Did::Take(Some(2))];
    let op = |(i, &did): (usize, &Did)| Op { thread: 0, did, call: 2 * i, ret: 2 * i + 1 };
    log(&dids.iter().enumerate().map(op).collect::<Vec<_>>())
}

#[test]
fn what_is_changed_is_refused() {
    let log = overtaken();
    let right = certified(&log, Shape::Queue, "deq=2", &Rules::default());
    assert!(is_believed(&log, &right));
    let refused = |change: &dyn Fn(&mut QuasiCertificate), part: &str| {
        let mut changed = right.clone();
        change(&mut changed);
        match verify_quasi(&log, &changed, &Budget::new()) {
            Verdict::Fail(refusal) => assert!(refusal.to_string().contains(part), "{refusal}, not {part}"),
            other => panic!("{other:?} for {part}"),
        }
    };
    let orders = |certificate: &mut QuasiCertificate, change: &dyn Fn(&mut QuasiOrders)| {
        if let QuasiClaim::Pass { orders } = &mut certificate.claim {
            change(&mut orders[0]);
        }
    };
    refused(&|c| c.version = 1, "version 1");
    refused(&|c| c.criterion = "linearizability".to_owned(), "criterion");
    refused(&|c| c.operations = 7, "7 operations");
    refused(&|c| c.quasi = "deq=1".to_owned(), "2 places from its place in the run, and 1 are allowed");
    refused(&|c| c.quasi = "deq=2,enq".to_owned(), "a class needs a factor");
    refused(&|c| c.quasi = "deq=2,pull=1".to_owned(), "\"pull=1\": the object has no such method");
    refused(&|c| c.quasi = "deq=1001".to_owned(), "from 0 to 1000");
    refused(&|c| c.quasi = "deq=-1".to_owned(), "from 0 to 1000");
    refused(&|c| c.quasi = "deq=2,dequeue=3".to_owned(), "in another class too");
    refused(&|c| c.quasi = "deq=2,*=3".to_owned(), "in another class too");
    refused(&|c| c.quasi = "peek=2".to_owned(), "0 are allowed");
    refused(&|c| c.reading = "open".to_owned(), "no such reading");
    refused(&|c| c.object = "bag".to_owned(), "\"bag\": this object has no factors");
    refused(&|c| c.object = "stack".to_owned(), "\"deq=2\": the object has no such method");
    refused(&|c| orders(c, &|o| o.run.swap(3, 4)), "does not do entry");
    refused(&|c| orders(c, &|o| o.run.swap(2, 3)), "different classes");
    refused(&|c| orders(c, &|o| o.run[0] = 1), "0 are allowed");
    refused(&|c| orders(c, &|o| o.run.truncate(o.run.len() - 1)), "");
    refused(&|c| orders(c, &|o| o.linearization.swap(0, 1)), "");
    refused(&|c| orders(c, &|o| drop(o.linearization.pop())), "");
    refused(&|c| c.claim = QuasiClaim::Pass { orders: Vec::new() }, "");
    refused(&|c| c.claim = QuasiClaim::Fail { part: Default::default(), violation: none() }, "");
}
