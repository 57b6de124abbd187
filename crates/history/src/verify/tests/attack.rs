//! Attacks: certificates made up for random small histories. None may be accepted that claims what is not so.

use super::super::simulate::{Action, Kind, Object};
use super::super::{read, violation};
use super::*;
use crate::evidence::{Forced, Stay};
use crate::generate::Random;

/// What a random history may look like.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) operations: u64,
    /// In percent of the operations.
    pub(super) pending: u64,
    pub(super) stuck: bool,
    /// Whether each value is put in at most once.
    pub(super) distinct: bool,
    /// How many objects there are, told apart by their keys.
    pub(super) keys: u64,
}

impl Shape {
    pub(super) const PLAIN: Shape = Shape { operations: 5, pending: 0, stuck: false, distinct: true, keys: 1 };
}

/// The part that a random history of one object is about.
pub(super) fn part_of(kind: Kind) -> Part {
    Part { object: String::new(), key: key_of(kind, 0) }
}

/// The keys are values too, so that a set's key may be mistaken for an element.
fn key_of(kind: Kind, number: usize) -> Value {
    match (kind, number) {
        (Kind::Map, number) => Value::Int(7 + number as i64),
        (_, 0) => Value::Nil,
        (_, number) => Value::Int(number as i64),
    }
}

/// Every name that a part of the log has, or might be mistaken to have.
fn parts(reading: &Reading<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    for (op, operation) in reading.log.history.operations().iter().enumerate() {
        let key = reading.key(&operation.input).clone();
        let element = reading.element(OpId(op as u32)).cloned();
        let both = element.clone().map(|element| Value::list([key.clone(), element]));
        for key in [Some(key), element, both].into_iter().flatten() {
            parts.push(Part { object: String::new(), key });
        }
    }
    parts.sort();
    parts.dedup();
    parts
}

/// A call of the object; `fresh` is the value to put in.
fn random_call(random: &mut Random, kind: Kind, fresh: i64) -> (&'static str, Value) {
    let none = Value::Nil;
    let any = Value::Int(1 + random.below(3) as i64);
    let fresh = Value::Int(fresh);
    let pick = random.below(12);
    match kind {
        Kind::Queue if pick < 5 => ("enq", fresh),
        Kind::Queue if pick < 11 => ("deq", none),
        Kind::Queue => ("peek", none),
        Kind::Stack if pick < 5 => ("push", fresh),
        Kind::Stack if pick < 11 => ("pop", none),
        Kind::Stack => ("top", none),
        Kind::Deque => (
            ["push_front", "push_back", "pop_front", "pop_back", "front", "back"][pick as usize / 2],
            if pick < 4 { fresh } else { none },
        ),
        Kind::PriorityQueue | Kind::PriorityQueueMin if pick < 5 => ("insert", fresh),
        Kind::PriorityQueue | Kind::PriorityQueueMin if pick < 11 => ("poll", none),
        Kind::PriorityQueue | Kind::PriorityQueueMin => ("peek", none),
        Kind::Bag if pick < 5 => ("add", fresh),
        Kind::Bag if pick < 10 => ("remove", none),
        Kind::Bag => ("contains", any),
        Kind::Set if pick < 4 => ("add", fresh),
        Kind::Set => (["contains", "remove"][pick as usize % 2], any),
        Kind::Map if pick < 4 => ("put", fresh),
        Kind::Map if pick < 7 => ("get", none),
        Kind::Map if pick == 7 => ("append", Value::text("x")),
        Kind::Map => (["get", "remove", "take", "contains"][pick as usize - 8], none),
        Kind::Register | Kind::CasRegister if pick < 4 => ("write", fresh),
        Kind::CasRegister if pick < 7 => ("cas", Value::list([any, fresh])),
        Kind::Register | Kind::CasRegister => ("read", none),
        Kind::MultiRegister => ("txn", random_steps(random, fresh)),
        Kind::Counter => {
            let method = ["inc", "dec", "get", "get", "fetch_add", "add_and_get"][pick as usize / 2];
            (method, if pick < 8 { none } else { any })
        }
        Kind::Mutex | Kind::Semaphore => (["acquire", "release", "try_acquire"][pick as usize % 3], none),
        Kind::RwLock => {
            let methods = ["read_acquire", "read_release", "write_acquire", "write_release", "try_read", "try_write"];
            (methods[pick as usize % 6], none)
        }
    }
}

fn random_steps(random: &mut Random, fresh: Value) -> Value {
    let steps = (0..1 + random.below(2)).map(|_| {
        let key = Value::text(["x", "y"][random.below(2) as usize]);
        match random.below(2) {
            0 => Value::list([Value::text("w"), key, fresh.clone()]),
            _ => Value::list([Value::text("r"), key, Value::Nil]),
        }
    });
    Value::list(steps.collect::<Vec<_>>())
}

/// A result that the call may have by its type.
fn random_result(random: &mut Random, kind: Kind, action: &Action) -> Value {
    let number = Value::Int(random.below(4) as i64);
    let candidates = [Value::Nil, Value::Bool(random.below(2) == 0), number];
    if let Action::Transact(steps) = action {
        let row = |step: &super::super::simulate::Step, random: &mut Random| match step {
            super::super::simulate::Step::Read(key) => {
                Value::list([Value::text("r"), key.clone(), Value::Int(random.below(4) as i64)])
            }
            super::super::simulate::Step::Write(key, value) => {
                Value::list([Value::text("w"), key.clone(), value.clone()])
            }
        };
        return Value::list(steps.iter().map(|step| row(step, random)).collect::<Vec<_>>());
    }
    let fitting: Vec<&Value> = candidates.iter().filter(|value| read::fits(kind, action, value)).collect();
    let natural = fitting.iter().rposition(|_| true).unwrap_or(0);
    // Mostly the value or truth that such a call answers, sometimes nothing.
    let pick = if random.chance(70) { natural } else { random.below(fitting.len() as u64) as usize };
    fitting[pick].clone()
}

/// A history of one object: run on the simulator, with some results changed.
pub(super) fn random_log(random: &mut Random, kind: Kind, shape: Shape) -> Log {
    struct Open {
        object: usize,
        action: Action,
        result: Option<Value>,
    }
    let mut recorder = LogRecorder::new();
    let mut objects = vec![Object::new(kind, None).expect("an object"); shape.keys as usize];
    let mut open: [Option<Open>; 3] = [None, None, None];
    let changed = random.below(60);
    let (mut called, mut fresh) = (0, 0);
    let operations = shape.operations - random.below(4).min(shape.operations - 1);
    for _ in 0..200 {
        let t = random.below(3) as usize;
        let thread = Value::Int(t as i64);
        match &mut open[t] {
            slot @ None if called < operations => {
                fresh = if shape.distinct { fresh + 1 } else { 1 + random.below(3) as i64 };
                let (method, argument) = random_call(random, kind, fresh);
                let method_symbol = recorder.symbol(method);
                let object = random.below(shape.keys) as usize;
                let key = key_of(kind, object);
                let call = Call { object: crate::Symbol::NONE, method: method_symbol, key, argument };
                let action = read::action(kind, method, &call.key, &call.argument).expect("a call");
                recorder.call(1, &thread, call).expect("a free thread");
                *slot = Some(Open { object, action, result: None });
                called += 1;
            }
            Some(Open { object, action, result: result @ None }) => {
                *result = objects[*object].perform(action, None).map(|answer| {
                    let answer =
                        if let Action::Transact(_) = action { random_result(random, kind, action) } else { answer };
                    if random.chance(changed) { random_result(random, kind, action) } else { answer }
                })
            }
            slot @ Some(Open { result: Some(_), .. }) => {
                let Some(Open { result: Some(result), .. }) = slot.take() else { unreachable!() };
                let outcome = if !shape.stuck && random.chance(shape.pending) {
                    Outcome::Unknown
                } else {
                    Outcome::Return(result)
                };
                recorder.outcome(1, &thread, None, outcome).expect("an open call");
            }
            None => {}
        }
    }
    let pending = open.iter().any(Option::is_some);
    recorder.finish((shape.stuck && pending).then_some(End::Stuck)).expect("a well-formed log")
}

/// Made-up violations: every small one, and random larger ones.
fn made_up(random: &mut Random, reading: &Reading<'_>) -> Vec<Violation> {
    let n = reading.log.history.len() as u32;
    let ops: Vec<OpId> = (0..n).map(OpId).collect();
    let maybe: Vec<Option<OpId>> = ops.iter().copied().map(Some).chain([None]).collect();
    let mut all = Vec::new();
    for &operation in &ops {
        all.push(Violation::ThinAir { operation });
        all.push(Violation::NeedNotBlock { operation });
        all.push(Violation::Unordered { operation });
        for events in 1..=2 * n {
            let partial = ops.iter().copied().filter(|&op| op != operation).collect();
            all.push(Violation::Unplaced { operation, events, partial });
        }
        for &insert in &ops {
            all.push(Violation::TooEarly { operation, insert });
            all.push(Violation::TooLate { operation, remove: insert });
            for &other in &ops {
                all.push(Violation::RemovedTwice { insert, first: operation, second: other });
                let removes = vec![operation, other];
                all.push(Violation::RemovedTooOften { inserts: vec![insert], removes: removes.clone() });
                let removes = [removes, vec![insert]].concat();
                all.push(Violation::RemovedTooOften { inserts: vec![insert, other], removes });
                for &after in &maybe {
                    all.push(Violation::Missed { operation, insert, before: other, after });
                }
            }
        }
    }
    for &first in &maybe {
        for &last in &ops {
            for &other_first in &maybe {
                all.extend(ops.iter().map(|&other_last| Violation::Crossed { first, last, other_first, other_last }));
            }
        }
    }
    with_stays(random, reading, &ops, &maybe, &mut all);
    with_pending(random, &ops, &mut all);
    all
}

/// The kinds that are about pending removals: every set of operations, and values and reasons at random.
fn with_pending(random: &mut Random, ops: &[OpId], all: &mut Vec<Violation>) {
    for set in 1..1u32 << ops.len() {
        let operations = (0..ops.len()).filter(|i| set >> i & 1 == 1).map(|i| ops[i]).collect();
        all.push(Violation::Conflict { operations });
    }
    for &because in ops {
        all.extend(ops.iter().map(|&insert| Violation::TooFewRemovals { values: vec![Forced { insert, because }] }));
    }
    for _ in 0..60 {
        let mut any = || ops[random.below(ops.len() as u64) as usize];
        let values = (0..2 + ops.len() / 4).map(|_| Forced { insert: any(), because: any() }).collect();
        all.push(Violation::TooFewRemovals { values });
    }
}

/// The kinds that name values by insertion and removal. Stays that make sense are tried in all combinations of up to
/// three, the others at random.
fn with_stays(
    random: &mut Random,
    reading: &Reading<'_>,
    ops: &[OpId],
    maybe: &[Option<OpId>],
    all: &mut Vec<Violation>,
) {
    let stays: Vec<Stay> =
        ops.iter().flat_map(|&insert| maybe.iter().map(move |&remove| Stay { insert, remove })).collect();
    let sensible = |stay: &&Stay| match (reading.action(stay.insert), stay.remove) {
        (Action::Insert(_, value), Some(remove)) => reading.log.history.operation(remove).output() == Some(value),
        (Action::Insert(..), None) => true,
        _ => false,
    };
    let sense: Vec<Stay> = stays.iter().filter(sensible).copied().collect();
    let mut groups: Vec<Vec<Stay>> = vec![Vec::new()];
    for size in 1..=3 {
        let longer: Vec<Vec<Stay>> = groups
            .iter()
            .filter(|group| group.len() == size - 1)
            .flat_map(|group| sense.iter().map(|&stay| [&group[..], &[stay]].concat()))
            .filter(|group| group.windows(2).all(|pair| pair[0].insert < pair[1].insert))
            .collect();
        groups.extend(longer);
    }
    for _ in 0..20 {
        let size = random.below(4);
        groups.push((0..size).map(|_| stays[random.below(stays.len() as u64) as usize]).collect());
    }
    for group in groups {
        for &operation in ops {
            all.push(Violation::NotEmpty { operation, inside: group.clone() });
            let insert = ops[random.below(ops.len() as u64) as usize];
            all.push(Violation::Outranked { operation, insert, inside: group.clone() });
            for &insert in ops.iter().filter(|insert| sense.iter().any(|stay| stay.insert == **insert)) {
                all.push(Violation::Outranked { operation, insert, inside: group.clone() });
            }
        }
        if let [first, second] = group[..] {
            all.extend([Violation::Overtaken { first, second }, Violation::Overtaken { first: second, second: first }]);
        }
        all.push(Violation::Entangled { stays: group });
    }
}

fn read_log<'a>(log: &'a Log, name: &str, budget: &'a Budget) -> Reading<'a> {
    let header = certificate(name, log, pass(Vec::new()));
    Reading::new(log, &header, budget).unwrap_or_else(|stop| panic!("{stop:?}"))
}

/// The made-up violations that the verifier believes of some part.
fn believed(random: &mut Random, log: &Log, name: &str) -> Vec<Failure> {
    let budget = Budget::new();
    let reading = read_log(log, name, &budget);
    let parts = parts(&reading);
    let all = made_up(random, &reading);
    let failures = all.into_iter().flat_map(|violation| {
        let failure = move |part: &Part| Failure { part: part.clone(), violation: violation.clone() };
        parts.iter().map(failure)
    });
    failures.filter(|failure| violation::check(&reading, failure).is_ok()).collect()
}

fn attack(shape: Shape, few: u64) {
    let (mut good, mut bad, mut shown) = (0, 0, 0);
    for (i, (name, kind)) in Kind::ALL.into_iter().enumerate() {
        let mut random = Random::new(100 + i as u64);
        for _ in 0..cases(few) {
            let log = random_log(&mut random, kind, shape);
            let truth = brute::linearizable(&log, kind, None);
            let believed = believed(&mut random, &log, name);
            assert!(!truth || believed.is_empty(), "{name}: {:?}\n{:?}", log.history.operations(), believed);
            *if truth { &mut good } else { &mut bad } += 1;
            shown += u64::from(!believed.is_empty());
        }
    }
    assert!(good > few && bad > few && shown > few / 2, "{good} {bad} {shown}");
    println!("{good} linearizable, {bad} not, of these {shown} shown by a made-up certificate");
}

#[test]
fn no_violation_is_believed_of_a_linearizable_history() {
    attack(Shape::PLAIN, 8);
    attack(Shape { distinct: false, ..Shape::PLAIN }, 5);
}

#[test]
fn no_violation_is_believed_whatever_pending_operations_may_have_done() {
    attack(Shape { pending: 25, ..Shape::PLAIN }, 8);
    attack(Shape { pending: 25, distinct: false, ..Shape::PLAIN }, 5);
}

#[test]
fn no_violation_is_believed_of_a_stuck_history_that_may_be_stuck() {
    attack(Shape { stuck: true, ..Shape::PLAIN }, 8);
}

#[test]
fn no_violation_is_believed_by_taking_two_objects_for_one() {
    attack(Shape { pending: 10, distinct: false, keys: 2, ..Shape::PLAIN }, 4);
}

/// The patterns are not only right but enough: with distinct values, every violation shows in one of them.
#[test]
fn the_patterns_show_every_violation_of_distinct_values() {
    let kinds = ["queue", "stack", "priority-queue", "priority-queue-min", "register", "set"];
    for (i, name) in kinds.into_iter().enumerate() {
        let kind = Kind::named(name).expect("an object");
        let mut random = Random::new(200 + i as u64);
        let mut bad = 0;
        for _ in 0..cases(60) {
            let log = random_log(&mut random, kind, Shape { operations: 6, ..Shape::PLAIN });
            let plain = |action: &Action| !matches!(action, Action::Peek(_));
            let budget = Budget::new();
            if brute::linearizable(&log, kind, None) || !read_log(&log, name, &budget).actions.iter().all(plain) {
                continue;
            }
            bad += 1;
            let believed = believed(&mut random, &log, name);
            let searched =
                |violation: &Violation| matches!(violation, Violation::Unplaced { .. } | Violation::Unordered { .. });
            let pattern = |failure: &Failure| !searched(&failure.violation);
            assert!(believed.iter().any(pattern), "{name}: {:?}", log.history.operations());
        }
        assert!(bad > 4, "{name}: {bad}");
    }
}
